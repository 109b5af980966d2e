import {Refusal} from '../../base/errors.ts'
import {isList, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import {type Algorithm, isSigned, readKey} from '../../base/jwt/token.ts'
import {type ReadToken, readCredential} from '../jwt/read.ts'
import {printable} from '../printable.ts'
import {SignInFault} from '../sign-in-fault.ts'

/** A kind of token that a provider signs: its name in sentences, and the types that its header may name. */
export interface ProviderTokenKind {
  readonly name: string
  readonly types: RegExp
  /** False: it may have no `exp`, and then its age alone ends it. */
  readonly must_expire: boolean
}

/** The values that every token of a provider for this client has to have. */
export interface ProviderTokenRules {
  readonly issuer: string
  readonly client_id: string
  readonly algorithms: readonly Algorithm[]
  readonly now_s: number
}

/** The keys of a `kid`; undefined: all of the provider's set. */
export type KeysOfProvider = (kid: string | undefined) => Promise<readonly JsonValue[]>

export const SKEW_S = 60
/** A token is taken for so long after it was made. */
export const MAX_AGE_S = 600
const LONGEST_KEY_ID = 255
/** The last second that a date can tell (ECMA-262, "Time Values"). */
const LAST_S = 8.64e12

/**
 * Reads a token that a provider signed. Nothing of it is believed. Refuses with `token_invalid`, also a token of
 * another type: one for something else is none for this (RFC 8725 §3.11).
 */
export function readProviderToken(text: string, {name, types}: ProviderTokenKind): ReadToken {
  let token: ReadToken
  try {
    token = readCredential(text)
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault
    throw new SignInFault('token_invalid', `The ${name}: ${printable(fault.message)}`)
  }
  const typ = own(token.header, 'typ')
  if (typ !== undefined && (typeof typ !== 'string' || !types.test(typ)))
    throw new SignInFault('token_invalid', `The ${name} is of the type ${printable(typ)}`)
  return token
}

/**
 * Judges in this order: algorithm, key, signature, issuer, audience, times. Refuses with a reason of `token_*`, and as
 * `keysOf` does. The algorithm that signed it.
 */
export async function checkProviderToken(
  token: ReadToken,
  {name, must_expire}: ProviderTokenKind,
  keysOf: KeysOfProvider,
  rules: ProviderTokenRules,
): Promise<Algorithm> {
  const algorithm = algorithmOf(token, name, rules.algorithms)
  await checkSignature(token, name, algorithm, keysOf)
  checkIssuerAndAudience(token.payload, name, rules)
  checkTimes(token.payload, name, must_expire, rules.now_s)
  return algorithm
}

/** A time of a token, in seconds. Refuses what is none. */
export function timeIn(claims: JsonObject, claim: string, name: string): number {
  const time_s = own(claims, claim)
  if (typeof time_s === 'number' && Math.abs(time_s) <= LAST_S) return time_s
  throw new SignInFault('token_time', `The ${name} has no time as ${claim}: ${printable(time_s)}`)
}

/** With both times: the clock of a machine without a network may be wrong. */
export function timeFault(fault: string, time_s: number, now_s: number): SignInFault {
  const [time, now] = [time_s, now_s].map(each => new Date(each * 1000).toISOString())
  return new SignInFault('token_time', `The ${fault} ${time}; here it is ${now}`)
}

function algorithmOf({header}: ReadToken, name: string, algorithms: readonly Algorithm[]): Algorithm {
  const alg = own(header, 'alg')
  const accepted = algorithms.find(each => each === alg)
  if (accepted) return accepted
  const detail = `The ${name} is signed with ${printable(alg)}; accepted: ${algorithms.join(', ')}`
  throw new SignInFault('token_algorithm', detail)
}

async function checkSignature(
  token: ReadToken,
  name: string,
  algorithm: Algorithm,
  keysOf: KeysOfProvider,
): Promise<void> {
  const kid = own(token.header, 'kid')
  if (kid !== undefined && (typeof kid !== 'string' || kid === '' || kid.length > LONGEST_KEY_ID))
    throw new SignInFault('token_key', `The ${name} has a kid that is no id`)
  const keys = (await keysOf(kid)).map(jwk => readKey(jwk, algorithm)).filter(key => key !== undefined)
  // without an id, several keys would be tried: the one of another purpose might fit
  if (keys.length === 0 || (kid === undefined && keys.length > 1)) {
    const named = kid === undefined ? 'names no key (kid)' : `names the key ${printable(kid)}`
    throw new SignInFault('token_key', `The ${name} ${named}; keys for ${algorithm} that fit: ${keys.length}`)
  }
  if (!keys.some(key => isSigned(token, key, algorithm)))
    throw new SignInFault('token_signature', `The signature of the ${name} does not match`)
}

function checkIssuerAndAudience(claims: JsonObject, name: string, {issuer, client_id}: ProviderTokenRules): void {
  const [iss, aud, azp] = ['iss', 'aud', 'azp'].map(claim => own(claims, claim))
  if (iss !== issuer)
    throw new SignInFault('token_issuer', `The ${name} is of ${printable(iss)}; expected is ${printable(issuer)}`)
  const audiences = isList(aud) ? aud : [aud]
  if (!audiences.every(each => typeof each === 'string') || !audiences.includes(client_id))
    throw new SignInFault('token_audience', `The ${name} is for ${printable(aud)}, not for ${printable(client_id)}`)
  if (audiences.length > 1 && azp === undefined)
    throw new SignInFault('token_audience', `The ${name} is for several, and azp does not say which of them got it`)
  if (azp !== undefined && azp !== client_id)
    throw new SignInFault(
      'token_audience',
      `The ${name} was made for ${printable(azp)}, not for ${printable(client_id)}`,
    )
}

function checkTimes(claims: JsonObject, name: string, must_expire: boolean, now_s: number): void {
  const has_end = must_expire || own(claims, 'exp') !== undefined
  const exp_s = has_end ? timeIn(claims, 'exp', name) : undefined
  const iat_s = timeIn(claims, 'iat', name)
  const nbf_s = own(claims, 'nbf') === undefined ? undefined : timeIn(claims, 'nbf', name)
  if (exp_s !== undefined && exp_s <= now_s - SKEW_S) throw timeFault(`${name} expired at`, exp_s, now_s)
  if (iat_s < now_s - MAX_AGE_S) throw timeFault(`${name} was made over 10 minutes ago, at`, iat_s, now_s)
  if (iat_s > now_s + SKEW_S) throw timeFault(`${name} says that it was made in the future, at`, iat_s, now_s)
  if (nbf_s !== undefined && nbf_s > now_s + SKEW_S) throw timeFault(`${name} does not hold before`, nbf_s, now_s)
}
