import type {TriedMcpServer} from '../../schema/mcp-tests.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import {look} from './look.ts'
import {describedBy} from './metadata.ts'
import type {McpSyncServices} from './services.ts'

/** Probes a server and reads its lists, with the credential of a user where one is named. Writes nothing. */
export async function tryServer(
  integration: McpIntegrationsTable,
  user_id: string | null,
  services: McpSyncServices,
  stop: AbortSignal,
): Promise<TriedMcpServer> {
  const {steady} = services.upstream
  const began_ms = steady()
  const seen = await look(integration, user_id, services, stop)
  const response_time_ms = Math.max(0, Math.round(steady() - began_ms))
  if (seen.outcome !== 'seen') {
    const {error, status} = seen
    return {
      ...{success: false, status_code: status, response_time_ms, server_name: null, protocol_version: null, error},
    }
  }
  const faults = Object.values(seen.walked.lists).flatMap(({fault}) => (fault === null ? [] : [fault]))
  const {server_name, protocol_version} = describedBy(seen.hello)
  return {
    ...{success: faults.length === 0, status_code: 200, response_time_ms, server_name, protocol_version},
    error: faults[0] ?? null,
  }
}
