import {sql} from 'kysely'
import {newId} from '../base/ids.ts'
import type {Page, Paged} from '../schema/paging.ts'
import {insertCollection} from './collections.ts'
import type {Db} from './database.ts'
import {anyOf, containing, paged} from './rows.ts'
import type {WorkspacesTable} from './tables/identity.ts'

export type WorkspaceStatus = WorkspacesTable['status']

export interface WorkspaceFilter {
  readonly organisation_id: string
  /** These alone. */
  readonly ids?: readonly string[] | undefined
  readonly statuses: readonly WorkspaceStatus[]
  /** Part of the name, whatever its case. */
  readonly name?: string | undefined
  readonly exact_name?: string | undefined
}

/** Writes a workspace and the default collection of its prompts. */
export async function insertWorkspace(db: Db, row: WorkspacesTable) {
  await db.insertInto('workspaces').values(row).execute()
  const id = newId()
  const {id: workspace_id, organisation_id, created_at, last_updated_at} = row
  const place = {id, slug: `default-${id.slice(0, 8)}`, organisation_id, workspace_id, parent_collection_id: null}
  await insertCollection(db, {...place, name: 'Default', is_default: 1, status: 'active', created_at, last_updated_at})
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

/** The active workspace of this name, whatever the case: databases fold letters beyond ASCII differently. */
export async function findWorkspaceByName(
  db: Db,
  organisation_id: string,
  name: string,
): Promise<WorkspacesTable | undefined> {
  const names = await db
    .selectFrom('workspaces')
    .select(['id', 'name'])
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .orderBy('created_at')
    .execute()
  const found = names.find(row => row.name.toLowerCase() === name.toLowerCase())
  return found && findWorkspace(db, organisation_id, found.id)
}

export async function workspaceSlugTaken(db: Db, organisation_id: string, slug: string): Promise<boolean> {
  const query = db
    .selectFrom('workspaces')
    .select('id')
    .where('organisation_id', '=', organisation_id)
    .where('slug', '=', slug)
  return (await query.executeTakeFirst()) !== undefined
}

/** The ids of all workspaces of an organisation, those that are archived too. */
export async function workspaceIds(db: Db, organisation_id: string): Promise<string[]> {
  const rows = await db.selectFrom('workspaces').select('id').where('organisation_id', '=', organisation_id).execute()
  return rows.map(({id}) => id)
}

/** Newest first. */
export function listWorkspaces(db: Db, filter: WorkspaceFilter, page: Page): Promise<Paged<WorkspacesTable>> {
  const {ids, name, exact_name} = filter
  let matching = db
    .selectFrom('workspaces')
    .where('organisation_id', '=', filter.organisation_id)
    .where('status', 'in', [...filter.statuses])
  if (ids !== undefined) matching = matching.where('id', 'in', anyOf(ids))
  if (exact_name !== undefined) matching = matching.where('name', '=', exact_name)
  if (name !== undefined)
    matching = matching.where(sql<boolean>`lower(name) like lower(${containing(name)}) escape '\\'`)
  return paged(matching.selectAll().orderBy('created_at', 'desc').orderBy('id'), page)
}

export async function updateWorkspace(db: Db, id: string, change: Partial<WorkspacesTable>) {
  await db.updateTable('workspaces').set(change).where('id', '=', id).execute()
}

/** Describes the rows in a workspace that would stop working with it: `2 providers`, `1 API key`. */
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
  await db
    .deleteFrom('mcp_connections')
    .where('mcp_server_id', 'in', e => e.selectFrom('mcp_servers').select('id').where('workspace_id', '=', id))
    .execute()
  for (const table of ['integration_workspaces', 'mcp_integration_workspaces'] as const)
    await db.updateTable(table).set({enabled: 0, last_updated_at: now}).where('workspace_id', '=', id).execute()
  for (const table of ['labels', 'policies'] as const)
    await db.updateTable(table).set(archived).where('workspace_id', '=', id).where('status', '=', 'active').execute()
  // The default one is there for the workspace that comes back, and empty by then.
  await db
    .updateTable('collections')
    .set(archived)
    .where('workspace_id', '=', id)
    .where('status', '=', 'active')
    .where('is_default', '=', 0)
    .execute()
  await db
    .updateTable('scim_mappings')
    .set(archived)
    .where('workspace_id', '=', id)
    .where('status', '=', 'active')
    .execute()
}

/** The tables whose rows live in a workspace, and what one row is called. */
const LIVING = {
  api_keys: 'API key',
  configs: 'config',
  guardrails: 'guardrail',
  integrations: 'integration',
  prompt_partials: 'prompt partial',
  prompts: 'prompt',
  mcp_integrations: 'MCP integration',
  mcp_servers: 'MCP server',
  providers: 'provider',
} as const
const TABLES = Object.keys(LIVING) as (keyof typeof LIVING)[]
