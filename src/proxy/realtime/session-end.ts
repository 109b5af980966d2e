import type {Refusal} from '../../base/errors.ts'
import {CLOSE, type Closing, closeFrame, type SocketFault} from '../../base/websocket/index.ts'
import type {Outcome} from '../../schema/records.ts'
import {errorEvent} from './judging/error-event.ts'

/** How a session ends: what its row says, and the last frames for both sides (null: none). */
export interface SessionEnd {
  readonly outcome: Outcome
  readonly error: string | null
  readonly to_client: Buffer | null
  readonly to_provider: Buffer | null
  /** The status that the log shows: 101 unless something failed. */
  readonly shown_status: number
}

/** The close frame for a provider whose client is gone. */
const GOING = closeFrame('client', {code: CLOSE.going_away, reason: ''})

/**
 * The provider's close frame (`bytes`) goes to the client once all is settled. We answer it, for the client's answer
 * may never come; `is_answer`: it answers the client's own.
 */
export function providerClosed(bytes: Buffer, {code, reason}: Closing, is_answer: boolean): SessionEnd {
  const is_fine = is_answer || code === CLOSE.normal || code === CLOSE.going_away || code === CLOSE.none
  return {
    outcome: is_fine ? 'ok' : 'failed',
    error: is_fine ? null : `The provider closed the session with ${code}${reason ? `: ${reason}` : ''}.`,
    to_client: bytes,
    to_provider: is_answer ? null : closeFrame('client', {code, reason: ''}),
    shown_status: is_fine ? 101 : 502,
  }
}

/** The client closed the session, and the provider's answer to that does not come. */
export function clientClosed({code}: Closing): SessionEnd {
  return {
    outcome: 'ok',
    error: null,
    to_client: closeFrame('server', {code, reason: ''}),
    to_provider: null,
    shown_status: 101,
  }
}

export function providerLeft(provider: string): SessionEnd {
  const error = `The provider ${provider} ended the connection without closing the session.`
  const to_client = closeFrame('server', {code: CLOSE.internal_error, reason: error})
  return {outcome: 'failed', error, to_client, to_provider: null, shown_status: 502}
}

export function clientLeft(error: string): SessionEnd {
  return {outcome: 'aborted', error, to_client: null, to_provider: GOING, shown_status: 101}
}

export function clientBroke({code, message}: SocketFault): SessionEnd {
  const error = `The client broke the WebSocket protocol: ${message}.`
  return {
    outcome: 'failed',
    error,
    to_client: closeFrame('server', {code, reason: message}),
    to_provider: GOING,
    shown_status: 400,
  }
}

export function providerBroke(provider: string, {code, message}: SocketFault): SessionEnd {
  const error = `The provider ${provider} broke the WebSocket protocol: ${message}.`
  return {
    outcome: 'failed',
    error,
    to_client: closeFrame('server', {code: CLOSE.internal_error, reason: error}),
    to_provider: closeFrame('client', {code, reason: message}),
    shown_status: 502,
  }
}

/**
 * A refusal ends the session: an event says it, and the close code. `call_id` null: no event fits between the frames of
 * a message.
 */
export function refused(fault: Refusal, call_id: string | null): SessionEnd {
  const code =
    fault.code === 'internal' ? CLOSE.internal_error : fault.status >= 500 ? CLOSE.try_again_later : CLOSE.policy
  const close = closeFrame('server', {code, reason: fault.message})
  return {
    outcome: 'failed',
    error: fault.message,
    to_client: call_id === null ? close : Buffer.concat([errorEvent(fault, call_id), close]),
    to_provider: closeFrame('client', {code: CLOSE.normal, reason: ''}),
    shown_status: fault.status,
  }
}

/** We close both sides. */
export function closedByUs(outcome: Outcome, code: number, reason: string): SessionEnd {
  return {
    outcome,
    error: reason,
    to_client: closeFrame('server', {code, reason}),
    to_provider: GOING,
    shown_status: 101,
  }
}
