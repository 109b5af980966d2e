import type {Catalogue} from './catalogue.ts'
import {pricedAs} from './names.ts'
import type {Price} from './price.ts'

/** Looks up the price of a call. */
export interface Prices {
  /** The price of a model for calls admitted at `at_ms` (epoch milliseconds; now by default). */
  lookup(provider: string, model: string, at_ms?: number): Price | undefined
  /** Every price that a model is named with, as of now, by provider and model. */
  list(): readonly Price[]
}

/** One source of prices. Answers at once, from memory. */
export interface PriceLayer {
  find(provider: string, model: string, at_ms: number): Price | undefined
  /** The price of the provider's models without a price of their own. */
  fallback?(provider: string, at_ms: number): Price | undefined
  list(): readonly Price[]
}

export interface PricesOptions {
  /** Read in this order, before the catalogue. */
  readonly layers: readonly PriceLayer[]
  /** The prices that were installed in place of catalogue rows. */
  readonly synced: PriceLayer | null
  readonly catalogue: Catalogue
  readonly now_ms: () => number
}

/**
 * The catalogue with other sources over it, model by model. A model is priced by the first layer that names it; else by
 * what was installed over the catalogue; else by the catalogue; else by the first `default` that prices anything.
 */
export function openPrices({layers, synced, catalogue, now_ms}: PricesOptions): Prices {
  if (layers.length === 0 && !synced) return catalogue
  const defaults = synced ? [...layers, synced] : layers

  function named(provider: string, model: string, at_ms: number): Price | undefined {
    for (const layer of layers) {
      const found = layer.find(provider, model, at_ms)
      if (found) return found
    }
    return undefined
  }

  /**
   * Another provider's row is used only when neither the installed prices nor the catalogue have one of the provider's
   * own.
   */
  function listed(provider: string, model: string, at_ms: number): Price | undefined {
    if (!synced) return catalogue.lookup(provider, model)
    for (const candidate of pricedAs(provider)) {
      const bundled = catalogue.find(candidate, model)
      const found =
        synced.find(candidate, model, at_ms) ?? (bundled && synced.find(candidate, bundled.model, at_ms)) ?? bundled
      if (found) return found
    }
    return undefined
  }

  function fallback(provider: string, at_ms: number): Price | undefined {
    for (const layer of defaults) {
      const found = layer.fallback?.(provider, at_ms)
      if (found) return found
    }
    return undefined
  }

  const lookup = (provider: string, model: string, at_ms = now_ms()) =>
    named(provider, model, at_ms) ?? listed(provider, model, at_ms) ?? fallback(provider, at_ms)
  return {
    lookup,
    list() {
      const at_ms = now_ms()
      const over = defaults.flatMap(layer => layer.list())
      if (over.length === 0) return catalogue.list()
      return [...over, ...catalogue.list()]
        .filter(price => lookup(price.provider, price.model, at_ms) === price)
        .sort((one, other) => order(one.provider, other.provider) || order(one.model, other.model))
    },
  }
}

const order = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
