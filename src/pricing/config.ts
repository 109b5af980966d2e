import {z} from 'zod'
import {imageUnit, UNIT} from '../schema/usage.ts'
import {type Formula, FormulaFault, ratesOfFormula, readFormula, type Variable} from './calculate.ts'
import {toPico} from './decimal.ts'
import {type Price, type PricePeriod, type RateName, SPEECH, type Terms, type UnitRate} from './price.ts'

/** A pricing config that cannot be used. `path` leads to the field: `pay_as_you_go.request_token.price`. */
export class PricingConfigFault extends Error {
  readonly path: string
  readonly reason: string

  constructor(path: string, reason: string) {
    super(path === '' ? reason : `${path}: ${reason}`)
    this.name = 'PricingConfigFault'
    this.path = path
    this.reason = reason
  }
}

/** Token keys of `pay_as_you_go` → our rates. The text keys are for models that price text and images apart. */
// biome-ignore format: a table is read by its lines
export const RATE_OF_KEY = {
  request_token: 'input', request_text_token: 'input', response_token: 'output', response_text_token: 'output',
  cache_write_input_token: 'cache_write_5m', cache_write_text_input_token: 'cache_write_5m',
  cache_read_input_token: 'cache_read', cache_read_text_input_token: 'cache_read',
  request_audio_token: 'audio_in', response_audio_token: 'audio_out', cache_read_audio_input_token: 'audio_cache_read',
  reasoning_token: 'reasoning', request_image_token: 'image_in', response_image_token: 'image_out', cache_read_image_input_token: 'image_cache_read',
} as const satisfies Record<string, RateName>
type RateKey = keyof typeof RATE_OF_KEY

/** Keys of `additional_units` that are tokens. */
export const RATE_OF_UNIT = {
  cache_write_1h: 'cache_write_1h',
  thinking_token: 'reasoning',
  request_audio_token: 'audio_in',
  response_audio_token: 'audio_out',
} as const satisfies Record<string, RateName>

/**
 * Accepted for the sake of files that have them: those tokens are counted and priced as output, or as a text cache
 * write.
 */
const WITHOUT_EFFECT = [
  'prediction_accepted_token',
  'prediction_rejected_token',
  'cache_write_image_input_token',
] as const

const RATE_OF_VARIABLE: Readonly<Record<Variable, RateName>> = {
  input_tokens: 'input',
  output_tokens: 'output',
  cache_write_tokens: 'cache_write_5m',
  cache_read_tokens: 'cache_read',
  audio_input_tokens: 'audio_in',
  audio_output_tokens: 'audio_out',
  cache_read_audio_tokens: 'audio_cache_read',
  request_audio_tokens: 'audio_in',
  response_audio_tokens: 'audio_out',
}

const price = z.strictObject({price: z.number().nonnegative()})
const unit_name = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/i)
const image_name = z.string().regex(/^[^:]{1,64}$/)
const token_keys = [...(Object.keys(RATE_OF_KEY) as RateKey[]), ...WITHOUT_EFFECT]
const pay_as_you_go = z.strictObject({
  ...(Object.fromEntries(token_keys.map(key => [key, price.optional()])) as Record<
    RateKey,
    z.ZodOptional<typeof price>
  >),
  additional_units: z.record(unit_name, price).optional(),
  image: z.record(image_name, z.record(image_name, price)).optional(),
})
/** Formulas are read by hand (`readFormula`), which is bounded in depth. */
const calculate = z.strictObject({request: z.unknown().optional(), response: z.unknown().optional()})

/** The shape of a pricing config: prices in US cents a token or unit (docs/pricing.md, Use your own price files). */
export const pricing_config = z.strictObject({
  type: z.literal('static').optional(),
  pay_as_you_go: pay_as_you_go.optional(),
  batch_config: pay_as_you_go.nullish(),
  /** Fine-tuning jobs are not priced per call; shown as it was given. */
  finetune_config: z.strictObject({pay_per_token: price.optional(), pay_per_hour: price.optional()}).nullish(),
  /** So much for every request. */
  fixed_cost: price.nullish(),
  calculate: calculate.nullish(),
  /** By geography, what tokens are multiplied by: `{"us": 1.1}`. */
  geographies: z.record(z.string().regex(/^[a-z]{2}$/), z.number().positive().max(100)).optional(),
  currency: z.literal('USD').optional(),
})
type Config = z.infer<typeof pricing_config>
type PayAsYouGo = z.infer<typeof pay_as_you_go>

/** The formulas of a config: the cost of the request, and of the response. */
export interface Calculate {
  readonly request?: Formula
  readonly response?: Formula
}

export interface ConfigOptions {
  readonly provider: string
  readonly model: string
  /** The price's own statement of its origin. */
  readonly source: string
  /** The formulas of the provider's `default`, for a config without its own. */
  readonly calculate?: Calculate | null
}

/**
 * The price that the pricing config `value` describes, exactly: cents become whole pico-dollars or are refused. Throws
 * a PricingConfigFault that names the first field that is wrong.
 */
export function readPricingConfig(value: unknown, options: ConfigOptions): Price {
  const config = parse(value)
  const formulas = formulasOf(config) ?? options.calculate ?? null
  const paid = config.pay_as_you_go ?? {}
  const terms = toTerms(paid, 'pay_as_you_go', formulas)
  const fixed = config.fixed_cost ? {[UNIT.requests]: cents(config.fixed_cost.price, 'fixed_cost.price')} : undefined
  const period: PricePeriod = {
    ...withUnits(terms, fixed),
    ...(config.batch_config && {batch: withUnits(toTerms(config.batch_config, 'batch_config', formulas), fixed)}),
  }
  const {provider, model, source} = options
  const {finetune_config: finetune, geographies} = config
  return {
    provider,
    model,
    source,
    periods: [period],
    aliases: [],
    ...(finetune && {finetune}),
    ...(geographies && {geographies}),
  }
}

/** The formulas of a config, for the models that inherit them. */
export function readCalculate(value: unknown): Calculate | null {
  return formulasOf(parse(value))
}

function formulasOf({calculate: written}: Config): Calculate | null {
  if (!written) return null
  const read = (side: 'request' | 'response') =>
    written[side] === undefined ? {} : {[side]: at(`calculate.${side}`, () => readFormula(written[side]))}
  return {...read('request'), ...read('response')}
}

function parse(value: unknown): Config {
  const parsed = pricing_config.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]!
  throw new PricingConfigFault(issue.path.map(String).join('.'), issue.message)
}

function toTerms(paid: PayAsYouGo, path: string, formulas: Calculate | null): Terms {
  const rates: Partial<Record<RateName, number>> = {}
  const named: Record<string, number> = {}
  for (const key of Object.keys(RATE_OF_KEY) as RateKey[]) {
    const entry = paid[key]
    if (!entry) continue
    const pico = cents(entry.price, `${path}.${key}.price`)
    named[key] = pico
    // A zero beside a text price is a file's filler, not a gift.
    rates[RATE_OF_KEY[key]] = Math.max(rates[RATE_OF_KEY[key]] ?? 0, pico)
  }
  const units: Record<string, UnitRate> = {}
  for (const [name, entry] of Object.entries(paid.additional_units ?? {})) {
    const pico = cents(entry.price, `${path}.additional_units.${name}.price`)
    const rate = Object.hasOwn(RATE_OF_UNIT, name) ? RATE_OF_UNIT[name as keyof typeof RATE_OF_UNIT] : undefined
    if (rate) rates[rate] = pico
    else if (name === SPEECH.public_unit) units[SPEECH.unit] = [pico, SPEECH.per]
    else units[name] = pico
  }
  for (const [quality, sizes] of Object.entries(paid.image ?? {})) {
    for (const [size, entry] of Object.entries(sizes))
      units[imageUnit(quality, size)] = cents(entry.price, `${path}.image.${quality}.${size}.price`)
  }
  for (const side of ['request', 'response'] as const) {
    const written = formulas?.[side]
    if (written) Object.assign(rates, ratesFrom(written, named, `calculate.${side}`))
  }
  return withUnits({rates}, units)
}

function ratesFrom(
  written: Formula,
  named: Readonly<Record<string, number>>,
  path: string,
): Partial<Record<RateName, number>> {
  const rates = [...at(path, () => ratesOfFormula(written, named))].map(
    ([variable, pico]) => [RATE_OF_VARIABLE[variable], pico] as const,
  )
  // A formula is written for every model of a provider: a term whose rate this model does not name says nothing of it.
  return Object.fromEntries(rates.filter(([, pico]) => pico > 0))
}

/** `work` done, its FormulaFault reported as one of the whole config. */
function at<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof FormulaFault)) throw error
    throw new PricingConfigFault(error.path === '' ? path : `${path}.${error.path}`, error.message)
  }
}

function withUnits(terms: Terms, units: Readonly<Record<string, UnitRate>> | undefined): Terms {
  return units && Object.keys(units).length > 0 ? {...terms, units: {...terms.units, ...units}} : terms
}

function cents(value: number, path: string): number {
  const pico = toPico(value, 'cents')
  if (pico === undefined)
    throw new PricingConfigFault(path, `is ${value} cents; expected at most ten decimals and no more than 900000`)
  return pico
}
