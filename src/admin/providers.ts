import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {changedRateLimits, changedUsageLimits} from '../schema/limit-changes.ts'
import {keepRateLimits, keepUsageLimits, rateLimitViews, reactivates} from '../schema/limits.ts'
import {Handle} from '../schema/names.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import {
  type ProviderChanges,
  ProviderCreate,
  type ProviderFields,
  ProviderQuery,
  ProviderUpdate,
  ProviderView,
  WorkspaceQuery,
} from '../schema/providers.ts'
import type {Db} from '../store/database.ts'
import {findIntegration, integrationById, isOpenTo} from '../store/integrations.ts'
import * as store from '../store/providers.ts'
import type {IntegrationsTable, ProvidersTable} from '../store/tables/catalog.ts'
import {keepTags, readTags} from '../store/tags.ts'
import {placeColumns} from './integrations/row-places.ts'
import {type Budgeted, type EntityLimitStatus as BudgetStanding, standingOf, standingsOf} from './limit-status.ts'
import {type OperationCall, operation} from './operation.ts'
import {freeSlug} from './slugs.ts'
import {type CallerScope, found, invalid, namedWorkspace, workspaceOf} from './tenancy.ts'

const tag = 'Providers'
export const params = z.strictObject({slug: Handle})
const scopes = (verb: string) => [`providers.${verb}`, `virtual_keys.${verb}`]
const identity = z.strictObject({id: z.uuid(), slug: z.string()})

/** Providers: a workspace's use of an integration, called `@slug`. */
export const providers = [
  operation({
    id: 'providers.list',
    tag,
    method: 'GET',
    path: '/providers',
    summary: 'List providers',
    scopes: scopes('list'),
    query: ProviderQuery,
    reply: listOf(ProviderView),
    handle: call => listed(call, view),
  }),
  operation({
    id: 'providers.create',
    tag,
    method: 'POST',
    path: '/providers',
    summary: 'Create a provider of an integration',
    scopes: scopes('create'),
    audit: {resource: 'provider', action: 'create'},
    body: ProviderCreate,
    reply: identity,
    handle: created,
  }),
  operation({
    id: 'providers.get',
    tag,
    method: 'GET',
    path: '/providers/:slug',
    summary: 'Show a provider',
    scopes: scopes('read'),
    params,
    query: WorkspaceQuery,
    reply: ProviderView,
    handle: call => shown(call, 'provider', view),
  }),
  operation({
    id: 'providers.update',
    tag,
    method: 'PUT',
    path: '/providers/:slug',
    summary: 'Change a provider',
    scopes: scopes('update'),
    audit: {resource: 'provider', action: 'update'},
    params,
    query: WorkspaceQuery,
    body: ProviderUpdate,
    reply: identity,
    handle: updated,
  }),
  operation({
    id: 'providers.delete',
    tag,
    method: 'DELETE',
    path: '/providers/:slug',
    summary: 'Archive a provider',
    scopes: scopes('delete'),
    audit: {resource: 'provider', action: 'delete'},
    params,
    query: WorkspaceQuery,
    reply: Empty,
    handle: call => archived(call, 'provider'),
  }),
] as const

/** How a provider is shown: as itself, or under its older name as a virtual key. */
type ViewOf<View> = (row: store.ProviderRow, now: string, standing: BudgetStanding) => View

/** One page of the providers the caller may see, with the state of their budgets. */
export async function listed<View>(call: OperationCall<undefined, typeof ProviderQuery>, view: ViewOf<View>) {
  const {actor, app, db, query, now} = call
  const workspace = await namedWorkspace(call, query.workspace_id)
  const filter = {organisation_id: actor.organisation_id, workspace_id: workspace?.id, tags: query.tags}
  const page = await store.listProviders(db, filter, query)
  const standings = await standingsOf(app, page.rows, budgetsOf)
  return list(page, row => view(row, now, standings.get(row)!))
}

export async function shown<View>(
  call: OperationCall<typeof params, typeof WorkspaceQuery>,
  object: string,
  view: ViewOf<View>,
) {
  const row = await reachProvider(call, call.params.slug, call.query.workspace_id, object)
  return view(row, call.now, await standingOf(call.app, budgetsOf(row)))
}

/**
 * The provider that a call names by slug or id, in the workspace it names or is of. Where several workspaces have the
 * slug and none is named, that is requested.
 */
export async function reachProvider(
  call: CallerScope,
  named: string,
  workspace_id: string | undefined,
  object: string,
): Promise<store.ProviderRow> {
  const {organisation_id} = call.actor
  const workspace = await namedWorkspace(call, workspace_id)
  const matching = await store.findProviders(call.db, {organisation_id, workspace_id: workspace?.id}, named)
  const bySlug = matching.filter(row => row.slug === named)
  if (bySlug.length > 1)
    throw invalid('workspace_id', 'is required (the id or slug of a workspace), as several workspaces have this slug')
  return found(bySlug[0] ?? matching[0], object)
}

async function created(call: OperationCall<undefined, undefined, typeof ProviderCreate>) {
  const {db, body, now} = call
  const workspace = await workspaceOf(call, body.workspace_id)
  const integration = await findIntegration(db, workspace.organisation_id, body.integration_id)
  if (!integration || !(await isOpenTo(db, integration, workspace.id))) {
    throw new Refusal('parent.not_found', {field: 'integration_id', object: 'integration', value: body.integration_id})
  }
  const row = await newProvider(db, integration, {
    workspace_id: workspace.id,
    is_virtual_key: 0,
    slug: body.slug,
    fields: body,
    now,
  })
  await store.insertProvider(db, {...row, ...placeOf(call, integration, row, body.model_config)})
  call.auditTarget(row.id, workspace.id)
  return {id: row.id, slug: row.slug}
}

type Fields = {readonly [Name in keyof typeof ProviderFields]: z.output<(typeof ProviderFields)[Name]>}

type FieldChanges = {readonly [Name in keyof typeof ProviderChanges]: z.output<(typeof ProviderChanges)[Name]>}

interface Making {
  readonly workspace_id: string
  readonly is_virtual_key: 0 | 1
  readonly slug: string | undefined
  readonly fields: Pick<Fields, 'name'> & Partial<Fields>
  readonly now: string
}

/** The row of a new provider. Refuses a slug that the workspace has already. */
export async function newProvider(
  db: Db,
  {id, organisation_id}: Pick<IntegrationsTable, 'id' | 'organisation_id'>,
  {workspace_id, is_virtual_key, slug, fields, now}: Making,
): Promise<ProvidersTable> {
  const taken = (slug: string) => store.providerSlugTaken(db, workspace_id, slug)
  if (slug && (await taken(slug)))
    throw new Refusal('row.exists', {object: is_virtual_key ? 'virtual key' : 'provider', field: 'slug', value: slug})
  return {
    id: newId(),
    slug: slug ?? (await freeSlug('', fields.name, 10, taken)),
    organisation_id,
    workspace_id,
    integration_id: id,
    name: fields.name,
    note: fields.note ?? null,
    is_virtual_key,
    usage_limits: keepUsageLimits(fields.usage_limits ?? null, null, now),
    rate_limits: keepRateLimits(fields.rate_limits ?? null),
    tags: keepTags(fields.tags ?? {}),
    status: 'active',
    expires_at: fields.expires_at ?? null,
    last_reset_at: null,
    model_config: null,
    model_config_sealed: null,
    names_place: null,
    created_at: now,
    last_updated_at: now,
  }
}

/**
 * The columns that a change of fields changes. A raised or removed budget and a reset bring an exhausted provider back;
 * a reset starts its count again.
 */
export function changedColumns(
  before: ProvidersTable,
  fields: Partial<FieldChanges> & {readonly reset_usage?: boolean | null | undefined},
  now: string,
): Partial<ProvidersTable> {
  const usage_limits = changedUsageLimits(fields.usage_limits, before.usage_limits, now)
  const again =
    before.status === 'exhausted' && (fields.reset_usage === true || reactivates(before.usage_limits, usage_limits))
  return {
    ...(fields.name !== undefined && {name: fields.name}),
    ...(fields.note !== undefined && {note: fields.note}),
    ...(fields.tags !== undefined && {tags: keepTags(fields.tags)}),
    rate_limits: changedRateLimits(fields.rate_limits, before.rate_limits),
    ...(fields.expires_at !== undefined && {expires_at: fields.expires_at}),
    ...(fields.reset_usage && {last_reset_at: now}),
    ...(again && {status: 'active' as const}),
    usage_limits,
    last_updated_at: now,
  }
}

async function updated(call: OperationCall<typeof params, typeof WorkspaceQuery, typeof ProviderUpdate>) {
  const {body, query} = call
  const before = await reachProvider(call, call.params.slug, query.workspace_id ?? body.workspace_id, 'provider')
  if (body.model_config !== undefined && before.is_hidden)
    throw invalid(
      'model_config',
      `belongs to the virtual key ${before.slug} and is changed there (PUT /virtual-keys/${before.slug})`,
    )
  const integration =
    body.model_config === undefined ? undefined : await integrationById(call.db, before.integration_id)
  const place = integration && placeOf(call, integration, before, body.model_config)
  await store.updateProvider(call.db, before.id, {...changedColumns(before, body, call.now), ...place})
  call.auditTarget(before.id, before.workspace_id)
  return {id: before.id, slug: before.slug}
}

/** The place settings of a provider beside its integration. */
function placeOf(
  {actor, app}: Pick<OperationCall, 'actor' | 'app'>,
  integration: IntegrationsTable,
  {id, organisation_id, model_config_sealed, names_place}: ProvidersTable,
  given: Readonly<Record<string, unknown>> = {},
): Pick<ProvidersTable, 'model_config' | 'model_config_sealed' | 'names_place'> {
  const of = {table: 'providers' as const, row: id, organisation_id}
  const before = {sealed: model_config_sealed, names_place}
  const columns = placeColumns(app, given, {of, field: 'model_config', integration, actor, before})
  return {model_config: columns.shown, model_config_sealed: columns.sealed, names_place: columns.names_place}
}

/** Takes a provider out of service, and with it the hidden integration that a virtual key is made of. */
export async function archived(call: OperationCall<typeof params, typeof WorkspaceQuery>, object: string) {
  const row = await reachProvider(call, call.params.slug, call.query.workspace_id, object)
  await store.archiveProvider(call.db, row.id, call.now)
  call.auditTarget(row.id, row.workspace_id)
  if (row.is_hidden) await store.archiveHidden(call.db, row.integration_id, call.now)
  return {}
}

function budgetsOf({id, slug, workspace_id, usage_limits, last_reset_at}: ProvidersTable): Budgeted {
  return {entity: 'provider', id, name: slug, workspace_id, usage: usage_limits, last_reset_at}
}

/** The part of a row that both views show. An expiry follows the clock, not the row, and so does the usage. */
export function commonView(row: ProvidersTable, now: string, {usage_limits, is_exhausted}: BudgetStanding) {
  const {id, name, note, expires_at, created_at, last_updated_at, slug, workspace_id} = row
  const expired = expires_at !== null && expires_at <= now
  return {
    ...{id, name, note, expires_at, created_at, last_updated_at, slug, workspace_id},
    status: expired ? ('expired' as const) : is_exhausted ? ('exhausted' as const) : ('active' as const),
    usage_limits: usage_limits[0] ?? null,
    rate_limits: row.rate_limits === null ? null : rateLimitViews(row.rate_limits),
    reset_usage: null,
    tags: readTags(row.tags),
  }
}

function view(row: store.ProviderRow, now: string, standing: BudgetStanding): z.input<typeof ProviderView> {
  const {integration_id, ai_provider_id, model_config} = row
  const said = model_config === null ? {} : (JSON.parse(model_config) as Record<string, unknown>)
  return {...commonView(row, now, standing), integration_id, ai_provider_id, model_config: said, object: 'provider'}
}
