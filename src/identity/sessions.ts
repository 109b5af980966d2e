import {Refusal} from '../base/errors.ts'
import {sessionSettings, ssoSettings} from '../schema/organisation-auth.ts'
import type {Db} from '../store/database.ts'
import {type FoundSession, findSessionByHash} from '../store/sessions.ts'
import type {SessionMethod} from '../store/tables/people.ts'
import type {Access} from './access.ts'
import type {Authenticator} from './authenticator.ts'
import {hashKey, isSessionToken} from './keys.ts'
import {findPerson} from './person.ts'

const NOTED_EVERY_MS = 60_000
/** Ways that stay open where an organisation asks for its own sign-in. */
const ALWAYS: ReadonlySet<SessionMethod> = new Set(['operator', 'password'])
const OF_CONNECTIONS: ReadonlySet<SessionMethod> = new Set(['oidc', 'saml', 'ldap'])

/** The sides of a request that uses a session. */
export interface SessionUse {
  /** Refuses a request that the session alone does not let in: a write of another site's page. */
  requireProof(session_id: string): void
  /** Called once a minute at most, and never for a request that is refused. */
  noteUse(session_id: string, now: string): Promise<void>
}

/** Persons, by the token of a session that was opened here. */
export function sessions(db: Db, use: SessionUse): Authenticator {
  return {
    recognises: isSessionToken,
    authenticate: async (token, {now}) => accessOfSession(db, await usedSession(db, token, now, use)),
  }
}

/** The session with which a request comes. Refuses one that is unknown, ended, not let in, or not proven. */
export async function usedSession(db: Db, token: string, now: string, use: SessionUse): Promise<FoundSession> {
  const session = await liveSession(db, token, now)
  use.requireProof(session.id)
  if (isUseDue(session, now)) await use.noteUse(session.id, now)
  return session
}

async function liveSession(db: Db, token: string, now: string): Promise<FoundSession> {
  const session = await findSessionByHash(db, hashKey(token))
  if (!session || session.revoked_at !== null || session.user_status !== 'active') throw new Refusal('session.unknown')
  const ends_at = endOf(session)
  if (ends_at <= now) throw new Refusal('session.expired', {expires_at: ends_at})
  requireWay(session)
  return session
}

/**
 * ISO 8601 UTC: the absolute end, or the one for want of use. The organisation's own times hold for sessions that are
 * open, too, where it lowers them.
 */
export function endOf(session: FoundSession): string {
  const {expires_at, idle_timeout_s, last_seen_at, created_at, organisation_auth} = session
  if (!idle_timeout_s) return expires_at
  const {max_session_ttl, idle_timeout} = sessionSettings(organisation_auth)
  const idle_s = Math.min(Number(idle_timeout_s), idle_timeout ?? Number.POSITIVE_INFINITY)
  const ends = [expires_at, after(last_seen_at ?? created_at, idle_s)]
  if (max_session_ttl !== null) ends.push(after(created_at, max_session_ttl))
  return ends.sort()[0]!
}

function after(at: string, seconds: number): string {
  return new Date(Date.parse(at) + seconds * 1000).toISOString()
}

/** An organisation may let in its own sign-in alone; the operator and an owner with a password always come in. */
function requireWay({organisation_auth, method}: FoundSession) {
  if (!ssoSettings(organisation_auth).required) return
  const way = method ?? 'operator'
  if (!ALWAYS.has(way) && !OF_CONNECTIONS.has(way)) throw new Refusal('session.way')
}

/** True where a use of the session is to be noted: once a minute at most. */
function isUseDue({last_seen_at, created_at, idle_timeout_s}: FoundSession, now: string): boolean {
  if (!idle_timeout_s) return false
  return Date.parse(now) - Date.parse(last_seen_at ?? created_at) >= NOTED_EVERY_MS
}

async function accessOfSession(db: Db, {id, organisation_id, user_id, role}: FoundSession): Promise<Access> {
  const {person, reach} = await findPerson(db, organisation_id, user_id, role)
  const subject = {kind: 'user', id: user_id, session_id: id} as const
  return {subject, organisation_id, reach, scopes: person.role_scopes, person}
}
