import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import type {EditPath, TextEdit} from './edits.ts'
import {McpFault} from './faults.ts'

/** `_meta` of modern messages (2026-07-28, "Per-request metadata"). */

const PREFIX = 'io.modelcontextprotocol/'

/** Keys of `_meta` that the protocol defines. */
export const META_KEYS = {
  version: `${PREFIX}protocolVersion`,
  client_info: `${PREFIX}clientInfo`,
  client_capabilities: `${PREFIX}clientCapabilities`,
  log_level: `${PREFIX}logLevel`,
  server_info: `${PREFIX}serverInfo`,
  subscription_id: `${PREFIX}subscriptionId`,
  related_task: `${PREFIX}related-task`,
  progress_token: 'progressToken',
} as const

/** Keys of `_meta` that carry a trace (W3C Trace Context, Baggage). */
export const TRACE_KEYS = ['traceparent', 'tracestate', 'baggage'] as const

/** Levels of `logging/setLevel` and of the envelope, the most verbose first (RFC 5424). */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type McpLogLevel = (typeof LOG_LEVELS)[number]

export function isLogLevel(level: unknown): level is McpLogLevel {
  return (LOG_LEVELS as readonly unknown[]).includes(level)
}

/** A request's description of itself. */
export interface RequestEnvelope {
  readonly version: string
  readonly client_info: JsonObject | null
  readonly client_capabilities: JsonObject
  readonly log_level: McpLogLevel | null
}

/** The version that an envelope claims: null where there is no claim. Throws `meta_missing` where it is no string. */
export function claimedVersion(params: JsonObject | undefined, id_text: string | null = null): string | null {
  const meta = own(params, '_meta')
  if (!isObject(meta) || !Object.hasOwn(meta, META_KEYS.version)) return null
  const version = own(meta, META_KEYS.version)
  if (typeof version !== 'string') throw malformed(META_KEYS.version, 'a string', id_text)
  return version
}

/**
 * The envelope of a request; null where `_meta` claims no version. Throws `meta_missing` (-32602) where a required key
 * is missing, or one that is there has another form than the protocol's.
 */
export function readEnvelope(params: JsonObject | undefined, id_text: string | null = null): RequestEnvelope | null {
  const version = claimedVersion(params, id_text)
  if (version === null) return null
  const meta = own(params, '_meta')
  const capabilities = own(meta, META_KEYS.client_capabilities)
  if (capabilities === undefined) throw metaMissing(META_KEYS.client_capabilities, id_text)
  if (!isObject(capabilities)) throw malformed(META_KEYS.client_capabilities, 'an object', id_text)
  const info = own(meta, META_KEYS.client_info)
  if (info !== undefined && !isImplementation(info))
    throw malformed(META_KEYS.client_info, 'an object with name and version', id_text)
  const level = own(meta, META_KEYS.log_level)
  if (level !== undefined && !isLogLevel(level))
    throw malformed(META_KEYS.log_level, `one of ${LOG_LEVELS.join(', ')}`, id_text)
  return {version, client_info: info ?? null, client_capabilities: capabilities, log_level: level ?? null}
}

/** The fault of a required key of `_meta` that is not there. */
export function metaMissing(key: string, id_text: string | null): McpFault {
  return new McpFault('meta_missing', {reason: `_meta lacks ${key}`}, {id_text})
}

/** An envelope to be written: JSON texts, so that what a client declared keeps its bytes. */
export interface EnvelopeTexts {
  readonly version: string
  readonly client_info: string | null
  readonly client_capabilities: string
  /** Null: no key, which means no log messages. */
  readonly log_level?: McpLogLevel | null
  /** The token as JSON text; undefined leaves what is there, null takes it out. */
  readonly progress_token?: string | null
}

/** Edits that write an envelope in the place of any other. `at`: the path of `params` in the text to be edited. */
export function envelopeEdits(envelope: EnvelopeTexts, at: EditPath): readonly TextEdit[] {
  const {version, client_info, client_capabilities, log_level, progress_token} = envelope
  const edits: TextEdit[] = [
    {path: [...at, '_meta', META_KEYS.version], set: JSON.stringify(version)},
    {path: [...at, '_meta', META_KEYS.client_info], set: client_info ?? undefined},
    {path: [...at, '_meta', META_KEYS.client_capabilities], set: client_capabilities},
    {path: [...at, '_meta', META_KEYS.log_level], set: log_level ? JSON.stringify(log_level) : undefined},
  ]
  return progress_token === undefined ? edits : [...edits, progressTokenEdit(progress_token, at)]
}

/** Edits that take an envelope out: keys of the trace, the progress token and unknown ones stay. */
export function withoutEnvelope(at: EditPath): readonly TextEdit[] {
  const {version, client_info, client_capabilities, log_level} = META_KEYS
  return [version, client_info, client_capabilities, log_level].map(key => ({
    path: [...at, '_meta', key],
    set: undefined,
  }))
}

/** The edit that sets the progress token (JSON text) of `params` at a path, or takes it out (null). */
export function progressTokenEdit(token_text: string | null, at: EditPath): TextEdit {
  return {path: [...at, '_meta', META_KEYS.progress_token], set: token_text ?? undefined}
}

/** True for the description of a client or a server: an object with a name and a version. */
export function isImplementation(info: unknown): info is JsonObject {
  return isObject(info) && typeof own(info, 'name') === 'string' && typeof own(info, 'version') === 'string'
}

function malformed(key: string, expected: string, id_text: string | null): McpFault {
  return new McpFault('meta_missing', {reason: `${key} in _meta has to be ${expected}`}, {id_text})
}
