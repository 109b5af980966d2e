import {z} from 'zod'
import {Word} from './logs.ts'

const MAX_AT_ONCE = 1000
const MAX_KEYS = 50
const MAX_LENGTH = 128

/** Texts, cut to 128 characters; what is no text is kept as JSON. */
const Metadata = z
  .record(z.string().min(1).max(MAX_LENGTH), z.unknown())
  .refine(metadata => Object.keys(metadata).length <= MAX_KEYS, `must have at most ${MAX_KEYS} keys`)
  .transform(metadata => Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, textOf(value)])))

const Thought = {
  value: z.int().min(-10).max(10),
  weight: z.number().min(0).max(1).default(1),
  metadata: Metadata.default({}),
}
const One = z.strictObject({
  trace_id: Word,
  ...Thought,
  /** For callers of no workspace of their own. */
  workspace_id: Word.optional(),
})

/** One, or several that are kept all or none. */
export const FeedbackBody = z.union([One, z.array(One).min(1).max(MAX_AT_ONCE)])
export const FeedbackPath = z.strictObject({id: Word})
export const FeedbackChange = z.strictObject(Thought)
export const FeedbackReply = z.strictObject({
  status: z.literal('success'),
  message: z.string(),
  feedback_ids: z.array(z.string()),
})

/** The rating of a trace by a person or a guardrail. */
export const FeedbackView = z.strictObject({
  id: z.string(),
  trace_id: z.string(),
  source: z.enum(['api', 'guardrail']),
  value: z.int(),
  weight: z.number(),
  weighted: z.number(),
  metadata: z.record(z.string(), z.unknown()),
  user_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
})

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    .replaceAll('\0', '\ufffd')
    .slice(0, MAX_LENGTH)
}
