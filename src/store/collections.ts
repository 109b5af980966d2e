import {sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {containing, paged} from './rows.ts'
import type {CollectionsTable} from './tables/prompts.ts'

/** The reach of a caller: its organisation, and the one workspace it is limited to, if any. */
export interface VisibleTo {
  readonly organisation_id: string
  readonly workspace_id: string | undefined
}

/** The content of a collection. Times are null when it is empty. */
export interface CollectionContents {
  readonly child_collections_count: number
  readonly prompts_count: number
  readonly child_collections_last_updated_at: string | null
  readonly prompts_last_updated_at: string | null
}

export async function insertCollection(db: Db, row: CollectionsTable) {
  await db.insertInto('collections').values(row).execute()
}

export async function updateCollection(db: Db, id: string, change: Partial<CollectionsTable>) {
  await db.updateTable('collections').set(change).where('id', '=', id).execute()
}

/** The active collection whose slug or id is `named`. */
export function findCollection(
  db: Db,
  {organisation_id, workspace_id}: VisibleTo,
  named: string,
): Promise<CollectionsTable | undefined> {
  let matching = db
    .selectFrom('collections')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .where(e => e.or([e('id', '=', named), e('slug', '=', named)]))
  if (workspace_id !== undefined) matching = matching.where('workspace_id', '=', workspace_id)
  return matching.executeTakeFirst()
}

/** The collection of a workspace for what is put in none. */
export function defaultCollection(db: Db, workspace_id: string): Promise<CollectionsTable> {
  return db
    .selectFrom('collections')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .where('is_default', '=', 1)
    .executeTakeFirstOrThrow()
}

/** Newest first. */
export async function listCollections(
  db: Db,
  {workspace_id, search}: {readonly workspace_id: string; readonly search?: string | undefined},
  page: Page,
): Promise<Paged<CollectionsTable>> {
  let matching = db.selectFrom('collections').where('workspace_id', '=', workspace_id).where('status', '=', 'active')
  if (search !== undefined)
    matching = matching.where(sql<boolean>`lower(name) like lower(${containing(search)}) escape '\\'`)
  return paged(matching.selectAll().orderBy('created_at', 'desc').orderBy('id'), page)
}

/** The active collections right below. */
export function childCollections(db: Db, id: string): Promise<CollectionsTable[]> {
  return db
    .selectFrom('collections')
    .selectAll()
    .where('parent_collection_id', '=', id)
    .where('status', '=', 'active')
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

/** By id of the collection; of each that is requested. */
export async function collectionContents(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CollectionContents>> {
  if (!ids.length) return new Map()
  const children = await db
    .selectFrom('collections')
    .select(e => ['parent_collection_id as id', e.fn.countAll<number>().as('n'), e.fn.max('last_updated_at').as('at')])
    .where('parent_collection_id', 'in', ids)
    .where('status', '=', 'active')
    .groupBy('parent_collection_id')
    .execute()
  const prompts = await db
    .selectFrom('prompts')
    .select(e => ['collection_id as id', e.fn.countAll<number>().as('n'), e.fn.max('last_updated_at').as('at')])
    .where('collection_id', 'in', ids)
    .where('status', '=', 'active')
    .groupBy('collection_id')
    .execute()
  return new Map(
    ids.map(id => {
      const [below, within] = [children.find(each => each.id === id), prompts.find(each => each.id === id)]
      return [
        id,
        {
          child_collections_count: Number(below?.n ?? 0),
          prompts_count: Number(within?.n ?? 0),
          child_collections_last_updated_at: below?.at ?? null,
          prompts_last_updated_at: within?.at ?? null,
        },
      ]
    }),
  )
}

/** Describes the rows that are still in a collection. */
export async function collectionDependants(db: Db, id: string): Promise<string[]> {
  const {child_collections_count, prompts_count} = (await collectionContents(db, [id])).get(id)!
  const partials = await db
    .selectFrom('prompt_partials')
    .select(e => e.fn.countAll<number>().as('n'))
    .where('collection_id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirstOrThrow()
  const counted = [
    [prompts_count, 'prompt'],
    [Number(partials.n), 'prompt partial'],
    [child_collections_count, 'collection'],
  ] as const
  return counted.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}${n === 1 ? '' : 's'}`)
}

export async function collectionSlugTaken(db: Db, slug: string): Promise<boolean> {
  return (await db.selectFrom('collections').select('id').where('slug', '=', slug).executeTakeFirst()) !== undefined
}
