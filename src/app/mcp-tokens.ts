import type {McpPort} from '../admin/services.ts'
import {givenTokens} from '../mcp/credentials/given-tokens.ts'
import {revokeTokens} from '../mcp/credentials/revocation.ts'
import type {CredentialServices} from '../mcp/credentials/services.ts'
import {findSyncedIntegration} from '../store/mcp-syncs.ts'

/** Tokens of people at MCP servers, as the administration keeps and ends them. */
export function mcpTokens(services: CredentialServices): Pick<McpPort, 'givenTokens' | 'revokeTokens'> & {
  /** Waits for revocations in progress; each has its deadline. */
  close(): Promise<void>
} {
  const under_way = new Set<Promise<void>>()
  return {
    givenTokens: (integration, given, before) => givenTokens(services, integration, given, before),
    revokeTokens(connection) {
      const {mcp_integration_id} = connection
      const work = findSyncedIntegration(services.store.db, mcp_integration_id)
        .then(integration => integration && revokeTokens(services, integration, connection))
        .catch(fault =>
          services.log.warn({fault, mcp_integration_id}, 'tokens of an ended connection were not revoked'),
        )
        .finally(() => under_way.delete(work))
      under_way.add(work)
    },
    close: async () => void (await Promise.all(under_way)),
  }
}
