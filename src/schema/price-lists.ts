import {z} from 'zod'
import {pageParams} from './paging.ts'
import {Terms, Tier} from './pricing.ts'
import {Time} from './times.ts'

const MAX_MODELS = 50_000
const MAX_PROVIDERS = 500

const ProviderSlug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "expected a provider's slug")
const Model = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'expected visible ASCII characters')
/** Read by pricing (src/pricing/file.ts), which says what is wrong in it. */
const Row = z.record(z.string(), z.unknown())

/** Prices of many providers: provider, then model, then `{"pricing_config": ...}` or a row of the catalogue. */
export const PriceListBody = z.strictObject({
  format: z.literal('gateway-prices/1'),
  as_of: z.iso.date().optional(),
  providers: z
    .record(ProviderSlug, z.record(Model, Row))
    .refine(providers => Object.keys(providers).length <= MAX_PROVIDERS, `expected at most ${MAX_PROVIDERS} providers`)
    .refine(
      providers => Object.values(providers).reduce((sum, rows) => sum + Object.keys(rows).length, 0) <= MAX_MODELS,
      `expected at most ${MAX_MODELS} models`,
    ),
})

/** The origin of prices, for people. */
const Origin = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\x00-\x1f\x7f]*$/, 'expected one line')

export const PriceSync = z.strictObject({
  prices: PriceListBody,
  origin: Origin.default('the API'),
  /** When they begin to hold; never in the past, so that no call is priced twice. Now, where it is absent. */
  effective_at: Time.optional(),
})
export const PriceSet = z.strictObject({pricing_config: Row, effective_at: Time.optional()})
export const PriceUnset = z.strictObject({effective_at: Time.optional()})
export const PriceWritePath = z.strictObject({provider: ProviderSlug, model: Model})

const Side = z.strictObject({pay_as_you_go: Terms, batch_config: Terms.optional(), tiers: z.array(Tier).readonly()})
/** In US cents a token or unit, as they are charged. */
export const PriceChangeView = z.strictObject({
  provider: z.string(),
  model: z.string(),
  change: z.enum(['added', 'changed', 'removed']),
  before: Side.nullable(),
  after: Side.nullable(),
})
export const PriceDiff = z.strictObject({
  /** Models that the list prices. */
  total: z.int(),
  added: z.int(),
  changed: z.int(),
  removed: z.int(),
  changes: z.array(PriceChangeView).readonly(),
  object: z.literal('price-diff'),
})

export const PriceRevisionView = z.strictObject({
  revision: z.int(),
  kind: z.enum(['sync', 'bundle', 'set']),
  origin: z.string(),
  digest: z.string(),
  key_id: z.string().nullable(),
  serial: z.int().nullable(),
  effective_at: z.iso.datetime(),
  withdrawn_at: z.iso.datetime().nullable(),
  added: z.int(),
  changed: z.int(),
  removed: z.int(),
  created_at: z.iso.datetime(),
  object: z.literal('price-revision'),
})
export const PriceInstalled = PriceDiff.omit({object: true}).extend({
  /** Null when nothing changed, so that nothing was installed. */
  revision: z.int().nullable(),
  effective_at: z.iso.datetime(),
  object: z.literal('price-installation'),
})
export const RevisionsQuery = z.strictObject(pageParams())
export const PriceRollback = z.strictObject({
  /**
   * The revision to go back to: all after it are withdrawn. The last one alone, where it is absent; 0 for the state
   * before any.
   */
  to_revision: z.int().min(0).optional(),
})
export const PricesRolledBack = z.strictObject({
  withdrawn: z.array(PriceRevisionView).readonly(),
  object: z.literal('price-rollback'),
})

export const GeneralPath = z.strictObject({provider: z.string().min(1).max(255)})
/** The abilities of a provider's models, as the source has them. */
export const General = z.record(z.string(), z.unknown())

/** A signed bundle, as its file holds it; its faults are reported when it is opened. */
const BundleText = z.record(z.string(), z.unknown())
const PublicKeys = z.string().max(65_536)
export const BundleCheck = z.strictObject({
  bundle: BundleText,
  /** PEM; needed where GATEWAY_BUNDLE_PUBLIC_KEY is not set, and where it is, one of those. */
  public_key: PublicKeys.optional(),
})
export const BundleApply = BundleCheck.extend({origin: Origin.default('the API'), effective_at: Time.optional()})
export const BundleView = z.strictObject({
  serial: z.int(),
  created_at: z.string(),
  note: z.string(),
  key_id: z.string(),
  contents: z.array(z.string()).readonly(),
  prices: PriceDiff.nullable(),
  object: z.literal('bundle'),
})
