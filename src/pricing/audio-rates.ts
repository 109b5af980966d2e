import {pricedAs} from './names.ts'
import {type Price, periodAt, type Rates} from './price.ts'

const SOUND_RATES = ['audio_in', 'audio_cache_read', 'audio_out'] as const

/**
 * Models that talk and whose sound no source of the catalogue prices. OpenAI's list of prices, by the million tokens:
 * 40 and 80, 10 and 20 US dollars.
 */
const LISTED: Readonly<Record<string, Rates>> = {
  'openai gpt-4o-audio-preview': {audio_in: 40_000_000, audio_out: 80_000_000},
  'openai gpt-4o-mini-audio-preview': {audio_in: 10_000_000, audio_out: 20_000_000},
}

/**
 * `price` with rates for sound where its row has none: those of its maker's list, or of the provider that sells the
 * same at the same price.
 */
export function withAudioRates(price: Price, find: (provider: string, model: string) => Price | undefined): Price {
  const {provider, model, periods} = price
  if (periods.some(({rates}) => SOUND_RATES.some(rate => rates[rate] !== undefined))) return price
  const rates = LISTED[`${provider} ${model}`] ?? soundOf(sameAs(provider, model).map(([other, id]) => find(other, id)))
  return rates ? {...price, periods: periods.map(period => ({...period, rates: {...rates, ...period.rates}}))} : price
}

/**
 * Other listings of the same model: at the provider whose prices apply, and at the maker that a reseller's id begins
 * with.
 */
function sameAs(provider: string, model: string): readonly (readonly [provider: string, model: string])[] {
  const [, maker, id] = /^(openai|google)\/(.+)$/.exec(model) ?? []
  const [, ...others] = pricedAs(provider)
  return [...others.map(other => [other, model] as const), ...(maker && id ? [[maker, id] as const] : [])]
}

function soundOf(prices: readonly (Price | undefined)[]): Rates | undefined {
  for (const price of prices) {
    const rates = price && periodAt(price, Infinity).rates
    const sound = SOUND_RATES.flatMap(rate => (rates?.[rate] === undefined ? [] : [[rate, rates[rate]] as const]))
    if (sound.length > 0) return Object.fromEntries(sound)
  }
  return undefined
}
