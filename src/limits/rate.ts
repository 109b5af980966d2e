import type {RateLimit} from '../schema/limits.ts'
import type {Period} from '../schema/periods.ts'
import {counterKey, type EntityLimit, groupOf, type LimitClaim, labelOf} from './claims.ts'
import {atEntry} from './enforcement.ts'

const UNITS = {
  rpm: {length_ms: 60_000, per: 'minute'},
  rph: {length_ms: 3_600_000, per: 'hour'},
  rpd: {length_ms: 86_400_000, per: 'day'},
} as const

/** The window that `time_ms` falls in: fixed, aligned to the epoch, in UTC. */
export function windowOf(unit: RateLimit['unit'], time_ms: number): Period {
  const {length_ms} = UNITS[unit]
  const starts_at_ms = Math.floor(time_ms / length_ms) * length_ms
  return {starts_at_ms, ends_at_ms: starts_at_ms + length_ms}
}

/**
 * The claim of a call on a rate limit in the window of `time_ms`. Windows are fixed and aligned to the epoch, in UTC.
 * Requests are taken one by one; tokens are open while one more fits, and the real usage is added at the end. 0 admits
 * nothing. A window that no counter knows begins at nothing.
 */
export function rateClaim(of: EntityLimit, {type, unit, value, enforcement}: RateLimit, time_ms: number): LimitClaim {
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
