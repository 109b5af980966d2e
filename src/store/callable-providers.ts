import type {Db} from './database.ts'
import type {IntegrationModelsTable} from './tables/catalog.ts'

/** A provider of a workspace that calls may go to, with what its integration says of place and login. */
export interface CallableProvider {
  readonly slug: string
  readonly expires_at: string | null
  /** Another after each change of the provider or its integration. */
  readonly version: string
  readonly integration: {
    readonly id: string
    readonly organisation_id: string
    readonly ai_provider_id: string
    readonly key_sealed: Uint8Array | null
    readonly configurations: string
    readonly configurations_sealed: Uint8Array | null
    readonly secret_mappings: string
    readonly allow_all_models: boolean
  }
}

/** The providers of a workspace that calls may go to, by slug; the clock decides which of them are expired. */
export async function callableProviders(db: Db, workspace_id: string): Promise<readonly CallableProvider[]> {
  const rows = await db
    .selectFrom('providers as p')
    .innerJoin('integrations as i', 'i.id', 'p.integration_id')
    .leftJoin('integration_workspaces as iw', join =>
      join.onRef('iw.integration_id', '=', 'p.integration_id').onRef('iw.workspace_id', '=', 'p.workspace_id'),
    )
    .select([
      'p.slug',
      'p.status',
      'p.expires_at',
      'p.workspace_id',
      'p.last_updated_at',
      'i.id',
      'i.organisation_id',
      'i.ai_provider_id',
    ])
    .select(['i.key_sealed', 'i.configurations', 'i.configurations_sealed', 'i.secret_mappings', 'i.allow_all_models'])
    .select(['i.last_updated_at as integration_updated_at'])
    .select(['i.workspace_id as only_workspace_id', 'i.global_access_enabled', 'iw.enabled as own_enabled'])
    .where('p.workspace_id', '=', workspace_id)
    .where('p.status', '<>', 'archived')
    .where('i.status', '=', 'active')
    .orderBy('p.slug')
    .execute()
  return rows.flatMap(row => {
    const {slug, status, expires_at, last_updated_at, integration_updated_at, ...integration} = row
    const enabled = row.own_enabled ?? (row.only_workspace_id === row.workspace_id ? 1 : row.global_access_enabled)
    if (enabled !== 1 || status === 'expired') return []
    const version = `${integration.id} ${integration_updated_at} ${last_updated_at}`
    return [
      {slug, expires_at, version, integration: {...integration, allow_all_models: integration.allow_all_models === 1}},
    ]
  })
}

/** The models of the integrations that a workspace's providers use, in one reading. */
export function modelsOfProviders(
  db: Db,
  workspace_id: string,
): Promise<
  Pick<IntegrationModelsTable, 'integration_id' | 'slug' | 'enabled' | 'base_model_slug' | 'pricing_config'>[]
> {
  return db
    .selectFrom('integration_models as m')
    .select(['m.integration_id', 'm.slug', 'm.enabled', 'm.base_model_slug', 'm.pricing_config'])
    .where('m.integration_id', 'in', e =>
      e
        .selectFrom('providers as p')
        .select('p.integration_id')
        .where('p.workspace_id', '=', workspace_id)
        .where('p.status', '<>', 'archived'),
    )
    .orderBy('m.slug')
    .execute()
}
