import type {Generated} from 'kysely'

/**
 * Answers that may be given to requests in other words: each row points to a row of `cache_entries` by its digest. On
 * SQLite the table is in cache.db beside those.
 */
export interface SemanticEntriesTable {
  id: Generated<number>
  /** SHA-256 of everything but the text that makes two calls the same, 64 hex digits. */
  partition: string
  created_at_ms: number
  expires_at_ms: number
  /** A bit for each place of the vector, set where it is negative. */
  signs: Uint8Array
  workspace_id: string
  /** Null where the request has none, and in rows of earlier versions. */
  model: string | null
  namespace: string | null
  /** Of the answer. */
  digest: string
  /** The row of the log of the call that brought the answer. */
  log_id: string
  /** Keyed hashes of the text, as JSON; none of its words. */
  features: string
  /** 32-bit floats, length 1. */
  vector: Uint8Array
}
