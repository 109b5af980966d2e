import type {Seal} from '../base/seal.ts'
import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {McpConnectionsTable} from './tables/mcp-connections.ts'
import type {McpIntegrationsTable, McpServersTable} from './tables/registry.ts'

/** The names of a connection; `mcp_server_id` and `user_id` are empty for the integration's own. */
export type McpConnectionKey = Pick<
  McpConnectionsTable,
  'mcp_integration_id' | 'mcp_server_id' | 'user_id' | 'organisation_id'
>

export function sealMcpTokens(seal: Seal, key: McpConnectionKey, tokens: object): Buffer {
  return seal.close(JSON.stringify(tokens), place(key))
}

/** JSON of the tokens of a row: for the moment of a call, never to be shown. */
export function openMcpTokens(seal: Seal, row: McpConnectionKey & Pick<McpConnectionsTable, 'tokens'>): string {
  return seal.open(row.tokens, place(row))
}

function place({mcp_integration_id, mcp_server_id, user_id, organisation_id}: McpConnectionKey) {
  const row = JSON.stringify([mcp_integration_id, mcp_server_id, user_id])
  return {table: 'mcp_connections', column: 'tokens', row, organisation_id}
}

export function findMcpConnection(db: Db, key: McpConnectionKey): Promise<McpConnectionsTable | undefined> {
  return db
    .selectFrom('mcp_connections')
    .selectAll()
    .where('mcp_integration_id', '=', key.mcp_integration_id)
    .where('mcp_server_id', '=', key.mcp_server_id)
    .where('user_id', '=', key.user_id)
    .where('organisation_id', '=', key.organisation_id)
    .executeTakeFirst()
}

/** Writes a connection in place of one that is there, which keeps its `created_at`. */
export async function putMcpConnection(db: Db, row: Omit<McpConnectionsTable, 'revision'>) {
  const {mcp_integration_id: _, mcp_server_id: __, user_id: ___, created_at: ____, ...change} = row
  await db
    .insertInto('mcp_connections')
    .values({...row, revision: 1})
    .onConflict(conflict =>
      conflict
        .columns(['mcp_integration_id', 'mcp_server_id', 'user_id'])
        .doUpdateSet(e => ({...change, revision: e('mcp_connections.revision', '+', 1)})),
    )
    .execute()
}

type McpConnectionChange = Partial<
  Pick<McpConnectionsTable, 'tokens' | 'scope' | 'expires_at' | 'refresh_at' | 'held_off_until' | 'last_updated_at'>
>

/** Changes a connection that is still as it was read; false where another process was faster, or it is gone. */
export async function changeMcpConnection(
  db: Db,
  {mcp_integration_id, mcp_server_id, user_id, revision}: McpConnectionsTable,
  change: McpConnectionChange,
): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_connections')
    .set({...change, revision: Number(revision) + 1})
    .where('mcp_integration_id', '=', mcp_integration_id)
    .where('mcp_server_id', '=', mcp_server_id)
    .where('user_id', '=', user_id)
    .where('revision', '=', revision)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Notes that a server answered a call with a connection. */
export async function noteMcpConnectionUse(
  db: Db,
  {mcp_integration_id, mcp_server_id, user_id, organisation_id}: McpConnectionKey,
  at: string,
) {
  await db
    .updateTable('mcp_connections')
    .set({last_used_at: at})
    .where('mcp_integration_id', '=', mcp_integration_id)
    .where('mcp_server_id', '=', mcp_server_id)
    .where('user_id', '=', user_id)
    .where('organisation_id', '=', organisation_id)
    .execute()
}

const MOST_TRIED = 3

/**
 * The connections with which an integration's server may be read, the best first: those of the user who is named; else
 * those of its owner, and then those whose calls the server answered, the last one first.
 */
export async function readingConnections(
  db: Db,
  {id, organisation_id, owner_id}: Pick<McpIntegrationsTable, 'id' | 'organisation_id' | 'owner_id'>,
  named: string | null,
): Promise<readonly McpConnectionKey[]> {
  const rows = db
    .selectFrom('mcp_connections as c')
    .innerJoin('mcp_servers as s', 's.id', 'c.mcp_server_id')
    .innerJoin('organisation_users as u', join =>
      join.onRef('u.user_id', '=', 'c.user_id').onRef('u.organisation_id', '=', 'c.organisation_id'),
    )
    .select(['c.mcp_integration_id', 'c.mcp_server_id', 'c.user_id', 'c.organisation_id'])
    .where('c.mcp_integration_id', '=', id)
    .where('c.organisation_id', '=', organisation_id)
    .where('s.status', '=', 'active')
    .where('u.status', '=', 'active')
  const of = (user_id: string) => rows.where('c.user_id', '=', user_id).orderBy('c.last_updated_at', 'desc')
  if (named !== null) return of(named).limit(MOST_TRIED).execute()
  const owners = owner_id === null ? [] : await of(owner_id).limit(MOST_TRIED).execute()
  const callers = await rows
    .where('c.last_used_at', 'is not', null)
    .where('c.user_id', '!=', owner_id ?? '')
    .orderBy('c.last_used_at', 'desc')
    .limit(MOST_TRIED)
    .execute()
  return [...owners, ...callers].slice(0, MOST_TRIED)
}

/** Removes a connection; with `revision` only while it is still that one. False where there is none. */
export async function deleteMcpConnection(db: Db, key: McpConnectionKey, revision?: number): Promise<boolean> {
  let gone = db
    .deleteFrom('mcp_connections')
    .where('mcp_integration_id', '=', key.mcp_integration_id)
    .where('mcp_server_id', '=', key.mcp_server_id)
    .where('user_id', '=', key.user_id)
    .where('organisation_id', '=', key.organisation_id)
  if (revision !== undefined) gone = gone.where('revision', '=', revision)
  return (await gone.executeTakeFirst()).numDeletedRows > 0n
}

/** Removes the connections of a person who leaves an organisation. */
export async function deleteMcpConnectionsOf(db: Db, organisation_id: string, user_id: string) {
  await db
    .deleteFrom('mcp_connections')
    .where('organisation_id', '=', organisation_id)
    .where('user_id', '=', user_id)
    .execute()
}

/** Removes the connections of all people at a server. */
export async function deleteMcpConnectionsAt(db: Db, mcp_server_id: string) {
  await db.deleteFrom('mcp_connections').where('mcp_server_id', '=', mcp_server_id).execute()
}

/** Those of people at a server, newest first; of one person with `user_id`. */
export function listMcpConnections(
  db: Db,
  {mcp_server_id, user_id}: {readonly mcp_server_id: string; readonly user_id?: string | undefined},
  page: Page,
): Promise<Paged<McpConnectionsTable>> {
  let rows = db.selectFrom('mcp_connections').where('mcp_server_id', '=', mcp_server_id).where('user_id', '!=', '')
  if (user_id !== undefined) rows = rows.where('user_id', '=', user_id)
  return paged(rows.selectAll().orderBy('created_at', 'desc').orderBy('user_id'), page)
}

/** Servers in one query. */
const MOST_SERVERS = 200

/** When the connections of people at these servers were made, by `SERVER_ID USER_ID`. */
export async function mcpConnectionTimes(
  db: Db,
  mcp_server_ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(mcp_server_ids)]
  const times = new Map<string, string>()
  for (let at = 0; at < ids.length; at += MOST_SERVERS) {
    const rows = await db
      .selectFrom('mcp_connections')
      .select(['mcp_server_id', 'user_id', 'created_at'])
      .where('mcp_server_id', 'in', ids.slice(at, at + MOST_SERVERS))
      .execute()
    for (const {mcp_server_id, user_id, created_at} of rows) times.set(`${mcp_server_id} ${user_id}`, created_at)
  }
  return times
}

/** An integration with a server that is made of it, as connections name them. */
export interface McpTargetRow {
  readonly integration: McpIntegrationsTable
  readonly server: Pick<McpServersTable, 'id' | 'slug' | 'workspace_id'> & {readonly workspace_slug: string}
}

/** The target of a connection, while both of it are in service. By their ids alone: a slug may look like one. */
export async function findMcpTarget(
  db: Db,
  {mcp_integration_id, mcp_server_id, organisation_id}: Omit<McpConnectionKey, 'user_id'>,
): Promise<McpTargetRow | undefined> {
  const server = await db
    .selectFrom('mcp_servers as s')
    .innerJoin('workspaces as w', 'w.id', 's.workspace_id')
    .select(['s.id', 's.slug', 's.workspace_id', 'w.slug as workspace_slug'])
    .where('s.id', '=', mcp_server_id)
    .where('s.mcp_integration_id', '=', mcp_integration_id)
    .where('s.organisation_id', '=', organisation_id)
    .where('s.status', '=', 'active')
    .executeTakeFirst()
  const integration = await db
    .selectFrom('mcp_integrations')
    .selectAll()
    .where('id', '=', mcp_integration_id)
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .executeTakeFirst()
  return server && integration && {integration, server}
}
