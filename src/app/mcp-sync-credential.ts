import type {McpCredentials} from '../mcp/credentials/credentials.ts'
import type {CalledServer} from '../mcp/credentials/services.ts'
import type {CredentialsFor} from '../mcp/sync/services.ts'
import type {Store} from '../store/database.ts'
import {findMcpTarget, type McpConnectionKey, readingConnections} from '../store/mcp-connections.ts'
import type {McpIntegrationsTable} from '../store/tables/registry.ts'

type Credentials = Pick<McpCredentials, 'headersFor'>

/**
 * The credential with which a sync reads a server: that of the integration; where each person has one of his own, that
 * of the user who is named, else of the owner, else of the last caller who had an answer.
 */
export function syncCredential(credentials: Credentials, {db}: Pick<Store, 'db'>): CredentialsFor {
  return async (integration, user_id) => {
    if (integration.auth_type !== 'oauth_auto') {
      const {id, slug} = integration
      const server = {id, slug, workspace_slug: '', workspace_id: null}
      return (await usable(credentials, integration, server, user_id)) ?? {auth_required: true}
    }
    for (const key of await readingConnections(db, integration, user_id)) {
      const found = await connected(credentials, db, integration, key)
      if (found) return found
    }
    return {auth_required: true}
  }
}

/** By a connection; null where its person has to sign in again. */
async function connected(
  credentials: Credentials,
  db: Store['db'],
  integration: McpIntegrationsTable,
  key: McpConnectionKey,
) {
  const target = await findMcpTarget(db, key)
  return target ? usable(credentials, integration, target.server, key.user_id) : null
}

async function usable(
  credentials: Credentials,
  integration: McpIntegrationsTable,
  server: CalledServer,
  user_id: string | null,
) {
  const {organisation_id, workspace_id} = integration
  const outcome = await credentials.headersFor({
    integration,
    server,
    caller: {
      ...{principal_id: 'sync', user_id, organisation_id, workspace_id: workspace_id ?? ''},
      ...{scopes: [], credential_kind: 'api_key'},
    },
    client_headers: {},
  })
  if ('sign_in_needed' in outcome) return null
  if ('refused' in outcome) throw outcome.refused.fault
  return {headers: () => outcome.headers, credential: outcome.credential}
}
