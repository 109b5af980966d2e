import {rememberedRedirect} from '../../identity/mcp-oauth/redirect-uris.ts'
import {coversScopes, scopeList} from '../../identity/mcp-oauth/scopes.ts'
import {hashOfWord} from '../../identity/mcp-oauth/words.ts'
import type {Db} from '../../store/database.ts'
import {findConsent} from '../../store/oauth-consents.ts'
import {listUsableServers, type OAuthServer} from '../../store/oauth-servers.ts'
import type {McpOauthTransactionsTable} from '../../store/tables/oauth.ts'
import type {OAuthClient} from '../clients/client.ts'
import type {ConsentPerson} from '../person.ts'

/** The servers that a person may open to a client: the one that the request names, or all of his. */
export async function serversFor(
  db: Db,
  {organisation_id, user_id, role, only_integration}: ConsentPerson,
  {workspace_named, server_named}: McpOauthTransactionsTable,
  {workspace_id}: OAuthClient,
): Promise<OAuthServer[]> {
  const names = server_named === null ? undefined : {workspace: workspace_named, server: server_named}
  const servers = await listUsableServers(db, {organisation_id, user_id, role, workspace_id, names})
  return only_integration === undefined
    ? servers
    : servers.filter(({mcp_integration_id}) => mcp_integration_id === only_integration)
}

/** The key by which a consent is remembered: a new redirect URI asks again. */
export function consentKey(
  {user_id}: Pick<ConsentPerson, 'user_id'>,
  {client_id, redirect_uri}: McpOauthTransactionsTable,
  {id}: OAuthServer,
): string {
  return hashOfWord([user_id, client_id, id, rememberedRedirect(redirect_uri)].join('\0'))
}

/** The server for which the page may be skipped; undefined where the person has to decide. */
export async function decidedBefore(
  db: Db,
  {
    session,
    transaction,
    client,
    servers,
  }: {
    readonly session: ConsentPerson
    readonly transaction: McpOauthTransactionsTable
    readonly client: OAuthClient
    readonly servers: readonly OAuthServer[]
  },
  now: string,
): Promise<OAuthServer | undefined> {
  const [server] = servers
  if (!server || servers.length > 1 || transaction.server_named === null) return undefined
  if (client.skips_consent) return server
  if (Number(transaction.asks_again) === 1) return undefined
  const consent = await findConsent(db, consentKey(session, transaction, server), now)
  return consent && coversScopes(scopeList(consent.scopes), scopeList(transaction.scopes)) ? server : undefined
}
