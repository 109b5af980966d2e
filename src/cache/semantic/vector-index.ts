import {setImmediate as turn} from 'node:timers/promises'
import type {AnswerMarks} from '../../ports/cache/index.ts'
import {SignIndex} from './sign-index.ts'
import {cosine, signsOf, vectorBytes, vectorIn} from './vector.ts'
import type {NewSimilarEntry, SimilarEntry, VectorStore} from './vector-store.ts'

/** The part of a row that a search by signs needs. */
interface SignRow {
  readonly id: number
  readonly created_at_ms: number
  readonly expires_at_ms: number
  readonly signs: Uint8Array
}

interface WholeRow extends SignRow {
  readonly partition: string
  readonly workspace_id: string
  readonly digest: string
  readonly log_id: string
  readonly features: string
  readonly vector: Uint8Array
}

/** The queries, as the store says them (`semanticTable`). */
export interface SemanticTable {
  signsOf(partition: string, before: number, now_ms: number, most: number): Promise<readonly SignRow[]>
  writtenSince(partition: string, since_ms: number, most: number): Promise<readonly SignRow[]>
  rows(ids: readonly number[]): Promise<readonly WholeRow[]>
  put(row: Omit<WholeRow, 'id'> & AnswerMarks): Promise<number>
  delete(ids: readonly number[]): Promise<void>
  prune(now_ms: number, most_rows: number): Promise<boolean>
}

export interface VectorIndexOptions {
  readonly table: SemanticTable
  readonly now: () => number
  /** All partitions in memory together; the least recently used leave it. */
  readonly most_bytes: number
  /** Other processes write to the table, too. */
  readonly is_shared: boolean
  readonly most_rows?: number
  readonly most_rows_a_partition?: number
  /** How long a search waits for the database. */
  readonly timeout_ms?: number
  /** Called with what could not be written or pruned. */
  readonly onFault: (fault: unknown) => void
}

/** The entries that are compared exactly, and those that come out of it. */
const RESCORED = 32
/** Entries of which signs are compared in one turn of the event loop. */
const LOOKED_AT_ONCE = 1_000
const BEST = 8
const ROWS_AT_ONCE = 250
/** Writes of other processes are seen after so long. */
const LOOK_EVERY_MS = 2_000
/** Clocks of processes, and times of writing and committing, differ by no more. */
const OVERLAP_MS = 10_000
const PRUNE_EVERY_MS = 60_000
const MAX_WAITING = 1_000
/** For so long nothing is searched in a database that failed. */
const PAUSE_MS = 1_000

interface Loaded {
  readonly index: SignIndex
  looked_at_ms: number
  /** Counted in the bound. */
  is_held: boolean
}

/**
 * Vectors in the database, and their signs in memory, by partitions that are loaded when they are first searched. The
 * signs find the nearest few, whose vectors are then read and compared exactly.
 */
export class VectorIndex implements VectorStore {
  readonly #options: Required<VectorIndexOptions>
  /** In the order of their last use. */
  readonly #loaded = new Map<string, Loaded>()
  readonly #loading = new Map<string, Promise<Loaded | null>>()
  #bytes = 0
  #writes: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #prunes_at_ms = 0
  #silent_until_ms = Number.NEGATIVE_INFINITY

  constructor(options: VectorIndexOptions) {
    this.#options = {most_rows: 100_000, most_rows_a_partition: 5_000, timeout_ms: 250, ...options}
  }

  /** The size of the partitions in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** The entries in memory. */
  get size(): number {
    let entries = 0
    for (const {index} of this.#loaded.values()) entries += index.size
    return entries
  }

  async search(partition: string, vector: Float32Array): Promise<readonly SimilarEntry[]> {
    const {now, timeout_ms} = this.#options
    if (now() < this.#silent_until_ms) throw new Error('The database failed a moment ago.')
    try {
      return await within(timeout_ms, this.#search(partition, vector))
    } catch (fault) {
      this.#silent_until_ms = now() + PAUSE_MS
      throw fault
    }
  }

  add(entry: NewSimilarEntry): void {
    const {table, now, most_rows} = this.#options
    if (this.#waiting >= MAX_WAITING) return
    const signs = signsOf(entry.vector)
    this.#write(async () => {
      const {vector, about, ...row} = entry
      const {model = null, namespace = null} = about ?? {}
      const id = await table.put({...row, model, namespace, signs: bytesOf(signs), vector: vectorBytes(vector)})
      const loaded = this.#loaded.get(entry.partition)
      if (!loaded || loaded.index.dimensions !== vector.length) return
      this.#change(loaded, index => index.put({id, expires_at_ms: entry.expires_at_ms, signs}))
      await this.#dropOldest(loaded)
      this.#evict(entry.partition)
    })
    if (now() < this.#prunes_at_ms) return
    this.#prunes_at_ms = now() + PRUNE_EVERY_MS
    this.#write(async () => {
      while (await table.prune(now(), most_rows)) await turn()
    })
  }

  remove(partition: string, ids: readonly number[]): void {
    const loaded = this.#loaded.get(partition)
    if (loaded)
      this.#change(loaded, index => {
        for (const id of ids) index.delete(id)
      })
    if (this.#waiting < MAX_WAITING) this.#write(() => this.#options.table.delete(ids))
  }

  async settled(): Promise<void> {
    await this.#writes
  }

  close(): Promise<void> {
    return this.settled()
  }

  async #search(partition: string, vector: Float32Array): Promise<readonly SimilarEntry[]> {
    const {table, now} = this.#options
    const loaded = this.#loaded.get(partition) ?? (await this.#load(partition, vector.length))
    if (!loaded || loaded.index.dimensions !== vector.length) return []
    this.#loaded.delete(partition)
    this.#loaded.set(partition, loaded)
    await this.#lookAtOthers(partition, loaded)
    const found = loaded.index.search(signsOf(vector), RESCORED, now())
    while (loaded.index.look(found, LOOKED_AT_ONCE)) await turn()
    const {ids} = found
    if (ids.length === 0) return []
    await turn()
    const rows = await table.rows(ids)
    if (rows.length < ids.length) {
      const known = new Set(rows.map(({id}) => id))
      this.#change(loaded, index => {
        for (const id of ids) if (!known.has(id)) index.delete(id)
      })
    }
    return rows
      .flatMap(row => {
        const stored = vectorIn(row.vector)
        const similarity = stored ? cosine(stored, vector) : Number.NaN
        return Number.isNaN(similarity) ? [] : [{...row, similarity}]
      })
      .toSorted((one, other) => other.similarity - one.similarity)
      .slice(0, BEST)
  }

  /** Many that search the same partition for the first time load it once. */
  #load(partition: string, dimensions: number): Promise<Loaded | null> {
    const begun = this.#loading.get(partition)
    if (begun) return begun
    const loading = this.#read(partition, dimensions).finally(() => this.#loading.delete(partition))
    this.#loading.set(partition, loading)
    loading.catch(() => undefined) // those that wait hear of it
    return loading
  }

  async #read(partition: string, dimensions: number): Promise<Loaded | null> {
    const {table, now, most_rows_a_partition: most} = this.#options
    const looked_at_ms = now()
    const rows: SignRow[] = []
    let before = Number.MAX_SAFE_INTEGER
    while (rows.length < most) {
      const slice = await table.signsOf(partition, before, now(), Math.min(ROWS_AT_ONCE, most - rows.length))
      rows.push(...slice)
      if (slice.length < ROWS_AT_ONCE) break
      before = slice.at(-1)!.id
      await turn()
    }
    const index = new SignIndex(dimensions, rows.length)
    for (const row of rows) index.append(signRow(row))
    const loaded = {index, looked_at_ms, is_held: true}
    this.#loaded.set(partition, loaded)
    this.#bytes += index.bytes
    this.#evict(partition)
    await this.#takeWritten(partition, loaded, looked_at_ms)
    return loaded
  }

  /** Takes in what other processes wrote. */
  async #lookAtOthers(partition: string, loaded: Loaded): Promise<void> {
    const {now, is_shared} = this.#options
    const now_ms = now()
    if (!is_shared || now_ms < loaded.looked_at_ms + LOOK_EVERY_MS) return
    const since_ms = loaded.looked_at_ms - OVERLAP_MS
    loaded.looked_at_ms = now_ms
    await this.#takeWritten(partition, loaded, since_ms)
  }

  async #takeWritten(partition: string, loaded: Loaded, since_ms: number): Promise<void> {
    const {table, most_rows_a_partition} = this.#options
    const rows = await table.writtenSince(partition, since_ms, most_rows_a_partition)
    this.#change(loaded, index => {
      for (const row of rows) index.put(signRow(row))
    })
  }

  async #dropOldest(loaded: Loaded): Promise<void> {
    const ids: number[] = []
    while (loaded.index.size > this.#options.most_rows_a_partition) {
      const id = loaded.index.oldest()!
      this.#change(loaded, index => index.delete(id))
      ids.push(id)
    }
    await this.#options.table.delete(ids)
  }

  #change(loaded: Loaded, change: (index: SignIndex) => void): void {
    const before = loaded.index.bytes
    change(loaded.index)
    if (loaded.is_held) this.#bytes += loaded.index.bytes - before
  }

  /** Takes partitions out of memory until the bound holds; `kept` is the one in use. */
  #evict(kept: string): void {
    for (const [partition, loaded] of this.#loaded) {
      if (this.#bytes <= this.#options.most_bytes) return
      if (partition === kept && this.#loaded.size > 1) continue
      this.#loaded.delete(partition)
      loaded.is_held = false
      this.#bytes -= loaded.index.bytes
    }
  }

  /** One after another, one in a turn of the event loop. */
  #write(work: () => Promise<unknown>): void {
    this.#waiting++
    this.#writes = this.#writes
      .then(work)
      .catch(this.#options.onFault)
      .then(() => turn())
      .finally(() => this.#waiting--)
  }
}

function signRow({id, expires_at_ms, signs}: SignRow) {
  const words = new Uint32Array(Math.floor(signs.byteLength / 4))
  new Uint8Array(words.buffer).set(signs.subarray(0, words.byteLength))
  return {id: Number(id), expires_at_ms: Number(expires_at_ms), signs: words}
}

const bytesOf = (signs: Uint32Array) => Buffer.from(signs.buffer, signs.byteOffset, signs.byteLength)

async function within<T>(timeout_ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The database did not answer within ${timeout_ms} ms.`)), timeout_ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
