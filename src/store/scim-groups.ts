import type {Db} from './database.ts'
import {anyOf} from './rows.ts'
import type {WorkspaceRole} from './tables/people.ts'
import type {ScimGroupsTable} from './tables/registry.ts'

const BATCH = 500

export interface GroupMember {
  readonly user_id: string
  readonly email: string
}

export interface ScimGroupNarrowing {
  readonly id?: string
  readonly external_id?: string
  /** In lower case. */
  readonly name?: string
  /** Groups that this user is in. */
  readonly member?: string
}

function groupsOf(db: Db, organisation_id: string, {id, external_id, name, member}: ScimGroupNarrowing) {
  let groups = db
    .selectFrom('scim_groups')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('deleted_at', 'is', null)
  if (id !== undefined) groups = groups.where('id', '=', id)
  if (external_id !== undefined) groups = groups.where('external_id', '=', external_id)
  if (name !== undefined) groups = groups.where('name_folded', '=', name)
  if (member !== undefined)
    groups = groups.where(
      'id',
      'in',
      db.selectFrom('scim_group_members').select('group_id').where('user_id', '=', member),
    )
  return groups
}

/** In the order in which they were made. */
export function listScimGroups(
  db: Db,
  organisation_id: string,
  by: ScimGroupNarrowing,
  {offset, limit}: {readonly offset: number; readonly limit: number},
): Promise<ScimGroupsTable[]> {
  return groupsOf(db, organisation_id, by).orderBy('created_at').orderBy('id').limit(limit).offset(offset).execute()
}

export async function countScimGroups(db: Db, organisation_id: string, by: ScimGroupNarrowing): Promise<number> {
  const {n} = await groupsOf(db, organisation_id, by)
    .clearSelect()
    .select(e => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

export function scimGroupById(db: Db, organisation_id: string, id: string): Promise<ScimGroupsTable | undefined> {
  return groupsOf(db, organisation_id, {id}).executeTakeFirst()
}

/** Takes the row for this transaction alone: PATCHes of one group come side by side. SQLite writes one at a time. */
export async function lockScimGroup(db: Db, id: string): Promise<void> {
  await db
    .updateTable('scim_groups')
    .set(e => ({version: e.ref('version')}))
    .where('id', '=', id)
    .execute()
}

export async function updateScimGroup(db: Db, id: string, change: Partial<ScimGroupsTable>) {
  await db.updateTable('scim_groups').set(change).where('id', '=', id).execute()
}

/** Group → its members, in the order of their ids. */
export async function membersOfGroups(
  db: Db,
  group_ids: readonly string[],
): Promise<ReadonlyMap<string, readonly GroupMember[]>> {
  const rows = await db
    .selectFrom('scim_group_members as g')
    .innerJoin('users as u', 'u.id', 'g.user_id')
    .select(['g.group_id', 'g.user_id', 'u.email'])
    .where('g.group_id', 'in', anyOf(group_ids))
    .orderBy('g.user_id')
    .execute()
  return Map.groupBy(rows, ({group_id}) => group_id)
}

/** User → the groups he is in. */
export async function groupsOfUsers(
  db: Db,
  organisation_id: string,
  user_ids: readonly string[],
): Promise<ReadonlyMap<string, readonly {readonly id: string; readonly name: string}[]>> {
  const rows = await db
    .selectFrom('scim_group_members as m')
    .innerJoin('scim_groups as g', 'g.id', 'm.group_id')
    .select(['m.user_id', 'g.id', 'g.name'])
    .where('m.organisation_id', '=', organisation_id)
    .where('m.user_id', 'in', anyOf(user_ids))
    .where('g.deleted_at', 'is', null)
    .orderBy('g.created_at')
    .execute()
  return Map.groupBy(rows, ({user_id}) => user_id)
}

/** Those of `user_ids` that are users of the organisation, whatever their status, and that no directory deleted. */
export async function knownUsers(
  db: Db,
  organisation_id: string,
  user_ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const known = await usersAmong(db, organisation_id, user_ids)
  for (const some of batches(user_ids)) {
    const deleted = await db
      .selectFrom('scim_users')
      .select('user_id')
      .where('organisation_id', '=', organisation_id)
      .where('user_id', 'in', anyOf(some))
      .where('deleted_at', 'is not', null)
      .execute()
    for (const {user_id} of deleted) known.delete(user_id)
  }
  return known
}

export async function addGroupMembers(db: Db, organisation_id: string, group_id: string, user_ids: readonly string[]) {
  for (const some of batches(user_ids))
    await db
      .insertInto('scim_group_members')
      .values(some.map(user_id => ({group_id, user_id, organisation_id})))
      .onConflict(conflict => conflict.columns(['group_id', 'user_id']).doNothing())
      .execute()
}

export async function removeGroupMembers(db: Db, group_id: string, user_ids: readonly string[]) {
  for (const some of batches(user_ids))
    await db
      .deleteFrom('scim_group_members')
      .where('group_id', '=', group_id)
      .where('user_id', 'in', anyOf(some))
      .execute()
}

/** A workspace that a group gives a user, by an active mapping. */
export interface GivenMembership {
  readonly user_id: string
  readonly workspace_id: string
  readonly role: WorkspaceRole
}

/**
 * The workspaces that the groups of these users give them; none for who is archived. Each table is read by itself: of
 * tables that are filled just now PostgreSQL knows nothing, and joins them badly.
 */
export async function givenMemberships(
  db: Db,
  organisation_id: string,
  user_ids: readonly string[],
): Promise<readonly GivenMembership[]> {
  const active = await usersAmong(db, organisation_id, user_ids, 'active')
  const all: GivenMembership[] = []
  for (const some of batches(user_ids.filter(id => active.has(id)))) {
    const members = await db
      .selectFrom('scim_group_members')
      .select(['user_id', 'group_id'])
      .where('organisation_id', '=', organisation_id)
      .where('user_id', 'in', anyOf(some))
      .execute()
    const mappings = await mappingsOf(db, [...new Set(members.map(({group_id}) => group_id))])
    for (const {user_id, group_id} of members)
      for (const {workspace_id, role} of mappings.get(group_id) ?? []) all.push({user_id, workspace_id, role})
  }
  return all
}

/** Group → its active mappings to active workspaces. */
async function mappingsOf(db: Db, group_ids: readonly string[]) {
  const rows = await db
    .selectFrom('scim_mappings as p')
    .innerJoin('workspaces as w', 'w.id', 'p.workspace_id')
    .select(['p.scim_group_id', 'p.workspace_id', 'p.role'])
    .where('p.scim_group_id', 'in', anyOf(group_ids))
    .where('p.status', '=', 'active')
    .where('w.status', '=', 'active')
    .execute()
  return Map.groupBy(rows, ({scim_group_id}) => scim_group_id)
}

/** Those of `user_ids` that are users of the organisation; with `status`, of that status alone. */
async function usersAmong(
  db: Db,
  organisation_id: string,
  user_ids: readonly string[],
  status?: 'active' | 'archived',
): Promise<Set<string>> {
  const found = new Set<string>()
  for (const some of batches(user_ids)) {
    const users = db
      .selectFrom('organisation_users')
      .select('user_id')
      .where('organisation_id', '=', organisation_id)
      .where('user_id', 'in', anyOf(some))
    const rows = await (status === undefined ? users : users.where('status', '=', status)).execute()
    for (const {user_id} of rows) found.add(user_id)
  }
  return found
}

export interface HeldMembership extends GivenMembership {
  readonly source?: string | null | undefined
}

export async function heldMemberships(
  db: Db,
  organisation_id: string,
  user_ids: readonly string[],
): Promise<readonly HeldMembership[]> {
  const all: HeldMembership[] = []
  for (const some of batches(user_ids))
    all.push(
      ...(await db
        .selectFrom('workspace_users')
        .select(['user_id', 'workspace_id', 'role', 'source'])
        .where('organisation_id', '=', organisation_id)
        .where('user_id', 'in', anyOf(some))
        .execute()),
    )
  return all
}

/** Makes members of a workspace of users who are none. */
export async function giveMemberships(db: Db, organisation_id: string, given: readonly GivenMembership[], now: string) {
  for (const some of batches(given))
    await db
      .insertInto('workspace_users')
      .values(some.map(each => ({...each, organisation_id, source: 'scim', created_at: now, last_updated_at: now})))
      .onConflict(conflict => conflict.columns(['workspace_id', 'user_id']).doNothing())
      .execute()
}

export async function changeMembership(db: Db, {user_id, workspace_id, role}: GivenMembership, now: string) {
  await db
    .updateTable('workspace_users')
    .set({role, last_updated_at: now})
    .where('workspace_id', '=', workspace_id)
    .where('user_id', '=', user_id)
    .execute()
}

/** Has memberships of a workspace that groups gave be as if they were given by hand: no group takes them any more. */
export async function keepMemberships(db: Db, workspace_id: string, user_ids: readonly string[]) {
  for (const some of batches(user_ids))
    await db
      .updateTable('workspace_users')
      .set({source: null})
      .where('workspace_id', '=', workspace_id)
      .where('user_id', 'in', anyOf(some))
      .execute()
}

/** Ends memberships of a workspace; the keys that these users have in it work no longer. */
export async function endMemberships(db: Db, workspace_id: string, user_ids: readonly string[], now: string) {
  for (const some of batches(user_ids)) {
    await db
      .deleteFrom('workspace_users')
      .where('workspace_id', '=', workspace_id)
      .where('user_id', 'in', anyOf(some))
      .execute()
    await db
      .updateTable('api_keys')
      .set({status: 'archived', last_updated_at: now})
      .where('workspace_id', '=', workspace_id)
      .where('user_id', 'in', anyOf(some))
      .where('status', '<>', 'archived')
      .execute()
  }
}

/** Takes archived users of the organisation back. */
export async function reviveUsers(db: Db, organisation_id: string, user_ids: readonly string[], now: string) {
  for (const some of batches(user_ids))
    await db
      .updateTable('organisation_users')
      .set({status: 'active', status_changed_at: now, last_updated_at: now})
      .where('organisation_id', '=', organisation_id)
      .where('user_id', 'in', anyOf(some))
      .where('status', '=', 'archived')
      .execute()
}

function batches<T>(all: readonly T[]): T[][] {
  const made: T[][] = []
  for (let at = 0; at < all.length; at += BATCH) made.push(all.slice(at, at + BATCH))
  return made
}
