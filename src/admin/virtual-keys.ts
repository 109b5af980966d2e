import {z} from 'zod'
import {newId} from '../base/ids.ts'
import {newerSettings} from '../providers/configurations.ts'
import {Empty, listOf} from '../schema/paging.ts'
import {ProviderQuery, WorkspaceQuery} from '../schema/providers.ts'
import {VirtualKeyCreate, VirtualKeyUpdate, VirtualKeyView} from '../schema/virtual-keys.ts'
import {insertIntegration, integrationById, updateIntegration} from '../store/integrations.ts'
import {insertProvider, type ProviderRow, updateProvider} from '../store/providers.ts'
import type {IntegrationsTable} from '../store/tables/catalog.ts'
import {credentialColumns, kindOf} from './integrations/credentials.ts'
import type {EntityLimitStatus} from './limit-status.ts'
import {type OperationCall, operation} from './operation.ts'
import {archived, changedColumns, commonView, listed, newProvider, params, reachProvider, shown} from './providers.ts'
import {mappingsColumn, mappingsOf} from './secret-mappings.ts'
import {invalid, workspaceOf} from './tenancy.ts'

const tag = 'Virtual-keys'

/**
 * Virtual keys: providers under their older name, each made with a credential of its own, kept in an integration that
 * is hidden.
 */
export const virtualKeys = [
  operation({
    id: 'virtual_keys.list',
    tag,
    method: 'GET',
    path: '/virtual-keys',
    summary: 'List virtual keys',
    scopes: ['virtual_keys.list'],
    query: ProviderQuery,
    reply: listOf(VirtualKeyView),
    handle: call => listed(call, view),
  }),
  operation({
    id: 'virtual_keys.create',
    tag,
    method: 'POST',
    path: '/virtual-keys',
    summary: 'Create a virtual key',
    scopes: ['virtual_keys.create'],
    audit: {resource: 'virtual-key', action: 'create'},
    body: VirtualKeyCreate,
    reply: z.strictObject({success: z.literal(true), data: z.strictObject({slug: z.string()})}),
    handle: created,
  }),
  operation({
    id: 'virtual_keys.get',
    tag,
    method: 'GET',
    path: '/virtual-keys/:slug',
    summary: 'Show a virtual key',
    scopes: ['virtual_keys.read'],
    params,
    query: WorkspaceQuery,
    reply: VirtualKeyView,
    handle: call => shown(call, 'virtual key', view),
  }),
  operation({
    id: 'virtual_keys.update',
    tag,
    method: 'PUT',
    path: '/virtual-keys/:slug',
    summary: 'Change a virtual key',
    scopes: ['virtual_keys.update'],
    audit: {resource: 'virtual-key', action: 'update'},
    params,
    query: WorkspaceQuery,
    body: VirtualKeyUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'virtual_keys.delete',
    tag,
    method: 'DELETE',
    path: '/virtual-keys/:slug',
    summary: 'Archive a virtual key',
    scopes: ['virtual_keys.delete'],
    audit: {resource: 'virtual-key', action: 'delete'},
    params,
    query: WorkspaceQuery,
    reply: Empty,
    handle: call => archived(call, 'virtual key'),
  }),
] as const

async function created(call: OperationCall<undefined, undefined, typeof VirtualKeyCreate>) {
  const {actor, app, db, body, now} = call
  const {id: workspace_id, organisation_id} = await workspaceOf(call, body.workspace_id)
  const owner = {id: newId(), organisation_id, ai_provider_id: kindOf(body.provider, 'provider')}
  const configurations = {...newerSettings(body), ...body.model_config}
  const hidden: IntegrationsTable = {
    ...owner,
    slug: `virtual-key-${owner.id}`,
    workspace_id,
    name: body.name,
    description: null,
    key_sealed: null,
    key_masked: null,
    configurations: '{}',
    configurations_sealed: null,
    tags: '{}',
    allow_all_models: 1,
    global_access_enabled: 0,
    global_workspace_access: null,
    trusts_host: 0,
    is_hidden: 1,
    secret_mappings: await mappingsColumn(db, {organisation_id, workspace_id}, body.secret_mappings ?? []),
    status: 'active',
    created_at: now,
    last_updated_at: now,
    ...credentialColumns(app, {...owner, is_hidden: 1}, {...body, configurations}, actor),
  }
  const row = await newProvider(db, hidden, {workspace_id, is_virtual_key: 1, slug: body.slug, fields: body, now})
  await insertIntegration(db, hidden)
  await insertProvider(db, row)
  call.auditTarget(row.id, workspace_id)
  return {success: true as const, data: {slug: row.slug}}
}

async function updated(call: OperationCall<typeof params, typeof WorkspaceQuery, typeof VirtualKeyUpdate>) {
  const {db, body, now} = call
  const before = await reachProvider(
    call,
    call.params.slug,
    call.query.workspace_id ?? body.workspace_id,
    'virtual key',
  )
  await changeCredentials(call, before)
  await updateProvider(db, before.id, changedColumns(before, body, now))
  call.auditTarget(before.id, before.workspace_id)
  return {}
}

/**
 * The credential of a virtual key is its own; that of a provider made of a shared integration is changed there, by
 * those who may.
 */
async function changeCredentials(
  {actor, app, db, body, now}: OperationCall<typeof params, typeof WorkspaceQuery, typeof VirtualKeyUpdate>,
  row: ProviderRow,
) {
  const given = (['key', 'deploymentConfig', 'model_config', 'secret_mappings'] as const).filter(
    field => body[field] !== undefined,
  )
  if (!given.length) return
  if (!row.is_hidden)
    throw invalid(given[0]!, `belongs to the integration ${row.integration_slug} and is changed there`)
  const integration = (await integrationById(db, row.integration_id))!
  const shown = JSON.parse(integration.configurations) as Record<string, unknown>
  const settings = {...(body.model_config ?? shown), ...newerSettings(body)}
  const configurations = given.some(field => field === 'deploymentConfig' || field === 'model_config')
    ? settings
    : undefined
  const columns = credentialColumns(app, integration, {...body, configurations}, actor, integration)
  const mappings = body.secret_mappings && {
    secret_mappings: await mappingsColumn(db, integration, body.secret_mappings),
  }
  await updateIntegration(db, integration.id, {...columns, ...mappings, last_updated_at: now})
}

function view(row: ProviderRow, now: string, standing: EntityLimitStatus): z.input<typeof VirtualKeyView> {
  return {
    ...commonView(row, now, standing),
    provider: row.ai_provider_id,
    model_config: row.is_hidden ? (JSON.parse(row.configurations) as Record<string, unknown>) : {},
    ...(row.is_hidden && {masked_key: row.key_masked}),
    secret_mappings: mappingsOf(row.secret_mappings),
    object: 'virtual-key',
  }
}
