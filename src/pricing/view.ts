import {
  effectiveRates,
  type Finetune,
  type Geographies,
  type Price,
  periodAt,
  type RateName,
  type Rates,
  SPEECH,
  type Terms,
  type UnitRate,
} from './price.ts'

/** US cents for one. */
export interface PublicPrice {
  readonly price: number
}

/** The price of a model as `GET /model-configs/pricing/{provider}/{model}` shows it: US cents a token or unit. */
export interface PublicPricing {
  readonly pay_as_you_go: PublicTerms
  readonly batch_config?: PublicTerms
  readonly calculate: {readonly request: Sum; readonly response: Sum}
  readonly currency: 'USD'
  readonly finetune_config?: Finetune
  readonly geographies?: Geographies
}

interface Sum {
  readonly operation: 'sum'
  readonly operands: readonly Product[]
}

interface Product {
  readonly operation: 'multiply'
  readonly operands: readonly {readonly value: string}[]
}

/** US cents for prompts longer than `above` tokens. */
export interface PublicTier {
  readonly above: number
  readonly pay_as_you_go: PublicTerms
}

export type PublicTerms = Readonly<Record<keyof typeof EFFECTIVE, PublicPrice>> &
  Readonly<Partial<Record<keyof typeof NAMED, PublicPrice>>> & {
    readonly additional_units?: Record<string, PublicPrice>
    readonly image?: Record<string, Record<string, PublicPrice>>
  }

const PICO_A_CENT = 1e10

/** Always shown, at what is charged: a rate the model does not name is the one it falls back to. */
const EFFECTIVE = {
  request_token: 'input',
  response_token: 'output',
  cache_write_input_token: 'cache_write_5m',
  cache_read_input_token: 'cache_read',
} as const satisfies Record<string, RateName>
/** Shown where the model names them. */
const NAMED = {
  request_audio_token: 'audio_in',
  response_audio_token: 'audio_out',
  cache_read_audio_input_token: 'audio_cache_read',
  reasoning_token: 'reasoning',
  request_image_token: 'image_in',
  response_image_token: 'image_out',
  cache_read_image_input_token: 'image_cache_read',
} as const satisfies Record<string, RateName>

/**
 * `price` in the public shape, as in force at `at_ms`. The shape has no place for tiers: it shows the price of a prompt
 * below the first. `readPricingConfig` reads it back to the same charges.
 */
export function toPublicPricing(price: Price, at_ms: number): PublicPricing {
  const period = periodAt(price, at_ms)
  return {
    pay_as_you_go: toPublicTerms(period),
    ...(period.batch && {batch_config: toPublicTerms(period.batch)}),
    calculate: formulas(period.rates),
    currency: 'USD',
    ...(price.finetune && {finetune_config: price.finetune}),
    ...(hasMultiplier(price) && {geographies: price.geographies}),
  }
}

/** One that costs the same everywhere needs no mention. */
function hasMultiplier({geographies = {}}: Price): boolean {
  return Object.values(geographies).some(by => by !== 1)
}

/** The prices that hold for longer prompts, as in force at `at_ms`, shortest first. */
export function toPublicTiers(price: Price, at_ms: number): readonly PublicTier[] {
  return (periodAt(price, at_ms).tiers ?? []).map(({above, rates}) => ({above, pay_as_you_go: toPublicTerms({rates})}))
}

function toPublicTerms({rates, units = {}}: Terms): PublicTerms {
  const effective = effectiveRates(rates)
  const tokens: Record<string, PublicPrice> = {}
  for (const [key, rate] of Object.entries(EFFECTIVE)) tokens[key] = cents(effective[rate] ?? 0)
  for (const [key, rate] of Object.entries(NAMED)) if (rates[rate] !== undefined) tokens[key] = cents(rates[rate])

  const additional: Record<string, PublicPrice> = {}
  if (rates.cache_write_1h !== undefined) additional.cache_write_1h = cents(rates.cache_write_1h)
  const image: Record<string, Record<string, PublicPrice>> = {}
  for (const [name, rate] of Object.entries(units)) {
    const [kind, quality, ...size] = name.split(':')
    if (name === SPEECH.unit && typeof rate !== 'number' && rate[1] === SPEECH.per)
      additional[SPEECH.public_unit] = cents(rate[0])
    else if (kind !== 'image' || quality === undefined) additional[name] = cents(rate)
    else image[quality] = {...image[quality], [size.join(':')]: cents(rate)}
  }
  // Keys that came through Object.entries are plain strings to the compiler.
  return {
    ...tokens,
    ...(Object.keys(additional).length > 0 && {additional_units: additional}),
    ...(Object.keys(image).length > 0 && {image}),
  } as unknown as PublicTerms
}

/**
 * The quotient of two exact doubles is the double nearest to the true price, so its text is the decimal. Per several:
 * rounded so.
 */
function cents(rate: UnitRate): PublicPrice {
  return {price: typeof rate === 'number' ? rate / PICO_A_CENT : rate[0] / (rate[1] * PICO_A_CENT)}
}

function formulas(rates: Rates): PublicPricing['calculate'] {
  const request = [
    times('input_tokens', 'request_token'),
    times('cache_write_tokens', 'cache_write_input_token'),
    times('cache_read_tokens', 'cache_read_input_token'),
    ...(rates.audio_in === undefined ? [] : [times('request_audio_tokens', 'request_audio_token')]),
    ...(rates.audio_cache_read === undefined ? [] : [times('cache_read_audio_tokens', 'cache_read_audio_input_token')]),
  ]
  const response = [
    times('output_tokens', 'response_token'),
    ...(rates.audio_out === undefined ? [] : [times('response_audio_tokens', 'response_audio_token')]),
  ]
  return {request: {operation: 'sum', operands: request}, response: {operation: 'sum', operands: response}}
}

function times(count: string, rate: string): Product {
  return {operation: 'multiply', operands: [{value: count}, {value: `rates.${rate}`}]}
}
