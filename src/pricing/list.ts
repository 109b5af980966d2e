import {createHash} from 'node:crypto'
import type {Catalogue} from './catalogue.ts'
import {PricingConfigFault} from './config.ts'
import {DEFAULT, readPriceFile} from './file.ts'
import type {KeptPrice} from './installed.ts'
import type {Price} from './price.ts'

/** Prices of many providers as they are carried: provider → model → row (`readPriceFile`). */
export interface PriceList {
  readonly format: typeof PRICE_LIST
  /** The UTC date the prices are of. */
  readonly as_of?: string | undefined
  readonly providers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}
export const PRICE_LIST = 'gateway-prices/1'

/** A list that was read: each price, its provider's `default` among them where it is worth something. */
export interface ReadList {
  readonly prices: readonly Price[]
  readonly providers: ReadonlySet<string>
  /** SHA-256 of what it says, whatever the order it says it in. */
  readonly digest: string
}

/**
 * Reads every price of a list. Throws a PricingConfigFault with the path: `providers.openai.gpt-4o.pricing_config...`.
 */
export function readPriceList({providers}: Pick<PriceList, 'providers'>, source: string): ReadList {
  const prices = Object.entries(providers).flatMap(([provider, rows]) => {
    const {models, fallback} = at(provider, () => readPriceFile(rows, provider, source))
    return [...models.values(), ...(fallback ? [fallback] : [])]
  })
  const entries = prices.map(price => `${price.provider}\n${price.model.toLowerCase()}\n${sameText(price)}`).sort()
  return {
    prices,
    providers: new Set(Object.keys(providers)),
    digest: createHash('sha256').update(entries.join('\n')).digest('hex'),
  }
}

function at<T>(provider: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof PricingConfigFault)) throw error
    throw new PricingConfigFault(`providers.${provider}${error.path ? `.${error.path}` : ''}`, error.reason)
  }
}

/** The change of one model's price. */
export interface PriceChange {
  readonly provider: string
  readonly model: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly before: Price | null
  /** Null: the installed price is removed; the one below it (`below`) applies again. */
  readonly after: Price | null
}

/** The prices in force that a list would replace. */
export interface InForce {
  /** The installed price of a model, by its own id. */
  installed(provider: string, model: string): Price | undefined
  /** Every installed price of a provider. */
  installedOf(provider: string): readonly Price[]
  readonly catalogue: Catalogue
}

/**
 * The changes of `list`: models it prices otherwise than they are now, and installed prices of its providers that it
 * does not name any more. Providers that it does not name stay as they are.
 */
export function changesOf(
  {prices, providers}: ReadList,
  {installed, installedOf, catalogue}: InForce,
): readonly PriceChange[] {
  const changes: PriceChange[] = []
  const named = new Set<string>()
  for (const after of prices) {
    const {provider, model} = after
    named.add(`${provider}\n${model.toLowerCase()}`)
    const before =
      installed(provider, model) ?? (model === DEFAULT ? undefined : catalogue.find(provider, model)) ?? null
    if (before && sameText(before) === sameText(after)) continue
    changes.push({provider, model, change: before ? 'changed' : 'added', before, after})
  }
  for (const provider of providers) {
    for (const before of installedOf(provider)) {
      if (named.has(`${provider}\n${before.model.toLowerCase()}`)) continue
      changes.push({provider, model: before.model, change: 'removed', before, after: null})
    }
  }
  return changes
}

/** A price as it is written into the database. */
export function keptText({periods, aliases, dated, finetune, geographies}: Price): string {
  const more = {...(dated && {dated}), ...(finetune && {finetune}), ...(geographies && {geographies})}
  return JSON.stringify({periods, aliases, ...more} satisfies KeptPrice)
}

/** The same text for the same charges. */
function sameText({periods}: Price): string {
  return JSON.stringify(sorted(periods))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  )
}
