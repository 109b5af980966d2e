import {hashOfWord} from '../../identity/mcp-oauth/words.ts'
import type {Db} from '../../store/database.ts'
import {findGrantByCode, useCode} from '../../store/oauth-grants.ts'
import {findUsableServer} from '../../store/oauth-servers.ts'
import type {McpOauthGrantsTable} from '../../store/tables/oauth.ts'
import type {OAuthServices} from '../services.ts'
import {isVerifierOf} from '../wire/pkce.ts'
import {issueTokens, type TokenReply} from './issue.ts'
import {
  type ExchangeOutcome,
  INVALID_GRANT,
  type RefusedExchange,
  repliedTokens,
  revokeForMisuse,
  type TokenRequest,
} from './outcome.ts'
import {isTargetOf, TARGET_REFUSED} from './target.ts'

/** Exchanges a code for tokens. A code is good for one attempt, and a second one revokes what the first gave. */
export async function exchangeCode(services: OAuthServices, request: TokenRequest): Promise<TokenReply> {
  const code_hash = hashOfWord(request.fields.required('code'))
  const sent = {
    verifier: request.fields.required('code_verifier'),
    redirect_uri: request.fields.text('redirect_uri'),
    resource: request.fields.text('resource'),
  }
  return repliedTokens(
    await services.store.write(async (db): Promise<ExchangeOutcome> => {
      const now = services.now()
      const grant = await findGrantByCode(db, code_hash)
      if (!grant) return INVALID_GRANT
      if (!(await useCode(db, grant.id, now.toISOString())))
        return revokeForMisuse(db, services, {grant, visit: request.visit, reason: 'code_reused'})
      const refused = await refusalOf(db, services, {grant, request, sent, now})
      return refused ?? (await issueTokens(db, grant, {scopes: grant.scopes, now})) ?? INVALID_GRANT
    }),
  )
}

interface Attempt {
  readonly grant: McpOauthGrantsTable
  readonly request: TokenRequest
  readonly sent: {
    readonly verifier: string
    readonly redirect_uri: string | undefined
    readonly resource: string | undefined
  }
  readonly now: Date
}

async function refusalOf(
  db: Db,
  {base_url}: OAuthServices,
  {grant, request, sent, now}: Attempt,
): Promise<RefusedExchange | null> {
  const {user_id, client_id, redirect_uri, code_challenge, code_expires_at} = grant
  if (client_id !== request.client.id || (code_expires_at ?? '') <= now.toISOString()) return INVALID_GRANT
  // OAuth 2.1 leaves it out, as PKCE is always there; where it is sent, it is compared letter by letter
  if (sent.redirect_uri !== undefined && sent.redirect_uri !== redirect_uri) return INVALID_GRANT
  if (code_challenge === null || !isVerifierOf(code_challenge, sent.verifier)) return INVALID_GRANT
  const server = user_id === null ? undefined : await findUsableServer(db, {...grant, user_id})
  if (!server) return INVALID_GRANT
  return isTargetOf(sent.resource, server, base_url) ? null : TARGET_REFUSED
}
