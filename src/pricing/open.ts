import {isObject} from '../base/json-object.ts'
import type {Settings} from '../settings/index.ts'
import type {Db} from '../store/database.ts'
import {installedPrices, pricesRevision} from '../store/prices.ts'
import {bundledCatalogue, type Catalogue} from './catalogue.ts'
import {type PriceFile, readPriceFile} from './file.ts'
import {InstalledPrices} from './installed.ts'
import type {InForce} from './list.ts'
import {openLocalFiles, priceIn} from './local.ts'
import type {ChangingPrices} from './price-cache.ts'
import {openPrices, type PriceLayer} from './prices.ts'
import {directoryFiles, type Fetch, HourlyFiles, type ProviderFiles, proxyFiles} from './remote.ts'

/** The abilities of a provider's models, as a source of capabilities has them. */
export type Capabilities = Readonly<Record<string, unknown>>

/** Prices from every source; the first that has the model wins (docs/pricing.md, Price sources). */
export interface Pricing extends ChangingPrices {
  /** Reads installed prices again where they were changed since. */
  refresh(): Promise<void>
  /** Waits for what other places say of a provider, where they were not read within the hour. */
  ready(provider: string): Promise<void>
  /** The capabilities of a provider's models; undefined when no source has any. */
  capabilities(provider: string): Promise<Capabilities | undefined>
}

export type PricingSettings = Pick<
  Settings,
  | 'model_configs_proxy_fetch_enabled'
  | 'model_configs_proxy_url'
  | 'model_configs_pricing_log_store_path'
  | 'model_configs_pricing_local_path'
  | 'model_configs_capabilities_log_store_path'
  | 'model_configs_capabilities_local_path'
>

export interface PricingParts {
  readonly settings: PricingSettings
  /** The database of installed prices; absent when there is none. */
  readonly db?: Db
  /** For the proxy service; without it no proxy is called. */
  readonly fetch?: Fetch
  readonly isProvider: (provider: string) => boolean
  readonly warn: (sentence: string) => void
  readonly now_ms: () => number
  readonly catalogue?: Catalogue
}

/**
 * Sources, the first that names a model wins: prices set one by one, the proxy, the log store, local files, synced
 * prices, the catalogue. The proxy and the log store are read in the background and kept for an hour.
 */
export function openPricing({
  settings,
  db,
  fetch,
  isProvider,
  warn,
  now_ms,
  catalogue = bundledCatalogue(),
}: PricingParts): Pricing {
  const kept = new InstalledPrices(now_ms)
  const url = settings.model_configs_proxy_fetch_enabled && fetch ? settings.model_configs_proxy_url : undefined
  const {model_configs_pricing_log_store_path: log_store, model_configs_pricing_local_path: directory} = settings
  const hourly = <T>(files: ProviderFiles, parse: (value: unknown, provider: string) => T) =>
    new HourlyFiles({files, parse, isProvider, warn, now_ms})
  const asLayer = (source: string, files: ProviderFiles) =>
    layerOf(hourly(files, (value, provider) => readPriceFile(value, provider, source)))
  const remote = [
    ...(url ? [asLayer('proxy', proxyFiles(url, 'pricing', fetch!))] : []),
    ...(log_store ? [asLayer('log-store', directoryFiles('the log store', log_store))] : []),
  ]
  const {model_configs_capabilities_log_store_path: stored, model_configs_capabilities_local_path: local} = settings
  const described = [
    ...(url ? [proxyFiles(url, 'general', fetch!)] : []),
    ...(stored ? [directoryFiles('the log store', stored)] : []),
    ...(local ? [directoryFiles('the directory', local)] : []),
  ].map(files => hourly(files, readCapabilities))
  const layers = [kept.set, ...remote, ...(directory ? [openLocalFiles({directory, warn, now_ms})] : [])]
  const prices = openPrices({layers, synced: kept.synced, catalogue, now_ms})

  return {
    lookup: prices.lookup,
    list: prices.list,
    refresh: refresher(db, kept),
    span: at_ms => kept.span(at_ms),
    async ready(provider) {
      await Promise.all(remote.map(source => source.ready(provider)))
    },
    async capabilities(provider) {
      for (const source of described) {
        await source.ready(provider)
        const found = source.get(provider)
        if (found) return found
      }
      return undefined
    },
  }
}

function layerOf(files: HourlyFiles<PriceFile>): PriceLayer & {ready(provider: string): Promise<void>} {
  return {
    find: (provider, model) => priceIn(files.get(provider), provider, model),
    fallback: provider => files.get(provider)?.fallback,
    list: () => files.values().flatMap(({models}) => [...models.values()]),
    ready: provider => files.ready(provider),
  }
}

/**
 * The prices that a list is compared with: the synced prices as the database has them, as of `at_ms`, and the
 * catalogue.
 */
export async function pricesInForce(db: Db, at_ms: number): Promise<InForce> {
  const kept = new InstalledPrices(() => at_ms)
  kept.replace(await installedPrices(db))
  return {
    installed: (provider, model) => kept.installed(provider, model, at_ms),
    installedOf: provider => kept.installedOf(provider, at_ms),
    catalogue: bundledCatalogue(),
  }
}

/** One look at a time; a request during a look is served after it. */
function refresher(db: Db | undefined, kept: InstalledPrices): () => Promise<void> {
  let known = -1
  let last: Promise<void> = Promise.resolve()
  const look = async () => {
    if (!db) return
    const revision = await pricesRevision(db)
    if (revision === known) return
    kept.replace(await installedPrices(db))
    known = revision
  }
  return () => {
    last = last.then(look, look)
    return last
  }
}

function readCapabilities(value: unknown): Capabilities {
  if (!isObject(value)) throw new Error('expected an object')
  return value
}
