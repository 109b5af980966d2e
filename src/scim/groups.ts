import {newId} from '../base/ids.ts'
import type {JsonObject, JsonValue} from '../base/json-member.ts'
import {syncMemberships} from '../identity/group-memberships.ts'
import * as store from '../store/scim-groups.ts'
import {findScimGroup, insertScimGroup} from '../store/scim-mappings.ts'
import type {ScimGroupsTable} from '../store/tables/registry.ts'
import {badRequest, ScimFault} from './fault.ts'
import {dropMappings, remap} from './group-effects.ts'
import {changeMembers, idsIn, replaceMembers} from './group-members.ts'
import {groupView} from './group-view.ts'
import {type MutableObject, memberOf, removeMember} from './json.ts'
import {apply} from './patch/apply.ts'
import type {PatchChange} from './patch/read.ts'
import type {ScimContext} from './services.ts'

const LONGEST_NAME = 255
const MAX_RESOURCE_BYTES = 64 * 1024
const NOT_KEPT = ['id', 'meta', 'schemas', 'members', 'displayName', 'externalId'] as const

/** Makes a group. One that was mapped by its name before it came is that group. */
export async function createGroup(context: ScimContext, resource: MutableObject): Promise<ScimGroupsTable> {
  const {db, organisation_id, now} = context
  const {name, external_id} = factsOf(resource)
  const named = await byName(context, name)
  if (named && (named.version ?? 0) > 0) throw taken('displayName')
  await requireFreeExternalId(context, external_id, named?.id ?? null)
  const id = named?.id ?? newId()
  const row = {
    ...{name, name_folded: name.toLowerCase(), external_id, resource: keptOf(resource), version: 1},
    ...{last_updated_at: now, deleted_at: null},
  }
  if (named) await store.updateScimGroup(db, id, row)
  else await insertScimGroup(db, {id, organisation_id, created_at: now, ...row})
  await remap(context, {id, name})
  await setMembers(context, id, resource)
  return foundGroup(context, id)
}

export async function replaceGroup(
  context: ScimContext,
  id: string,
  resource: MutableObject,
): Promise<ScimGroupsTable> {
  await store.lockScimGroup(context.db, id)
  const before = await foundGroup(context, id)
  const is_changed = await write(context, before, resource)
  const touched = await setMembers(context, id, resource)
  if (is_changed || touched > 0) await bump(context, before)
  return foundGroup(context, id)
}

/** Operations on members are single rows; all else is changed on a copy. */
export async function patchGroup(
  context: ScimContext,
  id: string,
  changes: readonly PatchChange[],
): Promise<ScimGroupsTable> {
  await store.lockScimGroup(context.db, id)
  const before = await foundGroup(context, id)
  const of_members = changes.filter(({path}) => path.urn === null && path.name === 'members')
  const resource = changeableGroup(before)
  apply(
    resource,
    changes.filter(change => !of_members.includes(change)),
  )
  const is_changed = await write(context, before, resource)
  const touched = context.rules.has_user_mode ? ignored(context) : await changeMembers(context, id, of_members)
  await syncMemberships(context, touched)
  if (is_changed || touched.length > 0) await bump(context, before)
  return foundGroup(context, id)
}

/** Its people stay in the organisation, and leave the workspaces that it alone gave them. */
export async function deleteGroup(context: ScimContext, id: string): Promise<void> {
  const {db, now} = context
  await store.lockScimGroup(db, id)
  const group = await foundGroup(context, id)
  const members = (await store.membersOfGroups(db, [id])).get(id) ?? []
  const ids = members.map(({user_id}) => user_id)
  await store.removeGroupMembers(db, id, ids)
  await dropMappings(context, id, ids)
  const name = `${group.name.slice(0, LONGEST_NAME)} (deleted ${id})`
  await store.updateScimGroup(db, id, {name, name_folded: name.toLowerCase(), deleted_at: now, last_updated_at: now})
}

export async function foundGroup({db, organisation_id}: ScimContext, id: string): Promise<ScimGroupsTable> {
  const group = await store.scimGroupById(db, organisation_id, id)
  if (!group) throw new ScimFault(404, `There is no group ${id.slice(0, 64)}.`)
  return group
}

export async function shownGroup(context: ScimContext, row: ScimGroupsTable): Promise<MutableObject> {
  const members = await store.membersOfGroups(context.db, [row.id])
  return groupView(row, members.get(row.id) ?? [], context.location)
}

/** True when anything of the group itself is another. */
async function write(context: ScimContext, before: ScimGroupsTable, resource: MutableObject): Promise<boolean> {
  const {name, external_id} = factsOf(resource)
  const kept = keptOf(resource)
  if (name === before.name && external_id === before.external_id && kept === (before.resource ?? '{}')) return false
  const named = await byName(context, name)
  if (named && named.id !== before.id) throw taken('displayName')
  await requireFreeExternalId(context, external_id, before.id)
  const {id} = before
  await store.updateScimGroup(context.db, id, {name, name_folded: name.toLowerCase(), external_id, resource: kept})
  if (name !== before.name) await remap(context, {id, name})
  return true
}

async function setMembers(context: ScimContext, id: string, resource: MutableObject): Promise<number> {
  const members = memberOf(resource as JsonObject, 'members')
  if (context.rules.has_user_mode) return members === undefined ? 0 : ignored(context).length
  const touched = await replaceMembers(context, id, idsIn(members))
  await syncMemberships(context, touched)
  return touched.length
}

function ignored({notes}: ScimContext): readonly string[] {
  notes.push('members ignored: SCIM_MEMBERSHIP_USER_MODE is on')
  return []
}

async function bump({db, now}: ScimContext, {id, version}: ScimGroupsTable) {
  await store.updateScimGroup(db, id, {version: (version ?? 0) + 1, last_updated_at: now})
}

function factsOf(resource: MutableObject): {readonly name: string; readonly external_id: string | null} {
  const [name, external_id] = ['displayName', 'externalId'].map(each => memberOf(resource as JsonObject, each))
  if (typeof name !== 'string' || name.trim() === '' || name.length > LONGEST_NAME)
    throw badRequest('invalidValue', `displayName: is required, as a text of at most ${LONGEST_NAME} characters.`)
  return {name: name.trim(), external_id: textOrNull(external_id)}
}

function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_NAME) : null
}

function changeableGroup({name, external_id, resource}: ScimGroupsTable): MutableObject {
  const kept = JSON.parse(resource ?? '{}') as MutableObject
  return {displayName: name, ...(external_id && {externalId: external_id}), ...kept}
}

function keptOf(resource: MutableObject): string {
  const kept = {...resource}
  for (const name of NOT_KEPT) removeMember(kept, name)
  const text = JSON.stringify(kept)
  if (Buffer.byteLength(text) > MAX_RESOURCE_BYTES) throw new ScimFault(413, 'The resource is larger than 64 KB.')
  return text
}

async function byName({db, organisation_id}: ScimContext, name: string): Promise<ScimGroupsTable | undefined> {
  const page = {offset: 0, limit: 1}
  const [found] = await store.listScimGroups(db, organisation_id, {name: name.toLowerCase()}, page)
  return found ?? (await findScimGroup(db, organisation_id, {name}))
}

async function requireFreeExternalId(
  {db, organisation_id}: ScimContext,
  external_id: string | null,
  own_id: string | null,
): Promise<void> {
  if (external_id === null) return
  const [other] = await store.listScimGroups(db, organisation_id, {external_id}, {offset: 0, limit: 1})
  if (other && other.id !== own_id) throw taken('externalId')
}

function taken(attribute: string): ScimFault {
  return new ScimFault(409, `${attribute}: another group has it.`, 'uniqueness')
}
