import {Refusal} from '../../base/errors.ts'
import {isList, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import {keysNamed} from '../../base/jwt/key-set.ts'
import {type Algorithm, isSigned, readKey} from '../../base/jwt/token.ts'
import type {ReadToken} from './read.ts'

/** The rules of an organisation for its tokens. */
export interface TokenRules {
  readonly algorithms: readonly Algorithm[]
  /** Null: any. */
  readonly issuer: string | null
  /** The token is for one of them; none: for whomever. */
  readonly audiences: readonly string[]
  readonly clock_skew_s: number
  /** From `iat` to `exp`; null: without bound. */
  readonly max_lifetime_s: number | null
  /** Tokens made before it are refused; seconds since the epoch. */
  readonly revoked_before_s: number | null
  /** None: any. */
  readonly allowed_subjects: readonly string[]
}

const TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt'])
const LONGEST_KEY_ID = 255
const LONGEST_SHOWN = 40

/** The algorithm and the type of the header, where both are accepted. Judged before any key is looked for. */
export function acceptedAlgorithm({header}: Pick<ReadToken, 'header'>, {algorithms}: TokenRules): Algorithm {
  const alg = own(header, 'alg')
  const accepted = algorithms.find(each => each === alg)
  if (!accepted) throw new Refusal('token.algorithm', {algorithm: shown(alg), accepted: algorithms.join(', ')})
  const typ = own(header, 'typ')
  if (typ !== undefined && (typeof typ !== 'string' || !TYPES.has(typ.toLowerCase())))
    throw new Refusal('token.type', {type: shown(typ)})
  return accepted
}

/** The id of the key that signed it. A token without one is refused: any key of the set might be tried. */
export function keyIdOf({header}: Pick<ReadToken, 'header'>): string {
  const kid = own(header, 'kid')
  if (typeof kid !== 'string' || kid === '' || kid.length > LONGEST_KEY_ID) throw new Refusal('token.key')
  return kid
}

/**
 * The claims of a token that one of `keys` signed and that holds at `now_s` (seconds since the epoch). Refuses with
 * `token.algorithm`, `token.type`, `token.key`, `token.signature`, `token.time`, `token.audience` or `token.subject`.
 */
export function verifiedClaims(
  token: ReadToken,
  keys: readonly JsonValue[],
  rules: TokenRules,
  now_s: number,
): JsonObject {
  const algorithm = acceptedAlgorithm(token, rules)
  const usable = keysNamed(keys, keyIdOf(token))
    .map(jwk => readKey(jwk, algorithm))
    .filter(key => key !== undefined)
  if (usable.length === 0) throw new Refusal('token.key')
  if (!usable.some(key => isSigned(token, key, algorithm))) throw new Refusal('token.signature')
  checkClaims(token.payload, rules, now_s)
  return token.payload
}

/** The rules that change with time or with the organisation: for a token that was verified before, too. */
export function checkClaims(claims: JsonObject, rules: TokenRules, now_s: number): void {
  const reason = timeFault(claims, rules, now_s)
  if (reason !== null) throw new Refusal('token.time', {reason})
  if (rules.issuer !== null && own(claims, 'iss') !== rules.issuer) throw new Refusal('token.audience', {claim: 'iss'})
  if (rules.audiences.length > 0 && !isFor(own(claims, 'aud'), rules.audiences))
    throw new Refusal('token.audience', {claim: 'aud'})
  const sub = own(claims, 'sub')
  if (rules.allowed_subjects.length > 0 && !rules.allowed_subjects.some(each => each === sub))
    throw new Refusal('token.subject')
}

function timeFault(claims: JsonObject, rules: TokenRules, now_s: number): string | null {
  const [exp, nbf, iat] = ['exp', 'nbf', 'iat'].map(name => own(claims, name))
  if (exp === undefined) return 'has no exp'
  for (const [name, time] of Object.entries({exp, nbf, iat}))
    if (time !== undefined && !isTime(time)) return `has an ${name} that is no time`
  const [expires_s, begins_s, made_s] = [exp, nbf, iat] as readonly (number | undefined)[]
  const {clock_skew_s, max_lifetime_s, revoked_before_s} = rules
  if (expires_s! <= now_s - clock_skew_s) return `expired at ${timeOf(expires_s!)}`
  if (begins_s !== undefined && begins_s > now_s + clock_skew_s) return 'does not hold yet (nbf)'
  if (made_s !== undefined && made_s > now_s + clock_skew_s) return 'does not hold yet (iat)'
  if (max_lifetime_s !== null && made_s === undefined) return 'has no iat, which max_lifetime_s needs'
  if (max_lifetime_s !== null && expires_s! - made_s! > max_lifetime_s) return 'holds for longer than max_lifetime_s'
  if (revoked_before_s === null || (made_s !== undefined && made_s >= revoked_before_s)) return null
  return `was made before ${timeOf(revoked_before_s)}, when tokens were revoked`
}

/** A time that a date can tell (ECMA-262, "Time Values"). */
function isTime(value: JsonValue): boolean {
  return typeof value === 'number' && Math.abs(value) <= 8.64e12
}

function timeOf(time_s: number): string {
  return new Date(time_s * 1000).toISOString()
}

/** RFC 7519 §4.1.3: a text, or a list of them; a list of other things is none. */
function isFor(aud: JsonValue | undefined, audiences: readonly string[]): boolean {
  const named = isList(aud) ? aud : [aud]
  return named.every(each => typeof each === 'string') && named.some(each => audiences.includes(each))
}

/** A text of the token for a sentence: short, and of letters that nothing reads as more. */
function shown(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  return typeof value === 'string' && /^[\w+./-]*$/.test(value) ? value.slice(0, LONGEST_SHOWN) : 'something else'
}
