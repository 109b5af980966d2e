import type {RetryRule} from './plan.ts'

/** The result of one try. */
export interface TryResult {
  /**
   * The provider's; 408 for a timeout, 500-503 for a network error, 529 for an overload reported in a stream, 246 and
   * 446 of a guard.
   */
  readonly status: number
  /**
   * `answer`: the provider was called and answered, whatever a guard made of it. `refusal`: our own 412, 429 or 446
   * before any call was made; a status like any other to a fallback, never retried here. `gateway`: a fault of our own,
   * after which nothing else is called.
   */
  readonly kind: 'answer' | 'network_error' | 'timeout' | 'refusal' | 'gateway'
  /** The answer's, names in lower case; null when there are none. */
  readonly headers: Readonly<Record<string, string>> | null
  /** Bytes of this answer are with the client: nothing can follow it. */
  readonly is_committed: boolean
}

/** From this on one wait is too long, and beyond it all of them together are. */
const LONGEST_MS = 60_000
const FIRST_WAIT_MS = 1000

/**
 * The retries of one visit to a leaf: 1, 2, 4, 8, 16 s apart, without jitter, or as a 429 says where the rule wants
 * that (docs/configs.md, Retry).
 */
export class Retries {
  made = 0
  readonly #rule: RetryRule
  /** The wait that providers requested. */
  #obeyed_ms = 0

  constructor(rule: RetryRule) {
    this.#rule = rule
  }

  get areLeft(): boolean {
    return this.made < this.#rule.attempts
  }

  /**
   * Milliseconds to wait before the next retry, which counts as made from then on. `returned`: nothing to retry.
   * `spent`: still failing, and no retry is left or the provider wants a wait that is too long.
   */
  after({status, kind, headers}: TryResult): number | 'returned' | 'spent' {
    if (!this.#isRetried(status, kind)) return 'returned'
    if (!this.areLeft) return 'spent'
    const said_ms = status === 429 && this.#rule.use_retry_after_header && headers ? retryAfterMs(headers) : null
    if (said_ms === null) return FIRST_WAIT_MS * 2 ** this.made++
    if (said_ms >= LONGEST_MS || this.#obeyed_ms + said_ms > LONGEST_MS) return 'spent'
    this.#obeyed_ms += said_ms
    this.made++
    return said_ms
  }

  #isRetried(status: number, kind: TryResult['kind']): boolean {
    if (kind === 'refusal' || kind === 'gateway') return false
    return kind === 'network_error' || this.#rule.on_status_codes.includes(status)
  }
}

/**
 * How long a provider asks to be left alone, in milliseconds: `retry-after-ms`, `x-ms-retry-after-ms`, `retry-after` in
 * whole seconds, the first that can be read. Null when none can: an HTTP date (RFC 9110 §10.2.3) is not obeyed.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>): number | null {
  return (
    wholeNumber(headers['retry-after-ms']) ??
    wholeNumber(headers['x-ms-retry-after-ms']) ??
    seconds(headers['retry-after'])
  )
}

function seconds(text: string | undefined): number | null {
  const number = wholeNumber(text)
  return number === null ? null : number * 1000
}

function wholeNumber(text: string | undefined): number | null {
  const digits = text?.trim()
  return digits && /^\d+$/.test(digits) ? Number(digits) : null
}
