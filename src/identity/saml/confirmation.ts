import {SignInFault} from '../sign-in-fault.ts'
import {ASSERTION, BEARER} from './names.ts'
import {checkBegun, checkNotOver, isoOf, type SkewedClock, timeOf} from './times.ts'
import {attributeOf, childrenNamed, onlyChild, type XmlElement} from './xml.ts'

export interface ConfirmationRules extends SkewedClock {
  readonly recipients: readonly string[]
  readonly allow_idp_initiated: boolean
  /** InResponseTo of the Response; null: it has none. */
  readonly envelope_in_response_to: string | null
  isExpected(in_response_to: string): boolean | Promise<boolean>
}

export interface Confirmation {
  readonly in_response_to: string | null
  /** The assertion could be shown until then, with any of its confirmations. */
  readonly replay_ends_at: string
}

/** The refusal that says most: of several confirmations, that of the one which came furthest. */
const ORDER = ['document_content', 'document_recipient', 'document_time', 'unsolicited', 'document_request'] as const
const MAX_CONFIRMATIONS = 10

/** One bearer confirmation has to meet all of it; else the refusal of the one that came furthest is thrown. */
export async function readConfirmation(subject: XmlElement, rules: ConfirmationRules): Promise<Confirmation> {
  const bearers = childrenNamed(subject, ASSERTION, 'SubjectConfirmation').filter(
    each => attributeOf(each, 'Method') === BEARER,
  )
  let refusal = content('The subject has no bearer confirmation with its data.')
  if (bearers.length > MAX_CONFIRMATIONS) throw content('The subject has too many confirmations.')
  for (const bearer of bearers) {
    try {
      const in_response_to = await confirmed(bearer, rules)
      return {in_response_to, replay_ends_at: isoOf(Math.max(...bearers.map(endOf)) + rules.skew_ms)}
    } catch (fault) {
      if (!(fault instanceof SignInFault)) throw fault
      if (rankOf(fault) >= rankOf(refusal)) refusal = fault
    }
  }
  throw refusal
}

async function confirmed(bearer: XmlElement, rules: ConfirmationRules): Promise<string | null> {
  const data = onlyChild(bearer, ASSERTION, 'SubjectConfirmationData')
  if (!data) throw content('A bearer confirmation has not exactly one SubjectConfirmationData.')
  const recipient = attributeOf(data, 'Recipient')
  if (recipient === null || !rules.recipients.includes(recipient))
    throw new SignInFault('document_recipient', 'The Recipient is another address than the Response came to.')
  checkTimes(data, rules)
  const in_response_to = attributeOf(data, 'InResponseTo')
  const {envelope_in_response_to} = rules
  if (in_response_to === null && !rules.allow_idp_initiated)
    throw new SignInFault('unsolicited', 'The signed assertion answers no request: it has no InResponseTo.')
  if (envelope_in_response_to !== null && envelope_in_response_to !== in_response_to)
    throw new SignInFault('document_request', 'InResponseTo of the Response is not that of its assertion.')
  if (in_response_to !== null && !(await rules.isExpected(in_response_to)))
    throw new SignInFault('document_request', 'InResponseTo is no sign-in of this organisation that is open.')
  return in_response_to
}

function checkTimes(data: XmlElement, rules: SkewedClock): void {
  const end_ms = endOf(data)
  if (end_ms === Number.NEGATIVE_INFINITY) throw content('SubjectConfirmationData has no NotOnOrAfter that is a time.')
  checkNotOver(end_ms, 'NotOnOrAfter of the confirmation', rules)
  const begin = attributeOf(data, 'NotBefore')
  if (begin === null) return
  const begin_ms = timeOf(begin)
  if (begin_ms === null) throw content('SubjectConfirmationData has a NotBefore that is no time.')
  checkBegun(begin_ms, 'NotBefore of the confirmation', rules)
}

/** NotOnOrAfter of a confirmation or of its data; minus infinity where it has none. */
function endOf(element: XmlElement): number {
  const data = onlyChild(element, ASSERTION, 'SubjectConfirmationData') ?? element
  return timeOf(attributeOf(data, 'NotOnOrAfter') ?? '') ?? Number.NEGATIVE_INFINITY
}

function rankOf(fault: SignInFault): number {
  return (ORDER as readonly string[]).indexOf(fault.reason)
}

function content(detail: string): SignInFault {
  return new SignInFault('document_content', detail)
}
