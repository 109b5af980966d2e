import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {
  DeploymentCreate,
  DeploymentMade,
  DeploymentsQuery,
  type DeploymentType,
  DeploymentUpdate,
  DeploymentView,
} from '../schema/deployments.ts'
import {Handle} from '../schema/names.ts'
import {Empty, listOf} from '../schema/paging.ts'
import {allowedWorkspaces} from '../store/allowed-workspaces.ts'
import type {Db} from '../store/database.ts'
import * as store from '../store/deployments.ts'
import type {DeploymentsTable} from '../store/tables/registry.ts'
import {keepAllowed} from './allowed-workspaces.ts'
import {type OperationCall, operation} from './operation.ts'
import {freeSlug} from './slugs.ts'
import {type CallerScope, found} from './tenancy.ts'

const tag = 'Deployments'
const path = '/deployments'
const params = z.strictObject({deploymentId: Handle})

/** Deployments: the gateways an organisation runs, and the workspaces that each is for. */
export const deployments = [
  operation({
    id: 'deployments.list',
    tag,
    method: 'GET',
    path,
    summary: 'List deployments',
    scopes: ['deployments.list'],
    query: DeploymentsQuery,
    reply: listOf(DeploymentView),
    handle: listed,
  }),
  operation({
    id: 'deployments.create',
    tag,
    method: 'POST',
    path,
    summary: 'Register a deployment',
    scopes: ['deployments.create'],
    audit: {resource: 'deployment', action: 'create'},
    body: DeploymentCreate,
    reply: DeploymentMade,
    handle: created,
  }),
  operation({
    id: 'deployments.get',
    tag,
    method: 'GET',
    path: `${path}/:deploymentId`,
    summary: 'Show a deployment',
    scopes: ['deployments.read'],
    params,
    reply: DeploymentView,
    handle: async call => view(call.db, await reach(call)),
  }),
  operation({
    id: 'deployments.update',
    tag,
    method: 'PUT',
    path: `${path}/:deploymentId`,
    summary: 'Change a deployment',
    scopes: ['deployments.update'],
    audit: {resource: 'deployment', action: 'update'},
    params,
    body: DeploymentUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'deployments.delete',
    tag,
    method: 'DELETE',
    path: `${path}/:deploymentId`,
    summary: 'Delete a deployment',
    scopes: ['deployments.delete'],
    audit: {resource: 'deployment', action: 'delete'},
    params,
    reply: Empty,
    handle: deleted,
  }),
] as const

async function listed({actor, db, query}: OperationCall<undefined, typeof DeploymentsQuery>) {
  const {organisation_id} = actor
  const {rows, total} = await store.listDeployments(db, {organisation_id, type: query.type}, query)
  const data = []
  for (const row of rows) data.push(await view(db, row))
  return {object: 'list' as const, total, data}
}

async function created(call: OperationCall<undefined, undefined, typeof DeploymentCreate>) {
  const {actor, db, body, now} = call
  const owner = {id: newId(), organisation_id: actor.organisation_id}
  if (body.slug) await requireFree(call, body.slug)
  await requireRoom(call, body.type)
  const row: DeploymentsTable = {
    ...owner,
    slug: body.slug ?? (await freeSlug('', body.name, 10, slug => isTaken(call, slug))),
    name: body.name,
    type: body.type,
    config: JSON.stringify(body.config ?? {}),
    allow_all_workspaces: await keepAllowed(db, {...owner, allow_all_workspaces: 1}, body),
    status: 'active',
    created_at: now,
    last_updated_at: now,
  }
  await store.insertDeployment(db, row)
  call.auditTarget(row.id, null)
  return {id: row.id, slug: row.slug, object: 'deployment' as const}
}

const ONE = {current_page: 0, page_size: 1}

/** Each type has its own maximum (docs/settings.md), and its own count. */
async function requireRoom({actor, app, db}: Pick<OperationCall, 'actor' | 'app' | 'db'>, type: DeploymentType) {
  const {max_production_deployments, max_non_production_deployments} = app.settings
  const most = type === 'production' ? max_production_deployments : max_non_production_deployments
  if (most === undefined) return
  const {total} = await store.listDeployments(db, {organisation_id: actor.organisation_id, type}, ONE)
  if (total < most) return
  const variable = `MAX_${type.toUpperCase().replace('-', '_')}_DEPLOYMENTS`
  throw new Refusal('row.unfit', {
    reason: `There are ${total} ${type} deployments already, and ${variable} is ${most}.`,
  })
}

async function updated(call: OperationCall<typeof params, undefined, typeof DeploymentUpdate>) {
  const {db, body, now} = call
  const before = await reach(call)
  if (body.slug !== undefined && body.slug !== before.slug) await requireFree(call, body.slug)
  if (body.type !== undefined && body.type !== before.type) await requireRoom(call, body.type)
  await store.updateDeployment(db, before.id, {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.slug !== undefined && {slug: body.slug}),
    ...(body.type !== undefined && {type: body.type}),
    ...(body.config !== undefined && {config: JSON.stringify(body.config)}),
    allow_all_workspaces: await keepAllowed(db, before, body),
    last_updated_at: now,
  })
  call.auditTarget(before.id, null)
  return {}
}

async function deleted(call: OperationCall<typeof params>) {
  const {id} = await reach(call)
  await store.updateDeployment(call.db, id, {status: 'archived', last_updated_at: call.now})
  call.auditTarget(id, null)
  return {}
}

async function reach({actor, db, params}: CallerScope & {readonly params: {readonly deploymentId: string}}) {
  return found(await store.findDeployment(db, actor.organisation_id, params.deploymentId), 'deployment')
}

async function isTaken({actor, db}: CallerScope, slug: string): Promise<boolean> {
  return (await store.findDeployment(db, actor.organisation_id, slug)) !== undefined
}

async function requireFree(call: CallerScope, slug: string) {
  if (await isTaken(call, slug)) throw new Refusal('row.exists', {object: 'deployment', field: 'slug', value: slug})
}

async function view(db: Db, row: DeploymentsTable): Promise<z.input<typeof DeploymentView>> {
  const {id, organisation_id, name, slug, type, created_at, last_updated_at} = row
  return {
    ...{id, organisation_id, name, slug, type, created_at, last_updated_at},
    config: JSON.parse(row.config),
    allow_all_workspaces: row.allow_all_workspaces === 1,
    allowed_workspaces: await allowedWorkspaces(db, id),
    status: 'active',
    object: 'deployment',
  }
}
