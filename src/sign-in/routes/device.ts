import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../../base/errors.ts'
import {SignInFault} from '../../identity/sign-in-fault.ts'
import type {Db} from '../../store/database.ts'
import {findByUserCode, findLoginCode, moveLoginCode} from '../../store/login-codes.ts'
import type {SessionMethod} from '../../store/tables/people.ts'
import type {LoginCodesTable} from '../../store/tables/sign-in.ts'
import {findOrganisationUser} from '../../store/users.ts'
import {clientOf, requireSession} from '../caller.ts'
import {beginDevice, DEVICE_INTERVAL_S, DEVICE_LIFE_S, readUserCode} from '../command-codes.ts'
import {beginTries, endTries} from '../failures.ts'
import {fieldsOf} from '../fields.ts'
import {openPersonSession} from '../finish.ts'
import type {SignInServices} from '../services.ts'
import {hashOf} from '../transactions.ts'

const MOST_WRONG = 5
const SLOWER_S = 5
const NAMES = /^[\w.@ -]{1,100}$/

/** Sign-in of a command line on a machine without a browser (RFC 8628): its person types a code in another. */
export function deviceRoutes(scope: FastifyInstance, services: SignInServices): void {
  scope.post('/v1/auth/device', async (request, reply) => {
    requireOn(services)
    const fields = fieldsOf(request.body)
    const [client, host] = [fields.text('client', 100) ?? 'gateway-cli', fields.text('host', 200) ?? '']
    if (!NAMES.test(client)) throw new Refusal('body.invalid', {issues: 'client: must be a short name.'})
    const codes = await beginDevice(services, {client, host, client_ip: clientOf(request).client_ip})
    const verification_uri = `${services.base_url}/v2/auth/device`
    return reply.send({...codes, verification_uri, expires_in: DEVICE_LIFE_S, interval: DEVICE_INTERVAL_S})
  })
  scope.post('/v1/auth/device/token', (request, reply) => polled(request, reply, services))
  scope.post('/v2/auth/device/lookup', async (request, reply) => {
    const {row} = await typedCode(request, services)
    const {client, host, client_ip, created_at, expires_at} = row
    return reply.send({client, host, client_ip, created_at, expires_at})
  })
  scope.post('/v2/auth/device', (request, reply) => decided(request, reply, services))
}

function requireOn({settings}: SignInServices) {
  if (settings.auth_mode === 'NO_AUTH') throw new SignInFault('not_configured', 'AUTH_MODE=NO_AUTH')
}

/** The command line asks whether its person has decided. Its errors are those of OAuth, by their names. */
async function polled(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const {store} = services
  const now = services.now()
  const code = fieldsOf(request.body).required('device_code', 255)
  const row = await findLoginCode(store.db, hashOf(code))
  const refused = (error: string) => reply.code(400).send({error})
  if (row?.kind !== 'device' || row.status === 'used') return refused('invalid_grant')
  if (row.status === 'denied') return refused('access_denied')
  if (row.expires_at <= now.toISOString()) return refused('expired_token')
  if (row.status === 'pending') return refused(await pace(services, row, now))
  const opened = await store.write(db => fetched(db, services, row, request))
  return opened ? reply.send(opened) : refused('access_denied')
}

async function pace({store}: SignInServices, row: LoginCodesTable, now: Date): Promise<string> {
  const since_s = row.polled_at === null ? Number.POSITIVE_INFINITY : (now.getTime() - Date.parse(row.polled_at)) / 1000
  const is_fast = since_s < Number(row.interval_s)
  const interval_s = Number(row.interval_s) + (is_fast ? SLOWER_S : 0)
  await store.write(db => moveLoginCode(db, row, {polled_at: now.toISOString(), interval_s}))
  return is_fast ? 'slow_down' : 'authorization_pending'
}

/** The session of a confirmed code, once; null where its person has left since. */
async function fetched(db: Db, services: SignInServices, row: LoginCodesTable, request: FastifyRequest) {
  const {organisation_id, user_id} = row
  if (organisation_id === null || user_id === null || !(await moveLoginCode(db, row, {status: 'used'}))) return null
  const user = await findOrganisationUser(db, organisation_id, user_id)
  if (user?.status !== 'active') return null
  const session = await commandSession(db, services, row, request)
  return {token: session.token, expires_at: session.expires_at, organisation_id}
}

/** A session of the command line, in the way in which its person had signed in, and no longer than his own. */
export function commandSession(db: Db, services: SignInServices, row: LoginCodesTable, request: FastifyRequest) {
  return openPersonSession(db, services, {
    ...{organisation_id: row.organisation_id!, user_id: row.user_id!, client: clientOf(request), kind: 'cli'},
    method: (row.method ?? 'operator') as SessionMethod,
    ...{connection_id: row.connection_id, id_token: null, ends_at: row.session_ends_at},
    ...{idp_session: row.idp_session ?? null, idp_subject: row.idp_subject ?? null},
  })
}

/** The waiting code that a signed-in person typed. Each session has few tries. */
async function typedCode(request: FastifyRequest, services: SignInServices) {
  const held = await requireSession(request, services)
  const letters = readUserCode(fieldsOf(request.body).required('user_code', 100))
  const tries = await beginTries(services, [{key: `device ${held.session.id}`, most: MOST_WRONG}])
  const row = letters && (await findByUserCode(services.store.db, hashOf(letters), services.now().toISOString()))
  if (!row) throw new Refusal('row.not_found', {object: 'command line that waits'})
  await endTries(services, {back: tries})
  return {row, held}
}

async function decided(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const {row, held} = await typedCode(request, services)
  const decision = fieldsOf(request.body).required('decision', 10)
  if (decision !== 'approve' && decision !== 'deny')
    throw new Refusal('body.invalid', {issues: 'decision: must be approve or deny.'})
  await services.store.write(db => decidedIn(db, services, {row, held, decision}, request))
  return reply.send({})
}

interface Decision {
  readonly row: LoginCodesTable
  readonly held: Awaited<ReturnType<typeof requireSession>>
  readonly decision: 'approve' | 'deny'
}

async function decidedIn(db: Db, {rows}: SignInServices, {row, held, decision}: Decision, request: FastifyRequest) {
  const {organisation_id, user_id, method, connection_id = null, expires_at: session_ends_at} = held.session
  const {idp_session = null, idp_subject = null} = held.session
  const status = decision === 'approve' ? 'confirmed' : 'denied'
  const moved = await moveLoginCode(db, row, {
    status,
    organisation_id,
    user_id,
    method: method ?? null,
    connection_id,
    ...{idp_session, idp_subject},
    session_ends_at,
  })
  if (!moved) throw new Refusal('row.unfit', {reason: 'The code was decided already.'})
  const body = {decision, client: row.client, host: row.host, client_ip: row.client_ip}
  const deed = {resource: 'login_code', resource_id: row.id, action: 'manage', body, status: 200} as const
  await rows.note(db, {...deed, organisation_id, user_id}, clientOf(request))
}
