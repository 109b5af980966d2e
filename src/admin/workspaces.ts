import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {ownWorkspace} from '../identity/access.ts'
import type {UnreadableBodies} from '../schema/guardrails.ts'
import {changedRateLimits, changedUsageLimits} from '../schema/limit-changes.ts'
import {keepRateLimits, keepUsageLimits, rateLimitViews} from '../schema/limits.ts'
import {changedModelList, readModelList} from '../schema/model-lists.ts'
import {Handle} from '../schema/names.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import {
  WorkspaceCreate,
  WorkspaceDelete,
  WorkspaceDetails,
  WorkspacesQuery,
  WorkspaceUpdate,
  WorkspaceView,
} from '../schema/workspaces.ts'
import {giveUpSlug} from '../store/rows.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import * as store from '../store/workspaces.ts'
import {type DefaultGuardrailsInput, foundGuardrails, keepDefaults, requireGuardrails} from './default-guardrails.ts'
import {offerGlobalIntegrations} from './integrations/default-provider.ts'
import {
  type Budgeted,
  type EntityLimitStatus as BudgetStanding,
  standingOf,
  standingsOf,
  unusedViews,
} from './limit-status.ts'
import {join, memberViews} from './members.ts'
import {type OperationCall, operation} from './operation.ts'
import {freeSlug, givenSlug} from './slugs.ts'
import {type CallerScope, found, invalid, isAdmin, workspaceOf} from './tenancy.ts'

const tag = 'Workspaces'
const params = z.strictObject({workspaceId: Handle})
type One<Body extends z.ZodType | undefined = undefined> = OperationCall<typeof params, undefined, Body>

/** Workspaces. Admin keys see all of them; a workspace's key sees and changes its own. */
export const workspaces = [
  ...['/admin/workspaces', '/workspaces'].map(path =>
    operation({
      id: path === '/workspaces' ? 'workspaces.list_short' : 'workspaces.list',
      tag,
      method: 'GET',
      path,
      summary: 'List workspaces',
      scopes: ['workspaces.list'],
      across_workspaces: true,
      query: WorkspacesQuery,
      reply: listOf(WorkspaceView),
      handle: listed,
    }),
  ),
  operation({
    id: 'workspaces.create',
    tag,
    method: 'POST',
    path: '/admin/workspaces',
    summary: 'Create a workspace',
    scopes: ['workspaces.create'],
    audit: {resource: 'workspace', action: 'create'},
    body: WorkspaceCreate,
    reply: WorkspaceView,
    handle: created,
  }),
  operation({
    id: 'workspaces.get',
    tag,
    method: 'GET',
    path: '/admin/workspaces/:workspaceId',
    summary: 'Show a workspace',
    scopes: ['workspaces.read'],
    params,
    reply: WorkspaceDetails,
    async handle(call) {
      const workspace = await workspaceOf(call, call.params.workspaceId)
      const {usage_limits} = await standingOf(call.app, budgetsOf(workspace))
      return {...view(workspace, usage_limits), users: await memberViews(call, workspace)}
    },
  }),
  operation({
    id: 'workspaces.update',
    tag,
    method: 'PUT',
    path: '/admin/workspaces/:workspaceId',
    summary: 'Change a workspace, or bring an archived one back',
    scopes: ['workspaces.update'],
    audit: {resource: 'workspace', action: 'update'},
    params,
    body: WorkspaceUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'workspaces.delete',
    tag,
    method: 'DELETE',
    path: '/admin/workspaces/:workspaceId',
    summary: 'Archive a workspace',
    scopes: ['workspaces.delete'],
    audit: {resource: 'workspace', action: 'delete'},
    params,
    body: WorkspaceDelete,
    reply: Empty,
    handle: archived,
  }),
] as const

async function listed({actor, app, db, query}: OperationCall<undefined, typeof WorkspacesQuery>) {
  const statuses = query.status ?? ['active']
  if (statuses.includes('archived') && !isAdmin(actor))
    throw new Refusal('scope.missing', {scope: 'workspaces.list of an admin key'})
  const {organisation_id, person} = actor
  const {name, exact_name} = query
  const own = person?.memberships ? null : ownWorkspace(actor)
  const ids = person?.memberships?.map(({workspace_id}) => workspace_id) ?? (own === null ? undefined : [own])
  const page = await store.listWorkspaces(db, {organisation_id, ids, statuses, name, exact_name}, query)
  const standings = await standingsOf(app, page.rows, budgetsOf)
  return list(page, row => view(row, standings.get(row)!.usage_limits))
}

async function created(call: OperationCall<undefined, undefined, typeof WorkspaceCreate>) {
  const {actor, db, body, now, auditTarget: about} = call
  const {organisation_id} = actor
  const slugs = {
    taken: (slug: string) => store.workspaceSlugTaken(db, organisation_id, slug),
    giveUp: (slug: string) => giveUpSlug(db, 'workspaces', organisation_id, slug),
  }
  const row: WorkspacesTable = {
    id: newId(),
    slug: body.slug
      ? await givenSlug(body.slug, 'workspace', slugs)
      : await freeSlug('ws-', body.name, 10, slugs.taken),
    organisation_id,
    name: body.name,
    description: body.description ?? null,
    icon: null,
    is_default: 0,
    status: 'active',
    defaults: keepDefaults({metadata: body.defaults?.metadata ?? {}}),
    usage_limits: keepUsageLimits(body.usage_limits ?? null, null, now),
    rate_limits: keepRateLimits(body.rate_limits ?? null),
    models: changedModelList(body.models, null),
    created_at: now,
    last_updated_at: now,
  }
  await store.insertWorkspace(db, row)
  for (const [index, id] of (body.users ?? []).entries())
    await join(call, row, {id, role: 'member', field: `users[${index}]`})
  await offerGlobalIntegrations(db, row, now)
  about(row.id, row.id)
  return view(row, unusedViews(row.usage_limits, Date.parse(now)))
}

async function updated(call: One<typeof WorkspaceUpdate>) {
  const {db, body, now} = call
  const before = body.status
    ? await anyStatus(call, call.params.workspaceId)
    : await workspaceOf(call, call.params.workspaceId)
  const of = {organisation_id: before.organisation_id, workspace_id: before.id}
  await requireGuardrails(db, of, body.defaults, 'defaults.')
  // A reference that was archived with a returning workspace, or since, would have each of its calls refused.
  const defaults =
    body.defaults === undefined && body.status ? await foundGuardrails(db, of, readDefaults(before)) : body.defaults
  await store.updateWorkspace(db, before.id, {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.description !== undefined && {description: body.description}),
    ...(defaults !== undefined && {defaults: keepDefaults(defaults && {...readDefaults(before), ...defaults})}),
    usage_limits: changedUsageLimits(body.usage_limits, before.usage_limits, now),
    rate_limits: changedRateLimits(body.rate_limits, before.rate_limits),
    models: changedModelList(body.models, before.models),
    ...(body.status && {status: body.status}),
    last_updated_at: now,
  })
  call.auditTarget(before.id, before.id)
  return {}
}

async function archived(call: One<typeof WorkspaceDelete>) {
  const {db, body, now} = call
  const workspace = await workspaceOf(call, call.params.workspaceId)
  if (workspace.is_default) throw new Refusal('body.invalid', {issues: 'The default workspace cannot be deleted.'})
  if (body.name !== workspace.name) throw invalid('name', "must be the workspace's exact name")
  const dependants = await store.workspaceDependants(db, workspace.id)
  if (dependants.length && !body.force_delete) {
    const cure = 'Delete them first, or send "force_delete": true.'
    throw new Refusal('row.in_use', {object: 'workspace', dependants: dependants.join(', '), cure})
  }
  await store.archiveWorkspace(db, workspace.id, now)
  call.auditTarget(workspace.id, workspace.id)
  return {}
}

/** The caller's workspace, archived ones too for those who may bring them back. */
async function anyStatus(call: CallerScope, named: string): Promise<WorkspacesTable> {
  if (!isAdmin(call.actor)) return workspaceOf(call, named)
  return found(await store.findWorkspace(call.db, call.actor.organisation_id, named), 'workspace')
}

interface Defaults extends DefaultGuardrailsInput {
  readonly metadata?: Readonly<Record<string, string>> | null | undefined
  readonly unreadable_bodies?: UnreadableBodies | null | undefined
}

function readDefaults({defaults}: WorkspacesTable): Defaults {
  return JSON.parse(defaults ?? '{}') as Defaults
}

function budgetsOf({id, name, usage_limits}: WorkspacesTable): Budgeted {
  return {entity: 'workspace', id, name, workspace_id: id, usage: usage_limits, last_reset_at: null}
}

function view(row: WorkspacesTable, usage_limits: BudgetStanding['usage_limits']): z.input<typeof WorkspaceView> {
  const {metadata, input_guardrails, output_guardrails, unreadable_bodies} = readDefaults(row)
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    created_at: row.created_at,
    last_updated_at: row.last_updated_at,
    status: row.status,
    is_default: row.is_default === 1,
    defaults: {
      metadata: {...metadata},
      input_guardrails: [...(input_guardrails ?? [])],
      output_guardrails: [...(output_guardrails ?? [])],
      ...(unreadable_bodies ? {unreadable_bodies} : {}),
      is_default: row.is_default ? 1 : 0,
      object: 'workspace',
    },
    usage_limits: [...usage_limits],
    rate_limits: rateLimitViews(row.rate_limits),
    models: readModelList(row.models),
    object: 'workspace',
  }
}
