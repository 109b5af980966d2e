import {LRUCache} from 'lru-cache'
import {variantOf} from '../../providers/base-urls/base-url.ts'
import {type ListedModel, modelListerOf} from '../../providers/models/index.ts'
import type {PlanTarget} from '../../routing/plan.ts'
import {dryRunCall} from '../call/offline-call.ts'
import type {Caller, ProviderModels, Uses} from '../services.ts'
import {openTarget} from '../targets/open-target.ts'
import {checkManaged, resolveTarget, type TargetServices} from '../targets/target.ts'
import {type SubRequestServices, SubRequests} from '../upstream/sub-requests.ts'

type Services = SubRequestServices &
  TargetServices &
  Uses<'administered' | 'after' | 'masked' | 'now' | 'secrets' | 'steady'>

const KEPT_MS = 60_000
/** An engine that was silent is called again soon: it may just have been started. */
const SILENT_MS = 5_000
const DEADLINE_MS = 1_000
const KNOWN_HOSTS = 1_000
const MOST_MODELS = 200_000

const LEAF: PlanTarget = {kind: 'leaf', path: 'config', name: null, weight: 1, breaker: null, target: {}}

interface Kept {
  readonly until_ms: number
  /** Null where the engine did not answer. */
  readonly models: readonly ListedModel[] | null
}

/** The models that engines list, fetched with the credentials of their integrations, remembered for a minute. */
export class EngineLists {
  readonly #services: Services
  readonly #known = new LRUCache<string, Kept>({
    max: KNOWN_HOSTS,
    maxSize: MOST_MODELS,
    sizeCalculation: ({models}) => 1 + (models?.length ?? 0),
  })
  readonly #asking = new Map<string, Promise<readonly ListedModel[] | null>>()

  constructor(services: Services) {
    this.#services = services
  }

  /** Null where it did not answer in time. Called once, however many callers wait. */
  of(
    {slug, version}: Pick<ProviderModels, 'slug' | 'version'>,
    caller: Caller,
  ): readonly ListedModel[] | null | Promise<readonly ListedModel[] | null> {
    const key = `${caller.workspace_id}\n${slug}\n${version}`
    const kept = this.#known.get(key)
    if (kept && kept.until_ms > this.#services.now()) return kept.models
    const asking = this.#asking.get(key) ?? this.#ask(slug, caller, key)
    this.#asking.set(key, asking)
    return asking
  }

  async #ask(slug: string, caller: Caller, key: string): Promise<readonly ListedModel[] | null> {
    const services = this.#services
    const given_up = new AbortController()
    const late = Promise.withResolvers<null>()
    const callOff = services.after(DEADLINE_MS, () => {
      given_up.abort(new Error('the engine did not answer in time'))
      late.resolve(null)
    })
    const answer = this.#request(slug, caller, given_up.signal).catch((fault: unknown) => {
      services.log.debug({fault, provider: `@${slug}`}, 'an engine did not tell its models')
      return null
    })
    const models = await Promise.race([answer, late.promise])
    callOff()
    this.#asking.delete(key)
    this.#known.set(key, {models, until_ms: services.now() + (models ? KEPT_MS : SILENT_MS)})
    return models
  }

  async #request(
    slug: string,
    {organisation_id, workspace_id, workspace_slug}: Caller,
    signal: AbortSignal,
  ): Promise<readonly ListedModel[]> {
    const services = this.#services
    const named = {provider: `@${slug}`, virtual_key: undefined, config: undefined, custom_host: undefined, options: {}}
    const {call, credentials} = dryRunCall(
      {method: 'GET', path: '/v1/models', headers: {'x-gateway-provider': named.provider}},
      {
        caller: {organisation_id, workspace_id, workspace_slug, metadata: {}, config_id: null},
        config: undefined,
        at_ms: services.now(),
        services,
      },
    )
    const found = await resolveTarget(LEAF, named, null, {
      incoming: call.incoming,
      caller: call.caller,
      config_id: null,
      services,
    })
    checkManaged(found, services.now())
    const target = await openTarget(found, services)
    const provider = variantOf(target.provider, '', target.options)
    const lister = modelListerOf(provider)
    if (!lister) throw new Error('the engine has no list')
    const context = {
      provider: provider.slug,
      model: '',
      is_stream: false,
      strict: true,
      options: target.options,
      call_id: call.id,
      created_s: Math.floor(call.at_ms / 1000),
    }
    signal.throwIfAborted()
    return lister(
      {query: new URLSearchParams(), context},
      new SubRequests({call, target, provider, credentials}, signal, services),
    )
  }
}
