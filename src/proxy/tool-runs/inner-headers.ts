import type {IncomingHttpHeaders} from 'node:http'
import {writtenHeader} from '../../base/header-values.ts'
import {traceparentOf} from '../../base/trace-context.ts'
import type {ReceivedRequest} from '../inbound/request.ts'
import {betaNames, SERVER_SIDE_MCP} from './wants-run.ts'

const PREFIXES = ['x-gateway-', 'x-portkey-'] as const
/** Of the client's connection and its body, or of its place in a trace, which each turn has its own of. */
const NOT_OF_TURNS =
  /^(?:content-encoding|transfer-encoding|connection|keep-alive|expect|te|trailer|traceparent|idempotency-key)$/
const SPAN_ID = /^[\da-f]{16}$/
/** Credentials for the gateway and for providers: none of them is an MCP server's. */
const CREDENTIALS =
  /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key|x-goog-api-key|x-(?:gateway|portkey)-api-key)$/

/** The headers of a turn: those of the client, with the trace and the length of the turn's own body. */
export function turnHeaders(incoming: ReceivedRequest, body_bytes: number): IncomingHttpHeaders {
  return {
    ...traced(incoming, name => NOT_OF_TURNS.test(name)),
    'accept-encoding': 'identity',
    'content-length': String(body_bytes),
  }
}

/** The headers of a call of a tool: those of the client without any credential. */
export function toolHeaders(incoming: ReceivedRequest): IncomingHttpHeaders {
  return traced(incoming, name => NOT_OF_TURNS.test(name) || CREDENTIALS.test(name))
}

/** All that belongs to a run is under the trace of its request, and under the span that it names. */
function traced(
  {headers, own, trace}: ReceivedRequest,
  isLeftOut: (name: string) => boolean,
): Record<string, string | string[] | undefined> {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !isLeftOut(name)))
  const parent = own.values['span-id'] ?? trace.parent_span_id
  for (const prefix of PREFIXES) {
    for (const name of ['trace-id', 'span-id', 'parent-span-id']) delete kept[`${prefix}${name}`]
    const beta = kept[`${prefix}beta`]
    if (typeof beta === 'string')
      kept[`${prefix}beta`] = betaNames(beta)
        .filter(name => name !== SERVER_SIDE_MCP)
        .join(',')
    if (kept[`${prefix}beta`] === '') delete kept[`${prefix}beta`]
  }
  kept[`${own.prefix}-trace-id`] = writtenHeader(trace.trace_id)
  if (parent) kept[`${own.prefix}-parent-span-id`] = writtenHeader(parent)
  // the flag of the client holds for all of the run
  if (trace.w3c && parent && SPAN_ID.test(parent))
    kept.traceparent = traceparentOf(trace.trace_id, parent, trace.w3c.is_sampled)
  return kept
}
