import {type After, after as byTimer} from '../../base/delay.ts'
import type {Seal} from '../../base/seal.ts'
import {cosine, unitVector} from '../semantic/vector.ts'
import type {NewSimilarEntry, SimilarEntry, VectorStore} from '../semantic/vector-store.ts'
import {StoreBreaker} from './breaker.ts'
import {VectorStoreFault} from './fault.ts'
import {NO_ANSWER, storeFaultOf} from './http.ts'
import {RemovedEntries} from './removed-entries.ts'
import {EntrySeal} from './sealed-entry.ts'
import type {FoundPoint, PreparedStore, StoreWire} from './wire.ts'
import {type StoreWrite, WriteQueue} from './write-queue.ts'

/** Counted: a request that failed, a write that was not made, an entry that was not believed. */
export type VectorStoreEvent = 'search_failed' | 'write_failed' | 'dropped' | 'passed_over'

/** Each may fail alone: a key may be for reading only, and an index may not delete by a filter. */
export type VectorStoreWork = 'search' | 'write' | 'prune'

export interface RemoteVectorsOptions {
  readonly wire: StoreWire
  readonly seal: Pick<Seal, 'derived'>
  readonly now: () => number
  /** How long one search, or one request that writes, may take. */
  readonly timeout_ms: number
  /** How long looking at the collection, or making it, may take; searches do not wait for the end of it. */
  readonly prepare_ms?: number
  readonly after?: After
  readonly onEvent: (event: VectorStoreEvent, times: number) => void
  /** Called once when work of a kind begins to fail, and once when it succeeds again. */
  readonly onDown: (work: VectorStoreWork, reason: string) => void
  readonly onUp: (work: VectorStoreWork) => void
}

const BEST = 8
/** The most that a search takes of what was removed and may still be found. */
const MOST_BEHIND = 128
const MOST_BEHIND_WITH_VECTORS = 24
const PREPARE_MS = 10_000
/** The first look at the store holds up the start of the process for no longer. */
const START_MS = 5_000
const CLOSE_MS = 2_000
const PRUNE_EVERY_MS = 60_000
const PRUNE_SLICE = 200
const PRUNE_ROUNDS = 10
const ROUNDING = 1e-3

/**
 * Vectors in a store outside, which several processes share. Searches wait for it until their deadline, and writes are
 * made after the call. It is not trusted: what it has is sealed, and what it finds is checked.
 */
export class RemoteVectors implements VectorStore {
  readonly #options: RemoteVectorsOptions
  readonly #after: After
  readonly #entries: EntrySeal
  readonly #removed = new RemovedEntries()
  readonly #searches: StoreBreaker
  readonly #writes: WriteQueue
  #prepared: Promise<PreparedStore> | undefined
  #is_preparing = false
  #prunes_at_ms = Number.NEGATIVE_INFINITY

  constructor(options: RemoteVectorsOptions) {
    this.#options = options
    this.#after = options.after ?? byTimer
    const {now, onEvent, onDown, onUp} = options
    const breaker = (of: VectorStoreWork) =>
      new StoreBreaker({now, onDown: reason => onDown(of, reason), onUp: () => onUp(of)})
    this.#entries = new EntrySeal(options.seal)
    this.#searches = breaker('search')
    this.#writes = new WriteQueue({
      after: this.#after,
      breakers: {write: breaker('write'), prune: breaker('prune')},
      write: batch => this.#write(batch),
      onDropped: writes => onEvent('dropped', writes),
    })
  }

  /**
   * A first look at the store. Rejects with why entries cannot be kept in it; one that does not answer is down, and is
   * looked at again with the first search. `dimensions` null: the vectors to come are not known.
   */
  async open(dimensions: number | null): Promise<void> {
    try {
      await this.#within(START_MS, () => this.#ready(dimensions))
    } catch (thrown) {
      const fault = this.#faultOf(thrown)
      if (fault.kind === 'unfit') throw fault
      this.#searches.failed(fault.message)
    }
  }

  async search(partition: string, vector: Float32Array): Promise<readonly SimilarEntry[]> {
    if (!this.#searches.admit()) throw new VectorStoreFault('failed', 'it failed a moment ago')
    try {
      const found = await this.#within(this.#options.timeout_ms, signal => this.#search(partition, vector, signal))
      this.#searches.succeeded()
      return found
    } catch (thrown) {
      const fault = this.#faultOf(thrown)
      this.#options.onEvent('search_failed', 1)
      this.#searches.failed(fault.message)
      throw fault
    }
  }

  add(entry: NewSimilarEntry): void {
    const {now} = this.#options
    const point = this.#entries.close(entry)
    this.#removed.forget(entry.partition, point.id)
    this.#writes.add({kind: 'put', point})
    if (now() < this.#prunes_at_ms) return
    this.#prunes_at_ms = now() + PRUNE_EVERY_MS
    this.#writes.add({kind: 'prune'})
  }

  remove(partition: string, ids: readonly number[]): void {
    if (ids.length === 0) return
    this.#removed.add(partition, ids, this.#options.now())
    this.#writes.add({kind: 'delete', ids})
  }

  /** Waits a little for what is to be written; the rest is lost, which is a miss each. */
  close(): Promise<void> {
    return this.#writes.close(CLOSE_MS)
  }

  async #search(partition: string, vector: Float32Array, signal: AbortSignal): Promise<readonly SimilarEntry[]> {
    const {wire, now, onEvent} = this.#options
    const {has_cosines} = await this.#ready(vector.length)
    const behind = Math.min(has_cosines ? MOST_BEHIND : MOST_BEHIND_WITH_VECTORS, this.#removed.count(partition, now()))
    const most = BEST + behind
    const place = this.#entries.placeOf(partition)
    const query = {partition: place, vector, most, now_ms: now(), with_vectors: !has_cosines}
    const found = (await wire.search(query, signal)).slice(0, most)
    const entries = found
      .map(point => this.#entryOf(partition, point, has_cosines ? null : vector))
      .filter(entry => entry !== null)
    if (entries.length < found.length) onEvent('passed_over', found.length - entries.length)
    return entries
      .filter(({id, created_at_ms}) => !this.#removed.has(partition, id, created_at_ms, now()))
      .toSorted((one, other) => other.similarity - one.similarity)
      .slice(0, BEST)
  }

  /** The entry of a point; null for one that is not ours. `compared` is set where the score is no cosine. */
  #entryOf(partition: string, point: FoundPoint, compared: Float32Array | null): SimilarEntry | null {
    const entry = typeof point.sealed === 'string' ? this.#entries.open(partition, point.sealed) : null
    if (!entry || String(point.id) !== String(entry.id)) return null
    const similarity = compared ? similarityOf(point.vector, compared) : point.score
    if (typeof similarity !== 'number' || !(Math.abs(similarity) <= 1 + ROUNDING)) return null
    return {...entry, similarity}
  }

  /** One batch of the queue. */
  async #write(batch: StoreWrite): Promise<void> {
    const {wire, timeout_ms, onEvent} = this.#options
    try {
      if (batch.kind === 'put')
        await this.#within(timeout_ms, async signal => {
          await this.#ready(batch.points[0]!.vector.length)
          await wire.put(batch.points, signal)
        })
      else if (batch.kind === 'delete')
        await this.#within(timeout_ms, async signal => {
          if ((await this.#ready(null)).dimensions !== null) await wire.delete(batch.ids, signal)
        })
      else await this.#prune()
    } catch (thrown) {
      onEvent('write_failed', 1)
      throw this.#faultOf(thrown)
    }
  }

  async #prune(): Promise<void> {
    const {wire, now, timeout_ms} = this.#options
    for (let round = 0; round < PRUNE_ROUNDS; round++) {
      const has_more = await this.#within(timeout_ms, async signal => {
        const {dimensions} = await this.#ready(null)
        return dimensions !== null && (await wire.prune(now(), PRUNE_SLICE, signal))
      })
      if (!has_more) return
    }
  }

  /** The collection, for vectors of this length. It is looked at once, and again after a fault. */
  async #ready(dimensions: number | null): Promise<PreparedStore> {
    const prepared = this.#makeReady(dimensions)
    let state = await prepared
    if (state.dimensions === null && dimensions !== null) {
      if (this.#prepared === prepared) this.#prepared = undefined
      state = await this.#makeReady(dimensions)
    }
    if (dimensions === null || state.dimensions === dimensions) return state
    throw new VectorStoreFault('unfit', `its vectors have ${state.dimensions} places, and those of calls ${dimensions}`)
  }

  #makeReady(dimensions: number | null): Promise<PreparedStore> {
    if (this.#prepared) return this.#prepared
    this.#is_preparing = true
    const {wire, prepare_ms = PREPARE_MS} = this.#options
    const prepared = this.#within(prepare_ms, signal => wire.makeReady(dimensions, signal)).finally(() => {
      this.#is_preparing = false
    })
    this.#prepared = prepared
    prepared.catch(() => {
      if (this.#prepared === prepared) this.#prepared = undefined
    })
    return prepared
  }

  /** The collection may be gone, or another one: it is looked at again. */
  #faultOf(thrown: unknown): VectorStoreFault {
    if (!this.#is_preparing) this.#prepared = undefined
    return storeFaultOf(thrown)
  }

  /** Rejects at the deadline, whatever the work does with its signal. */
  async #within<T>(timeout_ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ended = new AbortController()
    const {promise: late, reject} = Promise.withResolvers<never>()
    const cancel = this.#after(timeout_ms, () => {
      const fault = new VectorStoreFault('failed', NO_ANSWER)
      reject(fault)
      ended.abort(fault)
    })
    try {
      return await Promise.race([work(ended.signal), late])
    } finally {
      cancel()
    }
  }
}

/** The cosine of a vector that a store gave; NaN where it is none of this length. */
function similarityOf(vector: unknown, compared: Float32Array): number {
  const unit = Array.isArray(vector) ? unitVector(vector) : null
  return unit ? cosine(unit, compared) : Number.NaN
}
