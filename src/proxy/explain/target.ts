import type {Destination} from '../../base/egress/target.ts'
import type {Refusal} from '../../base/errors.ts'
import {maskedUrl} from '../../base/masked-url.ts'
import {type Price, periodAt} from '../../pricing/price.ts'
import type {Plan, PlanTarget} from '../../routing/plan.ts'
import {goesOn} from '../../routing/simulate.ts'
import type {ExplainedTarget} from '../../schema/explanations.ts'
import {maskedHeaders} from '../call/call.ts'
import {checkModel} from '../call/model-access.ts'
import type {DryRunCall} from '../call/offline-call.ts'
import {enterTarget} from '../call/operation.ts'
import {asRefusal} from '../inbound/error-response.ts'
import {priceOf} from '../records/price.ts'
import type {Uses} from '../services.ts'
import {openTarget} from '../targets/open-target.ts'
import {checkManaged, type Target} from '../targets/target.ts'
import {type BuildServices, buildUpstreamRequest, type UpstreamRequest} from '../upstream/build-request.ts'
import {explainBody} from './body.ts'
import {explainCache} from './cache.ts'

type Services = BuildServices & Uses<'masked' | 'now' | 'secrets'>

/** A leaf of the plan, opened: what would leave for it, or why it refuses. */
export interface OpenedLeaf {
  readonly leaf: PlanTarget
  readonly target: Target | null
  readonly out: UpstreamRequest | null
  readonly refusal: Refusal | null
}

/** Opens a leaf as a call would; `found` gets its target. A fault of ours is thrown. */
export async function openLeaf(
  leaf: PlanTarget,
  found: () => Target | Promise<Target>,
  {call, credentials}: DryRunCall,
  services: Services,
): Promise<OpenedLeaf> {
  let target: Target | null = null
  try {
    const given = found()
    target = given instanceof Promise ? await given : given
    enterTarget(call, target)
    checkManaged(target, call.at_ms)
    target = await openTarget(target, services)
    checkModel(target, call)
    return {leaf, target, out: buildUpstreamRequest(call, target, credentials, services), refusal: null}
  } catch (fault) {
    const refusal = asRefusal(fault)
    if (refusal.code === 'internal') throw fault
    return {leaf, target, out: null, refusal}
  }
}

/** All that is known of a leaf before it is called. */
export function explainTarget(
  {leaf, target, out, refusal}: OpenedLeaf,
  plan: Plan,
  imagined: DryRunCall,
  services: Services,
): ExplainedTarget {
  const {call} = imagined
  const {default_params = {}, override_params = {}, drop_params = [], retry, request_timeout} = leaf.target
  const model = out?.model ?? target?.model ?? null
  const price = target ? priceOf(target, model, null, call.at_ms, services) : undefined
  return {
    path: leaf.path,
    name: leaf.name,
    provider: target?.provider.slug ?? null,
    managed: target?.managed?.slug ?? null,
    host: hostOf(out?.destination ?? target?.destination),
    model,
    request_timeout_ms: out ? out.request_timeout_ms : (request_timeout ?? null),
    retry: retry && retry.attempts > 0 ? {...retry, on_status_codes: [...retry.on_status_codes]} : null,
    cache: target
      ? explainCache(call, target, out, services)
      : {status: 'DISABLED', mode: leaf.target.cache?.mode ?? null, max_age_s: null, digest: null, partition: null},
    has_circuit: leaf.breaker !== null && plan.config_id !== null,
    params: {default_params, override_params, drop_params: [...drop_params]},
    sends: target && out ? sends(imagined, target, out, services) : null,
    price: price ? priceView(price, call.at_ms) : null,
    unpriced: target && model !== null && call.body.kind !== 'none' ? price === undefined : null,
    refusal: refusal && {code: refusal.code, status: refusal.status, message: refusal.message},
    goes_on: goesOn(plan, leaf.path).map(({on_status_codes, to}) => ({
      on_status_codes: on_status_codes && [...on_status_codes],
      to,
    })),
  }
}

function hostOf(destination: Destination | null | undefined): string | null {
  return destination ? destination.origin + destination.basePath : null
}

function sends(
  {call, credentials}: DryRunCall,
  target: Target,
  out: UpstreamRequest,
  services: Services,
): NonNullable<ExplainedTarget['sends']> {
  const named = call.incoming.own.values['sensitive-headers']?.split(',') ?? []
  // An integration's own headers may hold a key under any name.
  const secret = new Set([
    ...services.masked,
    ...named.map(name => name.trim().toLowerCase()),
    ...Object.keys(target.managed?.headers ?? {}),
    ...[...(target.managed?.model_places?.values() ?? [])].flatMap(place => Object.keys(place.headers)),
  ])
  const keys = [target.key, credentials.provider_token, credentials.service_key].filter(key => key)
  const hidden = (text: string) => keys.reduce<string>((left, key) => left.replaceAll(key!, '***'), text)
  const masked = maskedHeaders(
    Object.fromEntries(Object.entries(out.headers).map(([name, value]) => [name, hidden(value)])),
    secret,
  )
  const origin = out.destination?.origin ?? ''
  return {
    method: out.method,
    url: maskedUrl(hidden(origin + out.path)),
    headers: Object.fromEntries(Object.entries(masked).sort(([one], [other]) => (one < other ? -1 : 1))),
    body: explainBody(call, target, out),
  }
}

const PICO_A_MILLION_TOKENS = 1e6
const PICO = 1e12

function priceView(price: Price, at_ms: number): NonNullable<ExplainedTarget['price']> {
  const {rates, units = {}} = periodAt(price, at_ms)
  const tokens = Object.entries(rates).map(([name, pico]) => [name, pico / PICO_A_MILLION_TOKENS] as const)
  const each = Object.entries(units).map(
    ([name, rate]) => [name, typeof rate === 'number' ? rate / PICO : rate[0] / rate[1] / PICO] as const,
  )
  return {
    source: price.source,
    usd_per_million_tokens: Object.fromEntries(tokens),
    usd_per_unit: Object.fromEntries(each),
  }
}
