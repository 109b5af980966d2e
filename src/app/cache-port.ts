import {setImmediate as turn} from 'node:timers/promises'
import type {CachePort, EvaluationPayer, TextDescriber} from '../admin/services.ts'
import {Refusal} from '../base/errors.ts'
import type {Seal} from '../base/seal.ts'
import type {EmbeddingPayer} from '../cache/semantic/embedder.ts'
import {featuresKey} from '../cache/semantic/features-key.ts'
import type {SemanticCache} from '../cache/semantic/semantic-cache.ts'
import type {KeptAnswers} from '../ports/cache/index.ts'
import {type OpenedCache, openCache} from '../ports/cache/open.ts'
import {paidEmbedding} from '../proxy/records/embedding.ts'
import {admitEmbedding} from '../proxy/records/embedding-admission.ts'
import type {ProxyServices} from '../proxy/services.ts'
import type {KeptFilter} from '../schema/cache.ts'
import type {Settings} from '../settings/index.ts'
import {cacheTable, openCacheBeside} from '../store/cache.ts'
import type {Db, Store} from '../store/database.ts'
import type {StoreOptions} from '../store/dialect/index.ts'
import {semanticTable} from '../store/semantic-entries.ts'

export interface ServedCacheParts {
  readonly cache: OpenedCache
  /** Entries by which other words find answers. */
  readonly likenesses: KeptAnswers
  /** Waits until what calls had kept for other words is written. */
  readonly settled: () => Promise<void>
  readonly services: ProxyServices
}

/** The cache of a gateway that serves. */
export function servedCachePort({cache, likenesses, settled, services}: ServedCacheParts): CachePort {
  const entries = entriesOf(cache.kept, likenesses)
  return {
    ...entries,
    async clear(kind, filter) {
      if (kind === 'semantic') await settled() // what waits to be written would come back
      try {
        return await entries.clear(kind, filter)
      } finally {
        cache.drop()
      }
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
      describe: (text, payer) =>
        semantic.describe(text, paidEmbedding(admitted(payer, services), embedder.service, text, services)),
    }
  )
}

/** No call was admitted for these requests: each is admitted itself. */
function admitted({limits, onRefused, ...payer}: EvaluationPayer, services: ProxyServices): EmbeddingPayer {
  return {
    ...payer,
    async admit(id, first) {
      try {
        return await admitEmbedding(limits, {id, first}, services)
      } catch (refusal) {
        onRefused(refusal)
        throw refusal
      }
    },
  }
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
    list: (kind, filter, page) => beside(parts, entries => entries.list(kind, filter, page)),
    clear: (kind, filter) => beside(parts, entries => entries.clear(kind, filter)),
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

/** Without a file of the cache only that is there which is kept elsewhere. */
async function beside<T>(parts: CacheBesideParts, work: (entries: Entries) => Promise<T>): Promise<T> {
  const {settings, store, store_options, now} = parts
  const stack = new AsyncDisposableStack()
  try {
    const file = store_options.kind === 'sqlite' ? openCacheBeside(store_options) : null
    if (file) stack.defer(() => file.close())
    const db = store_options.kind === 'sqlite' ? file?.db : store.db
    const cache = await openCache({
      now,
      redis_url: settings.redis_url,
      silence_ms: settings.db_query_timeout_ms,
      table: db ? cacheTable(db) : null,
      is_shared: true,
      onFault: () => undefined, // what the administration asks for rejects
    })
    stack.defer(() => cache.close())
    return await work(entriesOf(cache.kept, await likenessesBeside(parts, db, stack)))
  } finally {
    await stack.disposeAsync()
  }
}

async function likenessesBeside(
  {settings, seal, now}: CacheBesideParts,
  db: Db | undefined,
  stack: AsyncDisposableStack,
): Promise<KeptAnswers> {
  if (settings.vector_store === undefined) return db ? likenessesIn(db, now) : NOTHING_KEPT
  const {vectorStoreBeside} = await import('./vector-store.ts')
  const {kept, close} = vectorStoreBeside({settings, seal, now})
  stack.defer(close)
  return kept
}

const NOTHING_KEPT: KeptAnswers = {list: async () => ({total: 0, rows: []}), clear: async () => 0}

function entriesOf(answers: KeptAnswers, likenesses: KeptAnswers): Entries {
  const of = {simple: answers, semantic: likenesses}
  return {
    list: (kind, filter, page) => of[kind].list(filter, page),
    clear: (kind, filter) => of[kind].clear(filter),
  }
}

/** Entries by which other words find answers, where the database has them. */
export function likenessesIn(db: Db, now: () => number): KeptAnswers {
  const table = semanticTable(db)
  return {
    list: (filter, page) => table.list(filter, now(), page),
    clear: filter => clearAll(table, filter),
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
