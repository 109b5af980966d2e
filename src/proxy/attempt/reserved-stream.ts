import type {Dispatcher} from 'undici'
import type {Refusal} from '../../base/errors.ts'
import type {Reservation, StreamProgress} from '../call/reservation.ts'
import type {Times} from './timeouts.ts'

/** What a passage tells its attempt. */
export interface ReservedStreamListener {
  pass(send: Buffer, hold: Buffer | null): void
  /** What has come cannot be held: it goes no further. */
  end(fault: Refusal): void
}

/** Bytes of a stream under a strict limit, on their way to the client: none passes before what it came to is held. */
export class ReservedStream {
  readonly #holding: Reservation
  readonly #stream: StreamProgress
  readonly #provider: Dispatcher.DispatchController
  readonly #times: Times
  readonly #ears: ReservedStreamListener
  #queue: {readonly send: Buffer; readonly hold: Buffer | null}[] = []
  #after: (() => void) | undefined
  /** True while an answer of the counters is awaited. */
  waits = false

  constructor(
    holding: Reservation,
    stream: StreamProgress,
    provider: Dispatcher.DispatchController,
    times: Times,
    ears: ReservedStreamListener,
  ) {
    this.#holding = holding
    this.#stream = stream
    this.#provider = provider
    this.#times = times
    this.#ears = ears
  }

  take(send: Buffer, hold: Buffer | null): void {
    if (this.waits) return void this.#queue.push({send, hold})
    const reached = this.#holding.reach(this.#stream)
    if (reached === null) return this.#ears.pass(send, hold)
    if (!(reached instanceof Promise)) return this.#ears.end(reached)
    this.waits = true
    this.#queue.push({send, hold})
    this.#provider.pause()
    void reached.then(refusal => this.#heard(refusal))
  }

  /** Runs `then` once nothing waits any more. */
  end(then: () => void): void {
    if (this.waits) this.#after = then
    else then()
  }

  #heard(refusal: Refusal | null) {
    this.waits = false
    const queue = this.#queue
    this.#queue = []
    if (refusal) return this.#ears.end(refusal)
    // the stream has come to all of the queue by now, and so is asked for all of it at its next piece
    for (const {send, hold} of queue) {
      if (this.waits) this.#queue.push({send, hold})
      else this.take(send, hold)
    }
    if (this.waits) return
    if (!this.#times.paused_at) this.#provider.resume()
    const after = this.#after
    this.#after = undefined
    after?.()
  }
}
