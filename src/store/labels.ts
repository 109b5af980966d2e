import type {ExpressionBuilder} from 'kysely'
import {sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {VisibleTo} from './collections.ts'
import type {Database, Db} from './database.ts'
import {containing, paged} from './rows.ts'
import type {LabelsTable} from './tables/prompts.ts'

export async function insertLabel(db: Db, row: LabelsTable) {
  await db.insertInto('labels').values(row).execute()
}

export async function updateLabel(db: Db, id: string, change: Partial<LabelsTable>) {
  await db.updateTable('labels').set(change).where('id', '=', id).execute()
}

/** The active label of this id: of the caller's reach, or one that everyone has. */
export function findLabel(db: Db, reach: VisibleTo, id: string): Promise<LabelsTable | undefined> {
  return active(db, reach).selectAll().where('id', '=', id).executeTakeFirst()
}

/** True when a workspace's prompts have the name already. */
export async function labelTaken(db: Db, reach: VisibleTo, name: string, except?: string): Promise<boolean> {
  let matching = active(db, reach).select('id').where('name', '=', name)
  if (except !== undefined) matching = matching.where('id', '<>', except)
  return (await matching.executeTakeFirst()) !== undefined
}

/** Newest first; what everyone has last. */
export async function listLabels(
  db: Db,
  {search, ...reach}: VisibleTo & {readonly search?: string | undefined},
  page: Page,
): Promise<Paged<LabelsTable>> {
  let matching = active(db, reach)
  if (search !== undefined)
    matching = matching.where(sql<boolean>`lower(name) like lower(${containing(search)}) escape '\\'`)
  return paged(
    matching
      .selectAll()
      .orderBy(e => e.case().when('workspace_id', 'is', null).then(1).else(0).end())
      .orderBy('created_at', 'desc')
      .orderBy('id'),
    page,
  )
}

/** Takes a label from every version that bears it. */
export async function unassignLabel(db: Db, label_id: string) {
  await db.deleteFrom('prompt_labels').where('label_id', '=', label_id).execute()
}

function active(db: Db, reach: VisibleTo) {
  return db
    .selectFrom('labels')
    .where('status', '=', 'active')
    .where(e => e.or([e('organisation_id', 'is', null), owned(e, reach)]))
}

function owned(e: ExpressionBuilder<Database, 'labels'>, {organisation_id, workspace_id}: VisibleTo) {
  const ours = e('organisation_id', '=', organisation_id)
  return workspace_id === undefined ? ours : e.and([ours, e('workspace_id', '=', workspace_id)])
}
