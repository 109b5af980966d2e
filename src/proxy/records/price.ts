import {type Charged, charged, NOTHING_OWED} from '../../charge/charged.ts'
import type {Cost} from '../../pricing/cost.ts'
import {CostSum} from '../../pricing/cost-sum.ts'
import {DEFAULT} from '../../pricing/file.ts'
import {BEDROCK_REGION, isSameModel} from '../../pricing/names.ts'
import {type Price, periodAt} from '../../pricing/price.ts'
import {isRouter} from '../../providers/call-fees.ts'
import {membersThatMayCost} from '../../providers/informative-members.ts'
import {geographyOfHost, regionalMode} from '../../providers/regional-hosts.ts'
import type {Hop} from '../../schema/hops.ts'
import {UNIT, type Usage} from '../../schema/usage.ts'
import type {ManagedProvider, Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'

type Services = Uses<'prices'>

type Priced = Pick<Target, 'provider' | 'managed' | 'options' | 'destination'>

/**
 * The price of a call, as of its admission: of the model asked for, else of the one the provider said it was. For each,
 * in this order: the integration's own price, the model's, that of the model which the integration says it is made of,
 * the provider's default. Of a router, which hands calls on, the other way round: what answered is charged, and the
 * router's fee.
 */
export function priceOf(
  target: Priced,
  model: string | null,
  reported_model: string | null,
  at_ms: number,
  services: Services,
): Price | undefined {
  const own = model === null ? undefined : named(target, model, at_ms, services)
  if (own && !isRouter(target.provider.slug, model)) return own
  const answered = reported_model === null ? undefined : named(target, reported_model, at_ms, services)
  return own && answered ? withFee(answered, own, at_ms) : (own ?? answered)
}

/** The price of the model that a router chose, with the fee of the router, which is in its own price. */
function withFee(price: Price, router: Price, at_ms: number): Price {
  const fee = periodAt(router, at_ms).units?.[UNIT.routing_units]
  if (fee === undefined) return price
  const period = periodAt(price, at_ms)
  return {...price, periods: [{...period, units: {...period.units, [UNIT.routing_units]: fee}}]}
}

/** As the host of the target makes it: what is served in one geography alone may cost more there. */
function named(target: Priced, model: string, at_ms: number, services: Services): Price | undefined {
  const {provider, managed, destination, options} = target
  const price = listed(provider.slug, managed, model, at_ms, services)
  if (!price) return undefined
  const geography = destination && geographyOfHost(provider.slug, destination.origin)
  if (geography) return !price.geographies && OPERATORS.has(price.source) ? price : {...price, served_in: geography}
  const mode = regionalMode(provider.slug, options)
  return mode === null || OPERATORS.has(price.source) || BEDROCK_REGION.test(price.model) ? price : {...price, mode}
}

/**
 * Sources of prices that an operator wrote for the place they call: without a multiplier they are meant as they are.
 */
const OPERATORS: ReadonlySet<string> = new Set(['set', 'custom', 'local'])

function listed(
  provider: string,
  managed: ManagedProvider | null,
  model: string,
  at_ms: number,
  services: Services,
): Price | undefined {
  const own = managed?.prices.get(model)
  if (own) return own
  const found = services.prices.find(provider, model, at_ms)
  const base = managed?.base_models.get(model)
  if (base === undefined || (found && found.model !== DEFAULT)) return found
  return managed?.prices.get(base) ?? services.prices.find(provider, base, at_ms) ?? found
}

/**
 * The cost of `usage`. Throughput bought in advance costs nothing by the call, when the integration sets
 * `skipPtuCostAttribution`.
 */
export function costOf(
  {provider, options}: Priced,
  usage: Partial<Usage>,
  price: Price | undefined,
  at_ms: number,
  services: Services,
): Charged {
  if (usage.units?.[UNIT.provisioned_requests] && options.vertex_skip_ptu_cost_attribution === 'true')
    return NOTHING_OWED
  return withUnknown(provider, usage, services.prices.cost(usage, price, at_ms), services)
}

/**
 * The charge, with the unknown numbers of its report. They flag it, but at kinds of providers that charge for nothing:
 * there they are noted.
 */
export function withUnknown(
  {slug}: Priced['provider'],
  {unknown}: Partial<Usage>,
  cost: Omit<Cost, 'parts'>,
  {prices}: Uses<'prices'>,
): Charged {
  const usage_unknown = unknown ? membersThatMayCost(slug, unknown) : NOTHING_OWED.usage_unknown
  const flags = usage_unknown.length > 0 && (cost.cost_nanousd > 0 || prices.charges(slug))
  return charged(cost, usage_unknown, flags)
}

/**
 * The same of a call whose parts are charged by themselves, each at the price of its own model, which is the call's
 * where it is that model.
 */
export function costByHops(
  target: Priced,
  {usage, hops}: {readonly usage: Usage; readonly hops: readonly Hop[]},
  of: {readonly model: string | null; readonly price: Price | undefined; readonly at_ms: number},
  services: Services,
): Charged {
  const tally = new CostSum()
  tally.addHops({usage, hops}, hopPrices(target, of, services), {
    at: of.at_ms,
    batch: Boolean(usage.units[UNIT.batch_requests]),
  })
  return withUnknown(target.provider, usage, tally, services)
}

/** The price of a part of a call, by its model. */
export function hopPrices(
  target: Priced,
  {model, price, at_ms}: {readonly model: string | null; readonly price: Price | undefined; readonly at_ms: number},
  services: Services,
): (hop_model: string | null) => Price | undefined {
  return hop_model =>
    hop_model === null || (model !== null && isSameModel(target.provider.slug, model, hop_model))
      ? price
      : named(target, hop_model, at_ms, services)
}
