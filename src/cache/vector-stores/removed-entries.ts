import {LRUCache} from 'lru-cache'

/** A store that is behind shows what was deleted no longer than this. */
const REMEMBERED_MS = 60_000
const MAX_PLACES = 1_000
const MAX_IDS = 256

/** Entries that were removed of late: a store may still find them for a while. */
export class RemovedEntries {
  readonly #places = new LRUCache<string, Map<number, number>>({max: MAX_PLACES})

  add(place: string, ids: readonly number[], now_ms: number): void {
    const removed = this.#places.get(place) ?? new Map<number, number>()
    for (const id of ids) {
      removed.delete(id) // to its end: the first one is that of the longest ago
      removed.set(id, now_ms)
    }
    for (const id of removed.keys()) {
      if (removed.size <= MAX_IDS) break
      removed.delete(id)
    }
    this.#places.set(place, removed)
  }

  /** True of an entry that was there before its id was removed. */
  has(place: string, id: number, created_at_ms: number, now_ms: number): boolean {
    const removed_at_ms = this.#places.get(place)?.get(id)
    return removed_at_ms !== undefined && created_at_ms <= removed_at_ms && now_ms < removed_at_ms + REMEMBERED_MS
  }

  /** The id is written again. */
  forget(place: string, id: number): void {
    this.#places.get(place)?.delete(id)
  }

  /** The most entries of a place that a store may find though they were removed. */
  count(place: string, now_ms: number): number {
    const removed = this.#places.get(place)
    if (!removed) return 0
    for (const [id, removed_at_ms] of removed) {
      if (now_ms < removed_at_ms + REMEMBERED_MS) break
      removed.delete(id)
    }
    return removed.size
  }
}
