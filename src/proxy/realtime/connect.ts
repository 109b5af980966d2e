import {Refusal} from '../../base/errors.ts'
import type {ChargedWork} from '../../charge/work.ts'
import type {OutgoingHeaders} from '../../providers/provider.ts'
import {NOTHING_SPENT} from '../../schema/spent.ts'
import type {Usage} from '../../schema/usage.ts'
import {authenticate} from '../call/authenticate.ts'
import {type Call, DIRECT_ROUTE} from '../call/call.ts'
import type {CallRegistry} from '../call/registry.ts'
import {answerHeaders} from '../call/response-headers.ts'
import {strictLimitsOf} from '../call/strict-limits.ts'
import {clientWords} from '../inbound/error-ids.ts'
import {errorResponse} from '../inbound/error-response.ts'
import {priceOf} from '../records/price.ts'
import type {SettleServices} from '../records/settle.ts'
import type {GrowingReservation} from '../reservations/growing-reservation.ts'
import {reserveTurn} from '../reservations/reserve-attempt.ts'
import {limitsAt} from '../reservations/target-limits.ts'
import type {Admission, Caller, Uses} from '../services.ts'
import {atModel} from '../targets/model-place.ts'
import {filledAnew} from '../targets/open-target.ts'
import {checkManaged, type Target} from '../targets/target.ts'
import {addTrace} from '../upstream/client-headers.ts'
import {keyFor} from '../upstream/credentials.ts'
import {maskOf} from '../upstream/sent-secrets.ts'
import type {SubRequestServices} from '../upstream/sub-requests.ts'
import {openWork, type SessionInfo, settle, settlePart, type TurnEnd} from './records.ts'
import {RealtimeSession} from './session.ts'
import {switching, type UpgradeHandshake} from './upgrade.ts'
import type {UpgradeRequest} from './upgrade-request.ts'
import {type Dialled, UpstreamConnection} from './upstream-connection.ts'
import {namedModel, opening, type SessionRequest} from './upstream-request.ts'

/** The services of sessions. */
export type RealtimeServices = SubRequestServices &
  SettleServices &
  Uses<'administered' | 'cors' | 'findCaller' | 'findCallerByCredential' | 'findPolicies' | 'guardrails' | 'secrets'>

/** The target of a session; a config counts as a single target. `slug` is the `@slug` of the model. */
export interface FindTarget {
  find(incoming: UpgradeRequest['incoming'], caller: Caller, slug: string | null): Target | Promise<Target>
}

export interface RealtimeParts {
  readonly services: RealtimeServices
  readonly targets: FindTarget
  readonly live: CallRegistry
  /**
   * Headers of a login that costs a call (Entra), for a target whose options choose one; null: the key goes as it is.
   */
  readonly login?: (target: Target, opening: SessionRequest, key: string | null) => Promise<OutgoingHeaders | null>
}

export const SCOPE = 'completions.write'

/** The request that opens a session at this target, with the login that it needs. */
export async function sessionRequest(
  target: Target,
  upgrade: UpgradeRequest,
  {services, login}: RealtimeParts,
): Promise<SessionRequest> {
  const opens = opening(target, upgrade, services)
  const headers = await login?.(target, opens, keyFor(target, upgrade.credentials))
  return headers ? {...opens, headers: {...opens.headers, ...headers}} : opens
}

/**
 * Writes the intent, then asks the provider; what comes of it is settled before the client hears of it. `is_repeat`:
 * it was refused before, and is sent again with other secrets.
 */
export function connect(
  handshake: UpgradeHandshake,
  upgrade: UpgradeRequest,
  call: Call,
  target: Target,
  opens: SessionRequest,
  parts: RealtimeParts,
  is_repeat = false,
) {
  const {services, live} = parts
  const facts: SessionInfo = {
    call,
    target,
    model: opens.model,
    reported_model: null,
    upstream_url: target.destination!.origin + opens.path.split('?', 1)[0],
  }
  addTrace(opens.headers, call, call.attempts, upgrade.incoming.headers)
  const work = openWork(call, facts, null, services)
  const renewal = async (renewed: Target) => {
    const request = await sessionRequest(renewed, upgrade, parts)
    return () => connect(handshake, upgrade, call, renewed, request, parts, true)
  }
  const limit_ms = target.request_timeout_ms ?? services.settings.upstream_first_byte_timeout_ms
  const dialling = new UpstreamConnection(target, opens, upgrade.protocols, limit_ms, dialled => {
    handshake.relay.setListener(null)
    try {
      if (dialled instanceof Refusal || dialled.kind === 'answered') {
        const refused = {handshake, facts, work, dialling, opens, result: dialled}
        if (is_repeat || !mayRenew(dialled, target)) rejectUpgrade(refused, parts)
        else void repeatOrReject(refused, parts, renewal)
      } else acceptUpgrade(handshake, upgrade, facts, work, dialling, dialled, parts)
    } catch (fault) {
      services.log.error({fault, trace_id: call.trace.trace_id}, 'a session failed inside the gateway')
      live.delete(dialling)
      handshake.socket.destroy()
      if ('socket' in dialled) dialled.socket.destroy()
    }
  })
  live.add(dialling)
  handshake.relay.setListener({
    clientGone: () => dialling.giveUp(new Refusal('client.gone')),
    clientReady: () => undefined,
  })
  work.begin(fault => {
    if (fault) {
      live.delete(dialling)
      handshake.relay.setListener(null)
      services.log.error({fault, trace_id: call.trace.trace_id}, 'the journal took no intent')
      release(call)
      handshake.relay.refuse(
        errorResponse(new Refusal('journal.full', {}, {cause: fault}), clientWords(call)),
        ownHeaders(call, target, {}, services),
        true,
      )
    } else dialling.begin(services, call.caller.workspace_id)
  })
}

type Opened = Extract<Dialled, {kind: 'opened'}>

/** The provider opened: so do we. From here on the connection is the session's. */
function acceptUpgrade(
  handshake: UpgradeHandshake,
  upgrade: UpgradeRequest,
  facts: SessionInfo,
  work: ChargedWork,
  dialling: UpstreamConnection,
  opened: Opened,
  {services, targets, live}: RealtimeParts,
) {
  const {call, target} = facts
  const {socket, request} = handshake
  for (const admission of [...call.admissions, ...call.target_admissions]) admission.settle(NOTHING_SPENT)
  const early = handshake.hand()
  const session = new RealtimeSession({
    client: socket,
    provider: opened.socket,
    facts,
    work,
    handshake: opened.headers,
    times: dialling.times,
    admit: (turn, most) => admitTurn(turn, most, facts, upgrade, targets, services),
    services,
    live,
  })
  live.add(session)
  live.delete(dialling)
  const protocol = opened.protocol ?? (upgrade.protocols.includes('realtime') ? 'realtime' : null)
  const headers = ownHeaders(call, target, opened.headers, services)
  socket.write(switching(request.headers['sec-websocket-key']!, protocol, headers), 'latin1')
  session.start(early)
}

/** A turn is a call: the key, the provider and the limits of both are checked again. */
async function admitTurn(
  turn: Call,
  most: Usage,
  facts: SessionInfo,
  {credentials, incoming}: UpgradeRequest,
  targets: FindTarget,
  services: RealtimeServices,
) {
  const caller = await authenticate(credentials, SCOPE, services, incoming)
  const target = await targets.find(incoming, caller, namedModel(incoming.route.query).slug)
  checkManaged(target, services.now())
  const admission = await services.limits.admit(caller.limits, turn.id, turn.at_ms)
  try {
    const admissions = admission ? [admission] : []
    const target_admissions = await admitTarget(target, facts.model, turn, services)
    try {
      return {
        admissions,
        target_admissions,
        holding: await reserveTurnOf({admissions, target_admissions}, turn, most, facts, services),
      }
    } catch (fault) {
      for (const each of target_admissions) each.release()
      throw fault
    }
  } catch (fault) {
    admission?.release()
    throw fault
  }
}

async function reserveTurnOf(
  by: Parameters<typeof strictLimitsOf>[0],
  turn: Call,
  most: Usage,
  {target, model, reported_model}: SessionInfo,
  services: RealtimeServices,
): Promise<GrowingReservation | null> {
  const claims = strictLimitsOf(by)
  if (!claims) return null
  const of = {call: turn, provider: target.provider.slug, model: model ?? reported_model, attempt: turn.attempts}
  return reserveTurn(claims, [most], priceOf(target, model, reported_model, turn.at_ms, services), of, services)
}

type Answered = Extract<Dialled, {kind: 'answered'}>

/** An upgrade that the provider did not accept, or that did not reach it. */
interface RefusedUpgrade {
  readonly handshake: UpgradeHandshake
  readonly facts: SessionInfo
  readonly work: ChargedWork
  readonly dialling: UpstreamConnection
  readonly opens: SessionRequest
  readonly result: Refusal | Answered
}

/** Makes the request for a target, and gives what sends it. */
type Renewal = (target: Target) => Promise<() => void>

/** True where the provider refused secrets of a manager, which may have others by now. */
function mayRenew(result: Refusal | Answered, {secrets}: Target): boolean {
  return !(result instanceof Refusal) && (result.status === 401 || result.status === 403) && !!secrets?.values
}

/** Asks once more with other secrets, where a manager has others; else the provider's refusal goes to the client. */
async function repeatOrReject(refused: RefusedUpgrade, parts: RealtimeParts, renewal: Renewal): Promise<void> {
  const {handshake, facts, work, dialling} = refused
  const {services, live} = parts
  try {
    const send = await renewed(refused, parts, renewal)
    if (!send || handshake.relay.gone || live.draining) return rejectUpgrade(refused, parts)
    settlePart(facts.call, facts, work, endOf(refused), services, () => {
      live.delete(dialling)
      facts.call.attempts++
      send()
    })
  } catch (fault) {
    services.log.error({fault, trace_id: facts.call.trace.trace_id}, 'a session failed inside the gateway')
    live.delete(dialling)
    handshake.socket.destroy()
  }
}

/** Null where there are no other secrets, or no request can be made with them. */
async function renewed({facts}: RefusedUpgrade, {services}: RealtimeParts, renewal: Renewal) {
  const {target, model} = facts
  const {fields, values} = target.secrets!
  const others = await services.secrets.refused(fields, values!)
  const filled = others && filledAnew(target.secrets!, others, target.provider)
  if (!filled) return null
  return renewal(atModel(filled, filled.model ?? model, services)).catch(() => null)
}

/**
 * The provider did not open: its own answer goes to the client, without the secrets that were sent, or the reason why
 * there is none.
 */
function rejectUpgrade(refused: RefusedUpgrade, {services, live}: RealtimeParts): void {
  const {handshake, facts, work, dialling, opens} = refused
  const {call, target} = facts
  const mask = maskOf(opens, target)
  const result = refused.result instanceof Refusal ? refused.result : masked(refused.result, mask)
  settle(call, facts, work, endOf({...refused, result}), services, () => {
    live.delete(dialling)
    if (result instanceof Refusal)
      return handshake.relay.refuse(
        errorResponse(result, clientWords(call)),
        ownHeaders(call, target, {}, services),
        true,
      )
    const {'content-length': _, ...headers} = result.headers
    handshake.relay.head(result.status, ownHeaders(call, target, headers, services), false)
    handshake.relay.end([result.body])
  })
}

/** A provider that repeats the credential in its refusal would show it to the caller. */
function masked(answer: Answered, mask: ReturnType<typeof maskOf>): Answered {
  if (!mask) return answer
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, mask.text(value)] as const)
  return {...answer, headers: Object.fromEntries(headers), body: mask.bytes(answer.body)}
}

function endOf({handshake, dialling, result}: RefusedUpgrade): TurnEnd {
  const {times} = dialling
  const is_refusal = result instanceof Refusal
  const left = is_refusal && (result.code === 'client.gone' || result.code === 'draining')
  return {
    outcome: !is_refusal ? 'ok' : left ? 'aborted' : result.code === 'upstream.timeout' ? 'timeout' : 'failed',
    status: is_refusal ? null : result.status,
    shown_status: result.status,
    error: is_refusal ? result.message : null,
    usage: null,
    source: 'none',
    delivered: !handshake.relay.gone,
    never_left: left && times.sent_at === 0,
    request_bytes: 0,
    response_bytes: is_refusal ? 0 : result.body.length,
    times: {...times, first_byte_at: times.answered_at},
    bodies: is_refusal
      ? {headers: {}, body: null, cut: false}
      : {headers: result.headers, body: result.body, cut: false},
  }
}

export async function admitTarget(
  target: Target,
  model: string | null,
  call: Call,
  services: RealtimeServices,
): Promise<Admission[]> {
  const limits = await limitsAt(call, target, target.model ?? model, services)
  const admitted = await services.limits.admit(limits, call.id, call.at_ms)
  return admitted ? [admitted] : []
}

export function release({admissions, target_admissions}: Call) {
  for (const admission of [...admissions, ...target_admissions]) admission.release()
}

/** The headers of an answer to an upgrade: the provider's, and our own. */
export function ownHeaders(
  call: Call,
  target: Target | null,
  theirs: Record<string, string>,
  services: RealtimeServices,
): string[] {
  const route = target ? {...DIRECT_ROUTE, option_path: target.option_path, warning: target.warning} : DIRECT_ROUTE
  return answerHeaders(call, target, theirs, {
    route,
    retry_attempt_count: 0,
    is_stream: false,
    rewrites: false,
    timing: null,
    services,
  })
}
