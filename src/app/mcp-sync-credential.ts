import type {McpCredentials} from '../mcp/credentials/credentials.ts'
import type {CredentialsFor} from '../mcp/sync/services.ts'

/**
 * The credential with which a sync reads a server: that of the integration, or of the user who is named. One that each
 * person has of his own is no one's where no user is named.
 */
export function syncCredential(credentials: Pick<McpCredentials, 'headersFor'>): CredentialsFor {
  return async (integration, user_id) => {
    if (integration.auth_type === 'oauth_auto' && user_id === null) return {auth_required: true}
    const {id, slug, organisation_id, workspace_id} = integration
    const outcome = await credentials.headersFor({
      integration,
      server: {id, slug, workspace_slug: ''},
      caller: {
        ...{principal_id: 'sync', user_id, organisation_id, workspace_id: workspace_id ?? ''},
        ...{scopes: [], credential_kind: 'api_key'},
      },
      client_headers: {},
    })
    if ('sign_in_needed' in outcome) return {auth_required: true}
    if ('refused' in outcome) throw outcome.refused.fault
    return {headers: () => outcome.headers, credential: outcome.credential}
  }
}
