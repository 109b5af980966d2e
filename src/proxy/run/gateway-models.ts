import type {ListedModel} from '../../providers/models/index.ts'
import type {ModelEntry} from '../../providers/models/shapes.ts'
import {listedOutputTokens} from '../../providers/outputs/index.ts'
import {refusedBy} from '../call/model-access.ts'
import type {Caller, OfferedModel, ProviderModels, Uses} from '../services.ts'
import {pricingOf} from '../upstream/own-models.ts'
import type {EngineLists} from './engine-lists.ts'
import type {ListedTarget, ModelsOfPlan} from './models-of-plan.ts'

type Services = Uses<'listedProviders' | 'pricedModels' | 'prices'>

/** A model of the gateway's own list; `slug` is the provider's, null for one that is named by its kind. */
export interface GatewayModel extends ModelEntry {
  readonly slug: string | null
  /** As the provider knows it. */
  readonly model: string
}

export interface GatewayModels {
  readonly models: readonly GatewayModel[]
  /** Engines that did not answer, as `@slug`. */
  readonly unanswered: readonly string[]
}

interface ListRequest {
  readonly caller: Caller
  readonly at_ms: number
  /** Null: everything that the workspace has. */
  readonly plan: ModelsOfPlan | null
  /** Which providers, as the query of the list says. */
  wants(slug: string | null, kind: string): boolean
}

/** The models that a caller can call now. */
export async function gatewayModels(
  request: ListRequest,
  engines: EngineLists,
  services: Services,
): Promise<GatewayModels> {
  const {caller, at_ms, plan, wants} = request
  const found = services.listedProviders(caller.workspace_id)
  const all = found instanceof Promise ? await found : found
  const slugs = plan && namedSlugs(plan)
  const providers = all.filter(
    ({slug, kind, expires_at}) => !isPast(expires_at, at_ms) && (slugs?.has(slug) ?? true) && wants(slug, kind),
  )
  const unanswered: string[] = []
  const facts = new ModelFacts(at_ms, services)
  const pools = await Promise.all(
    providers.map(async provider => {
      if (!provider.asks_host) return poolOf(provider, null, facts)
      const from_host = engines.of(provider, caller)
      const models = from_host instanceof Promise ? await from_host : from_host
      if (models === null) unanswered.push(`@${provider.slug}`)
      return poolOf(provider, models ?? NO_MODELS, facts)
    }),
  )
  if (plan)
    for (const kind of new Set(plan.targets.flatMap(target => target.kind ?? [])))
      if (wants(null, kind)) pools.push(kindPool(kind, facts, services))
  const models = plan ? ofPlan(pools, plan, caller, facts) : pools.flatMap(pool => allowedOf(pool, caller))
  return {models, unanswered: unanswered.sort()}
}

const NO_MODELS: readonly ListedModel[] = []

/** A model with its host's own description. */
type Offered = OfferedModel & {readonly from_host?: ListedModel}

/** The models of one provider; `slug` is null for one that is named by its kind. */
interface Pool {
  readonly slug: string | null
  readonly kind: string
  readonly models: readonly GatewayModel[]
  readonly access: Parameters<typeof refusedBy>[0]
}

/** `from_host`: what its host says it has; null for a provider whose models the gateway knows. */
function poolOf(provider: ProviderModels, from_host: readonly ListedModel[] | null, facts: ModelFacts): Pool {
  const {slug, kind, allow_all_models, disabled} = provider
  const named = allow_all_models ? null : new Set(provider.models.map(model => model.slug))
  return {
    slug,
    kind,
    models: modelsOf(provider, from_host, facts),
    access: {managed: {slug, models: named, disabled}, provider: {slug: kind}},
  }
}

/** Every model of a kind, for a target with a key of its own. */
function kindPool(kind: string, facts: ModelFacts, services: Services): Pool {
  const models = services.pricedModels(kind).map(slug => facts.of({slug: null, kind}, {slug}))
  return {slug: null, kind, models, access: {managed: null, provider: {slug: kind}}}
}

/** Rows are made once a minute, for prices begin and end; a change of the store makes another `provider`. */
function modelsOf(
  provider: ProviderModels,
  from_host: readonly ListedModel[] | null,
  facts: ModelFacts,
): readonly GatewayModel[] {
  const known = made.get(provider)
  if (known && known.from_host === from_host && facts.at_ms - known.at_ms < KEPT_MS) return known.models
  const models = (from_host ? hosted(provider, from_host) : provider.models).map(model => facts.of(provider, model))
  made.set(provider, {from_host, at_ms: facts.at_ms, models})
  return models
}

const KEPT_MS = 60_000
const made = new WeakMap<
  ProviderModels,
  {readonly from_host: readonly ListedModel[] | null; readonly at_ms: number; readonly models: readonly GatewayModel[]}
>()

/** The host's models that the integration admits; prices of its own stay with the names that it gives them. */
function hosted(
  {models, allow_all_models, disabled}: ProviderModels,
  from_host: readonly ListedModel[],
): readonly Offered[] {
  const named = new Map(models.map(model => [model.slug, model]))
  return from_host.flatMap(model => {
    const own = named.get(model.id)
    return (own || allow_all_models) && !disabled.has(model.id) ? [{...own, slug: model.id, from_host: model}] : []
  })
}

function allowedOf({models, access}: Pool, caller: Caller): readonly GatewayModel[] {
  return caller.models ? models.filter(({model}) => refusedBy(access, caller, model) === null) : models
}

/** The models by which calls come through a config, and the names that its conditions know. */
function ofPlan(
  pools: readonly Pool[],
  plan: ModelsOfPlan,
  caller: Caller,
  facts: ModelFacts,
): readonly GatewayModel[] {
  const listed = new Map<string, GatewayModel>()
  const add = (id: string, pool: Pool, model: GatewayModel) => {
    if (!listed.has(id) && refusedBy(pool.access, caller, model.model) === null) listed.set(id, {...model, id})
  }
  for (const alias of plan.aliases) {
    for (const target of plan.reachedBy(alias)) {
      const pool = pools.find(each => isOf(target, each))
      if (pool) add(alias, pool, modelOf(pool, target.model ?? alias, facts))
    }
  }
  for (const pool of pools) {
    const set = plan.targets.flatMap(target =>
      target.model !== null && isOf(target, pool) ? [modelOf(pool, target.model, facts)] : [],
    )
    for (const model of [...set, ...pool.models]) {
      const reached = plan.reachedBy(model.id)
      if (reached.some(target => isOf(target, pool) && (target.model ?? model.model) === model.model))
        add(model.id, pool, model)
    }
  }
  return [...listed.values()]
}

/**
 * A model by its name; one that the pool does not list is taken on trust of the config, and held to the lists all the
 * same.
 */
function modelOf(pool: Pool, name: string, facts: ModelFacts): GatewayModel {
  return pool.models.find(({model}) => model === name) ?? facts.of(pool, {slug: name})
}

/**
 * True when a target's calls reach the provider of a pool. One that leaves the provider to the call reaches every one
 * that has a slug.
 */
function isOf({slug, kind}: ListedTarget, pool: Pool): boolean {
  if (slug !== null) return slug === pool.slug
  return kind === null ? pool.slug !== null : pool.slug === null && kind === pool.kind
}

/** The slugs that the targets name; null where one leaves the provider to the call. */
function namedSlugs({targets}: ModelsOfPlan): ReadonlySet<string> | null {
  if (targets.some(({slug, kind}) => slug === null && kind === null)) return null
  return new Set(targets.flatMap(({slug}) => slug ?? []))
}

function isPast(expires_at: string | null, at_ms: number): boolean {
  return expires_at !== null && Date.parse(expires_at) <= at_ms
}

/** The facts of a model beside its name: its host's description, its price, its longest answer. */
class ModelFacts {
  readonly at_ms: number
  readonly #services: Services

  constructor(at_ms: number, services: Services) {
    this.at_ms = at_ms
    this.#services = services
  }

  of({slug, kind}: Pick<Pool, 'slug' | 'kind'>, offered: Offered): GatewayModel {
    const {slug: model, base, from_host} = offered
    return {
      ...from_host,
      id: slug === null ? model : `@${slug}/${model}`,
      slug,
      model,
      kind,
      max_output_tokens: from_host ? from_host.max_output_tokens : listedOutputTokens(base ?? model),
      pricing: pricingOf(kind, offered, this.at_ms, this.#services),
      // the name of the model at its provider (docs/models.md, List models)
      more: {...from_host?.more, slug: model, canonical_slug: model},
    }
  }
}
