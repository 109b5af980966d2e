import {hashOfWord, isWord} from '../identity/mcp-oauth/words.ts'
import {findOAuthToken, revokeAccessToken, revokeGrant} from '../store/oauth-grants.ts'
import {noteGrant} from './audit.ts'
import type {TokenRequest} from './grants/outcome.ts'
import type {OAuthServices} from './services.ts'

/**
 * Revokes a token of its client (RFC 7009); a refresh token takes all of its grant along. One that is unknown, or of
 * another client, is left alone without a word.
 */
export async function revokeToken(services: OAuthServices, {client, fields, visit}: TokenRequest): Promise<void> {
  const token = fields.required('token')
  if (!isWord('access', token) && !isWord('refresh', token)) return
  await services.store.write(async db => {
    const found = await findOAuthToken(db, hashOfWord(token))
    if (!found || found.grant.client_id !== client.id) return
    const now = services.now().toISOString()
    if (found.kind === 'access') return revokeAccessToken(db, found.id, now)
    const {grant} = found
    if (!(await revokeGrant(db, grant.id, 'revoked', now))) return
    const deed = {event: 'grant_revoked', action: 'delete', status: 200, more: {reason: 'revoked'}} as const
    await noteGrant(db, services, {grant, deed, user_id: null}, visit)
  })
}
