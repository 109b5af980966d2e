import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import type {LogScope} from './logs.ts'
import {paged} from './rows.ts'
import type {SavedFiltersTable} from './tables/analytics.ts'

export type SavedFilterRow = SavedFiltersTable & {readonly workspace_slug: string}

export async function insertSavedFilter(db: Db, row: SavedFiltersTable): Promise<void> {
  await db.insertInto('saved_filters').values(row).execute()
}

export function findSavedFilter(db: Db, scope: LogScope, id: string): Promise<SavedFilterRow | undefined> {
  return rowsOf(db, scope).where('saved_filters.id', '=', id).executeTakeFirst()
}

/** True when the name is taken by another filter of the workspace. */
export async function savedFilterNamed(db: Db, workspace_id: string, name: string): Promise<string | undefined> {
  const rows = db
    .selectFrom('saved_filters')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('name', '=', name)
  return (await rows.executeTakeFirst())?.id
}

/** Newest first. */
export async function listSavedFilters(db: Db, scope: LogScope, page: Page): Promise<Paged<SavedFilterRow>> {
  const all = rowsOf(db, scope)
  return paged(all.orderBy('saved_filters.created_at', 'desc').orderBy('saved_filters.id'), page)
}

export async function updateSavedFilter(db: Db, id: string, change: Partial<SavedFiltersTable>): Promise<void> {
  await db.updateTable('saved_filters').set(change).where('id', '=', id).execute()
}

export async function deleteSavedFilter(db: Db, id: string): Promise<void> {
  await db.deleteFrom('saved_filters').where('id', '=', id).execute()
}

function rowsOf(db: Db, {organisation_id, workspace_id}: LogScope) {
  const rows = db
    .selectFrom('saved_filters')
    .innerJoin('workspaces', 'workspaces.id', 'saved_filters.workspace_id')
    .selectAll('saved_filters')
    .select('workspaces.slug as workspace_slug')
    .where('saved_filters.organisation_id', '=', organisation_id)
  return workspace_id === undefined ? rows : rows.where('saved_filters.workspace_id', '=', workspace_id)
}
