/** Processor time of this thread: other work on the machine does not add to it. */
export function worked_ms(): number {
  const {user, system} = process.threadCpuUsage()
  return (user + system) / 1000
}

/** What the work below takes on the machine that the limits of time were set on. */
const USUAL_MS = 20
const ROUNDS = 5
const NESTED = Buffer.from(`[${`${'['.repeat(50)}"ab",1${']'.repeat(50)},`.repeat(10_000)}0]`)

/**
 * How many times longer this machine takes for the same work, at least 1. A limit of time in a test is for the machine
 * that it was set on; times this it says the same of any other. It is the best of some rounds, each of them reading
 * bytes one by one, parsing, and writing to fresh memory.
 */
export function pace(): number {
  let best_ms = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const began = worked_ms()
    let depth = 0
    for (let at = 0; at < NESTED.length; at++) {
      if (NESTED[at] === 0x5b) depth++
      else if (NESTED[at] === 0x5d) depth--
    }
    const fresh = Buffer.alloc(4 << 20, depth + 1)
    JSON.parse(NESTED.toString('latin1'))
    if (fresh[0] === 1) best_ms = Math.min(best_ms, worked_ms() - began)
  }
  return Math.max(1, best_ms / USUAL_MS)
}
