/**
 * A stretch of time, in epoch milliseconds: the start belongs to it, the end does not. Infinite where there is no
 * bound.
 */
export interface Period {
  readonly starts_at_ms: number
  readonly ends_at_ms: number
}

/** When a budget starts again, as its row keeps it. Times are ISO 8601. */
export interface Resets {
  readonly periodic_reset: 'weekly' | 'monthly' | null
  readonly periodic_reset_days: number | null
  readonly next_usage_reset_at: string | null
  readonly started_at: string
  /**
   * Of a budget whose `next_usage_reset_at` was set while it ran: when the period began that ran then, which lasts
   * until that reset.
   */
  readonly counts_from?: string | undefined
}

export type Weekday = 'sunday' | 'monday'

const DAY_MS = 86_400_000
/** Days after the epoch, a Thursday, of the first Sunday and the first Monday. */
const FIRST = {sunday: 3, monday: 4} as const

/**
 * The period of a budget that `now_ms` falls in; all begin at 00:00 UTC. Weeks begin on `first_day` (decisions: limits
 * and money), months on the 1st, N days are counted from the day of `next_usage_reset_at`, else from the day the limit
 * was set. A given `next_usage_reset_at` is a beginning of its own, and nothing starts again before it. Without a
 * period all time is one.
 */
export function periodOf(resets: Resets, first_day: Weekday, now_ms: number): Period {
  const next_ms = resets.next_usage_reset_at === null ? null : dayOf(Date.parse(resets.next_usage_reset_at))
  const repeats = resets.periodic_reset !== null || resets.periodic_reset_days !== null
  if (!repeats) return {starts_at_ms: Number.NEGATIVE_INFINITY, ends_at_ms: Number.POSITIVE_INFINITY}
  if (next_ms !== null && now_ms < next_ms) {
    const starts_at_ms = resets.counts_from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(resets.counts_from)
    return {starts_at_ms, ends_at_ms: next_ms}
  }
  if (resets.periodic_reset_days !== null)
    return everyDays(resets.periodic_reset_days, next_ms ?? dayOf(Date.parse(resets.started_at)), now_ms)
  const period = resets.periodic_reset === 'monthly' ? monthly(now_ms) : everyDays(7, FIRST[first_day] * DAY_MS, now_ms)
  return {...period, starts_at_ms: Math.max(period.starts_at_ms, next_ms ?? Number.NEGATIVE_INFINITY)}
}

function everyDays(days: number, from_ms: number, now_ms: number): Period {
  const length_ms = days * DAY_MS
  const starts_at_ms = from_ms + Math.floor((now_ms - from_ms) / length_ms) * length_ms
  return {starts_at_ms, ends_at_ms: starts_at_ms + length_ms}
}

function monthly(now_ms: number): Period {
  const now = new Date(now_ms)
  const month = (later: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later, 1)
  return {starts_at_ms: month(0), ends_at_ms: month(1)}
}

const dayOf = (time_ms: number) => Math.floor(time_ms / DAY_MS) * DAY_MS
