import {createHash} from 'node:crypto'
import {Refusal} from '../../base/errors.ts'
import {isList, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import {type Algorithm, isSigned, readKey} from '../../base/jwt/token.ts'
import {type ReadToken, readCredential} from '../jwt/read.ts'
import {printable} from '../printable.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {isSubject} from './subject.ts'

/** The values that an ID token of one sign-in has to have. */
export interface IdTokenRules {
  readonly issuer: string
  readonly client_id: string
  readonly algorithms: readonly Algorithm[]
  readonly nonce: string
  readonly access_token: string
  /** Null: the request named none. */
  readonly max_age_s: number | null
  readonly now_s: number
}

/** The keys of a `kid`; undefined: all of the provider's set. */
export type KeysOfProvider = (kid: string | undefined) => Promise<readonly JsonValue[]>

const SKEW_S = 60
const MAX_AGE_S = 600
const LONGEST_KEY_ID = 255
/** The last second that a date can tell (ECMA-262, "Time Values"). */
const LAST_S = 8.64e12

/**
 * The claims of an ID token (OpenID Connect Core 1.0 §3.1.3.7). Judged in this order: form, algorithm, key, signature,
 * issuer, audience, times, nonce, access token, subject. Refuses with a reason of `token_*`, and as `keysOf` does.
 */
export async function verifiedIdToken(text: string, keysOf: KeysOfProvider, rules: IdTokenRules): Promise<JsonObject> {
  const token = readIdToken(text)
  const algorithm = algorithmOf(token, rules.algorithms)
  await checkSignature(token, algorithm, keysOf)
  const claims = token.payload
  checkIssuerAndAudience(claims, rules)
  checkTimes(claims, rules.now_s)
  // the nonce is left out of sentences: it belongs to a sign-in that may still be in progress
  if (own(claims, 'nonce') !== rules.nonce)
    throw new SignInFault('token_nonce', 'The nonce is not the one of this sign-in')
  checkAccessHash(claims, algorithm, rules.access_token)
  if (!isSubject(own(claims, 'sub')))
    throw new SignInFault('token_subject', 'The ID token has no sub of 1-255 characters')
  checkAuthTime(claims, rules)
  return claims
}

function readIdToken(text: string): ReadToken {
  let token: ReadToken
  try {
    token = readCredential(text)
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault
    throw new SignInFault('token_invalid', `The ID token: ${printable(fault.message)}`)
  }
  // RFC 8725 §3.11: a token for something else is none for a sign-in
  const typ = own(token.header, 'typ')
  if (typ !== undefined && (typeof typ !== 'string' || !/^(?:application\/)?jwt$/i.test(typ)))
    throw new SignInFault('token_invalid', `The ID token is of the type ${printable(typ)}`)
  return token
}

function algorithmOf({header}: ReadToken, algorithms: readonly Algorithm[]): Algorithm {
  const alg = own(header, 'alg')
  const accepted = algorithms.find(each => each === alg)
  if (accepted) return accepted
  const detail = `The ID token is signed with ${printable(alg)}; accepted: ${algorithms.join(', ')}`
  throw new SignInFault('token_algorithm', detail)
}

async function checkSignature(token: ReadToken, algorithm: Algorithm, keysOf: KeysOfProvider): Promise<void> {
  const kid = own(token.header, 'kid')
  if (kid !== undefined && (typeof kid !== 'string' || kid === '' || kid.length > LONGEST_KEY_ID))
    throw new SignInFault('token_key', 'The ID token has a kid that is no id')
  const keys = (await keysOf(kid)).map(jwk => readKey(jwk, algorithm)).filter(key => key !== undefined)
  // without an id, several keys would be tried: the one of another purpose might fit
  if (keys.length === 0 || (kid === undefined && keys.length > 1)) {
    const named = kid === undefined ? 'names no key (kid)' : `names the key ${printable(kid)}`
    throw new SignInFault('token_key', `The ID token ${named}; keys for ${algorithm} that fit: ${keys.length}`)
  }
  if (!keys.some(key => isSigned(token, key, algorithm)))
    throw new SignInFault('token_signature', 'The signature of the ID token does not match')
}

function checkIssuerAndAudience(claims: JsonObject, {issuer, client_id}: IdTokenRules): void {
  const [iss, aud, azp] = ['iss', 'aud', 'azp'].map(name => own(claims, name))
  if (iss !== issuer)
    throw new SignInFault('token_issuer', `The ID token is of ${printable(iss)}; expected is ${printable(issuer)}`)
  const audiences = isList(aud) ? aud : [aud]
  if (!audiences.every(each => typeof each === 'string') || !audiences.includes(client_id))
    throw new SignInFault('token_audience', `The ID token is for ${printable(aud)}, not for ${printable(client_id)}`)
  if (audiences.length > 1 && azp === undefined)
    throw new SignInFault('token_audience', 'The ID token is for several, and azp does not say which of them got it')
  if (azp !== undefined && azp !== client_id)
    throw new SignInFault(
      'token_audience',
      `The ID token was made for ${printable(azp)}, not for ${printable(client_id)}`,
    )
}

function checkTimes(claims: JsonObject, now_s: number): void {
  const exp_s = timeIn(claims, 'exp')
  const iat_s = timeIn(claims, 'iat')
  const nbf_s = own(claims, 'nbf') === undefined ? undefined : timeIn(claims, 'nbf')
  if (exp_s <= now_s - SKEW_S) throw timeFault('expired at', exp_s, now_s)
  if (iat_s < now_s - MAX_AGE_S) throw timeFault('was made over 10 minutes ago, at', iat_s, now_s)
  if (iat_s > now_s + SKEW_S) throw timeFault('says that it was made in the future, at', iat_s, now_s)
  if (nbf_s !== undefined && nbf_s > now_s + SKEW_S) throw timeFault('does not hold before', nbf_s, now_s)
}

function checkAuthTime(claims: JsonObject, {max_age_s, now_s}: IdTokenRules): void {
  if (max_age_s === null) return
  const auth_s = timeIn(claims, 'auth_time')
  if (auth_s > now_s + SKEW_S || auth_s < now_s - max_age_s - SKEW_S)
    throw timeFault(`has a sign-in that is not of the last ${max_age_s} seconds:`, auth_s, now_s)
}

function timeIn(claims: JsonObject, name: string): number {
  const time_s = own(claims, name)
  if (typeof time_s === 'number' && Math.abs(time_s) <= LAST_S) return time_s
  throw new SignInFault('token_time', `The ID token has no time as ${name}: ${printable(time_s)}`)
}

/** With both times: the clock of a machine without a network may be wrong. */
function timeFault(fault: string, time_s: number, now_s: number): SignInFault {
  const [time, now] = [time_s, now_s].map(each => new Date(each * 1000).toISOString())
  return new SignInFault('token_time', `The ID token ${fault} ${time}; here it is ${now}`)
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
