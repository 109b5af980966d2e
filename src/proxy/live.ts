/** A call under way, as the clock and the shutdown see it. */
export interface Live {
  /** Its place among the live calls; theirs to write. */
  place: number
  /** Looks at its own deadlines; `now` is of the clock that durations are taken with. */
  check(now: number): void
  /** Ends it now, because the gateway stops. */
  abort(): void
}

const SWEEP_MS = 100

/**
 * Calls under way. One timer looks at the deadlines of all of them, so that a call costs no timers of its own (core rule 16);
 * shutdown waits for them and then ends them.
 *
 * They stand in an array of places that are used again, not in a Set: the tables that a Set leaves behind when it grows into a new one
 * keep their calls, and all they refer to, alive until the next full collection.
 */
export class LiveCalls {
  readonly #places: (Live | undefined)[] = []
  readonly #free: number[] = []
  readonly #counted: (count: number) => void
  #sweep: NodeJS.Timeout | undefined
  #empty: (() => void) | undefined
  size = 0
  draining = false

  constructor(counted: (count: number) => void) {
    this.#counted = counted
  }

  add(call: Live): void {
    call.place = this.#free.pop() ?? this.#places.length
    this.#places[call.place] = call
    this.#counted(++this.size)
    this.#sweep ??= setInterval(() => this.#check(), SWEEP_MS).unref()
  }

  delete(call: Live): void {
    if (this.#places[call.place] !== call) return
    this.#places[call.place] = undefined
    this.#free.push(call.place)
    this.#counted(--this.size)
    if (this.size === 0) this.#empty?.()
  }

  /** Resolves when no call is left; after `limit_ms` those that are left are ended. */
  async drain(limit_ms: number): Promise<void> {
    this.draining = true
    if (this.size > 0) {
      const done = new Promise<void>(resolve => {
        this.#empty = resolve
      })
      const timer = setTimeout(() => {
        for (const call of [...this.#places]) call?.abort()
      }, limit_ms)
      await done
      clearTimeout(timer)
    }
    this.#stop()
  }

  #check() {
    const now = performance.now()
    for (const call of this.#places) call?.check(now)
    if (this.size === 0) this.#stop()
  }

  #stop() {
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }
}
