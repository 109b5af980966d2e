/** Work that says undefined now and then, at most a fraction of a millisecond apart: places to pause at. */
export type SlicedWork<T> = Generator<undefined, T>

/** Milliseconds of a turn of the event loop for work that waits, and as many for work that comes in it. */
const TURN_MS = 4

interface Waiting {
  readonly work: SlicedWork<unknown>
  resolve(value: unknown): void
  reject(reason: unknown): void
}

const waiting: Waiting[] = []
let is_turn_open = false
let fresh_ms = 0

/**
 * Does `work`: at once where this turn of the event loop has time for it, else a piece each turn, so that it delays no
 * other call. All work in the process shares the turn, and takes turns in it.
 */
export function inTimeSlices<T>(work: SlicedWork<T>): T | Promise<T> {
  if (!is_turn_open) openTurn()
  const began_ms = performance.now()
  const ends_ms = began_ms + fresh_ms
  for (let now_ms = began_ms; now_ms < ends_ms; now_ms = performance.now()) {
    const step = work.next()
    if (!step.done) continue
    fresh_ms -= performance.now() - began_ms
    return step.value
  }
  fresh_ms = 0
  return new Promise<T>((resolve, reject) => {
    waiting.push({work, resolve: resolve as (value: unknown) => void, reject})
  })
}

function openTurn() {
  is_turn_open = true
  fresh_ms = TURN_MS
  setImmediate(nextTurn)
}

function nextTurn() {
  is_turn_open = false
  if (!waiting.length) return
  openTurn()
  const ends_ms = performance.now() + TURN_MS
  do {
    const each = waiting.shift()!
    if (!advance(each, ends_ms)) waiting.push(each)
  } while (waiting.length && performance.now() < ends_ms)
}

/** One piece of work after the other until the turn is over; true when it is done. */
function advance({work, resolve, reject}: Waiting, ends_ms: number): boolean {
  try {
    do {
      const step = work.next()
      if (!step.done) continue
      resolve(step.value)
      return true
    } while (performance.now() < ends_ms)
    return false
  } catch (error) {
    reject(error)
    return true
  }
}

/** Runs `work` to its end without a pause. */
export function atOnce<T>(work: SlicedWork<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
