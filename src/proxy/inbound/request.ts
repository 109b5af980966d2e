import type {IncomingHttpHeaders, IncomingMessage} from 'node:http'
import {Refusal} from '../../base/errors.ts'
import {newSpanId, newTimeId} from '../../base/ids.ts'
import {type ClientRequest, FastRequest} from '../../base/ingress/request.ts'
import {maskedUrl} from '../../base/masked-url.ts'
import {MAX_ID_BYTES, storedText} from '../../base/stored-text.ts'
import {type ClientTrace, clientTrace, readTraceparent} from '../../base/trace-context.ts'
import {type OwnHeaders, ownHeaders} from '../../schema/headers.ts'
import {isOfAnthropicClient} from './doors.ts'
import {type Route, route} from './routes.ts'

/** A request as it came in: what it asks for, and our headers. Nothing is trusted yet. */
export interface InboundRequest {
  readonly request: ClientRequest
  readonly method: string
  readonly route: Route
  readonly headers: IncomingHttpHeaders
  readonly own: OwnHeaders
}

/** The same with its place in a trace and its time, which the work takes that it begins. */
export interface ReceivedRequest extends InboundRequest {
  readonly trace: Trace
  /** Milliseconds since the epoch. */
  readonly at_ms: number
  /** The same moment on the clock that durations are taken with. */
  readonly started: number
}

export interface Trace {
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly span_name: string | null
  /** Of a client whose `traceparent` is this trace's. */
  readonly w3c?: ClientTrace | undefined
}

/** The service key that a request shows, where it stood, and the token that is left for the provider. */
export interface RequestCredentials {
  readonly service_key: string
  readonly from: 'own' | 'authorization' | 'x-api-key' | 'vendor'
  readonly provider_token: string | null
  /** The key's SHA-256, where a sealed address stands for it. */
  readonly key_hash?: string
}

/**
 * Reads the request line and our headers; refuses a path or method that is not served. `now_ms` is the wall clock,
 * `started` when it came by the clock of durations.
 */
export function parseRequest(
  request: ClientRequest,
  now_ms: number,
  started: number,
  administered: (path: string) => readonly string[],
): ReceivedRequest {
  const {headers} = request
  const own = ownHeaders(headers)
  const method = request.method ?? 'GET'
  const url = request.url ?? '/'
  return {
    request,
    method,
    headers,
    own,
    route: route(method, url, isOfAnthropicClient(request) ? never : administered),
    trace: readTrace(headers, own, `${method} ${url}`, now_ms),
    at_ms: now_ms,
    started,
  }
}

/** The request whose body is on the wire still. */
export function messageOf({request}: Pick<ReceivedRequest, 'request'>): IncomingMessage {
  if (request instanceof FastRequest) throw new Error('A plain request is read whole.')
  return request
}

/**
 * Finds the service key: our own header, else `Authorization: Bearer`, else where vendors' own clients put a key:
 * `x-api-key`, `api-key` (Azure), `x-goog-api-key` and the query's `key` (Google). What carried the service key is
 * never taken for the provider's.
 */
export function readCredentials({
  headers,
  own,
  route,
}: Pick<ReceivedRequest, 'headers' | 'own' | 'route'>): RequestCredentials {
  const bearer = bearerToken(headers.authorization)
  const x_api_key = typeof headers['x-api-key'] === 'string' ? headers['x-api-key'] : null
  const named = own.values['api-key']
  if (named) {
    const token = bearer ?? x_api_key
    return {service_key: named, from: 'own', provider_token: token === named ? null : token}
  }
  const anthropic = route.path.startsWith('/messages') || headers['anthropic-version'] !== undefined
  if (bearer && !(anthropic && x_api_key)) return {service_key: bearer, from: 'authorization', provider_token: null}
  if (x_api_key && (anthropic || !bearer)) return {service_key: x_api_key, from: 'x-api-key', provider_token: null}
  const of_vendor = vendorKey(headers, route.query)
  if (of_vendor) return {service_key: of_vendor, from: 'vendor', provider_token: null}
  throw new Refusal('key.missing', {header: `${own.prefix}-api-key or x-api-key`})
}

function vendorKey(headers: IncomingHttpHeaders, query: string): string | null {
  for (const name of VENDOR_KEY_HEADERS) if (typeof headers[name] === 'string' && headers[name]) return headers[name]
  return query.includes('key=') ? new URLSearchParams(query).get('key') : null
}

const VENDOR_KEY_HEADERS = ['x-goog-api-key', 'api-key'] as const

function bearerToken(authorization: string | undefined): string | null {
  const match = authorization && /^Bearer\s+(\S+)\s*$/i.exec(authorization)
  return match ? match[1]! : null
}

/** Our headers win over W3C `traceparent`; without either the ids are made. */
function readTrace(headers: IncomingHttpHeaders, own: OwnHeaders, request_line: string, now_ms: number): Trace {
  const values = own.values
  const w3c = headers.traceparent === undefined ? undefined : readTraceparent(headers.traceparent)
  const named = short(values['trace-id'])
  return {
    trace_id: named ?? w3c?.trace_id ?? newTimeId(now_ms), // in order of time: the log's index grows at its end
    span_id: short(values['span-id']) ?? newSpanId(),
    parent_span_id: short(values['parent-span-id']) ?? w3c?.parent_span_id ?? null,
    span_name:
      short(values['span-name']) ?? (w3c ? storedText(maskedUrl(request_line.split('?', 1)[0]!), MAX_ID_BYTES) : null),
    w3c: w3c && (named ?? w3c.trace_id) === w3c.trace_id ? clientTrace(w3c, headers.tracestate) : undefined,
  }
}

const never = () => []

function short(text: string | undefined): string | undefined {
  return text ? storedText(text, MAX_ID_BYTES) : undefined
}
