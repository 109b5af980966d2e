import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {AccessList, AccessUpdate} from '../../schema/integrations.ts'
import {changedRateLimits, changedUsageLimits} from '../../schema/limit-changes.ts'
import {rateLimitViews, usageLimitViews} from '../../schema/limits.ts'
import {Handle} from '../../schema/names.ts'
import {Empty} from '../../schema/paging.ts'
import type {Db} from '../../store/database.ts'
import * as store from '../../store/integrations.ts'
import {type GlobalAccess, globalAccess, providerSlugTaken, workspacesWithProvider} from '../../store/providers.ts'
import type {IntegrationsTable, IntegrationWorkspacesTable} from '../../store/tables/catalog.ts'
import {standingsOf} from '../limit-status.ts'
import {type OperationCall, operation} from '../operation.ts'
import {invalid} from '../tenancy.ts'
import {makeDefaultProvider} from './default-provider.ts'
import {integrationScopes, reachIntegration} from './reach.ts'

const tag = 'Integrations > Workspaces'
const path = '/integrations/:slug/workspaces'
const params = z.strictObject({slug: Handle})

/** Which workspaces may use an integration, and within which limits. */
export const integrationAccess = [
  operation({
    id: 'integrations.list_workspaces',
    tag,
    method: 'GET',
    path,
    summary: 'List the workspaces that have an integration, or had it',
    scopes: integrationScopes('read'),
    params,
    reply: AccessList,
    handle: listed,
  }),
  operation({
    id: 'integrations.update_workspaces',
    tag,
    method: 'PUT',
    path,
    summary: 'Open an integration to workspaces, or close it',
    scopes: integrationScopes('update'),
    audit: {resource: 'integration', action: 'update'},
    params,
    body: AccessUpdate,
    reply: Empty,
    handle: updated,
  }),
] as const

/**
 * The access of every active workspace to an integration, by its own row or by the row for all; those with neither are
 * left out.
 */
export async function effectiveAccess(db: Db, integration: IntegrationsTable) {
  const own = new Map((await store.integrationWorkspaces(db, integration.id)).map(row => [row.workspace_id, row]))
  const global = globalAccess(integration.global_workspace_access)
  return (await reachable(db, integration)).flatMap(workspace => {
    const row = own.get(workspace.id)
    if (!row && !openWithout(integration)) return []
    const {usage_limits, rate_limits} = row ?? global
    return [
      {
        ...workspace,
        enabled: !row || row.enabled === 1,
        usage_limits,
        rate_limits,
        last_reset_at: row?.last_reset_at ?? null,
      },
    ]
  })
}

async function listed(call: OperationCall<typeof params>) {
  const integration = await reachIntegration(call, call.params.slug, 'read')
  const access = await effectiveAccess(call.db, integration)
  const standings = await standingsOf(call.app, access, ({id, usage_limits, last_reset_at}) => ({
    entity: 'integration',
    id: `${integration.id}/${id}`,
    name: integration.slug,
    workspace_id: id,
    usage: usage_limits,
    last_reset_at,
  }))
  const workspaces = access.map(row => {
    const {usage_limits, rate_limits, last_reset_at: _, ...rest} = row
    const limits = limitViews({usage_limits, rate_limits}, call.now)
    return {...rest, ...limits, usage_limits: limits.usage_limits && [...standings.get(row)!.usage_limits]}
  })
  return {total: workspaces.length, workspaces}
}

type AccessCall = OperationCall<typeof params, undefined, typeof AccessUpdate>
type WorkspaceGrant = NonNullable<AccessUpdate['workspaces']>[number]

async function updated(call: AccessCall) {
  const {db, body, now} = call
  const integration = await reachIntegration(call, call.params.slug, 'update')
  const workspaces = await reachable(db, integration)
  const wanted = resolved(body.workspaces ?? [], workspaces)
  const rows = new Map((await store.integrationWorkspaces(db, integration.id)).map(row => [row.workspace_id, row]))
  const openBefore = new Set(workspaces.filter(({id}) => isOpen(integration, rows.get(id))).map(({id}) => id))
  if (body.override_existing_workspace_access) {
    for (const id of rows.keys()) if (!wanted.has(id)) rows.delete(id)
    await store.removeIntegrationWorkspaces(db, integration.id, [...wanted.keys()])
  }
  for (const [id, given] of wanted) {
    const row = accessRow(integration.id, id, given, rows.get(id), now)
    await store.putIntegrationWorkspace(db, row)
    rows.set(id, row)
  }
  const change = {...globalColumns(integration, body, now), last_updated_at: now}
  await store.updateIntegration(db, integration.id, change)
  const opened = workspaces.filter(({id}) => isOpen({...integration, ...change}, rows.get(id)))
  const fresh = opened.map(({id}) => ({id, given: wanted.get(id), isNew: !openBefore.has(id)}))
  await giveProviders(call, integration, fresh)
  call.auditTarget(integration.id, integration.workspace_id)
  return {}
}

/**
 * A provider for each workspace that is newly open, or for which one was requested by name, and has none of this
 * integration; unless it was declined.
 */
async function giveProviders(
  {db, body, now}: AccessCall,
  integration: IntegrationsTable,
  open: readonly {readonly id: string; readonly given: WorkspaceGrant | undefined; readonly isNew: boolean}[],
): Promise<void> {
  const served = await workspacesWithProvider(db, integration.id)
  for (const {id, given, isNew} of open) {
    const wanted = given?.create_default_provider ?? body.create_default_provider ?? true
    const slug = given?.default_provider_slug ?? body.default_provider_slug
    const wants_provider = given?.create_default_provider === true || given?.default_provider_slug !== undefined
    if (!wanted || served.has(id) || !(isNew || wants_provider)) continue
    if (slug && (await providerSlugTaken(db, id, slug))) {
      throw invalid('default_provider_slug', `${slug} is the slug of another provider in that workspace`)
    }
    await makeDefaultProvider(db, integration, {workspace_id: id, slug, now})
  }
}

/** The given workspaces by id; each must be one the integration can be opened to, and be named once. */
function resolved(
  given: readonly WorkspaceGrant[],
  workspaces: readonly {readonly id: string; readonly slug: string}[],
): Map<string, WorkspaceGrant> {
  const found = new Map<string, WorkspaceGrant>()
  const named = new Map(
    (['slug', 'id'] as const).flatMap(name => workspaces.map(workspace => [workspace[name], workspace])),
  )
  given.forEach((each, at) => {
    const workspace = named.get(each.id)
    const field = `workspaces[${at}].id`
    if (!workspace) throw new Refusal('parent.not_found', {field, object: 'workspace', value: each.id})
    if (found.has(workspace.id)) throw invalid(field, 'names a workspace that stands in the list already')
    found.set(workspace.id, each)
  })
  return found
}

/** A workspace's row as it will be; limits that are not given stay. */
function accessRow(
  integration_id: string,
  workspace_id: string,
  given: WorkspaceGrant,
  before: IntegrationWorkspacesTable | undefined,
  now: string,
): IntegrationWorkspacesTable {
  return {
    integration_id,
    workspace_id,
    enabled: given.enabled ? 1 : 0,
    ...limitColumns(given, before ?? NO_LIMITS, now),
    last_reset_at: given.reset_usage ? now : (before?.last_reset_at ?? null),
    created_at: before?.created_at ?? now,
    last_updated_at: now,
  }
}

function globalColumns(
  integration: IntegrationsTable,
  {global_workspace_access: given, ...body}: AccessUpdate,
  now: string,
) {
  if (!given) return {}
  if (integration.workspace_id !== null)
    throw invalid(
      'global_workspace_access',
      'belongs to integrations of the organisation; this one is of one workspace',
    )
  const before = globalAccess(integration.global_workspace_access)
  const access: GlobalAccess = {
    ...limitColumns(given, before, now),
    create_default_provider: body.create_default_provider ?? before.create_default_provider,
    default_provider_slug: body.default_provider_slug ?? before.default_provider_slug,
  }
  return {global_access_enabled: given.enabled ? 1 : 0, global_workspace_access: JSON.stringify(access)}
}

interface LimitColumns {
  readonly usage_limits: string | null
  readonly rate_limits: string | null
}

/** Limits as replies show them: null where there are none. */
export function limitViews({usage_limits, rate_limits}: LimitColumns, now: string) {
  return {
    usage_limits: usage_limits === null ? null : usageLimitViews(usage_limits, Date.parse(now)),
    rate_limits: rate_limits === null ? null : rateLimitViews(rate_limits),
  }
}

const NO_LIMITS: LimitColumns = {usage_limits: null, rate_limits: null}

function limitColumns(
  {usage_limits, rate_limits}: Pick<WorkspaceGrant, 'usage_limits' | 'rate_limits'>,
  before: LimitColumns,
  now: string,
): LimitColumns {
  return {
    usage_limits: changedUsageLimits(usage_limits, before.usage_limits, now),
    rate_limits: changedRateLimits(rate_limits, before.rate_limits),
  }
}

/**
 * Open to a workspace that has no row of its own: those open to all, and a workspace's own integration to that
 * workspace.
 */
function openWithout({workspace_id, global_access_enabled}: IntegrationsTable): boolean {
  return workspace_id !== null || global_access_enabled === 1
}

function isOpen(integration: IntegrationsTable, row: IntegrationWorkspacesTable | undefined): boolean {
  return row ? row.enabled === 1 : openWithout(integration)
}

/** The workspaces an integration can be opened to: all of the organisation, or the one it is of. */
async function reachable(db: Db, {organisation_id, workspace_id}: IntegrationsTable) {
  const all = await store.workspacesOf(db, organisation_id)
  return workspace_id === null ? all : all.filter(({id}) => id === workspace_id)
}
