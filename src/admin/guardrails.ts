import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {authorOf} from '../identity/subject.ts'
import {
  type GuardrailActions,
  type GuardrailCheck,
  GuardrailCreate,
  GuardrailDetails,
  GuardrailMade,
  GuardrailsQuery,
  GuardrailUpdate,
  GuardrailVersion,
  GuardrailView,
  MAX_CHECKS,
} from '../schema/guardrails.ts'
import {Handle} from '../schema/names.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import * as store from '../store/guardrails.ts'
import {giveUpSlug} from '../store/rows.ts'
import type {GuardrailsTable, GuardrailVersionsTable} from '../store/tables/guardrails.ts'
import {checked, checksKnown, loadChecks, whole} from './guardrail-checks.ts'
import {type OperationCall, operation} from './operation.ts'
import type {AdminServices} from './services.ts'
import {freeSlug, givenSlug} from './slugs.ts'
import {type CallerScope, found, invalid, isAdmin, namedWorkspace, requireOwn, visibilityOf} from './tenancy.ts'

const tag = 'Guardrails'
const params = z.strictObject({guardrailId: Handle})

/** Saved guardrails. Each change of what one does is a version; configs, calls and defaults name it by slug or id. */
export const guardrails = [
  operation({
    id: 'guardrails.list',
    tag,
    method: 'GET',
    path: '/guardrails',
    summary: "List guardrails; a workspace's key sees the organisation's too",
    scopes: ['guardrails.list'],
    query: GuardrailsQuery,
    reply: listOf(GuardrailView),
    handle: listed,
  }),
  operation({
    id: 'guardrails.create',
    tag,
    method: 'POST',
    path: '/guardrails',
    summary: 'Save a guardrail',
    scopes: ['guardrails.create'],
    audit: {resource: 'guardrail', action: 'create'},
    body: GuardrailCreate,
    reply: GuardrailMade,
    ready: loadChecks,
    described_body: () => GuardrailCreate.extend({checks: described()}),
    handle: created,
  }),
  operation({
    id: 'guardrails.get',
    tag,
    method: 'GET',
    path: '/guardrails/:guardrailId',
    summary: 'Show a guardrail',
    scopes: ['guardrails.read'],
    params,
    reply: GuardrailDetails,
    handle: async call => details(await reachGuardrail(call, call.params.guardrailId)),
  }),
  operation({
    id: 'guardrails.update',
    tag,
    method: 'PUT',
    path: '/guardrails/:guardrailId',
    summary: 'Change a guardrail; other checks or actions are a new version',
    scopes: ['guardrails.update'],
    audit: {resource: 'guardrail', action: 'update'},
    params,
    body: GuardrailUpdate,
    reply: GuardrailMade,
    ready: loadChecks,
    described_body: () => GuardrailUpdate.extend({checks: described().optional()}),
    handle: updated,
  }),
  operation({
    id: 'guardrails.delete',
    refuses: [409],
    tag,
    method: 'DELETE',
    path: '/guardrails/:guardrailId',
    summary: 'Archive a guardrail that no default and no saved config names',
    scopes: ['guardrails.delete'],
    audit: {resource: 'guardrail', action: 'delete'},
    params,
    reply: Empty,
    handle: archived,
  }),
  operation({
    id: 'guardrails.list_versions',
    tag,
    method: 'GET',
    path: '/guardrails/:guardrailId/versions',
    summary: 'List the versions of a guardrail, the newest first',
    scopes: ['guardrails.read'],
    params,
    reply: listOf(GuardrailVersion),
    handle: versionsListed,
  }),
] as const

function described() {
  return z.array(checksKnown().DescribedCheck).min(1).max(MAX_CHECKS)
}

async function listed(call: OperationCall<undefined, typeof GuardrailsQuery>) {
  const {actor, query, db} = call
  requireOwn(call, query.organisation_id)
  const workspace = await namedWorkspace(call, query.workspace_id)
  const workspace_id = workspace ? workspace.id : query.organisation_id === undefined ? undefined : null
  const with_shared = !isAdmin(actor)
  return list(
    await store.listGuardrails(db, {organisation_id: actor.organisation_id, workspace_id, with_shared}, query),
    view,
  )
}

async function created(call: OperationCall<undefined, undefined, typeof GuardrailCreate>) {
  const {actor, app, db, body, now} = call
  const workspace_id = await placeOf(call)
  const by = authorOf(actor.subject)
  const slugs = {
    taken: (slug: string) => store.guardrailSlugTaken(db, slug),
    giveUp: (slug: string) => giveUpSlug(db, 'guardrails', actor.organisation_id, slug),
  }
  const row: GuardrailsTable = {
    id: newId(),
    slug: body.slug ? await givenSlug(body.slug, 'guardrail', slugs) : await freeSlug('pg-', body.name, 6, slugs.taken),
    organisation_id: actor.organisation_id,
    workspace_id,
    name: body.name,
    target: body.target,
    status: 'active',
    version_id: newId(),
    owner_id: by,
    updated_by: by,
    created_at: now,
    last_updated_at: now,
  }
  const checks = checked(app, body.checks)
  await store.insertGuardrail(db, row, {...versionOf(app, row, {checks, actions: whole(body.actions)}), version: 1})
  call.auditTarget(row.id, workspace_id)
  return made(row)
}

async function updated(call: OperationCall<typeof params, undefined, typeof GuardrailUpdate>) {
  const {actor, app, db, body, now} = call
  const before = await reachGuardrail(call, call.params.guardrailId, 'writes')
  const old = {checks: store.openChecks(app.seal, before), actions: JSON.parse(before.actions) as GuardrailActions}
  const next = {
    checks: body.checks ? checked(app, checksKnown().withSecrets(body.checks, old.checks)) : old.checks,
    actions: body.actions ? whole(body.actions) : old.actions,
  }
  const is_new = JSON.stringify(next) !== JSON.stringify(old)
  const change = {
    ...(body.name !== undefined && {name: body.name}),
    ...(is_new && {version_id: newId()}),
    updated_by: authorOf(actor.subject),
    last_updated_at: now,
  }
  const after = {...before, ...change}
  if (is_new) await store.insertGuardrailVersion(db, {...versionOf(app, after, next), version: before.version + 1})
  await store.updateGuardrail(db, before.id, change)
  call.auditTarget(before.id, before.workspace_id)
  return made(after)
}

async function archived(call: OperationCall<typeof params>) {
  const row = await reachGuardrail(call, call.params.guardrailId, 'writes')
  const users = await store.guardrailUsers(call.db, row)
  if (users.length) {
    const some = `${users.slice(0, 5).join(', ')}${users.length > 5 ? ` and ${users.length - 5} more` : ''}`
    const cure = 'Take it out there first.'
    throw new Refusal('row.in_use', {object: 'guardrail', dependants: `${some} naming it`, cure})
  }
  await store.updateGuardrail(call.db, row.id, {status: 'archived', last_updated_at: call.now})
  call.auditTarget(row.id, row.workspace_id)
  return {}
}

async function versionsListed(call: OperationCall<typeof params>) {
  const row = await reachGuardrail(call, call.params.guardrailId)
  const versions = await store.guardrailVersions(call.db, row.id)
  const data = versions.map(({id, version, checks, actions, updated_by, created_at}) => ({
    ...details({...row, version_id: id, checks, actions}),
    ...{version, updated_by, created_at, last_updated_at: created_at},
  }))
  return {object: 'list' as const, total: data.length, data}
}

/**
 * The guardrail that a call names, where its caller reaches it: an admin key all of its organisation's, a workspace's
 * key its own, and the organisation's as far as they are only read.
 */
export async function reachGuardrail({actor, db}: CallerScope, named: string, does: 'reads' | 'writes' = 'reads') {
  const filter = {...visibilityOf({actor}), with_shared: does === 'reads'}
  return found(await store.findGuardrail(db, filter, named), 'guardrail')
}

/** The workspace that a new guardrail is for; null: the organisation. */
async function placeOf(call: OperationCall<undefined, undefined, typeof GuardrailCreate>): Promise<string | null> {
  const {actor, body} = call
  requireOwn(call, body.organisation_id)
  const workspace = await namedWorkspace(call, body.workspace_id)
  if (workspace) return workspace.id
  if (body.organisation_id !== undefined && isAdmin(actor)) return null
  throw invalid(
    'workspace_id',
    'is required, or organisation_id for a guardrail of the whole organisation, as this key is of no workspace',
  )
}

function versionOf(
  {seal}: AdminServices,
  row: GuardrailsTable,
  {checks, actions}: {readonly checks: readonly GuardrailCheck[]; readonly actions: GuardrailActions},
): Omit<GuardrailVersionsTable, 'version'> {
  const {id, organisation_id, version_id, updated_by, last_updated_at} = row
  return {
    id: version_id,
    guardrail_id: id,
    ...store.sealChecks(seal, {id: version_id, organisation_id}, checks, checksKnown().shownChecks(checks)),
    actions: JSON.stringify(actions),
    updated_by,
    created_at: last_updated_at,
  }
}

function made({id, slug, version_id}: GuardrailsTable) {
  return {id, slug, version_id}
}

function details(row: GuardrailsTable & Pick<GuardrailVersionsTable, 'checks' | 'actions'>) {
  return {...view(row), version_id: row.version_id, checks: JSON.parse(row.checks), actions: JSON.parse(row.actions)}
}

function view(row: GuardrailsTable): z.input<typeof GuardrailView> {
  const {id, name, slug, target, organisation_id, workspace_id, status, owner_id, updated_by, ...rest} = row
  const {created_at, last_updated_at} = rest
  return {
    ...{id, name, slug, target, organisation_id, workspace_id, status, owner_id, updated_by},
    ...{created_at, last_updated_at},
  }
}
