const FAILURES = 5
const OPEN_MS = 30_000

export interface StoreBreakerOptions {
  readonly now: () => number
  /** Called once when the store begins to fail. */
  readonly onDown: (reason: string) => void
  /** Called once when it works again. */
  readonly onUp: () => void
}

/** Leaves a store alone for 30 seconds that failed five times in a row; then one request tries it. */
export class StoreBreaker {
  readonly #options: StoreBreakerOptions
  #failures = 0
  #open_until_ms = Number.NEGATIVE_INFINITY
  #is_down = false

  constructor(options: StoreBreakerOptions) {
    this.#options = options
  }

  /** True where a request may leave now. After the pause that is true once, until the request has ended. */
  admit(): boolean {
    const now_ms = this.#options.now()
    if (now_ms < this.#open_until_ms) return false
    if (this.#failures >= FAILURES) this.#open_until_ms = now_ms + OPEN_MS
    return true
  }

  succeeded(): void {
    this.#failures = 0
    this.#open_until_ms = Number.NEGATIVE_INFINITY
    if (!this.#is_down) return
    this.#is_down = false
    this.#options.onUp()
  }

  failed(reason: string): void {
    this.#failures++
    if (this.#failures >= FAILURES) this.#open_until_ms = this.#options.now() + OPEN_MS
    if (this.#is_down) return
    this.#is_down = true
    this.#options.onDown(reason)
  }
}
