import {collectDefaultMetrics, Registry} from 'prom-client'
import {OPERATIONS} from './admin/registry.ts'
import {readBaseUrl} from './base/egress/base-url.ts'
import {credentialFetch} from './base/egress/credentials.ts'
import {Egress} from './base/egress/pools.ts'
import {readProxies} from './base/egress/proxy.ts'
import {readTrusted} from './base/egress/trust.ts'
import type {Log} from './base/log.ts'
import {version} from './base/runtime.ts'
import type {Seal} from './base/seal.ts'
import {createFlights} from './cache/flight.ts'
import {createLimits} from './limits/index.ts'
import {openCache} from './ports/cache/open.ts'
import {openCounters} from './ports/counters/open.ts'
import {bundledCatalogue} from './pricing/catalogue.ts'
import {cost} from './pricing/cost.ts'
import {openPrices, type Prices} from './pricing/local.ts'
import {openLogins} from './providers/auth/login.ts'
import {find as findKind} from './providers/registry.ts'
import {createDirectory} from './proxy/directory.ts'
import {callMetrics, circuitMetric} from './proxy/metrics.ts'
import {type CallProxy, createProxy} from './proxy/proxy.ts'
import type {ProxyServices} from './proxy/services.ts'
import {createCircuits} from './routing/breaker.ts'
import {createStickyMemory} from './routing/choose.ts'
import {administeredBy, corsHeaders} from './server.ts'
import type {Settings} from './settings/index.ts'
import {cacheTable, openCacheFile} from './store/cache.ts'
import {counterTable} from './store/counters.ts'
import type {DataDir} from './store/data-dir.ts'
import type {Store} from './store/database.ts'
import type {StoreOptions} from './store/dialect/index.ts'
import {usageSince} from './store/usage.ts'
import {type Records, startRecords} from './workers/records.ts'

/** What serves calls, put together. */
export interface DataPlane {
  readonly proxy: CallProxy
  readonly records: Records
  readonly prices: Prices
  /** The text of /metrics. */
  metrics(): Promise<string>
  /** Drops what is remembered of keys, providers and configs. */
  forget(): void
  /** Why no calls should come now; null when they should. */
  unready(): string | null
  close(): Promise<void>
}

export interface DataPlaneParts {
  readonly settings: Settings
  readonly directory: DataDir
  readonly store: Store
  readonly store_options: StoreOptions
  readonly seal: Seal
  readonly log: Log
  readonly now: () => number
  readonly binding: object | undefined
}

export async function openDataPlane({
  settings,
  directory,
  store,
  store_options,
  seal,
  log,
  now,
  binding,
}: DataPlaneParts): Promise<DataPlane> {
  const catalogue = bundledCatalogue()
  const prices = openPrices({
    directory: settings.model_configs_pricing_local_path ?? null,
    catalogue,
    warn: sentence => log.warn(sentence),
    now_ms: now,
  })
  const registry = new Registry()
  collectDefaultMetrics({register: registry, prefix: 'node_'})
  const metrics = callMetrics({
    registry,
    with_model: settings.prometheus_include_model_label,
    isKnownModel: (provider, model) => prices.lookup(provider, model) !== undefined,
  })
  const circuits = createCircuits()
  circuitMetric(registry, circuits, now)
  const records = await startRecords({directory, store_options, store, log, now, settings})
  const egress = new Egress({
    trusted: readTrusted(settings.trusted_custom_hosts),
    proxies: readProxies({HTTP_PROXY: settings.http_proxy, HTTPS_PROXY: settings.https_proxy, NO_PROXY: settings.no_proxy}),
    connect_timeout_ms: settings.upstream_connect_timeout_ms,
  })
  const counters = await openCounters({
    redis_url: settings.redis_url,
    table: store.kind === 'postgres' ? counterTable(store.db) : null,
    now,
    onFault: fault => log.error({fault}, 'the shared counters failed'),
  })
  const file = store_options.kind === 'sqlite' ? openCacheFile({folder: store_options.folder, binding}) : null
  const cache = await openCache({
    now,
    redis_url: settings.redis_url,
    table: cacheTable(file?.db ?? store.db),
    is_shared: file === null,
    onFault: (fault, times) => log.warn({fault, times}, 'the cache store failed; calls go on without it'),
  })
  const known = createDirectory({
    db: store.db,
    seal,
    modelsOf: kind =>
      catalogue
        .list()
        .filter(price => price.provider === kind)
        .map(price => price.model),
  })
  const listed = remembered(prices, now)
  const services: ProxyServices = {
    settings,
    version,
    log,
    recorder: records.recorder,
    prices: {
      find: (provider, model, own) => own.get(model) ?? listed(provider, model),
      cost: (usage, price, at_ms) => cost(usage, price, {at: at_ms}),
    },
    limits: createLimits({
      counters,
      usage: async (scope, since_at) => {
        await records.flushed()
        return usageSince(store.db, scope, since_at)
      },
      now,
      enabled: settings.usage_limits_enabled,
      onShadow: ({label}, call_id) => log.info({limit: label, call_id}, 'a shadow limit was passed'),
      onFault: fault => log.error({fault}, 'a limit could not be kept up'),
    }),
    metrics,
    findCaller: known.findCaller,
    findProvider: known.findProvider,
    findConfig: known.findConfig,
    providerSlugs: known.providerSlugs,
    kind: findKind,
    destination: (text, asker) =>
      egress.destination(
        text,
        typeof asker === 'string' ? {kind: asker} : {kind: 'integration', id: asker.integration_id, host: readBaseUrl(asker.host).hostname},
      ),
    logins: openLogins({fetch: credentialFetch(egress), now_ms: now}),
    dispatcher: (destination, workspace_id) => egress.pool(destination, workspace_id),
    administered: administeredBy(OPERATIONS),
    cors: corsHeaders(settings),
    cache: {
      cache,
      flights: createFlights({after, onFault: fault => log.error({fault}, 'a call that waited for another failed')}),
      onFault: fault => log.error({fault}, 'the cache failed a call'),
    },
    sticky: createStickyMemory(),
    circuits,
    random: Math.random,
    after,
    masked: new Set(settings.organisation_headers_to_mask),
    ignored: new Set(settings.custom_headers_to_ignore),
    now,
  }
  const proxy = createProxy(services)
  return {
    proxy,
    records,
    prices,
    metrics: async () => (await registry.metrics()) + metrics.text(),
    forget() {
      known.forget()
      proxy.forget()
    },
    unready: () =>
      proxy.draining
        ? 'the gateway is shutting down'
        : records.status().accepting
          ? null
          : 'the journal cannot be written: free disk space on the data directory',
    async close() {
      await proxy.drain(0)
      await egress.destroy()
      await counters.close()
      await cache.close()
      await file?.close()
      await records.close()
    },
  }
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

/** Looking a price up by all the names of a model costs more than a call should pay every time. Local price files may change. */
function remembered(prices: Prices, now: () => number): Prices['lookup'] {
  const known = new Map<string, ReturnType<Prices['lookup']>>()
  let since_ms = now()
  return (provider, model) => {
    const now_ms = now()
    if (known.size >= 10_000 || now_ms - since_ms > 60_000) {
      known.clear()
      since_ms = now_ms
    }
    const key = `${provider}\n${model}`
    if (known.has(key)) return known.get(key)
    const price = prices.lookup(provider, model)
    known.set(key, price)
    return price
  }
}
