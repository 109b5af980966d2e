import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {
  type CapabilityDetails,
  capabilitiesOf,
  McpCapabilitiesQuery,
  McpCapabilitiesUpdate,
  McpCapability,
  McpServerCapabilitiesUpdate,
  mcpList,
  Success,
} from '../../schema/mcp-integrations.ts'
import {pinApproved} from '../../schema/mcp-pin-changes.ts'
import {pinRulesOf} from '../../schema/mcp-pins.ts'
import {McpServerCapability} from '../../schema/mcp-servers.ts'
import {Handle} from '../../schema/names.ts'
import * as store from '../../store/mcp-capabilities.ts'
import {mcpServerCapabilities, putMcpServerCapability} from '../../store/mcp-servers.ts'
import type {CapabilityType, McpCapabilitiesTable} from '../../store/tables/registry.ts'
import {type OperationCall, operation} from '../operation.ts'
import {invalid} from '../tenancy.ts'
import {type PinView, pinView, stateOf} from './pin-view.ts'
import {mcpScopes, reachMcpIntegration} from './reach.ts'
import {reachMcpServer} from './servers.ts'
import {refuseVirtual} from './virtual.ts'

const integrationTag = 'MCP Integrations > Capabilities'
const integrationPath = '/mcp-integrations/:mcpIntegrationId/capabilities'
const integrationParams = z.strictObject({mcpIntegrationId: Handle})
const serverTag = 'MCP Servers > Capabilities'
const serverPath = '/mcp-servers/:mcpServerId/capabilities'
const serverParams = z.strictObject({mcpServerId: Handle})

/**
 * The capabilities of servers, as they were discovered. An integration switches a capability for all of its servers, a
 * server for itself.
 */
export const mcpCapabilities = [
  operation({
    id: 'mcp_integrations.list_capabilities',
    tag: integrationTag,
    method: 'GET',
    path: integrationPath,
    summary: 'List what the server of an MCP integration offers',
    scopes: mcpScopes('read'),
    params: integrationParams,
    query: McpCapabilitiesQuery,
    reply: capabilitiesOf(McpCapability),
    handle: listed,
  }),
  operation({
    id: 'mcp_integrations.update_capabilities',
    tag: integrationTag,
    method: 'PUT',
    path: integrationPath,
    summary: 'Switch capabilities of an MCP integration on or off for all its MCP servers, or approve what changed',
    scopes: mcpScopes('update'),
    audit: {resource: 'mcp-integration', action: 'update'},
    params: integrationParams,
    body: McpCapabilitiesUpdate,
    reply: Success,
    handle: updated,
  }),
  operation({
    id: 'mcp_servers.list_capabilities',
    tag: serverTag,
    method: 'GET',
    path: serverPath,
    summary: 'List what an MCP server offers',
    scopes: ['mcp_servers.read'],
    params: serverParams,
    query: McpCapabilitiesQuery,
    reply: capabilitiesOf(McpServerCapability),
    handle: serverListed,
  }),
  operation({
    id: 'mcp_servers.update_capabilities',
    tag: serverTag,
    method: 'PUT',
    path: serverPath,
    summary: 'Switch capabilities of an MCP server on or off',
    scopes: ['mcp_servers.update'],
    audit: {resource: 'mcp-server', action: 'update'},
    params: serverParams,
    body: McpServerCapabilitiesUpdate,
    reply: Success,
    handle: serverUpdated,
  }),
] as const

async function listed(call: OperationCall<typeof integrationParams, typeof McpCapabilitiesQuery>) {
  const integration = await reachMcpIntegration(call, call.params.mcpIntegrationId, 'read')
  const rows = await store.mcpCapabilities(call.db, integration.id)
  const views = rows.map(row => ({...view(row), created_at: row.created_at, last_updated_at: row.last_updated_at}))
  return pageOf(views, call.query)
}

async function updated(call: OperationCall<typeof integrationParams, undefined, typeof McpCapabilitiesUpdate>) {
  const {db, body, now} = call
  const integration = await reachMcpIntegration(call, call.params.mcpIntegrationId, 'update')
  const known = new Map((await store.mcpCapabilities(db, integration.id)).map(row => [keyOf(row), row]))
  for (const [at, {type, name, enabled, approved_hash}] of body.capabilities.entries()) {
    const row = known.get(keyOf({type, name}))
    if (!row) throw unknown(at, type, name)
    await store.updateMcpCapability(db, integration.id, row, {
      ...(enabled !== undefined && {enabled: enabled ? (1 as const) : (0 as const)}),
      ...(approved_hash !== undefined && approved(integration, row, approved_hash, at)),
      last_updated_at: now,
    })
  }
  call.auditTarget(integration.id, integration.workspace_id)
  return {success: true as const}
}

/** The columns of a pin in which a definition that was seen is approved. */
function approved(
  integration: Parameters<typeof pinRulesOf>[0],
  row: McpCapabilitiesTable,
  approved_hash: string,
  at: number,
) {
  const pin = store.pinOf(row)
  const after = pin && pinApproved(pin, approved_hash, pinRulesOf(integration))
  if (after) return store.pinColumns(after)
  throw invalid(
    `capabilities[${at}].approved_hash`,
    'names no definition that was seen of this capability: send the hash that its pin shows now',
  )
}

async function serverListed(call: OperationCall<typeof serverParams, typeof McpCapabilitiesQuery>) {
  const server = await reachMcpServer(call, call.params.mcpServerId)
  const own = new Map((await mcpServerCapabilities(call.db, server.id)).map(row => [keyOf(row), row.enabled === 1]))
  const rows = await store.mcpCapabilities(call.db, server.mcp_integration_id)
  const views = rows.map(row => {
    const {enabled: integration_enabled, ...rest} = view(row)
    return {...rest, enabled: integration_enabled && (own.get(keyOf(row)) ?? true), integration_enabled}
  })
  return pageOf(views, call.query)
}

async function serverUpdated(call: OperationCall<typeof serverParams, undefined, typeof McpServerCapabilitiesUpdate>) {
  const server = await reachMcpServer(call, call.params.mcpServerId)
  refuseVirtual(server, 'switches')
  const known = new Map((await store.mcpCapabilities(call.db, server.mcp_integration_id)).map(row => [keyOf(row), row]))
  for (const [at, {type, name, enabled}] of call.body.capabilities.entries()) {
    if (!known.has(keyOf({type, name}))) throw unknown(at, type, name)
    await putMcpServerCapability(call.db, {mcp_server_id: server.id, type, name, enabled: enabled ? 1 : 0})
  }
  call.auditTarget(server.id, server.workspace_id)
  return {success: true as const}
}

function unknown(at: number, type: CapabilityType, value: string): Refusal {
  return new Refusal('parent.not_found', {field: `capabilities[${at}].name`, object: type.replace('_', ' '), value})
}

function keyOf({type, name}: {readonly type: CapabilityType; readonly name: string}): string {
  return `${type} ${name}`
}

function view(row: McpCapabilitiesTable) {
  const {name, type, enabled, details} = row
  return {
    ...(JSON.parse(details) as CapabilityDetails),
    ...{name, type, enabled: enabled === 1, pin: pinView(store.pinOf(row))},
  }
}

/** One page of capabilities, with how many of each type there are in all; those that are gone do not count. */
function pageOf<Row extends {readonly type: CapabilityType; readonly enabled: boolean; readonly pin: PinView | null}>(
  rows: readonly Row[],
  {page, page_size, type, pin_state}: z.output<typeof McpCapabilitiesQuery>,
) {
  const there = rows.filter(({pin}) => stateOf(pin) !== 'gone')
  const count = (wanted: CapabilityType) => {
    const all = there.filter(row => row.type === wanted)
    return {total: all.length, enabled: all.filter(row => row.enabled).length}
  }
  const of_state = pin_state ? rows.filter(({pin}) => stateOf(pin) === pin_state) : there
  const matching = type ? of_state.filter(row => row.type === type) : of_state
  const counts = {
    tools: count('tool'),
    prompts: count('prompt'),
    resources: count('resource'),
    resource_templates: count('resource_template'),
  }
  const current = {current_page: page - 1, page_size}
  return {...mcpList(matching.slice((page - 1) * page_size, page * page_size), matching.length, current), counts}
}
