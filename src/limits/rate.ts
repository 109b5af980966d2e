import type {RateLimit} from '../schema/limits.ts'
import {counterKey, type EntityLimit, type LimitClaim, labelOf} from './claims.ts'
import {heldAs} from './enforcement.ts'

const UNITS = {
  rpm: {length_ms: 60_000, per: 'minute'},
  rph: {length_ms: 3_600_000, per: 'hour'},
  rpd: {length_ms: 86_400_000, per: 'day'},
} as const

/**
 * What a call claims of a rate limit in the window of `time_ms`. Windows are fixed and aligned to the epoch, in UTC. Requests are
 * taken one by one; tokens are open while one more fits, and what was really used is added at the end. 0 lets nothing through.
 * A window that no counter knows begins at nothing.
 */
export function rateClaim(of: EntityLimit, {type, unit, value, enforcement}: RateLimit, time_ms: number): LimitClaim {
  const {length_ms, per} = UNITS[unit]
  const since_ms = Math.floor(time_ms / length_ms) * length_ms
  const label = labelOf(value, type, `per ${per}`, of)
  return {
    key: counterKey(type, unit, since_ms, of),
    label,
    type,
    mode: heldAs(enforcement, type, label),
    amount: type === 'requests' ? 1 : 0,
    limit: BigInt(value),
    ends_at_ms: since_ms + length_ms,
    rebuilds: false,
    of,
    kind: 'rate',
    since_ms,
  }
}
