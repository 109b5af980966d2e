import type {Cache, FoundEntry} from './index.ts'
import type {MemoryCache} from './memory.ts'

export interface LayeredOptions {
  /** In this process: answers at once. */
  readonly near: Cache & Partial<Pick<MemoryCache, 'drop'>>
  /** Elsewhere, larger, and outlives the process. */
  readonly far: Cache
  readonly now: () => number
  /**
   * How long the near one keeps an answer; where processes share the far one, another's refresh is not seen for so
   * long.
   */
  readonly most_near_ms?: number
}

/** A cache whose near answers can be dropped: those of the far one were cleared. */
export type LayeredCache = Cache & {drop(): void}

/** One store in front of another. What the far one finds the near one keeps, for what is left of its time. */
export function layered({near, far, now, most_near_ms = Number.POSITIVE_INFINITY}: LayeredOptions): LayeredCache {
  /** Moves when something is deleted: what was looked up before must not come back. */
  let deletions = 0
  return {
    peek: key => near.peek(key),
    get(key) {
      const found = near.get(key)
      if (found instanceof Promise) return found.then(entry => entry ?? fetch())
      return found ?? fetch()

      async function fetch(): Promise<FoundEntry | undefined> {
        const before = deletions
        const entry = await far.get(key)
        if (!entry) return undefined
        const left_ms = entry.expires_at_ms - now()
        const is_newest = deletions === before && !near.peek(key)
        if (left_ms > 0 && is_newest) await near.set(key, entry, Math.min(left_ms, most_near_ms))
        return entry
      }
    },
    async set(key, entry, ttl_ms) {
      await near.set(key, entry, Math.min(ttl_ms, most_near_ms))
      await far.set(key, entry, ttl_ms)
    },
    async delete(key) {
      deletions++
      await near.delete(key)
      await far.delete(key)
    },
    async purge(workspace_id) {
      deletions++
      await near.purge(workspace_id)
      await far.purge(workspace_id)
    },
    drop() {
      deletions++
      near.drop?.()
    },
    async close() {
      await near.close()
      await far.close()
    },
  }
}
