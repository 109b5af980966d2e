import {Counter, type Registry} from 'prom-client'
import {request} from 'undici'
import type {Egress} from '../base/egress/pools.ts'
import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import {BUILTIN} from '../cache/semantic/builtin-embedder.ts'
import type {Embedder} from '../cache/semantic/embedder.ts'
import {featuresKey} from '../cache/semantic/features-key.ts'
import {type Agreement, type SearchResult, SemanticCache} from '../cache/semantic/semantic-cache.ts'
import {createServiceEmbedder} from '../cache/semantic/service-embedder.ts'
import {VectorIndex} from '../cache/semantic/vector-index.ts'
import type {VectorStore} from '../cache/semantic/vector-store.ts'
import type {Cache} from '../ports/cache/index.ts'
import type {Logins} from '../providers/auth/login.ts'
import {embeddingWire} from '../providers/embedders/index.ts'
import type {EmbeddingRequest} from '../schema/embeddings.ts'
import type {Settings} from '../settings/index.ts'
import type {Db} from '../store/database.ts'
import {semanticTable} from '../store/semantic-entries.ts'

export interface SemanticCacheParts {
  readonly settings: Settings
  /** The database that has the answers. */
  readonly db: Db
  readonly is_shared: boolean
  readonly answers: Cache
  /** The vector store outside; undefined: vectors are kept in the database. */
  readonly vectors: VectorStore | undefined
  readonly seal: Pick<Seal, 'derived'>
  readonly egress: Egress
  readonly logins: Logins
  readonly log: Log
  readonly now: () => number
  /** Takes the count of its searches. */
  readonly registry: Registry
}

const TELL_EVERY_MS = 60_000
const MAX_ANSWER_BYTES = 1 << 20

/** The semantic cache of this process. Loaded with the first call whose config asks for it. */
export function openSemanticCache(parts: SemanticCacheParts): SemanticCache {
  const {settings, db, is_shared, answers, seal, log, now, registry} = parts
  const tell = seldom(now, (details, times) =>
    log.warn({...details, times}, 'the semantic cache failed; calls continue without it'),
  )
  const inDatabase = () =>
    new VectorIndex({
      table: semanticTable(db),
      now,
      most_bytes: settings.semantic_cache_memory_mb * 2 ** 20,
      is_shared,
      onFault: fault => tell({fault}),
    })
  return new SemanticCache({
    embedder: embedderOf(parts, tell),
    vectors: parts.vectors ?? inDatabase(),
    answers,
    features_key: featuresKey(seal),
    gate: settings.semantic_cache_gate,
    threshold: settings.semantic_cache_similarity_threshold,
    is_shadow: settings.semantic_cache_mode === 'shadow',
    now,
    onResult: countResults(registry),
    onCompared: countCompared(registry),
  })
}

function countCompared(registry: Registry): (agreement: Agreement) => void {
  const compared = new Counter({
    name: 'gateway_semantic_cache_compared_total',
    help: 'Answers that shadow mode would have given, compared with those of providers.',
    labelNames: ['agreement'],
    registers: [registry],
  })
  return agreement => compared.inc({agreement})
}

function countResults(registry: Registry): (result: SearchResult) => void {
  const searches = new Counter({
    name: 'gateway_semantic_cache_searches_total',
    help: 'Requests that the semantic cache looked at, by result.',
    labelNames: ['result'],
    registers: [registry],
  })
  return result => searches.inc({result})
}

function embedderOf({settings, egress, logins, now}: SemanticCacheParts, tell: Tell): Embedder | null {
  const kind = settings.semantic_cache_embedder
  if (kind === 'none') return null
  const place = {
    url: settings.semantic_cache_embeddings_url,
    model: settings.semantic_cache_embedding_model,
    api_key: settings.semantic_cache_embedding_api_key,
    dimensions: settings.semantic_cache_embedding_dimensions,
  }
  const wire = embeddingWire(kind, place, logins)
  if (!wire) return BUILTIN
  return createServiceEmbedder({
    wire,
    now,
    dimensions: place.dimensions,
    max_tokens: settings.semantic_cache_embedding_max_tokens,
    send: outgoing => send(outgoing, egress, place.url !== undefined, settings.semantic_cache_embedding_timeout_ms),
    onFault: reason => tell({reason}),
  })
}

/** Through the wall; an address that the operator named may be private. No redirect is followed. */
async function send({url, headers, body}: EmbeddingRequest, egress: Egress, is_named: boolean, timeout_ms: number) {
  const {origin, hostname} = new URL(url)
  const asker = is_named
    ? ({kind: 'integration', id: 'semantic-cache', host: hostname} as const)
    : ({kind: 'builtin'} as const)
  const dispatcher = egress.pool(egress.destination(origin, asker), '')
  const signal = AbortSignal.timeout(timeout_ms)
  const reply = await request(url, {method: 'POST', headers, body, dispatcher, signal})
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of reply.body as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error('The answer is longer than a vector is.')
    parts.push(part)
  }
  return {status: reply.statusCode, body: Buffer.concat(parts).toString()}
}

type Tell = (details: object) => void

/** Tells at most once a minute, and how often there was something to tell. */
function seldom(now: () => number, say: (details: object, times: number) => void): Tell {
  let told_at_ms = Number.NEGATIVE_INFINITY
  let times = 0
  return details => {
    times++
    if (now() - told_at_ms < TELL_EVERY_MS) return
    told_at_ms = now()
    say(details, times)
    times = 0
  }
}
