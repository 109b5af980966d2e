import type {InstalledPrice} from '../store/prices.ts'
import {DEFAULT} from './file.ts'
import {lookupKeys} from './names.ts'
import type {Price} from './price.ts'
import type {PriceLayer} from './prices.ts'

/** The stored columns of an installed price beside its names. */
export type KeptPrice = Pick<Price, 'periods' | 'aliases' | 'dated' | 'finetune' | 'geographies'>

/** An installed price, read when it is first needed. */
class Row {
  readonly #text: string | null
  readonly #provider: string
  readonly #source: string
  #price: Price | null | undefined
  readonly model: string
  readonly revision: number
  readonly from_ms: number
  readonly until_ms: number

  constructor({provider, model, price, kind, revision, effective_at, withdrawn_at}: InstalledPrice) {
    this.#text = price
    this.#provider = provider
    this.#source = kind
    this.model = model
    this.revision = revision
    this.from_ms = Date.parse(effective_at)
    this.until_ms = withdrawn_at === null ? Infinity : Date.parse(withdrawn_at)
  }

  /** Null: the revision takes the model's price away. */
  get price(): Price | null {
    if (this.#price === undefined) {
      const kept = this.#text === null ? null : (JSON.parse(this.#text) as KeptPrice)
      this.#price = kept && {provider: this.#provider, model: this.model, source: this.#source, ...kept}
    }
    return this.#price
  }
}

class Shelf {
  readonly #rows = new Map<string, Row[]>()
  readonly #aliases = new Map<string, string>()

  add(row: Row) {
    const key = row.model.toLowerCase()
    const rows = this.#rows.get(key)
    if (rows) rows.push(row)
    else this.#rows.set(key, [row])
  }

  /** The latest to begin wins, then the latest to be installed. */
  sort() {
    for (const [key, rows] of this.#rows) {
      rows.sort((one, other) => other.from_ms - one.from_ms || other.revision - one.revision)
      for (const row of rows) for (const alias of row.price?.aliases ?? []) this.#aliases.set(alias.toLowerCase(), key)
    }
  }

  find(names: readonly string[], at_ms: number): Price | undefined {
    for (const name of names) {
      const found = this.at(name, at_ms)
      if (found) return found
    }
    for (const name of names) {
      const id = this.#aliases.get(name)
      const found = id === undefined ? undefined : this.at(id, at_ms)
      if (found?.aliases.some(alias => alias.toLowerCase() === name)) return found
    }
    return undefined
  }

  at(id: string, at_ms: number): Price | undefined {
    return this.#rows.get(id)?.find(row => row.from_ms <= at_ms && at_ms < row.until_ms)?.price ?? undefined
  }

  all(at_ms: number): Price[] {
    return [...this.#rows.keys()].flatMap(id => this.at(id, at_ms) ?? [])
  }
}

/**
 * The installed prices, in memory: those set one by one, and those synced or brought by a bundle in place of the
 * catalogue's.
 */
export class InstalledPrices {
  readonly #now_ms: () => number
  #set = new Map<string, Shelf>()
  #synced = new Map<string, Shelf>()
  #bounds: readonly number[] = []
  readonly set: PriceLayer
  readonly synced: PriceLayer

  constructor(now_ms: () => number) {
    this.#now_ms = now_ms
    this.set = this.#layer(() => this.#set)
    this.synced = this.#layer(() => this.#synced)
  }

  /** Takes `rows` in place of all that was held. */
  replace(rows: readonly InstalledPrice[]) {
    const set = new Map<string, Shelf>()
    const synced = new Map<string, Shelf>()
    const bounds = new Set<number>()
    for (const installed of rows) {
      const shelves = installed.kind === 'set' ? set : synced
      const shelf = shelves.get(installed.provider) ?? new Shelf()
      shelves.set(installed.provider, shelf)
      const row = new Row(installed)
      shelf.add(row)
      bounds.add(row.from_ms)
      if (row.until_ms !== Infinity) bounds.add(row.until_ms)
    }
    for (const shelf of [...set.values(), ...synced.values()]) shelf.sort()
    this.#set = set
    this.#synced = synced
    this.#bounds = [...bounds].sort((one, other) => one - other)
  }

  /**
   * The time around `at_ms` in which no installed price begins or ends: its first millisecond, and the first after it.
   */
  span(at_ms: number): {readonly from_ms: number; readonly until_ms: number} {
    const from_ms = this.#bounds.findLast(bound => bound <= at_ms) ?? -Infinity
    const until_ms = this.#bounds.find(bound => bound > at_ms) ?? Infinity
    return {from_ms, until_ms}
  }

  /** The synced price of a model by its own id. */
  installed(provider: string, model: string, at_ms: number): Price | undefined {
    return this.#synced.get(provider)?.at(model.toLowerCase(), at_ms)
  }

  installedOf(provider: string, at_ms: number): readonly Price[] {
    return this.#synced.get(provider)?.all(at_ms) ?? []
  }

  #layer(shelves: () => ReadonlyMap<string, Shelf>): PriceLayer {
    return {
      find: (provider, model, at_ms) => shelves().get(provider)?.find(lookupKeys(provider, model), at_ms),
      fallback: (provider, at_ms) => shelves().get(provider)?.at(DEFAULT, at_ms),
      list: () =>
        [...shelves().values()].flatMap(shelf => shelf.all(this.#now_ms())).filter(({model}) => model !== DEFAULT),
    }
  }
}
