import type {IncomingHttpHeaders} from 'node:http'
import {writtenHeader} from '../../base/header-values.ts'
import {isSharedPath} from './doors.ts'
import type {InboundRequest, Trace} from './request.ts'

/** The parts of a request that decide how its client reads an answer. */
export interface ClientWords {
  /** After `/v1`, or at the root. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

/** The same with the call's id. */
export interface RefusedCall extends ClientWords {
  readonly trace_id: string
}

/** Of a call that was read. */
export function clientWords({incoming, trace}: {incoming: InboundRequest; trace: Trace}): RefusedCall {
  return {path: incoming.route.path, headers: incoming.headers, trace_id: trace.trace_id}
}

/** True where the client reads answers in Anthropic's words. */
export function speaksMessages({path, headers}: ClientWords): boolean {
  return path.startsWith('/messages') || isSharedPath(path, headers)
}

/** The id of a refusal (name, value, ...) as SDKs show it: OpenAI's `x-request-id`, Anthropic's `request-id`. */
export function refusalIds(call: RefusedCall): string[] {
  const id = writtenHeader(call.trace_id)
  return ['x-request-id', id, ...(speaksMessages(call) ? [ID_OF_ANTHROPIC, id] : [])]
}

/** The id of an answer that the gateway itself puts into Anthropic's words; a provider's own (of `theirs`) stays. */
export function answerIds(call: RefusedCall, theirs: Readonly<Record<string, string>>): Record<string, string> {
  if (theirs[ID_OF_ANTHROPIC] !== undefined || !speaksMessages(call)) return {}
  return {[ID_OF_ANTHROPIC]: writtenHeader(call.trace_id)}
}

const ID_OF_ANTHROPIC = 'request-id'
