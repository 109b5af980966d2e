import {sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {VisibleTo} from './collections.ts'
import type {Db} from './database.ts'
import {containing, paged} from './rows.ts'
import type {TemplatesTable} from './tables/prompts.ts'

/** The tables of what has versions that are published. */
export type TemplateTable = 'prompts' | 'prompt_partials'

export interface TemplateFilter extends VisibleTo {
  readonly collection_id?: string | undefined
  /** Part of the name, whatever its case. */
  readonly search?: string | undefined
}

export async function insertTemplate(db: Db, table: TemplateTable, row: TemplatesTable) {
  await db.insertInto(table).values(row).execute()
}

export async function updateTemplate(db: Db, table: TemplateTable, id: string, change: Partial<TemplatesTable>) {
  await db.updateTable(table).set(change).where('id', '=', id).execute()
}

/** The active one whose slug or id is `named`. */
export function findTemplate(
  db: Db,
  table: TemplateTable,
  reach: VisibleTo,
  named: string,
): Promise<TemplatesTable | undefined> {
  return active(db, table, reach)
    .selectAll()
    .where(e => e.or([e('id', '=', named), e('slug', '=', named)]))
    .executeTakeFirst()
}

/** Newest first; all of them without a page. */
export async function listTemplates(
  db: Db,
  table: TemplateTable,
  {collection_id, search, ...reach}: TemplateFilter,
  page?: Page,
): Promise<Paged<TemplatesTable>> {
  let matching = active(db, table, reach)
  if (collection_id !== undefined) matching = matching.where('collection_id', '=', collection_id)
  if (search !== undefined)
    matching = matching.where(sql<boolean>`lower(name) like lower(${containing(search)}) escape '\\'`)
  const ordered = matching.selectAll().orderBy('created_at', 'desc').orderBy('id')
  if (page) return paged(ordered, page)
  const rows = await ordered.execute()
  return {total: rows.length, rows}
}

/** No two rows have one slug, archived ones too. */
export async function templateSlugTaken(db: Db, table: TemplateTable, slug: string): Promise<boolean> {
  return (await db.selectFrom(table).select('id').where('slug', '=', slug).executeTakeFirst()) !== undefined
}

function active(db: Db, table: TemplateTable, {organisation_id, workspace_id}: VisibleTo) {
  const ours = db.selectFrom(table).where('organisation_id', '=', organisation_id).where('status', '=', 'active')
  return workspace_id === undefined ? ours : ours.where('workspace_id', '=', workspace_id)
}
