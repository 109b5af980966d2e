import type {Environment} from './environment.ts'
import type {Printer} from './print.ts'

/** Says how far a longer work has come. */
export interface Progress {
  /** `done` of `total`; `what` is in progress. Drawn ten times a second at most. */
  step(done: number, total: number, what: string): void
  /** Removes the bar, so that the next output begins on a clean line. */
  end(): void
}

const WIDTH = 24
const EVERY_MS = 100
const CLEAR_LINE = '\r\x1b[K'

/** A bar on stderr, where that is a terminal and remarks are wanted; nothing elsewhere. */
export function progressOn(
  {stderr, now}: Pick<Environment, 'stderr' | 'now'>,
  {quiet, json}: Pick<Printer, 'quiet' | 'json'>,
): Progress {
  if (!stderr.isTTY || quiet || json) return {step: () => undefined, end: () => undefined}
  let drawn_ms = Number.NEGATIVE_INFINITY
  return {
    step(done, total, what) {
      if (now() - drawn_ms < EVERY_MS) return
      drawn_ms = now()
      stderr.write(`${CLEAR_LINE}${barOf(done, total)} ${what}`)
    },
    end() {
      if (Number.isFinite(drawn_ms)) stderr.write(CLEAR_LINE)
      drawn_ms = Number.NEGATIVE_INFINITY
    },
  }
}

function barOf(done: number, total: number): string {
  const filled = total > 0 ? Math.min(WIDTH, Math.floor((WIDTH * done) / total)) : WIDTH
  const [some, all] = [done, total].map(count => count.toLocaleString('en-US'))
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${some}/${all}`
}
