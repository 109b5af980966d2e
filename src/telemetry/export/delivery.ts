import type {After} from '../../base/delay.ts'
import type {SendOutcome} from './outcome.ts'

/** How an export went, for /metrics. */
export interface ExportCounts {
  /** Spans, records or points that a receiver took. */
  sent: number
  /** Rejected by a receiver that took the rest of a request. */
  rejected: number
  /** Refused, or too large by themselves. */
  refused: number
  /** Passed over, as too much waited. */
  dropped: number
  /** Requests that failed, and were made again. */
  failures: number
}

export const noCounts = (): ExportCounts => ({sent: 0, rejected: 0, refused: 0, dropped: 0, failures: 0})

export interface DeliveryOptions<T> {
  /** The body before compression: receivers bound that. */
  readonly encode: (items: readonly T[]) => Buffer
  readonly send: (body: Buffer, signal: AbortSignal) => Promise<SendOutcome>
  readonly most_items: number
  readonly counts: ExportCounts
  readonly now: () => number
  readonly after: After
  /** From 0 to 1. */
  readonly random: () => number
  readonly warn: (text: string, facts: Readonly<Record<string, string | number>>) => void
  /** How long one batch is tried; without it as long as it is wanted. */
  readonly most_ms?: number
}

const MOST_BYTES = 2 << 20
const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 60_000
const LEAST_REST_MS = 500
const WARN_EVERY_MS = 60_000
/** After so long a size that was too large is tried again, doubled. */
const WIDEN_EVERY_MS = 600_000

/** Brings items to a receiver, one request at a time, each as often as it takes. */
export class Delivery<T> {
  readonly #options: DeliveryOptions<T>
  readonly #stopped = new AbortController()
  #most_bytes = MOST_BYTES
  #narrowed_at_ms = 0
  #failures = 0
  #warned_at_ms = Number.NEGATIVE_INFINITY
  /** A time of rest that a receiver named, or that follows its failure, and the end of its timer. */
  #uncount: (() => void) | undefined
  #wake: (() => void) | undefined

  constructor(options: DeliveryOptions<T>) {
    this.#options = options
  }

  /** True while it waits for the time of another try. */
  get isWaiting(): boolean {
    return this.#wake !== undefined
  }

  /**
   * How many of them are left: 0 when all are taken, or never will be; more when it was stopped, or they are wanted no
   * more (`isWanted`, behind each failure and each wait).
   */
  async deliver(items: readonly T[], isWanted: () => boolean): Promise<number> {
    const {most_ms, after} = this.#options
    // it is given up in time, whatever the receiver says of its rest
    const cancel = most_ms === undefined ? () => {} : after(most_ms, () => this.#wake?.())
    try {
      return await this.#deliver(items, isWanted)
    } finally {
      cancel()
    }
  }

  async #deliver(items: readonly T[], isWanted: () => boolean): Promise<number> {
    const {most_items, now, most_ms = Number.POSITIVE_INFINITY, counts} = this.#options
    const until_ms = now() + most_ms
    const waiting: (readonly T[])[] = []
    for (let at = items.length; at > 0; at -= most_items) waiting.push(items.slice(Math.max(0, at - most_items), at))
    while (waiting.length > 0) {
      const next = waiting.pop()!
      const result = await this.#try(next)
      if (result === 'halve') waiting.push(next.slice(next.length >> 1), next.slice(0, next.length >> 1))
      if (result !== 'again') continue
      waiting.push(next)
      const left = waiting.reduce((sum, {length}) => sum + length, 0)
      if (this.#stopped.signal.aborted || !isWanted()) return left
      if (now() < until_ms) continue
      counts.refused += left
      this.#warn('telemetry was tried for too long and is dropped', {items: next.length})
      return 0
    }
    return 0
  }

  /** Looks again, in a wait, at what is wanted; the receiver has the rest that it wants. */
  recheck(): void {
    this.#wake?.()
  }

  /** Ends waiting, and the request in progress. */
  stop(): void {
    this.#stopped.abort()
    this.#uncount?.()
    this.#wake?.()
  }

  async #try(items: readonly T[]): Promise<'done' | 'halve' | 'again'> {
    if (items.length === 0) return 'done'
    if (this.#stopped.signal.aborted) return 'again'
    if (this.#uncount) {
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
      this.#wake = undefined
      return 'again'
    }
    const {encode, send, counts} = this.#options
    const body = encode(items)
    if (body.length > this.#bound && items.length > 1) return 'halve'
    const outcome = await send(body, this.#stopped.signal)
    if (outcome.kind === 'taken') {
      this.#failures = 0
      // it may say any number
      const rejected = Math.min(items.length, outcome.rejected)
      counts.sent += items.length - rejected
      counts.rejected += rejected
      if (rejected > 0) this.#warn('the collector rejected a part of the telemetry', {rejected})
      return 'done'
    }
    if (outcome.kind === 'later') {
      counts.failures++
      this.#rest(outcome.after_ms ?? this.#backoff(), outcome.reason)
      return 'again'
    }
    if (outcome.kind === 'too_large' && items.length > 1) {
      this.#most_bytes = Math.max(1, body.length >> 1)
      this.#narrowed_at_ms = this.#options.now()
      return 'halve'
    }
    counts.refused += items.length
    this.#warn('the collector refused telemetry, which is dropped', {reason: outcome.reason, items: items.length})
    return 'done'
  }

  get #bound(): number {
    const {now} = this.#options
    while (this.#most_bytes < MOST_BYTES && now() - this.#narrowed_at_ms >= WIDEN_EVERY_MS) {
      this.#most_bytes = Math.min(MOST_BYTES, this.#most_bytes * 2)
      this.#narrowed_at_ms += WIDEN_EVERY_MS
    }
    return this.#most_bytes
  }

  /** 1 s doubled to 60 s, and a fifth more or less. */
  #backoff(): number {
    const {random} = this.#options
    const ms = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(this.#failures++, 10))
    return Math.round(ms * (0.8 + 0.4 * random()))
  }

  /** A receiver that says 0 is not tried in a circle. */
  #rest(given_ms: number, reason: string): void {
    if (this.#stopped.signal.aborted) return
    const ms = Math.max(LEAST_REST_MS, given_ms)
    this.#warn('the collector takes no telemetry now; it waits and is tried again', {reason, after_ms: ms})
    const cancel = this.#options.after(ms, () => {
      this.#uncount = undefined
      this.#wake?.()
    })
    this.#uncount = () => {
      cancel()
      this.#uncount = undefined
    }
  }

  #warn(text: string, facts: Readonly<Record<string, string | number>>): void {
    const {now, warn} = this.#options
    if (now() - this.#warned_at_ms < WARN_EVERY_MS) return
    this.#warned_at_ms = now()
    warn(text, facts)
  }
}
