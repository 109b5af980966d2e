import {setImmediate as turn} from 'node:timers/promises'
import type {CachePort, TextDescriber} from '../admin/services.ts'
import {Refusal} from '../base/errors.ts'
import type {Seal} from '../base/seal.ts'
import {featuresKey} from '../cache/semantic/features-key.ts'
import type {SemanticCache} from '../cache/semantic/semantic-cache.ts'
import type {KeptAnswers} from '../ports/cache/index.ts'
import {type OpenedCache, openCache} from '../ports/cache/open.ts'
import {paidEmbedding} from '../proxy/records/embedding.ts'
import type {ProxyServices} from '../proxy/services.ts'
import type {KeptFilter} from '../schema/cache.ts'
import type {Settings} from '../settings/index.ts'
import {cacheTable, openCacheBeside} from '../store/cache.ts'
import type {Db, Store} from '../store/database.ts'
import type {StoreOptions} from '../store/dialect/index.ts'
import {semanticTable} from '../store/semantic-entries.ts'

export interface ServedCacheParts {
  readonly cache: OpenedCache
  /** The database that has the vectors. */
  readonly db: Db
  readonly now: () => number
  readonly services: ProxyServices
}

/** The cache of a gateway that serves. */
export function servedCachePort({cache, db, now, services}: ServedCacheParts): CachePort {
  const entries = entriesOf(cache.kept, db, now)
  return {
    ...entries,
    async clear(kind, filter) {
      const cleared = await entries.clear(kind, filter)
      cache.drop()
      return cleared
    },
    describer: async () => describerOf(await services.semantic(), services),
  }
}

function describerOf(semantic: SemanticCache, services: ProxyServices): TextDescriber | null {
  const {embedder, gate} = semantic
  return (
    embedder && {
      embedder: embedder.name,
      threshold: semantic.threshold(null),
      gate,
      describe: (text, payer) => semantic.describe(text, paidEmbedding(payer, embedder.service, text, services)),
    }
  )
}

export interface CacheBesideParts {
  readonly settings: Settings
  readonly store: Store
  readonly store_options: StoreOptions
  readonly seal: Seal
  readonly now: () => number
}

/** The cache beside a gateway that serves, for the operator's commands: it is opened for each, and closed. */
export function cachePortBeside(parts: CacheBesideParts): CachePort {
  const {settings, seal} = parts
  return {
    list: (kind, filter, page) => beside(parts, {total: 0, rows: []}, entries => entries.list(kind, filter, page)),
    clear: (kind, filter) => beside(parts, 0, entries => entries.clear(kind, filter)),
    async describer() {
      const {semantic_cache_embedder: kind, semantic_cache_gate: gate} = settings
      if (kind === 'none') return null
      if (kind !== 'builtin') throw new Refusal('body.invalid', {issues: PAID})
      // their tables are memory that few commands need
      const {BUILTIN} = await import('../cache/semantic/builtin-embedder.ts')
      const {describeText} = await import('../cache/semantic/described-text.ts')
      const threshold = settings.semantic_cache_similarity_threshold ?? BUILTIN.threshold
      const by = {embedder: BUILTIN, features_key: featuresKey(seal)}
      return {embedder: BUILTIN.name, threshold, gate, describe: text => describeText(text, by, null)}
    },
  }
}

const PAID = 'the request: vectors of a service are charged by a gateway that runs: name it with --url.'

type Entries = Pick<CachePort, 'list' | 'clear'>

/** `none` where nothing is kept. */
async function beside<T>(parts: CacheBesideParts, none: T, work: (entries: Entries) => Promise<T>): Promise<T> {
  const {settings, store, store_options, now} = parts
  const file = store_options.kind === 'sqlite' ? openCacheBeside(store_options) : null
  if (store_options.kind === 'sqlite' && !file) return none
  try {
    const db = file?.db ?? store.db
    const cache = await openCache({
      now,
      redis_url: settings.redis_url,
      silence_ms: settings.db_query_timeout_ms,
      table: cacheTable(db),
      is_shared: true,
      onFault: () => undefined, // what the administration asks for rejects
    })
    try {
      return await work(entriesOf(cache.kept, db, now))
    } finally {
      await cache.close()
    }
  } finally {
    await file?.close()
  }
}

function entriesOf(kept: KeptAnswers, db: Db, now: () => number): Entries {
  const likenesses = semanticTable(db)
  return {
    list: (kind, filter, page) => (kind === 'simple' ? kept.list(filter, page) : likenesses.list(filter, now(), page)),
    clear: (kind, filter) => (kind === 'simple' ? kept.clear(filter) : clearAll(likenesses, filter)),
  }
}

async function clearAll(table: ReturnType<typeof semanticTable>, filter: KeptFilter): Promise<number> {
  let all = 0
  for (let some = await table.clear(filter); some > 0; some = await table.clear(filter)) {
    all += some
    await turn()
  }
  return all
}
