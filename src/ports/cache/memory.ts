import {LRUCache} from 'lru-cache'
import type {KeptFilter} from '../../schema/cache.ts'
import {isAlive} from './age.ts'
import type {AnswerMarks, Cache, CacheKey, FoundEntry, KeptAnswers} from './index.ts'
import {isMeant, keptPage} from './kept-page.ts'

export interface MemoryCacheOptions {
  readonly now: () => number
  /** Everything together: bodies, and about what it takes to keep them. */
  readonly most_bytes?: number
  /** A longer answer is not kept. */
  readonly most_entry_bytes?: number
}

/** About what an entry takes besides its body. */
export const ENTRY_BYTES = 512

interface InMemory extends FoundEntry {
  readonly workspace_id: string
  readonly about: AnswerMarks | undefined
}

/** Answers in this process, which can all be dropped at once. */
export type MemoryCache = Cache & KeptAnswers & {drop(): void}

/** Answers in this process, the least recently used going first. */
export function createMemoryCache(options: MemoryCacheOptions): MemoryCache {
  const {now, most_bytes = 64 << 20, most_entry_bytes = 1 << 20} = options
  const kept = new LRUCache<string, InMemory>({
    maxSize: most_bytes,
    maxEntrySize: Math.min(most_bytes, most_entry_bytes + ENTRY_BYTES),
    sizeCalculation: ({body}) => body.length + ENTRY_BYTES,
  })
  const find = ({digest, workspace_id}: CacheKey): FoundEntry | undefined => {
    const found = kept.get(digest)
    if (!found || found.workspace_id !== workspace_id) return undefined
    if (isAlive(found, now())) return found
    kept.delete(digest)
    return undefined
  }
  return {
    peek: find,
    get: find,
    set({digest, workspace_id, about}, {body, stored_at_ms}, ttl_ms) {
      if (body.length > most_entry_bytes) return void kept.delete(digest)
      kept.set(digest, {workspace_id, about, body: ownBytes(body), stored_at_ms, expires_at_ms: now() + ttl_ms})
    },
    delete({digest}) {
      kept.delete(digest)
    },
    purge(workspace_id) {
      const digests = [...kept.entries()]
        .filter(([, entry]) => entry.workspace_id === workspace_id)
        .map(([digest]) => digest)
      for (const digest of digests) kept.delete(digest)
    },
    async list(filter, page) {
      const rows = matching(filter).filter(each => isAlive(each, now()))
      return keptPage(
        rows.toSorted((one, other) => other.stored_at_ms - one.stored_at_ms),
        page,
      )
    },
    async clear(filter) {
      const rows = matching(filter)
      for (const {digest} of rows) kept.delete(digest)
      return rows.length
    },
    drop: () => kept.clear(),
    async close() {
      kept.clear()
    },
  }

  function matching(filter: KeptFilter) {
    return [...kept.entries()]
      .map(([digest, {workspace_id, about, body, stored_at_ms, expires_at_ms}]) => ({
        ...{digest, workspace_id, model: about?.model ?? null, namespace: about?.namespace ?? null},
        ...{stored_at_ms, expires_at_ms, bytes: body.length, log_id: null},
      }))
      .filter(row => isMeant(row, filter))
  }
}

/** A slice would keep the whole of what it was cut from, which the bound does not know of. */
function ownBytes(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body
  const own = Buffer.allocUnsafeSlow(body.length)
  body.copy(own)
  return own
}
