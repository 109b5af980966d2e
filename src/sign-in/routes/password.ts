import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {readAddress} from '../../base/address.ts'
import {isWithin, readAddress as readIp, readRange} from '../../base/egress/address.ts'
import {isPassword, PasswordQueueFault} from '../../identity/password.ts'
import {SignInFault} from '../../identity/sign-in-fault.ts'
import {LONGEST_PASSWORD} from '../../schema/passwords.ts'
import type {Db} from '../../store/database.ts'
import {passwordOf} from '../../store/user-passwords.ts'
import {ownedOrganisations} from '../../store/users.ts'
import {attempted, clientOf, isProxied, requireOwnForm, sendOn} from '../caller.ts'
import {beginTries, endTries, foldedName, giveBack, keepFailures, MOST_OF_ACCOUNT} from '../failures.ts'
import {fieldsOf} from '../fields.ts'
import {openPersonSession} from '../finish.ts'
import {alertOwners} from '../owner-alert.ts'
import {requireSecure, returnPath} from '../place.ts'
import type {SignInServices} from '../services.ts'

/** The way in of an owner when no identity provider answers: a password of this gateway, from near by. */
export function passwordRoutes(scope: FastifyInstance, services: SignInServices): void {
  scope.post('/v2/auth/password', (request, reply) => typed(request, reply, services))
}

async function typed(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  requireOwnForm(request, services)
  requireSecure(request.headers.host, services.base_url, services.settings.session_cookie_secure)
  const fields = fieldsOf(request.body)
  const email = fields.text('email', 255)?.slice(0, 255) ?? ''
  let organisation_id: string | null = null
  const who = () => ({organisation_id, method: 'password', connection: null, email, subject: null})
  return attempted({services, request, who}, async () => {
    if (services.settings.auth_mode === 'NO_AUTH') throw new SignInFault('not_configured', 'AUTH_MODE=NO_AUTH')
    requireNear(request, services)
    const owner = await proven(services, email, fields.text('password', LONGEST_PASSWORD) ?? '', found => {
      organisation_id = found
    })
    const session = await services.store.write(db => opened(db, services, request, owner))
    const {cookies, log} = services
    log.warn(
      {email: owner.email, client_ip: clientOf(request).client_ip},
      'an owner signed in with a password of this gateway',
    )
    reply.header('set-cookie', cookies.set(cookies.session, session.token))
    return sendOn(request, reply, returnPath(fields.text('return_to', 16_384), services.base_url))
  })
}

interface ProvenOwner {
  readonly organisation_id: string
  readonly user_id: string
  readonly email: string
}

/** The owner whose password was typed. An address of no owner with a password takes as long as a wrong password. */
async function proven(
  services: SignInServices,
  email: string,
  password: string,
  found: (organisation_id: string) => void,
): Promise<ProvenOwner> {
  const {db} = services.store
  const tries = await beginTries(services, [{key: `password ${foldedName(email)}`, most: MOST_OF_ACCOUNT}])
  try {
    const address = readAddress(email)?.address
    const [owner] = address === undefined ? [] : await ownedOrganisations(db, address)
    if (owner) found(owner.organisation_id)
    const phc = owner && (await passwordOf(db, owner.user_id))
    if (!(await isRight(phc, password)))
      throw new SignInFault('credentials_wrong', 'the password is wrong, or the user is no owner with a password')
    await endTries(services, {forget: tries})
    return {...owner!, email: address!}
  } catch (fault) {
    const is_wrong = fault instanceof SignInFault && fault.status === 401
    await (is_wrong ? keepFailures(services, tries) : giveBack(services, tries))
    throw fault
  }
}

async function isRight(phc: string | undefined, password: string): Promise<boolean> {
  try {
    return await isPassword(phc, password)
  } catch (fault) {
    if (fault instanceof PasswordQueueFault) throw new SignInFault('too_many', fault.message)
    throw fault
  }
}

async function opened(
  db: Db,
  services: SignInServices,
  request: FastifyRequest,
  {organisation_id, user_id, email}: ProvenOwner,
) {
  const client = clientOf(request)
  // the password took its time, in which an owner may have lost his role
  const still = await ownedOrganisations(db, email)
  if (!still.some(each => each.organisation_id === organisation_id && each.user_id === user_id))
    throw new SignInFault('credentials_wrong', 'the user is no owner any more')
  const session = await openPersonSession(db, services, {
    ...{organisation_id, user_id, client, kind: 'browser', method: 'password', connection_id: null},
    ...{id_token: null, ends_at: null},
  })
  const deed = {resource: 'sign_in', resource_id: session.id, action: 'manage', status: 200} as const
  await services.rows.note(db, {...deed, organisation_id, user_id, body: {method: 'password'}}, client)
  await alertOwners(db, services, {organisation_id, email, client_ip: client.client_ip})
  return session
}

/** Behind a proxy on the same machine everybody comes from 127.0.0.1. */
export function isNear(request: FastifyRequest, {settings}: SignInServices): boolean {
  const ip = readIp(request.socket.remoteAddress ?? '')
  const ranges = settings.break_glass_addresses.flatMap(text => readRange(text) ?? [])
  return !isProxied(request) && ip !== undefined && isWithin(ranges, ip)
}

function requireNear(request: FastifyRequest, services: SignInServices) {
  if (!isNear(request, services))
    throw new SignInFault('password_elsewhere', 'a password is taken from BREAK_GLASS_ADDRESSES, without a proxy')
}
