import type {Insertable} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {Tags} from '../schema/tags.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {ProvidersTable} from './tables/catalog.ts'
import {tagged} from './tags.ts'

export async function insertProvider(db: Db, row: Insertable<ProvidersTable>) {
  await db.insertInto('providers').values(row).execute()
}

/** A provider with what its replies say of its integration. */
export type ProviderRow = Awaited<ReturnType<typeof findProviders>>[number]

/**
 * The providers of the organisation, or of the one workspace, whose slug or id is `named`; archived ones are not found.
 * More than one only where workspaces share a slug and none is named.
 */
export function findProviders(
  db: Db,
  where: {readonly organisation_id: string; readonly workspace_id?: string | undefined},
  named: string,
) {
  let matching = rows(db)
    .where('p.organisation_id', '=', where.organisation_id)
    .where('p.status', '<>', 'archived')
    .where(e => e.or([e('p.slug', '=', named), e('p.id', '=', named)]))
  if (where.workspace_id !== undefined) matching = matching.where('p.workspace_id', '=', where.workspace_id)
  return matching.limit(3).execute()
}

export interface ProviderFilter {
  readonly organisation_id: string
  readonly workspace_id?: string | undefined
  readonly tags?: Tags | undefined
}

/** Newest first. */
export async function listProviders(db: Db, filter: ProviderFilter, page: Page): Promise<Paged<ProviderRow>> {
  let matching = rows(db).where('p.organisation_id', '=', filter.organisation_id).where('p.status', '<>', 'archived')
  if (filter.workspace_id !== undefined) matching = matching.where('p.workspace_id', '=', filter.workspace_id)
  for (const [key, value] of Object.entries(filter.tags ?? {})) matching = matching.where(tagged('p.tags', key, value))
  return paged(matching.orderBy('p.created_at', 'desc').orderBy('p.id'), page)
}

export async function providerSlugTaken(db: Db, workspace_id: string, slug: string): Promise<boolean> {
  const query = db
    .selectFrom('providers')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('slug', '=', slug)
  return (await query.where('status', '<>', 'archived').executeTakeFirst()) !== undefined
}

/** The workspaces in which something was made of the integration. */
export async function workspacesWithProvider(db: Db, integration_id: string): Promise<ReadonlySet<string>> {
  const query = db
    .selectFrom('providers')
    .select('workspace_id')
    .distinct()
    .where('integration_id', '=', integration_id)
  return new Set((await query.where('status', '<>', 'archived').execute()).map(row => row.workspace_id))
}

export async function updateProvider(db: Db, id: string, change: Partial<ProvidersTable>) {
  await db.updateTable('providers').set(change).where('id', '=', id).execute()
}

/** Takes a provider out of service; its slug is free again. */
export async function archiveProvider(db: Db, id: string, now: string) {
  await db.updateTable('providers').set({status: 'archived', last_updated_at: now}).where('id', '=', id).execute()
}

/** Takes the hidden integration of a virtual key out of service. */
export async function archiveHidden(db: Db, integration_id: string, now: string) {
  const archived = {status: 'archived', last_updated_at: now} as const
  await db
    .updateTable('integrations')
    .set(archived)
    .where('id', '=', integration_id)
    .where('is_hidden', '=', 1)
    .execute()
}

/** All a call needs of the provider it names. Limits are column texts (`readUsageLimits`, `readRateLimits`). */
export interface ProviderForCall {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly organisation_id: string
  readonly workspace_id: string
  /** `expires_at` decides what is expired: it is to be held against the clock. */
  readonly status: ProvidersTable['status']
  readonly expires_at: string | null
  readonly usage_limits: string | null
  readonly rate_limits: string | null
  readonly last_reset_at: string | null
  readonly created_at: string
  readonly model_config_sealed: Uint8Array | null
  readonly names_place: boolean
  readonly integration: {
    readonly id: string
    readonly organisation_id: string
    readonly slug: string
    /** The kind, a slug of the catalogue. */
    readonly ai_provider_id: string
    readonly status: 'active' | 'archived'
    /** False when the workspace may not use it now. */
    readonly enabled: boolean
    readonly key_sealed: Uint8Array | null
    readonly configurations: string
    readonly configurations_sealed: Uint8Array | null
    readonly trusts_host: boolean
    readonly allow_all_models: boolean
    readonly secret_mappings: string
    /** Of this workspace: its own, else those for all workspaces. */
    readonly usage_limits: string | null
    readonly rate_limits: string | null
    readonly last_reset_at: string | null
  }
}

/**
 * The provider called `@slug` in a workspace, with its integration; undefined when there is none or it was archived.
 */
export async function findProviderForCall(
  db: Db,
  workspace_id: string,
  slug: string,
): Promise<ProviderForCall | undefined> {
  const row = await db
    .selectFrom('providers as p')
    .innerJoin('integrations as i', 'i.id', 'p.integration_id')
    .leftJoin('integration_workspaces as iw', join =>
      join.onRef('iw.integration_id', '=', 'p.integration_id').onRef('iw.workspace_id', '=', 'p.workspace_id'),
    )
    .selectAll('p')
    .select([
      'i.organisation_id as owner_id',
      'i.slug as integration_slug',
      'i.ai_provider_id',
      'i.status as integration_status',
      'i.workspace_id as only_workspace_id',
      'i.global_access_enabled',
      'i.global_workspace_access',
      'i.key_sealed',
      'i.configurations',
      'i.configurations_sealed',
      'i.trusts_host',
      'i.allow_all_models',
      'i.secret_mappings',
      'iw.enabled as own_enabled',
      'iw.usage_limits as own_usage_limits',
      'iw.rate_limits as own_rate_limits',
      'iw.last_reset_at as own_last_reset_at',
    ])
    .where('p.workspace_id', '=', workspace_id)
    .where('p.slug', '=', slug)
    .where('p.status', '<>', 'archived')
    .executeTakeFirst()
  if (!row) return undefined
  const {id, name, organisation_id, status, expires_at, usage_limits, rate_limits, last_reset_at, created_at} = row
  const own = row.own_enabled !== null
  const global = own ? NO_LIMITS : globalAccess(row.global_workspace_access)
  return {
    id,
    slug: row.slug,
    name,
    organisation_id,
    workspace_id: row.workspace_id,
    status,
    expires_at,
    usage_limits,
    rate_limits,
    last_reset_at,
    created_at,
    model_config_sealed: row.model_config_sealed,
    names_place: row.names_place === 1,
    integration: {
      id: row.integration_id,
      organisation_id: row.owner_id,
      slug: row.integration_slug,
      ai_provider_id: row.ai_provider_id,
      status: row.integration_status,
      enabled:
        (own ? row.own_enabled : row.only_workspace_id === row.workspace_id ? 1 : row.global_access_enabled) === 1,
      key_sealed: row.key_sealed,
      configurations: row.configurations,
      configurations_sealed: row.configurations_sealed,
      trusts_host: row.trusts_host === 1,
      allow_all_models: row.allow_all_models === 1,
      secret_mappings: row.secret_mappings,
      usage_limits: own ? row.own_usage_limits : global.usage_limits,
      rate_limits: own ? row.own_rate_limits : global.rate_limits,
      last_reset_at: row.own_last_reset_at,
    },
  }
}

/**
 * The content of `integrations.global_workspace_access`: the limits of workspaces without a row, and the defaults of a
 * new one.
 */
export interface GlobalAccess {
  /** Column texts, as a workspace's own row would hold them. */
  readonly usage_limits: string | null
  readonly rate_limits: string | null
  readonly create_default_provider: boolean
  readonly default_provider_slug: string | null
}

export function globalAccess(column: string | null): GlobalAccess {
  return column === null ? NO_LIMITS : (JSON.parse(column) as GlobalAccess)
}

const NO_LIMITS: GlobalAccess = {
  usage_limits: null,
  rate_limits: null,
  create_default_provider: true,
  default_provider_slug: null,
}

function rows(db: Db) {
  return db
    .selectFrom('providers as p')
    .innerJoin('integrations as i', 'i.id', 'p.integration_id')
    .selectAll('p')
    .select([
      'i.ai_provider_id',
      'i.configurations',
      'i.is_hidden',
      'i.key_masked',
      'i.secret_mappings',
      'i.slug as integration_slug',
    ])
}
