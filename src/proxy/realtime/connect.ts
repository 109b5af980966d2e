import {Refusal} from '../../base/errors.ts'
import type {ChargedWork} from '../../charge/work.ts'
import type {OutgoingHeaders} from '../../providers/provider.ts'
import {NOTHING_SPENT} from '../../schema/spent.ts'
import type {Usage} from '../../schema/usage.ts'
import {authenticate} from '../call/authenticate.ts'
import type {Call} from '../call/call.ts'
import type {CallRegistry} from '../call/registry.ts'
import {strictLimitsOf} from '../call/strict-limits.ts'
import {errorResponse} from '../inbound/error-response.ts'
import {priceOf} from '../records/price.ts'
import type {SettleServices} from '../records/settle.ts'
import type {GrowingReservation} from '../reservations/growing-reservation.ts'
import {reserveTurn} from '../reservations/reserve-attempt.ts'
import {limitsAt} from '../reservations/target-limits.ts'
import type {Admission, Caller, Uses} from '../services.ts'
import {checkManaged, type Target} from '../targets/target.ts'
import {keyFor} from '../upstream/credentials.ts'
import type {SubRequestServices} from '../upstream/sub-requests.ts'
import {ownHeaders} from './own-headers.ts'
import {openWork, type SessionInfo} from './records.ts'
import {mayRenew, rejectUpgrade, repeatOrReject} from './refused-upgrade.ts'
import {RealtimeSession} from './session.ts'
import {switching, type UpgradeHandshake} from './upgrade.ts'
import type {UpgradeRequest} from './upgrade-request.ts'
import {type Dialled, UpstreamConnection} from './upstream-connection.ts'
import {namedModel, opening, PATH, type SessionRequest} from './upstream-request.ts'

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
 * it was refused before, and is asked with other secrets.
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
        errorResponse(new Refusal('journal.full', {}, {cause: fault}), PATH),
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
