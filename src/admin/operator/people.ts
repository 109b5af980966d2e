import type {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {newId} from '../../base/ids.ts'
import {Empty, list, listOf} from '../../schema/paging.ts'
import {
  CreatedSession,
  SessionCreate,
  SessionParams,
  SessionsQuery,
  SessionView,
  UserCreate,
  UserView,
} from '../../schema/users.ts'
import {findSession, listSessions, revokeSession} from '../../store/sessions.ts'
import {findOrganisationUser, findUserByEmail, insertUser, joinOrganisation} from '../../store/users.ts'
import {openSession} from '../open-session.ts'
import {type OperationCall, operation} from '../operation.ts'
import {found} from '../tenancy.ts'
import {userView} from '../users.ts'

const tag = 'Operator'

/** The first people of an organisation, and their sessions, before there is another way in. */
export const operatorPeople = [
  operation({
    id: 'users.create',
    tag,
    method: 'POST',
    path: '/operator/users',
    summary: 'Make a user of the organisation',
    scopes: [],
    audit: {resource: 'user', action: 'create'},
    body: UserCreate,
    reply: UserView,
    handle: userCreated,
  }),
  operation({
    id: 'sessions.create',
    tag,
    method: 'POST',
    path: '/operator/sessions',
    summary: 'Open a session of a user; the reply is the only one that says its token',
    scopes: [],
    audit: {resource: 'session', action: 'create'},
    body: SessionCreate,
    reply: CreatedSession,
    handle: sessionCreated,
  }),
  operation({
    id: 'sessions.list',
    tag,
    method: 'GET',
    path: '/operator/sessions',
    summary: 'List the sessions that can be used',
    scopes: [],
    query: SessionsQuery,
    reply: listOf(SessionView),
    handle: sessionsListed,
  }),
  operation({
    id: 'sessions.revoke',
    tag,
    method: 'DELETE',
    path: '/operator/sessions/:sessionId',
    summary: 'End a session',
    scopes: [],
    audit: {resource: 'session', action: 'delete'},
    params: SessionParams,
    reply: Empty,
    handle: sessionRevoked,
  }),
] as const

async function userCreated(
  call: OperationCall<undefined, undefined, typeof UserCreate>,
): Promise<z.input<typeof UserView>> {
  const {actor, db, body, now} = call
  const {organisation_id} = actor
  const {email, role, first_name = null, last_name = null} = body
  const times = {created_at: now, last_updated_at: now}
  const known = await findUserByEmail(db, email)
  const id = known?.id ?? newId()
  if (!known) await insertUser(db, {id, email, first_name, last_name, ...times})
  const before = await findOrganisationUser(db, organisation_id, id)
  if (before?.status === 'active') throw new Refusal('row.exists', {object: 'user', field: 'email', value: email})
  await joinOrganisation(db, {organisation_id, user_id: id, role, status: 'active', ...times})
  call.auditTarget(id, null)
  return userView((await findOrganisationUser(db, organisation_id, id))!)
}

async function sessionCreated(
  call: OperationCall<undefined, undefined, typeof SessionCreate>,
): Promise<z.input<typeof CreatedSession>> {
  const {actor, db, body, now} = call
  const {organisation_id} = actor
  const known = await findUserByEmail(db, body.email)
  const user = known && (await findOrganisationUser(db, organisation_id, known.id))
  if (user?.status !== 'active')
    throw new Refusal('parent.not_found', {field: 'email', object: 'user of the organisation', value: body.email})
  const session = await openSession(db, {organisation_id, user_id: user.id, ttl_s: body.ttl_s}, now)
  call.auditTarget(session.id, null)
  return {...session, user_id: user.id, object: 'session'}
}

async function sessionsListed({actor, db, query, now}: OperationCall<undefined, typeof SessionsQuery>) {
  const page = await listSessions(db, {organisation_id: actor.organisation_id, user_id: query.user_id, now}, query)
  return list(page, ({id, user_id, email, created_at, expires_at}) => ({
    id,
    user_id,
    email,
    created_at,
    expires_at,
    object: 'session' as const,
  }))
}

async function sessionRevoked({actor, db, params, now}: OperationCall<typeof SessionParams>) {
  const session = found(await findSession(db, actor.organisation_id, params.sessionId), 'session')
  if (session.revoked_at === null) await revokeSession(db, session.id, now)
  return {}
}
