import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {OrganisationRole} from './tables/people.ts'
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

/** A link with the user that it is of. */
export interface LinkedPerson extends IdentitiesTable {
  readonly user_email: string
  readonly role: OrganisationRole
}

export interface LinkedPeople {
  readonly organisation_id: string
  readonly issuer: string
  /** Those whose ids come after it. */
  readonly after?: string | undefined
  readonly user_ids?: readonly string[] | undefined
  readonly limit: number
}

/** Links of an issuer to active users of the organisation, by their ids. */
export function linkedPeople(
  db: Db,
  {organisation_id, issuer, after, user_ids, limit}: LinkedPeople,
): Promise<LinkedPerson[]> {
  let links = ofActive(db, organisation_id, issuer)
  if (after !== undefined) links = links.where('identities.id', '>', after)
  if (user_ids) links = links.where('identities.user_id', 'in', [...user_ids])
  return links
    .innerJoin('users', 'users.id', 'identities.user_id')
    .selectAll('identities')
    .select(['users.email as user_email', 'organisation_users.role'])
    .orderBy('identities.id')
    .limit(limit)
    .execute()
}

/** How many links of an issuer there are to active users of the organisation. */
export async function countLinked(db: Db, organisation_id: string, issuer: string): Promise<number> {
  const {n} = await ofActive(db, organisation_id, issuer)
    .select(e => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

function ofActive(db: Db, organisation_id: string, issuer: string) {
  return db
    .selectFrom('identities')
    .innerJoin('organisation_users', join =>
      join
        .onRef('organisation_users.user_id', '=', 'identities.user_id')
        .onRef('organisation_users.organisation_id', '=', 'identities.organisation_id'),
    )
    .where('identities.organisation_id', '=', organisation_id)
    .where('identities.issuer', '=', issuer)
    .where('organisation_users.status', '=', 'active')
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
