import {SignInFault} from '../sign-in-fault.ts'
import type {NameId} from './attributes.ts'
import {type Confirmation, type ConfirmationRules, readConfirmation} from './confirmation.ts'
import {checkIssueInstant, checkIssuer} from './envelope.ts'
import {ASSERTION, DSIG} from './names.ts'
import {checkBegun, checkNotOver, isoOf, type SkewedClock, timeOf} from './times.ts'
import {attributeOf, childrenNamed, onlyChild, type XmlElement} from './xml.ts'

export interface AssertionRules extends ConfirmationRules {
  readonly entity_id: string
  /** Our entity id, and a former one where it is taken. */
  readonly audiences: readonly string[]
}

export interface CheckedAssertion {
  readonly id: string
  readonly name_id: NameId | null
  readonly confirmation: Confirmation
  readonly session_ends_at: string | null
}

const PARTS: ReadonlySet<string> = new Set([
  `${ASSERTION} Issuer`,
  `${DSIG} Signature`,
  `${ASSERTION} Subject`,
  `${ASSERTION} Conditions`,
  `${ASSERTION} Advice`,
  `${ASSERTION} AuthnStatement`,
  `${ASSERTION} AttributeStatement`,
  `${ASSERTION} AuthzDecisionStatement`,
])
const SUBJECT_PARTS: ReadonlySet<string> = new Set([`${ASSERTION} NameID`, `${ASSERTION} SubjectConfirmation`])
/** Of conditions, those that are understood; every assertion is used once, with OneTimeUse and without it. */
const CONDITIONS: ReadonlySet<string> = new Set(['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction'])
const MAX_ID = 255

/** All that an assertion has to meet, apart from its signature: `assertion` is what a signature covers. */
export async function checkAssertion(assertion: XmlElement, rules: AssertionRules): Promise<CheckedAssertion> {
  const id = attributeOf(assertion, 'ID') ?? ''
  if (attributeOf(assertion, 'Version') !== '2.0' || id === '' || id.length > MAX_ID)
    throw content('The assertion is not of SAML 2.0, or has no ID.')
  if (assertion.children.some(({namespace, name}) => !PARTS.has(`${namespace} ${name}`)))
    throw content('The assertion has a part that an assertion has not.')
  const issuer = onlyChild(assertion, ASSERTION, 'Issuer')
  if (!issuer) throw content('The assertion has not exactly one issuer.')
  checkIssuer(issuer, rules.entity_id)
  checkIssueInstant(assertion, rules)
  const subject = onlyChild(assertion, ASSERTION, 'Subject')
  if (!subject) throw content('The assertion has not exactly one subject.')
  const name_id = nameIdOf(subject)
  checkConditions(assertion, rules)
  const session_ends_at = checkAuthentication(assertion, rules)
  return {id, name_id, session_ends_at, confirmation: await readConfirmation(subject, rules)}
}

function nameIdOf(subject: XmlElement): NameId | null {
  if (subject.children.some(({namespace, name}) => !SUBJECT_PARTS.has(`${namespace} ${name}`)))
    throw content('The subject is encrypted, or has a part that is not read here.')
  const [name_id, ...more] = childrenNamed(subject, ASSERTION, 'NameID')
  if (!name_id) return null
  if (more.length > 0) throw content('The subject has two names.')
  if (name_id.children.length > 0 || name_id.text.trim() === '') throw content('The NameID of the subject is no text.')
  return {
    value: name_id.text,
    format: attributeOf(name_id, 'Format'),
    qualifier: attributeOf(name_id, 'NameQualifier'),
    sp_qualifier: attributeOf(name_id, 'SPNameQualifier'),
  }
}

function checkConditions(assertion: XmlElement, rules: AssertionRules): void {
  const conditions = onlyChild(assertion, ASSERTION, 'Conditions')
  if (!conditions) throw content('The assertion has not exactly one Conditions.')
  checkWindow(conditions, 'the conditions', rules)
  if (conditions.children.some(({namespace, name}) => namespace !== ASSERTION || !CONDITIONS.has(name)))
    throw content('The assertion has a condition that is not understood.')
  const restrictions = childrenNamed(conditions, ASSERTION, 'AudienceRestriction')
  const isForUs = (restriction: XmlElement) =>
    childrenNamed(restriction, ASSERTION, 'Audience').some(({text}) => rules.audiences.includes(text.trim()))
  if (restrictions.length === 0 || !restrictions.every(isForUs))
    throw new SignInFault(
      'document_audience',
      `The assertion is not for ${rules.audiences.join(' or ').slice(0, 300)}: its audience is another.`,
    )
}

/** The end of the session that the provider wants; null where it wants none. */
function checkAuthentication(assertion: XmlElement, rules: SkewedClock): string | null {
  const statements = childrenNamed(assertion, ASSERTION, 'AuthnStatement')
  if (statements.length === 0) throw content('The assertion has no AuthnStatement.')
  let end_ms = Number.POSITIVE_INFINITY
  for (const statement of statements) {
    const instant_ms = timeOf(attributeOf(statement, 'AuthnInstant') ?? '')
    if (instant_ms === null) throw content('The AuthnStatement has no AuthnInstant that is a time.')
    checkBegun(instant_ms, 'AuthnInstant', rules)
    const end = optionalTime(statement, 'SessionNotOnOrAfter')
    if (end === null) continue
    checkNotOver(end, 'SessionNotOnOrAfter', rules)
    end_ms = Math.min(end_ms, end)
  }
  return end_ms === Number.POSITIVE_INFINITY ? null : isoOf(end_ms)
}

function checkWindow(element: XmlElement, of: string, rules: SkewedClock): void {
  const begin_ms = optionalTime(element, 'NotBefore')
  const end_ms = optionalTime(element, 'NotOnOrAfter')
  if (begin_ms !== null) checkBegun(begin_ms, `NotBefore of ${of}`, rules)
  if (end_ms !== null) checkNotOver(end_ms, `NotOnOrAfter of ${of}`, rules)
}

function optionalTime(element: XmlElement, name: string): number | null {
  const text = attributeOf(element, name)
  if (text === null) return null
  const time_ms = timeOf(text)
  if (time_ms === null) throw content(`${name} is no time.`)
  return time_ms
}

function content(detail: string): SignInFault {
  return new SignInFault('document_content', detail)
}
