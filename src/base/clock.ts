/** A call writes the time of its begin and the time of its end, and others run meanwhile. */
const KEPT_TIMES = 256
const kept_ms = new Float64Array(KEPT_TIMES).fill(Number.NaN)
const kept_texts: string[] = new Array(KEPT_TIMES).fill('')

/** `ms` since the epoch as ISO 8601 UTC with milliseconds. Calls of one millisecond share the text. */
export function isoTime(ms: number): string {
  const place = ms & (KEPT_TIMES - 1)
  if (ms !== kept_ms[place]) {
    kept_texts[place] = new Date(ms).toISOString()
    kept_ms[place] = ms
  }
  return kept_texts[place]!
}

/**
 * A clock that went back by more than this was wrong before, not late: what it says now is taken at once. What it went
 * back by less is held (a day, and an hour for clocks that were set by hand).
 */
export const MAX_HELD_MS = 25 * 60 * 60 * 1000
/**
 * Held time runs a tenth slower than the clock, until the clock has caught up: windows last a little longer, none
 * stops.
 */
const HELD_PACE = 0.9

/**
 * Time that does not run back though the clock does: it continues from the last time that was seen, a tenth slower than
 * a clock that is never set (`steady`), until the clock has caught up. So neither a window nor an age begins again, and
 * none lasts as long as the step.
 */
export class SeenTime {
  readonly #steady: () => number
  #last_ms = Number.NEGATIVE_INFINITY
  /** The time at which holding began, by both clocks; undefined while the clock is followed. */
  #held: {readonly from_ms: number; readonly at_ms: number} | undefined

  /** `steady` gives milliseconds since any moment; it is never set. */
  constructor(steady: () => number = () => performance.now()) {
    this.#steady = steady
  }

  /** The time while the clock shows `clock_ms`. */
  at(clock_ms: number): number {
    const held = this.#held
    if (held)
      this.#last_ms = Math.max(this.#last_ms, held.from_ms + Math.floor((this.#steady() - held.at_ms) * HELD_PACE))
    if (clock_ms >= this.#last_ms || this.#last_ms - clock_ms > MAX_HELD_MS) {
      if (held) this.#held = undefined
      this.#last_ms = clock_ms
    } else if (!held) this.#held = {from_ms: this.#last_ms, at_ms: this.#steady()}
    return this.#last_ms
  }
}

export interface ClockOptions {
  /** The clock of this machine, which may be set; milliseconds since the epoch. */
  readonly wall?: () => number
  /** A clock that is never set. */
  readonly steady?: () => number
}

/** The clock went by so much more, or less, than time did. */
export interface ClockStep {
  readonly by_ms: number
  /** How far the gateway's time is ahead of the clock since. */
  readonly ahead_ms: number
}

/**
 * The time of this process: windows of limits, ages, and when calls came in. What others check (signatures, tokens)
 * goes by `wall`.
 */
export interface Clock {
  readonly now: () => number
  readonly wall: () => number
  /**
   * No time before `ms` is given from now on, unless the clock is further from it than is held: what a process before
   * saw.
   */
  seen(ms: number): ClockStep | null
  /** The step since the last look, if there was one of a second or more; to be called about every second. */
  look(): ClockStep | null
}

/** A smaller difference is no step: clocks are adjusted as they run, and a look may be late. */
const MIN_STEP_MS = 1_000

export function createClock({wall = Date.now, steady = () => performance.now()}: ClockOptions = {}): Clock {
  const time = new SeenTime(steady)
  const now = () => time.at(wall())
  let looked = {wall_ms: wall(), steady_ms: steady()}
  const step = (by_ms: number): ClockStep => ({by_ms: Math.round(by_ms), ahead_ms: now() - wall()})
  return {
    now,
    wall,
    seen(ms) {
      const behind_ms = ms - wall()
      if (behind_ms > MAX_HELD_MS) return null
      time.at(ms)
      return behind_ms >= MIN_STEP_MS ? step(-behind_ms) : null
    },
    look() {
      const looks = {wall_ms: wall(), steady_ms: steady()}
      const by_ms = looks.wall_ms - looked.wall_ms - (looks.steady_ms - looked.steady_ms)
      looked = looks
      return Math.abs(by_ms) >= MIN_STEP_MS ? step(by_ms) : null
    },
  }
}
