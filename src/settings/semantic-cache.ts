import type {Name, Settings} from './table.ts'

const OF_A_SERVICE = [
  'SEMANTIC_CACHE_EMBEDDINGS_URL',
  'SEMANTIC_CACHE_EMBEDDING_API_KEY',
  'SEMANTIC_CACHE_EMBEDDING_MODEL',
] as const

/** Services without a known address, and those that always require a key. */
const NEEDS_URL: ReadonlySet<string> = new Set('azure-openai vertex-ai'.split(' '))
const NEEDS_KEY: ReadonlySet<string> = new Set('azure-openai google'.split(' '))

/** Sentences on settings of the semantic cache that would have no effect, or lack another. */
export function semanticCacheFaults(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  return [...embedderFaults(settings, given), ...vectorStoreFaults(settings, given)]
}

function embedderFaults(
  {semantic_cache_embedder: embedder}: Partial<Settings>,
  given: (name: Name) => boolean,
): string[] {
  if (embedder === undefined) return []
  const idle = OF_A_SERVICE.filter(given)
  if (embedder === 'builtin' || embedder === 'none')
    return idle.length === 0
      ? []
      : [`${idle.join(', ')} would have no effect with SEMANTIC_CACHE_EMBEDDER=${embedder}; it names the service.`]
  const missing = [
    ...(NEEDS_URL.has(embedder) && !given('SEMANTIC_CACHE_EMBEDDINGS_URL') ? ['SEMANTIC_CACHE_EMBEDDINGS_URL'] : []),
    ...(NEEDS_KEY.has(embedder) && !given('SEMANTIC_CACHE_EMBEDDING_API_KEY')
      ? ['SEMANTIC_CACHE_EMBEDDING_API_KEY']
      : []),
  ]
  return missing.length === 0 ? [] : [`SEMANTIC_CACHE_EMBEDDER=${embedder} needs ${missing.join(' and ')} as well.`]
}

const OF_A_STORE = [
  'VECTOR_STORE_ADDRESS',
  'VECTOR_STORE_API_KEY',
  'VECTOR_STORE_COLLECTION_NAME',
  'VECTOR_STORE_TIMEOUT_MS',
] as const

function vectorStoreFaults(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const {vector_store: store, vector_store_address: address = '', vector_store_collection_name: collection} = settings
  const idle = OF_A_STORE.filter(given)
  if (!given('VECTOR_STORE'))
    return idle.length === 0 ? [] : [`${idle.join(', ')} would have no effect without VECTOR_STORE, the product.`]
  if (store === undefined) return []
  const wrong: string[] = []
  if (settings.semantic_cache_embedder === 'none')
    wrong.push('VECTOR_STORE would have no effect with SEMANTIC_CACHE_EMBEDDER=none: there are no vectors.')
  if (!given('VECTOR_STORE_ADDRESS')) wrong.push(`VECTOR_STORE=${store} needs VECTOR_STORE_ADDRESS as well.`)
  else if (!isStoreAddress(store === 'pinecone' && !address.includes('://') ? `https://${address}` : address))
    wrong.push(`VECTOR_STORE_ADDRESS is not usable; VECTOR_STORE=${store} takes ${ADDRESSES[store]}.`)
  if (store === 'pinecone' && !given('VECTOR_STORE_API_KEY'))
    wrong.push('VECTOR_STORE=pinecone needs VECTOR_STORE_API_KEY as well.')
  if (store === 'milvus' && collection?.includes('-'))
    wrong.push('VECTOR_STORE_COLLECTION_NAME may have no hyphen with VECTOR_STORE=milvus.')
  return wrong
}

const A_URL = 'a URL such as http://vectors.internal:6333, without a query'
const ADDRESSES = {milvus: A_URL, qdrant: A_URL, pinecone: 'the name of an index, its host, or its URL'} as const

function isStoreAddress(text: string): boolean {
  const parsed = /^https?:\/\/[\x21-\x7e]{1,2000}$/.test(text) ? URL.parse(text) : null
  return parsed !== null && !parsed.username && !parsed.password && !parsed.search && !parsed.hash
}
