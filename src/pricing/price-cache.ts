import {pricedAs} from './names.ts'
import {isAboveZero, type Price} from './price.ts'
import type {Prices} from './prices.ts'

const MAX_KEPT = 10_000
const KEPT_MS = 60_000

/** Prices that say when they change. */
export interface ChangingPrices extends Prices {
  /** The time around `at_ms` in which no installed price begins or ends. */
  span(at_ms: number): {readonly from_ms: number; readonly until_ms: number}
}

/**
 * Prices by the words of calls: looking one up by all the names of a model costs more than a call should pay every
 * time. What is kept holds for one span between changes of installed prices; calls of before it are looked up for
 * themselves.
 */
export class PriceCache {
  readonly #prices: ChangingPrices
  readonly #now: () => number
  /** By provider and model: no key is made of both, which every call would have to hash. */
  readonly #known = new Map<string, Map<string, Price | null>>()
  #size = 0
  #since_ms = -Infinity
  #from_ms = 0
  #until_ms = 0
  #charging: {readonly kinds: ReadonlySet<string>; readonly since_ms: number} | undefined

  constructor(prices: ChangingPrices, now: () => number) {
    this.#prices = prices
    this.#now = now
  }

  find(provider: string, model: string, at_ms: number): Price | undefined {
    const now_ms = this.#now()
    if (this.#size >= MAX_KEPT || now_ms - this.#since_ms > KEPT_MS || at_ms >= this.#until_ms)
      this.#begin(now_ms, at_ms)
    if (at_ms < this.#from_ms) return this.#prices.lookup(provider, model, at_ms)
    const models = this.#known.get(provider)
    const known = models?.get(model)
    if (known !== undefined) return known ?? undefined
    const price = this.#prices.lookup(provider, model, at_ms)
    if (models) models.set(model, price ?? null)
    else this.#known.set(provider, new Map([[model, price ?? null]]))
    this.#size++
    return price
  }

  /**
   * True for a kind of provider of which any model, or any of a kind that it shares prices with, has a price above 0.
   */
  charges(provider: string): boolean {
    const now_ms = this.#now()
    if (!this.#charging || now_ms - this.#charging.since_ms > KEPT_MS)
      this.#charging = {
        kinds: new Set(
          this.#prices
            .list()
            .filter(isAboveZero)
            .map(price => price.provider),
        ),
        since_ms: now_ms,
      }
    const {kinds} = this.#charging
    return pricedAs(provider).some(kind => kinds.has(kind))
  }

  forget() {
    this.#since_ms = -Infinity
    this.#charging = undefined
  }

  #begin(now_ms: number, at_ms: number) {
    const {from_ms, until_ms} = this.#prices.span(Math.max(now_ms, at_ms))
    this.#known.clear()
    this.#size = 0
    this.#since_ms = now_ms
    this.#from_ms = from_ms
    this.#until_ms = until_ms
  }
}
