import {LRUCache} from 'lru-cache'
import type {Destination} from '../../base/egress/target.ts'
import {isServed} from '../../providers/engines/served-routes.ts'
import {UpstreamFault} from '../../providers/operation.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Call} from '../call/call.ts'
import {askedModel} from '../call/model-access.ts'
import type {RequestCredentials} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import {atModel} from '../targets/model-place.ts'
import type {Target} from '../targets/target.ts'
import {type SubRequestServices, SubRequests} from '../upstream/sub-requests.ts'

type Services = SubRequestServices & Uses<'now'>

/** An engine that has a route keeps it; one that lacks it, or was silent, may soon be a newer one. */
const SERVED_MS = 600_000
const ABSENT_MS = 60_000
const UNKNOWN_MS = 5_000
const DEADLINE_MS = 1_000
const KNOWN_ROUTES = 2_000

interface Kept {
  readonly is_served: boolean
  readonly until_ms: number
}

/**
 * Which routes the engines at their hosts serve, of those that not every version has: each is found out by an empty
 * request.
 */
export class EngineRoutes {
  readonly #services: Services
  readonly #known = new LRUCache<string, Kept>({max: KNOWN_ROUTES})
  readonly #asking = new Map<string, Promise<boolean>>()

  constructor(services: Services) {
    this.#services = services
  }

  /**
   * The target with the endpoint of the call, where the engine serves it; otherwise as it is, so that the call is
   * translated.
   */
  serving(call: Call, target: Target, credentials: RequestCredentials): Target | Promise<Target> {
    const {endpoint} = call
    const {provider} = target
    if (call.is_passthrough || !provider.may_serve?.includes(endpoint)) return target
    const there = atModel(target, askedModel(call, target), this.#services)
    if (!there.destination) return target
    const key = keyOf(call, there, there.destination)
    const kept = this.#known.get(key)
    if (kept && kept.until_ms > this.#services.now()) return kept.is_served ? withEndpoint(target, endpoint) : target
    const asking = this.#asking.get(key) ?? this.#ask(key, call, there, credentials)
    this.#asking.set(key, asking)
    return asking.then(is_served => (is_served ? withEndpoint(target, endpoint) : target))
  }

  async #ask(key: string, call: Call, target: Target, credentials: RequestCredentials): Promise<boolean> {
    const is_served = await this.#request(call, target, credentials)
    this.#asking.delete(key)
    const kept_ms = is_served === null ? UNKNOWN_MS : is_served ? SERVED_MS : ABSENT_MS
    this.#known.set(key, {is_served: is_served === true, until_ms: this.#services.now() + kept_ms})
    return is_served === true
  }

  /** Null where neither is sure, also where the engine is away: the call itself will find that out. */
  async #request(call: Call, target: Target, credentials: RequestCredentials): Promise<boolean | null> {
    const services = this.#services
    const {endpoint, incoming} = call
    const upstream = new SubRequests(
      {call, target, provider: target.provider, credentials},
      new AbortController().signal,
      services,
    )
    try {
      const {path} = incoming.route
      const reply = await upstream.ask({method: 'POST', path, endpoint, body: {}, within_ms: DEADLINE_MS})
      reply.drop()
      return isServed(endpoint, reply.status, '')
    } catch (fault) {
      if (fault instanceof UpstreamFault) return isServed(endpoint, fault.status, fault.body.toString())
      services.log.debug({fault, call_id: call.id, endpoint}, 'an engine did not tell whether it has a route')
      return null
    }
  }
}

/** By provider, too: another credential may be refused where this one is not. */
function keyOf({caller, endpoint}: Call, {managed, provider}: Target, {origin, basePath}: Destination): string {
  return [caller.workspace_id, managed?.id ?? '', provider.slug, endpoint, origin, basePath].join('\n')
}

/** Each made once: what is remembered by target or provider stays so. */
const widened = new WeakMap<Target, Map<EndpointName, Target>>()

function withEndpoint(target: Target, endpoint: EndpointName): Target {
  const known = widened.get(target) ?? new Map<EndpointName, Target>()
  widened.set(target, known)
  const found = known.get(endpoint)
  if (found) return found
  const {provider} = target
  const made = {
    ...target,
    provider: {...provider, endpoints: [...(provider.endpoints as readonly EndpointName[]), endpoint]},
  }
  known.set(endpoint, made)
  return made
}
