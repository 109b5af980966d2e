import {z} from 'zod'
import {Handle} from './names.ts'

export const LimitStatusQuery = z.strictObject({
  workspace_id: Handle.optional(),
  entity: z.enum(['key', 'workspace', 'provider', 'integration', 'policy']).optional(),
})

/** The state of a limit: budgets as the ledger has them, rates as this gateway counts them. */
export const LimitStatus = z.strictObject({
  entity: z.enum(['key', 'workspace', 'provider', 'integration', 'policy']),
  id: z.string(),
  name: z.string(),
  kind: z.enum(['budget', 'rate']),
  type: z.enum(['cost', 'tokens', 'requests']),
  enforcement: z.enum(['compatible', 'strict', 'shadow']),
  /** As people say it: `10 requests per minute of the API key blue`. */
  label: z.string(),
  /** US dollars, tokens or requests; so are `used` and `remaining`. */
  limit: z.number(),
  /** Null where it is not known: rates, on the command line beside a gateway. */
  used: z.number().nullable(),
  remaining: z.number().nullable(),
  status: z.enum(['active', 'exhausted']),
  since_at: z.iso.datetime(),
  /** Null for a budget that never starts again. */
  resets_at: z.iso.datetime().nullable(),
  /**
   * The last correction of its counter, if this gateway found that it differed from the ledger; above zero when it had
   * more.
   */
  corrected: z.strictObject({by: z.number(), at: z.iso.datetime()}).nullable(),
})
export type LimitStatus = z.output<typeof LimitStatus>
