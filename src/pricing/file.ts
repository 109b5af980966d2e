import {z} from 'zod'
import {isObject} from '../base/json-object.ts'
import {PricingConfigFault, readCalculate, readPricingConfig} from './config.ts'
import {type Price, type PricePeriod, RATE_NAMES, type RateName} from './price.ts'

/** The prices of one provider: its models by lower-case id, and its `default` where that is worth something. */
export interface PriceFile {
  readonly models: ReadonlyMap<string, Price>
  readonly fallback: Price | undefined
}

/** The key that holds the formulas and the price of every other model of a provider. */
export const DEFAULT = 'default'
const MAX_PICO = Number.MAX_SAFE_INTEGER

const pico = z.int().min(0).max(MAX_PICO)
const rates = z.strictObject(
  Object.fromEntries(RATE_NAMES.map(name => [name, pico.optional()])) as Record<RateName, z.ZodOptional<typeof pico>>,
)
const units = z.record(z.string().min(1).max(160), z.union([pico, z.tuple([pico, z.int().positive()])]))
const tier = z.strictObject({above: z.int().min(0), rates})
const terms = z.strictObject({rates, tiers: z.array(tier).max(16).optional(), units: units.optional()})
const minute = z.int().min(0).max(1440)
const period = terms.extend({
  from: z.iso.date().optional(),
  hours: z.tuple([minute, minute]).optional(),
  batch: terms.optional(),
})
/** Exact decimals: `{"us": 1.1}`. */
export const geographies = z.record(z.string().regex(/^[a-z]{2}$/), z.number().positive().max(100)).optional()
const named = {
  source: z.string().max(255).optional(),
  aliases: z.array(z.string().min(1).max(255)).max(100).optional(),
  dated: z.literal(true).optional(),
  geographies,
}
/** A row as the bundled catalogue has it: whole pico-dollars, with all that a price may say. */
const catalogue_row = z.union([
  z.strictObject({...named, periods: z.array(period).min(1).max(64)}),
  period.omit({from: true, hours: true}).extend(named),
])

/**
 * The rows of a provider as prices. A row is `{"pricing_config": {...}}` (docs/pricing.md, Use your own price files) or
 * a row of the catalogue. Throws a PricingConfigFault that leads to the field:
 * `gpt-4o.pricing_config.pay_as_you_go.request_token.price`.
 */
export function readPriceFile(rows: unknown, provider: string, source: string): PriceFile {
  if (!isObject(rows)) throw new PricingConfigFault('', 'expected an object of models')
  const base = Object.hasOwn(rows, DEFAULT) ? rows[DEFAULT] : undefined
  const calculate = base === undefined ? null : within(DEFAULT, () => readCalculate(configOf(DEFAULT, base)))
  const models = new Map<string, Price>()
  for (const [model, row] of Object.entries(rows)) {
    if (model !== DEFAULT) models.set(model.toLowerCase(), readRow(row, {provider, model, source, calculate}))
  }
  const fallback = base === undefined ? undefined : readRow(base, {provider, model: DEFAULT, source, calculate})
  // lists hold a default of nothing for its formulas; who sets one by itself means that calls cost nothing
  return {
    models,
    fallback: fallback && (source === 'set' ? namesSome(fallback) : isWorth(fallback)) ? fallback : undefined,
  }
}

type RowOptions = Parameters<typeof readPricingConfig>[1]

function readRow(row: unknown, options: RowOptions): Price {
  const {provider, model, source} = options
  if (!isObject(row) || !('rates' in row || 'periods' in row))
    return within(model, () => readPricingConfig(configOf(model, row), options))
  const parsed = catalogue_row.safeParse(row)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!
    throw new PricingConfigFault([model, ...issue.path.map(String)].join('.'), issue.message)
  }
  const {source: _, aliases = [], dated, geographies: multipliers, ...pricing} = parsed.data
  // Zod leaves undefined members where optional ones are absent only in types.
  const periods = ('periods' in pricing ? pricing.periods : [pricing]) as readonly PricePeriod[]
  return {
    provider,
    model,
    source,
    periods,
    aliases,
    ...(dated && {dated}),
    ...(multipliers && {geographies: multipliers}),
  }
}

function configOf(model: string, row: unknown): unknown {
  if (!isObject(row) || !isObject(row.pricing_config))
    throw new PricingConfigFault(model, 'expected {"pricing_config": {...}}')
  return row.pricing_config
}

function within<T>(model: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof PricingConfigFault) || error.path === model) throw error
    throw new PricingConfigFault(`${model}.pricing_config${error.path === '' ? '' : `.${error.path}`}`, error.reason)
  }
}

function namesSome({periods}: Price): boolean {
  return periods.some(({rates, units = {}}) => Object.keys(rates).length + Object.keys(units).length > 0)
}

function isWorth({periods}: Price): boolean {
  return periods.some(({rates, units = {}}) =>
    [...Object.values(rates), ...Object.values(units).flat()].some(rate => rate > 0),
  )
}
