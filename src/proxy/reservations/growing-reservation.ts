import {Refusal} from '../../base/errors.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {CounterReservation} from '../../limits/index.ts'
import type {Price} from '../../pricing/price.ts'
import type {Unbounded} from '../../providers/unified/reading-tools.ts'
import {type Spent, spent} from '../../schema/spent.ts'
import {type INPUT_CLASSES, type TokenClass, totals, type Usage} from '../../schema/usage.ts'
import type {Reservation, StreamProgress} from '../call/work.ts'
import type {Uses} from '../services.ts'
import {SLICE_TOKENS} from './figures.ts'

type Services = Uses<'log' | 'prices'>

const NO_USAGE = {prompt_tokens: 0, completion_tokens: 0}

/** The most usage of an attempt. */
export interface ReservedUsage {
  /**
   * In tokens, in units: as the provider may charge it. Those that have no price count nothing where another has one.
   */
  readonly forms: readonly Usage[]
  readonly prompt: PromptUsage
  /** The dearest that its answer may be charged as. */
  readonly output_class: TokenClass
  /** Of the answer, in tokens: held at first, and at most. */
  readonly first: number
  readonly most: number
  /** The part that has no bound; null for none. */
  readonly unbounded: Unbounded | null
  /** Works the same out by a count of the prompt's tokens, which takes longer; null when it is impossible or done. */
  readonly recount: (() => MaybePromise<ReservedUsage>) | null
}

/** The classes of a prompt: text, pictures and sound may cost differently, and so may writes to a cache. */
export type PromptUsage = Readonly<Partial<Record<(typeof INPUT_CLASSES)[number], number>>>
export const NO_PROMPT: PromptUsage = {}

/** True of a refusal by a limit that has too little left. */
export function isUsedUp(fault: unknown): fault is Refusal {
  return fault instanceof Refusal && /\.(?:exhausted|rate_reached)$/.test(fault.code)
}

/** A hold that grows with an answer. */
export class GrowingReservation implements Reservation {
  readonly #hold: CounterReservation
  readonly #price: Price | undefined
  readonly #at_ms: number
  readonly #services: Services
  readonly #most: number
  #prompt: PromptUsage
  #recount: ReservedUsage['recount']
  readonly #output_class: TokenClass
  readonly #units: Record<string, number>
  /** Tokens of the prompt, as the provider reported them. */
  #reported = 0
  /** Tokens of the answer that are requested so far. */
  #requested_tokens: number
  /** A further slice is requested, or was refused: the answer continues with the held amount, to its end. */
  #is_asking = false
  #pieces = 0
  /** The answer so far, and the most that it grew at once: of some providers pieces are long. */
  #come = 0
  #leap = 0

  constructor(
    hold: CounterReservation,
    {forms, prompt, output_class, first, most, recount}: ReservedUsage,
    price: Price | undefined,
    at_ms: number,
    services: Services,
  ) {
    this.#hold = hold
    this.#price = price
    this.#at_ms = at_ms
    this.#services = services
    this.#prompt = prompt
    this.#output_class = output_class
    this.#units = forms[0]?.units ?? {}
    this.#requested_tokens = first
    this.#most = most
    this.#recount = recount
  }

  get keys(): readonly string[] {
    return this.#hold.keys
  }

  get held(): {readonly tokens: number; readonly cost_nanousd: number} {
    return this.#hold.held
  }

  keep(): void {
    this.#hold.keep()
  }

  hold(usage: Usage): MaybePromise<Refusal | null> {
    const needed = spent(totals(usage).total_tokens, this.#costOf(usage))
    return this.#hold.covers(needed) ? null : this.#hold.reach(needed)
  }

  settle(actual: Spent): void {
    this.#hold.settle(actual)
  }

  /**
   * Makes sure that the progress of a stream is held, and requests the next slice ahead. Null when it may continue; a
   * refusal ends it. An amount that a report of usage alone adds is owed already: it ends nothing, unless more of the
   * answer follows.
   */
  reach(stream: StreamProgress): MaybePromise<Refusal | null> {
    const {pieces, usage} = stream
    const reported = usage ? totals(usage) : NO_USAGE
    const come = Math.max(Math.min(stream.most_tokens, this.#most), pieces, reported.completion_tokens)
    this.#leap = Math.max(this.#leap, come - this.#come)
    this.#come = come
    this.#reported = Math.max(this.#reported, reported.prompt_tokens)
    const is_more = pieces > this.#pieces
    this.#pieces = pieces
    const needed = this.#amounts(come, usage)
    if (this.#hold.covers(needed)) {
      if (!this.#is_asking && this.#requested_tokens < this.#most && this.#requested_tokens - come < this.#slice / 2)
        this.#ahead(come)
      return null
    }
    if (is_more) return this.#reach(come, usage)
    void this.#hold.reach(needed)
    return null
  }

  /**
   * A prompt that is held for by its bound may have taken what is missing now: it is counted before the stream ends.
   */
  #reach(come: number, usage: Usage | null): MaybePromise<Refusal | null> {
    const again = (refusal: Refusal | null): MaybePromise<Refusal | null> => {
      const recount = this.#recount
      if (!refusal || !recount || !isUsedUp(refusal)) return refusal
      this.#recount = null
      const counted = recount()
      const take = ({prompt}: ReservedUsage) => {
        this.#prompt = prompt
        return this.#hold.reach(this.#amounts(come, usage))
      }
      if (!(counted instanceof Promise)) return take(counted)
      return counted.then(take, (fault: unknown) => {
        this.#services.log.error({fault}, 'a prompt could not be counted')
        return refusal
      })
    }
    const reached = this.#hold.reach(this.#amounts(come, usage))
    return reached instanceof Promise ? reached.then(again) : again(reached)
  }

  /** More is held than pieces leap. */
  get #slice(): number {
    return Math.max(SLICE_TOKENS, 4 * this.#leap)
  }

  /** Grows beside the stream. After a refusal the rest is reserved piece by piece, as it comes. */
  #ahead(come: number) {
    this.#requested_tokens = Math.min(come + this.#slice, this.#most)
    this.#is_asking = true
    const heard = (refusal: Refusal | null) => {
      this.#is_asking = refusal !== null
    }
    const reached = this.#hold.reach(this.#amounts(this.#requested_tokens))
    if (reached instanceof Promise) void reached.then(heard)
    else heard(reached)
  }

  #amounts(answer: number, reported: Usage | null = null): Spent {
    const more = Math.max(0, this.#reported - totals(this.#prompt).prompt_tokens)
    const input_uncached_tokens = (this.#prompt.input_uncached_tokens ?? 0) + more
    const usage = {...this.#prompt, input_uncached_tokens, [this.#output_class]: answer, units: this.#units}
    const cost_nanousd = this.#costOf(usage)
    return spent(totals(usage).total_tokens, reported ? Math.max(cost_nanousd, this.#costOf(reported)) : cost_nanousd)
  }

  #costOf(usage: Partial<Usage>): number {
    return this.#services.prices.cost(usage, this.#price, this.#at_ms).cost_nanousd
  }
}
