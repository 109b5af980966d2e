import type {Actual, Counters, Soon} from '../ports/counters/index.ts'
import type {LimitClaim} from './claims.ts'
import {countedOf} from './enforcement.ts'

/** What was claimed for one call. It is settled or released once; whatever comes after that does nothing. Neither ever throws. */
export class Admission {
  /** The counters that were claimed: what an intent stores. */
  readonly counter_keys: readonly string[]
  /** True when tokens or cost are limited, so that a stream should say its usage. */
  readonly counts_usage: boolean
  /** The strict limits of tokens and cost among them, which attempts hold; null when there are none. */
  readonly held: readonly LimitClaim[] | null
  readonly #counters: Counters
  readonly #id: string
  readonly #claims: readonly LimitClaim[]
  readonly #onFault: (fault: unknown) => void
  #isOpen = true

  constructor(counters: Counters, id: string, claims: readonly LimitClaim[], onFault: (fault: unknown) => void) {
    this.#counters = counters
    this.#id = id
    this.#claims = claims
    this.#onFault = onFault
    this.counter_keys = claims.map(({key}) => key)
    this.counts_usage = claims.some(claim => countedOf(claim) !== 'requests')
    this.held = claims.some(claim => claim.held) ? claims.flatMap(({held}) => held ?? []) : null
  }

  /** Counts what the call really used. */
  settle(said: Actual): void {
    this.#end({tokens: this.#sound(said.tokens), cost_nanousd: this.#sound(said.cost_nanousd)})
  }

  /** Gives everything back: the call never left. */
  release(): void {
    this.#end(null)
  }

  #end(actual: Actual | null) {
    if (!this.#isOpen) return
    this.#isOpen = false
    try {
      const known: Soon<boolean> = actual ? this.#counters.settle(this.#id, actual) : this.#counters.release(this.#id)
      if (known instanceof Promise) known.then(found => this.#unlessKnown(found, actual)).catch(fault => this.#onFault(fault))
      else this.#unlessKnown(known, actual)?.catch(fault => this.#onFault(fault))
    } catch (fault) {
      this.#onFault(fault)
    }
  }

  /** The store was silent at the claim, or lost it since: what was used still counts where there is a counter for it. */
  #unlessKnown(known: boolean, actual: Actual | null): Promise<void> | undefined {
    if (known || !actual) return undefined
    const counted = this.#claims.filter(({type}) => type !== 'requests')
    const changes = counted.map(({key, type}) => ({key, amount: type === 'tokens' ? actual.tokens : actual.cost_nanousd}))
    return Promise.resolve(this.#counters.adjust(changes))
  }

  #sound(amount: number): number {
    if (Number.isSafeInteger(amount) && amount >= 0) return amount
    this.#onFault(new Error(`A call used ${amount}, which is no amount; nothing was counted for it.`))
    return 0
  }
}
