import {type After, after as byTimer} from '../../base/delay.ts'
import type {Seal} from '../../base/seal.ts'
import type {KeptAnswers} from '../../ports/cache/index.ts'
import {isMeant} from '../../ports/cache/kept-page.ts'
import type {KeptEntry, KeptFilter} from '../../schema/cache.ts'
import type {Page, Paged} from '../../schema/paging.ts'
import {cosine, unitVector} from '../semantic/vector.ts'
import type {NewSimilarEntry, SimilarEntry, VectorStore} from '../semantic/vector-store.ts'
import {StoreBreaker} from './breaker.ts'
import {StoreCollection} from './collection.ts'
import {VectorStoreFault} from './fault.ts'
import {type OwnEntry, ownEntries, pageOfOwn} from './own-entries.ts'
import {RemovedEntries} from './removed-entries.ts'
import {EntrySeal} from './sealed-entry.ts'
import type {FoundPoint, PointScan, StoreWire} from './wire.ts'
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
  /** How long a whole list of entries, or a clearing, may take. */
  readonly administer_ms?: number
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
/** The first look at the store holds up the start of the process for no longer. */
const START_MS = 5_000
const CLOSE_MS = 2_000
const SETTLE_MS = 5_000
const ADMINISTER_MS = 60_000
const PRUNE_EVERY_MS = 60_000
const PRUNE_SLICE = 200
const PRUNE_ROUNDS = 10
const ROUNDING = 1e-3

/**
 * Vectors in a store outside, which several processes share. Searches wait for it until their deadline, and writes are
 * made after the call. It is not trusted: what it has is sealed, and what it finds is checked.
 */
export class RemoteVectors implements VectorStore, KeptAnswers {
  readonly #options: RemoteVectorsOptions
  readonly #collection: StoreCollection
  readonly #entries: EntrySeal
  readonly #removed = new RemovedEntries()
  readonly #searches: StoreBreaker
  readonly #writes: WriteQueue
  #prunes_at_ms = Number.NEGATIVE_INFINITY
  #closing: Promise<void> | undefined
  #administered: Promise<unknown> = Promise.resolve()

  constructor(options: RemoteVectorsOptions) {
    this.#options = options
    const {now, onEvent, onDown, onUp, after = byTimer} = options
    this.#collection = new StoreCollection({...options, after})
    const breaker = (of: VectorStoreWork) =>
      new StoreBreaker({now, onDown: reason => onDown(of, reason), onUp: () => onUp(of)})
    this.#entries = new EntrySeal(options.seal)
    this.#searches = breaker('search')
    this.#writes = new WriteQueue({
      after,
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
      await this.#collection.within(START_MS, () => this.#collection.ready(dimensions))
    } catch (thrown) {
      const fault = this.#collection.faultOf(thrown)
      if (fault.kind === 'unfit') throw fault
      this.#searches.failed(fault.message)
    }
  }

  async search(partition: string, vector: Float32Array): Promise<readonly SimilarEntry[]> {
    if (!this.#searches.admit()) throw new VectorStoreFault('failed', 'it failed a moment ago')
    try {
      const {timeout_ms} = this.#options
      const found = await this.#collection.within(timeout_ms, signal => this.#search(partition, vector, signal))
      this.#searches.succeeded()
      return found
    } catch (thrown) {
      const fault = this.#collection.faultOf(thrown)
      this.#options.onEvent('search_failed', 1)
      this.#searches.failed(fault.message)
      throw fault
    }
  }

  add(entry: NewSimilarEntry): void {
    const {now} = this.#options
    const point = this.#entries.close(entry)
    this.#removed.forget(point.partition, point.id)
    this.#writes.add({kind: 'put', point})
    if (now() < this.#prunes_at_ms) return
    this.#prunes_at_ms = now() + PRUNE_EVERY_MS
    this.#writes.add({kind: 'prune'})
  }

  remove(partition: string, ids: readonly number[]): void {
    if (ids.length === 0) return
    this.#removed.add(this.#entries.placeOf(partition), ids, this.#options.now())
    this.#writes.add({kind: 'delete', ids})
  }

  /** Entries of this house, as far as the store shows them. Rejects where it fails. */
  list(filter: KeptFilter, page: Page): Promise<Paged<KeptEntry>> {
    return this.#administer(own => pageOfOwn(own, filter, page), {total: 0, rows: []})
  }

  /** Deletes entries of this house; how many there were. What waits to be written is written before. */
  async clear(filter: KeptFilter): Promise<number> {
    await this.settled()
    return this.#administer(async own => {
      let cleared = 0
      for await (const page of own) cleared += await this.#clear(page.filter(({kept}) => isMeant(kept, filter)))
      return cleared
    }, 0)
  }

  settled(): Promise<void> {
    return this.#writes.settled(SETTLE_MS)
  }

  /** Waits a little for what is to be written; the rest is lost, which is a miss each. */
  close(): Promise<void> {
    this.#closing ??= this.#writes.close(CLOSE_MS)
    return this.#closing
  }

  /** One after another: each reads the whole collection. */
  async #administer<T>(work: (own: AsyncIterable<readonly OwnEntry[]>) => Promise<T>, none: T): Promise<T> {
    const {wire, now, timeout_ms, administer_ms = ADMINISTER_MS} = this.#options
    const collection = this.#collection
    const read = async (whole: AbortSignal) => {
      whole.throwIfAborted()
      const {dimensions} = await collection.ready(null)
      if (dimensions === null) return none
      const scan = (page: PointScan) => collection.within(timeout_ms, signal => wire.scan(page, signal))
      return work(ownEntries({entries: this.#entries, scan, now_ms: now(), dimensions, signal: whole}))
    }
    try {
      return await collection.within(administer_ms, whole => {
        const done = this.#administered.then(() => read(whole))
        this.#administered = done.catch(() => undefined)
        return done
      })
    } catch (thrown) {
      const fault = this.#collection.faultOf(thrown)
      if (fault.kind === 'gone') return none
      throw fault
    }
  }

  async #clear(entries: readonly OwnEntry[]): Promise<number> {
    if (entries.length === 0) return 0
    const {wire, now, timeout_ms} = this.#options
    const ids = entries.map(({id}) => id)
    await this.#collection.within(timeout_ms, signal => wire.delete(ids, signal))
    for (const {id, place} of entries) this.#removed.add(place, [id], now())
    return entries.length
  }

  async #search(partition: string, vector: Float32Array, signal: AbortSignal): Promise<readonly SimilarEntry[]> {
    const {wire, now, onEvent} = this.#options
    const {has_cosines} = await this.#collection.ready(vector.length)
    const place = this.#entries.placeOf(partition)
    const behind = Math.min(has_cosines ? MOST_BEHIND : MOST_BEHIND_WITH_VECTORS, this.#removed.count(place, now()))
    const most = BEST + behind
    const query = {partition: place, vector, most, now_ms: now(), with_vectors: !has_cosines}
    const found = (await wire.search(query, signal)).slice(0, most)
    const entries = found
      .map(point => this.#entryOf({partition, place}, point, has_cosines ? null : vector))
      .filter(entry => entry !== null)
    if (entries.length < found.length) onEvent('passed_over', found.length - entries.length)
    return entries
      .filter(({id, created_at_ms}) => !this.#removed.has(place, id, created_at_ms, now()))
      .toSorted((one, other) => other.similarity - one.similarity)
      .slice(0, BEST)
  }

  /** The entry of a point; null for one that is not ours. `compared` is set where the score is no cosine. */
  #entryOf(of: SearchedPlace, point: FoundPoint, compared: Float32Array | null): SimilarEntry | null {
    const opened = typeof point.sealed === 'string' ? this.#entries.open(of.place, point.sealed) : null
    if (!opened || String(point.id) !== String(opened.id)) return null
    const similarity = compared ? similarityOf(point.vector, compared) : point.score
    if (typeof similarity !== 'number' || !(Math.abs(similarity) <= 1 + ROUNDING)) return null
    return {...opened.entry, id: opened.id, partition: of.partition, similarity}
  }

  /** One batch of the queue. */
  async #write(batch: StoreWrite): Promise<void> {
    const {wire, timeout_ms, onEvent} = this.#options
    try {
      if (batch.kind === 'put')
        await this.#collection.within(timeout_ms, async signal => {
          await this.#collection.ready(batch.points[0]!.vector.length)
          await wire.put(batch.points, signal)
        })
      else if (batch.kind === 'delete')
        await this.#collection.within(timeout_ms, async signal => {
          if ((await this.#collection.ready(null)).dimensions !== null) await wire.delete(batch.ids, signal)
        })
      else await this.#prune()
    } catch (thrown) {
      const fault = this.#collection.faultOf(thrown)
      // with the collection went all that was to be deleted of it
      if (fault.kind === 'gone' && batch.kind !== 'put') return
      onEvent('write_failed', 1)
      throw fault
    }
  }

  async #prune(): Promise<void> {
    const {wire, now, timeout_ms} = this.#options
    await this.#collection.lookAgain(timeout_ms)
    for (let round = 0; round < PRUNE_ROUNDS; round++) {
      const has_more = await this.#collection.within(timeout_ms, async signal => {
        const {dimensions} = await this.#collection.ready(null)
        return dimensions !== null && (await wire.prune(now(), PRUNE_SLICE, signal))
      })
      if (!has_more) return
    }
  }
}

/** A partition, and its name outside. */
interface SearchedPlace {
  readonly partition: string
  readonly place: string
}

/** The cosine of a vector that a store gave; NaN where it is none of this length. */
function similarityOf(vector: unknown, compared: Float32Array): number {
  const unit = Array.isArray(vector) ? unitVector(vector) : null
  return unit ? cosine(unit, compared) : Number.NaN
}
