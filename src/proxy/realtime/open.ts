import type {IncomingMessage} from 'node:http'
import type {Duplex} from 'node:stream'
import {Refusal} from '../../base/errors.ts'
import {writtenHeader} from '../../base/header-values.ts'
import {newTimeId} from '../../base/ids.ts'
import {upgradeFault} from '../../base/websocket/index.ts'
import {refusedUnknown} from '../../charge/ended-call.ts'
import {authenticate} from '../call/authenticate.ts'
import {type ClientCall, openClientCall} from '../call/call.ts'
import {checkNamed} from '../call/model-access.ts'
import {evaluateRequest} from '../guardrails/evaluate.ts'
import {asRefusal, errorResponse, rateHeaders} from '../inbound/error-response.ts'
import {parseRequest, type ReceivedRequest} from '../inbound/request.ts'
import {note} from '../records/settle.ts'
import {atModel} from '../targets/model-place.ts'
import {openTarget} from '../targets/open-target.ts'
import {checkManaged, type Target} from '../targets/target.ts'
import {
  admitTarget,
  connect,
  ownHeaders,
  type RealtimeParts,
  type RealtimeServices,
  release,
  SCOPE,
  sessionRequest,
} from './connect.ts'
import {openDoor, type UpgradeHandshake} from './upgrade.ts'
import {readOffer, type UpgradeRequest} from './upgrade-request.ts'
import {checkOffers, namedModel, PATH} from './upstream-request.ts'

/**
 * From a request to open a session to the session. Reads top to bottom in the order things happen; refusals of every
 * step end here.
 */
export async function open(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  parts: RealtimeParts,
): Promise<void> {
  const {services, targets, live} = parts
  const door = openDoor(request, socket, head, live)
  let incoming: ReceivedRequest | undefined
  let offer: UpgradeRequest | undefined
  let call: ClientCall | undefined
  let target: Target | undefined
  try {
    incoming = parseRequest(request, services.now(), services.steady(), services.administered)
    if (incoming.route.endpoint?.name !== 'realtime')
      throw new Refusal('route.unknown', {path: `/v1${incoming.route.path}`})
    const fault = upgradeFault(request.headers)
    if (fault) throw new Refusal('header.invalid', fault)
    if (live.draining) throw new Refusal('draining')
    offer = readOffer(incoming)
    const caller = await authenticate(offer.credentials, SCOPE, services, incoming)
    call = openClientCall('realtime_session', offer.incoming, caller, door.relay, services)
    // A session is one attempt, at one place.
    call.attempts = 1
    const {slug, model} = namedModel(incoming.route.query)
    const admission = await services.limits.admit(caller.limits, call.id, incoming.at_ms)
    if (admission) call.admissions.push(admission)
    target = await targets.find(offer.incoming, caller, slug)
    checkManaged(target, services.now())
    const found = await openTarget(target, services)
    target = atModel(found, found.model ?? model, services)
    checkOffers(target)
    checkNamed(target, call, target.model ?? model)
    await evaluateRequest(target.guards, call, target, services)
    call.target_admissions.push(...(await admitTarget(target, model, call, services)))
    call.plan_ms = services.steady() - incoming.started - call.auth_ms
    const opens = await sessionRequest(target, offer, parts)
    connect(door, offer, call, target, opens, parts)
  } catch (fault) {
    refuse(door, asRefusal(fault), {incoming: offer?.incoming ?? incoming, call, target: target ?? null, services})
  }
}

interface Refused {
  readonly incoming: ReceivedRequest | undefined
  readonly call: ClientCall | undefined
  readonly target: Target | null
  readonly services: RealtimeServices
}

/** A session that was refused before anything left. */
function refuse({relay, request}: UpgradeHandshake, fault: Refusal, {incoming, call, target, services}: Refused) {
  if (call) release(call)
  const trace_id = incoming?.trace.trace_id ?? newTimeId(services.now())
  const prefix = incoming?.own.prefix ?? 'x-gateway'
  if (fault.code === 'internal')
    services.log.error({fault: fault.cause, trace_id, path: PATH}, 'a session failed inside the gateway')
  else
    services.log.info({refused: fault.code, status: fault.status, method: 'GET', path: PATH, trace_id}, fault.message)
  const headers = call
    ? ownHeaders(call, target, {}, services)
    : [`${prefix}-trace-id`, writtenHeader(trace_id), ...services.cors(request.headers.origin)]
  headers.push(...rateHeaders(fault, prefix))
  if (fault.code === 'header.invalid') headers.push('sec-websocket-version', '13')
  relay.refuse(errorResponse(fault, {path: PATH, headers: request.headers, trace_id}), headers, true)
  if (call) return note(call, target, fault, services)
  const total_ms = incoming ? services.steady() - incoming.started : 0
  services.metrics.ended(refusedUnknown({method: 'GET', endpoint: 'realtime', status: fault.status}, total_ms))
}
