import type {After} from '../../base/delay.ts'
import type {StoreBreaker} from './breaker.ts'
import {VectorStoreFault} from './fault.ts'
import type {StoredPoint} from './wire.ts'

type Queued =
  | {readonly kind: 'put'; readonly point: StoredPoint}
  | {readonly kind: 'delete'; readonly ids: readonly number[]}
  | {readonly kind: 'prune'}

/** One request's worth of them. */
export type StoreWrite =
  | {readonly kind: 'put'; readonly points: readonly StoredPoint[]}
  | Exclude<Queued, {readonly kind: 'put'}>

export interface WriteQueueOptions {
  readonly after: After
  /** Of writes, and of deleting what has ended: a store may refuse either alone. */
  readonly breakers: Readonly<Record<'write' | 'prune', StoreBreaker>>
  readonly write: (batch: StoreWrite) => Promise<void>
  /** Called with how many entries were not written, or not deleted. */
  readonly onDropped: (writes: number) => void
}

const MAX_WAITING = 1_000
const MOST_POINTS = 50
/** Floats of one request; as text they are below 1 MB, and the least bound of a store is 2 MB. */
const MOST_PLACES = 65_536

/** Writes to a store, one request after another, in their order. They are lost where the store fails. */
export class WriteQueue {
  readonly #options: WriteQueueOptions
  #waiting: Queued[] = []
  #working: Promise<void> | undefined
  #is_closed = false

  constructor(options: WriteQueueOptions) {
    this.#options = options
  }

  add(write: Queued): void {
    if (this.#is_closed || this.#waiting.length >= MAX_WAITING) return this.#options.onDropped(entriesOf(write))
    this.#waiting.push(write)
    this.#working ??= this.#work()
  }

  /** Waits for what is there, `most_ms` at most. */
  async settled(most_ms: number): Promise<void> {
    const {promise: late, resolve} = Promise.withResolvers<void>()
    const cancel = this.#options.after(most_ms, resolve)
    await Promise.race([this.#working, late])
    cancel()
  }

  /** Takes no more, and waits for what is there. */
  async close(most_ms: number): Promise<void> {
    this.#is_closed = true
    await this.settled(most_ms)
    this.#drop(this.#waiting.splice(0))
  }

  async #work(): Promise<void> {
    const {breakers, write} = this.#options
    await null // what is added in the same turn is one request
    while (this.#waiting.length > 0) {
      const taken = this.#take()
      const breaker = breakers[taken[0]?.kind === 'prune' ? 'prune' : 'write']
      if (!breaker.admit()) {
        this.#drop(taken)
        continue
      }
      try {
        await write(batchOf(taken))
        breaker.succeeded()
      } catch (fault) {
        this.#drop(taken)
        breaker.failed(fault instanceof VectorStoreFault ? fault.message : 'it failed')
      }
    }
    this.#working = undefined
  }

  /** The first, and what goes into one request with it: an id is in it once, by its last point. */
  #take(): Queued[] {
    const [first] = this.#waiting
    let count = 1
    if (first?.kind === 'put') {
      const places = first.point.vector.length
      const most = Math.max(1, Math.min(MOST_POINTS, Math.floor(MOST_PLACES / places)))
      const isAlike = (next: Queued | undefined) => next?.kind === 'put' && next.point.vector.length === places
      while (count < most && isAlike(this.#waiting[count])) count++
    }
    return this.#waiting.splice(0, count)
  }

  #drop(writes: readonly Queued[]): void {
    const dropped = writes.reduce((sum, write) => sum + entriesOf(write), 0)
    if (dropped > 0) this.#options.onDropped(dropped)
  }
}

function batchOf(taken: readonly Queued[]): StoreWrite {
  const points = new Map<number, StoredPoint>()
  for (const write of taken) {
    if (write.kind !== 'put') return write
    points.set(write.point.id, write.point)
  }
  return {kind: 'put', points: [...points.values()]}
}

function entriesOf(write: Queued): number {
  if (write.kind === 'put') return 1
  return write.kind === 'delete' ? write.ids.length : 0
}
