import {Refusal} from '../../base/errors.ts'
import {modelListerOf} from '../../providers/models/index.ts'
import {hasOwnPages, modelList, oneModel, shapeFor} from '../../providers/models/shapes.ts'
import {NOTHING_SPENT} from '../../schema/spent.ts'
import {type Call, type ClientCall, DIRECT_ROUTE} from '../call/call.ts'
import {answerHeaders} from '../call/response-headers.ts'
import {evaluateRequest} from '../guardrails/evaluate.ts'
import {answerIds, clientWords} from '../inbound/error-ids.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import {resolveGuardrails} from '../targets/guardrails.ts'
import type {PlanCache, ResolvedPlan} from '../targets/plan-cache.ts'
import type {TargetServices} from '../targets/target.ts'
import type {SubRequestServices} from '../upstream/sub-requests.ts'
import {EngineLists} from './engine-lists.ts'
import {type GatewayModel, gatewayModels} from './gateway-models.ts'
import {hasSeveralTargets, ModelsOfPlan} from './models-of-plan.ts'

type Services = SubRequestServices &
  TargetServices &
  Uses<
    | 'administered'
    | 'after'
    | 'cors'
    | 'listedProviders'
    | 'masked'
    | 'now'
    | 'pricedModels'
    | 'prices'
    | 'secrets'
    | 'steady'
  >

/** The list is the gateway's own: what runs on every call is judged all the same. */
const NOWHERE = {params: {}, model: null, strict: true, provider: {slug: 'gateway'}}
const SORTS = ['name', 'provider', 'ai_service'] as const
/** A condition on the path holds as it would for a chat. */
const CHAT_PATH = '/v1/chat/completions'
const ONE_MODEL = /^\/v1\/models\/([^?]+)/

/** Lists of models that the gateway itself makes: without a provider, and of configs with several targets. */
export class ModelLists {
  readonly #services: Services
  readonly #plans: PlanCache
  readonly #engines: EngineLists

  constructor(services: Services, plans: PlanCache) {
    this.#services = services
    this.#plans = plans
    this.#engines = new EngineLists(services)
  }

  /** True when a request is for models, or for one: `GET /models` and `GET /models/{id}`. */
  takes({method, route, request}: InboundRequest): boolean {
    return (
      method === 'GET' && (route.endpoint?.listed === true || (!route.endpoint && ONE_MODEL.test(request.url ?? '')))
    )
  }

  /** The body of the answer; null where the one provider that is named answers for itself. */
  async answer(call: ClientCall): Promise<Buffer | null> {
    const {incoming, caller} = call
    const services = this.#services
    const plan = this.#plans.isNamed(incoming, caller) ? await this.#plans.find(incoming, caller, null) : null
    if (plan && !(await this.#isOwn(plan, call))) return null
    await evaluateRequest(await resolveGuardrails({}, 'config', caller, services), call, NOWHERE, services)
    const query = new URLSearchParams(incoming.route.query)
    const {matches, ordered, page} = readQuery(query)
    const facts = {metadata: call.metadata, pathname: CHAT_PATH}
    const request = {
      caller,
      at_ms: call.at_ms,
      plan: plan && new ModelsOfPlan(plan.plan, plan.selectors, facts),
      wants: matches,
    }
    const {models, unanswered} = await gatewayModels(request, this.#engines, services)
    const shape = shapeFor({...incoming.own.values, ...incoming.headers})
    const named = ONE_MODEL.exec(incoming.request.url ?? '')?.[1]
    if (named !== undefined) return written(oneModel(shape, found(models, plainName(named))))
    const rows = ordered(models)
    const more = {total: rows.length, ...(unanswered.length > 0 && {unanswered})}
    return written(modelList(shape, hasOwnPages(shape) ? rows : page(rows), query, more))
  }

  /** Ends a call with such an answer. */
  send(call: ClientCall, body: Buffer) {
    const services = this.#services
    const how = {is_stream: false, rewrites: false, timing: null, route: DIRECT_ROUTE, retry_attempt_count: 0, services}
    call.relay.head(
      200,
      [
        'content-type',
        'application/json; charset=utf-8',
        ...answerHeaders(call, null, answerIds(clientWords(call), {}), how),
      ],
      false,
    )
    call.relay.end([body])
    for (const admission of call.admissions) admission.settle(NOTHING_SPENT)
  }

  /** Several targets have no list of their own together, and some kinds of providers have none at all. */
  async #isOwn(routing: ResolvedPlan, {incoming, caller}: Call): Promise<boolean> {
    const {plan} = routing
    if (hasSeveralTargets(plan) || incoming.own.values['fetch-integrated-models'] === 'true') return true
    if (!incoming.route.endpoint) return false // that request is for one model of one provider
    const {root} = plan
    if (root.kind === 'branch') return false
    const {managed, provider} = await this.#plans.target(routing, root, incoming, caller)
    return managed !== null && modelListerOf(provider) === null
  }
}

function found(models: readonly GatewayModel[], id: string): GatewayModel {
  const model = models.find(each => each.id === id)
  if (!model) throw new Refusal('model.unknown', {model: id.slice(0, 1024)})
  return model
}

function plainName(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function written(json: object): Buffer {
  return Buffer.from(JSON.stringify(json))
}

interface ListQuery {
  matches(slug: string | null, kind: string): boolean
  ordered(models: readonly GatewayModel[]): readonly GatewayModel[]
  page(models: readonly GatewayModel[]): readonly GatewayModel[]
}

/** Query: ai_service, provider, limit, offset, sort, order (docs/models.md, List models). */
function readQuery(query: URLSearchParams): ListQuery {
  const [provider, ai_service] = [query.get('provider')?.replace(/^@/, ''), query.get('ai_service')?.replace(/^@/, '')]
  const sort = oneOf(query, 'sort', SORTS) ?? 'name'
  const descending = oneOf(query, 'order', ['asc', 'desc']) === 'desc'
  const offset = count(query, 'offset', Number.MAX_SAFE_INTEGER) ?? 0
  const limit = count(query, 'limit', 10_000)
  const by = {
    name: (each: GatewayModel) => each.model,
    provider: (each: GatewayModel) => each.slug ?? '',
    ai_service: (each: GatewayModel) => each.kind,
  }[sort]
  return {
    matches: (slug, kind) =>
      (provider === undefined || provider === slug) && (ai_service === undefined || ai_service === kind),
    ordered(models) {
      const rows = models.toSorted((one, other) => compare(by(one), by(other)) || compare(one.id, other.id))
      return descending ? rows.reverse() : rows
    },
    page: models => models.slice(offset, limit === undefined ? undefined : offset + limit),
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function oneOf<T extends string>(query: URLSearchParams, name: string, words: readonly T[]): T | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  if (words.includes(value as T)) return value as T
  throw new Refusal('body.invalid', {issues: `${name}: expected one of ${words.join(', ')}.`})
}

function count(query: URLSearchParams, name: string, most: number): number | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  if (/^\d{1,15}$/.test(value) && Number(value) <= most) return Number(value)
  throw new Refusal('body.invalid', {issues: `${name}: expected a whole number of at most ${most}.`})
}
