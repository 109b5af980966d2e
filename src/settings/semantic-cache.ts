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
export function semanticCacheFaults(
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
