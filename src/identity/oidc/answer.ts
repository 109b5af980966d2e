import {printable} from '../printable.ts'
import {SignInFault} from '../sign-in-fault.ts'

const LONGEST_CODE = 4096
const LONGEST_DESCRIPTION = 200
const JUDGED = ['iss', 'error', 'code']

/**
 * Refuses an answer of another issuer (RFC 9207 §2.4), with `issuer_mixed`, and one that says a thing twice, with
 * `request_invalid`. A provider that is known to name itself does so in each answer.
 */
export function checkIssuer(params: URLSearchParams, issuer: string, is_issuer_answered: boolean): void {
  const repeated = JUDGED.find(name => params.getAll(name).length > 1)
  if (repeated) throw new SignInFault('request_invalid', `The answer has ${repeated} more than once`)
  const iss = params.get('iss')
  if (iss === null && is_issuer_answered)
    throw new SignInFault('issuer_mixed', `The answer names no issuer (iss), which ${printable(issuer)} always does`)
  if (iss !== null && iss !== issuer)
    throw new SignInFault('issuer_mixed', `The answer is of ${printable(iss)}; expected is ${printable(issuer)}`)
}

/** The code of an answer. Refuses with `provider_denied`, `provider_error` or `request_invalid`. */
export function codeIn(params: URLSearchParams): string {
  const error = params.get('error')
  if (error !== null) {
    const reason = error === 'access_denied' ? 'provider_denied' : 'provider_error'
    throw new SignInFault(reason, errorSentence('The sign-in page', error, params.get('error_description')))
  }
  const code = params.get('code')
  if (!code || code.length > LONGEST_CODE) throw new SignInFault('request_invalid', 'The answer has no code (code)')
  return code
}

/**
 * A sentence on an error of the provider (RFC 6749 §4.1.2.1 and §5.2). Its texts may be of anybody who makes a browser
 * open an address.
 */
export function errorSentence(what: string, error: unknown, description: unknown): string {
  const more = typeof description === 'string' ? `: ${printable(description, LONGEST_DESCRIPTION)}` : ''
  return `${what} of the provider answered with the error ${printable(error)}${more}`
}
