import type {Db} from './database.ts'
import {IS_GRANTED} from './mcp-grants.ts'
import type {McpOauthGrantsTable} from './tables/oauth.ts'
import type {OrganisationUsersTable} from './tables/people.ts'
import type {McpIntegrationsTable} from './tables/registry.ts'

/** A server of MCP as consent and tokens need it. */
export interface OAuthServer {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly organisation_id: string
  readonly workspace_id: string
  readonly workspace_slug: string
  readonly workspace_name: string
  readonly mcp_integration_id: string
  readonly auth_type: McpIntegrationsTable['auth_type']
}

/** The parts of an address that name a server: slugs or ids. */
export interface McpServerNames {
  /** Null: the name of the server is enough, as it is unique in an organisation. */
  readonly workspace: string | null
  readonly server: string
}

const MOST_SERVERS = 200

/** The servers of an organisation, or of one workspace, that are in use and open to their workspace. */
export async function listOpenServers(
  db: Db,
  {organisation_id, workspace_id, names}: Place & {readonly names?: McpServerNames | undefined},
): Promise<OAuthServer[]> {
  return openServers(db, {organisation_id, workspace_id, names}).execute()
}

interface Place {
  readonly organisation_id: string
  readonly workspace_id?: string | null | undefined
}

/** Those that a person may use: as a member of their workspace, admin or owner, and by the access that they give. */
export async function listUsableServers(
  db: Db,
  {
    user_id,
    role,
    names,
    ...place
  }: Place & {
    readonly user_id: string
    readonly role: OrganisationUsersTable['role']
    readonly names?: McpServerNames | undefined
  },
): Promise<OAuthServer[]> {
  let rows = openServers(db, {...place, names})
    .leftJoin('mcp_server_users as a', join => join.onRef('a.mcp_server_id', '=', 's.id').on('a.user_id', '=', user_id))
    .where(e =>
      e.or([e('a.enabled', '=', 1), e.and([e('a.enabled', 'is', null), e('s.default_user_access', '=', 'allow')])]),
    )
  if (role === 'member')
    rows = rows.innerJoin('workspace_users as m', join =>
      join.onRef('m.workspace_id', '=', 's.workspace_id').on('m.user_id', '=', user_id),
    )
  return rows.execute()
}

/** The server of a grant, where its person may still use it: he has not left since, even if he came back. */
export async function findUsableServer(
  db: Db,
  {server_id: id, organisation_id, user_id, created_at}: McpOauthGrantsTable & {readonly user_id: string},
): Promise<OAuthServer | undefined> {
  const user = await db
    .selectFrom('organisation_users')
    .select(['role', 'status', 'status_changed_at'])
    .where('organisation_id', '=', organisation_id)
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  if (user?.status !== 'active' || (user.status_changed_at ?? '') > created_at) return undefined
  const names = {workspace: null, server: id}
  return (await listUsableServers(db, {organisation_id, user_id, role: user.role, names})).find(row => row.id === id)
}

function openServers(
  db: Db,
  {organisation_id, workspace_id = null, names}: Place & {readonly names?: McpServerNames | undefined},
) {
  let rows = db
    .selectFrom('mcp_servers as s')
    .innerJoin('mcp_integrations as i', 'i.id', 's.mcp_integration_id')
    .innerJoin('workspaces as w', 'w.id', 's.workspace_id')
    .leftJoin('mcp_integration_workspaces as iw', join =>
      join.onRef('iw.mcp_integration_id', '=', 'i.id').onRef('iw.workspace_id', '=', 's.workspace_id'),
    )
    .select(['s.id', 's.slug', 's.name', 's.organisation_id', 's.workspace_id'])
    .select(['w.slug as workspace_slug', 'w.name as workspace_name'])
    .select(['i.id as mcp_integration_id', 'i.auth_type'])
    .where('s.organisation_id', '=', organisation_id)
    .where('s.status', '=', 'active')
    .where('i.status', '=', 'active')
    .where('w.status', '=', 'active')
    .where(IS_GRANTED)
  if (workspace_id !== null) rows = rows.where('s.workspace_id', '=', workspace_id)
  if (names) {
    const {workspace, server} = names
    rows = rows.where(e => e.or([e('s.slug', '=', server), e('s.id', '=', server)]))
    if (workspace !== null) rows = rows.where(e => e.or([e('w.slug', '=', workspace), e('w.id', '=', workspace)]))
  }
  return rows.orderBy('w.name').orderBy('s.name').orderBy('s.id').limit(MOST_SERVERS)
}
