import {findKey} from '../store/api-keys.ts'
import type {CallerScope} from './tenancy.ts'

/**
 * True for who may write what makes owners, or lets them in: an owner, the operator, and the first admin key of the
 * organisation, which the operator was given. Any admin could point such a setting at a provider of his own.
 */
export async function makesOwners({actor, db}: CallerScope): Promise<boolean> {
  const {subject, person, organisation_id} = actor
  if (subject.kind === 'operator' || person?.organisation_role === 'owner') return true
  if (subject.kind !== 'api_key' || subject.key_kind !== 'organisation-service') return false
  const key = await findKey(db, {organisation_id, workspace_id: null, kinds: ['organisation-service']}, subject.id)
  return key?.creation_mode === 'auto'
}
