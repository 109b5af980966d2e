import type {After} from '../../base/delay.ts'
import type {CallKind} from '../../schema/principal.ts'

/** A call in progress, as the clock and the shutdown see it. */
export interface LiveCall {
  readonly kind: CallKind
  /** Its place among the live calls; theirs to write. */
  slot: number
  /** Looks at its own deadlines; `now` is of the clock that durations are taken with. */
  check(now: number): void
  /**
   * The gateway stops: from now on it may begin nothing beyond the gateway. Work that has begun may continue, until
   * `abort`.
   */
  stop(): void
  /** Ends it now, because the gateway stops. Called again until it is over. */
  abort(): void
}

/** The clock of durations, and timers. */
export interface RegistryClock {
  steady(): number
  readonly after: After
}

const SWEEP_MS = 100
/** How long calls that are ended have to be settled, and to tell their clients. */
const ENDING_MS = 250

/**
 * Calls in progress. One timer looks at the deadlines of all of them, so that a call costs no timers of its own (core
 * rule 16); shutdown waits for them and then ends them.
 *
 * They are in an array of places that are used again, not in a Set: the tables that a Set leaves behind when it grows
 * into a new one keep their calls, and all they refer to, alive until the next full collection.
 */
export class CallRegistry {
  readonly #places: (LiveCall | undefined)[] = []
  readonly #free: number[] = []
  readonly #counted: (count: number) => void
  readonly #clock: RegistryClock
  #callOff: (() => void) | undefined
  #empty: (() => void) | undefined
  /** Those that are left are ended. */
  #is_ending = false
  size = 0
  draining = false

  constructor(clock: RegistryClock, counted: (count: number) => void) {
    this.#clock = clock
    this.#counted = counted
  }

  add(call: LiveCall): void {
    call.slot = this.#free.pop() ?? this.#places.length
    this.#places[call.slot] = call
    this.#counted(++this.size)
    if (!this.#callOff) this.#sweepSoon()
  }

  delete(call: LiveCall): void {
    if (this.#places[call.slot] !== call) return
    this.#places[call.slot] = undefined
    this.#free.push(call.slot)
    this.#counted(--this.size)
    if (this.size === 0) this.#empty?.()
  }

  /** The number of each kind in progress. */
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
      const {after} = this.#clock
      let callOff = () => {}
      await new Promise<void>(resolve => {
        this.#empty = resolve
        callOff = after(limit_ms, () => {
          this.#is_ending = true
          this.#abortAll()
          callOff = after(ENDING_MS, resolve)
        })
      })
      callOff()
    }
    this.#stop()
  }

  #sweepSoon() {
    this.#callOff = this.#clock.after(SWEEP_MS, () => {
      this.#callOff = undefined
      if (this.size > 0) this.#sweepSoon() // first: a call that throws stops no other's deadlines
      this.#check()
    })
  }

  #check() {
    const now = this.#clock.steady()
    for (const call of this.#places) call?.check(now)
    if (this.#is_ending) this.#abortAll() // one that was being settled heard nothing of it
  }

  #abortAll() {
    for (const call of [...this.#places]) call?.abort()
  }

  #stop() {
    this.#callOff?.()
    this.#callOff = undefined
  }
}
