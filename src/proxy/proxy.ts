import type {IncomingMessage} from 'node:http'
import type {Duplex} from 'node:stream'
import {Refusal} from '../base/errors.ts'
import {GIVEN_UP, vouchFor} from '../base/ingress/govern.ts'
import type {ClientRequest} from '../base/ingress/request.ts'
import type {ClientResponse} from '../base/ingress/response.ts'
import {isStrict} from '../limits/index.ts'
import {hasOperation, loginOf} from '../providers/base-urls/base-url.ts'
import {hasParams} from '../routing/params.ts'
import type {PlanTarget} from '../routing/plan.ts'
import {authenticate} from './call/authenticate.ts'
import {type Call, DIRECT_ROUTE, nameUser, openCall, type RouteInfo} from './call/call.ts'
import {CallRegistry} from './call/registry.ts'
import {answerHeaders} from './call/response-headers.ts'
import {CallState} from './call/state.ts'
import {type Body, readBytes, readForm, readJson} from './inbound/body.ts'
import {asRefusal, errorResponse, rateHeaders} from './inbound/error-response.ts'
import {type InboundRequest, messageOf, parseRequest, readCredentials} from './inbound/request.ts'
import {ResponseWriter} from './inbound/response.ts'
import {createRealtime} from './realtime/index.ts'
import {note} from './records/settle.ts'
import {CallRunner, type Plane} from './run/call-runner.ts'
import {listModels} from './run/list-models.ts'
import {enterPrompt, isPrompted, Prompts} from './run/prompt.ts'
import type {Caller, ProxyServices} from './services.ts'
import {PlanCache, type ResolvedPlan} from './targets/plan-cache.ts'
import {splitModel, type Target} from './targets/target.ts'
import {authHeaders} from './upstream/build-request.ts'

/** The data plane: takes requests under `/v1` that are not the administration's. */
export interface CallProxy {
  handle(request: ClientRequest, response: ClientResponse): void
  /** Takes a session over WebSocket, from the server's `upgrade` event. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Drops what was worked out from integrations, providers and configs. */
  forget(): void
  /** Takes no more calls, waits for those under way, and ends them after `limit_ms`. */
  drain(limit_ms: number): Promise<void>
  readonly live: number
  readonly draining: boolean
}

export function createProxy(on: ProxyServices): CallProxy {
  const routings = new PlanCache(on)
  const prompts = new Prompts(on)
  const live = new CallRegistry(count => on.metrics.live(count))
  const realtime = createRealtime({
    on,
    live,
    targets: {find: (...of) => firstTarget(routings, ...of)},
    login: (...of) => authHeaders(on, ...of),
  })
  return {
    handleUpgrade: realtime.handleUpgrade,
    handle(request, response) {
      const relay = new ResponseWriter(response, live)
      void proxy(request, relay, {on, routings, live}, prompts)
    },
    forget() {
      routings.forget()
      prompts.forget()
    },
    async drain(limit_ms) {
      const until = performance.now() + limit_ms
      await live.drain(limit_ms)
      await within(on.guardrails?.settled(), Math.max(0, until - performance.now()))
    },
    get live() {
      return live.size
    },
    get draining() {
      return live.draining
    },
  }
}

/** Waits no longer than so; what is not there by then is let go. */
async function within(work: Promise<void> | undefined, limit_ms: number): Promise<void> {
  if (!work) return
  let timer: NodeJS.Timeout | undefined
  await Promise.race([
    work,
    new Promise<void>(resolve => {
      timer = setTimeout(resolve, limit_ms)
    }),
  ])
  clearTimeout(timer)
}

/** A session goes to one place: the first of its plan. */
async function firstTarget(routings: PlanCache, incoming: InboundRequest, caller: Caller, slug: string | null): Promise<Target> {
  const routing = await routings.find(incoming, caller, slug)
  let node = routing.plan.root
  while (node.kind === 'branch') node = node.children[0]!
  return routings.target(routing, node, incoming, caller)
}

const SCOPE = 'completions.write'

/** From a client's request to its attempt. Reads top to bottom in the order things happen; refusals of every step end here. */
async function proxy(request: ClientRequest, relay: ResponseWriter, plane: Plane, prompts: Prompts): Promise<void> {
  const {on, routings, live} = plane
  let incoming: InboundRequest | undefined
  let call: Call | undefined
  let state: CallState | undefined
  try {
    incoming = parseRequest(request, on.now(), on.administered)
    if (live.draining) throw new Refusal('draining')
    state = new CallState(live)
    relay.setListener(state)
    const credentials = readCredentials(incoming)
    const found = authenticate(credentials, SCOPE, on)
    const caller = found instanceof Promise ? await state.wait('authenticating', found) : found
    vouchFor(request)
    call = openCall(incoming, caller, relay, on)
    const admission = on.limits.admit(caller.limits, call.id, incoming.at_ms)
    const admitted = admission instanceof Promise ? await state.wait('admitting_caller', admission, late => late?.release()) : admission
    if (admitted) call.admissions.push(admitted)
    if (incoming.route.endpoint?.listed && !routings.isNamed(incoming, caller)) {
      await listModels(call, on)
      return void state.settle()
    }
    if (incoming.route.endpoint?.name === 'realtime') throw new Refusal('header.invalid', {header: 'upgrade', reason: 'expected websocket'})
    const routing = await findRouting(call, state, plane, prompts)
    nameUser(call)
    const of: Omit<Refused, 'target' | 'passage'> = {incoming, call, relay, request, on}
    new CallRunner(call, state, routing, credentials, plane, (fault, target, passage, tries) =>
      refuse(fault, {...of, target, passage, tries}),
    ).begin()
  } catch (fault) {
    state?.settle()
    for (const admission of call?.admissions ?? []) admission.release()
    refuse(asRefusal(fault), {incoming, call, target: null, relay, request, on})
  }
}

/** Where the call may go, and its body as far as that question, a second try or the provider's list of models needs it. */
async function findRouting(call: Call, state: CallState, plane: Plane, prompts: Prompts): Promise<ResolvedPlan> {
  const {on, routings} = plane
  const {incoming, caller} = call
  if (incoming.route.endpoint?.body === 'json' || !routings.isNamed(incoming, caller)) {
    call.body = await readBody(incoming, state, on)
    if (isPrompted(incoming)) await enterPrompt(call, prompts)
    return routings.find(call.incoming, caller, slugOf(call.body))
  }
  const routing = await routings.find(incoming, caller, null)
  const {root} = routing.plan
  const is_read = root.kind === 'branch' || root.target.retry || (await readsBody(call, routing, root, routings, on))
  call.body = is_read ? await readBody(incoming, state, on) : hasBody(incoming) ? {kind: 'stream'} : {kind: 'none'}
  if (call.body.kind === 'stream') messageOf(incoming).once(GIVEN_UP, fault => call.relay.giveUp(fault))
  return routing
}

/** A body that passes by otherwise: the models allowed there, or what the config sets, make it to be read. */
async function readsBody(
  {incoming, caller, admissions}: Call,
  routing: ResolvedPlan,
  leaf: PlanTarget,
  routings: PlanCache,
  on: ProxyServices,
) {
  const {managed, params, model, provider, options} = await routings.target(routing, leaf, incoming, caller)
  if (hasOperation(provider, incoming.route.endpoint)) return false
  // what a policy asks, or a strict limit holds, stands in the body
  if (admissions.some(({strict_claims: held}) => held) || managed?.limits.some(isStrict)) return true
  if ((await on.findPolicies(caller.workspace_id))?.reads_body) return true
  if (loginOf(provider, options)?.signs_body) return true
  return Boolean(managed?.models || managed?.disabled.size || hasParams(params) || model !== null)
}

/** Reads a body in a form we know; one we do not know is left on the wire. */
async function readBody(incoming: InboundRequest, state: CallState, on: ProxyServices): Promise<Body> {
  const {request, route, headers} = incoming
  const type = headers['content-type'] ?? ''
  if (!hasBody(incoming)) {
    if (route.endpoint?.body === 'json') throw new Refusal('body.not_json', {reason: 'it is empty'})
    return {kind: 'none'}
  }
  const limit_mb = on.settings.max_json_payload_size_in_mb
  if (/^multipart\/form-data/i.test(type)) return readForm(await bytesOf(request, limit_mb, state), type)
  if (route.endpoint?.body === 'json' && type && !/json/i.test(type)) {
    throw new Refusal('body.content_type', {content_type: type.slice(0, 100), expected: 'application/json'})
  }
  if (route.endpoint?.body === 'json' || /json/i.test(type)) return readJson(await bytesOf(request, limit_mb, state), route.endpoint)
  return {kind: 'stream'}
}

function bytesOf(request: ClientRequest, limit_mb: number, state: CallState): Buffer | Promise<Buffer> {
  const read = readBytes(request, limit_mb)
  return read instanceof Promise ? state.wait('reading_body', read) : read
}

function hasBody({headers}: InboundRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function slugOf(body: Body): string | null {
  return 'model' in body && body.model ? splitModel(body.model)[0] : null
}

interface Refused {
  readonly incoming: InboundRequest | undefined
  readonly call: Call | undefined
  readonly target: Target | null
  readonly passage?: RouteInfo
  /** Attempts at the target that have no row of their own. */
  readonly tries?: number
  readonly relay: ResponseWriter
  readonly request: ClientRequest
  readonly on: ProxyServices
}

function refuse(fault: Refusal, {incoming, call, target, passage = DIRECT_ROUTE, tries = 0, relay, request, on}: Refused) {
  const path = incoming?.route.path ?? (request.url ?? '').slice(3)
  if (fault.code === 'internal')
    on.log.error({fault: fault.cause, trace_id: incoming?.trace.trace_id, path}, 'a call failed inside the gateway')
  else
    on.log.info(
      {refused: fault.code, status: fault.status, method: request.method, path, trace_id: incoming?.trace.trace_id},
      fault.message,
    )
  try {
    const headers = call
      ? answerHeaders(call, target, {}, {is_stream: false, rewrites: false, timing: null, passage, retry_attempt_count: 0, on})
      : bareHeaders(incoming, request, on)
    if (incoming) headers.push(...rateHeaders(fault, incoming.own.prefix))
    relay.refuse(errorResponse(fault, path), headers, !request.complete && fault.status !== 401)
    if (call) note(call, target, fault, on, passage, tries)
    on.metrics.ended({
      method: request.method ?? '',
      endpoint: call?.asked ?? 'proxy',
      provider: target?.provider.slug ?? '',
      model: null,
      status: fault.status,
      is_stream: false,
      total_ms: incoming ? performance.now() - incoming.started : 0,
      upstream_ms: null,
      overhead_ms: 0,
      tokens: 0,
      cost_nanousd: 0,
      unpriced: false,
      cache_status: 'DISABLED',
    })
  } catch (second) {
    on.log.error({fault: second}, 'a refusal could not be recorded')
    relay.cut()
  }
}

function bareHeaders(incoming: InboundRequest | undefined, request: ClientRequest, on: ProxyServices): string[] {
  const trace = incoming ? [`${incoming.own.prefix}-trace-id`, incoming.trace.trace_id] : []
  return [...trace, ...on.cors(request.headers.origin)]
}
