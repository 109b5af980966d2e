import {type Price, periodAt, type RateName} from './price.ts'

/** The names that lists of models give to rates (OpenRouter API, Models, pricing). */
const NAMES = {
  prompt: 'input',
  completion: 'output',
  input_cache_read: 'cache_read',
  input_cache_write: 'cache_write_5m',
  internal_reasoning: 'reasoning',
  audio: 'audio_in',
} as const satisfies Readonly<Record<string, RateName>>

const PICO_DIGITS = 12

/**
 * US dollars a token, exact, as texts: what a price names, in force at `at_ms`. Undefined where it names no rate of
 * tokens.
 */
export function pricePerToken(price: Price, at_ms: number): Readonly<Record<string, string>> | undefined {
  const {rates} = periodAt(price, at_ms)
  const named = Object.entries(NAMES).flatMap(([name, rate]) =>
    rates[rate] === undefined ? [] : [[name, usd(rates[rate])] as const],
  )
  return named.length ? Object.fromEntries(named) : undefined
}

/** Whole pico-dollars in dollars, without an exponent. */
function usd(pico: number): string {
  const digits = String(Math.round(pico)).padStart(PICO_DIGITS + 1, '0')
  const fraction = digits.slice(-PICO_DIGITS).replace(/0+$/, '')
  return digits.slice(0, -PICO_DIGITS) + (fraction && `.${fraction}`)
}
