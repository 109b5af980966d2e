import {worked_ms} from '../../support/pace.ts'

/**
 * How long work held the event loop of this thread at a time, in its own processor's time: other work on the machine
 * adds nothing.
 */
export interface HoldWatch {
  /** The longest since the last question. */
  longest_ms(): number
  close(): void
}

/** Between two ticks the loop went round once; what the thread worked meanwhile, it worked with nothing else let in. */
export function watchHolds(): HoldWatch {
  let last_ms = worked_ms()
  let longest_ms = 0
  const tick = () => {
    const now_ms = worked_ms()
    longest_ms = Math.max(longest_ms, now_ms - last_ms)
    last_ms = now_ms
  }
  const timer = setInterval(tick, 1)
  return {
    longest_ms() {
      tick()
      const longest = longest_ms
      longest_ms = 0
      return longest
    },
    close: () => clearInterval(timer),
  }
}
