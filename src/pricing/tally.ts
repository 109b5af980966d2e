import {addUsage, emptyUsage, type Usage} from '../schema/usage.ts'
import {type CostOptions, nanoOf, type Share, sharesOf, termsOf} from './cost.ts'
import {type Price, periodAt} from './price.ts'

/**
 * What several requests cost that are charged as one: each is priced by itself, as its tier depends on its own length, all are added
 * exactly, and the sum is rounded once (core rule 13).
 */
export class Tally {
  readonly #picos = new Map<bigint, bigint>()
  #usage: Usage = emptyUsage()
  #unpriced = false
  #requests = 0

  add(usage: Usage, price: Price | undefined, {at, batch = false}: CostOptions): void {
    this.#usage = addUsage(this.#usage, usage)
    this.#requests++
    const {shares, unpriced} = price ? sharesOf(usage, termsOf(periodAt(price, at), batch)) : UNPRICED
    this.#unpriced ||= unpriced
    for (const {pico, per} of shares) this.#picos.set(per, (this.#picos.get(per) ?? 0n) + pico)
  }

  get requests(): number {
    return this.#requests
  }

  get usage(): Usage {
    return this.#usage
  }

  get unpriced(): boolean {
    return this.#unpriced
  }

  get cost_nanousd(): number {
    return nanoOf([...this.#picos].map(([per, pico]): Share => ({pico, per})))
  }
}

const UNPRICED: ReturnType<typeof sharesOf> = {shares: [], unpriced: true}
