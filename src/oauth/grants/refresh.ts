import {boundedScopes, coversScopes, readScopes, scopeList} from '../../identity/mcp-oauth/scopes.ts'
import {hashOfWord} from '../../identity/mcp-oauth/words.ts'
import type {Db} from '../../store/database.ts'
import {extendGrant, type FoundOAuthToken, findOAuthToken, noteRotation} from '../../store/oauth-grants.ts'
import {findUsableServer} from '../../store/oauth-servers.ts'
import {noteGrant} from '../audit.ts'
import type {OAuthServices} from '../services.ts'
import {OAuthFault} from '../wire/fault.ts'
import {issueTokens, type TokenReply} from './issue.ts'
import {needsSignIn} from './needs.ts'
import {type ExchangeOutcome, INVALID_GRANT, repliedTokens, revokeForMisuse, type TokenRequest} from './outcome.ts'
import {isTargetOf, TARGET_REFUSED} from './target.ts'

/**
 * Exchanges a refresh token for a new pair. It is used up by that, but for `MCP_REFRESH_GRACE_S` its client may use it
 * again: two processes that share it both get pairs of one family, and none of these ends another. A later use, or one
 * by another client, ends the family.
 */
export async function refreshTokens(services: OAuthServices, request: TokenRequest): Promise<TokenReply> {
  const {fields, visit} = request
  const token_hash = hashOfWord(fields.required('refresh_token'))
  const [resource, scope] = [fields.text('resource'), fields.text('scope')]
  return repliedTokens(
    await services.store.write(async (db): Promise<ExchangeOutcome> => {
      const now = services.now()
      const token = await lockedToken(db, token_hash, now)
      if (!token) return INVALID_GRANT
      const {grant} = token
      if (grant.client_id !== request.client.id)
        return revokeForMisuse(db, services, {grant, visit, reason: 'refresh_token_of_other_client'})
      if (isUsedUp(token, services, now))
        return revokeForMisuse(db, services, {grant, visit, reason: 'refresh_token_reused'})
      const {user_id} = grant
      const server = user_id === null ? undefined : await findUsableServer(db, {...grant, user_id})
      if (user_id === null || !server || (await needsSignIn(db, grant, {user_id, now}))) return INVALID_GRANT
      if (!isTargetOf(resource, server, services.base_url)) return TARGET_REFUSED
      const wanted = scope === undefined ? scopeList(grant.scopes) : narrowed(scope, grant.scopes)
      const scopes = boundedScopes(wanted, request.client.scopes).join(' ')
      if (scopes === '') return INVALID_GRANT
      await noteUse(db, services, token, request)
      return (await issueTokens(db, grant, {scopes, now})) ?? INVALID_GRANT
    }),
  )
}

/**
 * The live refresh token of a hash. Its grant is locked first, then read: two uses at once come one after the other,
 * and so does a revocation.
 */
async function lockedToken(db: Db, token_hash: string, now: Date): Promise<FoundOAuthToken | undefined> {
  const seen = await findOAuthToken(db, token_hash)
  if (seen?.kind !== 'refresh' || seen.expires_at <= now.toISOString()) return undefined
  const {id, expires_at} = seen.grant
  if (!(await extendGrant(db, id, {now: now.toISOString(), expires_at}))) return undefined
  return findOAuthToken(db, token_hash)
}

function isUsedUp({rotated_at}: FoundOAuthToken, {settings}: OAuthServices, now: Date): boolean {
  if (rotated_at === null) return false
  return now.getTime() - Date.parse(rotated_at) > settings.mcp_refresh_grace_s * 1000
}

/** A part of what was granted; a wider one needs a new consent. */
function narrowed(scope: string, granted: string): readonly string[] {
  const wanted = readScopes(scope)
  if (!wanted || !coversScopes(scopeList(granted), wanted))
    throw new OAuthFault('invalid_scope', 'scope: asks for more than was granted. Authorize again for it.')
  return wanted
}

async function noteUse(db: Db, services: OAuthServices, token: FoundOAuthToken, {visit}: TokenRequest) {
  const reuses = await noteRotation(db, token, services.now().toISOString())
  if (reuses === 0) return
  const deed = {event: 'refresh_token_used_again', action: 'update', status: 200, more: {reuses}} as const
  await noteGrant(db, services, {grant: token.grant, deed, user_id: null}, visit)
}
