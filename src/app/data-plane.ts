import {Registry} from 'prom-client'
import type {CachePort} from '../admin/services.ts'
import {after} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import {collectProcessMetrics} from '../base/process-metrics.ts'
import type {Seal} from '../base/seal.ts'
import type {SemanticCache} from '../cache/semantic/semantic-cache.ts'
import {spentIn} from '../charge/settlement.ts'
import type {Tokens} from '../identity/jwt/tokens.ts'
import type {SignInNeeds} from '../identity/sign-in-needs.ts'
import {createLimits, type Limits} from '../limits/index.ts'
import {type OpenedCache, openCache} from '../ports/cache/open.ts'
import {openCounters} from '../ports/counters/open.ts'
import type {RedisWatch} from '../ports/redis-watch.ts'
import {bundledModels} from '../pricing/catalogue.ts'
import type {Pricing} from '../pricing/open.ts'
import {PriceCache} from '../pricing/price-cache.ts'
import type {Logins} from '../providers/auth/login.ts'
import {find as findKind} from '../providers/registry.ts'
import {createLookups} from '../proxy/lookups/lookups.ts'
import {createNames} from '../proxy/lookups/names.ts'
import {type CallProxy, createProxy} from '../proxy/proxy.ts'
import {openAsking} from '../proxy/records/deferred/poll.ts'
import {DEFAULT_BUCKETS} from '../proxy/records/metric-buckets.ts'
import {callMetrics, circuitMetric} from '../proxy/records/metrics.ts'
import type {ProxyServices} from '../proxy/services.ts'
import {createCircuits} from '../routing/breaker.ts'
import type {AskAgain} from '../schema/deferred.ts'
import {prometheusSettings, type Settings} from '../settings/index.ts'
import {cacheTable, openCacheFile} from '../store/cache.ts'
import {counterTable} from '../store/counters.ts'
import type {DataDir} from '../store/data-dir.ts'
import type {Store} from '../store/database.ts'
import type {StoreOptions} from '../store/dialect/index.ts'
import {workspaceOfLimited} from '../store/limited-entity.ts'
import type {Remembered} from '../store/remembered.ts'
import {usedSince} from '../store/usage.ts'
import {journalMetrics} from '../workers/journal-metrics.ts'
import {type Records, startRecords} from '../workers/records.ts'
import type {JournalFollower} from '../workers/retirement.ts'
import {likenessesIn, servedCachePort} from './cache-port.ts'
import {callServices} from './call-services.ts'
import {countersNotices} from './counters-notices.ts'
import {heldWork} from './deferred-charges.ts'
import {openEgress} from './egress.ts'
import {driftMetric, entitiesMetric, OWN_COUNTERS, SHARED_COUNTERS, tellDrift} from './limits-drift.ts'
import {rememberedPrices} from './remembered-prices.ts'
import type {Revocations} from './revocations.ts'
import {openSecretManagers, type SecretManagers} from './secrets.ts'
import type {SemanticCacheParts} from './semantic-cache.ts'
import {redisMetric, storeMetrics} from './store-metrics.ts'
import type {VectorStoreParts} from './vector-store.ts'

/** The assembled services of calls. */
export interface DataPlane {
  readonly proxy: CallProxy
  /** The services of its calls. */
  readonly services: ProxyServices
  readonly records: Records
  readonly limits: Limits
  readonly secrets: SecretManagers
  /** The cache, as the administration sees it. */
  readonly cache_port: CachePort
  readonly ask_again: AskAgain
  /** Its part of the page of metrics, in pieces. */
  metrics(): Promise<readonly string[]>
  /** Metrics that are few. */
  readonly registry: Registry
  /** All that calls hold in memory of the database. */
  readonly remembered: readonly Remembered[]
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
  /** Measures durations in milliseconds; it is never set. */
  readonly steady: () => number
  readonly binding: object | undefined
  readonly revocations: Revocations
  readonly tokens: Tokens
  readonly sign_in_needs: SignInNeeds
  /** Reads the journal a second time. */
  readonly follower?: JournalFollower | undefined
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
  tokens,
  sign_in_needs,
  follower,
  ports = services => services,
}: DataPlaneParts): Promise<DataPlane> {
  const memory = new PriceCache(pricing, now)
  const registry = new Registry()
  const watchLoop = collectProcessMetrics(registry, 'node_')
  const names = createNames()
  const {labels, has_compatible_names, http_s, ms} = prometheusSettings(settings)
  const metrics = callMetrics({
    ...{registry, labels, names, has_compatible_names},
    isKnownModel: (provider, model) => memory.find(provider, model, now()) !== undefined,
    buckets: {http_s: http_s ?? DEFAULT_BUCKETS.http_s, ms: ms ?? DEFAULT_BUCKETS.ms},
  })
  const egress = openEgress(settings)
  const vectors = await openVectors({settings, seal, egress, log, now, registry})
  const circuits = createCircuits()
  circuitMetric(registry, circuits, now)
  const records = await startRecords({
    ...{directory, store_options, store, log, now, settings, follower},
    ...{wait_ms: settings.db_query_timeout_ms, close_ms: 2 * settings.db_query_timeout_ms},
  })
  journalMetrics(registry, () => records.status())
  storeMetrics(registry, store, revocations)
  const counters = await openCounters({
    redis_url: settings.redis_url,
    silence_ms: settings.db_query_timeout_ms,
    table: store.kind === 'postgres' ? counterTable(store.db) : null,
    now,
    onFault: countersNotices({log, now, setting: settings.redis_url ? 'REDIS_URL' : 'DATABASE_URL'}),
  })
  const redis = await openRedisWatch(settings, registry)
  const {file, cache, db} = await openKeptAnswers({settings, store, store_options, binding, now, log})
  const semantic = semanticOnDemand({
    ...{settings, seal, egress, log, now, registry, db, vectors: vectors?.store, answers: cache, is_shared: !file},
  })
  const known = createLookups({
    ...{db: store.db, seal, names, revocations, tokens, sign_in_needs},
    has_policies: settings.policy_enabled,
    trusted_proxies: settings.trusted_proxies,
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
  const secrets = openSecretManagers({settings, store, seal, log, wall, registry})
  const services = ports(
    callServices({
      ...{settings, directory, store, seal, log, now, wall, steady},
      ...{memory, records, limits, metrics, known, egress, cache, circuits, secrets},
      semantic: semantic.open,
    }),
  )
  const likenesses = vectors?.kept ?? likenessesIn(db, now)
  const proxy = createProxy(services)
  const prices = rememberedPrices({pricing, memory, log, after})
  return {
    ...{proxy, services, records, limits, secrets},
    cache_port: servedCachePort({cache, likenesses, settled: semantic.settled, services}),
    ask_again: openAsking(services),
    metrics: async () => {
      const text = await registry.metrics()
      watchLoop() // after the first reading, which would find nothing measured
      return [text, ...(await metrics.page())]
    },
    registry,
    remembered: [...known.remembered, ...proxy.remembered, ...secrets.remembered, prices, nearAnswers(cache)],
    unready: () =>
      proxy.draining
        ? 'the gateway is shutting down'
        : records.status().accepting
          ? revocations.silence
          : 'the journal cannot be written: see the log; usually the disk of the data directory is full, or its folder journal was removed',
    degraded: () => lacking({redis, store, behind: records.status().behind}),
    async close() {
      prices.close()
      redis?.close()
      await proxy.drain(0)
      limits.close()
      await semantic.close()
      await Promise.all([secrets.close(), egress.destroy()])
      await counters.close()
      await cache.close()
      await file?.close()
      await records.close()
    },
  }
}

/** The parts that do not work while calls continue, in a sentence each; null for none. */
function lacking({
  redis,
  store,
  behind,
}: {
  readonly redis: Pick<RedisWatch, 'silence'> | undefined
  readonly store: Pick<Store, 'unwritable'>
  readonly behind: string | null
}): string | null {
  const unwritable = store.unwritable()
  const all = [
    ...(redis?.silence ? [`Redis does not answer: ${redis.silence}`] : []),
    ...(behind === null ? [] : [`the log and the ledger cannot be brought up to date: ${behind}`]),
    ...(unwritable === null ? [] : [`changes cannot be written: ${unwritable}`]),
  ]
  return all.length > 0 ? all.join('; ') : null
}

/** The cache of answers, and its file on SQLite. */
async function openKeptAnswers({
  settings,
  store,
  store_options,
  binding,
  now,
  log,
}: Pick<DataPlaneParts, 'settings' | 'store' | 'store_options' | 'binding' | 'now' | 'log'>) {
  const file = store_options.kind === 'sqlite' ? openCacheFile({folder: store_options.folder, binding}) : null
  const db = file?.db ?? store.db
  const cache = await openCache({
    now,
    redis_url: settings.redis_url,
    silence_ms: settings.db_query_timeout_ms,
    table: cacheTable(db),
    is_shared: file === null,
    onFault: (fault, times) => log.warn({fault, times}, 'the cache store failed; calls go on without it'),
  })
  return {file, cache, db}
}

/** The vector store outside, before all else: it may refuse the start. */
async function openVectors(parts: VectorStoreParts) {
  if (parts.settings.vector_store === undefined) return undefined
  // it is memory that few installations need
  const {listedVectors, openVectorStore} = await import('./vector-store.ts')
  const store = await openVectorStore(parts)
  return store && {store, kept: listedVectors(store)}
}

/** Answers in memory, which another process may have cleared where they are kept. */
function nearAnswers(cache: OpenedCache): Remembered {
  return {of: new Set(['traffic.cache_entries']), forget: () => cache.drop()}
}

/** Opens the semantic cache when the first call needs it: other calls pay neither its memory nor its time. */
function semanticOnDemand(parts: Omit<SemanticCacheParts, 'logins'>) {
  let opened: Promise<SemanticCache> | undefined
  return {
    open(logins: Logins): Promise<SemanticCache> {
      opened ??= import('./semantic-cache.ts').then(({openSemanticCache}) => openSemanticCache({...parts, logins}))
      return opened
    },
    settled: async () => opened?.then(each => each.settled()).catch(() => undefined),
    async close() {
      await opened?.then(each => each.close()).catch(() => undefined)
      await parts.vectors?.close()
    },
  }
}

async function openRedisWatch(
  {redis_url: url, db_query_timeout_ms: silence_ms}: Settings,
  registry: Registry,
): Promise<RedisWatch | undefined> {
  if (!url) return undefined
  const {watchRedis} = await import('../ports/redis-watch.ts') // its client is memory that few installations need
  const redis = watchRedis({url, silence_ms})
  redisMetric(registry, redis)
  return redis
}
