/** Runs something once, `ms` from now; what it gives calls it off. Passed in, so that tests need not wait. */
export type After = (ms: number, run: () => void) => () => void

/** By a timer, which keeps no process alive. */
export const after: After = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

/** Runs something at the end of this turn of the event loop; what it gives calls that off. */
export function soon(run: () => void): () => void {
  const immediate = setImmediate(run)
  return () => clearImmediate(immediate)
}
