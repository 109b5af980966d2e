import type {After} from '../../base/delay.ts'
import type {Send} from '../run.ts'

export interface PushGatewayOptions {
  /** The page of metrics as it is now. */
  readonly page: () => Promise<Buffer>
  /** Replaces the metrics of the group. */
  readonly put: Send
  /** Removes the group. */
  readonly remove: Send
  readonly after: After
  readonly counts: PushCounts
  /** Called when pushes begin to fail, or fail for another reason, and when they succeed again (null). */
  readonly report: (reason: string | null) => void
}

export interface PushCounts {
  pushed: number
  failed: number
}

const EVERY_MS = 30_000
/** At the end, for the last push and the removal together. */
const LAST_MS = 1_000
const NOTHING = Buffer.alloc(0)

/**
 * Pushes the page of metrics to a push gateway. One push is made at a time, and the next one begins 30 seconds after it
 * ended, so that none pile up. A push that fails is not repeated: the next one says more.
 */
export class PushGateway {
  readonly #options: PushGatewayOptions
  readonly #closing = new AbortController()
  #callOff: () => void = () => undefined
  #turn: Promise<void> = Promise.resolve()
  #failure: string | null = null

  constructor(options: PushGatewayOptions) {
    this.#options = options
    this.#soon()
  }

  /** A last push, and then the group is removed: what has ended has no metrics. */
  async close(): Promise<void> {
    this.#callOff()
    this.#closing.abort()
    await this.#turn
    const ends = AbortSignal.timeout(LAST_MS)
    await this.#push(ends)
    await this.#options.remove(NOTHING, ends)
  }

  #soon() {
    this.#callOff = this.#options.after(EVERY_MS, () => {
      this.#turn = this.#push(this.#closing.signal).finally(() => {
        if (!this.#closing.signal.aborted) this.#soon()
      })
    })
  }

  async #push(signal: AbortSignal): Promise<void> {
    const {page, put, counts, report} = this.#options
    const outcome = await put(await page(), signal)
    if (this.#closing.signal === signal && signal.aborted) return
    const failure = outcome.kind === 'taken' ? null : outcome.reason
    if (failure === null) counts.pushed++
    else counts.failed++
    if (failure !== this.#failure) report(failure)
    this.#failure = failure
  }
}
