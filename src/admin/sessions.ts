import type {z} from 'zod'
import {Empty, list, listOf} from '../schema/paging.ts'
import {EndedSessions, SessionParams, SessionsQuery, SessionView, UserParams} from '../schema/users.ts'
import * as store from '../store/sessions.ts'
import {findOrganisationUser} from '../store/users.ts'
import {type OperationCall, operation} from './operation.ts'
import {found} from './tenancy.ts'

const tag = 'Users'

/** The sessions of people: of browsers, of command lines, and those that the operator opened. */
export const sessions = [
  operation({
    id: 'sessions.list',
    tag,
    method: 'GET',
    path: '/admin/sessions',
    summary: 'List the sessions that can be used',
    scopes: ['organisation_users.list'],
    query: SessionsQuery,
    reply: listOf(SessionView),
    async handle({actor, db, query, now}) {
      const {user_id} = query
      return list(await store.listSessions(db, {organisation_id: actor.organisation_id, user_id, now}, query), view)
    },
  }),
  operation({
    id: 'sessions.revoke',
    tag,
    method: 'DELETE',
    path: '/admin/sessions/:sessionId',
    summary: 'End a session',
    scopes: ['organisation_users.update'],
    audit: {resource: 'session', action: 'delete'},
    params: SessionParams,
    reply: Empty,
    handle: revoked,
  }),
  operation({
    id: 'sessions.revoke_of_user',
    tag,
    method: 'DELETE',
    path: '/admin/users/:userId/sessions',
    summary: 'End all sessions of a user',
    scopes: ['organisation_users.update'],
    audit: {resource: 'session', action: 'manage'},
    params: UserParams,
    reply: EndedSessions,
    handle: revokedOfUser,
  }),
] as const

async function revoked({actor, db, params, now}: OperationCall<typeof SessionParams>) {
  const session = await store.findSession(db, actor.organisation_id, params.sessionId)
  const {id} = found(session?.revoked_at === null ? session : undefined, 'session')
  await store.revokeSession(db, id, now)
  return {}
}

async function revokedOfUser(call: OperationCall<typeof UserParams>): Promise<z.input<typeof EndedSessions>> {
  const {actor, db, params, now} = call
  const known = await findOrganisationUser(db, actor.organisation_id, params.userId)
  const user = found(known?.status === 'active' ? known : undefined, 'user')
  const ended = await store.revokeSessionsOf(db, actor.organisation_id, user.id, now)
  call.auditTarget(user.id, null)
  return {ended, object: 'ended-sessions'}
}

function view(row: store.FoundSession): z.input<typeof SessionView> {
  const {id, user_id, email, created_at, expires_at} = row
  return {
    ...{id, user_id, email, kind: row.kind ?? 'operator', method: row.method ?? 'operator'},
    ...{client_ip: row.client_ip ?? null, user_agent: row.user_agent ?? null},
    ...{last_seen_at: row.last_seen_at ?? created_at, created_at, expires_at, object: 'session'},
  }
}
