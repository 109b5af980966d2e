import type {Refusal} from '../../base/errors.ts'
import type {JsonObject, JsonValue} from '../../base/json-member.ts'
import type {Era} from './versions.ts'

/** One error that the gateway itself gives. */
interface FaultRow {
  /** Status of the reply, where it was not begun. */
  readonly http: number
  /** Status towards clients of the legacy era, where it differs. */
  readonly legacy_http?: number
  /** `code` of the JSON-RPC error: the protocol's own, else the status as a positive number. */
  readonly code: number
  /** `data.errorCode`, as in the refusals of src/base/errors.ts; null where it has none. */
  readonly admin: string | null
  /** The sentence; words in `{}` are filled from the facts. */
  readonly say: string
}

const FORBIDDEN = {http: 403, code: 403, admin: 'AB03'} as const
const NO_SUCH = {http: 404, code: 404, admin: 'AB08'} as const
const UPSTREAM = {http: 502, code: 502, admin: 'AB04'} as const
const INVALID = {http: 400, admin: 'AB01'} as const
const INTERNAL = {http: 200, code: -32603, admin: 'AB04'} as const

/** Each error of ours, by name: its status, its code, its sentence. Codes below 0 are of the revision 2026-07-28. */
// biome-ignore format: a table is read by its lines
export const MCP_FAULTS = {
  unauthenticated: {http: 401, code: 401, admin: 'AB05', say: '{reason}'},
  /** Beside the gateway's own credential: no sign-in at the gateway would help. */
  second_token: {http: 401, code: 401, admin: 'AB05', say: '{reason}'},
  forbidden: {...FORBIDDEN, say: '{reason}'},
  insufficient_scope: {...FORBIDDEN, say: 'The access token lacks scopes for this request: {scope}.'},
  origin_refused: {...FORBIDDEN,
    say: 'Requests from the origin {origin} are not accepted here. Add it to MCP_ALLOWED_ORIGINS.'},
  host_refused: {...FORBIDDEN, say: 'Requests for the host {host} are not accepted here.'},
  not_found: {...NO_SUCH, say: 'No MCP server is served at this address.'},
  session_unknown: {...NO_SUCH, say: 'The session is not known here, or has ended. Send initialize again.'},
  transport_removed: {...NO_SUCH, say: 'HTTP with SSE is not served here. Use Streamable HTTP at {address}.'},
  method_not_allowed: {http: 405, code: 405, admin: 'AB01', say: '{method} is not served here{reason}.'},
  exhausted: {http: 412, code: 412, admin: 'AB03', say: '{reason}'},
  rate_limited: {http: 429, code: 429, admin: 'AB06', say: '{reason}'},
  body_too_large: {http: 413, code: 413, admin: 'AB01',
    say: 'The request body is larger than the {limit} bytes that are read here.'},
  media_type: {http: 415, code: 415, admin: 'AB01',
    say: 'The content type {content_type} is not accepted here; send application/json.'},
  refused: {...INVALID, code: 400, say: '{reason}'},
  unavailable: {http: 503, code: 503, admin: 'AB04', say: '{reason}'},
  credential_in_query: {...INVALID, code: 400, say: 'A credential came in the query. Send it as a header.'},
  parse_error: {...INVALID, code: -32700, say: 'Parse error: the body is not JSON: {reason}.'},
  request_invalid: {...INVALID, code: -32600, say: 'Invalid request: {reason}.'},
  header_mismatch: {...INVALID, code: -32020, say: 'Bad Request: the headers and the body disagree: {reason}.'},
  capability_missing: {...INVALID, code: -32021,
    say: 'The request needs a capability that the client did not declare: {capabilities}.'},
  version_unserved: {...INVALID, code: -32022, say: 'Unsupported protocol version: {requested}.'},
  meta_missing: {...INVALID, code: -32602, say: 'Invalid params: {reason}.'},
  method_unknown: {http: 404, legacy_http: 200, code: -32601, admin: 'AB08', say: 'Method not found: {method}'},
  params_invalid: {http: 200, code: -32602, admin: 'AB01', say: 'Invalid params: {reason}.'},
  state_invalid: {http: 200, code: -32602, admin: 'AB01', say: 'requestState is not valid'},
  capability_unknown: {http: 200, code: -32602, admin: 'AB08', say: 'Unknown {kind}: {name}'},
  upstream_unreachable: {...UPSTREAM, say: 'The MCP server {server} could not be reached: {reason}.'},
  upstream_nonsense: {...UPSTREAM, say: 'The MCP server {server} answered what is no MCP: {reason}.'},
  upstream_timeout: {http: 504, code: 504, admin: 'AB04',
    say: 'The MCP server {server} did not answer within {limit_ms} ms.'},
  result_too_large: {...UPSTREAM,
    say: 'The answer of the MCP server is larger than the {limit} bytes that are passed on.'},
  sign_in_silent: {...UPSTREAM, say: 'The sign-in server of {server} did not answer: {reason}.'},
  sign_in_late: {http: 504, code: 504, admin: 'AB04',
    say: 'The sign-in server of {server} did not answer within {limit_ms} ms.'},
  sign_in_refused: {...UPSTREAM, say: 'The sign-in server of {server} refused the gateway: {reason}.'},
  credential_refused: {...UPSTREAM, say: 'The MCP server {server} refused the credential of its integration.'},
  secret_unresolvable: {http: 500, code: 500, admin: 'AB04',
    say: 'The MCP server {server} cannot be called: {reason}.'},
  integration_unfit: {...UPSTREAM, say: 'The MCP server {server} cannot be called as it is configured: {reason}.'},
  upstream_sign_in: {http: 200, code: 401, admin: null,
    say: 'Authorization required for {workspace}/{server}. Complete it here: {url}'},
  url_elicitation: {http: 200, code: -32042, admin: null, say: 'URL elicitation required: {reason}'},
  no_room: {http: 503, code: 503, admin: 'AB04',
    say: 'There is no room for {what} now. Try again in {retry_after_s} seconds.'},
  call_lost: {...INTERNAL, say: 'The call was lost; call again.'},
  client_incapable: {...INTERNAL, say: 'The MCP server has a question of the kind {kind}, and the client {reason}.'},
  too_many_rounds: {...INTERNAL, say: 'The MCP server had questions in more than {limit} rounds.'},
  stream_lost: {...INTERNAL, say: 'The stream holds more than the {limit} bytes that are kept for resumption.'},
  internal: {http: 500, legacy_http: 500, code: -32603, admin: 'AB04', say: 'Internal error.'},
} as const satisfies Record<string, FaultRow>

export type McpFaultReason = keyof typeof MCP_FAULTS
export type McpFaultFacts = Readonly<Record<string, string | number>>

/** Members of a fault beside its reason and facts. */
export interface McpFaultDetails {
  /** Members of `data` beside `errorCode`. */
  readonly data?: JsonObject
  /** The id of the message at fault, as its own JSON text, where it was legible. */
  readonly id_text?: string | null
  readonly cause?: unknown
}

/** A fact of others (a name, a method) is cut to this many characters. */
const MAX_FACT = 300

/** An error that the gateway gives in MCP. `facts` fill its sentence and are printable; `cause` stays in our log. */
export class McpFault extends Error {
  readonly reason: McpFaultReason
  readonly facts: McpFaultFacts
  id_text: string | null
  readonly #data: JsonObject

  constructor(reason: McpFaultReason, facts: McpFaultFacts = {}, details: McpFaultDetails = {}) {
    super(sentence(MCP_FAULTS[reason].say, facts), details.cause === undefined ? undefined : {cause: details.cause})
    this.name = 'McpFault'
    this.reason = reason
    this.facts = facts
    this.id_text = details.id_text ?? null
    this.#data = details.data ?? {}
  }

  get #row(): FaultRow {
    return MCP_FAULTS[this.reason]
  }

  /** Status towards clients of the modern era, and of requests whose era is not known yet. */
  get http(): number {
    return this.#row.http
  }

  get code(): number {
    return this.#row.code
  }

  /** Status towards clients of an era. */
  httpFor(era: Era): number {
    return era === 'legacy' ? (this.#row.legacy_http ?? this.http) : this.http
  }

  /** `data` of the JSON-RPC error; null where there is nothing to say. */
  get data(): JsonObject | null {
    const {admin} = this.#row
    const data: Record<string, JsonValue> = admin === null ? {} : {errorCode: admin}
    for (const [key, value] of Object.entries(this.#data)) data[key] = value
    return Object.keys(data).length > 0 ? data : null
  }
}

/** A version that is not served: names all that are (2026-07-28, UnsupportedProtocolVersionError). */
export function versionUnserved(requested: string, supported: readonly string[], id_text: string | null): McpFault {
  const shown = printable(requested)
  return new McpFault('version_unserved', {requested: shown}, {data: {supported, requested: shown}, id_text})
}

const BY_STATUS: Readonly<Record<number, McpFaultReason>> = {
  400: 'refused',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  412: 'exhausted',
  413: 'body_too_large',
  429: 'rate_limited',
  501: 'unavailable',
  503: 'unavailable',
}

/** A refusal of the gateway as MCP says it: its sentence and its `errorCode`, the code of its status. */
export function faultOfRefusal(refusal: Refusal): McpFault {
  const reason = BY_STATUS[refusal.status]
  const {retry_after_s} = refusal
  const facts = {...(retry_after_s !== null && {retry_after_s}), reason: refusal.message}
  const details = {data: {errorCode: refusal.codes.admin}, cause: refusal}
  if (reason === 'not_found' || reason === 'body_too_large') return new McpFault(reason, {...refusal.details, ...facts})
  return reason ? new McpFault(reason, facts, details) : new McpFault('internal', facts, {cause: refusal})
}

/** The JSON-RPC error of a fault. `id_text`: the id of the request as its own JSON text; null where it is not known. */
export function errorText(id_text: string | null, fault: McpFault): string {
  return `{"jsonrpc":"2.0","id":${id_text ?? 'null'},"error":${errorObjectText(fault)}}`
}

/** The same without its envelope: `{code, message, data}`. */
export function errorObjectText(fault: McpFault): string {
  const {code, message, data} = fault
  return JSON.stringify(data === null ? {code, message} : {code, message, data})
}

const NOT_PRINTABLE = /[^\P{C}\u200d]/gu

/** A text of others as it may appear in a sentence of ours: no control characters, and not long. */
export function printable(text: string, most = MAX_FACT): string {
  const clean = text
    .slice(0, 4 * most)
    .toWellFormed()
    .replace(NOT_PRINTABLE, ' ')
  return clean.length > most ? `${clean.slice(0, most).toWellFormed()}…` : clean
}

/** A fact that is missing takes the blank before it along. */
function sentence(say: string, facts: McpFaultFacts): string {
  return say.replace(/( ?)\{(\w+)\}/g, (_, blank: string, word: string) => {
    const fact = Object.hasOwn(facts, word) ? facts[word]! : ''
    return fact === '' ? '' : blank + printable(String(fact), 4 * MAX_FACT)
  })
}
