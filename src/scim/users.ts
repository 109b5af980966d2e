import {newId} from '../base/ids.ts'
import type {JsonObject} from '../base/json-member.ts'
import {syncMemberships} from '../identity/group-memberships.ts'
import {coversDomain} from '../store/domains.ts'
import {groupsOfUsers, removeGroupMembers} from '../store/scim-groups.ts'
import {findByExternalId, findScimUser, isElsewhere, type ScimUserRow, writeScimUser} from '../store/scim-users.ts'
import type {OrganisationRole} from '../store/tables/people.ts'
import * as people from '../store/users.ts'
import {badRequest, ScimFault} from './fault.ts'
import type {MutableObject} from './json.ts'
import {apply} from './patch/apply.ts'
import type {PatchChange} from './patch/read.ts'
import type {ScimContext} from './services.ts'
import {keptResource, type UserFacts, userFacts} from './user-facts.ts'
import {setGroups} from './user-groups.ts'
import {changeable, userView} from './user-view.ts'

/** Makes a user of the organisation, or brings one back who was archived; refuses one who is active. */
export async function createUser(context: ScimContext, resource: MutableObject): Promise<ScimUserRow> {
  const {db, organisation_id, now} = context
  const facts = userFacts(resource as JsonObject)
  await requireDomain(context, facts)
  const role = grantable(context, facts.role ?? 'member')
  const status = facts.active === false ? 'archived' : 'active'
  const before = await returning(context, facts)
  const user_id = before?.user_id ?? (await newUser(context, facts))
  await people.joinOrganisation(db, {organisation_id, user_id, role, status, created_at: now, last_updated_at: now})
  await people.updateOrganisationUser(db, organisation_id, user_id, {role_source: 'scim'})
  await keep(context, before ?? {user_id, version: null, scim_created_at: null}, facts, resource)
  if (before) await moveAddress(context, before, facts)
  await renamePerson(context, user_id, facts)
  await setGroups(context, user_id, resource)
  await syncMemberships(context, [user_id])
  return found(context, user_id)
}

/** Puts `resource` in the place of the one before: PUT. What it does not say of activity and roles stays. */
export async function replaceUser(context: ScimContext, id: string, resource: MutableObject): Promise<ScimUserRow> {
  return changed(context, await found(context, id), withGroups(context, resource))
}

/** In user mode a resource without groups is in none. */
function withGroups({rules}: ScimContext, resource: MutableObject): MutableObject {
  return rules.has_user_mode ? {groups: [], ...resource} : resource
}

export async function patchUser(
  context: ScimContext,
  id: string,
  changes: readonly PatchChange[],
): Promise<ScimUserRow> {
  const before = await found(context, id)
  const {rules, db, organisation_id} = context
  const groups = rules.has_user_mode ? ((await groupsOfUsers(db, organisation_id, [id])).get(id) ?? []) : null
  const resource = changeable(before, groups)
  apply(resource, changes)
  return changed(context, before, withGroups(context, resource))
}

/** The directory sees him no more. His row stays for history, and comes back with him. */
export async function deleteUser(context: ScimContext, id: string): Promise<void> {
  const {db, organisation_id, now} = context
  const user = await found(context, id)
  protectOwner(context, user)
  if (user.status === 'active') await archive(context, user)
  const groups = (await groupsOfUsers(db, organisation_id, [id])).get(id) ?? []
  for (const group of groups) await removeGroupMembers(db, group.id, [id])
  const resource = changeable(user, null)
  const facts = userFacts(resource as JsonObject)
  await keep(context, user, facts, resource, now)
}

/** The user with this id, unless the directory has deleted him. */
export async function found({db, organisation_id}: ScimContext, id: string): Promise<ScimUserRow> {
  const user = await findScimUser(db, organisation_id, id)
  if (!user || user.deleted_at !== null) throw new ScimFault(404, `There is no user ${id.slice(0, 64)}.`)
  return user
}

async function changed(context: ScimContext, before: ScimUserRow, resource: MutableObject): Promise<ScimUserRow> {
  const {db, organisation_id, now} = context
  const facts = userFacts(resource as JsonObject)
  const was = userFacts(changeable(before, null) as JsonObject)
  const active = facts.active ?? before.status === 'active'
  const role = facts.role === undefined || facts.role === before.role ? before.role : grantable(context, facts.role)
  const is_same =
    active === (before.status === 'active') &&
    role === before.role &&
    facts.external_id === before.external_id &&
    before.resource === keptResource(resource)
  const is_moved = await setGroups(context, before.user_id, resource)
  if (is_same) {
    if (!is_moved) return before
    await keep(context, before, facts, resource)
    return found(context, before.user_id)
  }
  const touches_person =
    active !== (before.status === 'active') ||
    role !== before.role ||
    facts.user_name !== was.user_name ||
    facts.external_id !== was.external_id ||
    facts.addresses.join() !== was.addresses.join()
  if (touches_person) protectOwner(context, before)
  await requireFreeExternalId(context, facts, before.user_id)
  await moveAddress(context, before, facts)
  await renamePerson(context, before.user_id, facts)
  if (role !== before.role) {
    if (before.role === 'owner' && before.status === 'active') await requireOtherOwner(context)
    await people.updateOrganisationUser(db, organisation_id, before.user_id, {
      ...{role, role_source: 'scim'},
      last_updated_at: now,
    })
  }
  await keep(context, before, facts, resource)
  if (!active && before.status === 'active') await archive(context, before)
  if (active && before.status !== 'active') {
    await people.changeStatus(db, {organisation_id, user_id: before.user_id, status: 'active'}, now)
    await syncMemberships(context, [before.user_id])
  }
  return found(context, before.user_id)
}

/** Ends all that he has here: memberships, keys, sessions, grants of clients, and invites that wait for his address. */
async function archive(context: ScimContext, user: ScimUserRow): Promise<void> {
  const {db, organisation_id, notes, now} = context
  if (user.role === 'owner') await requireOtherOwner(context)
  const {sessions, keys, invites, grants} = await people.accessOf(db, organisation_id, user)
  notes.push(`ended: ${sessions} sessions, ${keys} keys, ${invites} invites, ${grants} grants of MCP clients`)
  await people.leaveOrganisation(db, organisation_id, user.user_id, now)
}

type Known = Pick<ScimUserRow, 'user_id' | 'email' | 'version' | 'scim_created_at'>

/**
 * The one who comes back, by the id that his directory gives him, or by his address: archived here, or of other
 * organisations alone. A new person of an old address is another user, and the old one gives it up.
 */
async function returning(context: ScimContext, facts: UserFacts): Promise<Known | undefined> {
  const {db, organisation_id, notes} = context
  const same = facts.external_id === null ? undefined : await findByExternalId(db, organisation_id, facts.external_id)
  if (same && isPresent(same)) throw taken('externalId')
  const person = await people.findUserByEmail(db, facts.address)
  const here = person && (await findScimUser(db, organisation_id, person.id))
  if (here && isPresent(here)) throw taken('userName')
  if (same) return same
  if (!person) return undefined
  if (!here) return {user_id: person.id, email: person.email, version: null, scim_created_at: null}
  if (here.external_id === null || facts.external_id === null) return here
  if (await isElsewhere(db, organisation_id, person.id)) throw taken('userName')
  await people.updateUser(db, person.id, {email: `${person.id}@deleted.invalid`})
  notes.push('address reused')
  return undefined
}

const isPresent = ({status, deleted_at}: ScimUserRow) => status === 'active' && deleted_at === null

async function newUser({db, now}: ScimContext, {address, first_name, last_name}: UserFacts): Promise<string> {
  const id = newId()
  await people.insertUser(db, {id, email: address, first_name, last_name, created_at: now, last_updated_at: now})
  return id
}

/** Entra puts 32 hexadecimal digits before the address of who is deleted: the address of the account stays. */
const RENAMED = /^[\da-f]{32}/i

async function moveAddress(context: ScimContext, before: Known, facts: UserFacts): Promise<void> {
  const {db, organisation_id, notes, now} = context
  if (facts.address === before.email || facts.address.replace(RENAMED, '') === before.email) return
  await requireDomain(context, facts)
  if (await isElsewhere(db, organisation_id, before.user_id))
    return void notes.push('address kept: of other organisations too')
  if (await people.findUserByEmail(db, facts.address)) throw taken('userName')
  notes.push(`address: ${before.email}, now ${facts.address}`)
  await people.updateUser(db, before.user_id, {email: facts.address, last_updated_at: now})
}

/** The names of a person of several organisations are changed by none of their directories. */
async function renamePerson({db, organisation_id, now}: ScimContext, user_id: string, facts: UserFacts): Promise<void> {
  if (await isElsewhere(db, organisation_id, user_id)) return
  const {first_name, last_name} = facts
  await people.updateUser(db, user_id, {first_name, last_name, last_updated_at: now})
}

async function keep(
  {db, organisation_id, now}: ScimContext,
  before: Pick<ScimUserRow, 'user_id' | 'version' | 'scim_created_at'>,
  facts: UserFacts,
  resource: MutableObject,
  deleted_at: string | null = null,
): Promise<void> {
  await writeScimUser(db, {
    organisation_id,
    user_id: before.user_id,
    external_id: facts.external_id,
    user_name: facts.user_name.toLowerCase(),
    addresses: `\n${facts.addresses.join('\n')}\n`,
    resource: keptResource(resource),
    version: (before.version ?? 0) + 1,
    created_at: before.scim_created_at ?? now,
    last_updated_at: now,
    deleted_at,
  })
}

/** A directory gives no role that the maker of its token could not give. */
function grantable({token, notes}: ScimContext, role: OrganisationRole): OrganisationRole {
  if (role !== 'owner' || token.gives_owners === 1) return role
  notes.push('owner is admin: the token was not made by an owner')
  return 'admin'
}

function protectOwner({token}: ScimContext, {role, status}: ScimUserRow): void {
  if (role === 'owner' && status === 'active' && token.gives_owners === 0)
    throw new ScimFault(409, 'An owner is changed only with a token that an owner or the operator made.')
}

async function requireOtherOwner({db, organisation_id}: ScimContext): Promise<void> {
  if ((await people.countOwners(db, organisation_id)) <= 1)
    throw new ScimFault(409, 'The organisation has no other owner.')
}

/** 400 and not 403: Entra puts a whole job aside for the latter. */
async function requireDomain({db, organisation_id}: ScimContext, {domain}: UserFacts): Promise<void> {
  if (!(await coversDomain(db, organisation_id, domain)))
    throw badRequest('invalidValue', `userName: ${domain} is no verified domain of the organisation.`)
}

async function requireFreeExternalId(
  {db, organisation_id}: ScimContext,
  {external_id}: UserFacts,
  own_id: string,
): Promise<void> {
  if (external_id === null) return
  const other = await findByExternalId(db, organisation_id, external_id)
  if (other && other.user_id !== own_id && other.deleted_at === null) throw taken('externalId')
}

function taken(attribute: string): ScimFault {
  return new ScimFault(409, `${attribute}: another user has it.`, 'uniqueness')
}

export async function shownUser(context: ScimContext, row: ScimUserRow): Promise<MutableObject> {
  const groups = await groupsOfUsers(context.db, context.organisation_id, [row.user_id])
  return userView(row, groups.get(row.user_id) ?? [], context.location)
}
