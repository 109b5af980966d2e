import {isList, type JsonValue} from '../base/json-member.ts'
import * as store from '../store/scim-groups.ts'
import {badRequest} from './fault.ts'
import {matches} from './filter/matches.ts'
import {memberOf} from './json.ts'
import type {PatchChange} from './patch/read.ts'
import type {ScimContext} from './services.ts'

/** The ids of members that a list names; refuses what is no user. */
export function idsIn(members: JsonValue | undefined): readonly string[] {
  if (members === undefined || members === null) return []
  const listed = isList(members) ? members : [members]
  const ids = listed.map(each => {
    const value = memberOf(each, 'value') ?? each
    const type = memberOf(each, 'type')
    if (typeof value !== 'string' || value === '') throw badRequest('invalidValue', 'members: expected ids of users.')
    if (typeof type === 'string' && type.toLowerCase() === 'group')
      throw badRequest('invalidValue', 'members: a group in a group is not taken.')
    return value
  })
  return [...new Set(ids)]
}

/** The users of these ids of the organisation; refuses one that is none. */
export async function requireUsers({db, organisation_id}: ScimContext, ids: readonly string[]): Promise<void> {
  const known = await store.knownUsers(db, organisation_id, ids)
  const unknown = ids.find(id => !known.has(id))
  if (unknown !== undefined) throw badRequest('invalidValue', `members: there is no user ${unknown.slice(0, 64)}.`)
}

/** Puts these members in the place of all; gives those who came or went. */
export async function replaceMembers(
  context: ScimContext,
  group_id: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const {db} = context
  await requireUsers(context, ids)
  const before = await idsOf(context, group_id)
  const gone = [...before].filter(id => !ids.includes(id))
  const come = ids.filter(id => !before.has(id))
  await store.removeGroupMembers(db, group_id, gone)
  await add(context, group_id, come)
  return [...gone, ...come]
}

/** Carries out the operations on members, in order, as single rows: others may change the same group meanwhile. */
export async function changeMembers(
  context: ScimContext,
  group_id: string,
  changes: readonly PatchChange[],
): Promise<readonly string[]> {
  const touched = new Set<string>()
  for (const {op, path, value} of changes) {
    const ids = idsIn(value as JsonValue | undefined)
    if (op === 'replace' && !path.filter) {
      for (const id of await replaceMembers(context, group_id, ids)) touched.add(id)
    } else if (op === 'remove') {
      for (const id of await removeSome(context, group_id, path.filter, value === undefined ? null : ids))
        touched.add(id)
    } else {
      await requireUsers(context, ids)
      await add(context, group_id, ids)
      for (const id of ids) touched.add(id)
    }
  }
  return [...touched]
}

/** An archived person who is put into a group comes back where the organisation has that set. */
async function add({db, organisation_id, rules, now}: ScimContext, group_id: string, ids: readonly string[]) {
  await store.addGroupMembers(db, organisation_id, group_id, ids)
  if (rules.group_based_user_provisioning) await store.reviveUsers(db, organisation_id, ids, now)
}

/** Those that are named, those that the filter picks, or all. */
async function removeSome(
  context: ScimContext,
  group_id: string,
  filter: PatchChange['path']['filter'],
  named: readonly string[] | null,
): Promise<readonly string[]> {
  const ids = named ?? [...(await idsOf(context, group_id))].filter(value => !filter || matches({value}, filter))
  await store.removeGroupMembers(context.db, group_id, ids)
  return ids
}

async function idsOf({db}: ScimContext, group_id: string): Promise<ReadonlySet<string>> {
  const members = await store.membersOfGroups(db, [group_id])
  return new Set((members.get(group_id) ?? []).map(({user_id}) => user_id))
}
