import {sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import {archiveUserKeys} from './api-keys.ts'
import type {Db} from './database.ts'
import {cancelInvitesOf} from './invites.ts'
import {deleteMcpConnectionsOf} from './mcp-connections.ts'
import {endGrantsOf} from './oauth-grants.ts'
import {paged} from './rows.ts'
import {endSignInsOf} from './sign-ins.ts'
import type {OrganisationRole, OrganisationUsersTable, UsersTable} from './tables/people.ts'

/** A user as an organisation knows him. */
export interface OrganisationUser extends UsersTable {
  readonly role: OrganisationRole
  readonly status: OrganisationUsersTable['status']
  readonly role_source?: string | null | undefined
  readonly status_changed_at?: string | null | undefined
}

export interface UserFilter {
  readonly organisation_id: string
  readonly role?: OrganisationRole | undefined
  /** Whole, in lower case. */
  readonly email?: string | undefined
}

export function findUserByEmail(db: Db, email: string): Promise<UsersTable | undefined> {
  return db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()
}

export async function insertUser(db: Db, row: UsersTable) {
  await db.insertInto('users').values(row).execute()
}

export async function updateUser(db: Db, id: string, change: Partial<UsersTable>) {
  await db.updateTable('users').set(change).where('id', '=', id).execute()
}

/** The user of the organisation with this id, whatever his status. */
export function findOrganisationUser(
  db: Db,
  organisation_id: string,
  id: string,
): Promise<OrganisationUser | undefined> {
  return usersOf(db, organisation_id).where('users.id', '=', id).executeTakeFirst()
}

/** Active users, newest first. */
export function listUsers(
  db: Db,
  {organisation_id, role, email}: UserFilter,
  page: Page,
): Promise<Paged<OrganisationUser>> {
  let matching = usersOf(db, organisation_id).where('organisation_users.status', '=', 'active')
  if (role !== undefined) matching = matching.where('organisation_users.role', '=', role)
  if (email !== undefined) matching = matching.where('users.email', '=', email)
  return paged(matching.orderBy('organisation_users.created_at', 'desc').orderBy('users.id'), page)
}

/** Adds a user to an organisation, or takes one back who was removed. */
export async function joinOrganisation(db: Db, row: OrganisationUsersTable) {
  const {role, status, last_updated_at, role_source = null} = row
  await db
    .insertInto('organisation_users')
    .values(row)
    .onConflict(conflict =>
      conflict.columns(['organisation_id', 'user_id']).doUpdateSet(e => ({
        ...{role, role_source, status, last_updated_at},
        status_changed_at: e
          .case()
          .when('organisation_users.status', '<>', status)
          .then(last_updated_at)
          .else(e.ref('organisation_users.status_changed_at'))
          .end(),
      })),
    )
    .execute()
}

export async function updateOrganisationUser(
  db: Db,
  organisation_id: string,
  user_id: string,
  change: Partial<Omit<OrganisationUsersTable, 'status'>>,
) {
  await db
    .updateTable('organisation_users')
    .set(change)
    .where('organisation_id', '=', organisation_id)
    .where('user_id', '=', user_id)
    .execute()
}

/** Takes a user out of an organisation, or back. */
export async function changeStatus(
  db: Db,
  {organisation_id, user_id, status}: Pick<OrganisationUsersTable, 'organisation_id' | 'user_id' | 'status'>,
  now: string,
) {
  await db
    .updateTable('organisation_users')
    .set({status, status_changed_at: now, last_updated_at: now})
    .where('organisation_id', '=', organisation_id)
    .where('user_id', '=', user_id)
    .execute()
}

/** The organisations of which the user of an address is an active owner, the oldest first. */
export function ownedOrganisations(db: Db, email: string) {
  return db
    .selectFrom('organisation_users')
    .innerJoin('users', 'users.id', 'organisation_users.user_id')
    .innerJoin('organisations', 'organisations.id', 'organisation_users.organisation_id')
    .select(['organisation_users.organisation_id', 'organisation_users.user_id'])
    .where('users.email', '=', email)
    .where('organisation_users.role', '=', 'owner')
    .where('organisation_users.status', '=', 'active')
    .orderBy('organisations.created_at')
    .orderBy('organisations.id')
    .execute()
}

/** Every organisation of which a user is an active member, in the order of joining. */
export function membershipsEverywhere(db: Db, user_id: string) {
  return db
    .selectFrom('organisation_users')
    .innerJoin('organisations', 'organisations.id', 'organisation_users.organisation_id')
    .select(['organisations.id', 'organisations.slug', 'organisations.name', 'organisation_users.role'])
    .where('organisation_users.user_id', '=', user_id)
    .where('organisation_users.status', '=', 'active')
    .orderBy('organisation_users.created_at')
    .orderBy('organisations.id')
    .execute()
}

/**
 * How many active owners there are. In a write: the rows of owners stay locked to its end, so that two writes at once
 * do not each take one of the last two.
 */
export async function countOwners(db: Db, organisation_id: string): Promise<number> {
  await db
    .updateTable('organisation_users')
    .set(e => ({role: e.ref('role')}))
    .where('organisation_id', '=', organisation_id)
    .where('role', '=', 'owner')
    .execute()
  const {n} = await db
    .selectFrom('organisation_users')
    .select(e => e.fn.countAll<number>().as('n'))
    .where('organisation_id', '=', organisation_id)
    .where('role', '=', 'owner')
    .where('status', '=', 'active')
    .executeTakeFirstOrThrow()
  return Number(n)
}

/**
 * Takes a user out of an organisation: his memberships end, his keys there work no longer, nor do his sessions, his
 * open sign-ins, what he let clients do, and the invites that wait for his address.
 */
export async function leaveOrganisation(db: Db, organisation_id: string, user_id: string, now: string) {
  await changeStatus(db, {organisation_id, user_id, status: 'archived'}, now)
  await db
    .deleteFrom('workspace_users')
    .where('organisation_id', '=', organisation_id)
    .where('user_id', '=', user_id)
    .execute()
  await archiveUserKeys(db, user_id, {organisation_id}, now)
  const user = await findOrganisationUser(db, organisation_id, user_id)
  if (user) await cancelInvitesOf(db, organisation_id, user.email)
  await endSignInsOf(db, organisation_id, user_id, now)
  await deleteMcpConnectionsOf(db, organisation_id, user_id)
  await endGrantsOf(db, user_id, {organisation_id}, now)
  await db
    .updateTable('sessions')
    .set({revoked_at: now})
    .where('organisation_id', '=', organisation_id)
    .where('user_id', '=', user_id)
    .where('revoked_at', 'is', null)
    .execute()
}

/** User → the ids of the active workspaces he is a member of, in the order of joining. */
export async function workspaceIdsOf(
  db: Db,
  organisation_id: string,
  user_ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  if (!user_ids.length) return found
  const rows = await db
    .selectFrom('workspace_users')
    .innerJoin('workspaces', 'workspaces.id', 'workspace_users.workspace_id')
    .select(['workspace_users.user_id', 'workspace_users.workspace_id'])
    .where('workspace_users.organisation_id', '=', organisation_id)
    .where('workspace_users.user_id', 'in', [...user_ids])
    .where('workspaces.status', '=', 'active')
    .orderBy('workspace_users.created_at')
    .orderBy('workspace_users.workspace_id')
    .execute()
  for (const {user_id, workspace_id} of rows) found.set(user_id, [...(found.get(user_id) ?? []), workspace_id])
  return found
}

export interface RecipientScope {
  readonly organisation_id: string
  readonly workspace_id: string
}

/**
 * The recipients of mail about a workspace's limits, by e-mail address, each once: its admins and managers, and the
 * owners and admins of the organisation.
 */
export async function listRecipients(db: Db, {organisation_id, workspace_id}: RecipientScope): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .innerJoin('organisation_users', 'organisation_users.user_id', 'users.id')
    .leftJoin('workspace_users', join =>
      join.onRef('workspace_users.user_id', '=', 'users.id').on('workspace_users.workspace_id', '=', workspace_id),
    )
    .select('users.email')
    .where('organisation_users.organisation_id', '=', organisation_id)
    .where('organisation_users.status', '=', 'active')
    .where(e =>
      e.or([
        e('organisation_users.role', 'in', ['owner', 'admin']),
        e('workspace_users.role', 'in', ['admin', 'manager']),
      ]),
    )
    .orderBy('users.email')
    .execute()
  return rows.map(({email}) => email)
}

/** The addresses of the owners of an organisation, the longest there first, `most` of them. */
export async function emailsOfOwners(db: Db, organisation_id: string, most: number): Promise<string[]> {
  const rows = await db
    .selectFrom('organisation_users')
    .innerJoin('users', 'users.id', 'organisation_users.user_id')
    .select('users.email')
    .where('organisation_users.organisation_id', '=', organisation_id)
    .where('organisation_users.role', '=', 'owner')
    .where('organisation_users.status', '=', 'active')
    .orderBy('organisation_users.created_at')
    .orderBy('users.id')
    .limit(most)
    .execute()
  return rows.map(({email}) => email)
}

/** The address of the user who owns this key; undefined for a key without one, or when he has left the organisation. */
export async function emailOfKeyUser(db: Db, key_id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .innerJoin('organisation_users', join =>
      join
        .onRef('organisation_users.user_id', '=', 'users.id')
        .onRef('organisation_users.organisation_id', '=', 'api_keys.organisation_id'),
    )
    .select('users.email')
    .where('api_keys.id', '=', key_id)
    .where('organisation_users.status', '=', 'active')
    .executeTakeFirst()
  return row?.email
}

/** Times are those of the membership in the organisation. */
function usersOf(db: Db, organisation_id: string) {
  return db
    .selectFrom('users')
    .innerJoin('organisation_users', 'organisation_users.user_id', 'users.id')
    .select(['users.id', 'users.email', 'users.first_name', 'users.last_name'])
    .select(['organisation_users.role', 'organisation_users.status', 'organisation_users.role_source'])
    .select(['organisation_users.created_at', 'organisation_users.last_updated_at'])
    .select('organisation_users.status_changed_at')
    .where('organisation_users.organisation_id', '=', organisation_id)
}

/** How many sessions, keys, pending invites and grants of MCP clients of an organisation a user has. */
export async function accessOf(
  db: Db,
  organisation_id: string,
  {user_id, email}: {readonly user_id: string; readonly email: string},
): Promise<Readonly<Record<'sessions' | 'keys' | 'invites' | 'grants', number>>> {
  const of = db.selectNoFrom(e => [
    e
      .selectFrom('sessions')
      .select(sql<number>`count(*)`.as('n'))
      .where('organisation_id', '=', organisation_id)
      .where('user_id', '=', user_id)
      .where('revoked_at', 'is', null)
      .as('sessions'),
    e
      .selectFrom('api_keys')
      .select(sql<number>`count(*)`.as('n'))
      .where('organisation_id', '=', organisation_id)
      .where('user_id', '=', user_id)
      .where('status', '<>', 'archived')
      .as('keys'),
    e
      .selectFrom('invites')
      .select(sql<number>`count(*)`.as('n'))
      .where('organisation_id', '=', organisation_id)
      .where('email', '=', email)
      .where('status', '=', 'pending')
      .as('invites'),
    e
      .selectFrom('mcp_oauth_grants')
      .select(sql<number>`count(*)`.as('n'))
      .where('organisation_id', '=', organisation_id)
      .where('user_id', '=', user_id)
      .where('revoked_at', 'is', null)
      .as('grants'),
  ])
  const {sessions, keys, invites, grants} = await of.executeTakeFirstOrThrow()
  return {sessions: Number(sessions), keys: Number(keys), invites: Number(invites), grants: Number(grants)}
}
