import type {CallKind} from '../../schema/principal.ts'

/** A call under way, as the clock and the shutdown see it. */
export interface LiveCall {
  readonly kind: CallKind
  /** Its place among the live calls; theirs to write. */
  slot: number
  /** Looks at its own deadlines; `now` is of the clock that durations are taken with. */
  check(now: number): void
  /**
   * The gateway stops: from now on it may begin nothing beyond the gateway. What it has begun may go on, until `abort`.
   */
  stop(): void
  /** Ends it now, because the gateway stops. Called again until it is over. */
  abort(): void
}

const SWEEP_MS = 100
/** How long calls that are ended have to be settled, and to tell their clients. */
const ENDING_MS = 250

/**
 * Calls under way. One timer looks at the deadlines of all of them, so that a call costs no timers of its own (core
 * rule 16); shutdown waits for them and then ends them.
 *
 * They stand in an array of places that are used again, not in a Set: the tables that a Set leaves behind when it grows
 * into a new one keep their calls, and all they refer to, alive until the next full collection.
 */
export class CallRegistry {
  readonly #places: (LiveCall | undefined)[] = []
  readonly #free: number[] = []
  readonly #counted: (count: number) => void
  #sweep: NodeJS.Timeout | undefined
  #empty: (() => void) | undefined
  /** Those that are left are ended. */
  #is_ending = false
  size = 0
  draining = false

  constructor(counted: (count: number) => void) {
    this.#counted = counted
  }

  add(call: LiveCall): void {
    call.slot = this.#free.pop() ?? this.#places.length
    this.#places[call.slot] = call
    this.#counted(++this.size)
    this.#sweep ??= setInterval(() => this.#check(), SWEEP_MS).unref()
  }

  delete(call: LiveCall): void {
    if (this.#places[call.slot] !== call) return
    this.#places[call.slot] = undefined
    this.#free.push(call.slot)
    this.#counted(--this.size)
    if (this.size === 0) this.#empty?.()
  }

  /** How many of each kind are under way. */
  get kinds(): Readonly<Partial<Record<CallKind, number>>> {
    const counts: Partial<Record<CallKind, number>> = {}
    for (const call of this.#places) if (call) counts[call.kind] = (counts[call.kind] ?? 0) + 1
    return counts
  }

  /**
   * Resolves when no call is left: from now on none begins anything, and after `limit_ms` those that are left are
   * ended.
   */
  async drain(limit_ms: number): Promise<void> {
    this.draining = true
    for (const call of [...this.#places]) call?.stop()
    if (this.size > 0) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>(resolve => {
        this.#empty = resolve
        timer = setTimeout(() => {
          this.#is_ending = true
          this.#abortAll()
          timer = setTimeout(resolve, ENDING_MS)
        }, limit_ms)
      })
      clearTimeout(timer)
    }
    this.#stop()
  }

  #check() {
    const now = performance.now()
    for (const call of this.#places) call?.check(now)
    if (this.#is_ending) this.#abortAll() // one that was being settled heard nothing of it
    if (this.size === 0) this.#stop()
  }

  #abortAll() {
    for (const call of [...this.#places]) call?.abort()
  }

  #stop() {
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }
}
