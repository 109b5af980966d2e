import {join} from 'node:path'
import {Registry} from 'prom-client'
import {OPERATIONS} from '../admin/registry.ts'
import {after, soon} from '../base/after.ts'
import {readBaseUrl} from '../base/egress/base-url.ts'
import {credentialFetch} from '../base/egress/credentials.ts'
import {systemLookup} from '../base/egress/lookup.ts'
import type {Log} from '../base/log.ts'
import {collectProcessMetrics} from '../base/process-metrics.ts'
import {version} from '../base/runtime.ts'
import type {Seal} from '../base/seal.ts'
import {createFlights} from '../cache/coalesce.ts'
import {spentIn} from '../charge/settlement.ts'
import {checkMemory} from '../guardrails/check-environment.ts'
import {createLimits, type Limits} from '../limits/index.ts'
import {openCache} from '../ports/cache/open.ts'
import {openCounters} from '../ports/counters/open.ts'
import type {RedisWatch} from '../ports/redis-watch.ts'
import {bundledModels} from '../pricing/catalogue.ts'
import {cost} from '../pricing/cost.ts'
import {PriceMemory} from '../pricing/memory.ts'
import type {Pricing} from '../pricing/open.ts'
import {openLogins} from '../providers/auth/login.ts'
import {find as findKind} from '../providers/registry.ts'
import {openGuards} from '../proxy/lookups/guardrails.ts'
import {KeptJudgements} from '../proxy/lookups/judged-files.ts'
import {createLookups} from '../proxy/lookups/lookups.ts'
import {SeenObjects} from '../proxy/lookups/seen-objects.ts'
import {type CallProxy, createProxy} from '../proxy/proxy.ts'
import {openAsking} from '../proxy/records/deferred/poll.ts'
import {callMetrics, circuitMetric} from '../proxy/records/metrics.ts'
import type {ProxyServices} from '../proxy/services.ts'
import {createCircuits} from '../routing/breaker.ts'
import {createStickyMemory} from '../routing/choose.ts'
import type {AskAgain} from '../schema/deferred.ts'
import type {Settings} from '../settings/index.ts'
import {cacheTable, openCacheFile} from '../store/cache.ts'
import {counterTable} from '../store/counters.ts'
import type {DataDir} from '../store/data-dir.ts'
import type {Invalidation, Store} from '../store/database.ts'
import type {StoreOptions} from '../store/dialect/index.ts'
import {workspaceOfLimited} from '../store/limited-entity.ts'
import {LocalFileStore} from '../store/local-file-store.ts'
import {usedSince} from '../store/usage.ts'
import {journalMetrics} from '../workers/journal-metrics.ts'
import {type Records, startRecords} from '../workers/records.ts'
import {cloudIdentity, credentialOrigins, placeDefaults} from './cloud-identity.ts'
import {deferredBook, heldWork} from './deferred-charges.ts'
import {openEgress} from './egress.ts'
import {driftMetric, entitiesMetric, OWN_COUNTERS, SHARED_COUNTERS, tellDrift} from './limits-drift.ts'
import type {Revocations} from './revocations.ts'
import {administeredBy, corsHeaders} from './server.ts'
import {redisMetric, storeMetrics} from './store-metrics.ts'

/** The assembled services of calls. */
export interface DataPlane {
  readonly proxy: CallProxy
  readonly records: Records
  readonly limits: Limits
  readonly ask_again: AskAgain
  /** The text of /metrics. */
  metrics(): Promise<string>
  /** Drops what is remembered of what a write changed. */
  forget(changed: Invalidation): void
  /** Why no calls should come now; null when they should. */
  unready(): string | null
  /** The services out of reach while calls continue. */
  degraded(): string | null
  close(): Promise<void>
}

export interface DataPlaneParts {
  readonly settings: Settings
  readonly directory: DataDir
  readonly store: Store
  readonly store_options: StoreOptions
  readonly seal: Seal
  readonly pricing: Pricing
  readonly log: Log
  readonly now: () => number
  /** The clock of the machine, by which others judge signatures and tokens. */
  readonly wall: () => number
  /** A clock that nobody sets, for durations; milliseconds. */
  readonly steady: () => number
  readonly binding: object | undefined
  readonly revocations: Revocations
  /** Wraps the services of the data plane: tests answer late, as another machine would. */
  readonly ports?: ((services: ProxyServices) => ProxyServices) | undefined
}

export async function openDataPlane({
  settings,
  directory,
  store,
  store_options,
  seal,
  pricing,
  log,
  now,
  wall,
  steady,
  binding,
  revocations,
  ports = services => services,
}: DataPlaneParts): Promise<DataPlane> {
  const memory = new PriceMemory(pricing, now)
  const registry = new Registry()
  collectProcessMetrics(registry, 'node_')
  const metrics = callMetrics({
    registry,
    with_model: settings.prometheus_include_model_label,
    isKnownModel: (provider, model) => memory.find(provider, model, now()) !== undefined,
  })
  const circuits = createCircuits()
  circuitMetric(registry, circuits, now)
  const wait_ms = settings.db_query_timeout_ms
  const records = await startRecords({
    directory,
    store_options,
    store,
    log,
    now,
    settings,
    wait_ms,
    close_ms: 2 * wait_ms,
  })
  journalMetrics(registry, () => records.status())
  storeMetrics(registry, store, revocations)
  const egress = openEgress(settings)
  const counters = await openCounters({
    redis_url: settings.redis_url,
    silence_ms: settings.db_query_timeout_ms,
    table: store.kind === 'postgres' ? counterTable(store.db) : null,
    now,
    onFault: fault => log.error({fault}, 'the shared counters failed'),
  })
  const redis = await openRedisWatch(settings)
  if (redis) redisMetric(registry, redis)
  const file = store_options.kind === 'sqlite' ? openCacheFile({folder: store_options.folder, binding}) : null
  const cache = await openCache({
    now,
    redis_url: settings.redis_url,
    silence_ms: settings.db_query_timeout_ms,
    table: cacheTable(file?.db ?? store.db),
    is_shared: file === null,
    onFault: (fault, times) => log.warn({fault, times}, 'the cache store failed; calls go on without it'),
  })
  const known = createLookups({
    db: store.db,
    seal,
    has_policies: settings.policy_enabled,
    revocations,
    kind: findKind,
    pricedModels: bundledModels,
  })
  const limits = createLimits({
    counters,
    usage: (scope, since_at) => usedSince(store.db, scope, since_at),
    flushed: () => records.flushed(),
    now,
    enabled: settings.usage_limits_enabled,
    reconcile: {
      ...(store.kind === 'sqlite' && !settings.redis_url ? OWN_COUNTERS : SHARED_COUNTERS),
      after,
      workspaceOf: of => workspaceOfLimited(store.db, of),
      onDrift: corrected => tellDrift(log, corrected),
    },
    onShadow: ({label}, call_id) => log.info({limit: label, call_id}, 'a shadow limit was passed'),
    onFull: entitiesMetric(registry),
    onFault: fault => log.error({fault}, 'a limit could not be kept up'),
  })
  driftMetric(registry, limits)
  for (const settlement of records.recovered) await limits.recover(settlement, spentIn(settlement))
  // shared counters keep what is held for background work; those of this process ended with the last one
  if (store.kind === 'sqlite' && !settings.redis_url) await limits.holdAgain(await heldWork(store))
  const services = ports({
    settings,
    version,
    log,
    recorder: records.recorder,
    prices: {
      find: (provider, model, at_ms) => memory.find(provider, model, at_ms),
      cost: (usage, price, at_ms) => cost(usage, price, {at: at_ms}),
      charges: provider => memory.charges(provider),
    },
    limits,
    metrics,
    findCaller: known.findCaller,
    findProvider: known.findProvider,
    findPolicies: known.findPolicies,
    findConfig: known.findConfig,
    findPrompt: known.findPrompt,
    findPartial: known.findPartial,
    listedProviders: known.listedProviders,
    pricedModels: bundledModels,
    kind: findKind,
    destination: (text, asker) =>
      egress.destination(
        text,
        typeof asker === 'string'
          ? {kind: asker}
          : {kind: 'integration', id: asker.integration_id, host: readBaseUrl(asker.host).hostname},
      ),
    logins: openLogins({
      fetch: credentialFetch(egress, credentialOrigins(settings)),
      now_ms: wall,
      identity: cloudIdentity(settings),
      aws_domain: settings.aws_endpoint_domain,
      azure_authority: settings.azure_authority_host,
    }),
    option_defaults: placeDefaults(settings),
    seal,
    deferred: deferredBook(store),
    fileStore: (workspace_id, provider) =>
      new LocalFileStore(join(directory.folder, 'files', workspace_id, provider), now),
    dispatcher: (destination, workspace_id) => egress.pool(destination, workspace_id),
    administered: administeredBy(OPERATIONS),
    cors: corsHeaders(settings),
    cache: {
      cache,
      flights: createFlights({after, onFault: fault => log.error({fault}, 'a call that waited for another failed')}),
      onFault: fault => log.error({fault}, 'the cache failed a call'),
    },
    guardrails: settings.guardrails_enabled
      ? openGuards({db: store.db, seal, around: {egress, lookup: systemLookup, memory: checkMemory(), now_ms: wall}})
      : null,
    sticky: createStickyMemory(),
    seen: new SeenObjects(),
    judged: new KeptJudgements(store, now, log),
    circuits,
    random: Math.random,
    after,
    soon,
    steady,
    masked: new Set(settings.organisation_headers_to_mask),
    ignored: new Set(settings.custom_headers_to_ignore),
    now,
  })
  const proxy = createProxy(services)
  return {
    proxy,
    records,
    limits,
    ask_again: openAsking(services),
    metrics: async () => (await registry.metrics()) + (await metrics.text()),
    forget(changed) {
      pricing.refresh().then(
        () => memory.forget(),
        fault => log.error({fault}, 'installed prices could not be read; those of before are used'),
      )
      known.forget(changed)
      proxy.forget()
    },
    unready: () =>
      proxy.draining
        ? 'the gateway is shutting down'
        : records.status().accepting
          ? revocations.silence
          : 'the journal cannot be written: see the log; usually the disk of the data directory is full, or its folder journal was removed',
    degraded: () => (redis?.silence ? `Redis does not answer: ${redis.silence}` : null),
    async close() {
      redis?.close()
      await proxy.drain(0)
      limits.close()
      await egress.destroy()
      await counters.close()
      await cache.close()
      await file?.close()
      await records.close()
    },
  }
}

async function openRedisWatch({
  redis_url: url,
  db_query_timeout_ms: silence_ms,
}: Settings): Promise<RedisWatch | undefined> {
  if (!url) return undefined
  const {watchRedis} = await import('../ports/redis-watch.ts') // its client is memory that few installations need
  return watchRedis({url, silence_ms})
}
