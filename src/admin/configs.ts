import {z} from 'zod'
import {readDestination} from '../base/egress/target.ts'
import {readTrusted} from '../base/egress/trust.ts'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {authorOf} from '../identity/subject.ts'
import {attachKeys, namesIn} from '../schema/config-hooks.ts'
import {
  ConfigCreate,
  type ConfigIssue,
  ConfigRow,
  ConfigUpdate,
  ConfigVersion,
  ConfigView,
  type GatewayConfig,
  nodesOf,
  readConfig,
} from '../schema/configs.ts'
import {Handle} from '../schema/names.ts'
import {Empty, listOf, pageParams} from '../schema/paging.ts'
import {WorkspaceQuery} from '../schema/providers.ts'
import {restored} from '../schema/secrets.ts'
import * as store from '../store/configs.ts'
import {findGuardrails} from '../store/guardrails.ts'
import {giveUpSlug} from '../store/rows.ts'
import type {ConfigsTable} from '../store/tables/catalog.ts'
import {kindOf} from './integrations/credentials.ts'
import {type OperationCall, operation} from './operation.ts'
import type {AdminServices} from './services.ts'
import {freeSlug, givenSlug} from './slugs.ts'
import {type CallerScope, found, namedWorkspace, workspaceOf} from './tenancy.ts'

const tag = 'Configs'
const params = z.strictObject({slug: Handle})
const PageQuery = z.strictObject({...pageParams(), ...WorkspaceQuery.shape})

/** Saved configs: where calls that name one go. Each change of the routing is a version. */
export const configs = [
  operation({
    id: 'configs.list',
    tag,
    method: 'GET',
    path: '/configs',
    summary: 'List configs',
    scopes: ['configs.list'],
    query: PageQuery,
    reply: z.strictObject({success: z.literal(true), data: z.array(ConfigRow), total: z.int()}),
    handle: listed,
  }),
  operation({
    id: 'configs.create',
    compatibility: {spellings: {is_default: 'isDefault'}},
    tag,
    method: 'POST',
    path: '/configs',
    summary: 'Save a config',
    scopes: ['configs.create'],
    audit: {resource: 'config', action: 'create'},
    body: ConfigCreate,
    reply: success(z.strictObject({id: z.uuid(), slug: z.string(), version_id: z.uuid()})),
    handle: created,
  }),
  operation({
    id: 'configs.get',
    tag,
    method: 'GET',
    path: '/configs/:slug',
    summary: 'Show a config',
    scopes: ['configs.read'],
    params,
    query: WorkspaceQuery,
    reply: success(ConfigView),
    handle: shown,
  }),
  operation({
    id: 'configs.update',
    compatibility: {spellings: {is_default: 'isDefault'}},
    tag,
    method: 'PUT',
    path: '/configs/:slug',
    summary: 'Change a config; a change of its routing is a new version',
    scopes: ['configs.update'],
    audit: {resource: 'config', action: 'update'},
    params,
    query: WorkspaceQuery,
    body: ConfigUpdate,
    reply: success(z.strictObject({version_id: z.uuid()})),
    handle: updated,
  }),
  operation({
    id: 'configs.delete',
    refuses: [409],
    tag,
    method: 'DELETE',
    path: '/configs/:slug',
    summary: 'Archive a config that nothing has as its default',
    scopes: ['configs.delete'],
    audit: {resource: 'config', action: 'delete'},
    params,
    query: WorkspaceQuery,
    reply: Empty,
    handle: archived,
  }),
  operation({
    id: 'configs.list_versions',
    tag,
    method: 'GET',
    path: '/configs/:slug/versions',
    summary: 'List the versions of a config, the newest first',
    scopes: ['configs.read'],
    params,
    query: WorkspaceQuery,
    reply: listOf(ConfigVersion),
    handle: versionsListed,
  }),
] as const

async function listed(call: OperationCall<undefined, typeof PageQuery>) {
  const workspace = await namedWorkspace(call, call.query.workspace_id)
  const {rows, total} = await store.listConfigs(
    call.db,
    {organisation_id: call.actor.organisation_id, workspace_id: workspace?.id},
    call.query,
  )
  return {success: true as const, data: rows.map(row => ({...view(row), object: 'config' as const})), total}
}

async function created(call: OperationCall<undefined, undefined, typeof ConfigCreate>) {
  const {actor, app, db, body, now} = call
  const workspace = await workspaceOf(call, body.workspace_id)
  const config = await checkedConfig(call, workspace, body.config)
  const owner = {id: newId(), organisation_id: workspace.organisation_id}
  const is_default = body.isDefault ? 1 : 0
  if (is_default) await store.clearDefaultConfig(db, workspace.id)
  const slugs = {
    taken: (slug: string) => store.configSlugTaken(db, slug),
    giveUp: (slug: string) => giveUpSlug(db, 'configs', workspace.organisation_id, slug),
  }
  const row: ConfigsTable = {
    ...owner,
    slug: body.slug ? await givenSlug(body.slug, 'config', slugs) : await freeSlug('pc-', body.name, 6, slugs.taken),
    workspace_id: workspace.id,
    name: body.name,
    is_default,
    status: 'active',
    version_id: newId(),
    version: 1,
    owner_id: authorOf(actor.subject),
    updated_by: authorOf(actor.subject),
    created_at: now,
    last_updated_at: now,
    ...store.sealConfig(app.seal, owner, config),
  }
  await store.insertConfig(db, row)
  call.auditTarget(row.id, workspace.id)
  return {success: true as const, data: {id: row.id, slug: row.slug, version_id: row.version_id}}
}

async function shown(call: OperationCall<typeof params, typeof WorkspaceQuery>) {
  const row = await reachConfig(call, call.params.slug, call.query.workspace_id)
  const config = JSON.parse(row.config) as Record<string, unknown>
  return {success: true as const, data: {...view(row), version_id: row.version_id, config, object: 'config' as const}}
}

async function updated(call: OperationCall<typeof params, typeof WorkspaceQuery, typeof ConfigUpdate>) {
  const {actor, db, body, now} = call
  const before = await reachConfig(call, call.params.slug, call.query.workspace_id ?? body.workspace_id)
  if (body.status === 'archived') await requireUnused(call, before)
  if (body.isDefault) await store.clearDefaultConfig(db, before.workspace_id)
  const change: Partial<ConfigsTable> = {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.isDefault !== undefined && {is_default: body.isDefault ? 1 : 0}),
    ...(body.status !== undefined && {status: body.status}),
    ...(body.config !== undefined && (await nextVersion(call, before, body.config))),
    updated_by: authorOf(actor.subject),
    last_updated_at: now,
  }
  const after = {...before, ...change}
  await store.updateConfig(db, before.id, change)
  if (change.version_id) await store.insertVersion(db, after)
  call.auditTarget(before.id, before.workspace_id)
  return {success: true as const, data: {version_id: after.version_id}}
}

/**
 * The columns of a new version; none when the routing is what it was. A masked `api_key` that comes back stays what it
 * was.
 */
async function nextVersion(
  call: CallerScope & {readonly app: AdminServices},
  before: ConfigsTable,
  given: Readonly<Record<string, unknown>>,
): Promise<Partial<ConfigsTable>> {
  const {app} = call
  const old = store.openConfig(app.seal, before)
  const of = {organisation_id: before.organisation_id, id: before.workspace_id}
  const config = await checkedConfig(call, of, restored(given, old))
  if (JSON.stringify(config) === JSON.stringify(old)) return {}
  return {...store.sealConfig(app.seal, before, config), version: before.version + 1, version_id: newId()}
}

async function archived(call: OperationCall<typeof params, typeof WorkspaceQuery>) {
  const row = await reachConfig(call, call.params.slug, call.query.workspace_id)
  await requireUnused(call, row)
  await store.updateConfig(call.db, row.id, {status: 'archived', last_updated_at: call.now})
  call.auditTarget(row.id, row.workspace_id)
  return {}
}

async function versionsListed(call: OperationCall<typeof params, typeof WorkspaceQuery>) {
  const row = await reachConfig(call, call.params.slug, call.query.workspace_id)
  const versions = await store.configVersions(call.db, row.id)
  const data = versions.map(({id, version, config, updated_by, created_at}) => ({
    ...view(row),
    ...{config, version, version_id: id, updated_by, created_at, last_updated_at: created_at},
    ...({format: 'json', type: 'ORG_CONFIG', object: 'config'} as const),
  }))
  return {object: 'list' as const, total: data.length, data}
}

async function reachConfig(call: CallerScope, named: string, workspace_id: string | undefined): Promise<ConfigsTable> {
  const workspace = await namedWorkspace(call, workspace_id)
  return found(
    await store.findConfig(call.db, {organisation_id: call.actor.organisation_id, workspace_id: workspace?.id}, named),
    'config',
  )
}

/**
 * A config that may be saved: read, every kind of provider in the catalogue, its hosts ones that may be called, its
 * guardrails there, no key idle.
 */
async function checkedConfig(
  {app: {settings, seal}, db}: CallerScope & {readonly app: AdminServices},
  workspace: {readonly organisation_id: string; readonly id: string},
  given: unknown,
): Promise<GatewayConfig> {
  const limits = {
    root: settings.max_root_config_targets,
    conditional_root: settings.max_conditional_root_config_targets,
    nested: settings.max_nested_config_targets,
  }
  const read = readConfig(given, {saved: true, limits})
  refuseIssues('issues' in read ? read.issues : read.warnings)
  if ('issues' in read) throw new Refusal('internal')
  const trusted = readTrusted(settings.trusted_custom_hosts)
  for (const {node, path} of nodesOf(read.config)) {
    if (node.provider && !node.provider.startsWith('@')) kindOf(node.provider, `${path}.provider`)
    if (node.custom_host) readDestination(node.custom_host, {kind: 'caller'}, trusted)
  }
  const nodes = nodesOf(read.config).filter(({node}) => Object.keys(attachKeys(node)).length > 0)
  if (nodes.length === 0) return read.config
  const {guardrailFaults} = await import('../guardrails/config-faults.ts')
  const refs = [...new Set(nodes.flatMap(({node}) => namesIn(node)))]
  const found = await findGuardrails(
    db,
    {organisation_id: workspace.organisation_id, workspace_id: workspace.id, refs},
    seal,
  )
  const known = new Map(found.map(each => [each.ref, each]))
  refuseIssues(guardrailFaults(nodes, handle => known.get(handle)))
  return read.config
}

function refuseIssues(issues: readonly ConfigIssue[]) {
  if (issues.length)
    throw new Refusal('config.invalid', {issues: issues.map(({path, message}) => `${path} ${message}`).join('; ')})
}

/** Refuses to remove a config that keys or workspaces have as their default: their calls would fail. */
async function requireUnused({db}: CallerScope, {id, slug, workspace_id}: ConfigsTable) {
  const users = await store.configUsers(db, workspace_id, [id, slug])
  if (!users.length) return
  const dependants = `${users.slice(0, 5).join(', ')}${users.length > 5 ? ` and ${users.length - 5} more` : ''} with it as default`
  throw new Refusal('row.in_use', {object: 'config', dependants, cure: 'Give them another default first.'})
}

function view(row: ConfigsTable) {
  const {
    id,
    name,
    slug,
    organisation_id,
    workspace_id,
    is_default,
    status,
    owner_id,
    updated_by,
    created_at,
    last_updated_at,
  } = row
  return {
    id,
    name,
    slug,
    organisation_id,
    workspace_id,
    is_default,
    status,
    owner_id,
    updated_by,
    created_at,
    last_updated_at,
  }
}

function success<T extends z.ZodType>(data: T) {
  return z.strictObject({success: z.literal(true), data})
}
