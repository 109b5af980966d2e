import {needsSignInBy} from '../identity/sign-in-needs.ts'
import {provisioningSettings} from '../schema/organisation-auth.ts'
import {lastSignInsOf} from '../store/last-sign-ins.ts'
import {findOrganisation} from '../store/organisations.ts'
import type {ApiKeysTable} from '../store/tables/identity.ts'
import type {CallerScope} from './tenancy.ts'

type KeyRow = Pick<ApiKeysTable, 'id' | 'user_id' | 'created_at'>

/** Key → by when its person has to sign in for it to work on (ISO 8601 UTC), where the setting is on. */
export async function signInsNeeded(
  {actor, db}: CallerScope,
  keys: readonly KeyRow[],
): Promise<ReadonlyMap<string, string>> {
  const owned = keys.filter(({user_id}) => user_id !== null)
  if (owned.length === 0) return new Map()
  const {organisation_id} = actor
  const {keys_need_sign_in_days: days} = provisioningSettings((await findOrganisation(db, organisation_id))?.auth)
  if (days === null) return new Map()
  const signed_in = await lastSignInsOf(db, organisation_id, [...new Set(owned.map(({user_id}) => user_id!))])
  return new Map(
    owned.map(({id, user_id, created_at}) => {
      const at = signed_in.get(user_id!)
      const by_ms = needsSignInBy({days, created_ms: Date.parse(created_at)}, at === undefined ? null : Date.parse(at))
      return [id, new Date(by_ms).toISOString()]
    }),
  )
}
