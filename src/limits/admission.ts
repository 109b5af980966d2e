import type {MaybePromise} from '../base/maybe-promise.ts'
import type {Counters} from '../ports/counters/index.ts'
import {type Spent, spent} from '../schema/spent.ts'
import type {LimitClaim} from './claims.ts'

/** The services that the end of a call needs. */
export interface SettlingOn {
  readonly counters: Counters
  readonly onFault: (fault: unknown) => void
  /** Called with claims whose settlement may not have been counted as it should. */
  readonly onDoubt: (claims: readonly LimitClaim[]) => void
}

/** The claims of one call. They are settled or released once; every later call does nothing. Neither ever throws. */
export class Admission {
  /** The counters that were claimed: what an intent stores. */
  readonly counter_keys: readonly string[]
  /** True when tokens or cost are limited, so that a stream should say its usage. */
  readonly counts_usage: boolean
  /** The strict limits of tokens and cost among them, which attempts hold; null when there are none. */
  readonly strict_claims: readonly LimitClaim[] | null
  readonly #id: string
  readonly #claims: readonly LimitClaim[]
  readonly #on: SettlingOn
  #isOpen = true
  /** The tokens that are counted already. */
  #tokens = 0
  #cost_nanousd = 0

  constructor(id: string, claims: readonly LimitClaim[], on: SettlingOn) {
    this.#id = id
    this.#claims = claims
    this.#on = on
    this.counter_keys = claims.map(({key}) => key)
    this.counts_usage = claims.some(({counts}) => counts !== 'requests')
    this.strict_claims = claims.some(claim => claim.held) ? claims.flatMap(({held}) => held ?? []) : null
  }

  /** Counts what one attempt used; others follow. */
  spent(used: Spent): void {
    const actual = spent(this.#sound(used.tokens), this.#sound(used.cost_nanousd))
    if (!this.#isOpen || (actual.tokens === 0 && actual.cost_nanousd === 0)) return
    this.#tokens += actual.tokens
    this.#cost_nanousd += actual.cost_nanousd
    try {
      this.#adjust(actual)?.catch(fault => this.#failed(fault))
    } catch (fault) {
      this.#failed(fault)
    }
  }

  /** Counts what the call really used, in all its attempts. */
  settle(used: Spent): void {
    const tokens = Math.max(0, this.#sound(used.tokens) - this.#tokens)
    this.#end(spent(tokens, Math.max(0, this.#sound(used.cost_nanousd) - this.#cost_nanousd)))
  }

  /** Gives everything back: the call never left. */
  release(): void {
    this.#end(null)
  }

  #end(actual: Spent | null) {
    if (!this.#isOpen) return
    this.#isOpen = false
    const {counters} = this.#on
    try {
      const known: MaybePromise<boolean> = actual ? counters.settle(this.#id, actual) : counters.release(this.#id)
      if (known instanceof Promise)
        known.then(found => this.#unlessKnown(found, actual)).catch(fault => this.#failed(fault))
      else this.#unlessKnown(known, actual)?.catch(fault => this.#failed(fault))
    } catch (fault) {
      this.#failed(fault)
    }
  }

  /**
   * The store was silent at the claim, or lost it since: what was used still counts where there is a counter for it.
   */
  #unlessKnown(known: boolean, actual: Spent | null): Promise<void> | undefined {
    if (known || !actual) return undefined
    this.#on.onDoubt(this.#claims)
    return this.#adjust(actual)
  }

  /** Adds the difference from the claimed amounts; nothing when there is no counter. */
  #adjust(actual: Spent): Promise<void> | undefined {
    const counted = this.#claims.filter(({type}) => type !== 'requests')
    if (counted.length === 0) return undefined
    const changes = counted.map(({key, type}) => ({
      key,
      amount: type === 'tokens' ? actual.tokens : actual.cost_nanousd,
    }))
    return Promise.resolve(this.#on.counters.adjust(changes))
  }

  /** The store was silent: who counts again has to look. */
  #failed(fault: unknown) {
    this.#on.onFault(fault)
    this.#on.onDoubt(this.#claims)
  }

  #sound(amount: number): number {
    if (Number.isSafeInteger(amount) && amount >= 0) return amount
    this.#on.onFault(new Error(`A call used ${amount}, which is no amount; nothing was counted for it.`))
    return 0
  }
}
