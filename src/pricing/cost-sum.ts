import type {Hop} from '../schema/hops.ts'
import {addUsage, emptyUsage, geographyOf, isEmptyUsage, modeOf, UNIT, type Usage} from '../schema/usage.ts'
import {type CostOptions, chargedTerms, nanoOf, type Share, sharesOf, unpricedUnits} from './cost.ts'
import {type Price, periodAt} from './price.ts'

/** Of so many paths some are named. */
const MAX_UNKNOWN = 64

/** The usage of a request, and the parts of it that are charged by themselves. */
export interface HopsUsage {
  readonly usage: Usage
  readonly hops: readonly Hop[]
}

/**
 * The cost of several requests that are charged as one: each is priced by itself, as its tier depends on its own
 * length, all are added exactly, and the sum is rounded once (core rule 13).
 */
export class CostSum {
  readonly #picos = new Map<bigint, bigint>()
  #usage: Usage = emptyUsage()
  #unpriced = false
  readonly #unpriced_units = new Set<string>()
  readonly #unknown = new Set<string>()
  #mode: string | undefined
  #requests = 0

  add(usage: Usage, price: Price | undefined, options: CostOptions): void {
    this.#count(usage)
    this.#charge(usage, price, options)
  }

  /**
   * One request whose parts are charged by themselves, at the price that `priceOf` gives for each's model; null: the
   * call's own. What is no token is of the whole call, and charged once. Models of parts that have no price are among
   * `unpriced_units`.
   */
  addHops({usage, hops}: HopsUsage, priceOf: (model: string | null) => Price | undefined, options: CostOptions): void {
    this.#count(usage)
    const own = priceOf(null)
    const billed = hops.filter(hop => hop.is_billed && !isEmptyUsage(hop.usage))
    const is_by_request = own !== undefined && periodAt(own, options.at).units?.[UNIT.requests] !== undefined
    const units = billed.length > 0 && is_by_request ? {...usage.units, [UNIT.requests]: 1} : usage.units
    if (own || !isEmptyUsage({units})) this.#charge({...emptyUsage(), units}, own, options)
    const served = Object.fromEntries(Object.entries(usage.units).filter(([unit]) => geographyOf(unit) !== null))
    for (const {model, usage: part} of billed) {
      const price = priceOf(model)
      this.#charge({...part, units: {...served, [UNIT.requests]: 0}}, price, options)
      if (!price && model !== null) this.#unpriced_units.add(`model ${model}`)
    }
  }

  #count(usage: Usage) {
    this.#usage = addUsage(this.#usage, usage)
    for (const path of usage.unknown ?? []) if (this.#unknown.size < MAX_UNKNOWN) this.#unknown.add(path)
    this.#mode ??= usage.mode
    this.#requests++
  }

  #charge(usage: Usage, price: Price | undefined, {at, batch = false}: CostOptions) {
    const terms = price && chargedTerms(price, periodAt(price, at), batch)
    const {shares, unpriced_units} = terms
      ? sharesOf(usage, terms)
      : {shares: [], unpriced_units: unpricedUnits(usage.units ?? {}, undefined)}
    this.#mode ??= price?.mode
    this.#unpriced ||= !price || unpriced_units.length > 0
    for (const unit of unpriced_units) this.#unpriced_units.add(unit)
    for (const {pico, per} of shares) this.#picos.set(per, (this.#picos.get(per) ?? 0n) + pico)
  }

  get requests(): number {
    return this.#requests
  }

  /** The sum, with the numbers of any report that its reader does not know. */
  get usage(): Usage {
    return this.#unknown.size > 0 ? {...this.#usage, unknown: [...this.#unknown]} : this.#usage
  }

  get unpriced(): boolean {
    return this.#unpriced
  }

  get unpriced_units(): readonly string[] {
    return [...this.#unpriced_units]
  }

  get mode_unpriced(): string | null {
    return this.#mode ?? modeOf(this.#usage)
  }

  get cost_nanousd(): number {
    return nanoOf([...this.#picos].map(([per, pico]): Share => ({pico, per})))
  }
}
