import type {Refusal} from '../../base/errors.ts'
import type {Reservation, StreamProgress} from '../call/reservation.ts'
import type {Times} from './timeouts.ts'

export interface ReservedStreamListener {
  pass(send: Buffer, hold: Buffer | null): void
  /** What has come cannot be reserved: it goes no further. */
  cutOff(fault: Refusal): void
}

/** What sends the bytes: it can be paused and resumed. */
interface Source {
  pause(): void
  resume(): void
}

/** A stream under a strict limit, on its way to the client: no byte passes before its usage is reserved. */
export class ReservedStream {
  readonly #reservation: Reservation
  readonly #stream: StreamProgress
  readonly #source: Source
  readonly #times: Times
  readonly #listener: ReservedStreamListener
  #queue: {readonly send: Buffer; readonly hold: Buffer | null}[] = []
  #then: (() => void) | undefined
  /** True while the counters have not replied. */
  is_waiting = false

  constructor(reservation: Reservation, stream: StreamProgress, source: Source, times: Times, listener: ReservedStreamListener) {
    this.#reservation = reservation
    this.#stream = stream
    this.#source = source
    this.#times = times
    this.#listener = listener
  }

  take(send: Buffer, hold: Buffer | null): void {
    if (this.is_waiting) return void this.#queue.push({send, hold})
    const extended = this.#reservation.reach(this.#stream)
    if (extended === null) return this.#listener.pass(send, hold)
    if (!(extended instanceof Promise)) return this.#listener.cutOff(extended)
    this.is_waiting = true
    this.#queue.push({send, hold})
    this.#source.pause()
    void extended.then(refusal => this.#onExtended(refusal))
  }

  /** Runs `then` once nothing waits any more. */
  end(then: () => void): void {
    if (this.is_waiting) this.#then = then
    else then()
  }

  #onExtended(refusal: Refusal | null) {
    this.is_waiting = false
    const queue = this.#queue
    this.#queue = []
    if (refusal) return this.#listener.cutOff(refusal)
    // the stream's progress covers the whole queue by now: its next piece reserves for all of it
    for (const {send, hold} of queue) {
      if (this.is_waiting) this.#queue.push({send, hold})
      else this.take(send, hold)
    }
    if (this.is_waiting) return
    if (!this.#times.paused_at) this.#source.resume()
    const then = this.#then
    this.#then = undefined
    then?.()
  }
}
