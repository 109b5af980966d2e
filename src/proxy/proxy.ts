import type {IncomingMessage, ServerResponse} from 'node:http'
import {Refusal} from '../base/errors.ts'
import {newTimeId} from '../base/ids.ts'
import {answerHeaders} from './answer.ts'
import {Attempt} from './attempt.ts'
import {authenticate} from './authenticate.ts'
import {type Body, readBytes, readForm, readJson} from './body.ts'
import {type Call, metadataOf} from './call.ts'
import {type Incoming, readCredentials, readIncoming} from './incoming.ts'
import {LiveCalls} from './live.ts'
import {listModels} from './models.ts'
import {outgoing} from './outgoing.ts'
import {asRefusal, refusalAnswer} from './refuse.ts'
import {Relay} from './relay.ts'
import type {Caller, ProxyServices} from './services.ts'
import {note} from './settle.ts'
import {splitModel, type Target, Targets} from './target.ts'

/** The data plane: takes requests under `/v1` that are not the administration's. */
export interface CallProxy {
  handle(request: IncomingMessage, response: ServerResponse): void
  /** Drops what was worked out from integrations, providers and configs. */
  forget(): void
  /** Takes no more calls, waits for those under way, and ends them after `limit_ms`. */
  drain(limit_ms: number): Promise<void>
  readonly live: number
  readonly draining: boolean
}

export function createProxy(on: ProxyServices): CallProxy {
  const targets = new Targets(on)
  const live = new LiveCalls(count => on.metrics.live(count))
  return {
    handle(request, response) {
      const relay = new Relay(response)
      void proxy(request, relay, {on, targets, live})
    },
    forget: () => targets.forget(),
    drain: limit_ms => live.drain(limit_ms),
    get live() {
      return live.size
    },
    get draining() {
      return live.draining
    },
  }
}

interface Plane {
  readonly on: ProxyServices
  readonly targets: Targets
  readonly live: LiveCalls
}

const SCOPE = 'completions.write'

/** From a client's request to its attempt. Reads top to bottom in the order things happen; refusals of every step end here. */
async function proxy(request: IncomingMessage, relay: Relay, {on, targets, live}: Plane): Promise<void> {
  let incoming: Incoming | undefined
  let call: Call | undefined
  let target: Target | undefined
  try {
    incoming = readIncoming(request, on.now(), on.administered)
    if (live.draining) throw new Refusal('draining')
    const credentials = readCredentials(incoming)
    const found = authenticate(credentials, SCOPE, on)
    const caller = found instanceof Promise ? await found : found
    call = openCall(incoming, caller, relay, on)
    const admission = on.limits.admit(caller.limits, call.id, incoming.at_ms)
    const admitted = admission instanceof Promise ? await admission : admission
    if (admitted) call.admissions.push(admitted)
    if (incoming.route.endpoint?.listed && !targets.isNamed(incoming, caller)) return await listModels(call, on)
    target = await findTarget(call, targets, on)
    checkModel(target, call)
    await admitTarget(call, target, on)
    call.plan_ms = performance.now() - incoming.started - call.auth_ms
    new Attempt(call, target, outgoing(call, target, credentials, on), on, live).begin()
  } catch (fault) {
    refuse(asRefusal(fault), {incoming, call, target: target ?? null, relay, request, on})
  }
}

function openCall(incoming: Incoming, caller: Caller, relay: Relay, on: ProxyServices): Call {
  const id = newTimeId(incoming.at_ms)
  return {
    id,
    log_id: id,
    incoming,
    caller,
    endpoint: incoming.route.endpoint?.name ?? 'proxy',
    is_passthrough: !incoming.route.endpoint,
    relay,
    metadata: metadataOf(incoming, caller, null, on),
    keeps_bodies: incoming.own.values.debug !== 'false',
    auth_ms: performance.now() - incoming.started,
    body: {kind: 'none'},
    admissions: [],
    plan_ms: 0,
    attempts: 0,
  }
}

/** Where the call goes, and its body as far as that question or the provider's list of models needs it. */
async function findTarget(call: Call, targets: Targets, on: ProxyServices): Promise<Target> {
  const {incoming, caller} = call
  if (incoming.route.endpoint?.body === 'json') {
    call.body = await readBody(incoming, on)
    return targets.find(incoming, caller, slugOf(call.body))
  }
  if (!targets.isNamed(incoming, caller)) {
    call.body = await readBody(incoming, on)
    return targets.find(incoming, caller, slugOf(call.body))
  }
  const target = await targets.find(incoming, caller, null)
  const is_read = target.managed?.models || target.managed?.disabled.size || target.edits || target.model !== null
  call.body = is_read ? await readBody(incoming, on) : hasBody(incoming) ? {kind: 'stream'} : {kind: 'none'}
  return target
}

/** Reads a body in a form we know; one we do not know is left on the wire. */
async function readBody(incoming: Incoming, on: ProxyServices): Promise<Body> {
  const {request, route, headers} = incoming
  const type = headers['content-type'] ?? ''
  if (!hasBody(incoming)) {
    if (route.endpoint?.body === 'json') throw new Refusal('body.not_json', {reason: 'it is empty'})
    return {kind: 'none'}
  }
  const limit_mb = on.settings.max_json_payload_size_in_mb
  if (/^multipart\/form-data/i.test(type)) return readForm(await readBytes(request, limit_mb), type)
  if (route.endpoint?.body === 'json' && type && !/json/i.test(type)) {
    throw new Refusal('body.content_type', {content_type: type.slice(0, 100), expected: 'application/json'})
  }
  if (route.endpoint?.body === 'json' || /json/i.test(type)) return readJson(await readBytes(request, limit_mb), route.endpoint)
  return {kind: 'stream'}
}

function hasBody({headers}: Incoming): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function slugOf(body: Body): string | null {
  return 'model' in body && body.model ? splitModel(body.model)[0] : null
}

/** The provider's list of allowed models (reference: model not allowed, 412). */
function checkModel({managed, model, provider}: Target, {body, incoming}: Call) {
  if (!managed?.models && !managed?.disabled.size) return
  const asked = model ?? ('model' in body && body.model !== null ? splitModel(body.model)[1] : null)
  if (asked === null && (managed.models === null || incoming.route.endpoint?.body === 'none')) return
  const allowed = asked !== null && !managed.disabled.has(asked) && (managed.models?.has(asked) ?? true)
  if (!allowed) throw new Refusal('model.not_allowed', {model: asked ?? '(none named)', provider: managed.slug || provider.slug})
}

async function admitTarget(call: Call, target: Target, on: ProxyServices): Promise<void> {
  if (!target.managed?.limits.length) return
  const admitted = await on.limits.admit(target.managed.limits, call.id, call.incoming.at_ms)
  if (admitted) call.admissions.push(admitted)
}

interface Refused {
  readonly incoming: Incoming | undefined
  readonly call: Call | undefined
  readonly target: Target | null
  readonly relay: Relay
  readonly request: IncomingMessage
  readonly on: ProxyServices
}

function refuse(fault: Refusal, {incoming, call, target, relay, request, on}: Refused) {
  for (const admission of call?.admissions ?? []) admission.release()
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
      ? answerHeaders(call, target, {}, {is_stream: false, rewrites: false, timing: null, on})
      : bareHeaders(incoming, request, on)
    relay.refuse(refusalAnswer(fault, path), headers, !request.complete && fault.status !== 401)
    if (call) note(call, target, fault, on)
    on.metrics.ended({
      method: request.method ?? '',
      endpoint: call?.endpoint ?? 'proxy',
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

function bareHeaders(incoming: Incoming | undefined, request: IncomingMessage, on: ProxyServices): string[] {
  const trace = incoming ? [`${incoming.own.prefix}-trace-id`, incoming.trace.trace_id] : []
  return [...trace, ...on.cors(request.headers.origin)]
}
