import type {IncomingMessage} from 'node:http'
import type {Duplex} from 'node:stream'
import type {After} from '../base/delay.ts'
import {Refusal} from '../base/errors.ts'
import {writtenHeader} from '../base/header-values.ts'
import {newTimeId} from '../base/ids.ts'
import {GIVEN_UP, vouchFor} from '../base/ingress/govern.ts'
import type {ClientRequest} from '../base/ingress/request.ts'
import type {ClientResponse} from '../base/ingress/response.ts'
import {maskedUrl} from '../base/masked-url.ts'
import {refusedUnknown} from '../charge/ended-call.ts'
import {isStrict} from '../limits/index.ts'
import {hasOperation, loginOf} from '../providers/base-urls/base-url.ts'
import {hasParams} from '../routing/params.ts'
import type {Endpoint} from '../schema/endpoints.ts'
import {ownHeaders} from '../schema/headers.ts'
import type {ServerTools} from '../schema/server-tools.ts'
import type {Remembered} from '../store/remembered.ts'
import {authenticate} from './call/authenticate.ts'
import {type Call, type ClientCall, DIRECT_ROUTE, nameUser, openClientCall, type RouteInfo} from './call/call.ts'
import {makesObject} from './call/indirect.ts'
import {hasLists} from './call/model-access.ts'
import {enterTarget} from './call/operation.ts'
import {hasBody, readBody} from './call/read-body.ts'
import {CallRegistry} from './call/registry.ts'
import {answerHeaders} from './call/response-headers.ts'
import {CallState} from './call/state.ts'
import {type Body, streamBody} from './inbound/body.ts'
import {slugInPath, unreadPath} from './inbound/doors.ts'
import {asRefusal, errorResponse, refusalHeaders} from './inbound/error-response.ts'
import {checkLink, followed, linkCredentials, linkOf} from './inbound/links.ts'
import {type InboundRequest, messageOf, parseRequest, type ReceivedRequest, readCredentials} from './inbound/request.ts'
import {ResponseWriter} from './inbound/response.ts'
import {createRealtime} from './realtime/index.ts'
import {CallRunner} from './run/call-runner.ts'
import {EngineRoutes} from './run/engine-routes.ts'
import {ModelLists} from './run/list-models.ts'
import {enterPrompt, isPrompted, Prompts} from './run/prompt.ts'
import {noteRefusal} from './run/refused-row.ts'
import type {Plane} from './run/target-run.ts'
import type {Caller, ProxyServices} from './services.ts'
import {followedPlan} from './targets/followed-plan.ts'
import {PlanCache, type ResolvedPlan} from './targets/plan-cache.ts'
import {splitModel, type Target} from './targets/target.ts'
import {isRunEndpoint, wantsRun} from './tool-runs/wants-run.ts'
import {authHeaders} from './upstream/build-request.ts'

/** The data plane: takes requests under `/v1` that are not the administration's. */
export interface CallProxy {
  handle(request: ClientRequest, response: ClientResponse): void
  /** Takes a session over WebSocket, from the server's `upgrade` event. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** From now on requests may have the gateway run tools of MCP servers. */
  serveTools(tools: ServerTools): void
  /** Plans and prompts. */
  readonly remembered: readonly Remembered[]
  /** Takes no more calls, waits for those in progress, and ends them after `limit_ms`. */
  drain(limit_ms: number): Promise<void>
  readonly live: number
  readonly draining: boolean
}

export function createProxy(services: ProxyServices): CallProxy {
  const plans = new PlanCache(services)
  const prompts = new Prompts(services)
  const models = new ModelLists(services, plans)
  const routes = new EngineRoutes(services)
  const registry = new CallRegistry(services, count => services.metrics.live(count))
  const realtime = createRealtime({
    services,
    live: registry,
    targets: {find: (...of) => firstTarget(plans, ...of)},
    login: (...of) => authHeaders(services, ...of),
  })
  const side: Side = {prompts, models, tools: null, handle}
  function handle(request: ClientRequest, response: ClientResponse) {
    void proxy(request, new ResponseWriter(response, registry), {services, plans, registry, routes}, side)
  }
  return {
    handleUpgrade: realtime.handleUpgrade,
    handle,
    serveTools(tools) {
      side.tools = tools
    },
    remembered: [...plans.remembered, ...prompts.remembered],
    async drain(limit_ms) {
      const until = services.steady() + limit_ms
      if (registry.size > 0)
        services.log.info({in_progress: registry.kinds, limit_ms}, 'the shutdown waits for calls in progress')
      await registry.drain(limit_ms)
      await within(services.guardrails?.settled(), Math.max(0, until - services.steady()), services.after)
    },
    get live() {
      return registry.size
    },
    get draining() {
      return registry.draining
    },
  }
}

/** Waits no longer than so; what is not there by then is let go. */
async function within(work: Promise<void> | undefined, limit_ms: number, after: After): Promise<void> {
  if (!work) return
  let callOff = () => {}
  await Promise.race([
    work,
    new Promise<void>(resolve => {
      callOff = after(limit_ms, resolve)
    }),
  ])
  callOff()
}

/** A session goes to one place: the first of its plan. */
async function firstTarget(
  plans: PlanCache,
  incoming: ReceivedRequest,
  caller: Caller,
  slug: string | null,
): Promise<Target> {
  const routing = await plans.find(incoming, caller, slug)
  let node = routing.plan.root
  while (node.kind === 'branch') node = node.children[0]!
  return plans.target(routing, node, incoming, caller)
}

const SCOPE = 'completions.write'

/** The plane with all of its services. */
interface WholePlane extends Plane {
  readonly services: ProxyServices
}

/** Prompts, lists of models and tools: some calls need them. */
interface Side {
  readonly prompts: Prompts
  readonly models: ModelLists
  /** Of MCP servers; null where none is served. */
  tools: ServerTools | null
  /** Takes the turns of a run, each of which is a call of its own. */
  handle(request: ClientRequest, response: ClientResponse): void
}

/**
 * From a client's request to its attempt. Reads top to bottom in the order things happen; refusals of every step end
 * here.
 */
async function proxy(request: ClientRequest, relay: ResponseWriter, plane: WholePlane, side: Side): Promise<void> {
  const {prompts, models, tools, handle} = side
  const {services, registry} = plane
  let incoming: ReceivedRequest | undefined
  let call: ClientCall | undefined
  let state: CallState | undefined
  try {
    incoming = parseRequest(request, services.now(), services.steady(), services.administered)
    if (registry.draining) throw new Refusal('draining')
    if (!services.takesCalls()) throw new Refusal('journal.outrun')
    state = new CallState(registry)
    relay.setListener(state)
    const came = incoming
    const link = linkOf(request.url, services.seal, incoming.at_ms)
    if (link) incoming = followed(came, link)
    const credentials = link ? linkCredentials(() => readCredentials(came), link) : readCredentials(came)
    const found = authenticate(credentials, SCOPE, services, came)
    const caller = found instanceof Promise ? await state.wait('authenticating', found) : found
    vouchFor(request)
    if (link) checkLink(link, caller)
    call = openClientCall('call', incoming, caller, relay, services)
    call.link = link
    if (tools && !link && wantsRun(incoming) && isRunEndpoint(incoming)) {
      const {enterToolRun} = await import('./tool-runs/enter.ts') // few calls need it
      const plain = await enterToolRun({call, incoming, state, credentials, tools, services, handle})
      if (!plain) return
      state.settle()
      return proxy(plain, relay, plane, {...side, tools: null})
    }
    const checked_from = services.steady()
    const admission = services.limits.admit(caller.limits, call.id, incoming.at_ms)
    const admitted =
      admission instanceof Promise
        ? await state.wait('admitting_caller', admission, late => late?.release())
        : admission
    if (admitted) call.admissions.push(admitted)
    if (caller.limits.length > 0) services.metrics.took('rate_limits', services.steady() - checked_from)
    if (models.takes(incoming)) {
      const list = await state.wait('resolving', models.answer(call))
      if (list) {
        models.send(call, list)
        return void state.settle()
      }
    }
    if (incoming.route.endpoint?.name === 'realtime')
      throw new Refusal('header.invalid', {header: 'upgrade', reason: 'expected websocket'})
    const routing = await findRouting(call, state, plane, prompts)
    nameUser(call)
    const of: Omit<Refused, 'target' | 'route'> = {incoming, call, relay, request, services}
    new CallRunner({call, state, plan: routing, credentials, plane}, (fault, target, route, tries) =>
      refuse(fault, {...of, target, route, tries}),
    ).begin()
  } catch (fault) {
    state?.settle()
    for (const admission of call?.admissions ?? []) admission.release()
    refuse(asRefusal(fault), {incoming, call, target: null, relay, request, services})
  }
}

/**
 * Finds the targets of the call, and its body as far as routing, a second try or the provider's list of models needs
 * it.
 */
async function findRouting(
  call: ClientCall,
  state: CallState,
  plane: WholePlane,
  prompts: Prompts,
): Promise<ResolvedPlan> {
  const {services, plans} = plane
  const {incoming, caller, link} = call
  if (link) {
    call.body = hasBody(incoming) ? streamBody() : {kind: 'none'}
    if (call.body.kind === 'stream') messageOf(incoming).once(GIVEN_UP, fault => call.relay.giveUp(fault))
    return followedPlan(await plans.find(incoming, caller, null), link)
  }
  const named = call.is_passthrough ? slugInPath(incoming.route.path) : null
  if (named) call.incoming = {...incoming, route: {...incoming.route, path: named.path}}
  if (incoming.route.endpoint?.body === 'json' || (!named && !plans.isNamed(incoming, caller))) {
    call.body = await readBody(call, state, services)
    if (isPrompted(incoming)) await enterPrompt(call, prompts)
    return plans.find(call.incoming, caller, slugOf(call.body))
  }
  const routing = await plans.find(incoming, caller, named?.slug ?? null)
  const {root} = routing.plan
  const target = root.kind === 'leaf' ? await plans.target(routing, root, incoming, caller) : null
  if (target) enterTarget(call, target)
  const is_read =
    root.kind === 'branch' ||
    root.target.retry ||
    namesItsModel(incoming.route.endpoint) ||
    (await readsBody(call, target!, services))
  call.body = is_read ? await readBody(call, state, services) : hasBody(incoming) ? streamBody() : {kind: 'none'}
  if (call.body.kind === 'stream') messageOf(incoming).once(GIVEN_UP, fault => call.relay.giveUp(fault))
  return routing
}

/**
 * Forms of calls that cost something are read as JSON is: their model is in the body. Files, whose length is unbounded,
 * pass by.
 */
function namesItsModel(endpoint: Endpoint | undefined): boolean {
  return endpoint?.body === 'multipart' && endpoint.name !== 'uploadFile'
}

/** A body that passes by otherwise: the models allowed there, or what the config sets, make it to be read. */
async function readsBody(
  {incoming, caller, admissions, is_passthrough, operation}: Call,
  {managed, params, model, provider, options}: Target,
  services: ProxyServices,
) {
  // what calls the provider itself reads a form as it comes, but no coding of it
  if (hasOperation(provider, incoming.route.endpoint)) return incoming.headers['content-encoding'] !== undefined
  if (is_passthrough && (operation ? operation.operation.money !== 'free' : isShortJson(incoming))) return true
  if (hasLists(managed, caller)) return !isLargeUpload(incoming, services)
  if (makesObject(incoming)) return true
  // policies and strict limits read the body
  if (admissions.some(({strict_claims: held}) => held) || managed?.limits.some(isStrict)) return true
  if ((await services.findPolicies(caller.workspace_id))?.reads_body) return true
  if (loginOf(provider, options)?.signs_body) return true
  return Boolean(managed?.model_places) || hasParams(params) || model !== null
}

/** A file that is too large to be held passes by: a batch of it is refused, as its rows are not known. */
function isLargeUpload({headers, route}: InboundRequest, {settings}: ProxyServices): boolean {
  return (
    route.endpoint?.name === 'uploadFile' &&
    !(Number(headers['content-length']) <= settings.max_json_payload_size_in_mb << 20)
  )
}

/** An unknown path may execute a model all the same: its name is in the body. */
function isShortJson({method, headers}: InboundRequest): boolean {
  const length = Number(headers['content-length'] ?? Infinity)
  return (
    method !== 'GET' &&
    length <= SHORT_BYTES &&
    /json/i.test(headers['content-type'] ?? '') &&
    !headers['content-encoding']
  )
}

const SHORT_BYTES = 1 << 20

function slugOf(body: Body): string | null {
  return 'model' in body && body.model ? splitModel(body.model)[0] : null
}

interface Refused {
  readonly incoming: ReceivedRequest | undefined
  readonly call: ClientCall | undefined
  readonly target: Target | null
  readonly route?: RouteInfo
  /** Attempts at the target that have no row of their own. */
  readonly tries?: number
  readonly relay: ResponseWriter
  readonly request: ClientRequest
  readonly services: ProxyServices
}

function refuse(
  fault: Refusal,
  {incoming, call, target, route = DIRECT_ROUTE, tries = 0, relay, request, services}: Refused,
) {
  const path = incoming?.route.path ?? unreadPath(request.url)
  const {prefix} = incoming?.own ?? ownHeaders(request.headers)
  const trace_id = incoming?.trace.trace_id ?? newTimeId(services.now())
  if (fault.code === 'internal')
    services.log.error({fault: fault.cause, trace_id, path: maskedUrl(path)}, 'a call failed inside the gateway')
  else
    services.log.info(
      {
        refused: fault.code,
        status: fault.status,
        method: request.method,
        path: maskedUrl(path),
        trace_id: incoming?.trace.trace_id,
      },
      maskedUrl(fault.message),
    )
  try {
    const headers = call
      ? answerHeaders(
          call,
          target,
          {},
          {is_stream: false, rewrites: false, timing: null, route, retry_attempt_count: 0, services},
        )
      : [`${prefix}-trace-id`, writtenHeader(trace_id), ...services.cors(request.headers.origin)]
    headers.push(...refusalHeaders(fault, prefix))
    const response = errorResponse(fault, {path, headers: request.headers, trace_id})
    relay.refuse(response, headers, !request.complete && fault.status !== 401)
    if (call) return noteRefusal(call, fault, {target, route, tries}, services)
    const total_ms = incoming ? services.steady() - incoming.started : 0
    services.metrics.ended(
      refusedUnknown({method: request.method ?? '', endpoint: 'proxy', status: fault.status}, total_ms),
    )
  } catch (second) {
    services.log.error({fault: second}, 'a refusal could not be recorded')
    relay.cut()
  }
}
