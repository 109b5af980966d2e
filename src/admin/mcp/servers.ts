import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {newId} from '../../base/ids.ts'
import {authorOf} from '../../identity/subject.ts'
import {McpMetadata, mcpList, mcpListOf} from '../../schema/mcp-integrations.ts'
import {
  McpServerCreate,
  McpServerRow,
  McpServersQuery,
  McpServerUpdate,
  McpServerView,
} from '../../schema/mcp-servers.ts'
import {Handle} from '../../schema/names.ts'
import {Empty} from '../../schema/paging.ts'
import {deleteMcpConnectionsAt} from '../../store/mcp-connections.ts'
import {findMcpIntegration, insertMcpIntegration, updateMcpIntegration} from '../../store/mcp-integrations.ts'
import * as store from '../../store/mcp-servers.ts'
import type {McpServersTable} from '../../store/tables/registry.ts'
import {mcpBase} from '../link-base.ts'
import {type OperationCall, operation} from '../operation.ts'
import type {AdminServices} from '../services.ts'
import {freeSlug} from '../slugs.ts'
import {type CallerScope, found, invalid, namedWorkspace, visibilityOf, workspaceOf} from '../tenancy.ts'
import {briefMetadata, metadataOf} from './integrations.ts'
import {emptyIntegration, virtualColumn, virtualViews} from './virtual.ts'
import {isMcpOpenTo} from './workspaces.ts'

const tag = 'MCP Servers'
const path = '/mcp-servers'
const params = z.strictObject({mcpServerId: Handle})

/** MCP servers: a workspace's use of an MCP integration. */
export const mcpServers = [
  operation({
    id: 'mcp_servers.list',
    tag,
    method: 'GET',
    path,
    summary: 'List MCP servers',
    scopes: ['mcp_servers.list'],
    query: McpServersQuery,
    reply: mcpListOf(McpServerRow),
    handle: listed,
  }),
  operation({
    id: 'mcp_servers.create',
    tag,
    method: 'POST',
    path,
    summary: 'Create an MCP server of an integration that the workspace may use, or of tools of other servers',
    scopes: ['mcp_servers.create'],
    audit: {resource: 'mcp-server', action: 'create'},
    body: McpServerCreate,
    reply: z.strictObject({id: z.uuid(), slug: z.string()}),
    handle: created,
  }),
  operation({
    id: 'mcp_servers.get',
    tag,
    method: 'GET',
    path: `${path}/:mcpServerId`,
    summary: 'Show an MCP server and the integration it is made of',
    scopes: ['mcp_servers.read'],
    params,
    reply: McpServerView,
    async handle(call) {
      const server = await reachMcpServer(call, call.params.mcpServerId)
      return details(server, await virtualViews(call.db, [server]))
    },
  }),
  operation({
    id: 'mcp_servers.update',
    tag,
    method: 'PUT',
    path: `${path}/:mcpServerId`,
    summary: 'Change the name or description of an MCP server, or the tools of a virtual one',
    scopes: ['mcp_servers.update'],
    audit: {resource: 'mcp-server', action: 'update'},
    params,
    body: McpServerUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'mcp_servers.delete',
    tag,
    method: 'DELETE',
    path: `${path}/:mcpServerId`,
    summary: 'Delete an MCP server',
    scopes: ['mcp_servers.delete'],
    audit: {resource: 'mcp-server', action: 'delete'},
    params,
    reply: Empty,
    handle: deleted,
  }),
  operation({
    id: 'mcp_servers.get_metadata',
    tag,
    method: 'GET',
    path: `${path}/:mcpServerId/metadata`,
    summary: 'Show what an MCP server told of itself',
    scopes: ['mcp_servers.read'],
    params,
    reply: McpMetadata,
    handle: async call => {
      const {integration_metadata} = await reachMcpServer(call, call.params.mcpServerId)
      return metadataOf({metadata: integration_metadata})
    },
  }),
] as const

/**
 * The server that a call names, where its caller reaches it: an admin all of its organisation's, another its
 * workspace's.
 */
export async function reachMcpServer({actor, db}: CallerScope, named: string): Promise<store.McpServerRow> {
  const filter = {...visibilityOf({actor}), named}
  return found(await store.findMcpServer(db, filter), 'MCP server')
}

async function listed(call: OperationCall<undefined, typeof McpServersQuery>) {
  const {actor, app, db, query} = call
  const workspace = await namedWorkspace(call, query.workspace_id)
  const filter = {
    organisation_id: actor.organisation_id,
    workspace_id: workspace?.id,
    named: query.id,
    search: query.search,
  }
  const {rows, total} = await store.listMcpServers(db, filter, query)
  const views = await virtualViews(db, rows)
  return mcpList(
    rows.map(each => row(app, each, views)),
    total,
    query,
  )
}

async function created(call: OperationCall<undefined, undefined, typeof McpServerCreate>) {
  const {actor, db, body, now} = call
  const workspace = await workspaceOf(call, body.workspace_id)
  const {organisation_id} = actor
  const integration = body.mcp_integration_id === undefined ? null : await openIntegration(call, workspace.id)
  const virtual = body.virtual ? await virtualColumn(call, workspace.id, body.virtual) : null
  const taken = async (slug: string) => (await store.findMcpServer(db, {organisation_id, named: slug})) !== undefined
  if (body.slug && (await taken(body.slug)))
    throw new Refusal('row.exists', {object: 'MCP server', field: 'slug', value: body.slug})
  const owner_id = authorOf(actor.subject)
  const {name} = body
  const empty =
    integration ?? emptyIntegration({organisation_id, workspace_id: workspace.id, name, owner_id, created_at: now})
  if (!integration) await insertMcpIntegration(db, empty)
  const server: McpServersTable = {
    id: newId(),
    organisation_id,
    workspace_id: workspace.id,
    mcp_integration_id: empty.id,
    slug: body.slug ?? (await freeSlug('', body.name, 10, taken)),
    name: body.name,
    description: body.description ?? null,
    default_user_access: 'allow',
    owner_id,
    virtual,
    status: 'active',
    created_at: now,
    last_updated_at: now,
  }
  await store.insertMcpServer(db, server)
  call.auditTarget(server.id, server.workspace_id)
  return {id: server.id, slug: server.slug}
}

async function openIntegration(
  {actor, db, body: {mcp_integration_id: value = ''}}: OperationCall<undefined, undefined, typeof McpServerCreate>,
  workspace_id: string,
) {
  const found = await findMcpIntegration(db, actor.organisation_id, value)
  if (found && (await isMcpOpenTo(db, found, workspace_id))) return found
  throw new Refusal('parent.not_found', {field: 'mcp_integration_id', object: 'MCP integration', value})
}

async function updated(call: OperationCall<typeof params, undefined, typeof McpServerUpdate>) {
  const {db, body, now} = call
  const {id, workspace_id, virtual} = await reachMcpServer(call, call.params.mcpServerId)
  if (body.virtual && !virtual) throw invalid('virtual', 'is for virtual servers; this one is of an integration')
  await store.updateMcpServer(db, id, {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.description !== undefined && {description: body.description}),
    ...(body.virtual && {virtual: await virtualColumn(call, workspace_id, body.virtual)}),
    last_updated_at: now,
  })
  call.auditTarget(id, workspace_id)
  return {}
}

async function deleted(call: OperationCall<typeof params>) {
  const {id, workspace_id, virtual, mcp_integration_id} = await reachMcpServer(call, call.params.mcpServerId)
  const archived = {status: 'archived', last_updated_at: call.now} as const
  await store.updateMcpServer(call.db, id, archived)
  if (virtual) await updateMcpIntegration(call.db, mcp_integration_id, archived)
  await deleteMcpConnectionsAt(call.db, id)
  call.auditTarget(id, workspace_id)
  return {}
}

type Views = Awaited<ReturnType<typeof virtualViews>>

function brief(server: store.McpServerRow, views: Views) {
  const {id, name, description, created_at, last_updated_at, slug, workspace_id} = server
  return {
    ...{id, name, description, created_at, last_updated_at, slug, workspace_id},
    status: 'active' as const,
    mcp_integration_id: server.virtual ? null : server.mcp_integration_id,
    ...(views.has(id) && {virtual: views.get(id)}),
  }
}

function row(app: AdminServices, server: store.McpServerRow, views: Views): z.input<typeof McpServerRow> {
  const of_integration = server.virtual ? null : server
  return {
    ...brief(server, views),
    organisation_id: server.organisation_id,
    owner_id: server.owner_id ?? 'operator',
    mcp_integration_slug: of_integration?.integration_slug ?? null,
    mcp_integration_url: of_integration?.integration_url ?? null,
    auth_type: of_integration?.integration_auth_type ?? null,
    workspace_name: server.workspace_name,
    workspace_slug: server.workspace_slug,
    url: `${mcpBase(app)}/${server.slug}/mcp`,
    metadata: briefMetadata({metadata: server.integration_metadata}),
  }
}

function details(server: store.McpServerRow, views: Views): z.input<typeof McpServerView> {
  return {
    ...brief(server, views),
    mcp_integration_details: server.virtual
      ? null
      : {
          id: server.mcp_integration_id,
          slug: server.integration_slug,
          status: server.integration_status,
          configurations: JSON.parse(server.integration_configurations),
          url: server.integration_url,
          transport: server.integration_transport,
          auth_type: server.integration_auth_type,
        },
  }
}
