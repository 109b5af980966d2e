import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {hasScope, ownWorkspace, ungrantable} from '../identity/access.ts'
import {makeKey} from '../identity/keys.ts'
import {userOf} from '../identity/subject.ts'
import {
  CreatedKey,
  KeyCreate,
  KeyParams,
  KeyRotate,
  KeysQuery,
  KeyUpdate,
  KeyView,
  RotatedKey,
  SelfQuery,
  SelfView,
} from '../schema/api-keys.ts'
import {changedRateLimits, changedUsageLimits} from '../schema/limit-changes.ts'
import {keepRateLimits, keepUsageLimits, reactivates} from '../schema/limits.ts'
import {changedModelList} from '../schema/model-lists.ts'
import {Handle} from '../schema/names.ts'
import {type KeptOrganisationSettings, keyRules, readSettings} from '../schema/organisations.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import * as store from '../store/api-keys.ts'
import {findConfigForCall} from '../store/configs.ts'
import {findMember} from '../store/members.ts'
import {findOrganisation} from '../store/organisations.ts'
import type {ApiKeyKind, ApiKeysTable} from '../store/tables/identity.ts'
import {findOrganisationUser} from '../store/users.ts'
import {findWorkspace} from '../store/workspaces.ts'
import {type Action, isOwnOnly, KINDS, scopeFor, visibilityOf} from './key-reach.ts'
import {checkGrant, expiryUnder, keepKeyDefaults} from './key-rules.ts'
import {signInsNeeded} from './key-sign-ins.ts'
import {budgetsOf, keyView} from './key-view.ts'
import {standingOf, standingsOf} from './limit-status.ts'
import {newKey} from './new-key.ts'
import {type OperationCall, operation} from './operation.ts'
import {organisationView} from './organisation-views.ts'
import type {Actor} from './services.ts'
import {type CallerScope, found, invalid, namedWorkspace, workspaceOf} from './tenancy.ts'

const tag = 'Api-Keys'

const params = z.strictObject({id: Handle})
type One<Body extends z.ZodType | undefined = undefined> = OperationCall<typeof params, undefined, Body>

/** Service keys. The key itself is shown once, when it is made; only its hash is kept. */
export const apiKeys = [
  operation({
    id: 'api_keys.create',
    tag,
    method: 'POST',
    path: '/api-keys/:type/:subtype',
    summary: 'Create an API key; the reply is the only one that says it',
    scopes: scopesFor('create'),
    audit: {resource: 'api-key', action: 'create'},
    params: KeyParams,
    body: KeyCreate,
    reply: CreatedKey,
    handle: created,
  }),
  operation({
    id: 'api_keys.self',
    tag,
    method: 'GET',
    path: '/api-keys/self/details',
    summary: 'Show the API key that asks, masked',
    scopes: [],
    query: SelfQuery,
    reply: SelfView,
    handle: ownDetails,
  }),
  operation({
    id: 'api_keys.list',
    tag,
    method: 'GET',
    path: '/api-keys',
    summary: 'List API keys, masked',
    scopes: scopesFor('list'),
    query: KeysQuery,
    reply: listOf(KeyView),
    handle: listed,
  }),
  operation({
    id: 'api_keys.get',
    tag,
    method: 'GET',
    path: '/api-keys/:id',
    summary: 'Show an API key, masked',
    scopes: scopesFor('read'),
    params,
    reply: KeyView,
    async handle(call) {
      const key = await keyOf(call, 'read')
      const needed = await signInsNeeded(call, [key])
      return keyView(key, call.now, await standingOf(call.app, budgetsOf(key)), needed.get(key.id))
    },
  }),
  operation({
    id: 'api_keys.update',
    tag,
    method: 'PUT',
    path: '/api-keys/:id',
    summary: 'Change an API key: what is absent stays, null clears',
    scopes: scopesFor('update'),
    audit: {resource: 'api-key', action: 'update'},
    params,
    body: KeyUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'api_keys.delete',
    tag,
    method: 'DELETE',
    path: '/api-keys/:id',
    summary: 'Delete an API key: it works no longer',
    scopes: scopesFor('delete'),
    audit: {resource: 'api-key', action: 'delete'},
    params,
    reply: Empty,
    handle: deleted,
  }),
  operation({
    id: 'api_keys.rotate',
    tag,
    method: 'POST',
    path: '/api-keys/:id/rotate',
    summary: 'Give an API key a new secret; the one before works on for a while',
    scopes: [...scopesFor('rotate'), ...scopesFor('update')],
    audit: {resource: 'api-key', action: 'rotate'},
    params,
    body: KeyRotate,
    reply: RotatedKey,
    handle: rotated,
  }),
] as const

async function created(call: OperationCall<typeof KeyParams, undefined, typeof KeyCreate>) {
  const {actor, db, body, now} = call
  const kind = kindOf(call.params)
  if (!hasScope(actor, scopeFor(kind, 'create'))) throw new Refusal('scope.missing', {scope: scopeFor(kind, 'create')})
  const scopes = checkGrant(actor, kind, body.scopes)
  if (body.user_id && kind !== 'workspace-user') throw invalid('user_id', 'is for keys of type workspace/user only')
  if (body.organisation_id && body.organisation_id !== actor.organisation_id) {
    throw new Refusal('parent.not_found', {
      field: 'organisation_id',
      object: 'organisation',
      value: body.organisation_id,
    })
  }
  const user_id = kind === 'workspace-user' ? userFor(actor, body.user_id) : null
  const workspace_id = await homeOf(call, kind, body.workspace_id ?? undefined)
  const rules = await rulesOf(call)
  const expires_at = expiryUnder(rules, body.expires_at, now)
  await checkUser(call, workspace_id, user_id)
  await checkRoom(call, kind, workspace_id, rules.max_user_keys_per_workspace)
  await checkDefaults(call, kind, workspace_id, body.defaults)
  checkModels(kind, body.models)
  const made = makeKey()
  const {key} = made
  const row = newKey(
    {
      organisation_id: actor.organisation_id,
      workspace_id,
      user_id,
      kind,
      name: body.name,
      description: body.description ?? null,
      usage_limits: keepUsageLimits(body.usage_limits ?? null, null, now),
      rate_limits: keepRateLimits(body.rate_limits ?? null),
      models: changedModelList(body.models, null),
      defaults: keepKeyDefaults(null, body.defaults),
      alert_emails: listText(body.alert_emails),
      creation_mode: 'api',
      expires_at,
    },
    made,
    scopes,
    now,
  )
  await store.insertKey(db, row)
  call.auditTarget(row.id, workspace_id)
  return {id: row.id, key, object: 'api-key' as const}
}

async function listed(call: OperationCall<undefined, typeof KeysQuery>) {
  const workspace = await namedWorkspace(call, call.query.workspace_id)
  const reach = {...visibilityOf(call.actor, 'list'), workspace_id: workspace?.id ?? null}
  const page = await store.listKeys(call.db, reach, call.query)
  const standings = await standingsOf(call.app, page.rows, budgetsOf)
  const needed = await signInsNeeded(call, page.rows)
  return list(page, row => keyView(row, call.now, standings.get(row)!, needed.get(row.id)))
}

async function updated(call: One<typeof KeyUpdate>) {
  const {actor, db, body, now} = call
  if (isOwnOnly(actor) && (body.usage_limits !== undefined || body.rate_limits !== undefined || body.reset_usage))
    throw new Refusal('role.own_only', {deed: 'changing the limits of a key'})
  if (isOwnOnly(actor) && body.models !== undefined)
    throw new Refusal('role.own_only', {deed: 'changing the models of a key'})
  const before = await keyOf(call, 'update')
  const held = JSON.parse(before.scopes) as string[]
  const scopes = body.scopes && checkGrant(actor, before.kind, body.scopes, held)
  if (body.expires_at !== undefined) expiryUnder(await rulesOf(call), body.expires_at, now)
  await checkDefaults(call, before.kind, before.workspace_id, body.defaults)
  checkModels(before.kind, body.models)
  const limits = changedUsageLimits(body.usage_limits, before.usage_limits, now)
  await store.updateKey(db, before.id, {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.description !== undefined && {description: body.description}),
    ...(scopes && {scopes: JSON.stringify(scopes)}),
    rate_limits: changedRateLimits(body.rate_limits, before.rate_limits),
    models: changedModelList(body.models, before.models),
    ...(body.defaults !== undefined && {defaults: keepKeyDefaults(before.defaults, body.defaults)}),
    ...(body.alert_emails !== undefined && {alert_emails: listText(body.alert_emails)}),
    ...(body.expires_at !== undefined && {expires_at: body.expires_at}),
    ...(body.reset_usage && {last_reset_at: now}),
    usage_limits: limits,
    status: statusAfter(before, body, limits),
    last_updated_at: now,
  })
  call.auditTarget(before.id, before.workspace_id)
  return {}
}

async function deleted(call: One) {
  const key = await keyOf(call, 'delete')
  await store.updateKey(call.db, key.id, {status: 'archived', last_updated_at: call.now})
  call.auditTarget(key.id, key.workspace_id)
  return {}
}

/** The caller that rotates a key gets its new secret, and so must have the key's permissions. */
async function rotated(call: One<typeof KeyRotate>) {
  const {actor, db, body, now} = call
  const before = (await keyIf(call, 'rotate')) ?? (await keyOf(call, 'update'))
  const beyond = ungrantable(actor, JSON.parse(before.scopes) as string[])
  if (beyond.length) throw new Refusal('scope.missing', {scope: `${beyond.join(', ')} itself, as the key does`})
  const until = before.previous_key_expires_at
  if (until && until > now)
    throw new Refusal('row.unfit', {
      reason: `The API key was rotated already: the old secret works until ${until}. Rotate it again after that.`,
    })
  const {key, hash, masked} = makeKey()
  const key_transition_expires_at = new Date(Date.parse(now) + body.key_transition_period_ms).toISOString()
  await store.updateKey(db, before.id, {
    key_hash: hash,
    key_masked: masked,
    previous_key_hash: before.key_hash,
    previous_key_expires_at: key_transition_expires_at,
    last_updated_at: now,
  })
  call.auditTarget(before.id, before.workspace_id)
  return {id: before.id, key, key_transition_expires_at}
}

async function ownDetails(call: OperationCall<undefined, typeof SelfQuery>): Promise<z.input<typeof SelfView>> {
  const {actor, app, db, query, now} = call
  const {organisation_id, subject} = actor
  if (subject.kind !== 'api_key') throw new Refusal('row.not_found', {object: 'API key'})
  const workspace_id = ownWorkspace(actor)
  const row = found(await store.findKey(db, {organisation_id, workspace_id, kinds: KINDS}, subject.id), 'API key')
  const organisation = query.include_organisation === 'true' ? await findOrganisation(db, organisation_id) : undefined
  const workspace = workspace_id === null ? undefined : await findWorkspace(db, organisation_id, workspace_id)
  return {
    ...keyView(row, now, await standingOf(app, budgetsOf(row)), (await signInsNeeded(call, [row])).get(row.id)),
    ...(organisation && {organisation: organisationView(organisation)}),
    ...(query.include_workspace === 'true' && {
      workspace: workspace
        ? {id: workspace.id, slug: workspace.slug, name: workspace.name, status: workspace.status}
        : null,
    }),
  }
}

function kindOf({type, subtype}: z.output<typeof KeyParams>): ApiKeyKind {
  const kind = KINDS.find(each => each === `${type}-${subtype}`)
  if (kind) return kind
  throw new Refusal('body.invalid', {
    issues:
      'The path must be organisation/service, workspace/service or workspace/user: there are no organisation/user keys.',
  })
}

function scopesFor(action: Action): string[] {
  return KINDS.map(kind => scopeFor(kind, action))
}

async function keyOf(call: CallerScope & Named, action: Action): Promise<ApiKeysTable> {
  return found(await keyIf(call, action), 'API key')
}

function keyIf({actor, db, params}: CallerScope & Named, action: Action): Promise<ApiKeysTable | undefined> {
  return store.findKey(db, visibilityOf(actor, action), params.id)
}

interface Named {
  readonly params: {readonly id: string}
}

/** The home of a new key: the workspace it names, or its maker's; none for an admin key. */
async function homeOf(call: CallerScope, kind: ApiKeyKind, named: string | undefined): Promise<string | null> {
  if (kind !== 'organisation-service') return (await workspaceOf(call, named)).id
  if (named !== undefined)
    throw invalid('workspace_id', 'is for keys of type workspace/service and workspace/user only')
  return null
}

/** The owner of a user key: the user that is named, or the one who makes it. */
function userFor(actor: Actor, named: string | null | undefined): string | null {
  const user_id = named ?? userOf(actor.subject)
  if (isOwnOnly(actor) && user_id !== userOf(actor.subject))
    throw new Refusal('role.own_only', {deed: 'making a key for another user'})
  return user_id
}

/** The user of a key must be in its workspace, as its member or as an owner or admin of the organisation. */
async function checkUser({actor, db}: CallerScope, workspace_id: string | null, user_id: string | null) {
  if (user_id === null || workspace_id === null) return
  const user = await findOrganisationUser(db, actor.organisation_id, user_id)
  if (user?.status === 'active' && (user.role !== 'member' || (await findMember(db, workspace_id, user_id)))) return
  throw new Refusal('parent.not_found', {field: 'user_id', object: 'user of this workspace', value: user_id})
}

async function checkRoom({db}: CallerScope, kind: ApiKeyKind, workspace_id: string | null, most: number | null) {
  if (kind !== 'workspace-user' || workspace_id === null || most === null) return
  if ((await store.countUserKeys(db, workspace_id)) >= most)
    throw new Refusal('body.invalid', {
      issues: `The workspace has as many user keys as it may have (${most}). Delete one first.`,
    })
}

async function rulesOf({actor, db}: CallerScope) {
  return keyRules(
    readSettings<KeptOrganisationSettings>((await findOrganisation(db, actor.organisation_id))?.settings).api_keys,
  )
}

async function checkDefaults(
  {db}: CallerScope,
  kind: ApiKeyKind,
  workspace_id: string | null,
  defaults: KeyCreateDefaults,
) {
  const named = defaults?.config_id
  if (!named) return
  if (workspace_id === null)
    throw invalid('defaults.config_id', `has no effect on a key of type ${kind}, which calls no models`)
  if (await findConfigForCall(db, workspace_id, named)) return
  throw new Refusal('parent.not_found', {field: 'defaults.config_id', object: 'config', value: named})
}

function checkModels(kind: ApiKeyKind, models: KeyUpdate['models']) {
  if (models && kind === 'organisation-service')
    throw invalid('models', `has no effect on a key of type ${kind}, which calls no models`)
}
type KeyCreateDefaults = z.output<typeof KeyCreate>['defaults']

function statusAfter(
  before: ApiKeysTable,
  body: z.output<typeof KeyUpdate>,
  limits: string | null,
): ApiKeysTable['status'] {
  const revived =
    (before.status === 'expired' && body.expires_at !== undefined) ||
    (before.status === 'exhausted' && (body.reset_usage || reactivates(before.usage_limits, limits)))
  return revived ? 'active' : before.status
}

function listText(texts: readonly string[] | null | undefined): string | null {
  return texts?.length ? JSON.stringify(texts) : null
}
