import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {OrganisationRole, OrganisationUsersTable, SessionsTable} from './tables/people.ts'

/** A session and whose it is. */
export interface FoundSession extends SessionsTable {
  readonly email: string
  readonly role: OrganisationRole
  readonly user_status: OrganisationUsersTable['status']
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
  await db.updateTable('sessions').set({revoked_at: now}).where('id', '=', id).execute()
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
    .select(['users.email', 'organisation_users.role', 'organisation_users.status as user_status'])
}
