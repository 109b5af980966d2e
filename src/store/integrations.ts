import type {Seal} from '../base/seal.ts'
import type {Page, Paged} from '../schema/paging.ts'
import type {Tags} from '../schema/tags.ts'
import type {Db} from './database.ts'
import {called, paged, slugFirst} from './rows.ts'
import type {IntegrationModelsTable, IntegrationsTable, IntegrationWorkspacesTable} from './tables/catalog.ts'
import {tagged} from './tags.ts'

/** A row, with the way its secrets are sealed in it. */
type Sealed = Pick<
  IntegrationsTable,
  'id' | 'organisation_id' | 'key_sealed' | 'configurations' | 'configurations_sealed'
>

/** An integration's settings and credentials in plain text: for the moment of a call, never to be kept or shown. */
export interface IntegrationCredentials {
  readonly key: string | null
  readonly configurations: Readonly<Record<string, unknown>>
}

/** Seals the text of a secret column of the row `id`; null stays null. */
export function sealSecret(
  seal: Seal,
  {id, organisation_id}: {readonly id: string; readonly organisation_id: string},
  column: 'key_sealed' | 'configurations_sealed',
  plain: string | null,
): Uint8Array | null {
  return plain === null ? null : seal.close(plain, {table: 'integrations', column, row: id, organisation_id})
}

/** The credentials of a row, opened. Throws `SealFault` when another key sealed them. */
export function openCredentials(seal: Seal, row: Sealed): IntegrationCredentials {
  const place = (column: string) => ({table: 'integrations', column, row: row.id, organisation_id: row.organisation_id})
  const secrets = row.configurations_sealed
    ? JSON.parse(seal.open(row.configurations_sealed, place('configurations_sealed')))
    : {}
  return {
    key: row.key_sealed ? seal.open(row.key_sealed, place('key_sealed')) : null,
    configurations: {...JSON.parse(row.configurations), ...secrets},
  }
}

export async function insertIntegration(db: Db, row: IntegrationsTable) {
  await db.insertInto('integrations').values(row).execute()
}

/** The integration of the organisation whose slug or id is `named`. Archived and hidden ones are not found. */
export function findIntegration(
  db: Db,
  organisation_id: string,
  named: string,
): Promise<IntegrationsTable | undefined> {
  return db
    .selectFrom('integrations')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .where('is_hidden', '=', 0)
    .where(called(named))
    .orderBy(slugFirst(named))
    .executeTakeFirst()
}

/** By id, hidden or not, archived or not. */
export function integrationById(db: Db, id: string): Promise<IntegrationsTable | undefined> {
  return db.selectFrom('integrations').selectAll().where('id', '=', id).executeTakeFirst()
}

export interface IntegrationFilter {
  readonly organisation_id: string
  /** Which are listed: the organisation's, those of one workspace, or both. */
  readonly types: readonly ('organisation' | 'workspace')[]
  /** Those of this workspace, and of the organisation's the ones that are open to it. */
  readonly workspace_id?: string | undefined
  readonly tags?: Tags | undefined
}

/** Newest first. */
export async function listIntegrations(
  db: Db,
  filter: IntegrationFilter,
  page: Page,
): Promise<Paged<IntegrationsTable>> {
  const {organisation_id, types, workspace_id, tags = {}} = filter
  if (!types.length) return {total: 0, rows: []}
  let matching = db
    .selectFrom('integrations as i')
    .where('i.organisation_id', '=', organisation_id)
    .where('i.status', '=', 'active')
    .where('i.is_hidden', '=', 0)
  if (!types.includes('workspace')) matching = matching.where('i.workspace_id', 'is', null)
  if (!types.includes('organisation')) matching = matching.where('i.workspace_id', 'is not', null)
  if (workspace_id !== undefined) {
    matching = matching
      .leftJoin('integration_workspaces as iw', join =>
        join.onRef('iw.integration_id', '=', 'i.id').on('iw.workspace_id', '=', workspace_id),
      )
      .where(e =>
        e.or([
          e('i.workspace_id', '=', workspace_id),
          e.and([e('i.workspace_id', 'is', null), e(e.fn.coalesce('iw.enabled', 'i.global_access_enabled'), '=', 1)]),
        ]),
      )
  }
  for (const [key, value] of Object.entries(tags)) matching = matching.where(tagged('i.tags', key, value))
  return paged(matching.selectAll('i').orderBy('i.created_at', 'desc').orderBy('i.id'), page)
}

export async function integrationSlugTaken(db: Db, organisation_id: string, slug: string): Promise<boolean> {
  const query = db
    .selectFrom('integrations')
    .select('id')
    .where('organisation_id', '=', organisation_id)
    .where('slug', '=', slug)
  return (await query.where('status', '<>', 'archived').executeTakeFirst()) !== undefined
}

export async function updateIntegration(db: Db, id: string, change: Partial<IntegrationsTable>) {
  await db.updateTable('integrations').set(change).where('id', '=', id).execute()
}

/** Takes an integration out of service, and every provider made of it. */
export async function archiveIntegration(db: Db, id: string, now: string) {
  const archived = {status: 'archived', last_updated_at: now} as const
  await db.updateTable('integrations').set(archived).where('id', '=', id).execute()
  await db
    .updateTable('providers')
    .set(archived)
    .where('integration_id', '=', id)
    .where('status', '<>', 'archived')
    .execute()
}

/** The models an integration says something of, by name. What it is silent of, `allow_all_models` decides. */
export function integrationModels(db: Db, integration_id: string): Promise<IntegrationModelsTable[]> {
  return db
    .selectFrom('integration_models')
    .selectAll()
    .where('integration_id', '=', integration_id)
    .orderBy('slug')
    .execute()
}

/** Writes a model's row; one that is there keeps its `created_at`. */
export async function putIntegrationModel(db: Db, row: IntegrationModelsTable) {
  const {integration_id: _, slug: __, created_at: ___, ...change} = row
  await db
    .insertInto('integration_models')
    .values(row)
    .onConflict(conflict => conflict.columns(['integration_id', 'slug']).doUpdateSet(change))
    .execute()
}

/** Removes custom models; a model of the catalogue is only ever switched off. How many went. */
export async function removeCustomModels(db: Db, integration_id: string, slugs: readonly string[]): Promise<number> {
  const {numDeletedRows} = await db
    .deleteFrom('integration_models')
    .where('integration_id', '=', integration_id)
    .where('slug', 'in', [...slugs])
    .where('is_custom', '=', 1)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** The rows of workspaces for an integration; those without one have the row for all. */
export function integrationWorkspaces(db: Db, integration_id: string): Promise<IntegrationWorkspacesTable[]> {
  return db.selectFrom('integration_workspaces').selectAll().where('integration_id', '=', integration_id).execute()
}

/** Writes a workspace's row; one that is there keeps its `created_at`. */
export async function putIntegrationWorkspace(db: Db, row: IntegrationWorkspacesTable) {
  const {integration_id: _, workspace_id: __, created_at: ___, ...change} = row
  await db
    .insertInto('integration_workspaces')
    .values(row)
    .onConflict(conflict => conflict.columns(['integration_id', 'workspace_id']).doUpdateSet(change))
    .execute()
}

/** Removes the rows of all workspaces but `kept`. */
export async function removeIntegrationWorkspaces(db: Db, integration_id: string, kept: readonly string[]) {
  let gone = db.deleteFrom('integration_workspaces').where('integration_id', '=', integration_id)
  if (kept.length) gone = gone.where('workspace_id', 'not in', [...kept])
  await gone.execute()
}

/** The integrations of an organisation that every workspace may use, a new one too; the oldest first. */
export function globalIntegrations(db: Db, organisation_id: string): Promise<IntegrationsTable[]> {
  return db
    .selectFrom('integrations')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .where('workspace_id', 'is', null)
    .where('global_access_enabled', '=', 1)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** True when a workspace may use an integration now: by its own row, else by the row for all. */
export async function isOpenTo(db: Db, integration: IntegrationsTable, workspace_id: string): Promise<boolean> {
  const query = db.selectFrom('integration_workspaces').select('enabled').where('integration_id', '=', integration.id)
  const own = await query.where('workspace_id', '=', workspace_id).executeTakeFirst()
  if (integration.workspace_id !== null && integration.workspace_id !== workspace_id) return false
  return (own ? own.enabled : integration.workspace_id === null ? integration.global_access_enabled : 1) === 1
}

/** Active workspaces of an organisation, the oldest first: all an integration of it can be opened to. */
export function workspacesOf(db: Db, organisation_id: string) {
  return db
    .selectFrom('workspaces')
    .select(['id', 'slug', 'name'])
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}
