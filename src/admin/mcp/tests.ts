import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {userOf} from '../../identity/subject.ts'
import {Success} from '../../schema/mcp-integrations.ts'
import {McpReport, McpTest} from '../../schema/mcp-tests.ts'
import {Handle} from '../../schema/names.ts'
import {findSyncedIntegration, requestMcpSync} from '../../store/mcp-syncs.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import {type OperationCall, operation} from '../operation.ts'
import {found} from '../tenancy.ts'
import {mcpScopes, reachMcpIntegration} from './reach.ts'
import {requestSync} from './request-sync.ts'
import {reachMcpServer} from './servers.ts'
import {refuseVirtual} from './virtual.ts'

const integrationParams = z.strictObject({mcpIntegrationId: Handle})
const integrationPath = '/mcp-integrations/:mcpIntegrationId'
const serverParams = z.strictObject({mcpServerId: Handle})
const serverPath = '/mcp-servers/:mcpServerId'

/** Tries of MCP servers, and requests to have them read. */
export const mcpTests = [
  operation({
    id: 'mcp_integrations.test',
    tag: 'MCP Integrations',
    method: 'POST',
    path: `${integrationPath}/test`,
    summary: 'Try the server of an MCP integration with its own credential',
    scopes: mcpScopes('read'),
    reaches_out: true,
    audit: {resource: 'mcp-integration', action: 'manage'},
    params: integrationParams,
    body: McpReport,
    reply: McpTest,
    async handle(call) {
      const integration = await reachMcpIntegration(call, call.params.mcpIntegrationId, 'read')
      call.auditTarget(integration.id, integration.workspace_id)
      return tried(call, integration, {user_id: null, name: integration.name})
    },
  }),
  operation({
    id: 'mcp_integrations.sync',
    tag: 'MCP Integrations > Metadata',
    method: 'POST',
    path: `${integrationPath}/sync`,
    summary: 'Have the gateway read the server of an MCP integration',
    scopes: mcpScopes('update'),
    audit: {resource: 'mcp-integration', action: 'manage'},
    params: integrationParams,
    body: McpReport,
    reply: Success,
    async handle(call) {
      const integration = await reachMcpIntegration(call, call.params.mcpIntegrationId, 'update')
      await requestSync(call, integration.id)
      call.auditTarget(integration.id, integration.workspace_id)
      return {success: true as const}
    },
  }),
  operation({
    id: 'mcp_servers.test',
    tag: 'MCP Servers',
    method: 'POST',
    path: `${serverPath}/test`,
    summary: 'Try an MCP server with the credential of the caller',
    scopes: ['mcp_servers.read'],
    reaches_out: true,
    audit: {resource: 'mcp-server', action: 'manage'},
    params: serverParams,
    body: McpReport,
    reply: McpTest,
    async handle(call) {
      const server = await reachMcpServer(call, call.params.mcpServerId)
      refuseVirtual(server, 'server to try')
      const integration = found(await findSyncedIntegration(call.db, server.mcp_integration_id), 'MCP server')
      call.auditTarget(server.id, server.workspace_id)
      return tried(call, integration, {user_id: userOf(call.actor.subject), name: server.name})
    },
  }),
  operation({
    id: 'mcp_servers.sync_capabilities',
    tag: 'MCP Servers > Capabilities',
    method: 'POST',
    path: `${serverPath}/capabilities/sync`,
    summary: 'Have the gateway read what an MCP server offers',
    scopes: ['mcp_servers.update'],
    audit: {resource: 'mcp-server', action: 'manage'},
    params: serverParams,
    body: McpReport,
    reply: Success,
    handle: serverSynced,
  }),
  operation({
    id: 'mcp_servers.sync_metadata',
    tag: 'MCP Servers > Metadata',
    method: 'POST',
    path: `${serverPath}/metadata/sync`,
    summary: 'Have the gateway read what an MCP server says of itself',
    scopes: ['mcp_servers.update'],
    audit: {resource: 'mcp-server', action: 'manage'},
    params: serverParams,
    body: McpReport,
    reply: Success,
    handle: serverSynced,
  }),
] as const

async function serverSynced(call: OperationCall<typeof serverParams, undefined, typeof McpReport>) {
  const server = await reachMcpServer(call, call.params.mcpServerId)
  refuseVirtual(server, 'server to read')
  await requestSync(call, server.mcp_integration_id)
  call.auditTarget(server.id, server.workspace_id)
  return {success: true as const}
}

/** Tries a server, records the outcome, and has the server read. */
async function tried(
  call: Pick<OperationCall, 'app' | 'now' | 'auditOutcome'>,
  integration: McpIntegrationsTable,
  {user_id, name}: {readonly user_id: string | null; readonly name: string},
): Promise<McpTest> {
  const {mcp, store} = call.app
  if (!mcp) throw new Refusal('internal')
  const outcome = await mcp.tried(integration, user_id)
  await store.write(async db => {
    await requestMcpSync(db, integration.id, 'request', Date.parse(call.now))
    await call.auditOutcome(db, {status: 200, note: {outcome: outcome.error ?? 'success'}})
  })
  mcp.wake(integration.id)
  return {...outcome, url: integration.url, server_name: outcome.server_name ?? name}
}
