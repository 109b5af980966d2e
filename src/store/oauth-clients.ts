import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {McpOauthClientsTable} from './tables/oauth.ts'

export async function insertOAuthClient(db: Db, row: McpOauthClientsTable) {
  await db.insertInto('mcp_oauth_clients').values(row).execute()
}

export function findOAuthClient(db: Db, id: string): Promise<McpOauthClientsTable | undefined> {
  return db.selectFrom('mcp_oauth_clients').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function updateOAuthClient(db: Db, id: string, change: Partial<McpOauthClientsTable>) {
  await db.updateTable('mcp_oauth_clients').set(change).where('id', '=', id).execute()
}

/** Keeps what a client's own document says now. */
export async function putDocumentClient(db: Db, row: McpOauthClientsTable) {
  const {name, redirect_uris, grant_types, details, last_updated_at, expires_at} = row
  await db
    .insertInto('mcp_oauth_clients')
    .values(row)
    .onConflict(conflict =>
      conflict.column('id').doUpdateSet({name, redirect_uris, grant_types, details, last_updated_at, expires_at}),
    )
    .execute()
}

/** Notes that a client got a token, and the organisation where that was first. */
export async function noteClientUse(db: Db, id: string, organisation_id: string, now: string) {
  await db
    .updateTable('mcp_oauth_clients')
    .set(e => ({last_used_at: now, organisation_id: e.fn.coalesce('organisation_id', e.val(organisation_id))}))
    .where('id', '=', id)
    .execute()
}

/** How many clients registered themselves and never got a token. */
export async function countUnusedClients(db: Db): Promise<number> {
  const {n} = await db
    .selectFrom('mcp_oauth_clients')
    .select(e => e.fn.countAll<number>().as('n'))
    .where('kind', '=', 'registered')
    .where('last_used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Those that an administrator made, newest first. */
export function listOAuthClients(
  db: Db,
  {organisation_id, workspace_id}: {readonly organisation_id: string; readonly workspace_id?: string | undefined},
  page: Page,
): Promise<Paged<McpOauthClientsTable>> {
  let rows = db
    .selectFrom('mcp_oauth_clients')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('kind', '=', 'administered')
  if (workspace_id !== undefined) rows = rows.where('workspace_id', '=', workspace_id)
  return paged(rows.orderBy('created_at', 'desc').orderBy('id'), page)
}

export async function deleteOAuthClients(db: Db, ids: readonly string[]) {
  await db
    .deleteFrom('mcp_oauth_consents')
    .where('client_id', 'in', [...ids])
    .execute()
  await db
    .deleteFrom('mcp_oauth_clients')
    .where('id', 'in', [...ids])
    .execute()
}
