import {object} from '../../base/json-object.ts'
import {McpEventReader} from './events.ts'
import {type HeaderFields, headerValue} from './header-values.ts'
import {type RpcAnswer, readMessage} from './messages.ts'
import {isLegacyVersion, isModernVersion, LEGACY_VERSIONS, MODERN_VERSIONS} from './versions.ts'

/** The era of an upstream, by its answer to the probe: `server/discover` with an envelope of ours. */

/**
 * The credential of the probe. `person`: a token of one user, who can sign in again. `standing`: one that needs no
 * person (headers, client credentials, a token that was refreshed for this probe).
 */
export type ProbeCredential = 'none' | 'person' | 'standing'

export interface ProbeReply {
  readonly status: number
  readonly headers: HeaderFields
  /** The whole body: JSON, or server-sent events. */
  readonly body: string
}

/** The meaning of a reply to the probe. */
export type EraVerdict =
  /** It is modern; `answer` has the result of `server/discover`. */
  | {readonly verdict: 'modern'; readonly version: string; readonly answer: RpcAnswer}
  /** It is modern, and speaks this version: repeat the probe once with it. */
  | {readonly verdict: 'modern_version'; readonly version: string}
  /** It is modern, and found a fault in our request, which belongs into the log. */
  | {readonly verdict: 'modern_fault'; readonly version: string; readonly answer: RpcAnswer}
  /** Send `initialize`: success makes it legacy. */
  | {readonly verdict: 'legacy'}
  /** The same, once and with the same credential; a refusal of it leaves the verdict before. */
  | {readonly verdict: 'legacy_if_let_in'}
  /** No verdict: it wants a sign-in. */
  | {readonly verdict: 'sign_in'}
  /** No verdict: an error of the upstream or the way to it. The verdict before stays. */
  | {readonly verdict: 'none'; readonly reason: string}

const HEADER_MISMATCH = -32020
const CAPABILITY_MISSING = -32021
const VERSION_UNSERVED = -32022
/** Statuses that speak of the moment. */
const MOMENTARY: ReadonlySet<number> = new Set([408, 425, 429])
/** Errors that a server of 2026-07-28 answers with a status of their own. */
const MODERN_ERRORS: Readonly<Record<number, ReadonlySet<number>>> = {
  400: new Set([HEADER_MISMATCH, CAPABILITY_MISSING, VERSION_UNSERVED, -32602, -32600, -32700]),
  404: new Set([-32601]),
}

/** The verdict of a reply to the probe. A probe without reply (refused, timed out, TLS) has none. */
export function eraVerdict({status, headers, body}: ProbeReply, credential: ProbeCredential): EraVerdict {
  if (status === 401 || status === 403)
    return credential === 'standing' ? {verdict: 'legacy_if_let_in'} : {verdict: 'sign_in'}
  if (status >= 500 || MOMENTARY.has(status)) return {verdict: 'none', reason: `it answered with status ${status}`}
  const answer = answerIn(headers, body)
  if (status === 200 && answer?.result) return ofResult(answer)
  if (status !== 400 || !answer?.error) return {verdict: 'legacy'}
  const {code, data} = answer.error
  if (code === HEADER_MISMATCH || code === CAPABILITY_MISSING)
    return {verdict: 'modern_fault', version: MODERN_VERSIONS[0], answer}
  if (code !== VERSION_UNSERVED) return {verdict: 'legacy'}
  const supported = object(data).supported
  return Array.isArray(supported) ? ofVersions(supported) : {verdict: 'legacy'}
}

function ofResult(answer: RpcAnswer): EraVerdict {
  const supported = answer.result?.supportedVersions
  if (!Array.isArray(supported)) return {verdict: 'legacy'}
  const verdict = ofVersions(supported)
  return verdict.verdict === 'modern_version' ? {...verdict, verdict: 'modern', answer} : verdict
}

function ofVersions(supported: readonly unknown[]): EraVerdict {
  const versions = supported.filter(version => typeof version === 'string')
  const modern = MODERN_VERSIONS.find(version => versions.includes(version))
  if (modern) return {verdict: 'modern_version', version: modern}
  if (versions.length === 0 || versions.some(isLegacyVersion) || versions.every(isOlder)) return {verdict: 'legacy'}
  return {verdict: 'none', reason: 'it speaks no revision of the protocol that is spoken here'}
}

function isOlder(version: string): boolean {
  return !isModernVersion(version) && version < LEGACY_VERSIONS[0]
}

/** The meaning of a reply to `initialize`. */
export type InitializeVerdict =
  | {readonly verdict: 'legacy'; readonly answer: RpcAnswer}
  /** No Streamable HTTP: a GET may find the event `endpoint` of HTTP+SSE. */
  | {readonly verdict: 'try_sse'}
  | {readonly verdict: 'sign_in'}
  | {readonly verdict: 'none'; readonly reason: string}

/** The verdict of a reply to `initialize`. `may_be_sse`: the transport is `sse` or not configured. */
export function initializeVerdict(
  {status, headers, body}: ProbeReply,
  credential: ProbeCredential,
  may_be_sse: boolean,
): InitializeVerdict {
  if (status === 401 || status === 403)
    return credential === 'standing'
      ? {verdict: 'none', reason: `it refused the credential with status ${status}`}
      : {verdict: 'sign_in'}
  const answer = answerIn(headers, body)
  if (status === 200 && answer?.result) return {verdict: 'legacy', answer}
  if (may_be_sse && (status === 400 || status === 404 || status === 405)) return {verdict: 'try_sse'}
  const error = answer?.error
  return {
    verdict: 'none',
    reason: error ? `it answered initialize with the error ${error.code}` : `it answered with status ${status}`,
  }
}

/** True for an error that only a server of 2026-07-28 gives with its status. */
export function isModernError(status: number, answer: RpcAnswer | null): boolean {
  const code = answer?.error?.code
  return code !== undefined && MODERN_ERRORS[status]?.has(code) === true
}

/** True where a reply disproves that an upstream is modern: probe again, and repeat the request once. */
export function disprovesModern(status: number, answer: RpcAnswer | null): boolean {
  return (status === 400 || status === 404) && !isModernError(status, answer)
}

/** True where a reply to a request with a session says that the session is gone (404, or 400 of the old kind). */
export function saysSessionLost(status: number, answer: RpcAnswer | null): boolean {
  return status === 404 || (status === 400 && !isModernError(status, answer))
}

/** The JSON-RPC answer in a body of JSON or of server-sent events; null where there is none. */
export function answerIn(headers: HeaderFields, body: string): RpcAnswer | null {
  const type = headerValue(headers, 'content-type') ?? ''
  if (!/^text\/event-stream\b/i.test(type)) return answerOf(body)
  try {
    for (const {data} of new McpEventReader().push(Buffer.from(`${body}\n\n`))) {
      const answer = answerOf(data)
      if (answer) return answer
    }
  } catch {
    // a body of events that cannot be read has no answer
  }
  return null
}

function answerOf(text: string): RpcAnswer | null {
  if (text === '') return null
  try {
    const message = readMessage(text)
    return message.kind === 'answer' ? message : null
  } catch {
    return null
  }
}
