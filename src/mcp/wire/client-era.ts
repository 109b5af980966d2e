import {own} from '../../base/json-member.ts'
import {claimedVersion, META_KEYS, metaMissing, type RequestEnvelope, readEnvelope} from './envelope.ts'
import {McpFault, printable, versionUnserved} from './faults.ts'
import {type HeaderFields, headerValue} from './header-values.ts'
import type {RpcAnswer, RpcMessage, RpcNotification, RpcRequest} from './messages.ts'
import {isModernMethod} from './methods.ts'
import {checkStandardHeaders, SESSION_HEADER, VERSION_HEADER} from './standard-headers.ts'
import {
  allowsBatches,
  claimsModern,
  DEFAULT_VERSION,
  isLegacyVersion,
  isModernVersion,
  type LegacyVersion,
  negotiated,
  SERVED_VERSIONS,
} from './versions.ts'

/** The era of one POST of a client (2026-07-28, "Versioning"), decided on its body; headers are compared with it. */

/** A request that describes itself. Its method is known; the headers agree with the body. */
export interface ModernRequest {
  readonly era: 'modern'
  readonly kind: 'request'
  readonly version: string
  readonly message: RpcRequest
  readonly envelope: RequestEnvelope
}

/** A notification of a modern client: nothing answers it. */
export interface ModernNotification {
  readonly era: 'modern'
  readonly kind: 'notification'
  readonly version: string
  readonly message: RpcNotification
}

/** The handshake. A session that its headers name is of no account: it makes a new one. */
export interface LegacyHandshake {
  readonly era: 'legacy'
  readonly kind: 'initialize'
  /** The revision to answer with. */
  readonly version: LegacyVersion
  readonly message: RpcRequest
}

/** Any other POST of a legacy client: one message, or the several of a batch. */
export interface LegacyPost {
  readonly era: 'legacy'
  readonly kind: 'messages'
  /** Of the header; null where it is absent: that of the session, without session `DEFAULT_VERSION`. */
  readonly version: LegacyVersion | null
  /** The session that its headers name; null: a call without session. */
  readonly session_id: string | null
  readonly messages: readonly RpcMessage[]
  readonly is_batch: boolean
}

export type ClientPost = ModernRequest | ModernNotification | LegacyHandshake | LegacyPost

/** Reads the era of a POST. Throws an `McpFault`, with the id of the request where it has one. */
export function clientEra(headers: HeaderFields, body: RpcMessage | readonly RpcMessage[]): ClientPost {
  const header_version = headerValue(headers, VERSION_HEADER)
  const is_modern_header = header_version !== undefined && claimsModern(header_version)
  if (isBatch(body)) return batchPost(headers, body, header_version, is_modern_header)
  if (body.kind === 'answer') {
    if (is_modern_header) throw noAnswers(body)
    return legacyPost(headers, [body], header_version, false)
  }
  const id_text = body.kind === 'request' ? body.id_text : null
  const claim = claimedVersion(body.params, id_text)
  if (claim !== null) return modernPost(headers, body, header_version, claim)
  if (body.kind === 'request' && body.method === 'initialize') return handshake(body, header_version, is_modern_header)
  if (!is_modern_header) return legacyPost(headers, [body], header_version, false)
  if (body.kind === 'request') throw metaMissing(META_KEYS.version, id_text)
  return modernPost(headers, body, header_version, header_version)
}

/** A GET or DELETE of a client. Throws `method_not_allowed` (405) where the era has none, or a session is missing. */
export function sessionOfStream(method: 'GET' | 'DELETE', headers: HeaderFields): string {
  const version = headerValue(headers, VERSION_HEADER)
  if (version !== undefined && claimsModern(version))
    throw new McpFault('method_not_allowed', {method, reason: ` in the revision ${printable(version)}`})
  const session_id = headerValue(headers, SESSION_HEADER)
  if (!session_id) throw new McpFault('method_not_allowed', {method, reason: ' without a session'})
  return session_id
}

/** Throws `request_invalid` for a batch where the revision that was agreed has none. */
export function checkBatch(post: LegacyPost, session_version: LegacyVersion | null): void {
  const version = session_version ?? post.version ?? DEFAULT_VERSION
  if (post.is_batch && !allowsBatches(version)) throw noBatches(version)
}

function isBatch(body: RpcMessage | readonly RpcMessage[]): body is readonly RpcMessage[] {
  return Array.isArray(body)
}

function modernPost(
  headers: HeaderFields,
  message: RpcRequest | RpcNotification,
  header_version: string | undefined,
  version: string,
): ModernRequest | ModernNotification {
  const id_text = message.kind === 'request' ? message.id_text : null
  // Two versions are no version: which of them is served is decided only where they agree.
  if (header_version !== undefined && header_version !== version) checkStandardHeaders(headers, message, version)
  if (!isModernVersion(version)) throw versionUnserved(version, SERVED_VERSIONS, id_text)
  if (message.kind === 'notification') {
    checkStandardHeaders(headers, message, version)
    return {era: 'modern', kind: 'notification', version, message}
  }
  const envelope = readEnvelope(message.params, id_text)!
  checkStandardHeaders(headers, message, version)
  if (!isModernMethod(message.method))
    throw new McpFault('method_unknown', {method: printable(message.method)}, {id_text})
  return {era: 'modern', kind: 'request', version, message, envelope}
}

function handshake(
  message: RpcRequest,
  header_version: string | undefined,
  is_modern_header: boolean,
): LegacyHandshake {
  const {id_text} = message
  if (is_modern_header) {
    const reason = `initialize is no request of ${header_version}, which the header MCP-Protocol-Version names`
    throw new McpFault('header_mismatch', {reason}, {id_text})
  }
  const requested = own(message.params, 'protocolVersion')
  if (typeof requested !== 'string')
    throw new McpFault('params_invalid', {reason: 'protocolVersion has to be a string'}, {id_text})
  return {era: 'legacy', kind: 'initialize', version: negotiated(requested), message}
}

function legacyPost(
  headers: HeaderFields,
  messages: readonly RpcMessage[],
  header_version: string | undefined,
  is_batch: boolean,
): LegacyPost {
  if (header_version !== undefined && !isLegacyVersion(header_version)) {
    const [first] = messages
    const id_text = !is_batch && first?.kind === 'request' ? first.id_text : null
    throw versionUnserved(header_version, SERVED_VERSIONS, id_text)
  }
  const session_id = headerValue(headers, SESSION_HEADER) || null
  return {era: 'legacy', kind: 'messages', version: header_version ?? null, session_id, messages, is_batch}
}

function batchPost(
  headers: HeaderFields,
  messages: readonly RpcMessage[],
  header_version: string | undefined,
  is_modern_header: boolean,
): LegacyPost {
  const has_claim = messages.some(each => each.kind !== 'answer' && claimedVersion(each.params) !== null)
  if (is_modern_header || has_claim) throw noBatches(is_modern_header ? header_version! : 'of a modern envelope')
  if (messages.some(each => each.kind === 'request' && each.method === 'initialize'))
    throw new McpFault('request_invalid', {reason: 'initialize is no part of a batch'})
  const post = legacyPost(headers, messages, header_version, true)
  checkBatch(post, null)
  return post
}

function noBatches(version: string): McpFault {
  return new McpFault('request_invalid', {reason: `the revision ${printable(version)} has no batches`})
}

function noAnswers(message: RpcAnswer): McpFault {
  return new McpFault(
    'request_invalid',
    {reason: 'an answer is no POST of a modern client'},
    {id_text: message.id_text},
  )
}
