import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import type {LogScope} from './logs.ts'
import {paged} from './rows.ts'
import type {LogExportsTable} from './tables/analytics.ts'

export async function insertExport(db: Db, row: LogExportsTable): Promise<void> {
  await db.insertInto('log_exports').values(row).execute()
}

/** Exports of the scope; of `made_by` those of one user alone. */
export interface ExportScope extends LogScope {
  readonly made_by?: string | undefined
}

export function findExport(db: Db, scope: ExportScope, id: string): Promise<LogExportsTable | undefined> {
  return exportsOf(db, scope).where('id', '=', id).selectAll().executeTakeFirst()
}

/** By its id alone, for its own job and its signed address. */
export function exportById(db: Db, id: string): Promise<LogExportsTable | undefined> {
  return db.selectFrom('log_exports').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first. */
export async function listExports(db: Db, scope: ExportScope, page: Page): Promise<Paged<LogExportsTable>> {
  const all = exportsOf(db, scope)
  return paged(all.selectAll().orderBy('created_at', 'desc').orderBy('id'), page)
}

/** Those that were running when a process ended. */
export function exportsUnderWay(db: Db): Promise<LogExportsTable[]> {
  return db.selectFrom('log_exports').selectAll().where('status', '=', 'in_progress').execute()
}

/** Changes an export; with `run` only while that run is in progress. True when it did. */
export async function updateExport(
  db: Db,
  id: string,
  change: Partial<LogExportsTable>,
  run?: string,
): Promise<boolean> {
  let rows = db.updateTable('log_exports').set(change).where('id', '=', id)
  if (run !== undefined) rows = rows.where('run', '=', run).where('status', '=', 'in_progress')
  return (await rows.executeTakeFirst()).numUpdatedRows === 1n
}

/** Says that the file of a finished export is gone, and why; false when the export has changed since it was read. */
export async function forgetFile(
  db: Db,
  {id, last_updated_at}: LogExportsTable,
  why: string,
  now: string,
): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('log_exports')
    .set({status: 'stopped', run: null, rows: null, error: why, last_updated_at: now})
    .where('id', '=', id)
    .where('status', '=', 'success')
    .where('last_updated_at', '=', last_updated_at)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

function exportsOf(db: Db, {organisation_id, workspace_id, made_by}: ExportScope) {
  let rows = db.selectFrom('log_exports').where('organisation_id', '=', organisation_id)
  if (workspace_id !== undefined) rows = rows.where('workspace_id', '=', workspace_id)
  return made_by === undefined ? rows : rows.where('user_id', '=', made_by)
}
