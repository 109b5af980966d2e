import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {securityIn} from '../schema/organisations.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import {pageOfCamel, UserParams, UsersQuery, UserUpdate, UserView} from '../schema/users.ts'
import {findOrganisation} from '../store/organisations.ts'
import * as store from '../store/users.ts'
import {type OperationCall, operation} from './operation.ts'
import {checkRoleGrant} from './role-rules.ts'
import {type CallerScope, found, invalid} from './tenancy.ts'

const tag = 'Users'
type One<Body extends z.ZodType | undefined = undefined> = OperationCall<typeof UserParams, undefined, Body>

/** The people of an organisation. They come by invite; the command line makes the first. */
export const users = [
  operation({
    id: 'users.list',
    tag,
    method: 'GET',
    path: '/admin/users',
    summary: 'List the users of the organisation',
    scopes: ['organisation_users.list'],
    query: UsersQuery,
    reply: listOf(UserView),
    handle: listed,
  }),
  operation({
    id: 'users.get',
    tag,
    method: 'GET',
    path: '/admin/users/:userId',
    summary: 'Show a user',
    scopes: ['organisation_users.read'],
    params: UserParams,
    reply: UserView,
    handle: async call => shown(call, await userOf(call)),
  }),
  operation({
    id: 'users.update',
    tag,
    method: 'PUT',
    path: '/admin/users/:userId',
    summary: 'Change the role of a user in the organisation',
    scopes: ['organisation_users.update'],
    audit: {resource: 'user', action: 'update'},
    params: UserParams,
    body: UserUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'users.delete',
    tag,
    method: 'DELETE',
    path: '/admin/users/:userId',
    summary: 'Take a user out of the organisation: memberships, keys and sessions end',
    scopes: ['organisation_users.delete'],
    audit: {resource: 'user', action: 'delete'},
    params: UserParams,
    reply: Empty,
    handle: deleted,
  }),
] as const

async function listed({actor, db, query}: OperationCall<undefined, typeof UsersQuery>) {
  const {organisation_id} = actor
  const page = await store.listUsers(db, {organisation_id, role: query.role, email: query.email}, pageOfCamel(query))
  const workspaces = await store.workspaceIdsOf(
    db,
    organisation_id,
    page.rows.map(({id}) => id),
  )
  return list(page, row => userView(row, workspaces.get(row.id)))
}

async function updated(call: One<typeof UserUpdate>) {
  const {actor, db, body, now} = call
  if (body.role === 'owner' && actor.subject.kind !== 'operator')
    throw invalid('role', 'owner is given on the command line of the data directory only: send admin or member')
  if (body.role === 'admin') {
    const organisation = await findOrganisation(db, actor.organisation_id)
    checkRoleGrant(actor, 'organisation admin', securityIn(organisation?.settings))
  }
  const user = await userOf(call)
  if (user.role === body.role) throw invalid('role', `is ${body.role} already`)
  await guardOwner(call, user)
  await store.updateOrganisationUser(db, actor.organisation_id, user.id, {
    role: body.role,
    role_source: null,
    last_updated_at: now,
  })
  return {}
}

async function deleted(call: One) {
  const user = await userOf(call)
  await guardOwner(call, user)
  await store.leaveOrganisation(call.db, call.actor.organisation_id, user.id, call.now)
  return {}
}

/** An active user of the caller's organisation, by id. */
async function userOf({
  actor,
  db,
  params,
}: CallerScope & {readonly params: {readonly userId: string}}): Promise<store.OrganisationUser> {
  const user = await store.findOrganisationUser(db, actor.organisation_id, params.userId)
  return found(user?.status === 'active' ? user : undefined, 'user')
}

/** Owners are changed by owners and the operator alone, and an organisation keeps one. */
export async function guardOwner({actor, db}: CallerScope, user: store.OrganisationUser) {
  if (user.role !== 'owner') return
  if (actor.subject.kind !== 'operator' && actor.person?.organisation_role !== 'owner')
    throw new Refusal('role.above', {role: 'owner', own: actor.person?.organisation_role ?? 'admin'})
  if ((await store.countOwners(db, actor.organisation_id)) === 1)
    throw new Refusal('row.unfit', {
      reason: 'The organisation has no other owner. Make one first: gateway users update EMAIL --role owner.',
    })
}

async function shown({actor, db}: CallerScope, row: store.OrganisationUser) {
  return userView(row, (await store.workspaceIdsOf(db, actor.organisation_id, [row.id])).get(row.id))
}

export function userView(row: store.OrganisationUser, workspace_ids: readonly string[] = []): z.input<typeof UserView> {
  const {id, first_name, last_name, role, email, created_at, last_updated_at} = row
  return {
    ...{id, first_name, last_name, role, email, created_at, last_updated_at},
    workspace_ids: [...workspace_ids],
    object: 'user',
  }
}
