import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {IdentitiesTable} from './tables/sign-in.ts'

/** The link of a subject at an issuer to a user of the organisation. */
export function findIdentity(
  db: Db,
  {organisation_id, issuer, subject}: Pick<IdentitiesTable, 'organisation_id' | 'issuer' | 'subject'>,
): Promise<IdentitiesTable | undefined> {
  return db
    .selectFrom('identities')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
}

export function identityById(db: Db, organisation_id: string, id: string): Promise<IdentitiesTable | undefined> {
  return db
    .selectFrom('identities')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Every link of a user in an organisation. */
export function identitiesOf(db: Db, organisation_id: string, user_id: string): Promise<IdentitiesTable[]> {
  return db
    .selectFrom('identities')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('user_id', '=', user_id)
    .execute()
}

export interface IdentityFilter {
  readonly organisation_id: string
  readonly user_id?: string | undefined
  readonly issuer?: string | undefined
}

/** Newest first. */
export function listIdentities(db: Db, filter: IdentityFilter, page: Page): Promise<Paged<IdentitiesTable>> {
  return paged(matching(db, filter).selectAll().orderBy('created_at', 'desc').orderBy('id'), page)
}

export async function insertIdentity(db: Db, row: IdentitiesTable) {
  await db.insertInto('identities').values(row).execute()
}

export async function updateIdentity(db: Db, id: string, change: Partial<IdentitiesTable>) {
  await db.updateTable('identities').set(change).where('id', '=', id).execute()
}

export async function deleteIdentity(db: Db, id: string) {
  await db.deleteFrom('identities').where('id', '=', id).execute()
}

export interface DroppedLinks {
  readonly organisation_id: string
  readonly issuer: string
  /** False: those of owners stay. */
  readonly has_owners: boolean
}

/** How many links were dropped. */
export async function deleteIdentitiesOf(db: Db, {organisation_id, issuer, has_owners}: DroppedLinks): Promise<number> {
  let links = db.deleteFrom('identities').where('organisation_id', '=', organisation_id).where('issuer', '=', issuer)
  if (!has_owners)
    links = links.where('user_id', 'not in', e =>
      e
        .selectFrom('organisation_users')
        .select('user_id')
        .where('organisation_id', '=', organisation_id)
        .where('role', '=', 'owner'),
    )
  const {numDeletedRows} = await links.executeTakeFirst()
  return Number(numDeletedRows)
}

function matching(db: Db, {organisation_id, user_id, issuer}: IdentityFilter) {
  let rows = db.selectFrom('identities').where('organisation_id', '=', organisation_id)
  if (user_id !== undefined) rows = rows.where('user_id', '=', user_id)
  if (issuer !== undefined) rows = rows.where('issuer', '=', issuer)
  return rows
}
