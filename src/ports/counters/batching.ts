interface Waiting<In, Out> {
  readonly item: In
  readonly done: (out: Out) => void
  readonly failed: (fault: unknown) => void
}

/** So that one statement is not too long. */
const MAX_TOGETHER = 100

/**
 * Asks a store for many callers at once: of those that want the same thing (`group`), one question is in progress at a
 * time, and all that came meanwhile go into the next. So a limit that everybody is under costs a lock and a commit for
 * many calls, not for each.
 */
export class Gather<In, Out> {
  readonly #groups = new Map<string, Waiting<In, Out>[]>()
  readonly #ask: (items: readonly In[]) => Promise<readonly Out[]>
  readonly #patience_ms: number

  /** `ask` answers in the order of its input; one that takes longer than `patience_ms` delays no other. */
  constructor(ask: (items: readonly In[]) => Promise<readonly Out[]>, patience_ms: number) {
    this.#ask = ask
    this.#patience_ms = patience_ms
  }

  ask(group: string, item: In): Promise<Out> {
    return new Promise((done, failed) => {
      const waiting = this.#groups.get(group)
      if (waiting) return void waiting.push({item, done, failed})
      this.#groups.set(group, [])
      void this.#run(group, [{item, done, failed}])
    })
  }

  async #run(group: string, batch: readonly Waiting<In, Out>[]): Promise<void> {
    let is_next = false
    const next = () => {
      if (is_next) return
      is_next = true
      clearTimeout(timer)
      const waiting = this.#groups.get(group)!
      if (waiting.length === 0) this.#groups.delete(group)
      else void this.#run(group, waiting.splice(0, MAX_TOGETHER))
    }
    const timer = setTimeout(next, this.#patience_ms)
    try {
      const answers = await this.#ask(batch.map(({item}) => item))
      batch.forEach(({done}, at) => {
        done(answers[at]!)
      })
    } catch (fault) {
      for (const {failed} of batch) failed(fault)
    }
    next()
  }
}
