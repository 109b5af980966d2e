import {type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import type {OidcSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {ProviderSession, StatedGroups, Statement} from '../statement.ts'
import {hasGroups, readGroups} from './groups.ts'
import {isSubject} from './subject.ts'

type ClaimRules = Pick<OidcSettings, 'email_claim' | 'email_verified' | 'subject_claim' | 'groups_claim'>

/** The claims of one sign-in: of the ID token, and of UserInfo where that was read. */
export interface StatedClaims {
  readonly subject: string
  readonly id_token: JsonObject
  readonly userinfo: JsonObject | null
  /** True: groups may be in UserInfo, which could not be read. */
  readonly is_userinfo_lost: boolean
}

/** Claims that hold an address at one provider or another, tried in this order. */
const ADDRESS_CLAIMS = ['email', 'preferred_username', 'upn']
const LONGEST_ADDRESS = 1024
const LONGEST_NAME = 255

/** True where the ID token has no claim that looks like an address. */
export function lacksAddress(claims: JsonObject, {email_claim}: ClaimRules): boolean {
  return addressIn(claims, email_claim) === null
}

/** True where groups are of interest and the ID token does not speak of them. */
export function lacksGroups(claims: JsonObject, {groups_claim}: ClaimRules): boolean {
  return groups_claim !== null && !hasGroups(claims, groups_claim)
}

/** The id of the person at the provider. Refuses with `token_subject`; no other claim is taken in its place. */
export function subjectIn(claims: JsonObject, {subject_claim}: ClaimRules): string {
  const subject = own(claims, subject_claim)
  if (isSubject(subject)) return subject
  throw new SignInFault('token_subject', `The ID token has no ${subject_claim} of 1-255 characters (subject_claim)`)
}

/**
 * The statement of verified claims; `raw_token` is the ID token as it came. Refuses with `email_unverified` where a
 * document says that the address is not verified: no other claim gets round that.
 */
export function statementOf(stated: StatedClaims, rules: ClaimRules, raw_token: string): Statement {
  const {subject, id_token, userinfo} = stated
  const documents = userinfo ? [id_token, userinfo] : [id_token]
  if (documents.some(claims => isVerified(claims) === false))
    throw new SignInFault('email_unverified', 'The provider says that the address is not verified (email_verified)')
  const found = documents.map(claims => addressIn(claims, rules.email_claim)).find(each => each !== null) ?? null
  const email_verified = found && documents.some(claims => isVouched(claims, found, rules)) ? true : null
  if (found && rules.email_verified === 'true' && !email_verified)
    throw new SignInFault('email_unverified', `The provider does not verify ${found.claim} (email_verified)`)
  return {
    subject,
    email: found?.address ?? null,
    email_verified,
    ...namesIn(documents),
    groups: groupsIn(stated, rules),
    session_ends_at: null,
    id_token: raw_token,
    provider_session: providerSessionIn(id_token),
  }
}

/** The claims are verified: they have an issuer and a subject. */
function providerSessionIn(claims: JsonObject): ProviderSession {
  const [iss, sub, sid] = ['iss', 'sub', 'sid'].map(claim => own(claims, claim))
  return {issuer: String(iss), sub: String(sub), sid: isSubject(sid) ? sid : null}
}

function groupsIn({id_token, userinfo, is_userinfo_lost}: StatedClaims, rules: ClaimRules): StatedGroups {
  if (is_userinfo_lost) return {kind: 'unknown', reason: 'UserInfo could not be read'}
  return readGroups(userinfo && lacksGroups(id_token, rules) ? userinfo : id_token, rules.groups_claim)
}

interface FoundAddress {
  readonly claim: string
  readonly address: string
}

function addressIn(claims: JsonObject, email_claim: string): FoundAddress | null {
  for (const claim of new Set([email_claim, ...ADDRESS_CLAIMS])) {
    const address = own(claims, claim)
    if (isLikeAddress(address)) return {claim, address}
  }
  return null
}

/** Only that: what is an address here is judged in one place, for all ways in. */
function isLikeAddress(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.length <= LONGEST_ADDRESS && value.split('@', 3).length === 2
}

/** Null where the claim is absent. Several providers write it as text; anything that is not true is false. */
function isVerified(claims: JsonObject): boolean | null {
  const value = own(claims, 'email_verified')
  if (value === undefined || value === null) return null
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true')
}

/**
 * `email_verified` is about the claim `email` (OpenID Connect Core 1.0 §5.1). It vouches for another claim of the same
 * address, or for the one that the administrator chose where there is no `email`; never for a name to sign in with.
 */
function isVouched(claims: JsonObject, {claim, address}: FoundAddress, {email_claim}: ClaimRules): boolean {
  if (isVerified(claims) !== true) return false
  const email = own(claims, 'email')
  if (email !== undefined && email !== null) return email === address
  return claim === email_claim && own(claims, claim) === address
}

/** `name` is not cut into two: which part of it is which differs by language. */
function namesIn(documents: readonly JsonObject[]): Pick<Statement, 'first_name' | 'last_name'> {
  const first = (claim: string) => documents.map(claims => nameIn(claims, claim)).find(name => name !== null) ?? null
  const [given, family] = [first('given_name'), first('family_name')]
  if (given === null && family === null) return {first_name: first('name'), last_name: null}
  return {first_name: given, last_name: family}
}

function nameIn(claims: JsonObject, claim: string): string | null {
  const value = own(claims, claim)
  if (typeof value !== 'string') return null
  const clean = value.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  const bounded = clean.slice(0, LONGEST_NAME).replace(/\p{Cs}$/u, '')
  return bounded === '' ? null : bounded
}
