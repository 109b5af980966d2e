import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../../base/errors.ts'
import {findLoginCode, moveLoginCode} from '../../store/login-codes.ts'
import {findOrganisationUser} from '../../store/users.ts'
import {clientOf, requireSession} from '../caller.ts'
import {allowCommand, isVerifier, readCommand} from '../command-codes.ts'
import {fieldsOf} from '../fields.ts'
import type {SignInServices} from '../services.ts'
import {hashOf} from '../transactions.ts'
import {commandSession} from './device.ts'

const SHOWN_MS = 300_000

/** Sign-in of a command line in the browser of its own machine: a page asks, and the answer goes to its port. */
export function commandRoutes(scope: FastifyInstance, services: SignInServices): void {
  scope.get('/v2/auth/cli/request', async (request, reply) => {
    await requireSession(request, services)
    const {host} = readCommand(fieldsOf(request.query).required('request'))
    return reply.send({host, expires_at: new Date(services.now().getTime() + SHOWN_MS).toISOString()})
  })
  scope.post('/v2/auth/cli', (request, reply) => decided(request, reply, services))
  scope.post('/v1/auth/cli/token', (request, reply) => exchanged(request, reply, services))
}

async function decided(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const {session} = await requireSession(request, services)
  const fields = fieldsOf(request.body)
  const command = readCommand(fields.required('request'))
  const decision = fields.required('decision', 10)
  if (decision !== 'approve' && decision !== 'deny')
    throw new Refusal('body.invalid', {issues: 'decision: must be approve or deny.'})
  const place = new URL(`http://127.0.0.1:${command.port}/`)
  place.searchParams.set('state', command.state)
  if (decision === 'deny') {
    place.searchParams.set('error', 'access_denied')
    return reply.send({location: place.href})
  }
  const client = clientOf(request)
  const {organisation_id, user_id, method = null, connection_id = null} = session
  const {expires_at: session_ends_at, idp_session = null, idp_subject = null} = session
  const of_session = {organisation_id, user_id, method, connection_id, idp_session, idp_subject, session_ends_at}
  const confirmed = {...of_session, client_ip: client.client_ip}
  const {code} = await services.store.write(async db => {
    const allowed = await allowCommand(db, {command, now: services.now(), confirmed})
    const body = {decision, client: 'gateway-cli', host: command.host}
    const deed = {resource: 'login_code', resource_id: allowed.id, action: 'manage', body, status: 200} as const
    await services.rows.note(db, {...deed, organisation_id, user_id}, client)
    return allowed
  })
  place.searchParams.set('code', code)
  return reply.send({location: place.href})
}

/** The command line exchanges the code that came to its port, with the verifier of its challenge; once. */
async function exchanged(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const {store} = services
  const fields = fieldsOf(request.body)
  const row = await findLoginCode(store.db, hashOf(fields.required('code', 43)))
  const verifier = fields.required('code_verifier', 255)
  const refused = (error: string) => reply.code(400).send({error})
  if (row?.kind !== 'browser' || row.challenge === null || row.status === 'pending') return refused('invalid_grant')
  if (row.status === 'denied') return refused('access_denied')
  if (row.status === 'used' || row.expires_at <= services.now().toISOString()) return refused('invalid_grant')
  if (!isVerifier(verifier, row.challenge)) return refused('invalid_grant')
  const opened = await store.write(async db => {
    if (!(await moveLoginCode(db, row, {status: 'used'}))) return null
    const user = await findOrganisationUser(db, row.organisation_id!, row.user_id!)
    return user?.status === 'active' ? commandSession(db, services, row, request) : null
  })
  if (!opened) return refused('access_denied')
  const {token, expires_at} = opened
  return reply.send({token, expires_at, organisation_id: row.organisation_id})
}
