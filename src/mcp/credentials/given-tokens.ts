import type {McpTokensUpdate} from '../../schema/mcp-connections.ts'
import type {McpConnectionsTable} from '../../store/tables/mcp-connections.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import {openedConfiguration} from './configuration.ts'
import {type KeptTokens, openedTokens} from './kept-tokens.ts'
import {configuredClient} from './oauth-upstream/registration.ts'
import type {CredentialServices} from './services.ts'

/**
 * Tokens that a user brings, as connections keep them. They are renewed and revoked where the integration's
 * configuration says (`client_id`, `token_endpoint`), else where those before them were. A refresh token of neither is
 * not kept, because it could not be used. Throws `integration_unfit` as calls do.
 */
export async function givenTokens(
  services: Pick<CredentialServices, 'seal' | 'secrets'>,
  integration: McpIntegrationsTable,
  {access_token, refresh_token}: McpTokensUpdate,
  before: McpConnectionsTable | undefined,
): Promise<KeptTokens> {
  const server = {id: '', slug: integration.slug, workspace_slug: '', workspace_id: null}
  const {oauth_metadata = {}} = await openedConfiguration(services, {integration, server})
  const client = configuredClient(oauth_metadata, null)
  const {token_endpoint} = oauth_metadata
  const resource = oauth_metadata.resource === 'omit' ? null : integration.url
  if (client && token_endpoint !== undefined)
    return {
      ...{access_token, refresh_token: refresh_token ?? null, token_endpoint, revocation_endpoint: null},
      ...{client, resource, settings_hash: null},
    }
  if (before) return {...openedTokens(services, before), access_token, refresh_token: refresh_token ?? null}
  return {
    ...{access_token, refresh_token: null, token_endpoint: '', revocation_endpoint: null},
    ...{client: {client_id: '', client_secret: null, method: 'none' as const, is_configured: false}},
    ...{resource, settings_hash: null},
  }
}
