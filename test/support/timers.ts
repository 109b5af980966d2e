/** Time that stands still but for `pass`, and the timers that hang on it. */
export class Timers {
  now_ms: number
  #waiting: {at_ms: number; run: () => void}[] = []

  constructor(now_ms: number) {
    this.now_ms = now_ms
  }

  readonly now = () => this.now_ms

  readonly after = (ms: number, run: () => void) => {
    const timer = {at_ms: this.now_ms + ms, run}
    this.#waiting.push(timer)
    return () => {
      this.#waiting = this.#waiting.filter(each => each !== timer)
    }
  }

  /** Timers that were neither called off nor have run. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Lets `ms` pass, timer by timer; after each, `settle` waits for what it began. */
  async pass(ms: number, settle: () => Promise<unknown>) {
    const until_ms = this.now_ms + ms
    for (;;) {
      await settle()
      const next = this.#waiting.toSorted((one, other) => one.at_ms - other.at_ms)[0]
      if (!next || next.at_ms > until_ms) break
      this.#waiting = this.#waiting.filter(each => each !== next)
      this.now_ms = Math.max(this.now_ms, next.at_ms)
      next.run()
    }
    this.now_ms = until_ms
  }
}
