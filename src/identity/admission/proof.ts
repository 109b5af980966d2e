import type {AccountPower} from '../../store/account-power.ts'
import {findScimUser} from '../../store/scim-users.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {AdmissionContext} from './context.ts'

/** The reason to believe that a stated address is the user's: `address` is the address alone. */
export type Proof = 'link' | 'email_verified' | 'session' | 'directory' | 'address'

/** The best proof that there is. In some directories anyone may write any address into his own entry. */
export async function proofOf(
  {db, organisation_id, statement, user_id: holder}: AdmissionContext,
  user_id: string,
): Promise<Proof> {
  if (statement.email_verified === true) return 'email_verified'
  if (holder === user_id) return 'session'
  const of_directory = statement.subject === null ? undefined : await findScimUser(db, organisation_id, user_id)
  return of_directory && of_directory.external_id === statement.subject ? 'directory' : 'address'
}

/** An account that is worth taking over is not opened by an address alone. */
export function requireProof({is_admin, has_password, issuers}: AccountPower, proof: Proof) {
  if (proof !== 'address' || !(is_admin || has_password || issuers.length > 0)) return
  const why = is_admin ? 'is owner or admin' : has_password ? 'has a password' : 'is linked at another issuer'
  throw new SignInFault(
    'link_needs_proof',
    `the user of this address ${why}, and nothing but the address speaks for him`,
  )
}
