import {isList, type JsonObject, type JsonValue} from '../base/json-member.ts'
import {syncMemberships} from '../identity/group-memberships.ts'
import * as store from '../store/scim-groups.ts'
import {badRequest} from './fault.ts'
import {type MutableObject, memberOf} from './json.ts'
import type {ScimContext} from './services.ts'

/**
 * Puts a user into the groups that his resource names, and out of all others, where the installation has users say it
 * (SCIM_MEMBERSHIP_USER_MODE). A resource that names none leaves them as they are. True when any changed.
 */
export async function setGroups(context: ScimContext, user_id: string, resource: MutableObject): Promise<boolean> {
  const named = memberOf(resource as JsonObject, 'groups')
  if (!context.rules.has_user_mode || named === undefined) return false
  const {db, organisation_id} = context
  const meant = await idsOf(context, isList(named) ? named : [named])
  const held = (await store.groupsOfUsers(db, organisation_id, [user_id])).get(user_id) ?? []
  const gone = held.filter(({id}) => !meant.has(id))
  const come = [...meant].filter(id => !held.some(group => group.id === id))
  for (const {id} of gone) await store.removeGroupMembers(db, id, [user_id])
  for (const id of come) await store.addGroupMembers(db, organisation_id, id, [user_id])
  await syncMemberships(context, [user_id])
  return gone.length + come.length > 0
}

async function idsOf({db, organisation_id}: ScimContext, named: readonly JsonValue[]): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (const each of named) {
    const [value, display] = [memberOf(each, 'value') ?? each, memberOf(each, 'display')]
    const by =
      typeof value === 'string' ? {id: value} : typeof display === 'string' ? {name: display.toLowerCase()} : null
    const [group] = by ? await store.listScimGroups(db, organisation_id, by, {offset: 0, limit: 1}) : []
    if (!group) throw badRequest('invalidValue', 'groups: expected ids or names of groups of the organisation.')
    ids.add(group.id)
  }
  return ids
}
