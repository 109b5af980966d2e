import {sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {containing} from './rows.ts'
import type {WorkspacesTable} from './tables/identity.ts'

export type WorkspaceStatus = WorkspacesTable['status']

export interface WorkspaceFilter {
  readonly organisation_id: string
  /** This one alone. */
  readonly id?: string | undefined
  readonly statuses: readonly WorkspaceStatus[]
  /** Part of the name, whatever its case. */
  readonly name?: string | undefined
  readonly exact_name?: string | undefined
}

export async function insertWorkspace(db: Db, row: WorkspacesTable) {
  await db.insertInto('workspaces').values(row).execute()
}

/** The workspace of the organisation whose id or slug is `named`, whatever its status. */
export function findWorkspace(db: Db, organisation_id: string, named: string): Promise<WorkspacesTable | undefined> {
  return db
    .selectFrom('workspaces')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where(e => e.or([e('id', '=', named), e('slug', '=', named)]))
    .executeTakeFirst()
}

export async function workspaceSlugTaken(db: Db, organisation_id: string, slug: string): Promise<boolean> {
  const query = db.selectFrom('workspaces').select('id').where('organisation_id', '=', organisation_id).where('slug', '=', slug)
  return (await query.executeTakeFirst()) !== undefined
}

/** Newest first. */
export async function listWorkspaces(db: Db, filter: WorkspaceFilter, page: Page): Promise<Paged<WorkspacesTable>> {
  const {id, name, exact_name} = filter
  let matching = db
    .selectFrom('workspaces')
    .where('organisation_id', '=', filter.organisation_id)
    .where('status', 'in', [...filter.statuses])
  if (id !== undefined) matching = matching.where('id', '=', id)
  if (exact_name !== undefined) matching = matching.where('name', '=', exact_name)
  if (name !== undefined) matching = matching.where(sql<boolean>`lower(name) like lower(${containing(name)}) escape '\\'`)
  const {n} = await matching.select(e => e.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  const rows = await matching
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(page.page_size)
    .offset(page.current_page * page.page_size)
    .execute()
  return {total: Number(n), rows}
}

export async function updateWorkspace(db: Db, id: string, change: Partial<WorkspacesTable>) {
  await db.updateTable('workspaces').set(change).where('id', '=', id).execute()
}

/** What lives in a workspace and would stop working with it, in words: `2 providers`, `1 API key`. */
export async function workspaceDependants(db: Db, id: string): Promise<string[]> {
  const found: string[] = []
  for (const table of TABLES) {
    let rows = db.selectFrom(table).where('workspace_id', '=', id).where('status', '<>', 'archived')
    // The hidden integration of a virtual key goes with it and is no dependant of its own.
    if (table === 'integrations') rows = rows.where(sql<boolean>`is_hidden = 0`)
    const {n} = await rows.select(e => e.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
    if (Number(n)) found.push(`${n} ${LIVING[table]}${Number(n) === 1 ? '' : 's'}`)
  }
  return found
}

/** Archives a workspace and all that lives in it; organisation integrations are no longer offered to it. */
export async function archiveWorkspace(db: Db, id: string, now: string) {
  const archived = {status: 'archived', last_updated_at: now} as const
  await db.updateTable('workspaces').set(archived).where('id', '=', id).execute()
  for (const table of TABLES) {
    await db.updateTable(table).set(archived).where('workspace_id', '=', id).where('status', '<>', 'archived').execute()
  }
  await db.updateTable('integration_workspaces').set({enabled: 0, last_updated_at: now}).where('workspace_id', '=', id).execute()
}

/** The tables whose rows live in a workspace, and what one row is called. */
const LIVING = {api_keys: 'API key', configs: 'config', integrations: 'integration', providers: 'provider'} as const
const TABLES = Object.keys(LIVING) as (keyof typeof LIVING)[]
