import type {Page, Paged} from '../schema/paging.ts'
import {archiveUserKeys} from './api-keys.ts'
import type {Db} from './database.ts'
import {endGrantsOf} from './oauth-grants.ts'
import {paged} from './rows.ts'
import type {OrganisationRole, WorkspaceRole, WorkspaceUsersTable} from './tables/people.ts'

/** A member of a workspace. */
export interface Member extends WorkspaceUsersTable {
  readonly email: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly org_role: OrganisationRole
}

export interface MemberFilter {
  readonly workspace_id: string
  readonly role?: WorkspaceRole | undefined
  /** Whole, in lower case. */
  readonly email?: string | undefined
}

export function findMember(db: Db, workspace_id: string, user_id: string): Promise<Member | undefined> {
  return membersOf(db, workspace_id).where('workspace_users.user_id', '=', user_id).executeTakeFirst()
}

/** Newest first. */
export function listMembers(db: Db, {workspace_id, role, email}: MemberFilter, page: Page): Promise<Paged<Member>> {
  let matching = membersOf(db, workspace_id)
  if (role !== undefined) matching = matching.where('workspace_users.role', '=', role)
  if (email !== undefined) matching = matching.where('users.email', '=', email)
  return paged(matching.orderBy('workspace_users.created_at', 'desc').orderBy('workspace_users.user_id'), page)
}

export async function insertMember(db: Db, row: WorkspaceUsersTable) {
  await db.insertInto('workspace_users').values(row).execute()
}

export async function updateMember(
  db: Db,
  workspace_id: string,
  user_id: string,
  change: Partial<WorkspaceUsersTable>,
) {
  await db
    .updateTable('workspace_users')
    .set(change)
    .where('workspace_id', '=', workspace_id)
    .where('user_id', '=', user_id)
    .execute()
}

/** Ends a membership; the member's keys in the workspace work no longer, nor what he let clients do there. */
export async function removeMember(db: Db, workspace_id: string, user_id: string, now: string) {
  await db
    .deleteFrom('workspace_users')
    .where('workspace_id', '=', workspace_id)
    .where('user_id', '=', user_id)
    .execute()
  await archiveUserKeys(db, user_id, {workspace_id}, now)
  await endGrantsOf(db, user_id, {workspace_id}, now)
}

/** A workspace that a user is a member of, and the settings that say what that means. */
export interface MembershipRow {
  readonly workspace_id: string
  readonly slug: string
  readonly role: WorkspaceRole
  readonly workspace_settings: string | null
}

/** The active workspaces that a user is a member of, oldest membership first. */
export async function membershipsOf(db: Db, organisation_id: string, user_id: string): Promise<MembershipRow[]> {
  const rows = await db
    .selectFrom('workspace_users')
    .innerJoin('workspaces', 'workspaces.id', 'workspace_users.workspace_id')
    .select(['workspace_users.workspace_id', 'workspaces.slug', 'workspace_users.role', 'workspaces.settings'])
    .where('workspace_users.organisation_id', '=', organisation_id)
    .where('workspace_users.user_id', '=', user_id)
    .where('workspaces.status', '=', 'active')
    .orderBy('workspace_users.created_at')
    .orderBy('workspace_users.workspace_id')
    .execute()
  return rows.map(({settings, ...row}) => ({...row, workspace_settings: settings ?? null}))
}

const MOST_WORKSPACES = 200

/** The active workspaces of a user with his role in each; owners and admins of the organisation are admins of all. */
export async function workspacesOf(
  db: Db,
  {organisation_id, user_id, is_admin}: {organisation_id: string; user_id: string; is_admin: boolean},
): Promise<{id: string; slug: string; name: string; role: WorkspaceRole}[]> {
  const active = db
    .selectFrom('workspaces')
    .select(['workspaces.id', 'workspaces.slug', 'workspaces.name'])
    .where('workspaces.organisation_id', '=', organisation_id)
    .where('workspaces.status', '=', 'active')
    .orderBy('workspaces.created_at')
    .orderBy('workspaces.id')
    .limit(MOST_WORKSPACES)
  if (is_admin) return (await active.execute()).map(row => ({...row, role: 'admin'}))
  return active
    .innerJoin('workspace_users', 'workspace_users.workspace_id', 'workspaces.id')
    .select('workspace_users.role')
    .where('workspace_users.user_id', '=', user_id)
    .execute()
}

function membersOf(db: Db, workspace_id: string) {
  return db
    .selectFrom('workspace_users')
    .innerJoin('users', 'users.id', 'workspace_users.user_id')
    .innerJoin('organisation_users', join =>
      join
        .onRef('organisation_users.user_id', '=', 'workspace_users.user_id')
        .onRef('organisation_users.organisation_id', '=', 'workspace_users.organisation_id'),
    )
    .selectAll('workspace_users')
    .select(['users.email', 'users.first_name', 'users.last_name', 'organisation_users.role as org_role'])
    .where('workspace_users.workspace_id', '=', workspace_id)
}
