import {isoTime} from '../../base/clock.ts'
import {headerText} from '../../base/header-values.ts'
import {newTimeId} from '../../base/ids.ts'
import {parsedObject} from '../../base/json-object.ts'
import {checkDepth} from '../../base/json-shape.ts'
import {maskedUrl} from '../../base/masked-url.ts'
import type {CacheStatus} from '../../cache/rules.ts'
import {DIRECT, logRow} from '../../charge/log-row.ts'
import type {CalledOperation} from '../../providers/vendor-operations/operation.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {ignoredHeaders, SECRET_HEADERS} from '../../schema/headers.ts'
import type {CallKind} from '../../schema/principal.ts'
import type {CalledPrompt, LogBodies, LogRecord, SimilarAnswer} from '../../schema/records.ts'
import {NOTHING_SPENT, type Spent} from '../../schema/spent.ts'
import type {Body} from '../inbound/body.ts'
import type {Link} from '../inbound/links.ts'
import type {InboundRequest, ReceivedRequest} from '../inbound/request.ts'
import type {ResponseWriter} from '../inbound/response.ts'
import type {Caller, Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import type {CallGuardrails} from './call-guardrails.ts'
import type {Work} from './work.ts'

type Services = Uses<'masked' | 'settings' | 'steady'>

/**
 * One call in progress: the work that is charged, its request, which is only read, and its state so far. Calls that are
 * only explained, and turns in a session, have no client.
 */
export interface Call extends Work {
  /** The row of the log that is being written: one for each target that is tried. */
  log_id: string
  /** Of a call of a prompt: as it is once that is rendered. */
  incoming: InboundRequest
  /** The dialect of the request. */
  endpoint: EndpointName
  /**
   * The operation of a path that is no unified route at the current target; null for unified routes, and for unknown
   * paths.
   */
  operation: CalledOperation | null
  prompt: CalledPrompt | null
  /** The body goes as it came, to a path of the provider's own; at the current target. */
  is_passthrough: boolean
  /** Replies and errors are put into the words of Anthropic's clients; at the current target. */
  is_shaped: boolean
  metadata: Readonly<Record<string, string>>
  /** True where `metadata._user` is the body's `user`: what is redacted there is redacted wherever it is kept. */
  has_user_of_body: boolean
  /** True where an attached check redacts, and the body was never put through it: nothing of it is kept. */
  is_unjudged: boolean
  readonly keeps_bodies: boolean
  readonly auth_ms: number
  body: Body
  /** The codings that its body had when it came, where it was decoded. */
  request_encoding: string | null
  /** The usage of all attempts so far, and of those at the current target. */
  used: Spent
  used_here: Spent
  /** The target whose attempt without an answer was charged its prompt: the next one there is not. */
  unanswered_at: Target | null
  plan_ms: number
  /** The guardrails of the current target; null where it has none. */
  guardrails: CallGuardrails | null
  /** The sealed address that it calls; null for nearly all. */
  link: Link | null
  /** Headers of ours that have no effect as they were sent, as answer and row say it. */
  readonly ignored: readonly string[]
  /** The parts of the reply that were changed for the client, as its row has them. */
  changes: readonly string[]
  /** The parts of the request that its provider got otherwise than the client wrote them, for answer and row. */
  adaptations: readonly string[]
  /** Of a file for batches that was held against lists: the models of its rows. */
  row_models: readonly string[] | null
}

/** A call whose client waits for the response. */
export interface ClientCall extends Call {
  readonly relay: ResponseWriter
}

/** How a call came to a target, as its row of the log and the answer's headers tell it. */
export interface RouteInfo {
  readonly mode: string
  readonly option_path: string
  readonly retry_count: number
  readonly cache_status: CacheStatus
  /** The answer to the same in other words that was found in the cache. */
  readonly similar?: SimilarAnswer
  readonly warning: string | null
}

export const DIRECT_ROUTE: RouteInfo = DIRECT

/** Adds a target's warning to that of the config. */
export function withWarning(route: RouteInfo, warning: string): RouteInfo {
  return {...route, warning: route.warning === null ? warning : `${route.warning}; ${warning}`}
}

const MASK = '***'

/** A call as it begins: admitted nowhere, nothing read of its body. */
export function openCall(kind: CallKind, incoming: ReceivedRequest, caller: Caller, services: Services): Call {
  const id = newTimeId(incoming.at_ms)
  return {
    id,
    kind,
    log_id: id,
    incoming,
    caller,
    trace: incoming.trace,
    at_ms: incoming.at_ms,
    started: incoming.started,
    endpoint: incoming.route.endpoint?.name ?? 'proxy',
    called_endpoint: incoming.route.endpoint?.name ?? 'proxy',
    operation: null,
    prompt: null,
    is_passthrough: !incoming.route.endpoint,
    is_shaped: false,
    metadata: metadataOf(incoming, caller, services),
    has_user_of_body: false,
    is_unjudged: false,
    keeps_bodies: incoming.own.values.debug !== 'false',
    auth_ms: services.steady() - incoming.started,
    body: {kind: 'none'},
    request_encoding: null,
    admissions: [],
    target_admissions: [],
    reservation: null,
    used: NOTHING_SPENT,
    used_here: NOTHING_SPENT,
    unanswered_at: null,
    plan_ms: 0,
    guardrails: null,
    link: null,
    ignored: ignoredHeaders(incoming.own),
    changes: [],
    adaptations: [],
    row_models: null,
    attempts: 0,
  }
}

/** The same with the client that waits. */
export function openClientCall(
  kind: CallKind,
  incoming: ReceivedRequest,
  caller: Caller,
  relay: ResponseWriter,
  services: Services,
): ClientCall {
  return Object.assign(openCall(kind, incoming, caller, services), {relay})
}

/** The part of a log row that depends on how the call ended. Times in milliseconds, as the clock tells them. */
export type Ending = Pick<
  LogRecord,
  | 'response_status'
  | 'is_stream'
  | 'upstream_url'
  | 'response_bytes'
  | 'error'
  | 'connect_ms'
  | 'first_byte_ms'
  | 'last_byte_ms'
  | 'overhead_ms'
> &
  Partial<Pick<LogRecord, 'request_bytes' | 'hook_results'>>

/** The row of the log for a call that came to `ending`. */
export function logOf(call: Call, route: RouteInfo, ending: Ending): LogRecord {
  const {incoming, body} = call
  return logRow({
    id: call.log_id,
    created_at: isoTime(call.at_ms),
    span_id: call.trace.span_id,
    parent_span_id: call.trace.parent_span_id,
    span_name: call.trace.span_name,
    method: incoming.method,
    url: incoming.request.url,
    upstream_url: ending.upstream_url,
    response_status: ending.response_status,
    is_stream: ending.is_stream,
    is_passthrough: call.is_passthrough,
    cache_status: route.cache_status,
    similar: route.similar,
    retry_count: route.retry_count,
    mode: route.mode,
    option_path: route.option_path,
    request_bytes:
      ending.request_bytes ?? ('bytes' in body ? body.bytes.length : Number(incoming.headers['content-length'] ?? 0)),
    response_bytes: ending.response_bytes,
    metadata: keptMetadata(call),
    error: ending.error,
    warning: withWarnings(withWarnings(route.warning, call.ignored), [...call.adaptations, ...call.changes]),
    auth_ms: call.auth_ms,
    plan_ms: call.plan_ms,
    connect_ms: ending.connect_ms,
    first_byte_ms: ending.first_byte_ms,
    last_byte_ms: ending.last_byte_ms,
    overhead_ms: ending.overhead_ms,
    keeps_bodies: call.keeps_bodies,
    request_encoding: call.request_encoding ?? undefined,
    prompt: call.prompt ?? undefined,
    hook_results: ending.hook_results ?? call.guardrails?.logged,
  })
}

const MAY_HOLD_QUERY = /[?#]|%(?:25)*(?:3f|23)/i

/** Short texts are looked through by hand, which is faster: dates, lengths and ids change with every call. */
function mayHoldQuery(text: string): boolean {
  if (text.length > MAX_LAST_CHARS) return MAY_HOLD_QUERY.test(text)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUESTION_MARK || code === HASH || code === PERCENT) return MAY_HOLD_QUERY.test(text)
  }
  return false
}

const HASH = 0x23
const PERCENT = 0x25
const QUESTION_MARK = 0x3f

/**
 * Headers as they may be kept: ours and the well-known secrets masked, and those that the settings or the request name.
 */
export function maskedHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  also: ReadonlySet<string>,
): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    const text = typeof value === 'string' ? value : String(value)
    kept[name] = also.has(name) ? MASK : maskedValue(name, text)
  }
  return kept
}

/**
 * The last value of each header, and its kept form: most come with the same value again, and a comparison costs less
 * than a search. Null: a secret, always masked.
 */
const lastValues = new Map<string, {text: string | null; kept: string}>()
const MAX_LAST_VALUES = 200
const MAX_LAST_CHARS = 512

function maskedValue(name: string, text: string): string {
  const last = lastValues.get(name)
  if (last && (last.text === text || last.text === null)) return last.kept
  if (isSecret(name)) {
    if (lastValues.size < MAX_LAST_VALUES) lastValues.set(name, {text: null, kept: MASK})
    return MASK
  }
  // a referrer, a location: its value is a URL
  const plain = headerText(text)
  const kept = mayHoldQuery(plain) ? maskedUrl(plain) : plain
  if (text.length > MAX_LAST_CHARS) return kept
  if (last) {
    last.text = text
    last.kept = kept
  } else if (lastValues.size < MAX_LAST_VALUES) lastValues.set(name, {text, kept})
  return kept
}

/** Which names are secret, remembered: the same few come with every call. */
const judged = new Map<string, boolean>()

export function isSecret(name: string): boolean {
  const known = judged.get(name)
  if (known !== undefined) return known
  const secret = SECRET_HEADERS.has(name) || SECRET_NAME.test(name) || SECRET_OWN.test(name)
  if (judged.size < 1000) judged.set(name, secret)
  return secret
}

const SECRET_NAME = /(?:^|-)(?:api-?key|token|secret|password|private-key|credentials?)(?:-|$)/
/** Our headers that may carry a credential inside: a config names keys, a service account is one. */
const SECRET_OWN = /^x-(?:gateway|portkey)-(?:config|.*(?:-key|-secret|-token|-json|-key-id|-passphrase))$/

/** A warning with further ones behind it; mostly there is none. */
export function withWarnings(warning: string | null, more: readonly string[]): string | null {
  return more.length === 0 ? warning : [warning ?? [], more].flat().join('; ')
}

/**
 * The metadata of a call: `baggage`, then the request's header, then the key's, then the workspace's; later
 * ones win; what is not a JSON object counts as empty. As it came: what conditions, routing and keys of counters are
 * made from. Rows of the log have it bounded (`storedMetadata`).
 */
export function metadataOf(incoming: InboundRequest, caller: Caller, services: Services): Record<string, string> {
  const merged: Record<string, string> = {}
  const {headers, own} = incoming
  if (typeof headers.baggage === 'string') {
    for (const pair of headerText(headers.baggage).split(',', 64)) {
      const [name, value] = pair.split(';', 1)[0]!.split('=', 2)
      if (name && value) put(merged, name.trim(), decoded(value.trim()))
    }
  }
  for (const name of services.settings.headers_to_metadata)
    if (typeof headers[name] === 'string') put(merged, name, headerText(headers[name]))
  const text = own.values.metadata
  if (text) checkDepth(text, `The header ${own.prefix}-metadata`)
  if (text) for (const [name, value] of Object.entries(parsedObject(text) ?? {})) put(merged, name, value)
  for (const name in caller.metadata) put(merged, name, caller.metadata[name])
  return merged
}

function put(metadata: Record<string, string>, name: string, value: unknown) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  // an assignment would set what the object inherits from
  if (name === '__proto__')
    Object.defineProperty(metadata, name, {value: text, enumerable: true, configurable: true, writable: true})
  else metadata[name] = text
}

/** The body's `user` fills `_user`, where no metadata has set it. */
export function nameUser(call: Call): void {
  const {body, metadata} = call
  if (body.kind !== 'json' || body.user === null || metadata._user !== undefined) return
  call.metadata = {...metadata, _user: body.user}
  call.has_user_of_body = true
}

/**
 * The metadata as it may be kept: limits and routes know the user as the client wrote it, rows as the guardrails left
 * it.
 */
export function keptMetadata({metadata, body, has_user_of_body, is_unjudged}: Call): Readonly<Record<string, string>> {
  if (!has_user_of_body) return metadata
  const {_user: user, ...others} = metadata
  if (is_unjudged || body.kind !== 'json' || body.user === null) return others
  return body.user === user ? metadata : {...others, _user: body.user}
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The bodies of a call as they may be kept, cut to `most_bytes`; null when the client switched that off. */
export function bodiesOf(
  call: Call,
  reply: {
    readonly headers: Record<string, string>
    readonly body: Buffer | null
    readonly encoding: string | null
    readonly cut: boolean
  },
  services: Services,
): LogBodies | null {
  if (!call.keeps_bodies) return null
  const most = services.settings.log_body_max_bytes
  const {body, incoming} = call
  const request_body = body.kind === 'json' && !call.is_unjudged ? body.bytes : null
  const named = incoming.own.values['sensitive-headers']
  const sensitive = named
    ? new Set([...services.masked, ...named.split(',').map(name => name.trim().toLowerCase())])
    : services.masked
  return {
    log_id: call.log_id,
    request_headers: maskedHeaders(incoming.headers, sensitive),
    request_body: request_body && request_body.length > most ? request_body.subarray(0, most) : request_body,
    response_headers: maskedHeaders(reply.headers, sensitive),
    response_body: reply.body,
    response_encoding: reply.encoding,
    cut: reply.cut || (request_body !== null && request_body.length > most),
  }
}
