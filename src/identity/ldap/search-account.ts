import type {LdapSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {type LdapConnection, noted} from './connection.ts'
import type {LdapRequests} from './requests.ts'

/** Referral, busy, unavailable: another server may take it. */
const ELSEWHERE = new Set([10, 51, 52])

/**
 * Binds as the account that searches; without one the search is anonymous. Throws SignInFault `provider_error` where
 * the account is refused.
 */
export async function bindSearchAccount(
  {bind_dn, bind_password}: LdapSettings,
  requests: LdapRequests,
  connection: LdapConnection,
): Promise<void> {
  if (bind_dn === '') return
  if (bind_password === '') throw new SignInFault('provider_error', 'ldap.bind_password is empty')
  const {result} = await connection.ask(requests.bind(bind_dn, bind_password))
  if (result.code === 0) return
  const detail = noted(result, bind_password)
  const reason = ELSEWHERE.has(result.code) ? 'provider_unreachable' : 'provider_error'
  throw new SignInFault(reason, `the search account was refused: ${detail}`)
}
