import {sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {containing, mentioning, paged} from './rows.ts'
import type {McpIntegrationsTable, McpServerCapabilitiesTable, McpServersTable} from './tables/registry.ts'

/** A server with the integration it is made of, and the workspace it is in. */
export interface McpServerRow extends McpServersTable {
  readonly workspace_name: string
  readonly workspace_slug: string
  readonly integration_slug: string
  readonly integration_status: string
  readonly integration_url: string
  readonly integration_transport: McpIntegrationsTable['transport']
  readonly integration_auth_type: McpIntegrationsTable['auth_type']
  /** As they may be shown. */
  readonly integration_configurations: string
  readonly integration_metadata: string | null
}

export async function insertMcpServer(db: Db, row: McpServersTable) {
  await db.insertInto('mcp_servers').values(row).execute()
}

export async function updateMcpServer(db: Db, id: string, change: Partial<McpServersTable>) {
  await db.updateTable('mcp_servers').set(change).where('id', '=', id).execute()
}

export interface McpServerFilter {
  readonly organisation_id: string
  readonly workspace_id?: string | undefined
  /** Slug or id. */
  readonly named?: string | undefined
  readonly search?: string | undefined
}

/** The active server that `named` names. */
export function findMcpServer(
  db: Db,
  filter: McpServerFilter & {readonly named: string},
): Promise<McpServerRow | undefined> {
  return matching(db, filter)
    .orderBy(e => e.case().when('s.slug', '=', filter.named).then(0).else(1).end())
    .executeTakeFirst()
}

/** Newest first. */
export function listMcpServers(db: Db, filter: McpServerFilter, page: Page): Promise<Paged<McpServerRow>> {
  return paged(matching(db, filter).orderBy('s.created_at', 'desc').orderBy('s.id'), page)
}

function matching(db: Db, {organisation_id, workspace_id, named, search}: McpServerFilter) {
  let rows = db
    .selectFrom('mcp_servers as s')
    .innerJoin('mcp_integrations as i', 'i.id', 's.mcp_integration_id')
    .innerJoin('workspaces as w', 'w.id', 's.workspace_id')
    .selectAll('s')
    .select(['w.name as workspace_name', 'w.slug as workspace_slug'])
    .select(['i.slug as integration_slug', 'i.status as integration_status', 'i.url as integration_url'])
    .select(['i.transport as integration_transport', 'i.auth_type as integration_auth_type'])
    .select(['i.configurations as integration_configurations', 'i.metadata as integration_metadata'])
    .where('s.organisation_id', '=', organisation_id)
    .where('s.status', '=', 'active')
  if (workspace_id !== undefined) rows = rows.where('s.workspace_id', '=', workspace_id)
  if (named !== undefined) rows = rows.where(e => e.or([e('s.slug', '=', named), e('s.id', '=', named)]))
  if (search !== undefined) rows = rows.where(mentioning(['s.name', 's.slug'], search))
  return rows
}

/** The active servers of these ids. */
export async function mcpServersOf(
  db: Db,
  ids: readonly string[],
): Promise<Pick<McpServersTable, 'id' | 'slug' | 'workspace_id'>[]> {
  if (ids.length === 0) return []
  return db
    .selectFrom('mcp_servers')
    .select(['id', 'slug', 'workspace_id'])
    .where('id', 'in', [...ids])
    .where('status', '=', 'active')
    .execute()
}

/** A server's own statement of its capabilities. */
export function mcpServerCapabilities(db: Db, mcp_server_id: string): Promise<McpServerCapabilitiesTable[]> {
  return db.selectFrom('mcp_server_capabilities').selectAll().where('mcp_server_id', '=', mcp_server_id).execute()
}

export async function putMcpServerCapability(db: Db, row: McpServerCapabilitiesTable) {
  await db
    .insertInto('mcp_server_capabilities')
    .values(row)
    .onConflict(conflict => conflict.columns(['mcp_server_id', 'type', 'name']).doUpdateSet({enabled: row.enabled}))
    .execute()
}

/** A member of a server's workspace; `enabled` is null where nothing was set for him. */
export interface McpUser {
  readonly user_id: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly enabled: 0 | 1 | null
  /** The user signed in at the server behind it. */
  readonly is_connected: 0 | 1
}

/** Members of the server's workspace, by e-mail address. */
export function listMcpUsers(
  db: Db,
  {id, workspace_id}: Pick<McpServersTable, 'id' | 'workspace_id'>,
  search: string | undefined,
  page: Page,
): Promise<Paged<McpUser>> {
  let users = db
    .selectFrom('workspace_users as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .leftJoin('mcp_server_users as a', join => join.onRef('a.user_id', '=', 'm.user_id').on('a.mcp_server_id', '=', id))
    .leftJoin('mcp_connections as c', join => join.onRef('c.user_id', '=', 'm.user_id').on('c.mcp_server_id', '=', id))
    .select(['m.user_id', 'u.first_name', 'u.last_name', 'a.enabled'])
    .select(e => e.case().when('c.user_id', 'is', null).then(0).else(1).end().$castTo<0 | 1>().as('is_connected'))
    .where('m.workspace_id', '=', workspace_id)
  if (search !== undefined) {
    const pattern = containing(search)
    const name = sql`coalesce(u.first_name, '') || ' ' || coalesce(u.last_name, '') || ' ' || u.email`
    users = users.where(sql<boolean>`lower(${name}) like lower(${pattern}) escape '\\'`)
  }
  return paged(users.orderBy('u.email').orderBy('m.user_id'), page)
}

/** The switch of a user at a server; undefined where there is none. */
export function findMcpUser(db: Db, mcp_server_id: string, user_id: string) {
  return db
    .selectFrom('mcp_server_users')
    .select('enabled')
    .where('mcp_server_id', '=', mcp_server_id)
    .where('user_id', '=', user_id)
    .executeTakeFirst()
}

export async function putMcpUser(db: Db, row: {mcp_server_id: string; user_id: string; enabled: 0 | 1}) {
  await db
    .insertInto('mcp_server_users')
    .values(row)
    .onConflict(conflict => conflict.columns(['mcp_server_id', 'user_id']).doUpdateSet({enabled: row.enabled}))
    .execute()
}
