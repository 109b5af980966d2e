import type {Refusal} from '../../base/errors.ts'
import {MAX_EVENT_BYTES} from '../../base/sse.ts'
import type {Reservation, StreamProgress} from '../call/work.ts'
import type {Stream} from '../upstream/stream.ts'
import type {Times} from './timeouts.ts'

export interface ReservedStreamListener {
  pass(send: Buffer, hold: Buffer | null): void
  /** The bytes that came cannot be reserved: they are not sent. */
  cutOff(fault: Refusal): void
}

/** The sender of the bytes: it can be paused and resumed. */
interface Source {
  pause(): void
  resume(): void
}

const NOTHING = Buffer.alloc(0)

/**
 * A stream under a strict limit, sent to the client: no byte passes before its usage is reserved. An event counts when
 * it is whole, so its first bytes are kept back until then. One that is longer than any that is read counts a token a
 * byte, as it comes.
 */
export class ReservedStream {
  readonly #reservation: Reservation
  readonly #stream: Stream
  readonly #source: Source
  readonly #times: Times
  readonly #listener: ReservedStreamListener
  #queue: {readonly send: Buffer; readonly hold: Buffer | null}[] = []
  /** The bytes that pass when the counters have replied. */
  #next: {readonly send: Buffer; readonly hold: Buffer | null} | undefined
  #then: (() => void) | undefined
  /** The first bytes of an event that is not whole yet. */
  #kept: Buffer[] = []
  #kept_bytes = 0
  /** Of events that are too long to be read: how often some of their bytes came, and how many. */
  #unread_pieces = 0
  #unread_bytes = 0
  /** True while the counters have not replied. */
  is_waiting = false

  constructor(
    reservation: Reservation,
    stream: Stream,
    source: Source,
    times: Times,
    listener: ReservedStreamListener,
  ) {
    this.#reservation = reservation
    this.#stream = stream
    this.#source = source
    this.#times = times
    this.#listener = listener
  }

  take(send: Buffer, hold: Buffer | null): void {
    if (this.is_waiting) return void this.#queue.push({send, hold})
    const whole = hold === null ? this.#wholeEvents(send) : this.#withKept(send)
    if (whole.length === 0 && send.length > 0 && hold === null) return
    this.#reserve(whole, hold)
  }

  /** False when it goes no further. */
  #reserve(send: Buffer, hold: Buffer | null): boolean {
    const extended = this.#reservation.reach(this.#progress)
    if (extended === null) this.#listener.pass(send, hold)
    else if (!(extended instanceof Promise)) {
      this.#listener.cutOff(extended)
      return false
    } else {
      this.is_waiting = true
      this.#next = {send, hold}
      this.#source.pause()
      void extended.then(refusal => this.#onExtended(refusal))
    }
    return true
  }

  /** Runs `then` once nothing waits any more. */
  wait(then: () => void): void {
    if (this.is_waiting) this.#then = then
    else then()
  }

  /**
   * The stream has ended, and with it the event that was kept back: `then` with all that is left, once that is
   * reserved.
   */
  end(rest: Buffer, then: (rest: Buffer) => void): void {
    const last = this.#withKept(rest)
    const decided = (refusal: Refusal | null) => (refusal ? this.#listener.cutOff(refusal) : then(last))
    const extended = last.length > 0 ? this.#reservation.reach(this.#progress) : null
    if (extended instanceof Promise) void extended.then(decided)
    else decided(extended)
  }

  get #progress(): StreamProgress {
    const {pieces, most_tokens, usage} = this.#stream
    if (this.#unread_pieces === 0) return this.#stream
    return {pieces: pieces + this.#unread_pieces, most_tokens: most_tokens + this.#unread_bytes, usage}
  }

  /** The kept bytes and `send`, without the incomplete event at the end: that is kept. */
  #wholeEvents(send: Buffer): Buffer {
    const {open_bytes} = this.#stream
    const length = this.#kept_bytes + send.length
    if (open_bytes === Number.POSITIVE_INFINITY && length > MAX_EVENT_BYTES) {
      this.#unread_pieces++
      this.#unread_bytes += length
      return this.#withKept(send)
    }
    if (open_bytes === 0) return this.#withKept(send)
    if (open_bytes >= length) {
      this.#keep(send)
      return NOTHING
    }
    const bytes = this.#withKept(send)
    this.#keep(bytes.subarray(bytes.length - open_bytes))
    return bytes.subarray(0, bytes.length - open_bytes)
  }

  #keep(bytes: Buffer) {
    if (bytes.length > 0) this.#kept.push(bytes)
    this.#kept_bytes += bytes.length
  }

  #withKept(send: Buffer): Buffer {
    if (this.#kept_bytes === 0) return send
    const bytes = Buffer.concat([...this.#kept, send])
    this.#kept = []
    this.#kept_bytes = 0
    return bytes
  }

  #onExtended(refusal: Refusal | null) {
    this.is_waiting = false
    const queue = this.#queue
    const next = this.#next!
    this.#queue = []
    this.#next = undefined
    if (refusal) return this.#listener.cutOff(refusal)
    if (!this.#reserve(next.send, next.hold)) return
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
