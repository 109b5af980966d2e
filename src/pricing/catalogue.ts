import {withAudioRates} from './audio-rates.ts'
import bundled_file from './data/catalogue.json' with {type: 'json'}
import {lookupKeys, pricedAs} from './names.ts'
import type {Geographies, Price, PricePeriod, Terms} from './price.ts'

/** The catalogue as it is kept: `src/pricing/data/catalogue.json`, written by `bin/prices.ts`. */
export interface CatalogueFile {
  /** The UTC date on which the catalogue was built. */
  readonly as_of: string
  /** Short name → the package the prices were read from. */
  readonly sources: Readonly<Record<string, SourcePackage>>
  /** Provider slug → model id → row. */
  readonly models: Readonly<Record<string, Readonly<Record<string, CatalogueRow>>>>
}

export interface SourcePackage {
  readonly package: string
  readonly version: string
  readonly license: string
}

/**
 * A row has the terms of its only period, or `periods`. `dated` says that the source gives this price to the model's
 * dated ids too.
 */
export type CatalogueRow = {
  readonly source: string
  readonly aliases?: readonly string[]
  readonly dated?: true
  readonly geographies?: Geographies
} & (Terms | {readonly periods: readonly PricePeriod[]})

export interface Catalogue {
  readonly as_of: string
  readonly sources: CatalogueFile['sources']
  /**
   * The price of `model` at `provider`, however it is spelled (`lookupKeys`); undefined when it has none. Its own slug
   * and id are in it.
   */
  lookup(provider: string, model: string): Price | undefined
  /** The same among the provider's own rows. */
  find(provider: string, model: string): Price | undefined
  /** Every price, by provider and model; aliases are inside their row. */
  list(): readonly Price[]
  /** The slugs of all providers that have a price, sorted. */
  providers(): readonly string[]
}

const DATED = /[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$/

/** A catalogue over `file`. Rows become prices when they are first read, and stay the same objects. */
export function openCatalogue(file: CatalogueFile): Catalogue {
  const shelves = new Map<string, Shelf>()
  const shelf = (provider: string): Shelf | undefined => {
    const rows = Object.hasOwn(file.models, provider) ? file.models[provider] : undefined
    return (
      rows &&
      remembered(shelves, provider, () => openShelf(provider, rows, (other, model) => shelf(other)?.find(model)))
    )
  }
  const providers = Object.keys(file.models).sort()
  return {
    as_of: file.as_of,
    sources: file.sources,
    lookup(provider, model) {
      for (const candidate of pricedAs(provider)) {
        const found = shelf(candidate)?.find(model)
        if (found) return found
      }
      return undefined
    },
    find: (provider, model) => shelf(provider)?.find(model),
    list: () => providers.flatMap(provider => shelf(provider)!.all()),
    providers: () => providers,
  }
}

/**
 * The rows of the catalogue inside this program, as a list of prices that another gateway takes: with the rates for
 * sound that they are charged by.
 */
export function bundledList(): {readonly as_of: string; readonly providers: CatalogueFile['models']} {
  const {as_of, models} = bundled_file as unknown as CatalogueFile
  const catalogue = bundledCatalogue()
  const providers = Object.entries(models).map(([provider, rows]) => {
    const priced = Object.entries(rows).map(([model, row]) => [model, charged(row, catalogue.find(provider, model)!)])
    return [provider, Object.fromEntries(priced)]
  })
  return {as_of, providers: Object.fromEntries(providers)}
}

function charged(row: CatalogueRow, {periods}: Price): CatalogueRow {
  return 'periods' in row ? {...row, periods} : {...row, rates: periods[0]!.rates}
}

let opened: Catalogue | undefined

/** The catalogue inside this program, opened at the first call. */
export function bundledCatalogue(): Catalogue {
  opened ??= openCatalogue(bundled_file as unknown as CatalogueFile)
  return opened
}

/** The models of a kind of provider in it, without making their prices. */
export function bundledModels(kind: string): readonly string[] {
  const {models} = bundled_file as unknown as CatalogueFile
  return Object.hasOwn(models, kind) ? Object.keys(models[kind]!) : []
}

interface Shelf {
  find(model: string): Price | undefined
  all(): readonly Price[]
}

function openShelf(
  provider: string,
  rows: Readonly<Record<string, CatalogueRow>>,
  findAt: (provider: string, model: string) => Price | undefined,
): Shelf {
  const ids = new Map<string, string>()
  for (const [id, {aliases = []}] of Object.entries(rows)) {
    for (const name of aliases) ids.set(name.toLowerCase(), id)
  }
  for (const id of Object.keys(rows)) ids.set(id.toLowerCase(), id)
  const prices = new Map<string, Price>()
  const priceOf = (id: string): Price =>
    remembered(prices, id, () => withAudioRates(toPrice(provider, id, rows[id]!), findAt))
  return {
    find(model) {
      const keys = lookupKeys(provider, model)
      const id = keys.map(key => ids.get(key)).find(found => found !== undefined)
      if (id !== undefined) return priceOf(id)
      const family = keys
        .map(key => ids.get(key.replace(DATED, '')))
        .find(found => found !== undefined && rows[found]!.dated)
      return family === undefined ? undefined : priceOf(family)
    },
    all: () => Object.keys(rows).map(priceOf),
  }
}

function toPrice(provider: string, model: string, row: CatalogueRow): Price {
  const {source, aliases = [], dated, geographies} = row
  const periods = 'periods' in row ? row.periods : [{rates: row.rates, tiers: row.tiers, units: row.units}]
  return {provider, model, source, periods, aliases, ...(dated && {dated}), ...(geographies && {geographies})}
}

function remembered<T>(known: Map<string, T>, key: string, make: () => T): T {
  const held = known.get(key)
  if (held !== undefined) return held
  const made = make()
  known.set(key, made)
  return made
}
