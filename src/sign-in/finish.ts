import {type Admitted, admitted} from '../identity/admission/admission.ts'
import type {Arrival} from '../identity/admission/context.ts'
import type {SsoConnection} from '../identity/connections.ts'
import {hashKey, isSessionToken} from '../identity/keys.ts'
import {openSession, type SessionOpening} from '../identity/open-session.ts'
import {SignInFault} from '../identity/sign-in-fault.ts'
import type {Statement} from '../identity/statement.ts'
import {sessionSettings} from '../schema/organisation-auth.ts'
import type {Db} from '../store/database.ts'
import {noteSignIn} from '../store/last-sign-ins.ts'
import {findOrganisation} from '../store/organisations.ts'
import {isTaken} from '../store/rows.ts'
import {findSessionByHash, revokeSession} from '../store/sessions.ts'
import {useSignIn} from '../store/sign-ins.ts'
import type {SessionKind, SessionMethod} from '../store/tables/people.ts'
import type {SignInsTable} from '../store/tables/sign-in.ts'
import type {SignInClient} from './client.ts'
import {openMarks} from './provider-logout.ts'
import type {SignInServices} from './services.ts'

/** A verified statement with the sign-in that it ends; there is none for user name and password. */
export interface Finish extends Arrival {
  readonly row: SignInsTable | null
  readonly client: SignInClient
  /** The session that the browser held before: it ends, so that none is carried over. */
  readonly replaces: string | undefined
  /** Said at the step before. */
  readonly notes: readonly string[]
}

export interface Finished {
  readonly session: SessionOpening
  readonly user_id: string
}

const ATTEMPTS = 2

/**
 * Opens the session of a verified statement: the sign-in is used up, the person admitted, and all of it noted in one
 * transaction. Refusals are noted by the caller.
 */
export async function finishSignIn(services: SignInServices, finish: Finish): Promise<Finished> {
  for (let attempt = 1; ; attempt++)
    try {
      return await services.store.write(db => finishedIn(db, services, finish))
    } catch (fault) {
      // another process made the same user just now: with its row there, he is found
      if (!isTaken(fault) || attempt >= ATTEMPTS) throw fault
    }
}

async function finishedIn(db: Db, services: SignInServices, finish: Finish): Promise<Finished> {
  const {row, connection, client, statement} = finish
  const now = services.now().toISOString()
  if (row && !(await useSignIn(db, row.id, now)))
    throw new SignInFault('transaction_used', 'another answer was faster, or it came twice')
  const person = await admitted(db, finish, now)
  const {organisation_id} = connection
  await noteSignIn(db, {organisation_id, user_id: person.user_id, at: now})
  await endBefore(db, finish.replaces, now)
  const session = await openPersonSession(db, services, {
    ...{organisation_id, user_id: person.user_id, client},
    ...{kind: 'browser', method: connection.type, connection_id: connection.id},
    ...{id_token: statement.id_token, ends_at: statement.session_ends_at},
    ...(await openMarks(db, connection.id, statement.provider_session)),
  })
  await noteAll(db, services, finish, person, session)
  return {session, user_id: person.user_id}
}

export interface PersonSession {
  readonly organisation_id: string
  readonly user_id: string
  readonly client: SignInClient
  readonly kind: SessionKind
  readonly method: SessionMethod
  readonly connection_id: string | null
  readonly id_token: string | null
  readonly idp_session?: string | null
  readonly idp_subject?: string | null
  /** ISO 8601 UTC: the provider wants it to end by then. */
  readonly ends_at: string | null
}

/** Opens a session that lives as the installation and the organisation say. */
export async function openPersonSession(
  db: Db,
  services: SignInServices,
  wanted: PersonSession,
): Promise<SessionOpening> {
  const {settings, seal} = services
  const now = services.now()
  const {organisation_id, client, ends_at, ...rest} = wanted
  const organisation = await findOrganisation(db, organisation_id)
  const {max_session_ttl, idle_timeout} = sessionSettings(organisation?.auth)
  const left_s = ends_at === null ? Number.POSITIVE_INFINITY : (Date.parse(ends_at) - now.getTime()) / 1000
  if (left_s <= 0) throw new SignInFault('document_time', 'the provider says that the session is over')
  const ttl_s = Math.min(settings.session_absolute_timeout_s, max_session_ttl ?? Number.POSITIVE_INFINITY, left_s)
  const idle_timeout_s = Math.min(settings.session_idle_timeout_s, idle_timeout ?? Number.POSITIVE_INFINITY, ttl_s)
  const {client_ip, user_agent} = client
  const opened = {...rest, organisation_id, ttl_s, idle_timeout_s: Math.ceil(idle_timeout_s), client_ip, user_agent}
  return openSession(db, opened, now.toISOString(), seal)
}

async function endBefore(db: Db, token: string | undefined, now: string) {
  if (token === undefined || !isSessionToken(token)) return
  const before = await findSessionByHash(db, hashKey(token))
  if (before?.revoked_at === null && before.kind === 'browser') await revokeSession(db, before.id, now)
}

async function noteAll(
  db: Db,
  {rows}: SignInServices,
  {connection, statement, client, notes}: Finish,
  person: Admitted,
  session: SessionOpening,
) {
  const {organisation_id} = connection
  const {user_id} = person
  for (const deed of person.deeds) await rows.note(db, {...deed, organisation_id, user_id, status: 200}, client)
  const body = {
    ...{method: connection.type, connection: connection.name, email: person.email, subject: shown(statement)},
    notes: [...notes, ...person.notes],
  }
  const deed = {resource: 'sign_in', resource_id: session.id, action: 'manage', body, status: 200} as const
  await rows.note(db, {...deed, organisation_id, user_id}, client)
}

/**
 * A sign-in that is refused, for its row in the audit log. One that was begun here is of its organisation, also before
 * its connection is known.
 */
export function refusedWho(
  connection: SsoConnection | null,
  statement: Statement | null,
  begun: SignInsTable | null = null,
) {
  return {
    organisation_id: begun?.organisation_id ?? connection?.organisation_id ?? null,
    method: begun?.type ?? connection?.type ?? '',
    connection: connection?.name ?? null,
    email: typeof statement?.email === 'string' ? statement.email.slice(0, 255) : null,
    subject: statement ? shown(statement) : null,
  }
}

function shown({subject}: Statement): string | null {
  return subject?.slice(0, 255) ?? null
}
