import {
  collectionName,
  keyOrJson,
  milliseconds,
  numberBetween,
  password,
  text,
  trueFalse,
  url,
  whole,
  word,
  wordOf,
} from './kinds.ts'
import type {Setting} from './setting.ts'

/** Answers for requests that mean the same (docs/semantic-cache.md). */
export const SEMANTIC_CACHE = {
  SEMANTIC_CACHE_EMBEDDER: {
    kind: wordOf('builtin none openai azure-openai google vertex-ai'),
    fallback: 'builtin',
    group: 'Semantic cache',
    also: ['SEMANTIC_CACHE_EMBEDDING_PROVIDER'],
    meaning:
      'What turns a prompt into a vector: builtin, which needs no service, or a service for embeddings. With none, ' +
      'configs with cache mode semantic work as simple.',
  },
  SEMANTIC_CACHE_EMBEDDINGS_URL: {
    kind: url('a URL such as https://embeddings.example.com/v1/embeddings', ['http:', 'https:']),
    group: 'Semantic cache',
    meaning:
      'Address of the service. openai and azure-openai: the whole URL; google: up to the version; vertex-ai: up to ' +
      'publishers/google. It may be private.',
  },
  SEMANTIC_CACHE_EMBEDDING_API_KEY: {
    kind: keyOrJson,
    group: 'Semantic cache',
    secret: true,
    meaning:
      'Credential for the service. vertex-ai: the key of a service account as JSON; unset: the gateway’s own identity.',
  },
  SEMANTIC_CACHE_EMBEDDING_MODEL: {
    kind: text,
    group: 'Semantic cache',
    meaning: 'Model of the service; unset: text-embedding-3-small, or gemini-embedding-001 at Google.',
  },
  SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: {
    kind: whole(1, 8192, 'dimensions'),
    group: 'Semantic cache',
    meaning: 'Length of the vectors to ask for; others are refused. Unset: the service decides.',
  },
  SEMANTIC_CACHE_EMBEDDING_MAX_TOKENS: {
    kind: whole(16, 100_000, 'tokens'),
    group: 'Semantic cache',
    meaning: 'Longest text to embed; unset: by the model, 512 for an unknown one.',
  },
  SEMANTIC_CACHE_EMBEDDING_TIMEOUT_MS: {
    kind: milliseconds,
    fallback: '2000',
    group: 'Semantic cache',
    meaning: 'How long a call waits for the service; after it the provider is called.',
  },
  SEMANTIC_CACHE_CHARGE_EMBEDDINGS: {
    kind: trueFalse,
    fallback: 'true',
    group: 'Semantic cache',
    meaning: 'Charges each request to the service to the key of the call that needed it. With false it is only logged.',
  },
  SEMANTIC_CACHE_SIMILARITY_THRESHOLD: {
    kind: numberBetween(0, 1),
    group: 'Semantic cache',
    meaning: 'Least cosine of two prompts; a config may only raise it. Unset: 0.80 with builtin, 0.95 with a service.',
  },
  SEMANTIC_CACHE_GATE: {
    kind: word('strict', 'numbers', 'off'),
    fallback: 'strict',
    group: 'Semantic cache',
    meaning:
      'Second check after the cosine: strict compares all that may change an answer, numbers only numbers, units, ' +
      'dates and versions.',
  },
  SEMANTIC_CACHE_IGNORE_SYSTEM_PROMPT: {
    kind: trueFalse,
    fallback: 'false',
    group: 'Semantic cache',
    meaning:
      'With true requests with other system prompts share answers in other words, as in the compatible product. One ' +
      'persona’s answer is then served to another.',
  },
  SEMANTIC_CACHE_MODE: {
    kind: word('serve', 'shadow'),
    fallback: 'serve',
    group: 'Semantic cache',
    meaning: 'shadow searches and counts what would be served, and calls the provider.',
  },
  SEMANTIC_CACHE_MEMORY_MB: {
    kind: whole(1, 65_536, 'megabytes'),
    fallback: '64',
    group: 'Semantic cache',
    meaning: 'Memory of one process for searching; a VECTOR_STORE searches in its own.',
  },
  VECTOR_STORE: {
    kind: word('milvus', 'pinecone', 'qdrant'),
    group: 'Semantic cache',
    meaning:
      'Product outside that keeps and searches the vectors, shared by all processes. Unset: they are kept beside the ' +
      'cached answers.',
  },
  VECTOR_STORE_ADDRESS: {
    kind: text,
    group: 'Semantic cache',
    meaning:
      'milvus and qdrant: a URL such as http://qdrant.internal:6333. pinecone: the name of the index, or its host. ' +
      'The host may be private.',
  },
  VECTOR_STORE_API_KEY: {
    kind: password,
    group: 'Semantic cache',
    secret: true,
    meaning: 'Credential for it. milvus: a token, or user:password; required with pinecone.',
  },
  VECTOR_STORE_COLLECTION_NAME: {
    kind: collectionName,
    fallback: 'gateway_semantic_cache',
    group: 'Semantic cache',
    meaning: 'Collection of the entries, which nothing else should use. pinecone: the namespace in the index.',
  },
  VECTOR_STORE_TIMEOUT_MS: {
    kind: milliseconds,
    fallback: '1000',
    group: 'Semantic cache',
    meaning: 'How long a call waits for it; after it the provider is called.',
  },
} as const satisfies Record<string, Setting>
