import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {denyAllowedCodes, type ProviderMarks} from './login-codes.ts'
import {paged} from './rows.ts'
import type {OrganisationRole, OrganisationUsersTable, SessionMethod, SessionsTable} from './tables/people.ts'

/** A session and whose it is. */
export interface FoundSession extends SessionsTable {
  readonly email: string
  readonly role: OrganisationRole
  readonly user_status: OrganisationUsersTable['status']
  /** Of the organisation (`KeptAuth`). */
  readonly organisation_auth: string | null | undefined
}

export async function insertSession(db: Db, row: SessionsTable) {
  await db.insertInto('sessions').values(row).execute()
}

/** The session whose token has this SHA-256 (64 hex digits), ended or not; the caller decides. */
export function findSessionByHash(db: Db, token_hash: string): Promise<FoundSession | undefined> {
  return sessions(db).where('token_hash', '=', token_hash).executeTakeFirst()
}

export function findSession(db: Db, organisation_id: string, id: string): Promise<FoundSession | undefined> {
  return sessions(db)
    .where('sessions.organisation_id', '=', organisation_id)
    .where('sessions.id', '=', id)
    .executeTakeFirst()
}

/** How many sessions of an organisation were opened in a way since then, ended ones included. */
export async function countOpened(
  db: Db,
  organisation_id: string,
  {method, since}: {readonly method: SessionMethod; readonly since: string},
): Promise<number> {
  const {count} = await db
    .selectFrom('sessions')
    .select(e => e.fn.countAll().as('count'))
    .where('organisation_id', '=', organisation_id)
    .where('method', '=', method)
    .where('created_at', '>=', since)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Those that can still be used, newest first. */
export function listSessions(
  db: Db,
  {organisation_id, user_id, now}: {organisation_id: string; user_id?: string | undefined; now: string},
  page: Page,
): Promise<Paged<FoundSession>> {
  let matching = sessions(db)
    .where('sessions.organisation_id', '=', organisation_id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
  if (user_id !== undefined) matching = matching.where('sessions.user_id', '=', user_id)
  return paged(matching.orderBy('sessions.created_at', 'desc').orderBy('sessions.id'), page)
}

export async function revokeSession(db: Db, id: string, now: string) {
  await db.updateTable('sessions').set({revoked_at: now, id_token: null}).where('id', '=', id).execute()
}

/** Ends the sessions of a user in an organisation, and those that command lines were allowed; how many there were. */
export async function revokeSessionsOf(db: Db, organisation_id: string, user_id: string, now: string): Promise<number> {
  await denyAllowedCodes(db, organisation_id, {user_id})
  return revoked(ending(db, organisation_id, now).where('user_id', '=', user_id))
}

/**
 * Ends the sessions that a connection opened, and those that command lines were allowed by one of them; of every
 * organisation where none is named.
 */
export async function revokeSessionsBy(
  db: Db,
  organisation_id: string | null,
  connection_id: string,
  now: string,
): Promise<number> {
  await denyAllowedCodes(db, organisation_id, {connection_id})
  return revoked(ending(db, organisation_id, now).where('connection_id', '=', connection_id))
}

/** Ends the sessions that bear the marks of a connection's provider; which ones those were. */
export async function revokeSessionsAt(
  db: Db,
  organisation_id: string,
  {connection_id, idp_session, idp_subject}: ProviderMarks,
  now: string,
): Promise<readonly Pick<SessionsTable, 'id' | 'user_id' | 'kind'>[]> {
  let query = ending(db, organisation_id, now).where('connection_id', '=', connection_id)
  if (idp_session !== null) query = query.where('idp_session', '=', idp_session)
  if (idp_subject !== null) query = query.where('idp_subject', '=', idp_subject)
  return query.returning(['id', 'user_id', 'kind']).execute()
}

/** True where a session is open that a connection opened. */
export async function hasSessionsBy(db: Db, connection_id: string): Promise<boolean> {
  const open = db.selectFrom('sessions').select('id').where('revoked_at', 'is', null)
  return (await open.where('connection_id', '=', connection_id).limit(1).executeTakeFirst()) !== undefined
}

/** The same of those that were opened in a way that is in none of `methods`. */
export async function revokeOtherMethods(
  db: Db,
  organisation_id: string,
  methods: readonly SessionMethod[],
  now: string,
): Promise<number> {
  await denyAllowedCodes(db, organisation_id, {other_methods: methods})
  return revoked(
    ending(db, organisation_id, now).where(e => e.or([e('method', 'not in', [...methods]), e('method', 'is', null)])),
  )
}

/** True where an owner of the organisation signed in by a connection since `since`. */
export async function ownerCameIn(db: Db, organisation_id: string, since: string): Promise<boolean> {
  const row = await sessions(db)
    .where('sessions.organisation_id', '=', organisation_id)
    .where('organisation_users.role', '=', 'owner')
    .where('organisation_users.status', '=', 'active')
    .where('sessions.method', 'in', ['oidc', 'saml', 'ldap'])
    .where('sessions.created_at', '>', since)
    .executeTakeFirst()
  return row !== undefined
}

export async function noteSessionUse(db: Db, id: string, now: string) {
  await db.updateTable('sessions').set({last_seen_at: now}).where('id', '=', id).execute()
}

/** Removes sessions that ended before a time. */
export async function dropEndedSessions(db: Db, before: string) {
  await db.deleteFrom('sessions').where('expires_at', '<', before).execute()
}

function ending(db: Db, organisation_id: string | null, now: string) {
  const open = db.updateTable('sessions').set({revoked_at: now, id_token: null}).where('revoked_at', 'is', null)
  return organisation_id === null ? open : open.where('organisation_id', '=', organisation_id)
}

async function revoked(query: ReturnType<typeof ending>): Promise<number> {
  const {numUpdatedRows} = await query.executeTakeFirst()
  return Number(numUpdatedRows)
}

function sessions(db: Db) {
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .innerJoin('organisation_users', join =>
      join
        .onRef('organisation_users.user_id', '=', 'sessions.user_id')
        .onRef('organisation_users.organisation_id', '=', 'sessions.organisation_id'),
    )
    .selectAll('sessions')
    .innerJoin('organisations', 'organisations.id', 'sessions.organisation_id')
    .select(['users.email', 'organisation_users.role', 'organisation_users.status as user_status'])
    .select('organisations.auth as organisation_auth')
}
