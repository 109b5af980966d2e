import type {IncomingMessage} from 'node:http'
import type {Duplex} from 'node:stream'
import {Refusal} from '../../base/errors.ts'
import {newTimeId} from '../../base/ids.ts'
import {upgradeFault} from '../../base/websocket/index.ts'
import {authenticate} from '../authenticate.ts'
import {type Call, metadataOf} from '../call.ts'
import {readIncoming} from '../incoming.ts'
import {asRefusal, refusalAnswer} from '../refuse.ts'
import type {Relay} from '../relay.ts'
import type {Caller, ProxyServices} from '../services.ts'
import {note} from '../settle.ts'
import {checkManaged, type Target} from '../target.ts'
import {admitTarget, connect, ownHeaders, type RealtimeParts, release, SCOPE} from './connect.ts'
import {type Door, openDoor} from './door.ts'
import {type Offer, readOffer} from './offers.ts'
import {checkOffers, keyFor, namedModel, opening, PATH} from './place.ts'

/** From a request to open a session to the session. Reads top to bottom in the order things happen; refusals of every step end here. */
export async function open(request: IncomingMessage, socket: Duplex, head: Buffer, parts: RealtimeParts): Promise<void> {
  const {on, targets, live} = parts
  const door = openDoor(request, socket, head, live)
  let offer: Offer | undefined
  let call: Call | undefined
  let target: Target | undefined
  try {
    const incoming = readIncoming(request, on.now(), on.administered)
    if (incoming.route.path !== PATH) throw new Refusal('route.unknown', {path: `/v1${incoming.route.path}`})
    const fault = upgradeFault(request.headers)
    if (fault) throw new Refusal('header.invalid', fault)
    if (live.draining) throw new Refusal('draining')
    offer = readOffer(incoming)
    const caller = await authenticate(offer.credentials, SCOPE, on)
    call = openCall(offer, caller, door.relay, on)
    const {slug, model} = namedModel(incoming.route.query)
    const admission = await on.limits.admit(caller.limits, call.id, incoming.at_ms)
    if (admission) call.admissions.push(admission)
    target = await targets.find(offer.incoming, caller, slug)
    checkManaged(target, on.now())
    checkOffers(target)
    checkModel(target, target.model ?? model)
    call.target_admissions.push(...(await admitTarget(target, call, on)))
    call.plan_ms = performance.now() - incoming.started - call.auth_ms
    const opens = opening(target, offer, on)
    const login = await parts.login?.(target, opens, keyFor(target, offer.credentials))
    connect(door, offer, call, target, login ? {...opens, headers: {...opens.headers, ...login}} : opens, parts)
  } catch (fault) {
    refuse(door, asRefusal(fault), {incoming: offer?.incoming, call, target: target ?? null, on})
  }
}

function openCall({incoming}: Offer, caller: Caller, relay: Relay, on: ProxyServices): Call {
  const id = newTimeId(incoming.at_ms)
  return {
    id,
    log_id: id,
    incoming,
    caller,
    endpoint: 'realtime',
    is_passthrough: false,
    relay,
    metadata: metadataOf(incoming, caller, on),
    keeps_bodies: incoming.own.values.debug !== 'false',
    auth_ms: performance.now() - incoming.started,
    body: {kind: 'none'},
    admissions: [],
    target_admissions: [],
    used: {tokens: 0, cost_nanousd: 0},
    used_here: {tokens: 0, cost_nanousd: 0},
    plan_ms: 0,
    attempts: 1,
  }
}

/** The provider's list of allowed models (reference: model not allowed, 412). */
function checkModel({managed, provider}: Target, model: string | null) {
  if (!managed?.models && !managed?.disabled.size) return
  const allowed = model !== null && !managed.disabled.has(model) && (managed.models?.has(model) ?? true)
  if (!allowed) throw new Refusal('model.not_allowed', {model: model ?? '(none named)', provider: managed.slug || provider.slug})
}

interface Refused {
  readonly incoming: Offer['incoming'] | undefined
  readonly call: Call | undefined
  readonly target: Target | null
  readonly on: ProxyServices
}

/** A session that was refused before anything left. */
function refuse({relay, request}: Door, fault: Refusal, {incoming, call, target, on}: Refused) {
  if (call) release(call)
  const trace_id = incoming?.trace.trace_id
  if (fault.code === 'internal') on.log.error({fault: fault.cause, trace_id, path: PATH}, 'a session failed inside the gateway')
  else on.log.info({refused: fault.code, status: fault.status, method: 'GET', path: PATH, trace_id}, fault.message)
  const headers = call ? ownHeaders(call, target, {}, on) : [...on.cors(request.headers.origin)]
  if (fault.code === 'header.invalid') headers.push('sec-websocket-version', '13')
  relay.refuse(refusalAnswer(fault, PATH), headers, true)
  if (call) note(call, target, fault, on)
}
