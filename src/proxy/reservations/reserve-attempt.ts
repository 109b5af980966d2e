import {Refusal} from '../../base/errors.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {CounterReservation, LimitClaim} from '../../limits/index.ts'
import {dearestGeography, type Price} from '../../pricing/price.ts'
import {requestedMode} from '../../providers/openai/mode.ts'
import {isPlacedByHost} from '../../providers/regional-hosts.ts'
import {NO_MODE, usageOfKind} from '../../providers/service-tiers.ts'
import {spent} from '../../schema/spent.ts'
import {emptyUsage, geographyUnit, modeOf, type TokenClass, totals, type Usage} from '../../schema/usage.ts'
import type {Call} from '../call/call.ts'
import {furtherModels} from '../call/request-models.ts'
import {strictLimitsOf} from '../call/strict-limits.ts'
import {priceOf} from '../records/price.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'
import {GrowingReservation, isUsedUp, NO_PROMPT, type ReservedUsage} from './growing-reservation.ts'
import {type Dearest, reservedUsage} from './reserved-usage.ts'

type Services = Uses<'limits' | 'log' | 'prices'>

/**
 * Holds for the next attempt what strict limits ask for before it leaves (core rule 10): its prompt and a slice of the
 * answer where that is a stream that shows what it uses, else the longest answer. Null where nothing is strict, or
 * nothing can be used up.
 */
export function reserveAttempt(
  call: Call,
  target: Target,
  out: UpstreamRequest,
  services: Services,
): MaybePromise<GrowingReservation | null> {
  const claims = strictLimitsOf(call)
  if (!claims) return null
  refuseUnmetered(call, claims)
  refuseMode(call, target, out, claims)
  const {at_ms} = call
  const price = dearestPrice([out.model, ...furtherModels(call, target)], target, at_ms, services)
  const dearest: Dearest = classes => dearestOf(classes, price, at_ms, services)
  const worth = reservedUsage(call, target.provider.slug, out, dearest)
  if (!worth) return null
  const of = {call, provider: target.provider.slug, model: out.model}
  const opens = (usage: ReservedUsage) => open(claims, inDearestGeography(usage, price), price, of, services)
  const failed = (fault: unknown) =>
    services.log.error({fault, trace_id: call.trace.trace_id}, 'a prompt could not be counted')
  return openCounted(worth, opens, failed)
}

/**
 * Opens it by the bound of its prompt; where a limit has too little left for that, by a count of the prompt's tokens.
 */
function openCounted(
  worth: ReservedUsage,
  opens: (usage: ReservedUsage) => MaybePromise<GrowingReservation>,
  onFault: (fault: unknown) => void,
): MaybePromise<GrowingReservation> {
  const {recount} = worth
  const again = (refusal: unknown): MaybePromise<GrowingReservation> => {
    if (!recount || !isUsedUp(refusal)) throw refusal
    const counted = recount()
    if (!(counted instanceof Promise)) return opens(counted)
    const failed = (fault: unknown): never => {
      onFault(fault)
      throw refusal
    }
    return counted.then(opens, failed)
  }
  try {
    const opened = opens(worth)
    return opened instanceof Promise ? opened.catch(again) : opened
  } catch (fault) {
    return again(fault)
  }
}

/** So many tokens tell which class costs most: few enough for the price of short prompts. */
const COMPARED_TOKENS = 1000

/**
 * A workspace at the provider may choose the geography, which no request shows. Where the host says it, the price has
 * it.
 */
function inDearestGeography(worth: ReservedUsage, price: Price | undefined): ReservedUsage {
  const name = price && !isPlacedByHost(price.provider) ? dearestGeography(price) : null
  if (name === null) return worth
  return {...worth, forms: worth.forms.map(form => ({...form, units: {...form.units, [geographyUnit(name)]: 1}}))}
}

/** The price of the dearest of the models that a request may run; of the first where that has none. */
function dearestPrice(
  models: readonly (string | null)[],
  target: Target,
  at_ms: number,
  services: Services,
): Price | undefined {
  const [own, ...others] = models.map(model => priceOf(target, model, null, at_ms, services))
  const worth = (price: Price | undefined) => (price ? services.prices.cost(COMPARED, price, at_ms).cost_nanousd : 0)
  return own && others.reduce((most, price) => (worth(price) > worth(most) ? price : most), own)
}
const COMPARED = {input_uncached_tokens: COMPARED_TOKENS, output_text_tokens: COMPARED_TOKENS}

function dearestOf(
  classes: readonly TokenClass[],
  price: Price | undefined,
  at_ms: number,
  services: Services,
): TokenClass {
  const costs = classes.map(name => services.prices.cost({[name]: COMPARED_TOKENS}, price, at_ms).cost_nanousd)
  return classes[costs.indexOf(Math.max(...costs))]!
}

/** Work that costs by what no price list knows has no bound under a limit of cost. */
function refuseUnmetered({operation}: Call, claims: readonly LimitClaim[]) {
  const limit = claims.find(({type}) => type === 'cost')
  const money = operation?.operation.money
  if (limit && operation && (money === 'flagged' || money === 'deferred'))
    throw new Refusal('limit.unmetered', {operation: operation.operation.name, limit: limit.label})
}

/** The cost of a mode without a rate cannot be known. */
function refuseMode({body}: Call, {provider}: Target, out: UpstreamRequest, claims: readonly LimitClaim[]) {
  const limit = claims.find(({type}) => type === 'cost')
  const bytes = Buffer.isBuffer(out.body) ? out.body : 'bytes' in body ? body.bytes : null
  if (!limit || body.kind !== 'json' || !bytes) return
  const requested = requestedMode(bytes)
  const mode = requested === NO_MODE ? null : modeOf(usageOfKind(provider.slug, emptyUsage(), requested))
  if (mode !== null)
    throw new Refusal('limit.unpriced_unit', {
      ...{units: `the mode ${mode}`, model: out.model ?? '(none named)', provider: provider.slug, limit: limit.label},
    })
}

/** Holds the whole of a turn of a session: what was sent for it, and the longest answer. */
export function reserveTurn(
  claims: readonly LimitClaim[],
  forms: readonly Usage[],
  price: Price | undefined,
  of: Of,
  services: Services,
) {
  return open(
    claims,
    {forms, first: 0, most: 0, unbounded: null, recount: null, prompt: NO_PROMPT, output_class: 'output_text_tokens'},
    price,
    of,
    services,
  )
}

interface Of {
  readonly call: Call
  readonly provider: string
  readonly model: string | null
  /** The next one unless given. */
  readonly attempt?: number
}

function open(
  claims: readonly LimitClaim[],
  worth: ReservedUsage,
  price: Price | undefined,
  of: Of,
  services: Services,
): MaybePromise<GrowingReservation> {
  const {call, provider, model, attempt = call.attempts + 1} = of
  const tokens = Math.max(...worth.forms.map(form => totals(form).total_tokens))
  const costs = worth.forms.map(form => services.prices.cost(form, price, call.at_ms))
  const cost_claim = claims.find(({type}) => type === 'cost')
  if (cost_claim && costs.every(({unpriced}) => unpriced)) {
    const named = {model: model ?? '(none named)', provider, limit: cost_claim.label}
    const [units = []] = price ? costs.map(({unpriced_units}) => unpriced_units) : []
    throw units.length > 0
      ? new Refusal('limit.unpriced_unit', {...named, units: units.join(', ')})
      : new Refusal('limit.unpriced', named)
  }
  if (worth.unbounded) throw new Refusal('limit.unbounded', {...worth.unbounded, limit: claims[0]!.label})
  const cost_nanousd = Math.max(...costs.map(cost => cost.cost_nanousd))
  const held = services.limits.hold(claims, call.id, attempt, spent(tokens, cost_nanousd))
  const make = (hold: CounterReservation) => new GrowingReservation(hold, worth, price, call.at_ms, services)
  return held instanceof Promise ? held.then(make) : make(held)
}
