import {newId} from '../../base/ids.ts'
import {mcpPath, readResource} from '../../identity/mcp-oauth/resources.ts'
import {boundedScopes, readScopes} from '../../identity/mcp-oauth/scopes.ts'
import {insertOAuthGrant} from '../../store/oauth-grants.ts'
import {listOpenServers} from '../../store/oauth-servers.ts'
import type {McpOauthGrantsTable} from '../../store/tables/oauth.ts'
import type {OAuthServices} from '../services.ts'
import {OAuthFault} from '../wire/fault.ts'
import {issueTokens, type TokenReply} from './issue.ts'
import type {TokenRequest} from './outcome.ts'

/** Gives a client a token for itself (client_credentials): one that an administrator made, with a secret. */
export async function machineToken(services: OAuthServices, {client, fields}: TokenRequest): Promise<TokenReply> {
  const {organisation_id, workspace_id} = client
  const may = client.kind === 'administered' && client.grant_types.includes('client_credentials')
  if (!may || client.secret_hash === null || organisation_id === null)
    throw new OAuthFault('unauthorized_client', 'Only a client that an administrator made so may act for itself.')
  const names = readResource(fields.text('resource') ?? '', services.base_url)
  const wanted = readScopes(fields.text('scope'))
  const scopes = wanted && boundedScopes(wanted, client.scopes).join(' ')
  if (!scopes) throw new OAuthFault('invalid_scope', 'scope: holds none that this client may have.')
  return services.store.write(async db => {
    const [server] = names ? await listOpenServers(db, {organisation_id, workspace_id, names}) : []
    if (!names || !server)
      throw new OAuthFault('invalid_target', `resource: must be ${services.base_url}/SERVER/mcp of a server in reach.`)
    const now = services.now()
    const at = now.toISOString()
    const grant: McpOauthGrantsTable = {
      ...{id: newId(), client_id: client.id, user_id: null, organisation_id, workspace_id: server.workspace_id},
      ...{server_id: server.id, scopes, redirect_uri: null, code_hash: null, code_challenge: null},
      resource: services.base_url + mcpPath({workspace: names.workspace && server.workspace_slug, server: server.slug}),
      ...{code_expires_at: null, code_used_at: null, created_at: at, expires_at: at},
      ...{last_used_at: null, revoked_at: null, revoked_for: null},
    }
    await insertOAuthGrant(db, grant)
    return (await issueTokens(db, grant, {scopes, now}))!
  })
}
