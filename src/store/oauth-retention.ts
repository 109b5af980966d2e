import type {Db} from './database.ts'
import type {McpOauthClientsTable} from './tables/oauth.ts'

/** A slice is one transaction: others write between two of them. */
export const OAUTH_SLICE = 500

/** Removes up to `OAUTH_SLICE` rows of each kind that ended before a time; true while there may be more. */
export async function dropEndedOAuth(
  db: Db,
  {now, before}: {readonly now: string; readonly before: string},
): Promise<boolean> {
  const transactions = await db
    .selectFrom('mcp_oauth_transactions')
    .select('id')
    .where('expires_at', '<', before)
    .limit(OAUTH_SLICE)
    .execute()
  const tokens = await db
    .selectFrom('mcp_oauth_tokens')
    .select('id')
    .where('expires_at', '<', before)
    .limit(OAUTH_SLICE)
    .execute()
  const grants = await db
    .selectFrom('mcp_oauth_grants')
    .select('id')
    .where('expires_at', '<', before)
    .limit(OAUTH_SLICE)
    .execute()
  const ids = (rows: readonly {readonly id: string}[]) => rows.map(({id}) => id)
  if (transactions.length) await db.deleteFrom('mcp_oauth_transactions').where('id', 'in', ids(transactions)).execute()
  if (tokens.length) await db.deleteFrom('mcp_oauth_tokens').where('id', 'in', ids(tokens)).execute()
  if (grants.length) {
    await db.deleteFrom('mcp_oauth_tokens').where('grant_id', 'in', ids(grants)).execute()
    await db.deleteFrom('mcp_oauth_grants').where('id', 'in', ids(grants)).execute()
  }
  await db.deleteFrom('mcp_oauth_consents').where('expires_at', '<', now).execute()
  return [transactions, tokens, grants].some(rows => rows.length === OAUTH_SLICE)
}

/** Clients that no administrator made and that went out of use: never had a token, or had their last long ago. */
export async function unusedClients(
  db: Db,
  {never_before, last_before}: {readonly never_before: string; readonly last_before: string},
): Promise<Pick<McpOauthClientsTable, 'id' | 'name' | 'kind' | 'organisation_id' | 'last_used_at'>[]> {
  const clients = db
    .selectFrom('mcp_oauth_clients')
    .select(['id', 'name', 'kind', 'organisation_id', 'last_used_at'])
    .where('kind', 'in', ['registered', 'document'])
  const never = await clients
    .where('last_used_at', 'is', null)
    .where('created_at', '<', never_before)
    .limit(OAUTH_SLICE)
    .execute()
  const long_ago = await clients.where('last_used_at', '<', last_before).limit(OAUTH_SLICE).execute()
  return [...never, ...long_ago]
}
