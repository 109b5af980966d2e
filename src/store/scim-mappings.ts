import {sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {anyOf, containing, paged} from './rows.ts'
import type {ScimGroupsTable, ScimMappingsTable} from './tables/registry.ts'

/** A mapping with the name of its group. */
export interface ScimMappingRow extends ScimMappingsTable {
  readonly scim_group: string
}

export interface ScimMappingFilter {
  readonly organisation_id: string
  readonly workspace_id?: string | undefined
  readonly scim_group_id?: string | undefined
  readonly role?: ScimMappingsTable['role'] | undefined
}

/** Newest first. */
export function listScimMappings(db: Db, filter: ScimMappingFilter, page: Page): Promise<Paged<ScimMappingRow>> {
  let rows = active(db, filter.organisation_id)
  if (filter.workspace_id !== undefined) rows = rows.where('m.workspace_id', '=', filter.workspace_id)
  if (filter.scim_group_id !== undefined) rows = rows.where('m.scim_group_id', '=', filter.scim_group_id)
  if (filter.role !== undefined) rows = rows.where('m.role', '=', filter.role)
  return paged(rows.orderBy('m.created_at', 'desc').orderBy('m.id'), page)
}

/** The active mapping of this id. */
export function findScimMapping(db: Db, organisation_id: string, id: string): Promise<ScimMappingRow | undefined> {
  return active(db, organisation_id).where('m.id', '=', id).executeTakeFirst()
}

export async function insertScimMapping(db: Db, row: ScimMappingsTable) {
  await db.insertInto('scim_mappings').values(row).execute()
}

export async function archiveScimMapping(db: Db, id: string, now: string) {
  await db.updateTable('scim_mappings').set({status: 'archived', last_updated_at: now}).where('id', '=', id).execute()
}

/** The group of the organisation that has this id, or this name. */
export function findScimGroup(
  db: Db,
  organisation_id: string,
  by: {readonly id: string} | {readonly name: string},
): Promise<ScimGroupsTable | undefined> {
  const groups = db
    .selectFrom('scim_groups')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('deleted_at', 'is', null)
  return ('id' in by ? groups.where('id', '=', by.id) : groups.where('name', '=', by.name)).executeTakeFirst()
}

/** A group, and how many people its directory put into it. */
export interface CountedGroup extends Pick<ScimGroupsTable, 'id' | 'name' | 'external_id'> {
  readonly members: number | null
}

/** By name. `search` is a part of it, in any case; with a workspace only those that are mapped there. */
export function findScimGroups(
  db: Db,
  {
    organisation_id,
    search,
    workspace_id,
  }: {
    readonly organisation_id: string
    readonly search?: string | undefined
    readonly workspace_id?: string | undefined
  },
  page: Page,
): Promise<Paged<CountedGroup>> {
  let groups = db
    .selectFrom('scim_groups as g')
    .where('g.organisation_id', '=', organisation_id)
    .where('g.deleted_at', 'is', null)
  // the databases differ in what the lower case of a letter beyond ASCII is
  if (search !== undefined)
    groups = groups.where(sql<boolean>`g.name_folded like ${containing(search.toLowerCase())} escape '\\'`)
  if (workspace_id !== undefined)
    groups = groups.where(
      'g.id',
      'in',
      active(db, organisation_id).clearSelect().select('m.scim_group_id').where('m.workspace_id', '=', workspace_id),
    )
  return paged(
    groups
      .select(['g.id', 'g.name', 'g.external_id'])
      .select(e =>
        e
          .selectFrom('scim_group_members as p')
          .whereRef('p.group_id', '=', 'g.id')
          .select(f => f.fn.countAll<number>().as('n'))
          .as('members'),
      )
      .orderBy('g.name_folded')
      .orderBy('g.id'),
    page,
  )
}

/** Group → its active mappings, the first made first; of each group at most `most`. */
export async function mappingsOfGroups(
  db: Db,
  organisation_id: string,
  {
    group_ids,
    workspace_id,
    most,
  }: {readonly group_ids: readonly string[]; readonly workspace_id?: string | undefined; readonly most: number},
): Promise<ReadonlyMap<string, readonly ScimMappingRow[]>> {
  let rows = active(db, organisation_id)
    .where('m.scim_group_id', 'in', anyOf(group_ids))
    .select(
      sql<number>`row_number() over (partition by m.scim_group_id order by m.created_at, m.id)`.as('position_in_group'),
    )
  if (workspace_id !== undefined) rows = rows.where('m.workspace_id', '=', workspace_id)
  const found = await db
    .selectFrom(rows.as('r'))
    .selectAll()
    .where('r.position_in_group', '<=', most)
    .orderBy('r.position_in_group')
    .execute()
  return Map.groupBy(found, ({scim_group_id}) => scim_group_id)
}

export async function insertScimGroup(db: Db, row: ScimGroupsTable) {
  await db
    .insertInto('scim_groups')
    .values({name_folded: row.name.toLowerCase(), version: 0, ...row})
    .execute()
}

function active(db: Db, organisation_id: string) {
  return db
    .selectFrom('scim_mappings as m')
    .innerJoin('scim_groups as g', 'g.id', 'm.scim_group_id')
    .selectAll('m')
    .select('g.name as scim_group')
    .where('m.organisation_id', '=', organisation_id)
    .where('m.status', '=', 'active')
}
