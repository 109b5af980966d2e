import type {RateUnit, StoredRateLimit} from '../schema/limits.ts'
import type {Period} from '../schema/periods.ts'
import {counterKey, type EntityLimit, groupOf, type LimitClaim, labelOf} from './claims.ts'
import {atEntry} from './enforcement.ts'

const DAY_MS = 86_400_000
const MINUTE = {length_ms: 60_000, first_ms: 0, per: 'minute'} as const
const HOUR = {length_ms: 3_600_000, first_ms: 0, per: 'hour'} as const
const DAY = {length_ms: DAY_MS, first_ms: 0, per: 'day'} as const
/** Weeks of policies begin on Monday; the epoch was a Thursday. */
const WEEK = {length_ms: 7 * DAY_MS, first_ms: 4 * DAY_MS, per: 'week'} as const
const UNITS = {
  ...{rpm: MINUTE, rph: HOUR, rpd: DAY, rpw: WEEK},
  ...{tpm: MINUTE, tph: HOUR, tpd: DAY, tpw: WEEK},
} as const satisfies Record<RateUnit, object>

/** The window that `time_ms` falls in: fixed, aligned to the epoch, in UTC. */
export function windowOf(unit: RateUnit, time_ms: number): Period {
  const {length_ms, first_ms} = UNITS[unit]
  const starts_at_ms = first_ms + Math.floor((time_ms - first_ms) / length_ms) * length_ms
  return {starts_at_ms, ends_at_ms: starts_at_ms + length_ms}
}

/**
 * The claim of a call on a rate limit in the window of `time_ms`. Windows are fixed and aligned to the epoch, in UTC.
 * Requests are taken one by one; tokens are open while one more fits, and the real usage is added at the end. 0 admits
 * nothing. A window that no counter knows begins at nothing.
 */
export function rateClaim(
  of: EntityLimit,
  {type, unit, value, enforcement}: StoredRateLimit,
  time_ms: number,
): LimitClaim {
  const {starts_at_ms: since_ms, ends_at_ms} = windowOf(unit, time_ms)
  const label = labelOf(value, type, `per ${UNITS[unit].per}`, of)
  return atEntry({
    key: counterKey(type, unit, since_ms, of),
    label,
    type,
    mode: enforcement,
    amount: type === 'requests' ? 1 : 0,
    limit: BigInt(value),
    ends_at_ms,
    rebuilds: false,
    group: groupOf(of),
    of,
    kind: 'rate',
    counts: type,
    since_ms,
  })
}
