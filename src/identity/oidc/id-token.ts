import {createHash} from 'node:crypto'
import {type JsonObject, own} from '../../base/json-member.ts'
import type {Algorithm} from '../../base/jwt/token.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {
  checkProviderToken,
  type KeysOfProvider,
  type ProviderTokenKind,
  type ProviderTokenRules,
  readProviderToken,
  SKEW_S,
  timeFault,
  timeIn,
} from './provider-token.ts'
import {isSubject} from './subject.ts'

/** The values that an ID token of one sign-in has to have. */
export interface IdTokenRules extends ProviderTokenRules {
  readonly nonce: string
  readonly access_token: string
  /** Null: the request named none. */
  readonly max_age_s: number | null
}

const KIND: ProviderTokenKind = {name: 'ID token', types: /^(?:application\/)?jwt$/i, must_expire: true}

/**
 * The claims of an ID token (OpenID Connect Core 1.0 §3.1.3.7). Judged in this order: form, algorithm, key, signature,
 * issuer, audience, times, nonce, access token, subject. Refuses with a reason of `token_*`, and as `keysOf` does.
 */
export async function verifiedIdToken(text: string, keysOf: KeysOfProvider, rules: IdTokenRules): Promise<JsonObject> {
  const token = readProviderToken(text, KIND)
  const algorithm = await checkProviderToken(token, KIND, keysOf, rules)
  const claims = token.payload
  // the nonce is left out of sentences: it belongs to a sign-in that may still be in progress
  if (own(claims, 'nonce') !== rules.nonce)
    throw new SignInFault('token_nonce', 'The nonce is not the one of this sign-in')
  checkAccessHash(claims, algorithm, rules.access_token)
  if (!isSubject(own(claims, 'sub')))
    throw new SignInFault('token_subject', 'The ID token has no sub of 1-255 characters')
  checkAuthTime(claims, rules)
  return claims
}

function checkAuthTime(claims: JsonObject, {max_age_s, now_s}: IdTokenRules): void {
  if (max_age_s === null) return
  const auth_s = timeIn(claims, 'auth_time', KIND.name)
  if (auth_s > now_s + SKEW_S || auth_s < now_s - max_age_s - SKEW_S)
    throw timeFault(`ID token has a sign-in that is not of the last ${max_age_s} seconds:`, auth_s, now_s)
}

/** OpenID Connect Core 1.0 §3.1.3.6: an ID token next to the access token of another person. */
function checkAccessHash(claims: JsonObject, algorithm: Algorithm, access_token: string): void {
  const at_hash = own(claims, 'at_hash')
  if (at_hash === undefined) return
  const hash = createHash(algorithm === 'EdDSA' ? 'sha512' : `sha${algorithm.slice(2)}`)
    .update(access_token)
    .digest()
  if (at_hash !== hash.subarray(0, hash.length / 2).toString('base64url'))
    throw new SignInFault('token_access_hash', 'The at_hash of the ID token is not the one of the access token')
}
