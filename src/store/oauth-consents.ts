import type {Db} from './database.ts'
import type {McpOauthConsentsTable} from './tables/oauth.ts'

/** The consent of this key (`McpOauthConsentsTable`) that is still remembered. */
export function findConsent(db: Db, key: string, now: string): Promise<McpOauthConsentsTable | undefined> {
  return db
    .selectFrom('mcp_oauth_consents')
    .selectAll()
    .where('key', '=', key)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

export async function putConsent(db: Db, row: McpOauthConsentsTable) {
  const {scopes, created_at, expires_at} = row
  await db
    .insertInto('mcp_oauth_consents')
    .values(row)
    .onConflict(conflict => conflict.column('key').doUpdateSet({scopes, created_at, expires_at}))
    .execute()
}
