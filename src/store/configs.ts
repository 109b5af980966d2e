import type {Seal} from '../base/seal.ts'
import {type GatewayConfig, mapApiKeys} from '../schema/configs.ts'
import type {Page, Paged} from '../schema/paging.ts'
import {mask} from '../schema/secrets.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {ConfigsTable, ConfigVersionsTable} from './tables/catalog.ts'

type Sealed = Pick<ConfigsTable, 'id' | 'organisation_id' | 'config' | 'secrets_sealed'>

/** The columns that hold `config` in the row `id`: its text with every `api_key` masked, and those keys, sealed. */
export function sealConfig(
  seal: Seal,
  row: {readonly id: string; readonly organisation_id: string},
  config: GatewayConfig,
): Pick<ConfigsTable, 'config' | 'secrets_sealed'> {
  const secrets: Record<string, string> = {}
  const shown = mapApiKeys(config, (api_key, path) => {
    secrets[path] = api_key
    return mask(api_key)
  })
  const secrets_sealed = Object.keys(secrets).length ? seal.close(JSON.stringify(secrets), place(row)) : null
  return {config: JSON.stringify(shown), secrets_sealed}
}

/** The config of a row with its keys as they are: for the moment of a call, never to be shown. */
export function openConfig(seal: Seal, row: Sealed): GatewayConfig {
  const config = JSON.parse(row.config) as GatewayConfig
  if (!row.secrets_sealed) return config
  const secrets = JSON.parse(seal.open(row.secrets_sealed, place(row))) as Record<string, string>
  return mapApiKeys(config, (_, path) => secrets[path])
}

function place({id, organisation_id}: {readonly id: string; readonly organisation_id: string}) {
  return {table: 'configs', column: 'secrets_sealed', row: id, organisation_id}
}

/** Writes a config and its version in one. */
export async function insertConfig(db: Db, row: ConfigsTable) {
  await db.insertInto('configs').values(row).execute()
  await insertVersion(db, row)
}

export async function insertVersion(
  db: Db,
  {id, version_id, version, config, updated_by, last_updated_at}: ConfigsTable,
) {
  const row = {id: version_id, config_id: id, version, config, updated_by, created_at: last_updated_at}
  await db.insertInto('config_versions').values(row).execute()
}

export async function updateConfig(db: Db, id: string, change: Partial<ConfigsTable>) {
  await db.updateTable('configs').set(change).where('id', '=', id).execute()
}

/** The config of the organisation, or of one workspace, whose slug or id is `named`. Archived ones are not found. */
export function findConfig(
  db: Db,
  where: {readonly organisation_id: string; readonly workspace_id?: string | undefined},
  named: string,
): Promise<ConfigsTable | undefined> {
  let matching = active(db, named).where('organisation_id', '=', where.organisation_id)
  if (where.workspace_id !== undefined) matching = matching.where('workspace_id', '=', where.workspace_id)
  return matching.executeTakeFirst()
}

/**
 * The config that a call of this workspace names by slug or id; undefined when there is none or it was archived. See
 * `openConfig`.
 */
export function findConfigForCall(db: Db, workspace_id: string, slug_or_id: string): Promise<ConfigsTable | undefined> {
  return active(db, slug_or_id).where('workspace_id', '=', workspace_id).executeTakeFirst()
}

/** The id of the config that calls of this workspace go by by default. */
export async function defaultConfigId(db: Db, workspace_id: string): Promise<string | null> {
  const standing = db
    .selectFrom('configs')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('status', '=', 'active')
  return (await standing.where('is_default', '=', 1).executeTakeFirst())?.id ?? null
}

export interface ConfigFilter {
  readonly organisation_id: string
  readonly workspace_id?: string | undefined
}

/** Newest first. */
export async function listConfigs(db: Db, filter: ConfigFilter, page: Page): Promise<Paged<ConfigsTable>> {
  let matching = db
    .selectFrom('configs')
    .where('organisation_id', '=', filter.organisation_id)
    .where('status', '=', 'active')
  if (filter.workspace_id !== undefined) matching = matching.where('workspace_id', '=', filter.workspace_id)
  return paged(matching.selectAll().orderBy('created_at', 'desc').orderBy('id'), page)
}

/** Newest first. */
export function configVersions(db: Db, config_id: string): Promise<ConfigVersionsTable[]> {
  return db
    .selectFrom('config_versions')
    .selectAll()
    .where('config_id', '=', config_id)
    .orderBy('version', 'desc')
    .execute()
}

/** The id of the version that was the newest at `at`. */
export async function configVersionAt(db: Db, config_id: string, at: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('config_versions')
    .select('id')
    .where('config_id', '=', config_id)
    .where('created_at', '<=', at)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Slugs of configs are never given twice, for calls and keys name them. */
export async function configSlugTaken(db: Db, slug: string): Promise<boolean> {
  return (await db.selectFrom('configs').select('id').where('slug', '=', slug).executeTakeFirst()) !== undefined
}

/** The keys of a workspace, and itself, that have the config as their default, in words. */
export async function configUsers(db: Db, workspace_id: string, names: readonly string[]): Promise<string[]> {
  const keys = await db
    .selectFrom('api_keys')
    .select(['name', 'defaults'])
    .where('workspace_id', '=', workspace_id)
    .where('status', '<>', 'archived')
    .where('defaults', 'is not', null)
    .execute()
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['name', 'defaults'])
    .where('id', '=', workspace_id)
    .execute()
  const uses = ({defaults}: {defaults: string | null}) =>
    names.includes(String((JSON.parse(defaults ?? '{}') as {config_id?: unknown}).config_id))
  return [
    ...keys.filter(uses).map(({name}) => `the API key ${JSON.stringify(name)}`),
    ...workspaces.filter(uses).map(({name}) => `the workspace ${JSON.stringify(name)}`),
  ]
}

/** Takes the mark of the default from whichever config of the workspace has it. */
export async function clearDefaultConfig(db: Db, workspace_id: string) {
  await db
    .updateTable('configs')
    .set({is_default: 0})
    .where('workspace_id', '=', workspace_id)
    .where('is_default', '=', 1)
    .execute()
}

function active(db: Db, named: string) {
  return db
    .selectFrom('configs')
    .selectAll()
    .where('status', '=', 'active')
    .where(e => e.or([e('slug', '=', named), e('id', '=', named)]))
}
