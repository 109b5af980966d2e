import {z} from 'zod'
import {keepRateLimits, keepUsageLimits, RateLimit, UsageLimit} from './limits.ts'

const MOST = 5

/** `id` and `status` are in the documented form, and have no effect. */
const TokenUsageLimit = z
  .strictObject({
    id: z.string().max(255).optional(),
    type: z.enum(['cost', 'tokens']),
    credit_limit: z.number(),
    alert_threshold: z.number().nullable().optional(),
    status: z.string().max(255).optional(),
  })
  .transform(
    ({type, credit_limit, alert_threshold = null}) =>
      ({type, credit_limit, alert_threshold}) as z.input<typeof UsageLimit>,
  )
  .pipe(UsageLimit)

/** The claims of a token that limit it: budgets over its life, and rates. */
export const TokenLimits = z.object({
  usage_limits: z.union([z.array(TokenUsageLimit).max(MOST), TokenUsageLimit.transform(limit => [limit])]).optional(),
  rate_limits: z
    .array(RateLimit.omit({enforcement: true}).strict())
    .max(MOST)
    .optional(),
})

/**
 * The limits as columns hold them. Of two that count the same the lower one holds. Counted is from `started_at` on,
 * ISO 8601: a time before the first call with the token, the same in every process.
 */
export function keepTokenLimits(
  {usage_limits = [], rate_limits = []}: z.output<typeof TokenLimits>,
  started_at: string,
): {readonly usage: string | null; readonly rates: string | null} {
  const budgets = lowest(
    usage_limits,
    ({type}) => type,
    ({credit_limit}) => credit_limit ?? Infinity,
  )
  const rates = lowest(
    rate_limits.map(limit => ({...limit, enforcement: 'compatible' as const})),
    ({type, unit}) => `${type} ${unit}`,
    ({value}) => value,
  )
  return {usage: keepUsageLimits(budgets, null, started_at), rates: keepRateLimits(rates)}
}

function lowest<T>(limits: readonly T[], nameOf: (limit: T) => string, amountOf: (limit: T) => number): T[] {
  const kept = new Map<string, T>()
  for (const limit of limits) {
    const name = nameOf(limit)
    const before = kept.get(name)
    if (!before || amountOf(limit) < amountOf(before)) kept.set(name, limit)
  }
  return [...kept.values()]
}
