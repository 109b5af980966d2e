let is_ending = false

/** Runs `work` as what ends this turn of the event loop; to be called from `setImmediate`, whose turn comes last. */
export function endTurn(work: () => void): void {
  const was_ending = is_ending
  is_ending = true
  try {
    work()
  } finally {
    is_ending = was_ending
  }
}

/**
 * Runs `run` at the end of this turn of the event loop, when all that has come in it was seen. While the end is worked
 * on that is at once behind that work, and not a whole turn later: `setImmediate` would wait for the next.
 */
export function atTurnEnd(run: () => void): void {
  if (is_ending) process.nextTick(run)
  else setImmediate(run)
}
