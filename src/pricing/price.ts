import {type TokenClass, UNIT} from '../schema/usage.ts'

/** The rates a price can name for tokens, each with the class of usage it is laid on. */
export const CLASS_OF_RATE = {
  input: 'input_uncached_tokens',
  cache_read: 'cache_read_tokens',
  cache_write_5m: 'cache_write_5m_tokens',
  cache_write_1h: 'cache_write_1h_tokens',
  audio_in: 'audio_in_tokens',
  audio_cache_read: 'audio_cache_read_tokens',
  image_in: 'image_in_tokens',
  image_cache_read: 'image_cache_read_tokens',
  output: 'output_text_tokens',
  reasoning: 'output_reasoning_tokens',
  audio_out: 'audio_out_tokens',
  image_out: 'image_out_tokens',
} as const satisfies Record<string, TokenClass>
export type RateName = keyof typeof CLASS_OF_RATE
export const RATE_NAMES = Object.keys(CLASS_OF_RATE) as readonly RateName[]

/** Whole pico-dollars (10⁻¹² USD) a token. A rate that is absent falls back as `effectiveRates` says. */
export type Rates = Readonly<Partial<Record<RateName, number>>>

/** Whole pico-dollars for one unit, or for so many: `[111000000000, 3600]` is 0.111 USD an hour, counted in seconds. */
export type UnitRate = number | readonly [pico: number, per: number]

/**
 * Speech is sold by the hour and counted in seconds; in public, where a price has one number, it goes by the hour,
 * which is exact.
 */
export const SPEECH = {public_unit: 'audio_hours', unit: UNIT.audio_seconds, per: 3600} as const

/** Rates: of tokens, of prompts longer than a bound, and of units by name (see `UNIT`, `imageUnit`). */
export interface Terms {
  readonly rates: Rates
  /** Ascending. The last whose `above` the whole prompt exceeds replaces `rates` for every token of the call. */
  readonly tiers?: readonly Tier[]
  readonly units?: Readonly<Record<string, UnitRate>>
}

export interface Tier {
  readonly above: number
  readonly rates: Rates
}

/**
 * Terms and when they hold. `from` is a UTC date; `hours` are minutes of the UTC day, the second excluded, and may pass
 * midnight.
 */
export interface PricePeriod extends Terms {
  readonly from?: string
  readonly hours?: readonly [start: number, end: number]
  /** Prices of batch jobs; without them a batch costs half. */
  readonly batch?: Terms
}

/** The price of one model at one provider. */
export interface Price {
  readonly provider: string
  readonly model: string
  /**
   * The origin of the price: a package of the catalogue, `set`, `sync`, `bundle`, `proxy`, `log-store`, `local` or
   * `custom`.
   */
  readonly source: string
  /** At least one. The last that holds at a moment is in force; when none does, the first is. */
  readonly periods: readonly PricePeriod[]
  readonly aliases: readonly string[]
  /** The model's dated ids have this price too. */
  readonly dated?: true
  /** US cents of fine-tuning it; no call is charged by it. */
  readonly finetune?: Finetune
  readonly geographies?: Geographies
  /**
   * The geography of the host that this call goes to: its multiplier holds for every token, and without one the call is
   * flagged.
   */
  readonly served_in?: string
  /** How this call is served, where that may cost more than the price says: the call is charged by it, and marked. */
  readonly mode?: string
}

/**
 * By geography, what the price of every token is multiplied by where a request is served there and nowhere else: `{us:
 * 1.1}`. Units cost the same.
 */
export type Geographies = Readonly<Record<string, number>>

export interface Finetune {
  readonly pay_per_token?: {readonly price: number} | undefined
  readonly pay_per_hour?: {readonly price: number} | undefined
}

/** The geography in which tokens cost most; null where all cost the same. */
export function dearestGeography({geographies = {}}: Price): string | null {
  return Object.entries(geographies).reduce<[string | null, number]>(
    (most, [name, by]) => (by > most[1] ? [name, by] : most),
    [null, 1],
  )[0]
}

const DAY_MINUTES = 1440

/** The period of `price` in force at `at_ms` (epoch milliseconds). */
export function periodAt(price: Price, at_ms: number): PricePeriod {
  const {periods} = price
  for (let index = periods.length - 1; index >= 0; index--) {
    const period = periods[index]!
    if (holds(period, at_ms)) return period
  }
  return periods[0]!
}

/** The unit's price: its own; for an image the nearest `default`, its quality before its size. */
export function unitRate(units: Readonly<Record<string, UnitRate>>, unit: string): UnitRate | undefined {
  if (Object.hasOwn(units, unit)) return units[unit]
  const [kind, quality, ...size] = unit.split(':')
  if (kind !== 'image' || quality === undefined) return undefined
  const nearest = [`image:${quality}:default`, `image:default:${size.join(':')}`, 'image:default:default']
  const found = nearest.find(name => Object.hasOwn(units, name))
  return found === undefined ? undefined : units[found]
}

/**
 * The rate of a cache write that lasts an hour, when the price has none: all who sell one (Anthropic, and clouds with
 * its models) take this much of the input.
 */
const HOUR_OF_INPUT = 2

/**
 * `rates` with every gap filled that has a sensible neighbour: cached input costs as input, a five-minute cache write
 * as input, one of an hour as twice that; reasoning as output; audio and images as the text of their direction, their
 * cached part as themselves. So a missing price never makes tokens free; only a model with no input (or output) price
 * at all leaves those classes out.
 */
export function effectiveRates(rates: Rates): Rates {
  const {input, output} = rates
  const cache_read = rates.cache_read ?? input
  const cache_write_5m = rates.cache_write_5m ?? input
  return {
    input,
    cache_read,
    cache_write_5m,
    cache_write_1h:
      rates.cache_write_1h ??
      (input === undefined ? cache_write_5m : Math.max(HOUR_OF_INPUT * input, cache_write_5m ?? 0)),
    audio_in: rates.audio_in ?? input,
    audio_cache_read: rates.audio_cache_read ?? rates.audio_in ?? cache_read,
    image_in: rates.image_in ?? input,
    image_cache_read: rates.image_cache_read ?? rates.image_in ?? cache_read,
    output,
    reasoning: rates.reasoning ?? output,
    audio_out: rates.audio_out ?? output,
    image_out: rates.image_out ?? output,
  }
}

/** True when any rate of a price is above zero, at any time. */
export function isAboveZero({periods}: Price): boolean {
  return periods.some(({rates, tiers = [], units = {}}) =>
    [
      ...[rates, ...tiers.map(tier => tier.rates)].flatMap(each => Object.values(each)),
      ...Object.values(units).map(unit => (typeof unit === 'number' ? unit : unit[0])),
    ].some(rate => rate > 0),
  )
}

function holds(period: PricePeriod, at_ms: number): boolean {
  if (period.from !== undefined && at_ms < Date.parse(`${period.from}T00:00:00Z`)) return false
  if (!period.hours) return true
  const [start, end] = period.hours
  const minute = ((Math.floor(at_ms / 60_000) % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES
  return start <= end ? minute >= start && minute < end : minute >= start || minute < end
}
