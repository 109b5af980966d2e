/** Answers kept for a time, whole. On SQLite the table is in cache.db, which may be deleted at any time. */
export interface CacheEntriesTable {
  /** SHA-256 of everything that makes two calls the same, 64 hex digits. */
  digest: string
  workspace_id: string
  /** Null where the request has none, and in rows of earlier versions. */
  model: string | null
  namespace: string | null
  stored_at_ms: number
  expires_at_ms: number
  /** Length of `body`, where an index can sum it. */
  bytes: number
  body: Uint8Array
}
