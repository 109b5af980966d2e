import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {newId} from '../../base/ids.ts'
import {isAllowed, ownWorkspace} from '../../identity/access.ts'
import {authorOf} from '../../identity/subject.ts'
import {
  McpIntegrationCreate,
  McpIntegrationRow,
  McpIntegrationsQuery,
  McpIntegrationUpdate,
  McpIntegrationView,
  McpMetadata,
  type McpMetadataBrief,
  mcpList,
  mcpListOf,
  UNSYNCED,
} from '../../schema/mcp-integrations.ts'
import {Handle} from '../../schema/names.ts'
import {Empty} from '../../schema/paging.ts'
import {forgetExternalPeople} from '../../store/mcp-external-sign-ins.ts'
import * as store from '../../store/mcp-integrations.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import {type OperationCall, operation} from '../operation.ts'
import {checkMappedPlace, mappingsColumn, mappingsOf} from '../secret-mappings.ts'
import {freeSlug} from '../slugs.ts'
import {type CallerScope, found, isAdmin, namedWorkspace} from '../tenancy.ts'
import {configurationColumns, urlColumns} from './connection.ts'
import {changesExternalAuth} from './external-auth.ts'
import {mcpScopes, reachMcpIntegration} from './reach.ts'
import {requestSync} from './request-sync.ts'
import {effectiveMcpAccess, globalAccess} from './workspaces.ts'

const tag = 'MCP Integrations'
const path = '/mcp-integrations'
const params = z.strictObject({mcpIntegrationId: Handle})

/**
 * MCP integrations: servers of tools outside, of the organisation or of one workspace. Workspaces use them by MCP
 * servers.
 */
export const mcpIntegrations = [
  operation({
    id: 'mcp_integrations.list',
    tag,
    method: 'GET',
    path,
    summary: 'List MCP integrations',
    scopes: mcpScopes('list'),
    query: McpIntegrationsQuery,
    reply: mcpListOf(McpIntegrationRow),
    handle: listed,
  }),
  operation({
    id: 'mcp_integrations.create',
    tag,
    method: 'POST',
    path,
    summary: 'Create an MCP integration',
    scopes: mcpScopes('create'),
    audit: {resource: 'mcp-integration', action: 'create'},
    body: McpIntegrationCreate,
    reply: z.strictObject({id: z.uuid(), slug: z.string()}),
    handle: created,
  }),
  operation({
    id: 'mcp_integrations.get',
    tag,
    method: 'GET',
    path: `${path}/:mcpIntegrationId`,
    summary: 'Show an MCP integration, its secrets masked',
    scopes: mcpScopes('read'),
    params,
    reply: McpIntegrationView,
    handle: shown,
  }),
  operation({
    id: 'mcp_integrations.update',
    tag,
    method: 'PUT',
    path: `${path}/:mcpIntegrationId`,
    summary: 'Change an MCP integration',
    scopes: mcpScopes('update'),
    audit: {resource: 'mcp-integration', action: 'update'},
    params,
    body: McpIntegrationUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'mcp_integrations.delete',
    tag,
    method: 'DELETE',
    path: `${path}/:mcpIntegrationId`,
    summary: 'Delete an MCP integration and the MCP servers made of it',
    scopes: mcpScopes('delete'),
    audit: {resource: 'mcp-integration', action: 'delete'},
    params,
    reply: Empty,
    handle: deleted,
  }),
  operation({
    id: 'mcp_integrations.get_metadata',
    tag: 'MCP Integrations > Metadata',
    method: 'GET',
    path: `${path}/:mcpIntegrationId/metadata`,
    summary: 'Show what the server of an MCP integration told of itself',
    scopes: mcpScopes('read'),
    params,
    reply: McpMetadata,
    handle: async call => metadataOf(await reachMcpIntegration(call, call.params.mcpIntegrationId, 'read')),
  }),
] as const

async function listed(call: OperationCall<undefined, typeof McpIntegrationsQuery>) {
  const {actor, db, query} = call
  requireOwn(call, query.organisation_id)
  const wanted = query.type === 'all' ? (['organisation', 'workspace'] as const) : [query.type]
  const types = wanted.filter(type => isAllowed(actor, [`${type}_mcp_integrations.list`]))
  if (!types.length)
    throw new Refusal('scope.missing', {scope: wanted.map(type => `${type}_mcp_integrations.list`).join(' or ')})
  const workspace = await namedWorkspace(call, query.workspace_id)
  const filter = {organisation_id: actor.organisation_id, types, workspace_id: workspace?.id, search: query.search}
  const {total, rows} = await store.listMcpIntegrations(db, filter, query)
  const data = []
  for (const each of rows) {
    const open = (await effectiveMcpAccess(db, each)).filter(({enabled}) => enabled)
    data.push({...view(each), workspaces_count: open.length, metadata: briefMetadata(each)})
  }
  return mcpList(data, total, query)
}

async function created(call: OperationCall<undefined, undefined, typeof McpIntegrationCreate>) {
  const {actor, app, db, body, now} = call
  const type = ownWorkspace(actor) !== null || body.workspace_id !== undefined ? 'workspace' : 'organisation'
  if (!isAllowed(actor, [`${type}_mcp_integrations.create`]))
    throw new Refusal('scope.missing', {scope: `${type}_mcp_integrations.create`})
  requireOwn(call, body.organisation_id)
  const workspace = await namedWorkspace(call, body.workspace_id)
  const {organisation_id} = actor
  const taken = async (slug: string) => (await store.findMcpIntegration(db, organisation_id, slug)) !== undefined
  if (body.slug && (await taken(body.slug)))
    throw new Refusal('row.exists', {object: 'MCP integration', field: 'slug', value: body.slug})
  const owner = {id: newId(), organisation_id, workspace_id: workspace?.id ?? null}
  checkMappedPlace({given: body.secret_mappings, before: undefined, moved: null, place: 'url'}, actor)
  const integration: McpIntegrationsTable = {
    ...owner,
    slug: body.slug ?? (await freeSlug('', body.name, 10, taken)),
    name: body.name,
    description: body.description ?? null,
    auth_type: body.auth_type,
    transport: body.transport,
    configurations: '{}',
    configurations_sealed: null,
    ...configurationColumns(app, owner, body),
    ...urlColumns(app, owner, body.url, isAdmin(actor)),
    secret_mappings: await mappingsColumn(db, owner, body.secret_mappings ?? []),
    global_access_enabled: 0,
    metadata: null,
    owner_id: authorOf(actor.subject),
    status: 'active',
    created_at: now,
    last_updated_at: now,
  }
  changesExternalAuth(call, integration)
  await store.insertMcpIntegration(db, integration)
  await requestSync(call, integration.id)
  call.auditTarget(integration.id, integration.workspace_id)
  return {id: integration.id, slug: integration.slug}
}

async function shown(call: OperationCall<typeof params>) {
  const integration = await reachMcpIntegration(call, call.params.mcpIntegrationId, 'read')
  return {...view(integration), global_workspace_access: globalAccess(integration)}
}

async function updated(call: OperationCall<typeof params, undefined, typeof McpIntegrationUpdate>) {
  const {actor, app, db, body, now} = call
  const before = await reachMcpIntegration(call, call.params.mcpIntegrationId, 'update')
  const address = body.url === undefined ? {} : urlColumns(app, before, body.url, isAdmin(actor), before)
  const moved = body.url === undefined || body.url === before.url ? null : 'url'
  checkMappedPlace({given: body.secret_mappings, before: before.secret_mappings, moved, place: 'url'}, actor)
  const of_configurations = configurationColumns(app, before, body, before)
  // subjects of another provider are other people
  if (changesExternalAuth(call, {...before, ...of_configurations}, before)) await forgetExternalPeople(db, before.id)
  await store.updateMcpIntegration(db, before.id, {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.description !== undefined && {description: body.description}),
    ...(body.auth_type !== undefined && {auth_type: body.auth_type}),
    ...(body.transport !== undefined && {transport: body.transport}),
    ...(body.secret_mappings !== undefined && {
      secret_mappings: await mappingsColumn(db, before, body.secret_mappings),
    }),
    ...address,
    ...of_configurations,
    last_updated_at: now,
  })
  const {url, auth_type, transport, configurations, secret_mappings} = body
  if ([url, auth_type, transport, configurations, secret_mappings].some(each => each !== undefined))
    await requestSync(call, before.id)
  call.auditTarget(before.id, before.workspace_id)
  return {}
}

async function deleted(call: OperationCall<typeof params>) {
  const integration = await reachMcpIntegration(call, call.params.mcpIntegrationId, 'delete')
  await store.archiveMcpIntegration(call.db, integration.id, call.now)
  call.auditTarget(integration.id, integration.workspace_id)
  return {}
}

function requireOwn({actor}: CallerScope, organisation_id: string | undefined) {
  found(organisation_id === undefined || organisation_id === actor.organisation_id || undefined, 'organisation')
}

export function metadataOf({metadata}: Pick<McpIntegrationsTable, 'metadata'>): McpMetadata {
  return metadata === null ? UNSYNCED : {...UNSYNCED, ...JSON.parse(metadata)}
}

export function briefMetadata(row: Pick<McpIntegrationsTable, 'metadata'>): z.input<typeof McpMetadataBrief> {
  const {capability_flags, sync_error, website_url, sync_warnings, ...brief} = metadataOf(row)
  return brief
}

function view(row: McpIntegrationsTable) {
  const {id, name, description, owner_id, url, auth_type, transport, slug, workspace_id, created_at, last_updated_at} =
    row
  return {
    ...{id, name, description, url, auth_type, transport, slug, workspace_id, created_at, last_updated_at},
    owner_id: owner_id ?? 'operator',
    status: 'active' as const,
    type: workspace_id === null ? ('organisation' as const) : ('workspace' as const),
    configurations: JSON.parse(row.configurations) as Record<string, unknown>,
    secret_mappings: mappingsOf(row.secret_mappings),
  }
}
