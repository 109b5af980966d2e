import type {StoredUsageLimit} from '../schema/limits.ts'
import {periodOf} from '../schema/periods.ts'
import {counterKey, type EntityLimit, groupOf, type LimitClaim, labelOf} from './claims.ts'
import {atEntry} from './enforcement.ts'

/**
 * The claim of a call on a budget in the period of `time_ms`: nothing in advance (`atEntry` for a strict one). The
 * budget is open while its usage is below the limit, and the real usage is added at the end. Counted is usage since
 * max(period start, last reset, limit set), from the ledger where no counter knows it (core rule 11). Weeks begin on
 * Sunday, those of policies on Monday (decisions: limits and money).
 */
export function budgetClaim(of: EntityLimit, limit: StoredUsageLimit, time_ms: number): LimitClaim {
  const {starts_at_ms, ends_at_ms} = periodOf(limit, of.entity === 'policy' ? 'monday' : 'sunday', time_ms)
  const since_ms = Math.max(
    0,
    starts_at_ms,
    Date.parse(limit.started_at),
    of.last_reset_at === null ? 0 : Date.parse(of.last_reset_at),
  )
  const label = labelOf(limit.credit_limit, limit.type === 'cost' ? 'US dollars' : 'tokens', perPeriod(limit), of)
  return atEntry({
    key: counterKey(limit.type, 'budget', since_ms, of),
    label,
    type: limit.type,
    mode: limit.enforcement,
    amount: 0,
    limit: limit.type === 'cost' ? nanoDollars(limit.credit_limit) : BigInt(limit.credit_limit),
    ends_at_ms: Math.min(ends_at_ms, of.ends_at_ms ?? Infinity),
    rebuilds: true,
    group: groupOf(of),
    of,
    kind: 'budget',
    counts: limit.type,
    since_ms,
  })
}

/** US dollars as they were written, in nano-dollars, exactly; what is finer is left off. */
export function nanoDollars(usd: number): bigint {
  const [whole = '0', part = ''] = (String(usd).includes('e') ? usd.toFixed(9) : String(usd)).split('.')
  return BigInt(whole + part.slice(0, 9).padEnd(9, '0'))
}

function perPeriod({periodic_reset, periodic_reset_days}: StoredUsageLimit): string {
  if (periodic_reset_days !== null) return periodic_reset_days === 1 ? 'per day' : `every ${periodic_reset_days} days`
  if (periodic_reset === null) return 'in all'
  return periodic_reset === 'weekly' ? 'per week' : 'per month'
}
