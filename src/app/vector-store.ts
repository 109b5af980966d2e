import {Counter, type Registry} from 'prom-client'
import {readBaseUrl} from '../base/egress/base-url.ts'
import type {Egress} from '../base/egress/pools.ts'
import {Refusal} from '../base/errors.ts'
import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import {BUILTIN_DIMENSIONS} from '../cache/semantic/builtin-embedder.ts'
import {VectorStoreFault} from '../cache/vector-stores/fault.ts'
import {type OpenStoreCall, openStoreCall} from '../cache/vector-stores/http.ts'
import {milvusWire} from '../cache/vector-stores/milvus.ts'
import {pineconeWire} from '../cache/vector-stores/pinecone.ts'
import {qdrantWire} from '../cache/vector-stores/qdrant.ts'
import {RemoteVectors, type VectorStoreWork} from '../cache/vector-stores/remote-vectors.ts'
import type {StoreWire} from '../cache/vector-stores/wire.ts'
import type {KeptAnswers} from '../ports/cache/index.ts'
import {type Settings, SettingsFault} from '../settings/index.ts'
import {openEgress} from './egress.ts'

export interface VectorStoreParts {
  readonly settings: Settings
  readonly seal: Pick<Seal, 'derived'>
  readonly egress: Egress
  readonly log: Log
  readonly now: () => number
  readonly registry: Registry
}

const FAILS: Readonly<Record<VectorStoreWork, string>> = {
  search: 'the vector store does not answer searches; calls continue without them',
  write: 'the vector store takes no entries; calls continue',
  prune: 'the vector store does not delete entries that have ended; they are not found, and take its space',
}

/**
 * The vector store of VECTOR_STORE. Refuses (SettingsFault) one whose vectors are others than those of this gateway;
 * one that does not answer is no reason not to start.
 */
export async function openVectorStore({settings, seal, egress, log, now, registry}: VectorStoreParts) {
  const store = settings.vector_store
  if (store === undefined) return undefined
  const events = new Counter({
    name: 'gateway_vector_store_events_total',
    help: 'Failed requests to the vector store, writes that were dropped, and entries of it that were not believed.',
    labelNames: ['event'],
    registers: [registry],
  })
  const vectors = new RemoteVectors({
    wire: wireOf(settings, openStoreCall(egress)),
    seal,
    now,
    timeout_ms: settings.vector_store_timeout_ms,
    onEvent: (event, times) => events.inc({event}, times),
    onDown: (work, reason) => log.warn({store, reason}, FAILS[work]),
    onUp: work => log.info({store, work}, 'the vector store works again'),
  })
  const is_builtin = settings.semantic_cache_embedder === 'builtin'
  try {
    await vectors.open(is_builtin ? BUILTIN_DIMENSIONS : (settings.semantic_cache_embedding_dimensions ?? null))
  } catch (fault) {
    await egress.destroy()
    if (!(fault instanceof VectorStoreFault)) throw fault
    throw new SettingsFault([`VECTOR_STORE=${store} cannot be used: ${fault.message}.`])
  }
  return vectors
}

/** The same store for one command beside a gateway: its faults are those of the command. */
export function vectorStoreBeside({settings, seal, now}: Pick<VectorStoreParts, 'settings' | 'seal' | 'now'>) {
  const egress = openEgress(settings)
  const nothing = () => undefined
  const vectors = new RemoteVectors({
    wire: wireOf(settings, openStoreCall(egress)),
    ...{seal, now, onEvent: nothing, onDown: nothing, onUp: nothing},
    timeout_ms: settings.vector_store_timeout_ms,
  })
  return {
    kept: listedVectors(vectors),
    async close() {
      await vectors.close()
      await egress.destroy()
    },
  }
}

/** Entries of a vector store as the administration lists and clears them: a fault of the store refuses that. */
export function listedVectors(vectors: KeptAnswers): KeptAnswers {
  const refused = (fault: unknown): never => {
    if (!(fault instanceof VectorStoreFault)) throw fault
    throw new Refusal('vector_store.failed', {reason: fault.message}, {cause: fault})
  }
  return {
    list: (filter, page) => vectors.list(filter, page).catch(refused),
    clear: filter => vectors.clear(filter).catch(refused),
  }
}

function wireOf(settings: Settings, open: OpenStoreCall): StoreWire {
  const {vector_store_address: address = '', vector_store_api_key: key} = settings
  const collection = settings.vector_store_collection_name
  if (settings.vector_store === 'pinecone')
    return pineconeWire(open, {address, api_key: key ?? '', namespace: collection})
  const is_milvus = settings.vector_store === 'milvus'
  const headers: Record<string, string> = {}
  if (key !== undefined) headers[is_milvus ? 'authorization' : 'api-key'] = is_milvus ? `Bearer ${key}` : key
  const call = open({url: address, host: hostOf(address), headers})
  return is_milvus ? milvusWire(call, collection) : qdrantWire(call, collection)
}

function hostOf(address: string): string {
  try {
    return readBaseUrl(address).hostname
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault
    throw new SettingsFault([`VECTOR_STORE_ADDRESS is not usable: ${String(fault.details.reason)}.`])
  }
}
