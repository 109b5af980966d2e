import {Refusal} from '../../base/errors.ts'
import {type JsonObject, own} from '../../base/json-member.ts'
import {keepTokenLimits, TokenLimits} from '../../schema/token-limits.ts'
import {explain} from '../../schema/validation-message.ts'

/** The limits of a token, as columns hold them, and when its counters may be forgotten. */
export interface LimitsOfToken {
  readonly usage: string | null
  readonly rates: string | null
  /** Epoch milliseconds. */
  readonly ends_at_ms: number
}

const DAY_MS = 86_400_000
/** Clocks of issuers may be that much ahead of ours. */
const AHEAD_MS = 3_600_000

/** Refuses with `token.limits`. The times of the claims are checked before. */
export function limitsOfToken(claims: JsonObject): LimitsOfToken {
  const given = {usage_limits: own(claims, 'usage_limits'), rate_limits: own(claims, 'rate_limits')}
  const read = TokenLimits.safeParse(given)
  if (!read.success)
    throw new Refusal('token.limits', {issues: explain(read.error, TokenLimits, given, {root: 'the claims'})})
  const [iat, exp] = ['iat', 'exp'].map(name => Number(own(claims, name) ?? 0) * 1000) as [number, number]
  const started_at = new Date(Math.max(0, iat - AHEAD_MS)).toISOString()
  return {...keepTokenLimits(read.data, started_at), ends_at_ms: exp + DAY_MS}
}
