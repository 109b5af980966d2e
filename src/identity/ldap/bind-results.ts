import {SignInFault} from '../sign-in-fault.ts'
import {BerFault, readBer} from './ber.ts'
import {noted} from './connection.ts'
import type {LdapControl, LdapResult} from './replies.ts'

const [SUCCESS, PROTOCOL_ERROR, SASL_CONTINUES] = [0, 2, 14]
/** The entry has no password, or is not there; syntax of a name that was refused. */
const WRONG = new Set([32, 34, 48, 49])
/** How 389 Directory Server and eDirectory answer for an account that is locked (RFC 4511: 19 and 53). */
const LOCKED = new Set([19, 53])
const WRONG_CREDENTIALS = 49

/** Sub-codes of Active Directory inside result 49, which it sends for the right password too. */
const ACTIVE_DIRECTORY: Readonly<Record<string, string>> = {
  530: 'not at this time',
  531: 'not from this machine',
  532: 'password expired',
  533: 'account disabled',
  701: 'account expired',
  773: 'password must be changed',
  775: 'account locked',
}

const PASSWORD_POLICY = '1.3.6.1.4.1.42.2.27.8.5.1'
/** Of 389 Directory Server: the password expired, or must be changed. */
const PASSWORD_EXPIRED = '2.16.840.1.113730.3.4.4'
const POLICY_ERRORS: Readonly<Record<number, string>> = {
  0: 'password expired',
  1: 'account locked',
  2: 'password must be changed',
}
const POLICY_ERROR_TAG = 0x81

/**
 * Judges the answer to the bind of a person. Throws SignInFault `credentials_wrong`, `account_locked` with its reason,
 * else `provider_unreachable` or `provider_invalid`.
 */
export function checkPersonBind(result: LdapResult, password: string): void {
  const policy = policyErrorIn(result.controls)
  if (policy) throw locked(policy)
  if (result.code === SUCCESS) return
  if (result.code === WRONG_CREDENTIALS) {
    const [, sub = ''] = /\bdata ([0-9a-f]{3,8})\b/.exec(result.diagnostic) ?? []
    if (Object.hasOwn(ACTIVE_DIRECTORY, sub)) throw locked(`${ACTIVE_DIRECTORY[sub]}, ${sub}`)
  }
  const detail = noted(result, password)
  if (WRONG.has(result.code)) throw new SignInFault('credentials_wrong', `the bind was refused: ${detail}`)
  if (LOCKED.has(result.code)) throw locked(detail)
  const is_wrong = result.code === PROTOCOL_ERROR || result.code === SASL_CONTINUES
  throw new SignInFault(is_wrong ? 'provider_invalid' : 'provider_unreachable', `the bind failed: ${detail}`)
}

/** The account is right, and may not sign in now. */
export function locked(reason: string): SignInFault {
  return new SignInFault('account_locked', `The directory does not let this account sign in: ${reason}.`)
}

/** The reason of a password policy control, which comes with success too (draft-behera-ldap-password-policy). */
function policyErrorIn(controls: readonly LdapControl[]): string | undefined {
  if (controls.some(({type}) => type === PASSWORD_EXPIRED)) return POLICY_ERRORS[0]
  const value = controls.find(({type}) => type === PASSWORD_POLICY)?.value
  if (!value) return undefined
  try {
    const error = readBer(value).parts.find(({tag}) => tag === POLICY_ERROR_TAG)?.bytes[0]
    return error === undefined ? undefined : (POLICY_ERRORS[error] ?? `password policy error ${error}`)
  } catch (fault) {
    if (!(fault instanceof BerFault)) throw fault
    throw new SignInFault('provider_invalid', `password policy control: ${fault.message}`)
  }
}
