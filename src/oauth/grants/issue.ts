import {newId} from '../../base/ids.ts'
import {hashOfWord, makeWord} from '../../identity/mcp-oauth/words.ts'
import type {Db} from '../../store/database.ts'
import {noteClientUse} from '../../store/oauth-clients.ts'
import {extendGrant, insertOAuthTokens} from '../../store/oauth-grants.ts'
import type {McpOauthGrantsTable, McpOauthTokensTable} from '../../store/tables/oauth.ts'

const ACCESS_S = 3600
const REFRESH_MS = 30 * 86_400_000

/** An answer of the token endpoint (RFC 6749, 5.1). */
export interface TokenReply {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token?: string
  readonly scope: string
}

/**
 * Gives tokens of a grant: an access token with `scopes`, and for a person a refresh token with all of the grant. Null
 * where the grant was revoked meanwhile.
 */
export async function issueTokens(
  db: Db,
  grant: Pick<McpOauthGrantsTable, 'id' | 'client_id' | 'organisation_id' | 'user_id' | 'scopes'>,
  {scopes, now}: {readonly scopes: string; readonly now: Date},
): Promise<TokenReply | null> {
  const access = newToken(grant.id, 'access', scopes, now)
  const refresh = grant.user_id === null ? null : newToken(grant.id, 'refresh', grant.scopes, now)
  const {expires_at} = (refresh ?? access).row
  if (!(await extendGrant(db, grant.id, {now: now.toISOString(), expires_at}))) return null
  await insertOAuthTokens(db, [access.row, ...(refresh ? [refresh.row] : [])])
  await noteClientUse(db, grant.client_id, grant.organisation_id, now.toISOString())
  return {
    ...{access_token: access.token, token_type: 'Bearer', expires_in: ACCESS_S},
    ...(refresh && {refresh_token: refresh.token}),
    scope: scopes,
  }
}

function newToken(grant_id: string, kind: McpOauthTokensTable['kind'], scopes: string, now: Date) {
  const token = makeWord(kind)
  const life_ms = kind === 'access' ? ACCESS_S * 1000 : REFRESH_MS
  const row: McpOauthTokensTable = {
    ...{id: newId(), grant_id, kind, token_hash: hashOfWord(token), scopes},
    ...{created_at: now.toISOString(), expires_at: new Date(now.getTime() + life_ms).toISOString()},
    ...{rotated_at: null, reuses: 0, revoked_at: null},
  }
  return {token, row}
}
