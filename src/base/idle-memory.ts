import {performance} from 'node:perf_hooks'

export interface RestOptions {
  /** The share of the time since the last look in which this thread was busy, 0 to 1. */
  readonly load?: () => number
  readonly rest?: () => void
}

const LOOK_MS = 1000
/** A thread that was busier than this has left memory to release. */
const BUSY = 0.05
const LOOKS_IDLE = 60

/**
 * Releases memory once this thread has nothing to do after it had: a minute after the last of a load. V8 keeps what a
 * load needed for the next one; beside a model on the same machine it is wanted there. It takes about a tenth of a
 * second, and V8 compiles again for the next load: so it happens once for each, and not between two that follow each
 * other. Returns the function that stops it. Where Node was not started with `--expose-gc`, as from the sources,
 * no memory is released.
 */
export function restAfterLoad({load = loadHere(), rest = collect}: RestOptions = {}): () => void {
  let was_busy = false
  let idle = 0
  const timer = setInterval(() => {
    const now = load()
    was_busy ||= now > BUSY
    idle = now <= BUSY ? idle + 1 : 0
    if (!was_busy || idle < LOOKS_IDLE) return
    was_busy = false
    rest()
    load() // what that took is none
  }, LOOK_MS).unref()
  return () => clearInterval(timer)
}

function loadHere(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const {utilization} = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}

/** The one kind of collection that gives pages back to the system. */
function collect(): void {
  globalThis.gc?.({type: 'major', execution: 'sync', flavor: 'last-resort'})
}
