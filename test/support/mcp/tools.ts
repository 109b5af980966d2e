/** Counters of a fixture server, and the calls that a test holds open in it. */
export class FixtureState {
  readonly #runs = new Map<string, number>()
  readonly #held = new Set<PromiseWithResolvers<'released'>>()
  readonly #waiting: {count: number; run: () => void}[] = []
  /** Calls of `hold` that ended because their request was cancelled. */
  cancelled = 0

  ran(tool: string): void {
    this.#runs.set(tool, this.runs(tool) + 1)
  }

  /** How often a tool ran. */
  runs(tool: string): number {
    return this.#runs.get(tool) ?? 0
  }

  /** The calls of `hold` that have not ended. */
  get held(): number {
    return this.#held.size
  }

  /** Resolves once so many calls of `hold` are open. */
  async whenHeld(count = 1): Promise<void> {
    if (this.held >= count) return
    await new Promise<void>(run => this.#waiting.push({count, run}))
  }

  /** Lets every call of `hold` come to its end. */
  release(): void {
    for (const each of this.#held) each.resolve('released')
  }

  async hold(signal: AbortSignal): Promise<'released' | 'cancelled'> {
    const open = Promise.withResolvers<'released' | 'cancelled'>()
    const held = open as PromiseWithResolvers<'released'>
    this.#held.add(held)
    signal.addEventListener('abort', () => open.resolve('cancelled'), {once: true})
    for (const each of this.#waiting.filter(({count}) => this.held >= count)) each.run()
    const end = await open.promise
    this.#held.delete(held)
    if (end === 'cancelled') this.cancelled++
    return end
  }
}

/** A form of one member, which the tools that have a question send. */
export const QUESTION = {
  message: 'Sure?',
  requestedSchema: {type: 'object' as const, properties: {ok: {type: 'boolean' as const}}, required: ['ok']},
}

export const SAMPLING = {
  messages: [{role: 'user' as const, content: {type: 'text' as const, text: 'hi'}}],
  maxTokens: 5,
}

export function text(text: string) {
  return {content: [{type: 'text' as const, text}]}
}
