import type {KeyObject} from 'node:crypto'
import type {SamlSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {Statement} from '../statement.ts'
import {type AssertionRules, type CheckedAssertion, checkAssertion} from './assertion.ts'
import {emailIn, groupsIn, namesIn, readAttributes, subjectIn} from './attributes.ts'
import {coveredAssertion} from './covered.ts'
import {RESPONSE_LIMITS, XmlFault} from './markup.ts'
import type {SamlProvider} from './metadata.ts'
import type {XmlElement} from './xml.ts'

export interface ReceivedResponse {
  /** The form field, base64. */
  readonly saml_response: string
  readonly provider: SamlProvider
  readonly settings: SamlSettings
  /** Exact addresses, one of which the assertion is for: those of the consumer that it came to. */
  readonly recipients: readonly string[]
  readonly audiences: readonly string[]
  /** True for the id of a sign-in of this organisation that is open; called with a text that a signature covers. */
  expected_request_id(in_response_to: string): boolean | Promise<boolean>
  readonly now_ms: number
  readonly decryption_key: KeyObject | null
}

/** A Response that holds. The caller refuses one that was used before, by issuer and `assertion_id`. */
export interface VerifiedResponse {
  readonly statement: Statement
  readonly assertion_id: string
  /** ISO 8601 UTC: the assertion is not accepted after it, so that its id may be forgotten. */
  readonly replay_ends_at: string
  /** Of the confirmation that met everything; null: the provider sent it unasked, and the connection allows that. */
  readonly in_response_to: string | null
  readonly issuer: string
  /** For the audit log. */
  readonly notes: readonly string[]
}

const MAX_BASE64 = 1_048_576
const BASE64 = /^[A-Za-z0-9+/\r\n\t ]+={0,2}[\r\n\t ]*$/

/** Judges a Response of the HTTP-POST binding by all rules of the connection. Throws a `SignInFault`. */
export async function verifiedResponse(received: ReceivedResponse): Promise<VerifiedResponse> {
  const text = documentIn(received.saml_response)
  try {
    const {provider, settings, now_ms, recipients, audiences} = received
    const clock = {now_ms, skew_ms: settings.clock_skew_s * 1000}
    const rules = {...clock, entity_id: provider.entity_id, recipients}
    const {envelope, assertion} = await coveredAssertion(text, {
      ...{rules, signed: settings.signed, keys: provider.certificates, decryption_key: received.decryption_key},
      limits: RESPONSE_LIMITS,
    })
    const assertion_rules: AssertionRules = {
      ...{...rules, audiences, allow_idp_initiated: settings.allow_idp_initiated},
      envelope_in_response_to: envelope.in_response_to,
      isExpected: id => received.expected_request_id(id),
    }
    return verifiedFrom(assertion, await checkAssertion(assertion, assertion_rules), received)
  } catch (fault) {
    if (fault instanceof XmlFault) throw new SignInFault('document_unreadable', fault.message, {cause: fault})
    throw fault
  }
}

function verifiedFrom(assertion: XmlElement, checked: CheckedAssertion, received: ReceivedResponse): VerifiedResponse {
  const {id, name_id, session_ends_at, confirmation} = checked
  const {provider, settings, audiences} = received
  const attributes = readAttributes(assertion)
  const groups = groupsIn(attributes, settings)
  const names = namesIn(attributes)
  const subject = subjectIn(attributes, name_id, settings, provider.entity_id, audiences)
  const notes: string[] = []
  if (subject === null) notes.push('the provider names no subject that stays; the address decides')
  if (groups.kind === 'unknown') notes.push(groups.reason)
  if (groups.kind === 'known' && groups.dropped > 0) notes.push(`${groups.dropped} groups without a name were dropped`)
  const statement: Statement = {
    ...{subject, groups, session_ends_at, email: emailIn(attributes, name_id, settings), email_verified: null},
    ...{first_name: names.first, last_name: names.last, id_token: null, provider_session: null},
  }
  const {in_response_to, replay_ends_at} = confirmation
  return {statement, assertion_id: id, replay_ends_at, in_response_to, issuer: provider.entity_id, notes}
}

function documentIn(base64: string): string {
  if (base64.length > MAX_BASE64) throw unreadable('It is longer than 1 MiB.')
  if (!BASE64.test(base64)) throw unreadable('It is no base64.')
  try {
    return new TextDecoder('utf-8', {fatal: true}).decode(Buffer.from(base64, 'base64'))
  } catch {
    throw unreadable('It is no UTF-8.')
  }
}

function unreadable(detail: string): SignInFault {
  return new SignInFault('document_unreadable', detail)
}
