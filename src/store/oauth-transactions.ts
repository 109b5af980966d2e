import type {Db} from './database.ts'
import type {McpOauthTransactionsTable} from './tables/oauth.ts'

export async function insertOAuthTransaction(db: Db, row: McpOauthTransactionsTable) {
  await db.insertInto('mcp_oauth_transactions').values(row).execute()
}

export function findOAuthTransaction(db: Db, handle_hash: string): Promise<McpOauthTransactionsTable | undefined> {
  return db.selectFrom('mcp_oauth_transactions').selectAll().where('handle_hash', '=', handle_hash).executeTakeFirst()
}

/** Binds a transaction to the person who sees it first; false where it is another's, or over. */
export async function bindTransaction(
  db: Db,
  id: string,
  {organisation_id, user_id}: {readonly organisation_id: string; readonly user_id: string},
): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_oauth_transactions')
    .set({organisation_id, user_id})
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .where(e => e.or([e('user_id', 'is', null), e('user_id', '=', user_id)]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Uses a transaction up, once; false where it was used before. Its state goes with it. */
export async function useTransaction(db: Db, id: string, now: string): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_oauth_transactions')
    .set({used_at: now, state: null})
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
