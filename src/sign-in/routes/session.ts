import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../../base/errors.ts'
import {openConnection, type SsoConnection} from '../../identity/connections.ts'
import {idTokenPlace} from '../../identity/open-session.ts'
import {endOf} from '../../identity/sessions.ts'
import {keysOfUser} from '../../store/api-keys.ts'
import type {Db} from '../../store/database.ts'
import {lastSignIn, noteSignIn} from '../../store/last-sign-ins.ts'
import {workspacesOf} from '../../store/members.ts'
import {findOrganisation} from '../../store/organisations.ts'
import {type FoundSession, findSession, listSessions, revokeSession} from '../../store/sessions.ts'
import {usageSums} from '../../store/usage-sums.ts'
import {findOrganisationUser, membershipsEverywhere} from '../../store/users.ts'
import {clientOf, type HeldSession, requireSession, wantsJson} from '../caller.ts'
import {fieldsOf} from '../fields.ts'
import {openPersonSession} from '../finish.ts'
import {SIGNED_OUT} from '../own-places.ts'
import type {SignInServices} from '../services.ts'
import {opensOther, sameConnection} from '../switches.ts'

const MOST = {current_page: 0, page_size: 100}
const NANOUSD = 1e9

/** A person's own things: who he is, his sessions, his keys, and the way out. */
export function sessionRoutes(scope: FastifyInstance, services: SignInServices): void {
  scope.get('/v1/auth/self', async (request, reply) =>
    reply.send(await selfOf(services, await requireSession(request, services))),
  )
  scope.get('/v1/auth/sessions', async (request, reply) => {
    const {session} = await requireSession(request, services)
    return reply.send(await sessionsOf(services, session))
  })
  scope.delete('/v1/auth/sessions/:id', async (request, reply) => {
    const {session} = await requireSession(request, services)
    const {id} = request.params as {readonly id: string}
    const other = await findSession(services.store.db, session.organisation_id, id)
    if (other?.user_id !== session.user_id || other.revoked_at !== null)
      throw new Refusal('row.not_found', {object: 'session'})
    await ended(services, request, session, other)
    return reply.send({})
  })
  scope.get('/v1/auth/keys', async (request, reply) => {
    const {session} = await requireSession(request, services)
    return reply.send(await keysOf(services, session))
  })
  for (const path of ['/v1/auth/logout', '/v2/auth/logout'])
    scope.post(path, (request, reply) => loggedOut(request, reply, services))
  scope.post('/v1/auth/switch', (request, reply) => switched(request, reply, services))
}

async function selfOf(services: SignInServices, {session, csrf_token}: HeldSession) {
  const {db} = services.store
  const {organisation_id, user_id} = session
  const [user, organisation] = [
    (await findOrganisationUser(db, organisation_id, user_id))!,
    (await findOrganisation(db, organisation_id))!,
  ]
  const organisations = []
  for (const each of await membershipsEverywhere(db, user_id))
    organisations.push({...each, opens: await opensOther(services, session, each.id)})
  const {id, email, first_name, last_name, role} = user
  const workspaces = await workspacesOf(db, {organisation_id, user_id, is_admin: role !== 'member'})
  return {
    user: {id, email, first_name, last_name},
    organisation: {id: organisation.id, slug: organisation.slug, name: organisation.name, role},
    organisations,
    workspaces,
    session: viewOf(session),
    csrf_token,
    object: 'self',
  }
}

function viewOf(session: FoundSession) {
  const {id, kind, method, created_at, expires_at, idle_timeout_s} = session
  const ends_at = endOf(session)
  return {
    ...{id, kind: kind ?? 'operator', method: method ?? 'operator', created_at},
    expires_at,
    idle_expires_at: idle_timeout_s ? ends_at : null,
  }
}

async function sessionsOf({store, now}: SignInServices, {id, organisation_id, user_id}: FoundSession) {
  const {rows} = await listSessions(store.db, {organisation_id, user_id, now: now().toISOString()}, MOST)
  const live = rows.filter(row => endOf(row) > now().toISOString())
  const data = live.map(row => ({
    ...viewOf(row),
    ...{client_ip: row.client_ip ?? null, user_agent: row.user_agent ?? null},
    last_seen_at: row.last_seen_at ?? row.created_at,
    current: row.id === id,
  }))
  return {object: 'list', total: data.length, data}
}

/** The keys of the person, with what each has spent since the month began (UTC). */
async function keysOf({store, now}: SignInServices, {organisation_id, user_id}: FoundSession) {
  const rows = await keysOfUser(store.db, organisation_id, user_id)
  const from = `${now().toISOString().slice(0, 7)}-01T00:00:00.000Z`
  const scope = {organisation_id, workspace_id: undefined, user_ids: [user_id], from, until: undefined}
  const sums = new Map((await usageSums(store.db, ['key'], scope)).map(each => [each.api_key_id, each]))
  const data = rows.map(({id, name, key_masked, status, expires_at, created_at, ...of}) => {
    const sum = sums.get(id)
    return {
      ...{id, name, masked: key_masked, status, expires_at, created_at},
      workspace: {id: of.workspace_id, slug: of.workspace_slug, name: of.workspace_name},
      spent_usd: Number(sum?.cost_nanousd ?? 0) / NANOUSD,
      calls: Number(sum?.requests ?? 0),
    }
  })
  return {object: 'list', total: data.length, data}
}

async function ended(services: SignInServices, request: FastifyRequest, by: FoundSession, session: FoundSession) {
  const {store, rows} = services
  const {organisation_id, user_id} = by
  const now = services.now().toISOString()
  await store.write(async db => {
    await revokeSession(db, session.id, now)
    const deed = {resource: 'session', resource_id: session.id, action: 'delete', status: 200, body: {}} as const
    await rows.note(db, {...deed, organisation_id, user_id}, clientOf(request))
  })
}

/** Ends the session here first, whatever the provider does then. A form is sent on to the provider's own end. */
async function loggedOut(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const {session, is_cookie} = await requireSession(request, services)
  const id_token = openedIdToken(services, session)
  const {store, connections, cookies, base_url} = services
  // read before: once the session has ended, nothing may fail that an answer needs
  const {connection_id} = session
  const connection = id_token && connection_id ? await openConnection(store.db, connections, connection_id) : undefined
  await ended(services, request, session, session)
  if (is_cookie) reply.header('set-cookie', cookies.set(cookies.session, '', 0))
  const logout_url = await logoutUrl(services, connection, id_token)
  if (wantsJson(request)) return reply.send({logout_url})
  return reply.redirect(logout_url ?? `${base_url}${SIGNED_OUT}`, 303)
}

/** Null where there is none, and where it cannot be opened: the session ends here all the same. */
function openedIdToken({seal, log}: SignInServices, {id, organisation_id, id_token}: FoundSession): string | null {
  if (!id_token) return null
  try {
    return seal.open(id_token, idTokenPlace(id, organisation_id))
  } catch (fault) {
    log.warn(
      {fault, session_id: id},
      'the ID token of a session cannot be opened; its provider hears nothing of the end',
    )
    return null
  }
}

async function logoutUrl(services: SignInServices, connection: SsoConnection | undefined, id_token: string | null) {
  if (id_token === null || connection?.type !== 'oidc') return null
  const ask = {id_token, post_logout_redirect_uri: `${services.base_url}${SIGNED_OUT}`}
  return (await services.oidc(connection.settings.issuer)).logoutUrl(connection.settings, ask)
}

/** A session in another organisation of the person, where the same provider speaks for both. */
async function switched(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const held = await requireSession(request, services)
  const {session, is_cookie} = held
  const named = fieldsOf(request.body).required('organisation_id', 255)
  const {store, base_url, cookies, rows} = services
  const organisation = await findOrganisation(store.db, named)
  const user = organisation && (await findOrganisationUser(store.db, organisation.id, session.user_id))
  if (!organisation || user?.status !== 'active') throw new Refusal('row.not_found', {object: 'organisation'})
  const is_protected =
    user.role === 'owner' && (await sameConnection(services, session, organisation.id))?.lets_owners_in === false
  if (is_protected || !(await opensOther(services, session, organisation.id))) {
    const login_url = `${base_url}/v2/auth/login?organisation_id=${organisation.id}`
    const {message, codes} = new Refusal('session.way')
    return reply.code(403).send({success: false, data: {message, errorCode: codes.admin, login_url}})
  }
  const same = await sameConnection(services, session, organisation.id)
  const opened = await store.write(async db => {
    const {kind, method, user_id} = session
    const connection_id = same?.id ?? session.connection_id ?? null
    const wanted = {kind: kind ?? 'browser', method: method ?? 'operator', connection_id} as const
    const client = clientOf(request)
    const {idp_session = null, idp_subject = null, expires_at: ends_at} = session
    const marks = {idp_session, idp_subject}
    const place = {organisation_id: organisation.id, user_id, client, id_token: null, ends_at, ...marks}
    const next = await openPersonSession(db, services, {...wanted, ...place})
    await carrySignIn(db, session, organisation.id)
    const deed = {resource: 'sign_in', resource_id: next.id, action: 'manage', status: 200} as const
    const body = {method: wanted.method, switched_from: session.organisation_id}
    await rows.note(db, {...deed, organisation_id: organisation.id, user_id, body}, client)
    return next
  })
  if (is_cookie) reply.header('set-cookie', cookies.set(cookies.session, opened.token))
  return reply.send({
    location: '/v2/auth/account',
    ...(is_cookie ? {} : {token: opened.token}),
    expires_at: opened.expires_at,
  })
}

/** The same provider let the person in there, at the time of his sign-in here, and no later than this session began. */
async function carrySignIn(db: Db, {organisation_id, user_id, created_at}: FoundSession, to: string) {
  const signed_in = await lastSignIn(db, organisation_id, user_id)
  if (signed_in === null) return
  const at = signed_in < created_at ? signed_in : created_at
  await noteSignIn(db, {organisation_id: to, user_id, at})
}
