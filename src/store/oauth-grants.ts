import type {Db} from './database.ts'
import type {McpOauthGrantsTable, McpOauthTokensTable, RevokedFor} from './tables/oauth.ts'

export async function insertOAuthGrant(db: Db, row: McpOauthGrantsTable) {
  await db.insertInto('mcp_oauth_grants').values(row).execute()
}

export async function insertOAuthTokens(db: Db, rows: readonly McpOauthTokensTable[]) {
  await db
    .insertInto('mcp_oauth_tokens')
    .values([...rows])
    .execute()
}

export function findGrantByCode(db: Db, code_hash: string): Promise<McpOauthGrantsTable | undefined> {
  return db.selectFrom('mcp_oauth_grants').selectAll().where('code_hash', '=', code_hash).executeTakeFirst()
}

/**
 * Uses a code up; false where it was used before or its grant was revoked. The row stays locked to the end of the
 * transaction.
 */
export async function useCode(db: Db, id: string, now: string): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_oauth_grants')
    .set({code_used_at: now})
    .where('id', '=', id)
    .where('code_used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Notes that tokens are given for a grant; false where it was revoked. The row stays locked, so that none slips by. */
export async function extendGrant(
  db: Db,
  id: string,
  {now, expires_at}: {readonly now: string; readonly expires_at: string},
): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_oauth_grants')
    .set(e => ({
      last_used_at: now,
      expires_at: e.case().when('expires_at', '<', expires_at).then(expires_at).else(e.ref('expires_at')).end(),
    }))
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Revokes a grant with all its tokens; false where it was revoked before. */
export async function revokeGrant(db: Db, id: string, revoked_for: RevokedFor, now: string): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_oauth_grants')
    .set({revoked_at: now, revoked_for})
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** A token with the grant that it is of. */
export interface FoundOAuthToken extends McpOauthTokensTable {
  readonly grant: McpOauthGrantsTable
}

/** The token that has this SHA-256, live or not: the caller decides. */
export async function findOAuthToken(db: Db, token_hash: string): Promise<FoundOAuthToken | undefined> {
  const token = await db
    .selectFrom('mcp_oauth_tokens')
    .selectAll()
    .where('token_hash', '=', token_hash)
    .executeTakeFirst()
  if (!token) return undefined
  const grant = await db.selectFrom('mcp_oauth_grants').selectAll().where('id', '=', token.grant_id).executeTakeFirst()
  return grant && {...token, reuses: Number(token.reuses), grant}
}

/** Notes the first use of a refresh token, or one more. Says how often it was used after the first. */
export async function noteRotation(db: Db, {id, rotated_at}: McpOauthTokensTable, now: string): Promise<number> {
  if (rotated_at === null) {
    const {numUpdatedRows} = await db
      .updateTable('mcp_oauth_tokens')
      .set({rotated_at: now})
      .where('id', '=', id)
      .where('rotated_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 1n) return 0
  }
  const {reuses} = await db
    .updateTable('mcp_oauth_tokens')
    .set(e => ({reuses: e('reuses', '+', 1)}))
    .where('id', '=', id)
    .returning('reuses')
    .executeTakeFirstOrThrow()
  return Number(reuses)
}

export async function revokeAccessToken(db: Db, id: string, now: string) {
  await db
    .updateTable('mcp_oauth_tokens')
    .set({revoked_at: now})
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Revokes what a client was given; how many grants there were. */
export async function revokeGrantsOfClient(db: Db, client_id: string, now: string): Promise<number> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_oauth_grants')
    .set({revoked_at: now, revoked_for: 'client_deleted'})
    .where('client_id', '=', client_id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/**
 * Ends what a person let clients do, in an organisation or in one workspace of it: grants with codes and tokens,
 * consents, and what he has begun.
 */
export async function endGrantsOf(
  db: Db,
  user_id: string,
  place: {readonly organisation_id: string} | {readonly workspace_id: string},
  now: string,
): Promise<void> {
  const [[column, value]] = Object.entries(place) as [['organisation_id' | 'workspace_id', string]]
  await db
    .updateTable('mcp_oauth_grants')
    .set({revoked_at: now, revoked_for: 'person_left'})
    .where('user_id', '=', user_id)
    .where(column, '=', value)
    .where('revoked_at', 'is', null)
    .execute()
  if (!('organisation_id' in place)) return
  const {organisation_id} = place
  await db
    .deleteFrom('mcp_oauth_consents')
    .where('user_id', '=', user_id)
    .where('organisation_id', '=', organisation_id)
    .execute()
  await db
    .deleteFrom('mcp_oauth_transactions')
    .where('user_id', '=', user_id)
    .where('organisation_id', '=', organisation_id)
    .execute()
}
