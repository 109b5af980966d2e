import type {After} from '../../../src/base/delay.ts'
import {Egress} from '../../../src/base/egress/pools.ts'
import {createSeal} from '../../../src/base/seal.ts'
import type {NewSimilarEntry} from '../../../src/cache/semantic/vector-store.ts'
import {openStoreCall} from '../../../src/cache/vector-stores/http.ts'
import {milvusWire} from '../../../src/cache/vector-stores/milvus.ts'
import {pineconeWire} from '../../../src/cache/vector-stores/pinecone.ts'
import {qdrantWire} from '../../../src/cache/vector-stores/qdrant.ts'
import {RemoteVectors, type VectorStoreEvent} from '../../../src/cache/vector-stores/remote-vectors.ts'
import type {StoreWire} from '../../../src/cache/vector-stores/wire.ts'
import {milvusTwin} from './milvus.ts'
import {pineconeTwin} from './pinecone.ts'
import {qdrantTwin} from './qdrant.ts'
import type {StoreTwin} from './twin.ts'

export const PRODUCTS = ['milvus', 'pinecone', 'qdrant'] as const
export const COLLECTION = 'gateway_semantic_cache'
const REQUEST_MS = 1_000
export const API_KEY = 'hush-of-the-vector-store'

/** A twin for vectors of this length; Pinecone alone has an index from the beginning. */
export function openTwin(product: (typeof PRODUCTS)[number], dimension: number): Promise<StoreTwin> {
  if (product === 'milvus') return milvusTwin({token: API_KEY})
  if (product === 'pinecone') return pineconeTwin({api_key: API_KEY, dimension})
  return qdrantTwin({api_key: API_KEY})
}

export function wireTo({product, url}: Pick<StoreTwin, 'product' | 'url'>, egress: Egress): StoreWire {
  const open = openStoreCall(egress)
  if (product === 'pinecone') return pineconeWire(open, {address: url, api_key: API_KEY, namespace: COLLECTION})
  if (product === 'milvus')
    return milvusWire(open({url, host: '127.0.0.1', headers: {authorization: `Bearer ${API_KEY}`}}), COLLECTION)
  return qdrantWire(open({url, host: '127.0.0.1', headers: {'api-key': API_KEY}}), COLLECTION)
}

export interface OpenedVectors {
  readonly vectors: RemoteVectors
  readonly egress: Egress
  readonly events: Partial<Record<VectorStoreEvent, number>>
  /** Every notice to the operator. */
  readonly notices: string[]
  /** The deadlines of all requests are over; no time passes by itself. */
  expire(): void
  close(): Promise<void>
}

/** A process over a twin; two of one `key` are two processes of one gateway. */
export function openVectors(
  twin: Pick<StoreTwin, 'product' | 'url'>,
  {now = () => 10_000, key = 1, wire}: OpenVectorsOptions = {},
): OpenedVectors {
  const egress = new Egress()
  const events: Partial<Record<VectorStoreEvent, number>> = {}
  const notices: string[] = []
  const waiting = new Set<{readonly ms: number; readonly run: () => void}>()
  const after: After = (ms, run) => {
    const one = {ms, run}
    waiting.add(one)
    return () => void waiting.delete(one)
  }
  const vectors = new RemoteVectors({
    wire: wire?.(egress) ?? wireTo(twin, egress),
    seal: createSeal(Buffer.alloc(32, key)),
    now,
    timeout_ms: REQUEST_MS,
    prepare_ms: REQUEST_MS,
    after,
    onEvent(event, times) {
      events[event] = (events[event] ?? 0) + times
    },
    onDown: (work, reason) => void notices.push(`${work} fails: ${reason}`),
    onUp: work => void notices.push(`${work} works`),
  })
  return {
    vectors,
    egress,
    events,
    notices,
    expire() {
      // the last one first: what waits for it ends by it
      const due = [...waiting].filter(({ms}) => ms === REQUEST_MS)
      const next = () => {
        const last = due.pop()
        if (!last) return
        if (waiting.delete(last)) last.run()
        setImmediate(next)
      }
      next()
    },
    async close() {
      await vectors.close()
      await egress.destroy()
    },
  }
}

export interface OpenVectorsOptions {
  readonly now?: () => number
  readonly key?: number
  readonly wire?: (egress: Egress) => StoreWire
}

/** An entry as the semantic cache keeps it. */
export function newEntry(
  digest: string,
  vector: Float32Array,
  more: Partial<NewSimilarEntry> = {},
): NewSimilarEntry & {readonly digest: string} {
  return {
    partition: 'p',
    workspace_id: 'workspace-1',
    digest,
    log_id: `log-${digest}`,
    features: '{"v":1}',
    vector,
    created_at_ms: 9_000,
    expires_at_ms: 1_000_000_000,
    ...more,
  }
}
