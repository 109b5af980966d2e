import type {After} from '../../base/delay.ts'
import {VectorStoreFault} from './fault.ts'
import {NO_ANSWER, storeFaultOf} from './http.ts'
import type {PreparedStore, StoreWire} from './wire.ts'

export interface StoreCollectionOptions {
  readonly wire: Pick<StoreWire, 'makeReady'>
  readonly after: After
  /** How long looking at the collection, or making it, may take; searches do not wait for the end of it. */
  readonly prepare_ms?: number | undefined
}

const PREPARE_MS = 10_000

/** The collection of a store, as far as it is known, and requests to it within their deadlines. */
export class StoreCollection {
  readonly #options: StoreCollectionOptions
  #prepared: Promise<PreparedStore> | undefined
  #is_preparing = false

  constructor(options: StoreCollectionOptions) {
    this.#options = options
  }

  /** The collection, for vectors of this length. It is looked at once, and again after a fault. */
  async ready(dimensions: number | null): Promise<PreparedStore> {
    const prepared = this.#makeReady(dimensions)
    let state = await prepared
    if (state.dimensions === null && dimensions !== null) {
      if (this.#prepared === prepared) this.#prepared = undefined
      state = await this.#makeReady(dimensions)
    }
    if (dimensions === null || state.dimensions === dimensions) return state
    throw new VectorStoreFault('unfit', `its vectors have ${state.dimensions} places, and those of calls ${dimensions}`)
  }

  /**
   * Another collection may have been made under the same name, whose scores are no cosines. A store that does not
   * describe it in time is believed to have the one that is known.
   */
  async lookAgain(timeout_ms: number): Promise<void> {
    if (this.#is_preparing || !this.#prepared) return
    try {
      const state = await this.within(timeout_ms, signal => this.#options.wire.makeReady(null, signal))
      this.#prepared = Promise.resolve(state)
    } catch (thrown) {
      const fault = storeFaultOf(thrown)
      if (fault.kind === 'unfit') throw fault
    }
  }

  /** After a fault the collection may be gone, or another one: it is looked at again. */
  faultOf(thrown: unknown): VectorStoreFault {
    if (!this.#is_preparing) this.#prepared = undefined
    return storeFaultOf(thrown)
  }

  /** Rejects at the deadline, whatever the work does with its signal. */
  async within<T>(timeout_ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ended = new AbortController()
    const {promise: late, reject} = Promise.withResolvers<never>()
    const cancel = this.#options.after(timeout_ms, () => {
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

  #makeReady(dimensions: number | null): Promise<PreparedStore> {
    if (this.#prepared) return this.#prepared
    this.#is_preparing = true
    const {wire, prepare_ms = PREPARE_MS} = this.#options
    const prepared = this.within(prepare_ms, signal => wire.makeReady(dimensions, signal)).finally(() => {
      this.#is_preparing = false
    })
    this.#prepared = prepared
    prepared.catch(() => {
      if (this.#prepared === prepared) this.#prepared = undefined
    })
    return prepared
  }
}
