/**
 * Telemetry before it is encoded (opentelemetry-proto 1.5). Times are microseconds since 1970, which
 * a number holds exactly; nanoseconds it does not.
 */

export type AttributeValue = string | boolean | IntValue | DoubleValue | readonly AttributeValue[]
/** A number of JavaScript does not say which of the two it is. */
export interface IntValue {
  readonly int: number
}
export interface DoubleValue {
  readonly double: number
}

/** Name and value; a value that is undefined is left out. */
export type Attributes = readonly (readonly [name: string, value: AttributeValue])[]

export const SPAN_KINDS = {internal: 1, server: 2, client: 3} as const
export type SpanKind = (typeof SPAN_KINDS)[keyof typeof SPAN_KINDS]
export const STATUS_CODES = {unset: 0, ok: 1, error: 2} as const

export interface SpanStatus {
  readonly code: 0 | 1 | 2
  readonly message?: string
}

export interface SpanEvent {
  readonly time_us: number
  readonly name: string
  readonly attributes: Attributes
}

export interface OtlpSpan {
  /** 32 and 16 hexadecimal digits. */
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string | null
  /** `tracestate` of the client's trace. */
  readonly trace_state?: string
  readonly name: string
  readonly kind: SpanKind
  readonly start_us: number
  readonly end_us: number
  readonly attributes: Attributes
  readonly events?: readonly SpanEvent[]
  readonly status: SpanStatus
}

export interface OtlpLogRecord {
  readonly time_us: number
  readonly observed_us: number
  readonly severity_number: number
  readonly severity_text: string
  readonly body: string
  readonly attributes: Attributes
  readonly trace_id?: string
  readonly span_id?: string
  readonly event_name?: string
}

export interface NumberPoint {
  readonly attributes: Attributes
  readonly start_us: number
  readonly time_us: number
  readonly value: number
}

export interface HistogramPoint {
  readonly attributes: Attributes
  readonly start_us: number
  readonly time_us: number
  readonly count: number
  readonly sum: number
  readonly min: number
  readonly max: number
  readonly bounds: readonly number[]
  /** One more than bounds. */
  readonly counts: readonly number[]
}

export interface OtlpMetric {
  readonly name: string
  readonly description: string
  readonly unit: string
  /** Cumulative. */
  readonly points:
    | {readonly kind: 'sum'; readonly of: readonly NumberPoint[]}
    | {readonly kind: 'histogram'; readonly of: readonly HistogramPoint[]}
}

/** Of one source: what it is, and which part of it made them. */
export interface TelemetrySource {
  readonly resource: Attributes
  readonly scope: {readonly name: string; readonly version: string}
}

/** One request. */
export type OtlpBatch =
  | {readonly signal: 'traces'; readonly source: TelemetrySource; readonly items: readonly OtlpSpan[]}
  | {readonly signal: 'logs'; readonly source: TelemetrySource; readonly items: readonly OtlpLogRecord[]}
  | {readonly signal: 'metrics'; readonly source: TelemetrySource; readonly items: readonly OtlpMetric[]}

/** CUMULATIVE in the enumeration of temporalities. */
export const CUMULATIVE = 2
