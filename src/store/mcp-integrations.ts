import type {Seal} from '../base/seal.ts'
import type {McpConfigurations} from '../schema/mcp-configurations.ts'
import type {McpMetadata} from '../schema/mcp-integrations.ts'
import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {called, mentioning, paged, slugFirst} from './rows.ts'
import type {McpIntegrationsTable, McpIntegrationWorkspacesTable} from './tables/registry.ts'

type Owner = Pick<McpIntegrationsTable, 'id' | 'organisation_id'>

/** The columns that hold configurations: as they may be shown, and sealed where that is not as they are. */
export function sealConfigurations(
  seal: Seal,
  owner: Owner,
  configurations: McpConfigurations,
  shown: unknown,
): Pick<McpIntegrationsTable, 'configurations' | 'configurations_sealed'> {
  const [plain, masked] = [JSON.stringify(configurations), JSON.stringify(shown)]
  return {configurations: masked, configurations_sealed: plain === masked ? null : seal.close(plain, place(owner))}
}

/**
 * The configurations of a row with their secrets: for the moment of a call, never to be shown. Those of an older
 * version may not fit `McpConfigurations`.
 */
export function openConfigurations(
  seal: Seal,
  row: Owner & Pick<McpIntegrationsTable, 'configurations' | 'configurations_sealed'>,
): Readonly<Record<string, unknown>> {
  return JSON.parse(row.configurations_sealed ? seal.open(row.configurations_sealed, place(row)) : row.configurations)
}

function place({id, organisation_id}: Owner) {
  return {table: 'mcp_integrations', column: 'configurations_sealed', row: id, organisation_id}
}

export async function insertMcpIntegration(db: Db, row: McpIntegrationsTable) {
  await db.insertInto('mcp_integrations').values(row).execute()
}

export async function updateMcpIntegration(db: Db, id: string, change: Partial<McpIntegrationsTable>) {
  await db.updateTable('mcp_integrations').set(change).where('id', '=', id).execute()
}

/** Keeps what a server reports of itself. */
export async function putMcpMetadata(db: Db, id: string, metadata: McpMetadata) {
  await updateMcpIntegration(db, id, {metadata: JSON.stringify(metadata)})
}

/** Takes an integration out of service, and every server made of it. Tokens for it and clients of it are gone. */
export async function archiveMcpIntegration(db: Db, id: string, now: string) {
  const archived = {status: 'archived', last_updated_at: now} as const
  await updateMcpIntegration(db, id, archived)
  for (const table of [
    ...(['mcp_connections', 'mcp_registrations', 'mcp_sign_ins'] as const),
    ...(['mcp_external_sign_ins', 'mcp_external_people'] as const),
  ])
    await db.deleteFrom(table).where('mcp_integration_id', '=', id).execute()
  await db
    .updateTable('mcp_servers')
    .set(archived)
    .where('mcp_integration_id', '=', id)
    .where('status', '=', 'active')
    .execute()
}

/** The integration of the organisation whose slug or id is `named`. Archived ones are not found. */
export function findMcpIntegration(
  db: Db,
  organisation_id: string,
  named: string,
): Promise<McpIntegrationsTable | undefined> {
  return db
    .selectFrom('mcp_integrations')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .where('is_virtual', '=', 0)
    .where(called(named))
    .orderBy(slugFirst(named))
    .executeTakeFirst()
}

export interface McpIntegrationFilter {
  readonly organisation_id: string
  readonly types: readonly ('organisation' | 'workspace')[]
  /** Those of this workspace, and of the organisation's the ones that are open to it. */
  readonly workspace_id?: string | undefined
  readonly search?: string | undefined
}

/** Newest first. */
export function listMcpIntegrations(
  db: Db,
  filter: McpIntegrationFilter,
  page: Page,
): Promise<Paged<McpIntegrationsTable>> {
  const {organisation_id, types, workspace_id, search} = filter
  let matching = db
    .selectFrom('mcp_integrations as i')
    .where('i.organisation_id', '=', organisation_id)
    .where('i.status', '=', 'active')
    .where('i.is_virtual', '=', 0)
  if (!types.includes('workspace')) matching = matching.where('i.workspace_id', 'is', null)
  if (!types.includes('organisation')) matching = matching.where('i.workspace_id', 'is not', null)
  if (workspace_id !== undefined) {
    matching = matching
      .leftJoin('mcp_integration_workspaces as iw', join =>
        join.onRef('iw.mcp_integration_id', '=', 'i.id').on('iw.workspace_id', '=', workspace_id),
      )
      .where(e =>
        e.or([
          e('i.workspace_id', '=', workspace_id),
          e.and([e('i.workspace_id', 'is', null), e(e.fn.coalesce('iw.enabled', 'i.global_access_enabled'), '=', 1)]),
        ]),
      )
  }
  if (search !== undefined) matching = matching.where(mentioning(['i.name', 'i.slug'], search))
  return paged(matching.selectAll('i').orderBy('i.created_at', 'desc').orderBy('i.id'), page)
}

/** The rows of workspaces for an integration; those without one have the row for all. */
export function mcpIntegrationWorkspaces(db: Db, id: string): Promise<McpIntegrationWorkspacesTable[]> {
  return db.selectFrom('mcp_integration_workspaces').selectAll().where('mcp_integration_id', '=', id).execute()
}

/** Writes a workspace's row; one that is there keeps its `created_at`. */
export async function putMcpIntegrationWorkspace(db: Db, row: McpIntegrationWorkspacesTable) {
  const {enabled, last_updated_at} = row
  await db
    .insertInto('mcp_integration_workspaces')
    .values(row)
    .onConflict(conflict =>
      conflict.columns(['mcp_integration_id', 'workspace_id']).doUpdateSet({enabled, last_updated_at}),
    )
    .execute()
}

/** Removes the rows of all workspaces but `kept`. */
export async function removeMcpIntegrationWorkspaces(db: Db, id: string, kept: readonly string[]) {
  let gone = db.deleteFrom('mcp_integration_workspaces').where('mcp_integration_id', '=', id)
  if (kept.length) gone = gone.where('workspace_id', 'not in', [...kept])
  await gone.execute()
}
