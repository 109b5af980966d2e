import {Refusal} from '../../base/errors.ts'
import type {ChargedWork} from '../../charge/work.ts'
import {errorResponse} from '../inbound/error-response.ts'
import {atModel} from '../targets/model-place.ts'
import {filledAnew} from '../targets/open-target.ts'
import type {Target} from '../targets/target.ts'
import {maskOf} from '../upstream/sent-secrets.ts'
import type {RealtimeParts} from './connect.ts'
import {ownHeaders} from './own-headers.ts'
import {type SessionInfo, settle, settlePart, type TurnEnd} from './records.ts'
import type {UpgradeHandshake} from './upgrade.ts'
import type {Dialled, UpstreamConnection} from './upstream-connection.ts'
import {PATH, type SessionRequest} from './upstream-request.ts'

type Answered = Extract<Dialled, {kind: 'answered'}>

/** An upgrade that the provider did not accept, or that did not reach it. */
export interface RefusedUpgrade {
  readonly handshake: UpgradeHandshake
  readonly facts: SessionInfo
  readonly work: ChargedWork
  readonly dialling: UpstreamConnection
  readonly opens: SessionRequest
  readonly result: Refusal | Answered
}

/** Makes the request for a target, and gives what sends it. */
export type Renewal = (target: Target) => Promise<() => void>

/** True where the provider refused secrets of a manager, which may have others by now. */
export function mayRenew(result: Refusal | Answered, {secrets}: Target): boolean {
  return !(result instanceof Refusal) && (result.status === 401 || result.status === 403) && !!secrets?.values
}

/** Asks once more with other secrets, where a manager has others; else the provider's refusal goes to the client. */
export async function repeatOrReject(refused: RefusedUpgrade, parts: RealtimeParts, renewal: Renewal): Promise<void> {
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
export function rejectUpgrade(refused: RefusedUpgrade, {services, live}: RealtimeParts): void {
  const {handshake, facts, work, dialling, opens} = refused
  const {call, target} = facts
  const mask = maskOf(opens, target)
  const result = refused.result instanceof Refusal ? refused.result : masked(refused.result, mask)
  settle(call, facts, work, endOf({...refused, result}), services, () => {
    live.delete(dialling)
    if (result instanceof Refusal)
      return handshake.relay.refuse(errorResponse(result, PATH), ownHeaders(call, target, {}, services), true)
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
