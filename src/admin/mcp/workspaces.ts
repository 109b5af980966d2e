import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {McpAccessList, McpAccessQuery, McpAccessUpdate} from '../../schema/mcp-integrations.ts'
import {Handle} from '../../schema/names.ts'
import {Empty} from '../../schema/paging.ts'
import type {Db} from '../../store/database.ts'
import {workspacesOf} from '../../store/integrations.ts'
import * as store from '../../store/mcp-integrations.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import {type OperationCall, operation} from '../operation.ts'
import {invalid} from '../tenancy.ts'
import {mcpScopes, reachMcpIntegration} from './reach.ts'

const tag = 'MCP Integrations > Workspaces'
const path = '/mcp-integrations/:mcpIntegrationId/workspaces'
const params = z.strictObject({mcpIntegrationId: Handle})

/** Which workspaces may make servers of an MCP integration. */
export const mcpIntegrationWorkspaces = [
  operation({
    id: 'mcp_integrations.list_workspaces',
    tag,
    method: 'GET',
    path,
    summary: 'List the workspaces that have an MCP integration, or had it',
    scopes: mcpScopes('read'),
    params,
    query: McpAccessQuery,
    reply: McpAccessList,
    handle: listed,
  }),
  operation({
    id: 'mcp_integrations.update_workspaces',
    tag,
    method: 'PUT',
    path,
    summary: 'Open an MCP integration to workspaces, or close it',
    scopes: mcpScopes('update'),
    audit: {resource: 'mcp-integration', action: 'update'},
    params,
    body: McpAccessUpdate,
    reply: Empty,
    handle: updated,
  }),
] as const

/**
 * The access of every active workspace to an integration, by its own row or by the row for all; those with neither are
 * left out.
 */
export async function effectiveMcpAccess(db: Db, integration: McpIntegrationsTable) {
  const own = new Map((await store.mcpIntegrationWorkspaces(db, integration.id)).map(row => [row.workspace_id, row]))
  const {created_at, last_updated_at} = integration
  return (await reachable(db, integration)).flatMap(({id}) => {
    const row = own.get(id)
    if (!row && integration.workspace_id === null && !integration.global_access_enabled) return []
    const {enabled, ...times} = row ?? {enabled: 1, created_at, last_updated_at}
    return [
      {
        id,
        enabled: enabled === 1,
        status: 'active',
        created_at: times.created_at,
        last_updated_at: times.last_updated_at,
      },
    ]
  })
}

/** True when a workspace may use an integration now. */
export async function isMcpOpenTo(db: Db, integration: McpIntegrationsTable, workspace_id: string): Promise<boolean> {
  return (await effectiveMcpAccess(db, integration)).some(({id, enabled}) => id === workspace_id && enabled)
}

/** The default for workspaces without a row of their own; null when the integration is of one workspace. */
export function globalAccess({workspace_id, global_access_enabled}: McpIntegrationsTable): {enabled: boolean} | null {
  return workspace_id === null ? {enabled: global_access_enabled === 1} : null
}

async function listed(call: OperationCall<typeof params, typeof McpAccessQuery>) {
  const integration = await reachMcpIntegration(call, call.params.mcpIntegrationId, 'read')
  const rows = await effectiveMcpAccess(call.db, integration)
  const global_workspace_access = globalAccess(integration)
  if (call.query.version === undefined) return {workspaces: rows, global_workspace_access}
  return {data: rows, total: rows.length, global_workspace_access}
}

async function updated(call: OperationCall<typeof params, undefined, typeof McpAccessUpdate>) {
  const {db, body, now} = call
  const integration = await reachMcpIntegration(call, call.params.mcpIntegrationId, 'update')
  const wanted = resolved(body.workspaces, await reachable(db, integration))
  const before = new Map((await store.mcpIntegrationWorkspaces(db, integration.id)).map(row => [row.workspace_id, row]))
  if (body.override_existing_workspace_access)
    await store.removeMcpIntegrationWorkspaces(db, integration.id, [...wanted.keys()])
  for (const [workspace_id, enabled] of wanted) {
    await store.putMcpIntegrationWorkspace(db, {
      mcp_integration_id: integration.id,
      workspace_id,
      enabled: enabled ? 1 : 0,
      created_at: before.get(workspace_id)?.created_at ?? now,
      last_updated_at: now,
    })
  }
  if (body.global_workspace_access && integration.workspace_id !== null)
    throw invalid(
      'global_workspace_access',
      'belongs to integrations of the organisation; this one is of one workspace',
    )
  await store.updateMcpIntegration(db, integration.id, {
    ...(body.global_workspace_access !== undefined && {
      global_access_enabled: body.global_workspace_access?.enabled ? 1 : 0,
    }),
    last_updated_at: now,
  })
  call.auditTarget(integration.id, integration.workspace_id)
  return {}
}

/** The given workspaces by id; each must be one the integration can be opened to, and be named once. */
function resolved(
  given: readonly {readonly id: string; readonly enabled: boolean}[],
  workspaces: readonly {readonly id: string; readonly slug: string}[],
): Map<string, boolean> {
  const wanted = new Map<string, boolean>()
  for (const [at, {id, enabled}] of given.entries()) {
    const field = `workspaces[${at}].id`
    const workspace = workspaces.find(each => each.id === id || each.slug === id)
    if (!workspace) throw new Refusal('parent.not_found', {field, object: 'workspace', value: id})
    if (wanted.has(workspace.id)) throw invalid(field, 'names a workspace that stands in the list already')
    wanted.set(workspace.id, enabled)
  }
  return wanted
}

async function reachable(db: Db, {organisation_id, workspace_id}: McpIntegrationsTable) {
  const all = await workspacesOf(db, organisation_id)
  return workspace_id === null ? all : all.filter(({id}) => id === workspace_id)
}
