import {z} from 'zod'
import {pageParams, wholeInQuery} from './paging.ts'

/** A name in a path or query. */
const Word = z.string().min(1).max(255)

/** US cents for one token or unit. */
const Price = z.strictObject({price: z.number().nonnegative()})
const Prices = z.record(z.string(), Price)
const token = Price.optional()

export const Terms = z.strictObject({
  request_token: Price,
  response_token: Price,
  cache_write_input_token: Price,
  cache_read_input_token: Price,
  request_audio_token: token,
  response_audio_token: token,
  cache_read_audio_input_token: token,
  reasoning_token: token,
  request_image_token: token,
  response_image_token: token,
  cache_read_image_input_token: token,
  additional_units: Prices.optional(),
  /** By quality, then size. */
  image: z.record(z.string(), Prices).optional(),
})
export const Tier = z.strictObject({above: z.int(), pay_as_you_go: Terms})
/** A token count times a rate: `input_tokens`, `rates.request_token`. */
const Product = z.strictObject({
  operation: z.literal('multiply'),
  operands: z.array(z.strictObject({value: z.string()})).readonly(),
})
const Sum = z.strictObject({operation: z.literal('sum'), operands: z.array(Product).readonly()})

export const PricingPath = z.strictObject({provider: Word, model: Word})

const Finetune = z.strictObject({pay_per_token: Price.optional(), pay_per_hour: Price.optional()}).optional()

/** The price of one model, as it is charged now; no call is charged by what fine-tuning costs. */
export const PricingView = z.strictObject({
  pay_as_you_go: Terms,
  batch_config: Terms.optional(),
  calculate: z.strictObject({request: Sum, response: Sum}),
  currency: z.literal('USD'),
  finetune_config: Finetune,
})

export const PricingQuery = z.strictObject({
  ...pageParams(),
  provider: Word.optional(),
  /** Part of the model's id or of one of its aliases, whatever its case. */
  search: Word.optional(),
})

export const PricingRow = z.strictObject({
  provider: z.string(),
  model: z.string(),
  aliases: z.array(z.string()).readonly(),
  /** A package of the bundled catalogue, or `set`, `sync`, `bundle`, `proxy`, `log-store`, `local`. */
  source: z.string(),
  currency: z.literal('USD'),
  pay_as_you_go: Terms,
  batch_config: Terms.optional(),
  /** Prices of longer prompts; the last whose `above` the prompt exceeds holds for every token of the call. */
  tiers: z.array(Tier).readonly(),
  finetune_config: Finetune,
  /** By geography, what the rates of tokens are multiplied by where a call is served there alone. */
  geographies: z.record(z.string(), z.number()).optional(),
  object: z.literal('model-price'),
})

export const UnpricedQuery = z.strictObject({
  ...pageParams(),
  workspace_id: Word.refine(text => !text.includes('\0'), 'must hold no NUL character').optional(),
  days: wholeInQuery(1, 365).default(30),
})

export const UnpricedRow = z.strictObject({
  provider: z.string(),
  /** Null where the call named none. */
  model: z.string().nullable(),
  requests: z.int().positive(),
  /**
   * The parts of the model's usage without a price, the most used first: classes of tokens, units; empty when the whole
   * model has none.
   */
  units: z.array(z.string()).readonly(),
  /** The same by name and with how often, and with modes, unknown numbers of reports, and endpoints without usage. */
  parts: z
    .array(
      z.strictObject({
        kind: z.enum(['unit', 'mode', 'usage', 'operation']),
        name: z.string(),
        requests: z.int().positive(),
      }),
    )
    .readonly(),
  /** The command that gives it a price, its amounts left open; null where nothing of it can have one yet. */
  command: z.string().nullable(),
  /** The hour of the last of them, by its beginning. */
  last_seen: z.iso.datetime(),
  /** True when a price is known by now: later calls are charged. */
  priced_now: z.boolean(),
  object: z.literal('unpriced-model'),
})
