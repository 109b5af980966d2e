import type {After} from '../../base/delay.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import {McpFault} from '../wire/faults.ts'

/** The clock of waits: it is never set, and tests move it. */
export interface WaitClock {
  readonly steady: () => number
  readonly after: After
}

export interface DeadlineTimes {
  readonly total_ms: number
  readonly idle_ms: number
  readonly first_byte_ms?: number
}

/** A question waits so long for its answer before its call's time runs again. */
const MOST_HELD_MS = 600_000

/** Time that runs out, that can be stopped and begun again. A timer is set no more often than it fires. */
export class Countdown {
  readonly #clock: WaitClock
  readonly #ms: number
  readonly #run: () => void
  #left_ms: number
  /** Null while it is stopped. */
  #ends_at: number | null = null
  #callOff: (() => void) | null = null

  constructor(clock: WaitClock, ms: number, run: () => void) {
    this.#clock = clock
    this.#ms = ms
    this.#left_ms = ms
    this.#run = run
  }

  start(): void {
    if (this.#ends_at !== null) return
    this.#ends_at = this.#clock.steady() + this.#left_ms
    if (!this.#callOff) this.#arm(this.#left_ms)
  }

  stop(): void {
    if (this.#ends_at === null) return
    this.#left_ms = Math.max(0, this.#ends_at - this.#clock.steady())
    this.#ends_at = null
  }

  /** The whole time is left again. */
  refill(): void {
    this.#left_ms = this.#ms
    if (this.#ends_at !== null) this.#ends_at = this.#clock.steady() + this.#ms
  }

  clear(): void {
    this.#ends_at = null
    this.#callOff?.()
    this.#callOff = null
  }

  #arm(ms: number) {
    this.#callOff = this.#clock.after(ms, () => {
      this.#callOff = null
      if (this.#ends_at === null) return
      const left_ms = this.#ends_at - this.#clock.steady()
      if (left_ms > 0) return this.#arm(left_ms)
      this.#ends_at = null
      this.#run()
    })
  }
}

/**
 * The deadlines of one request: until the head of the reply, between two messages, and in all. Time that is not the
 * upstream's does not count: the client takes a message (idle), or thinks about a question (both).
 */
export class CallDeadlines {
  readonly #abort = new AbortController()
  readonly #first: Countdown
  readonly #idle: Countdown
  readonly #total: Countdown
  readonly #patience: Countdown
  #has_begun = false
  #is_over = false
  /** Reasons for which the idle time is stopped. */
  #stops = 0
  #held = 0

  constructor(clock: WaitClock, {total_ms, idle_ms, first_byte_ms = idle_ms}: DeadlineTimes, server: string) {
    const late = (deadline: string, limit_ms: number) => () =>
      this.end(new McpFault('upstream_timeout', {server, limit_ms, deadline}))
    this.#first = new Countdown(clock, first_byte_ms, late('first byte', first_byte_ms))
    this.#idle = new Countdown(clock, idle_ms, late('idle', idle_ms))
    this.#total = new Countdown(clock, total_ms, late('total', total_ms))
    this.#patience = new Countdown(clock, MOST_HELD_MS, () => this.#resume())
    this.#first.start()
    this.#total.start()
  }

  /** Aborted with the fault that ended the request. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The head of the reply is here. */
  begun(): void {
    if (this.#has_begun || this.#is_over) return
    this.#has_begun = true
    this.#first.clear()
    if (this.#stops === 0) this.#idle.start()
  }

  /** A message of the upstream came. */
  touched(): void {
    this.#idle.refill()
  }

  /** Does what takes time of others than the upstream. */
  async aside<T>(work: () => MaybePromise<T>): Promise<T> {
    this.#stop()
    try {
      return await work()
    } finally {
      this.#start()
    }
  }

  /** A question waits for its answer. */
  hold(): void {
    if (this.#is_over || this.#held++ > 0) return
    this.#total.stop()
    this.#stop()
    this.#patience.refill()
    this.#patience.start()
  }

  release(): void {
    if (this.#held === 0 || --this.#held > 0) return
    this.#patience.clear()
    this.#run()
  }

  /** Ends the request for a reason; no more than once. */
  end(reason: Error): void {
    this.clear()
    this.#abort.abort(reason)
  }

  /** Frees the timers. */
  clear(): void {
    this.#is_over = true
    this.#held = 0
    for (const each of [this.#first, this.#idle, this.#total, this.#patience]) each.clear()
  }

  #resume() {
    this.#held = 0
    this.#run()
  }

  #run() {
    if (this.#is_over) return
    this.#total.start()
    this.#start()
  }

  #stop() {
    if (this.#stops++ === 0) this.#idle.stop()
  }

  #start() {
    if (--this.#stops > 0 || this.#is_over) return
    this.#idle.refill()
    if (this.#has_begun) this.#idle.start()
  }
}

/** Waits; rejects with the reason of `signal` when that is aborted. */
export async function pause(clock: WaitClock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const done = Promise.withResolvers<void>()
  const callOff = clock.after(ms, done.resolve)
  const abort = () => done.reject(signal.reason)
  signal.addEventListener('abort', abort, {once: true})
  try {
    await done.promise
  } finally {
    callOff()
    signal.removeEventListener('abort', abort)
  }
}
