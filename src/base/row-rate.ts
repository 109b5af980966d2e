import {LRUCache} from 'lru-cache'

interface NotedName {
  /** Since the last row. */
  count: number
  readonly until_ms: number
}

/**
 * Bounds the rows that strangers cause: one a period for each name, and so many a period in all. Names that come in
 * between are counted, and the count is in their next row.
 */
export class RowRate {
  readonly #limits: {readonly period_ms: number; readonly most_rows: number}
  readonly #noted: LRUCache<string, NotedName>
  #period = {began_ms: Number.NEGATIVE_INFINITY, rows: 0}

  constructor(limits: {readonly period_ms: number; readonly most_rows: number; readonly most_names: number}) {
    this.#limits = limits
    this.#noted = new LRUCache({max: limits.most_names})
  }

  /** How often the name came since its last row, this time included; null where no row may be written now. */
  take(name: string, now_ms: number): number | null {
    const before = this.#noted.get(name)
    if (before && (now_ms < before.until_ms || !this.#hasRoom(now_ms))) {
      before.count++
      return null
    }
    if (!before && !this.#hasRoom(now_ms)) return null
    this.#noted.set(name, {count: 0, until_ms: now_ms + this.#limits.period_ms})
    this.#period.rows++
    return (before?.count ?? 0) + 1
  }

  #hasRoom(now_ms: number): boolean {
    const {period_ms, most_rows} = this.#limits
    if (now_ms - this.#period.began_ms >= period_ms) this.#period = {began_ms: now_ms, rows: 0}
    return this.#period.rows < most_rows
  }
}
