import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {newId} from '../../base/ids.ts'
import {isAllowed, ownWorkspace} from '../../identity/access.ts'
import {
  IntegrationCreate,
  IntegrationQuery,
  IntegrationRow,
  IntegrationUpdate,
  IntegrationView,
} from '../../schema/integrations.ts'
import {Handle} from '../../schema/names.ts'
import {Empty, list, listOf} from '../../schema/paging.ts'
import * as store from '../../store/integrations.ts'
import {globalAccess, providerSlugTaken} from '../../store/providers.ts'
import type {IntegrationsTable} from '../../store/tables/catalog.ts'
import {keepTags, readTags} from '../../store/tags.ts'
import {type OperationCall, operation} from '../operation.ts'
import {mappingsColumn, mappingsOf} from '../secret-mappings.ts'
import {freeSlug} from '../slugs.ts'
import {invalid, namedWorkspace} from '../tenancy.ts'
import {effectiveAccess, limitViews} from './access.ts'
import {credentialColumns, kindOf} from './credentials.ts'
import {makeDefaultProvider} from './default-provider.ts'
import {integrationScopes, reachIntegration} from './reach.ts'

const tag = 'Integrations'
const params = z.strictObject({slug: Handle})

/** Integrations: where credentials live. One is the organisation's, opened to workspaces, or a workspace's own. */
export const integrations = [
  operation({
    id: 'integrations.list',
    tag,
    method: 'GET',
    path: '/integrations',
    summary: 'List integrations',
    scopes: integrationScopes('list'),
    query: IntegrationQuery,
    reply: listOf(IntegrationRow),
    handle: listed,
  }),
  operation({
    id: 'integrations.create',
    tag,
    method: 'POST',
    path: '/integrations',
    summary: 'Create an integration',
    scopes: integrationScopes('create'),
    audit: {resource: 'integration', action: 'create'},
    body: IntegrationCreate,
    reply: z.strictObject({id: z.uuid(), slug: z.string()}),
    handle: created,
  }),
  operation({
    id: 'integrations.get',
    tag,
    method: 'GET',
    path: '/integrations/:slug',
    summary: 'Show an integration, its secrets masked',
    scopes: integrationScopes('read'),
    params,
    reply: IntegrationView,
    handle: shown,
  }),
  operation({
    id: 'integrations.update',
    tag,
    method: 'PUT',
    path: '/integrations/:slug',
    summary: 'Change an integration',
    scopes: integrationScopes('update'),
    audit: {resource: 'integration', action: 'update'},
    params,
    body: IntegrationUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'integrations.delete',
    tag,
    method: 'DELETE',
    path: '/integrations/:slug',
    summary: 'Archive an integration and the providers made of it',
    scopes: integrationScopes('delete'),
    audit: {resource: 'integration', action: 'delete'},
    params,
    reply: Empty,
    handle: archived,
  }),
] as const

async function listed(call: OperationCall<undefined, typeof IntegrationQuery>) {
  const {actor, db, query} = call
  const wanted = query.type === 'all' ? (['organisation', 'workspace'] as const) : [query.type]
  const types = wanted.filter(type => isAllowed(actor, [`${type}_integrations.list`]))
  if (!types.length)
    throw new Refusal('scope.missing', {scope: wanted.map(type => `${type}_integrations.list`).join(' or ')})
  const workspace = await namedWorkspace(call, query.workspace_id)
  const filter = {organisation_id: actor.organisation_id, types, workspace_id: workspace?.id, tags: query.tags}
  return list(await store.listIntegrations(db, filter, query), row)
}

async function created(call: OperationCall<undefined, undefined, typeof IntegrationCreate>) {
  const {actor, app, db, body, now} = call
  const type = ownWorkspace(actor) !== null || body.workspace_id !== undefined ? 'workspace' : 'organisation'
  if (!isAllowed(actor, [`${type}_integrations.create`]))
    throw new Refusal('scope.missing', {scope: `${type}_integrations.create`})
  const workspace = await namedWorkspace(call, body.workspace_id)
  const {organisation_id} = actor
  const default_slug = body.create_default_provider ? body.default_provider_slug : undefined
  if (default_slug && !workspace) throw invalid('default_provider_slug', 'takes effect with workspace_id alone')
  if (body.slug && (await store.integrationSlugTaken(db, organisation_id, body.slug)))
    throw taken('integration', body.slug)
  if (default_slug && workspace && (await providerSlugTaken(db, workspace.id, default_slug)))
    throw taken('provider', default_slug)
  const owner = {id: newId(), organisation_id, ai_provider_id: kindOf(body.ai_provider_id, 'ai_provider_id')}
  const integration: IntegrationsTable = {
    ...owner,
    slug:
      body.slug ?? (await freeSlug('', body.name, 10, slug => store.integrationSlugTaken(db, organisation_id, slug))),
    workspace_id: workspace?.id ?? null,
    name: body.name,
    description: body.description ?? null,
    key_sealed: null,
    key_masked: null,
    configurations: '{}',
    configurations_sealed: null,
    tags: keepTags(body.tags ?? {}),
    allow_all_models: 1,
    global_access_enabled: 0,
    global_workspace_access: null,
    trusts_host: 0,
    is_hidden: 0,
    secret_mappings: await mappingsColumn(
      db,
      {organisation_id, workspace_id: workspace?.id ?? null},
      body.secret_mappings ?? [],
    ),
    status: 'active',
    created_at: now,
    last_updated_at: now,
    ...credentialColumns(app, owner, {...body, configurations: body.configurations ?? {}}, actor),
  }
  await store.insertIntegration(db, integration)
  if (workspace && body.create_default_provider)
    await makeDefaultProvider(db, integration, {workspace_id: workspace.id, slug: default_slug, now})
  call.auditTarget(integration.id, integration.workspace_id)
  return {id: integration.id, slug: integration.slug}
}

async function shown(call: OperationCall<typeof params>) {
  const integration = await reachIntegration(call, call.params.slug, 'read')
  const access = await effectiveAccess(call.db, integration)
  return {
    ...row(integration),
    masked_key: integration.key_masked,
    configurations: JSON.parse(integration.configurations) as Record<string, unknown>,
    global_workspace_access_settings: {
      enabled: integration.global_access_enabled === 1,
      ...limitViews(globalAccess(integration.global_workspace_access), call.now),
    },
    allow_all_models: integration.allow_all_models === 1,
    workspace_count: access.filter(({enabled}) => enabled).length,
    secret_mappings: mappingsOf(integration.secret_mappings),
    pricing_adjustments: null,
  }
}

async function updated(call: OperationCall<typeof params, undefined, typeof IntegrationUpdate>) {
  const {actor, app, db, body, now} = call
  const before = await reachIntegration(call, call.params.slug, 'update')
  await store.updateIntegration(db, before.id, {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.description !== undefined && {description: body.description}),
    ...(body.tags !== undefined && {tags: keepTags(body.tags)}),
    ...(body.secret_mappings !== undefined && {
      secret_mappings: await mappingsColumn(db, before, body.secret_mappings),
    }),
    ...credentialColumns(app, before, body, actor, before),
    last_updated_at: now,
  })
  call.auditTarget(before.id, before.workspace_id)
  return {}
}

async function archived(call: OperationCall<typeof params>) {
  const integration = await reachIntegration(call, call.params.slug, 'delete')
  await store.archiveIntegration(call.db, integration.id, call.now)
  call.auditTarget(integration.id, integration.workspace_id)
  return {}
}

function row(integration: IntegrationsTable): z.input<typeof IntegrationRow> {
  const {
    id,
    organisation_id,
    workspace_id,
    ai_provider_id,
    name,
    status,
    created_at,
    last_updated_at,
    slug,
    description,
    tags,
  } = integration
  const type = workspace_id === null ? 'organisation' : 'workspace'
  return {
    ...{
      id,
      organisation_id,
      workspace_id,
      type,
      ai_provider_id,
      name,
      status,
      created_at,
      last_updated_at,
      slug,
      description,
    },
    tags: readTags(tags),
    object: 'integration',
  }
}

function taken(object: string, value: string): Refusal {
  return new Refusal('row.exists', {object, field: 'slug', value})
}
