import {SignInFault} from '../sign-in-fault.ts'
import {ASSERTION, DSIG, ENTITY_FORMAT, PROTOCOL, STATUS} from './names.ts'
import {checkBegun, type SkewedClock, timeOf} from './times.ts'
import {attributeOf, childrenNamed, elementsIn, isNamed, onlyChild, type XmlElement} from './xml.ts'

/** Fields of a Response, which may refuse it and never let anybody in: often they are not signed. */
export interface Envelope {
  readonly in_response_to: string | null
  /** The Assertion or EncryptedAssertion: there is one. */
  readonly assertion: XmlElement
}

export interface EnvelopeRules extends SkewedClock {
  readonly entity_id: string
  readonly recipients: readonly string[]
}

const PARTS: ReadonlySet<string> = new Set([
  `${ASSERTION} Issuer`,
  `${DSIG} Signature`,
  `${PROTOCOL} Extensions`,
  `${PROTOCOL} Status`,
  `${ASSERTION} Assertion`,
  `${ASSERTION} EncryptedAssertion`,
])
/** Second-level codes that are about the person rather than about the request. */
const DENIED: ReadonlySet<string | null> = new Set(
  ['AuthnFailed', 'NoPassive', 'RequestDenied'].map(name => `${STATUS}${name}`),
)

/** The fields of a Response. Throws a `SignInFault` where it is none, has not succeeded or is not for this gateway. */
export function readEnvelope(response: XmlElement, rules: EnvelopeRules): Envelope {
  if (!isNamed(response, PROTOCOL, 'Response') || attributeOf(response, 'Version') !== '2.0')
    throw content('The document is no Response of SAML 2.0.')
  if (response.children.some(({namespace, name}) => !PARTS.has(`${namespace} ${name}`)))
    throw content('The Response has a part that a Response has not.')
  checkStatus(response)
  const issuers = childrenNamed(response, ASSERTION, 'Issuer')
  if (issuers.length > 1) throw content('The Response has several issuers.')
  for (const issuer of issuers) checkIssuer(issuer, rules.entity_id)
  const destination = attributeOf(response, 'Destination')
  if (destination !== null && !rules.recipients.includes(destination))
    throw new SignInFault('document_recipient', 'The Destination of the Response is another address than it came to.')
  checkIssueInstant(response, rules)
  return {in_response_to: attributeOf(response, 'InResponseTo'), assertion: assertionIn(response)}
}

/** Refuses with `document_issuer`. */
export function checkIssuer(issuer: XmlElement, entity_id: string): void {
  const format = attributeOf(issuer, 'Format')
  if (issuer.text === entity_id && (format === null || format === ENTITY_FORMAT)) return
  throw new SignInFault('document_issuer', `The Issuer is not the entity of the metadata, ${entity_id.slice(0, 300)}.`)
}

export function checkIssueInstant(element: XmlElement, clock: SkewedClock): void {
  const issued_ms = timeOf(attributeOf(element, 'IssueInstant') ?? '')
  if (issued_ms === null) throw content(`The ${element.name} has no IssueInstant that is a time.`)
  checkBegun(issued_ms, 'IssueInstant', clock)
}

/** Anywhere in the document: a second one might be read in place of the one that is signed. */
function assertionIn(response: XmlElement): XmlElement {
  const all = [...elementsIn(response)].filter(
    element => isNamed(element, ASSERTION, 'Assertion') || isNamed(element, ASSERTION, 'EncryptedAssertion'),
  )
  const [assertion] = all
  if (all.length !== 1 || !assertion || !response.children.includes(assertion))
    throw content('The Response has not exactly one assertion.')
  return assertion
}

function checkStatus(response: XmlElement): void {
  const status = onlyChild(response, PROTOCOL, 'Status')
  const code = status && onlyChild(status, PROTOCOL, 'StatusCode')
  if (!status || !code) throw content('The Response has not exactly one status.')
  if (attributeOf(code, 'Value') === `${STATUS}Success`) return
  const second = onlyChild(code, PROTOCOL, 'StatusCode')
  const value = (second && attributeOf(second, 'Value')) ?? attributeOf(code, 'Value')
  const is_known = value?.startsWith(STATUS) && /^\w{1,40}$/.test(value.slice(STATUS.length))
  const detail = `The provider answers with the status ${is_known ? value!.slice(STATUS.length) : 'of another kind'}.`
  throw new SignInFault(DENIED.has(value ?? null) ? 'provider_denied' : 'document_status', detail)
}

function content(detail: string): SignInFault {
  return new SignInFault('document_content', detail)
}
