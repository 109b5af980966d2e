/** The bounds of what is kept of one span. */
export const MAX_ATTRIBUTES = 128
export const MAX_EVENTS = 128
export const MAX_LINKS = 128
export const MAX_SPAN_BYTES = 1 << 20
/** The description of a source is kept with each of its spans. */
export const MAX_SOURCE_BYTES = 8 * 1024
/** Spans of one request. */
export const MAX_SPANS = 10_000
/** Sources and spans of one request together. */
export const MAX_PARTS = 100_000
/** A longer span is not read. */
export const MAX_READ_BYTES = 8 << 20
/** Values of attributes are nested this deep. */
export const MAX_VALUE_DEPTH = 32

/** The value of an attribute: bytes are their base64, and integers that a number does not hold their digits. */
export type SpanValue = string | number | boolean | null | readonly SpanValue[] | {readonly [name: string]: SpanValue}

export type SpanAttributes = ReadonlyMap<string, SpanValue>

/** The service that made spans, and the part of it that did. */
export interface SpanSource {
  readonly resource: SpanAttributes
  readonly scope: {readonly name: string; readonly version: string}
}

export interface ReceivedEvent {
  readonly time_ns: bigint
  readonly name: string
  readonly attributes: SpanAttributes
}

/** The two signals that are taken: spans, and log records, which are kept as moments. */
export type IngestSignal = 'traces' | 'logs'

export interface ReceivedLink {
  readonly trace_id: string
  readonly span_id: string
}

export const RECEIVED_KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const
export type ReceivedKind = (typeof RECEIVED_KINDS)[number]

/** A span as an application sent it, within the bounds; or a log record in the place of one (`momentOf`). */
export interface ReceivedSpan {
  /** Hexadecimal digits in lower case; empty where it had none that could be one. */
  readonly trace_id: string
  readonly span_id: string
  /** Null of the root of a trace; empty where it is no id. */
  readonly parent_span_id: string | null
  readonly tracestate: string
  readonly name: string
  readonly kind: ReceivedKind
  /** Nanoseconds since 1970; null where it is no time. */
  readonly start_ns: bigint | null
  readonly end_ns: bigint | null
  readonly attributes: SpanAttributes
  readonly events: readonly ReceivedEvent[]
  readonly links: readonly ReceivedLink[]
  readonly status: {readonly is_error: boolean; readonly message: string}
  /** Attributes, events and links that were left out, by the sender or here. */
  readonly dropped: number
  /** A value was cut. */
  readonly is_cut: boolean
  readonly source: SpanSource
  /** A log record: it costs nothing, as the span around it has the cost. */
  readonly is_record?: true
}

/** A step of reading a request: a source begins, or a span is there, or one that cannot be read. */
export type FoundSpan = ReceivedSpan | null | 'part'

/** Why a span is not taken. */
export const REJECTIONS = {
  unreadable: 'cannot be read',
  ids: 'has no trace id of 32 hexadecimal digits, no span id of 16, or a parent id of another length',
  times: 'has a time that is no number of nanoseconds',
  old: 'began before the time for which the log is kept',
  future: 'begins more than a day from now',
} as const
export type SpanRejection = keyof typeof REJECTIONS

const HEX = /^[\da-f]+$/i
const ZEROS = /^0+$/

/** An id in hexadecimal digits of either case; empty for what is none. */
export function hexId(text: unknown, digits: 16 | 32): string {
  if (typeof text !== 'string' || text.length !== digits || !HEX.test(text) || ZEROS.test(text)) return ''
  return text.toLowerCase()
}

/**
 * An id that may be absent: the parent of a root, the trace of a log record. SDKs write zeros for an absent one. Empty
 * for what is no id.
 */
export function optionalId(text: unknown, digits: 16 | 32): string | null {
  if (text === undefined || text === null || text === '') return null
  if (typeof text === 'string' && text.length === digits && ZEROS.test(text)) return null
  return hexId(text, digits)
}
