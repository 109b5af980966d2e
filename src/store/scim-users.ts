import {sql} from 'kysely'
import type {Db} from './database.ts'
import {containing} from './rows.ts'
import type {ScimUsersTable} from './tables/directories.ts'
import type {OrganisationRole} from './tables/people.ts'

/** A user of an organisation, with what its directory said of him, if it ever did. */
export interface ScimUserRow {
  readonly user_id: string
  readonly email: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly role: OrganisationRole
  readonly status: 'active' | 'archived'
  readonly joined_at: string
  readonly changed_at: string
  readonly external_id: string | null
  readonly resource: string | null
  readonly version: number | null
  readonly scim_created_at: string | null
  readonly scim_updated_at: string | null
  readonly deleted_at: string | null
}

/** Conditions that indexes know; all of them have to hold. */
export interface ScimUserNarrowing {
  readonly id?: string
  readonly external_id?: string
  /** In lower case. */
  readonly user_name?: string
  /** An address in lower case. */
  readonly address?: string
}

function usersOf(db: Db, organisation_id: string) {
  return db
    .selectFrom('organisation_users as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .leftJoin('scim_users as s', join =>
      join.onRef('s.user_id', '=', 'm.user_id').onRef('s.organisation_id', '=', 'm.organisation_id'),
    )
    .where('m.organisation_id', '=', organisation_id)
    .select([
      ...(['m.user_id', 'u.email', 'u.first_name', 'u.last_name', 'm.role', 'm.status'] as const),
      ...(['m.created_at as joined_at', 'm.last_updated_at as changed_at', 's.external_id', 's.resource'] as const),
      ...(['s.version', 's.created_at as scim_created_at', 's.last_updated_at as scim_updated_at'] as const),
      's.deleted_at',
    ])
}

/** The user with this id, also one that his directory has deleted. */
export function findScimUser(db: Db, organisation_id: string, user_id: string): Promise<ScimUserRow | undefined> {
  return usersOf(db, organisation_id).where('m.user_id', '=', user_id).executeTakeFirst()
}

function narrowed(db: Db, organisation_id: string, {id, external_id, user_name, address}: ScimUserNarrowing) {
  let users = usersOf(db, organisation_id).where('s.deleted_at', 'is', null)
  if (id !== undefined) users = users.where('m.user_id', '=', id)
  if (external_id !== undefined) users = users.where('s.external_id', '=', external_id)
  if (user_name !== undefined) {
    const by_name = db.selectFrom('scim_users').select('user_id').where('user_name', '=', user_name)
    const candidates = by_name.where('organisation_id', '=', organisation_id)
    users = users
      // each of the two is found by its index, which a condition on both is not
      .where(
        'm.user_id',
        'in',
        candidates.union(db.selectFrom('users').select('id as user_id').where('email', '=', user_name)),
      )
      .where(e =>
        e.or([e('s.user_name', '=', user_name), e.and([e('s.user_id', 'is', null), e('u.email', '=', user_name)])]),
      )
  }
  if (address !== undefined)
    users = users.where(e =>
      e.or([
        sql<boolean>`s.addresses like ${containing(`\n${address}\n`)} escape '\\'`,
        e.and([e('s.user_id', 'is', null), e('u.email', '=', address)]),
      ]),
    )
  return users
}

/** In the order in which they joined. */
export function listScimUsers(
  db: Db,
  organisation_id: string,
  by: ScimUserNarrowing,
  {offset, limit}: {readonly offset: number; readonly limit: number},
): Promise<ScimUserRow[]> {
  return narrowed(db, organisation_id, by)
    .orderBy('m.created_at')
    .orderBy('m.user_id')
    .limit(limit)
    .offset(offset)
    .execute()
}

export async function countScimUsers(db: Db, organisation_id: string, by: ScimUserNarrowing): Promise<number> {
  const {n} = await narrowed(db, organisation_id, by)
    .clearSelect()
    .select(e => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** The user of the organisation with this external id; where there is none, the last deleted one that had it. */
export function findByExternalId(
  db: Db,
  organisation_id: string,
  external_id: string,
): Promise<ScimUserRow | undefined> {
  return usersOf(db, organisation_id)
    .where('s.external_id', '=', external_id)
    .orderBy(e => e.case().when('s.deleted_at', 'is', null).then(0).else(1).end())
    .orderBy('s.deleted_at', 'desc')
    .executeTakeFirst()
}

export async function writeScimUser(db: Db, row: ScimUsersTable) {
  const {organisation_id: _, user_id: __, created_at: ___, ...change} = row
  await db
    .insertInto('scim_users')
    .values(row)
    .onConflict(conflict => conflict.columns(['organisation_id', 'user_id']).doUpdateSet(change))
    .execute()
}

/** The organisations that a user is or was in beside this one. */
export async function isElsewhere(db: Db, organisation_id: string, user_id: string): Promise<boolean> {
  const other = db
    .selectFrom('organisation_users')
    .select('user_id')
    .where('user_id', '=', user_id)
    .where('organisation_id', '<>', organisation_id)
    .where('status', '=', 'active')
  return (await other.limit(1).executeTakeFirst()) !== undefined
}
