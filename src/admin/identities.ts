import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {issuerOf, readConnection} from '../identity/connections.ts'
import {
  IdentitiesQuery,
  IdentityCreate,
  IdentityParams,
  IdentityView,
  Relinked,
  RelinkQuery,
} from '../schema/identities.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import {listConnections} from '../store/connections.ts'
import * as store from '../store/identities.ts'
import type {IdentitiesTable} from '../store/tables/sign-in.ts'
import {findOrganisationUser, findUserByEmail} from '../store/users.ts'
import {makesOwners} from './makes-owners.ts'
import {type OperationCall, operation} from './operation.ts'
import {found} from './tenancy.ts'

const tag = 'Users'

/** Links: the subjects at identity providers by which users are known. */
export const identities = [
  operation({
    id: 'identities.list',
    tag,
    method: 'GET',
    path: '/admin/identities',
    summary: 'List by which subjects at identity providers users are known',
    scopes: ['organisation_users.list'],
    query: IdentitiesQuery,
    reply: listOf(IdentityView),
    async handle({actor, db, query}) {
      const {user_id, issuer} = query
      const filter = {organisation_id: actor.organisation_id, user_id, issuer}
      return list(await store.listIdentities(db, filter, query), view)
    },
  }),
  operation({
    id: 'identities.delete',
    tag,
    method: 'DELETE',
    path: '/admin/identities/:identityId',
    summary: 'Delete a link: the next sign-in of its user links again',
    scopes: ['organisation_users.update'],
    audit: {resource: 'identity', action: 'delete'},
    params: IdentityParams,
    reply: Empty,
    handle: deleted,
  }),
  operation({
    id: 'identities.relink',
    tag,
    method: 'DELETE',
    path: '/admin/organisation/identities',
    summary:
      'Delete all links of an issuer: after a new registration there sign-ins link again. ' +
      'Those of owners stay, unless an owner asks',
    scopes: ['organisation_settings.update'],
    audit: {resource: 'identity', action: 'delete'},
    query: RelinkQuery,
    reply: Relinked,
    handle: relinked,
  }),
] as const

/** The operator names the user of a subject: owners and admins are not linked by their address alone. */
export const operatorIdentities = [
  operation({
    id: 'identities.create',
    tag: 'Operator',
    method: 'POST',
    path: '/operator/identities',
    summary: 'Link a user to a subject at an identity provider',
    scopes: [],
    audit: {resource: 'identity', action: 'create'},
    body: IdentityCreate,
    reply: IdentityView,
    handle: created,
  }),
] as const

async function deleted(call: OperationCall<typeof IdentityParams>) {
  const {actor, db, params} = call
  const link = found(await store.identityById(db, actor.organisation_id, params.identityId), 'link')
  await requireOwnerFor(call, link.user_id)
  await store.deleteIdentity(db, link.id)
  call.auditTarget(link.id, null)
  return {}
}

/** A caller who unlinks an owner could have another be linked in his place. */
async function requireOwnerFor(call: Pick<OperationCall, 'actor' | 'db'>, user_id: string) {
  const user = await findOrganisationUser(call.db, call.actor.organisation_id, user_id)
  if (user?.role === 'owner' && !(await makesOwners(call)))
    throw new Refusal('role.above', {role: 'owner', own: call.actor.person?.organisation_role ?? 'admin'})
}

async function relinked(call: OperationCall<undefined, typeof RelinkQuery>): Promise<z.input<typeof Relinked>> {
  const {actor, db, query} = call
  const has_owners = await makesOwners(call)
  const dropped = await store.deleteIdentitiesOf(db, {organisation_id: actor.organisation_id, ...query, has_owners})
  call.auditTarget(actor.organisation_id, null)
  return {dropped, object: 'relinked'}
}

async function created(
  call: OperationCall<undefined, undefined, typeof IdentityCreate>,
): Promise<z.input<typeof IdentityView>> {
  const {actor, db, body, now} = call
  const {organisation_id} = actor
  const known = await findUserByEmail(db, body.email)
  const user = known && (await findOrganisationUser(db, organisation_id, known.id))
  if (!user)
    throw new Refusal('parent.not_found', {field: 'email', object: 'user of the organisation', value: body.email})
  const issuer = body.issuer ?? (await issuerIn(call, body.connection))
  const {subject} = body
  if (await store.findIdentity(db, {organisation_id, issuer, subject}))
    throw new Refusal('row.exists', {object: 'link', field: 'subject', value: subject})
  const row: IdentitiesTable = {
    ...{id: newId(), organisation_id, issuer, subject, user_id: user.id, email: body.email},
    ...{created_at: now, last_seen_at: now},
  }
  await store.insertIdentity(db, row)
  call.auditTarget(row.id, null)
  return view(row)
}

async function issuerIn({actor, db, app}: Pick<OperationCall, 'actor' | 'db' | 'app'>, named: string | undefined) {
  const rows = await listConnections(db, actor.organisation_id)
  const row = named === undefined ? rows[0] : rows.find(({id, name}) => id === named || name === named)
  if (row) return issuerOf(readConnection(row, app.seal))
  throw new Refusal('parent.not_found', {field: 'connection', object: 'connection', value: named ?? 'the first'})
}

function view({organisation_id: _, ...row}: IdentitiesTable): z.input<typeof IdentityView> {
  return {...row, object: 'identity'}
}
