import {z} from 'zod'
import {periodOf} from './periods.ts'
import {Time} from './times.ts'

/**
 * How a limit is held: after the fact (`compatible`, the default, never shown), exactly (`strict`), or only reported
 * (decisions: limits and money).
 */
const Enforcement = z.enum(['compatible', 'strict', 'shadow'])
const MAX_USD = 1_000_000_000

export const BUDGET = 'The budget: the most that calls may spend, in US dollars for `cost`, or in tokens.'

const usageFields = {
  type: z.enum(['cost', 'tokens']).default('cost'),
  credit_limit: z.number().positive().max(Number.MAX_SAFE_INTEGER).nullable().describe(BUDGET).default(null),
  alert_threshold: z.number().positive().nullable().default(null),
  periodic_reset: z.enum(['weekly', 'monthly']).nullable().default(null),
  periodic_reset_days: z.int().min(1).max(365).nullable().default(null),
  next_usage_reset_at: Time.nullable().default(null),
}

/**
 * A budget: `credit_limit` in US dollars for cost, in tokens for tokens; `null` is no limit. It starts again every
 * week, every month or every N days; without a period it never does.
 */
export const UsageLimit = z
  .strictObject({...usageFields, enforcement: Enforcement.default('compatible')})
  .superRefine(
    ({type, credit_limit, alert_threshold, periodic_reset, periodic_reset_days, next_usage_reset_at}, {addIssue}) => {
      const wrong = (field: keyof typeof usageFields, message: string) =>
        addIssue({code: 'custom', path: [field], message})
      if (type === 'tokens' && credit_limit !== null && !Number.isInteger(credit_limit))
        wrong('credit_limit', 'must be a whole number of tokens')
      if (type === 'cost' && credit_limit !== null && credit_limit > MAX_USD)
        wrong('credit_limit', `must be at most ${MAX_USD} US dollars`)
      if (alert_threshold !== null && alert_threshold >= (credit_limit ?? 0))
        wrong('alert_threshold', 'must be below credit_limit')
      if (periodic_reset && periodic_reset_days)
        wrong('periodic_reset_days', 'cannot be given together with periodic_reset: send one of them')
      if (next_usage_reset_at && !periodic_reset && !periodic_reset_days) {
        wrong(
          'next_usage_reset_at',
          'has no effect without periodic_reset or periodic_reset_days: send one of them too',
        )
      }
    },
  )
export type UsageLimit = z.output<typeof UsageLimit>

/** So many requests or tokens a minute, hour or day; 0 lets nothing through. */
export const RateLimit = z.strictObject({
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rpm', 'rph', 'rpd']),
  value: z.int().min(0),
  enforcement: Enforcement.default('compatible'),
})
export type RateLimit = z.output<typeof RateLimit>

export const RATE_UNITS = ['rpm', 'rph', 'rpd'] as const
/** Units of rates of tool calls: weeks too, and all of them under the names that some use for tokens. */
export const TOOL_RATE_UNITS = ['rpm', 'rph', 'rpd', 'rpw', 'tpm', 'tph', 'tpd', 'tpw'] as const
export type RateUnit = (typeof TOOL_RATE_UNITS)[number]

/** A rate as rows keep it: that of a policy for tools may be in any unit. */
export interface StoredRateLimit extends Omit<RateLimit, 'unit'> {
  readonly unit: RateUnit
}

/** One budget, alone or as a list of one; read as a list. `null` takes it away. */
export const UsageLimits = oneOrMore(UsageLimit, 1).nullable()
/** Up to one budget of each type, for containers that hold several. */
export const UsageLimitList = distinct(oneOrMore(UsageLimit, 2), limit => limit.type).nullable()
/** Up to one rate limit of each type and unit, one alone or as a list. `null` takes them away. */
export const RateLimits = distinct(oneOrMore(RateLimit, 6), limit => `${limit.type} ${limit.unit}`).nullable()

/** As replies show it. `enforcement` is left out when it is the default. */
export const UsageLimitView = z.strictObject({
  type: z.enum(['cost', 'tokens']),
  credit_limit: z.number(),
  alert_threshold: z.number().nullable(),
  periodic_reset: z.enum(['weekly', 'monthly']).nullable(),
  periodic_reset_days: z.int().nullable(),
  next_usage_reset_at: z.iso.datetime().nullable(),
  enforcement: Enforcement.optional(),
})
/** The same with its state. */
export const UsageLimitStanding = UsageLimitView.extend({
  /** US dollars, or tokens, since the period began. */
  current_usage: z.number(),
  status: z.enum(['active', 'exhausted']),
})
export type UsageLimitStanding = z.output<typeof UsageLimitStanding>
export const RateLimitView = z.strictObject({
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rpm', 'rph', 'rpd']),
  value: z.int(),
  enforcement: Enforcement.optional(),
})

/** As rows keep it: counting starts at `started_at`, never before (limits are not retroactive). */
export interface StoredUsageLimit extends UsageLimit {
  readonly credit_limit: number
  readonly started_at: string
  readonly counts_from?: string | undefined
}

/**
 * The column text of budgets that are set at `now`; null when there are none. One that replaces a budget of its type
 * keeps counting where that one was: editing is no free reset (core rule 11).
 */
export function keepUsageLimits(
  given: readonly UsageLimit[] | null,
  before: string | null,
  now: string,
): string | null {
  const old = readUsageLimits(before)
  const kept = (given ?? []).filter(limit => limit.credit_limit !== null)
  if (!kept.length) return null
  return JSON.stringify(
    kept.map(limit => ({...limit, started_at: old.find(other => other.type === limit.type)?.started_at ?? now})),
  )
}

/** The column text of rate limits; null when there are none. */
export function keepRateLimits(given: readonly StoredRateLimit[] | null): string | null {
  return given?.length ? JSON.stringify(given) : null
}

export function readUsageLimits(column: string | null): readonly StoredUsageLimit[] {
  return column === null ? [] : (JSON.parse(column) as StoredUsageLimit[])
}

/** Those of an entity. */
export function readRateLimits(column: string | null): readonly RateLimit[] {
  return readStoredRates(column) as readonly RateLimit[]
}

/** Those of an entity or a policy. */
export function readStoredRates(column: string | null): readonly StoredRateLimit[] {
  return column === null ? [] : (JSON.parse(column) as StoredRateLimit[])
}

/**
 * True when what was used up under `before` may continue under `after`: a budget was raised, removed or is of another
 * type.
 */
export function reactivates(before: string | null, after: string | null): boolean {
  const now = readUsageLimits(after)
  return readUsageLimits(before).some(old => {
    const limit = now.find(other => other.type === old.type)
    return !limit || limit.credit_limit > old.credit_limit
  })
}

/** A reset that was given and has come is followed by the next one. */
export function usageLimitViews(column: string | null, now_ms: number): z.input<typeof UsageLimitView>[] {
  return readUsageLimits(column).map(limit => {
    const {started_at: _, counts_from: __, enforcement, next_usage_reset_at, ...rest} = limit
    const next = next_usage_reset_at && new Date(periodOf(limit, 'sunday', now_ms).ends_at_ms).toISOString()
    return {...rest, next_usage_reset_at: next, ...unlessDefault(enforcement)}
  })
}

export function rateLimitViews(column: string | null): z.input<typeof RateLimitView>[] {
  return readRateLimits(column).map(({enforcement, ...limit}) => ({...limit, ...unlessDefault(enforcement)}))
}

function unlessDefault(enforcement: z.output<typeof Enforcement>) {
  return enforcement === 'compatible' ? {} : {enforcement}
}

function oneOrMore<T extends z.ZodType>(item: T, most: number) {
  const many = z.array(item).max(most)
  return z.union([many, item.transform(one => [one])]) as unknown as z.ZodType<z.output<T>[], z.input<T> | z.input<T>[]>
}

function distinct<T, In>(list: z.ZodType<T[], In>, name: (item: T) => string) {
  return list.superRefine((items, {addIssue}) => {
    const names = items.map(name)
    const twice = names.find((each, index) => names.indexOf(each) !== index)
    if (twice !== undefined) addIssue({code: 'custom', message: `names ${twice} twice: send each once`})
  })
}
