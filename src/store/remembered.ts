import {LRUCache} from 'lru-cache'
import type {Invalidation, TableName} from './database.ts'
import {INVALIDATES} from './tables/invalidation.ts'

/** A part of what is held in memory of the database. A cache has one for each set of tables that it forgets alike. */
export interface Remembered {
  /** Tables that what is held is made of. Those of all parts of a cache are all that its loader reads. */
  readonly of: ReadonlySet<TableName>
  /** Drops what is made of the rows with these ids; null: any row of these tables may have changed. */
  forget(ids: readonly string[] | null): void
}

/** After a write of this process, which says what it changed. */
export function forgetRows(all: readonly Remembered[], {tables}: Pick<Invalidation, 'tables'>): void {
  for (const each of all) {
    const written = tables.filter(({table}) => each.of.has(table))
    if (written.length === 0) continue
    each.forget(written.some(({ids}) => ids === null) ? null : written.flatMap(({ids}) => ids ?? []))
  }
}

const KNOWN_CACHES: ReadonlySet<string> = new Set(Object.values(INVALIDATES).flat())

/**
 * After a write of another process, of which only the names in `revisions` are known that moved; null: nothing is
 * known. A name that is unknown here is that of a later version, whose tables may be any.
 */
export function forgetCaches(all: readonly Remembered[], moved: ReadonlySet<string> | null): void {
  const names = moved && [...moved].every(name => KNOWN_CACHES.has(name)) ? moved : null
  for (const each of all)
    if (!names || [...each.of].some(table => INVALIDATES[table].some(name => names.has(name)))) each.forget(null)
}

/**
 * A bounded cache that knows of which rows each entry was made. What was begun to be read before something was
 * forgotten is not kept: it may be old.
 */
export class RowCache<V extends {}> {
  readonly #held: LRUCache<string, V>
  /** Entry → ids of its rows. */
  readonly #rows = new Map<string, Set<string>>()
  /** Id of a row → the entries that are made of it. */
  readonly #entries = new Map<string, Set<string>>()
  #generation = 0

  constructor(bounds: LRUCache.Options<string, V, unknown>) {
    this.#held = new LRUCache<string, V>({...bounds, dispose: (_, key) => this.#unlink(key)})
  }

  /** To be read before what is `set` is read. */
  get generation(): number {
    return this.#generation
  }

  get(key: string): V | undefined {
    return this.#held.get(key)
  }

  /** Keeps what was read since `born`, made of rows with these ids, unless something was forgotten meanwhile. */
  set(key: string, value: V, {born, rows}: {readonly born: number; readonly rows: readonly string[]}): void {
    if (born !== this.#generation) return
    this.#held.set(key, value)
    this.extend(key, value, rows)
  }

  /** Notes that `value` is made of these rows too, where it is held: what is too large is not. */
  extend(key: string, value: V, rows: readonly string[]): void {
    if (this.#held.peek(key) !== value) return
    const known = this.#rows.get(key) ?? new Set<string>()
    this.#rows.set(key, known)
    for (const id of rows) {
      known.add(id)
      const entries = this.#entries.get(id) ?? new Set<string>()
      this.#entries.set(id, entries.add(key))
    }
  }

  /** Drops what is made of these rows; null: everything. */
  forget(ids: readonly string[] | null): void {
    this.#generation++
    if (ids === null) return this.#held.clear()
    for (const id of ids) for (const key of [...(this.#entries.get(id) ?? [])]) this.#held.delete(key)
  }

  /** The same where an entry may be made otherwise with a new row: one that is unknown drops everything. */
  forgetWithNew(ids: readonly string[] | null): void {
    this.forget(ids?.every(id => this.#entries.has(id)) ? ids : null)
  }

  #unlink(key: string) {
    for (const id of this.#rows.get(key) ?? []) {
      const entries = this.#entries.get(id)
      entries?.delete(key)
      if (entries?.size === 0) this.#entries.delete(id)
    }
    this.#rows.delete(key)
  }
}
