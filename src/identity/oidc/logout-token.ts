import {isList, isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {
  checkProviderToken,
  type KeysOfProvider,
  MAX_AGE_S,
  type ProviderTokenKind,
  type ProviderTokenRules,
  readProviderToken,
  SKEW_S,
  timeIn,
} from './provider-token.ts'
import {isSubject} from './subject.ts'

/** The sign-in that a provider ended: a session of it, or all sessions of a person. One of the two is there. */
export interface ProviderLogout {
  readonly sid: string | null
  readonly sub: string | null
  /** Used once. */
  readonly jti: string
  /** Epoch seconds: from then on the same token is too old to be taken again. */
  readonly over_s: number
}

/** The issuer and the clients that a token names: a hint at connections, which none of them believes. */
export interface LogoutHint {
  readonly issuer: string
  readonly audiences: readonly string[]
}

// `exp` came into the standard late: several providers have sent none for years
const KIND: ProviderTokenKind = {
  name: 'logout token',
  types: /^(?:application\/)?(?:logout\+)?jwt$/i,
  must_expire: false,
}
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const MOST_AUDIENCES = 20
const LONGEST = 2048

export function logoutHintOf(text: string): LogoutHint {
  const {payload} = readProviderToken(text, KIND)
  const [iss, aud] = [own(payload, 'iss'), own(payload, 'aud')]
  const audiences = (isList(aud) ? aud : [aud]).slice(0, MOST_AUDIENCES).filter(isName)
  if (!isName(iss) || audiences.length === 0)
    throw new SignInFault('token_invalid', 'The logout token does not say of whom it is, and for whom')
  return {issuer: iss, audiences}
}

/**
 * The statement of a logout token (OpenID Connect Back-Channel Logout 1.0 §2.6). Judged as an ID token is, up to its
 * times; then event, nonce, whose sign-in it is, and its id.
 */
export async function verifiedLogoutToken(
  text: string,
  keysOf: KeysOfProvider,
  rules: ProviderTokenRules,
): Promise<ProviderLogout> {
  const token = readProviderToken(text, KIND)
  await checkProviderToken(token, KIND, keysOf, rules)
  const claims = token.payload
  const events = own(claims, 'events')
  if (!isObject(events) || !isObject(own(events, EVENT)))
    throw new SignInFault('token_invalid', 'The logout token is about no logout (events)')
  // an ID token has one: it would be a way out that everybody who saw it could use
  if (own(claims, 'nonce') !== undefined)
    throw new SignInFault('token_nonce', 'The logout token has a nonce, as only ID tokens may')
  const [sid, sub, jti] = [nameIn(claims, 'sid'), nameIn(claims, 'sub'), nameIn(claims, 'jti')]
  if (sid === null && sub === null)
    throw new SignInFault('token_subject', 'The logout token says neither which session ended nor whose (sid, sub)')
  if (jti === null) throw new SignInFault('token_invalid', 'The logout token has no id (jti)')
  // an earlier end (exp) is no reason to forget it before
  return {sid, sub, jti, over_s: timeIn(claims, 'iat', KIND.name) + MAX_AGE_S + SKEW_S}
}

function nameIn(claims: JsonObject, claim: string): string | null {
  const value = own(claims, claim)
  if (value === undefined) return null
  if (isSubject(value)) return value
  throw new SignInFault('token_subject', `The logout token has a ${claim} that is no id of 1-255 characters`)
}

function isName(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST
}
