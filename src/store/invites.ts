import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {InvitesTable} from './tables/people.ts'

export type InviteStatus = InvitesTable['status'] | 'expired'

export interface InviteFilter {
  readonly organisation_id: string
  readonly role?: InvitesTable['role'] | undefined
  /** Whole, in lower case. */
  readonly email?: string | undefined
  readonly status?: InviteStatus | undefined
  /** Before which a pending invite has expired. */
  readonly now: string
}

export async function insertInvite(db: Db, row: InvitesTable) {
  await db.insertInto('invites').values(row).execute()
}

export function findInvite(db: Db, organisation_id: string, id: string): Promise<InvitesTable | undefined> {
  return db
    .selectFrom('invites')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function findInviteByToken(db: Db, token_hash: string): Promise<InvitesTable | undefined> {
  return db.selectFrom('invites').selectAll().where('token_hash', '=', token_hash).executeTakeFirst()
}

/** Newest first. */
export function listInvites(db: Db, filter: InviteFilter, page: Page): Promise<Paged<InvitesTable>> {
  return paged(matchingInvites(db, filter).selectAll().orderBy('created_at', 'desc').orderBy('id'), page)
}

export async function updateInvite(db: Db, id: string, change: Partial<InvitesTable>) {
  await db.updateTable('invites').set(change).where('id', '=', id).execute()
}

function matchingInvites(db: Db, {organisation_id, role, email, status, now}: InviteFilter) {
  let matching = db.selectFrom('invites').where('organisation_id', '=', organisation_id)
  if (role !== undefined) matching = matching.where('role', '=', role)
  if (email !== undefined) matching = matching.where('email', '=', email)
  if (status === undefined) return matching
  const timed = status === 'expired' || status === 'pending'
  matching = matching.where('status', '=', status === 'expired' ? 'pending' : status)
  return timed ? matching.where('expires_at', status === 'pending' ? '>' : '<=', now) : matching
}

/** Cancels the pending invites of an address. */
export async function cancelInvitesOf(db: Db, organisation_id: string, email: string) {
  await db
    .updateTable('invites')
    .set({status: 'cancelled'})
    .where('organisation_id', '=', organisation_id)
    .where('email', '=', email)
    .where('status', '=', 'pending')
    .execute()
}
