import {needsSignInBy} from '../../identity/sign-in-needs.ts'
import {provisioningSettings} from '../../schema/organisation-auth.ts'
import type {Db} from '../../store/database.ts'
import {lastSignIn} from '../../store/last-sign-ins.ts'
import {findOrganisation} from '../../store/organisations.ts'
import type {McpOauthGrantsTable} from '../../store/tables/oauth.ts'

/**
 * True where the person of a grant has to come in by the identity provider first, as with a key
 * (`provisioning.keys_need_sign_in_days`): a provider without a directory reports to no one that he has left.
 */
export async function needsSignIn(
  db: Db,
  {organisation_id, created_at}: Pick<McpOauthGrantsTable, 'organisation_id' | 'created_at'>,
  {user_id, now}: {readonly user_id: string; readonly now: Date},
): Promise<boolean> {
  const organisation = await findOrganisation(db, organisation_id)
  if (!organisation?.auth) return false
  const {keys_need_sign_in_days: days} = provisioningSettings(organisation.auth)
  if (days === null) return false
  const at = await lastSignIn(db, organisation_id, user_id)
  const signed_in_ms = at === null ? null : Date.parse(at)
  return now.getTime() >= needsSignInBy({days, created_ms: Date.parse(created_at)}, signed_in_ms)
}
