import {z} from 'zod'
import {readBaseUrl} from '../base/egress/base-url.ts'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {authorOf} from '../identity/subject.ts'
import {Handle} from '../schema/names.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import {
  AUTH,
  AUTH_ADDRESSES,
  AUTH_SECRETS,
  AUTH_SHARED,
  AUTH_WAY,
  type Manager,
  SECRET_ARN,
  SecretReferenceCreate,
  SecretReferenceCreateSaid,
  SecretReferenceMade,
  SecretReferenceRow,
  SecretReferencesQuery,
  SecretReferenceTest,
  SecretReferenceUpdate,
  SecretReferenceView,
} from '../schema/secret-references.ts'
import {hasMask, mask} from '../schema/secrets.ts'
import {allowedWorkspaces} from '../store/allowed-workspaces.ts'
import * as store from '../store/secret-references.ts'
import type {SecretReferencesTable} from '../store/tables/registry.ts'
import {keepTags, readTags} from '../store/tags.ts'
import {keepAllowed} from './allowed-workspaces.ts'
import {type OperationCall, operation} from './operation.ts'
import {parsed} from './parsed.ts'
import type {AdminServices} from './services.ts'
import {freeSlug} from './slugs.ts'
import {type CallerScope, found, invalid} from './tenancy.ts'

const tag = 'Secret-References'
const path = '/secret-references'
const params = z.strictObject({secretReferenceId: Handle})

/**
 * Secret references: the place of a secret in a manager outside, and the login there. The secret itself is not kept.
 */
export const secretReferences = [
  operation({
    id: 'secret_references.list',
    tag,
    method: 'GET',
    path,
    summary: 'List secret references',
    scopes: ['secret_references.list'],
    query: SecretReferencesQuery,
    reply: listOf(SecretReferenceRow),
    handle: async ({actor, db, query}) =>
      list(await store.listSecretReferences(db, {organisation_id: actor.organisation_id, ...query}, query), row),
  }),
  operation({
    id: 'secret_references.create',
    tag,
    method: 'POST',
    path,
    summary: 'Create a secret reference',
    scopes: ['secret_references.create'],
    audit: {resource: 'secret-reference', action: 'create'},
    body: SecretReferenceCreate,
    described_body: () => SecretReferenceCreateSaid,
    reply: SecretReferenceMade,
    handle: created,
  }),
  operation({
    id: 'secret_references.get',
    tag,
    method: 'GET',
    path: `${path}/:secretReferenceId`,
    summary: 'Show a secret reference, the secrets of its login masked',
    scopes: ['secret_references.read'],
    params,
    reply: SecretReferenceView,
    handle: shown,
  }),
  operation({
    id: 'secret_references.update',
    tag,
    method: 'PUT',
    path: `${path}/:secretReferenceId`,
    summary: 'Change a secret reference; its login field by field',
    scopes: ['secret_references.update'],
    audit: {resource: 'secret-reference', action: 'update'},
    params,
    body: SecretReferenceUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'secret_references.delete',
    tag,
    method: 'DELETE',
    path: `${path}/:secretReferenceId`,
    summary: 'Delete a secret reference that nothing uses',
    scopes: ['secret_references.delete'],
    audit: {resource: 'secret-reference', action: 'delete'},
    params,
    reply: Empty,
    handle: deleted,
  }),
  operation({
    id: 'secret_references.test',
    tag,
    method: 'POST',
    path: `${path}/:secretReferenceId/test`,
    summary: 'Read the secret of a reference at its manager, to say whether calls can use it',
    scopes: ['secret_references.read'],
    reaches_out: true,
    audit: {resource: 'secret-reference', action: 'manage'},
    params,
    body: Empty,
    reply: SecretReferenceTest,
    handle: tested,
  }),
] as const

async function created({
  actor,
  app,
  db,
  body,
  now,
  auditTarget: about,
}: OperationCall<undefined, undefined, typeof SecretReferenceCreate>) {
  const {organisation_id} = actor
  found(body.organisation_id === undefined || body.organisation_id === organisation_id || undefined, 'organisation')
  const taken = async (slug: string) => (await store.findSecretReference(db, organisation_id, slug)) !== undefined
  if (body.slug && (await taken(body.slug)))
    throw invalid('slug', `${body.slug} is the slug of another secret reference`)
  const owner = {id: newId(), organisation_id}
  const login = parsedLogin(body.manager_type, body.auth_config)
  const reference: SecretReferencesTable = {
    ...owner,
    slug: body.slug ?? (await freeSlug('', body.name, 10, taken)),
    name: body.name,
    description: body.description ?? null,
    manager_type: body.manager_type,
    ...loginColumns(app, owner, login),
    secret_path: checkedPath(app, body.manager_type, {path: body.secret_path, login}),
    secret_key: body.secret_key ?? null,
    allow_all_workspaces: await keepAllowed(db, {...owner, allow_all_workspaces: 1}, body),
    tags: keepTags(body.tags ?? {}),
    status: 'active',
    created_by: authorOf(actor.subject),
    created_at: now,
    last_updated_at: now,
  }
  await store.insertSecretReference(db, reference)
  about(reference.id, null)
  return {id: reference.id, slug: reference.slug, object: 'secret-reference' as const}
}

async function shown(call: OperationCall<typeof params>) {
  const reference = await reach(call)
  return {
    ...row(reference),
    organisation_id: reference.organisation_id,
    description: reference.description,
    secret_path: reference.secret_path,
    secret_key: reference.secret_key,
    allow_all_workspaces: reference.allow_all_workspaces === 1,
    allowed_workspaces: await allowedWorkspaces(call.db, reference.id),
    tags: readTags(reference.tags),
    created_by: reference.created_by ?? 'operator',
    auth_config: JSON.parse(reference.auth_config) as Record<string, unknown>,
  }
}

async function updated(call: OperationCall<typeof params, undefined, typeof SecretReferenceUpdate>) {
  const {app, db, body, now} = call
  const before = await reach(call)
  const {secret_path, auth_config} = body
  const login = auth_config && mergedLogin(app, before, auth_config)
  if (secret_path !== undefined || login)
    checkedPath(app, before.manager_type, {
      path: secret_path ?? before.secret_path,
      login: login ?? (JSON.parse(before.auth_config) as Login),
    })
  await store.updateSecretReference(db, before.id, {
    ...(body.name !== undefined && {name: body.name}),
    ...(body.description !== undefined && {description: body.description}),
    ...(login && loginColumns(app, before, login)),
    ...(secret_path !== undefined && {secret_path}),
    ...(body.secret_key !== undefined && {secret_key: body.secret_key}),
    ...(body.tags !== undefined && {tags: keepTags(body.tags ?? {})}),
    allow_all_workspaces: await keepAllowed(db, before, body),
    last_updated_at: now,
  })
  call.auditTarget(before.id, null)
  return {}
}

async function deleted(call: OperationCall<typeof params>) {
  const reference = await reach(call)
  const users = await store.secretReferenceUsers(call.db, reference)
  if (users.length)
    throw invalid('secretReferenceId', `is still mapped by ${users.slice(0, 5).join(', ')}: take it out there first`)
  await store.updateSecretReference(call.db, reference.id, {status: 'archived', last_updated_at: call.now})
  call.auditTarget(reference.id, null)
  return {}
}

async function tested(call: OperationCall<typeof params, undefined, typeof Empty>) {
  const {testReference, store: kept} = call.app
  const reference = await reach(call)
  if (!testReference) throw new Refusal('internal')
  call.auditTarget(reference.id, null)
  const outcome = await testReference(reference)
  await kept.write(db => call.auditOutcome(db, {status: 200, note: {outcome: outcome.error ?? 'success'}}))
  return {slug: reference.slug, ...outcome}
}

/** A place that its manager cannot have is refused when it is saved. */
function checkedPath(
  {settings}: AdminServices,
  manager: Manager,
  {path, login}: {readonly path: string; readonly login: Login},
): string {
  if (manager === 'azure_kv' && !/^[0-9A-Za-z-]{1,127}(?:\/[0-9a-f]{32})?$/.test(path))
    throw invalid(
      'secret_path',
      'of a key vault is a name of letters, digits and hyphens, with /VERSION where one is meant',
    )
  if (manager !== 'aws_sm' || SECRET_ARN.test(path)) return path
  if (path.startsWith('arn:'))
    throw invalid('secret_path', 'is the ARN of no secret: expected arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME')
  if (!(login.aws_region ?? settings.aws_region ?? settings.aws_default_region))
    throw invalid('auth_config.aws_region', 'is needed: neither secret_path nor AWS_REGION names a region')
  return path
}

async function reach({actor, db, params}: CallerScope & {readonly params: {readonly secretReferenceId: string}}) {
  return found(await store.findSecretReference(db, actor.organisation_id, params.secretReferenceId), 'secret reference')
}

type Login = Readonly<Record<string, unknown>>

/** A login as its manager reads it; addresses are judged as text. */
function parsedLogin(manager: Manager, given: Login): Login {
  const login: Login = parsed(AUTH[manager], given, 'auth_config')
  const masked = AUTH_SECRETS.find(field => hasMask(login[field]))
  if (masked) throw invalid(`auth_config.${masked}`, 'holds the mask of a secret, not a secret')
  for (const field of AUTH_ADDRESSES) if (typeof login[field] === 'string') readBaseUrl(login[field])
  return login
}

/**
 * The login of a row with what is given put in place. Another way to log in forgets the fields of the one before, and
 * another address the secrets, which it would get: they are to be given again. Null takes a field away.
 */
function mergedLogin({seal}: AdminServices, before: SecretReferencesTable, given: Login): Login {
  const kept = Object.entries(JSON.parse(before.auth_config) as Login).filter(([field]) => !field.startsWith(MASKED))
  const old: Login = {...Object.fromEntries(kept), ...store.openLogin(seal, before)}
  const way = AUTH_WAY[before.manager_type]
  const is_other_way = given[way] !== undefined && given[way] !== old[way]
  const moves = AUTH_ADDRESSES.some(field => given[field] !== undefined && given[field] !== old[field])
  const stays = Object.entries(old).filter(
    ([field]) => (!is_other_way || AUTH_SHARED.includes(field)) && !(moves && AUTH_SECRETS.includes(field)),
  )
  const whole = Object.entries({...Object.fromEntries(stays), ...given})
  return parsedLogin(before.manager_type, Object.fromEntries(whole.filter(([, value]) => value !== null)))
}

const MASKED = 'masked_'

function loginColumns(
  {seal}: AdminServices,
  owner: Pick<SecretReferencesTable, 'id' | 'organisation_id'>,
  login: Login,
) {
  const secrets = Object.entries(login).filter(([field]) => AUTH_SECRETS.includes(field))
  const shown = Object.entries(login).map(([field, value]) =>
    AUTH_SECRETS.includes(field) ? [`${MASKED}${field}`, mask(String(value))] : [field, value],
  )
  return {
    auth_config: JSON.stringify(Object.fromEntries(shown)),
    auth_config_sealed: store.sealLogin(seal, owner, Object.fromEntries(secrets)),
  }
}

function row(reference: SecretReferencesTable): z.input<typeof SecretReferenceRow> {
  const {id, name, slug, manager_type, created_at, last_updated_at} = reference
  return {id, name, slug, manager_type, status: 'ACTIVE', created_at, last_updated_at, object: 'secret-reference'}
}
