import {z} from 'zod'
import {listPattern, oneOf} from './query-lists.ts'
import {FirstTime, UntilTime} from './times.ts'
import {USAGE_DIMENSIONS} from './usage-dimensions.ts'

const MOST = 4
const Dimensions = z
  .string()
  .meta({pattern: listPattern(oneOf(USAGE_DIMENSIONS), MOST)})
  .transform(text => [...new Set(text.split(',').map(each => each.trim()))])
  .pipe(z.array(z.enum(USAGE_DIMENSIONS)).min(1).max(MOST))

export const UsageQuery = z.strictObject({
  by: Dimensions,
  /** From the hour of this time on. */
  since: FirstTime,
  /** Up to the end of the hour before this time; a date is counted whole. */
  until: UntilTime.optional(),
  workspace_id: z
    .string()
    .max(255)
    .refine(text => !text.includes('\0'), 'must hold no NUL character')
    .optional(),
})

const Named = z.strictObject({id: z.string().nullable(), name: z.string().nullable()})

/** One sum. Of what it is summed by, keys, users and workspaces have their names. */
export const UsageSum = z.strictObject({
  key: Named.optional(),
  user: Named.optional(),
  workspace: Named.optional(),
  provider: z.string().nullable().optional(),
  kind: z.string().optional(),
  model: z.string().nullable().optional(),
  hour: z.string().optional(),
  day: z.string().optional(),
  month: z.string().optional(),
  requests: z.int(),
  failures: z.int(),
  unpriced: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  /** US dollars, exactly, as a text. */
  cost_usd: z.string(),
  object: z.literal('usage-sum'),
})
export type UsageSum = z.output<typeof UsageSum>

export const UsageSums = z.strictObject({
  object: z.literal('list'),
  total: z.int(),
  /** The first hour that is counted. */
  from: z.iso.datetime(),
  data: z.array(UsageSum),
})
