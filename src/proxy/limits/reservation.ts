import type {Refusal} from '../../base/errors.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {CounterReservation} from '../../limits/index.ts'
import type {Price} from '../../pricing/price.ts'
import {estimateTokens} from '../../providers/openai/observe.ts'
import {totals, type Usage} from '../../schema/usage.ts'
import type {Reservation, StreamProgress} from '../call/reservation.ts'
import type {ProxyServices} from '../services.ts'

/** How much more of an answer is held at a time, ahead of its forwarding. */
export const SLICE_TOKENS = 256
const NO_USAGE = {prompt_tokens: 0, completion_tokens: 0}

/** What an attempt may use. */
export interface UsageEstimate {
  /** In tokens, in units: as the provider may charge it. Those that have no price count nothing where another has one. */
  readonly forms: readonly Usage[]
  readonly prompt: PromptUsage
  /** Of the answer, in tokens: held at first, and at most. */
  readonly first: number
  readonly most: number
}

/** What a prompt is made of: text, pictures and sound may cost differently. */
export type PromptUsage = Pick<Usage, 'input_uncached_tokens' | 'image_in_tokens' | 'audio_in_tokens'>
export const NO_PROMPT: PromptUsage = {input_uncached_tokens: 0, image_in_tokens: 0, audio_in_tokens: 0}

/** A hold that grows with an answer. */
export class GrowingReservation implements Reservation {
  readonly #hold: CounterReservation
  readonly #price: Price | undefined
  readonly #at_ms: number
  readonly #services: ProxyServices
  readonly #most: number
  readonly #prompt: PromptUsage
  readonly #units: Record<string, number>
  /** Tokens of the prompt beyond the estimate, as the provider reported them. */
  #more = 0
  /** Tokens of the answer that are requested so far. */
  #requested_tokens: number
  /** A further slice is requested, or was refused: the answer goes on with what is held, to its end. */
  #is_asking = false
  #pieces = 0

  constructor(
    hold: CounterReservation,
    {forms, prompt, first, most}: UsageEstimate,
    price: Price | undefined,
    at_ms: number,
    services: ProxyServices,
  ) {
    this.#hold = hold
    this.#price = price
    this.#at_ms = at_ms
    this.#services = services
    this.#prompt = prompt
    this.#units = forms[0]?.units ?? {}
    this.#requested_tokens = first
    this.#most = most
  }

  get keys(): readonly string[] {
    return this.#hold.keys
  }

  keep(): void {
    this.#hold.keep()
  }

  settle(actual: {readonly tokens: number; readonly cost_nanousd: number}): void {
    this.#hold.settle(actual)
  }

  /**
   * Sees to it that what a stream has come to is held, and asks for the next slice ahead. Null when it may go on; a refusal ends it. What a
   * report of usage alone adds is owed already: it ends nothing, unless more of the answer follows.
   */
  reach(stream: StreamProgress): MaybePromise<Refusal | null> {
    const {pieces, usage} = stream
    const reported = usage ? totals(usage) : NO_USAGE
    const come = Math.max(estimateTokens(stream.text_bytes), pieces, reported.completion_tokens)
    this.#more = Math.max(this.#more, reported.prompt_tokens - totals(this.#prompt).prompt_tokens)
    const is_more = pieces > this.#pieces
    this.#pieces = pieces
    const needed = this.#amounts(come)
    if (this.#hold.covers(needed)) {
      if (!this.#is_asking && this.#requested_tokens < this.#most && this.#requested_tokens - come < SLICE_TOKENS / 2) this.#ahead(come)
      return null
    }
    if (is_more) return this.#hold.reach(needed)
    void this.#hold.reach(needed)
    return null
  }

  /** Grows beside the stream. After a refusal the rest is reserved piece by piece, as it comes. */
  #ahead(come: number) {
    this.#requested_tokens = Math.min(come + SLICE_TOKENS, this.#most)
    this.#is_asking = true
    const heard = (refusal: Refusal | null) => {
      this.#is_asking = refusal !== null
    }
    const reached = this.#hold.reach(this.#amounts(this.#requested_tokens))
    if (reached instanceof Promise) void reached.then(heard)
    else heard(reached)
  }

  #amounts(answer: number) {
    const input_uncached_tokens = this.#prompt.input_uncached_tokens + this.#more
    const usage = {...this.#prompt, input_uncached_tokens, output_text_tokens: answer, units: this.#units}
    return {tokens: totals(usage).total_tokens, cost_nanousd: this.#services.prices.cost(usage, this.#price, this.#at_ms).cost_nanousd}
  }
}
