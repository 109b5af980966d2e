import {McpFault} from '../wire/faults.ts'
import {Countdown, pause, type WaitClock} from './deadlines.ts'
import type {IncomingReply} from './http.ts'
import {eventsOf, formOf, messagesIn} from './replies.ts'
import type {MessageTaker} from './wire-parts.ts'

/** Pauses after a GET that failed, or whose stream ended at once: each doubles the one before. */
const FIRST_PAUSE_MS = 1_000
const MOST_PAUSE_MS = 60_000
/** A stream that ends earlier is none. */
const AT_ONCE_MS = 1_000
/** A stream without a byte for so long is taken for dead. */
export const MOST_SILENCE_MS = 300_000
/** Statuses of the moment; any other refusal holds for the session. */
const LATER: ReadonlySet<number> = new Set([401, 403, 408, 409, 425, 429])

export interface StandingParts {
  readonly server: string
  readonly clock: WaitClock
  readonly taker: MessageTaker
  get(last_event_id: string | null, signal: AbortSignal): Promise<IncomingReply>
}

/**
 * The GET stream of a legacy session. It is opened again when it ends, with growing pauses where it ends at once; a
 * server without one is left in peace for the rest of the session.
 */
export class StandingStream {
  readonly #parts: StandingParts
  readonly #abort = new AbortController()
  readonly #settled = Promise.withResolvers<void>()
  #last_id: string | null = null
  #retry_ms: number | null = null
  #is_begun = false
  is_refused = false

  constructor(parts: StandingParts) {
    this.#parts = parts
  }

  /** Resolves when the first GET was answered, or failed. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  get is_begun(): boolean {
    return this.#is_begun
  }

  open(): void {
    if (this.#is_begun || this.#abort.signal.aborted) return
    this.#is_begun = true
    void this.#run()
  }

  close(): void {
    this.#settled.resolve()
    this.#abort.abort()
  }

  async #run() {
    const {clock} = this.#parts
    const {signal} = this.#abort
    let pause_ms = FIRST_PAUSE_MS
    while (!signal.aborted && !this.is_refused) {
      const lasted_ms = await this.#once()
      this.#settled.resolve()
      if (signal.aborted || this.is_refused) return
      const is_sound = lasted_ms !== null && lasted_ms >= AT_ONCE_MS
      const wait_ms = is_sound ? Math.max(this.#retry_ms ?? 0, FIRST_PAUSE_MS) : pause_ms
      pause_ms = is_sound ? FIRST_PAUSE_MS : Math.min(pause_ms * 2, MOST_PAUSE_MS)
      await pause(clock, Math.min(wait_ms, MOST_PAUSE_MS), signal).catch(nothing)
    }
  }

  /** Opens it once, and reads it to its end: how long it was open; null when it was not. */
  async #once(): Promise<number | null> {
    const {clock, get} = this.#parts
    const dead = new AbortController()
    const silence = new Countdown(clock, MOST_SILENCE_MS, () => dead.abort())
    silence.start()
    try {
      const reply = await get(this.#last_id, AbortSignal.any([this.#abort.signal, dead.signal]))
      if (!this.#isStream(reply)) {
        reply.settle()
        return null
      }
      this.#settled.resolve()
      const begun_ms = clock.steady()
      await this.#read(reply, () => silence.refill())
      return clock.steady() - begun_ms
    } catch {
      return null
    } finally {
      silence.clear()
    }
  }

  #isStream(reply: IncomingReply): boolean {
    const {status} = reply
    if (status === 200 && formOf(reply) === 'events') return true
    this.is_refused = status < 500 && !LATER.has(status)
    return false
  }

  async #read(reply: IncomingReply, alive: () => void) {
    const {server, taker} = this.#parts
    try {
      for await (const event of eventsOf(reply, server, alive)) {
        if (event.id !== null) this.#last_id = /^[\x20-\x7e]{1,4096}$/.test(event.id) ? event.id : null
        this.#retry_ms = event.retry_ms ?? this.#retry_ms
        for (const message of messagesOrNone(event, server)) if (message.kind !== 'answer') await taker.outside(message)
      }
    } catch (fault) {
      reply.destroy()
      if (!(fault instanceof McpFault)) throw fault
    }
  }
}

/** A message that cannot be read is passed over: it belongs to no call that could fail. */
function messagesOrNone(...[event, server]: Parameters<typeof messagesIn>): ReturnType<typeof messagesIn> {
  try {
    return messagesIn(event, server)
  } catch {
    return []
  }
}

function nothing() {}
