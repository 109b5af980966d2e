import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {
  keepRateLimits,
  RateLimit,
  readRateLimits,
  readUsageLimits,
  type StoredUsageLimit,
  UsageLimit,
} from './limits.ts'
import {periodOf as runningPeriod} from './periods.ts'

/**
 * Limits as updates give them. What is absent of one stays as it was, `null` clears. A list says all there are; one
 * alone, not in a list, is that one: the others stay.
 */
export interface LimitChanges<Change> {
  readonly items: readonly Change[]
  readonly alone: boolean
  /** How many the row can hold. */
  readonly most: number
}

const usage = UsageLimit.shape
const UsageLimitChange = z.strictObject({
  type: usage.type.unwrap().optional(),
  credit_limit: usage.credit_limit.unwrap().optional(),
  alert_threshold: usage.alert_threshold.unwrap().optional(),
  periodic_reset: usage.periodic_reset.unwrap().optional(),
  periodic_reset_days: usage.periodic_reset_days.unwrap().optional(),
  next_usage_reset_at: usage.next_usage_reset_at.unwrap().optional(),
  enforcement: usage.enforcement.unwrap().optional(),
})
type UsageLimitChange = z.output<typeof UsageLimitChange>

const RateLimitChange = z.strictObject({
  type: RateLimit.shape.type,
  unit: RateLimit.shape.unit,
  value: RateLimit.shape.value,
  enforcement: RateLimit.shape.enforcement.unwrap().optional(),
})
type RateLimitChange = z.output<typeof RateLimitChange>

const nameOfUsage = ({type = 'cost'}: UsageLimitChange) => type
const nameOfRate = ({type, unit}: Pick<RateLimit, 'type' | 'unit'>) => `${type} ${unit}`

/** Of what has one budget. `null` takes it away. */
export const UsageLimitsChange = changes(UsageLimitChange, 1, nameOfUsage).nullable()
/** Of what has a budget of each type. */
export const UsageLimitListChange = changes(UsageLimitChange, 2, nameOfUsage).nullable()
export const RateLimitsChange = changes(RateLimitChange, 6, nameOfRate).nullable()
/** Reference clients send lists of one at most. */
export const OneUsageLimitChange = listed(UsageLimitChange).nullable()
export const OneRateLimitChange = listed(RateLimitChange).nullable()

/**
 * The column text of budgets after a change at `now`; null when there are none. A budget that continues keeps its
 * count: editing is no free reset (core rule 11).
 */
export function changedUsageLimits(
  given: LimitChanges<UsageLimitChange> | null | undefined,
  before: string | null,
  now: string,
): string | null {
  if (given === undefined) return before
  const old = readUsageLimits(before)
  const items = given?.items ?? []
  const placeOf = (index: number) => (given?.alone ? 'usage_limits' : `usage_limits[${index}]`)
  const after = items.flatMap((change, index) => changedBudget(change, placeOf(index), old, given!, now))
  const named = new Set(items.map((change, index) => typeOf(change, placeOf(index), old)))
  const others = given?.alone && given.most > 1 ? old.filter(({type}) => !named.has(type)) : []
  const kept = [...others, ...after]
  return kept.length ? JSON.stringify(kept) : null
}

/** The column text of rate limits after a change; null when there are none. */
export function changedRateLimits(
  given: LimitChanges<RateLimitChange> | null | undefined,
  before: string | null,
): string | null {
  if (given === undefined) return before
  if (given === null) return null
  const old = readRateLimits(before)
  const after = given.items.map(change => changedRate(change, old))
  if (!given.alone) return keepRateLimits(after)
  const [one] = after
  const has = old.some(other => nameOfRate(other) === nameOfRate(one!))
  return keepRateLimits(
    has ? old.map(other => (nameOfRate(other) === nameOfRate(one!) ? one! : other)) : [...old, one!],
  )
}

/** Which budget a change is about: where it does not say, the only one there is. */
function typeOf({type}: UsageLimitChange, place: string, old: readonly StoredUsageLimit[]): StoredUsageLimit['type'] {
  if (type) return type
  if (old.length > 1) throw wrong(`${place}.type`, 'is required, as there is a budget of cost and one of tokens')
  return old[0]?.type ?? 'cost'
}

function changedBudget(
  change: UsageLimitChange,
  place: string,
  old: readonly StoredUsageLimit[],
  {most}: LimitChanges<UsageLimitChange>,
  now: string,
): StoredUsageLimit[] {
  const type = typeOf(change, place, old)
  const own = old.find(other => other.type === type)
  // When there is room for one, a budget of the other type continues as this one, but for its amounts, which are in
  // another unit.
  const before = own ?? (most === 1 ? old[0] : undefined)
  const credit_limit = change.credit_limit === undefined ? own?.credit_limit : change.credit_limit
  if (credit_limit === null) return []
  if (credit_limit === undefined) {
    if (Object.values(change).every(value => value === undefined || value === null)) return []
    throw wrong(`${place}.credit_limit`, `is required, as there is no budget of ${type} yet`)
  }
  const {alert_threshold = own?.alert_threshold ?? null, enforcement = before?.enforcement ?? 'compatible'} = change
  const period = periodOf(change, before)
  const whole = {type, credit_limit, alert_threshold, ...period, enforcement}
  const {error} = UsageLimit.safeParse(whole)
  if (error) throw asRefused(error, place, change, whole)
  return [{...whole, started_at: own?.started_at ?? now, ...goingOn(own, period.next_usage_reset_at, now)}]
}

/**
 * The running period lasts until a reset that is set: nothing before it counts again, and nothing of it is forgotten.
 */
function goingOn(
  own: StoredUsageLimit | undefined,
  next_usage_reset_at: string | null,
  now: string,
): {counts_from?: string} {
  if (!own || next_usage_reset_at === null || next_usage_reset_at <= now) return {}
  const {starts_at_ms} = runningPeriod(own, 'sunday', Date.parse(now))
  return Number.isFinite(starts_at_ms) ? {counts_from: new Date(starts_at_ms).toISOString()} : {}
}

/** A period given in one of its two forms takes the place of the other. */
function periodOf(change: UsageLimitChange, before: StoredUsageLimit | undefined) {
  const {
    periodic_reset = change.periodic_reset_days ? null : (before?.periodic_reset ?? null),
    periodic_reset_days = change.periodic_reset ? null : (before?.periodic_reset_days ?? null),
  } = change
  const repeats = periodic_reset !== null || periodic_reset_days !== null
  const {next_usage_reset_at = repeats ? (before?.next_usage_reset_at ?? null) : null} = change
  return {periodic_reset, periodic_reset_days, next_usage_reset_at}
}

function changedRate(change: RateLimitChange, old: readonly RateLimit[]): RateLimit {
  const own = old.find(other => nameOfRate(other) === nameOfRate(change))
  const {type, unit, value, enforcement = own?.enforcement ?? 'compatible'} = change
  return {type, unit, value, enforcement}
}

/** An alert that the update does not set may be too high for the new amount: this is reported, and the alert stays. */
function asRefused(
  error: z.ZodError,
  place: string,
  change: UsageLimitChange,
  {alert_threshold}: Pick<UsageLimit, 'alert_threshold'>,
): Refusal {
  const {path, message} = error.issues[0]!
  const field = `${place}.${String(path[0] ?? '')}`
  if (path[0] === 'alert_threshold' && change.alert_threshold === undefined)
    return wrong(field, `${message}, and is ${alert_threshold}: send another beside it, or null for none`)
  return wrong(field, message)
}

function wrong(field: string, why: string): Refusal {
  return new Refusal('body.invalid', {issues: `${field}: ${why}.`})
}

function changes<Item extends z.ZodType>(item: Item, most: number, nameOf: (item: z.output<Item>) => string) {
  const list = z.array(item).max(most)
  const many = list.superRefine((items, {addIssue}) => {
    const names = items.map(nameOf)
    const twice = names.find((each, index) => names.indexOf(each) !== index)
    if (twice !== undefined) addIssue({code: 'custom', message: `names ${twice} twice: send each once`})
  })
  const changes = (items: z.output<Item>[], alone: boolean): LimitChanges<z.output<Item>> => ({items, alone, most})
  return z.union([
    many.transform(items => changes(items, false)),
    item.transform(one => changes([one], true)),
  ]) as unknown as z.ZodType<LimitChanges<z.output<Item>>, z.input<Item> | z.input<Item>[]>
}

function listed<Item extends z.ZodType>(item: Item) {
  return z
    .array(item)
    .max(1)
    .transform((items): LimitChanges<z.output<Item>> => ({items, alone: false, most: 1}))
}
