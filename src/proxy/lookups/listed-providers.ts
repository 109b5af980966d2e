import type {Seal} from '../../base/seal.ts'
import {readPricingConfig} from '../../pricing/config.ts'
import type {Price} from '../../pricing/price.ts'
import {needsKey} from '../../providers/base-urls/base-url.ts'
import {knowsOwnModels} from '../../providers/models/index.ts'
import {optionsOfSettings} from '../../providers/options.ts'
import type {Provider} from '../../providers/provider.ts'
import {type CallableProvider, callableProviders, modelsOfProviders} from '../../store/callable-providers.ts'
import type {Db} from '../../store/database.ts'
import {openCredentials} from '../../store/integrations.ts'
import type {OfferedModel, ProviderModels} from '../services.ts'

export interface ListedProvidersOptions {
  readonly db: Db
  readonly seal: Seal
  readonly kind: (slug: string) => Provider | undefined
  /** Models that the price list knows for a kind of provider. */
  readonly modelsOf: (kind: string) => readonly string[]
}

/**
 * The providers that calls of a workspace can be made to now, and their models as far as the store knows them. No
 * secret is in it.
 */
export async function readListedProviders(
  on: ListedProvidersOptions,
  workspace_id: string,
): Promise<readonly ProviderModels[]> {
  const [providers, models] = await Promise.all([
    callableProviders(on.db, workspace_id),
    modelsOfProviders(on.db, workspace_id),
  ])
  const byIntegration = Map.groupBy(models, ({integration_id}) => integration_id)
  return providers.flatMap(
    provider => listedProvider(provider, byIntegration.get(provider.integration.id) ?? [], on) ?? [],
  )
}

type ModelRow = Awaited<ReturnType<typeof modelsOfProviders>>[number]

/** Null for what no call could be made to: it has neither a credential nor a place that needs none. */
function listedProvider(
  {slug, expires_at, version, integration}: CallableProvider,
  models: readonly ModelRow[],
  {seal, kind: kindOf, modelsOf}: ListedProvidersOptions,
): ProviderModels | null {
  const {ai_provider_id: kind, allow_all_models, secret_mappings} = integration
  const provider = kindOf(kind)
  if (!provider?.available) return null
  const {key, configurations} = openCredentials(seal, integration)
  const custom_host =
    typeof configurations.custom_host === 'string' && configurations.custom_host !== ''
      ? configurations.custom_host
      : null
  const has_place = custom_host !== null || provider.base_url !== null || provider.baseUrlOf !== undefined
  const needs_none = custom_host !== null || !needsKey(provider, optionsOfSettings(configurations))
  if (!has_place || (key === null && secret_mappings === '[]' && !needs_none)) return null
  const [enabled, off] = [models.filter(model => model.enabled === 1), models.filter(model => model.enabled === 0)]
  const disabled = new Set(off.map(model => model.slug))
  const rows = new Map(enabled.map(model => [model.slug, offered(model, kind)]))
  const asks_host = knowsOwnModels(provider, custom_host)
  if (allow_all_models && !asks_host)
    for (const model of modelsOf(kind)) if (!disabled.has(model) && !rows.has(model)) rows.set(model, {slug: model})
  return {slug, kind, version, expires_at, asks_host, models: [...rows.values()], allow_all_models, disabled}
}

function offered({slug, base_model_slug, pricing_config}: ModelRow, provider: string): OfferedModel {
  const price: Price | undefined = pricing_config
    ? readPricingConfig(JSON.parse(pricing_config), {provider, model: slug, source: 'custom'})
    : undefined
  return {slug, ...(base_model_slug !== null && {base: base_model_slug}), ...(price && {price})}
}
