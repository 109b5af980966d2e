import type {Refusal} from '../../base/errors.ts'
import {answerHeaders, type How, withoutBody} from '../call/response-headers.ts'
import {answerIds, clientWords} from '../inbound/error-ids.ts'
import {errorResponse} from '../inbound/error-response.ts'
import {messageOf} from '../inbound/request.ts'
import type {RewrittenResponse} from '../records/attempt-result.ts'
import type {AttemptParts} from './attempt-owner.ts'
import {clientStatus, type OpenResponse} from './open-response.ts'
import {type Times, timingOf} from './timeouts.ts'

const EVENT_STREAM = {'content-type': 'text/event-stream'}

/** The head of a response that passes as it comes. */
export function sendHead(parts: AttemptParts, response: OpenResponse, times: Times, retry_attempt_count: number): void {
  const {call, request} = parts
  const {status, headers, content_length, guarded, stream} = response
  const is_stream = stream !== null
  const rewrites =
    request.translating !== null || (is_stream && status < 300 && (request.is_metered || guarded !== null))
  const theirs = withId(parts, request.translating ? EVENT_STREAM : headers)
  call.relay.head(
    clientStatus(call, status),
    headersOf(parts, times, theirs, {is_stream, rewrites, retry_attempt_count}),
    is_stream || (content_length !== null && !rewrites),
  )
}

/** The head of a response that was rewritten. */
export function sendRewrittenHead(
  parts: AttemptParts,
  {headers}: OpenResponse,
  {status, content_type}: RewrittenResponse,
  times: Times,
  retry_attempt_count: number,
): void {
  const theirs = withId(parts, {...withoutBody(headers), 'content-type': content_type})
  parts.call.relay.head(
    status,
    headersOf(parts, times, theirs, {is_stream: false, rewrites: true, retry_attempt_count}),
    false,
  )
}

/** An answer that is put into other words for Anthropic's clients has no id that they would show. */
function withId({call, request}: AttemptParts, theirs: Record<string, string>): Record<string, string> {
  if (!request.translating && !call.is_shaped) return theirs
  return {...theirs, ...answerIds(clientWords(call), theirs)}
}

/**
 * Answers in our own name. A client that still sends its body learns that the connection ends, and the rest of its body
 * is ignored.
 */
export function refuseClient(parts: AttemptParts, times: Times, fault: Refusal, retry_attempt_count: number): void {
  const {relay, incoming} = parts.call
  const headers = headersOf(parts, times, {}, {is_stream: false, rewrites: false, retry_attempt_count})
  const is_coming = !incoming.request.complete
  relay.refuse(errorResponse(fault, clientWords(parts.call)), headers, is_coming)
  if (is_coming) messageOf(incoming).resume()
}

function headersOf(
  {call, target, host, services}: AttemptParts,
  times: Times,
  theirs: Record<string, string>,
  how: Pick<How, 'is_stream' | 'rewrites' | 'retry_attempt_count'>,
): string[] {
  const timing = times.first_byte_at ? timingOf(times) : null
  return answerHeaders(call, target, theirs, {...how, route: host.route, timing, services})
}
