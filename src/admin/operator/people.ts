import type {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {newId} from '../../base/ids.ts'
import {openSession} from '../../identity/open-session.ts'
import {passwordHash} from '../../identity/password.ts'
import {CreatedSession, PasswordKept, PasswordSet, SessionCreate, UserCreate, UserView} from '../../schema/users.ts'
import {dropPassword, setPassword} from '../../store/user-passwords.ts'
import {findOrganisationUser, findUserByEmail, insertUser, joinOrganisation} from '../../store/users.ts'
import {type OperationCall, operation} from '../operation.ts'
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
    id: 'users.set_password',
    tag,
    method: 'POST',
    path: '/operator/users/password',
    summary: 'Give an owner a password of this gateway, for when no identity provider answers; null takes it out',
    scopes: [],
    audit: {resource: 'user', action: 'update'},
    body: PasswordSet,
    reply: PasswordKept,
    prepare: async ({password}) => (password === null ? null : passwordHash(password)),
    handle: passwordSet,
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
  const session = await openSession(
    db,
    {organisation_id, user_id: user.id, ttl_s: body.ttl_s, kind: 'operator', method: 'operator'},
    now,
  )
  call.auditTarget(session.id, null)
  return {...session, user_id: user.id, object: 'session'}
}

/** An owner alone has one: for whomever else the identity provider is the way in. */
async function passwordSet(
  call: OperationCall<undefined, undefined, typeof PasswordSet>,
): Promise<z.input<typeof PasswordKept>> {
  const {actor, db, body, now} = call
  const phc = call.prepared as string | null
  const known = await findUserByEmail(db, body.email)
  const user = known && (await findOrganisationUser(db, actor.organisation_id, known.id))
  const is_owner = user?.status === 'active' && user.role === 'owner'
  if (!user || (body.password !== null && !is_owner))
    throw new Refusal('parent.not_found', {field: 'email', object: 'active owner', value: body.email})
  if (phc === null) await dropPassword(db, user.id)
  else await setPassword(db, user.id, phc, now)
  call.auditTarget(user.id, null)
  return {user_id: user.id, has_password: body.password !== null, object: 'password'}
}
