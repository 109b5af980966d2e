import type {After} from '../../base/delay.ts'
import type {SendOutcome} from '../export/outcome.ts'
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
/** At the end, for the last push and again for the removal: one that hangs leaves the other its time. */
const LAST_MS = 500
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
    await this.#push(AbortSignal.timeout(LAST_MS))
    await this.#options.remove(NOTHING, AbortSignal.timeout(LAST_MS))
  }

  #soon() {
    this.#callOff = this.#options.after(EVERY_MS, () => {
      this.#turn = this.#push(this.#closing.signal).finally(() => {
        if (!this.#closing.signal.aborted) this.#soon()
      })
    })
  }

  async #push(signal: AbortSignal): Promise<void> {
    const {counts, report} = this.#options
    const outcome = await this.#sent(signal)
    if (this.#closing.signal === signal && signal.aborted) return
    const failure = outcome.kind === 'taken' ? null : outcome.reason
    if (failure === null) counts.pushed++
    else counts.failed++
    if (failure !== this.#failure) report(failure)
    this.#failure = failure
  }

  /** A page that cannot be made, or not in time, is a push that failed. */
  async #sent(signal: AbortSignal): Promise<SendOutcome> {
    const {page, put} = this.#options
    let body: Buffer
    try {
      body = await beforeTheEnd(page(), signal)
    } catch (fault) {
      const reason = fault instanceof Error ? fault.message : String(fault)
      return {kind: 'later', after_ms: null, reason: `the page could not be made: ${reason}`}
    }
    return put(body, signal)
  }
}

/** Rejects when `signal` ends the wait for `work`. */
async function beforeTheEnd<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const {promise, reject} = Promise.withResolvers<never>()
  const end = () => reject(new Error('it took too long'))
  signal.addEventListener('abort', end, {once: true})
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}
