import type {After} from '../../src/base/delay.ts'

interface Timer {
  readonly at_ms: number
  readonly turn: number
  readonly run: () => void
  is_over: boolean
}

/** Where the world begins, by its wall clock. */
const BEGINS_AT_MS = Date.parse('2026-03-04T05:06:07Z')

/**
 * Time that moves when it is told to, from one timer to the next. Timers of the same moment run in the order in which
 * they were set.
 */
export class VirtualClock {
  /** A heap: the first is the next. */
  readonly #timers: Timer[] = []
  #steady_ms = 1
  #turns = 0

  readonly steady = (): number => this.#steady_ms
  readonly now = (): number => BEGINS_AT_MS + Math.floor(this.#steady_ms)

  readonly after: After = (ms, run) => {
    const timer: Timer = {at_ms: this.#steady_ms + Math.max(0, ms), turn: ++this.#turns, run, is_over: false}
    this.#push(timer)
    return () => {
      timer.is_over = true
    }
  }

  /** The end of a turn of the event loop: before any time passes. */
  readonly soon = (run: () => void): (() => void) => this.after(0, run)

  /** Runs the next timer; false when none is left, or the next is later than `until_ms`. */
  step(until_ms = Number.POSITIVE_INFINITY): boolean {
    for (let timer = this.#timers[0]; timer; timer = this.#timers[0]) {
      if (timer.at_ms > until_ms) return false
      this.#pop()
      if (timer.is_over) continue
      timer.is_over = true
      this.#steady_ms = timer.at_ms
      timer.run()
      return true
    }
    return false
  }

  #push(timer: Timer) {
    const heap = this.#timers
    let at = heap.push(timer) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(timer, heap[above]!)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = timer
  }

  #pop() {
    const heap = this.#timers
    const last = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++
      if (!isBefore(heap[below]!, last)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = last
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.at_ms < other.at_ms || (one.at_ms === other.at_ms && one.turn < other.turn)
}
