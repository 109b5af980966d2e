import {
  type Attributes,
  type AttributeValue,
  CUMULATIVE,
  type HistogramPoint,
  type NumberPoint,
  type OtlpBatch,
  type OtlpLogRecord,
  type OtlpMetric,
  type OtlpSpan,
  type TelemetrySource,
} from './model.ts'

/** A batch in the JSON of OTLP: ids in hexadecimal, 64-bit numbers as text, enumerations as numbers. */
export function toJson(batch: OtlpBatch): string {
  return JSON.stringify(requestOf(batch))
}

function requestOf(batch: OtlpBatch) {
  const {source} = batch
  if (batch.signal === 'traces') return {resourceSpans: [part(source, 'scopeSpans', 'spans', batch.items.map(span))]}
  if (batch.signal === 'logs') return {resourceLogs: [part(source, 'scopeLogs', 'logRecords', batch.items.map(log))]}
  return {resourceMetrics: [part(source, 'scopeMetrics', 'metrics', batch.items.map(metric))]}
}

function part({resource, scope}: TelemetrySource, of_scope: string, of_items: string, items: readonly unknown[]) {
  return {resource: {attributes: attributes(resource)}, [of_scope]: [{scope, [of_items]: items}]}
}

function span(of: OtlpSpan) {
  return {
    traceId: of.trace_id,
    spanId: of.span_id,
    ...(of.trace_state !== undefined && {traceState: of.trace_state}),
    ...(of.parent_span_id !== null && {parentSpanId: of.parent_span_id}),
    name: text(of.name),
    kind: of.kind,
    startTimeUnixNano: nanoseconds(of.start_us),
    endTimeUnixNano: nanoseconds(of.end_us),
    attributes: attributes(of.attributes),
    ...(of.events && {
      events: of.events.map(event => ({
        timeUnixNano: nanoseconds(event.time_us),
        name: text(event.name),
        attributes: attributes(event.attributes),
      })),
    }),
    status: {code: of.status.code, ...(of.status.message !== undefined && {message: text(of.status.message)})},
  }
}

function log(of: OtlpLogRecord) {
  return {
    timeUnixNano: nanoseconds(of.time_us),
    observedTimeUnixNano: nanoseconds(of.observed_us),
    severityNumber: of.severity_number,
    severityText: of.severity_text,
    body: {stringValue: text(of.body)},
    attributes: attributes(of.attributes),
    ...(of.trace_id !== undefined && {traceId: of.trace_id}),
    ...(of.span_id !== undefined && {spanId: of.span_id}),
    ...(of.event_name !== undefined && {eventName: of.event_name}),
  }
}

function metric({name, description, unit, points}: OtlpMetric) {
  const named = {name, description, unit}
  if (points.kind === 'sum')
    return {...named, sum: {dataPoints: points.of.map(number), aggregationTemporality: CUMULATIVE, isMonotonic: true}}
  return {...named, histogram: {dataPoints: points.of.map(histogram), aggregationTemporality: CUMULATIVE}}
}

function number(of: NumberPoint) {
  return {...point(of), asDouble: of.value}
}

function histogram(of: HistogramPoint) {
  return {
    ...point(of),
    count: String(of.count),
    sum: of.sum,
    min: of.min,
    max: of.max,
    bucketCounts: of.counts.map(String),
    explicitBounds: of.bounds,
  }
}

function point(of: NumberPoint | HistogramPoint) {
  return {
    attributes: attributes(of.attributes),
    startTimeUnixNano: nanoseconds(of.start_us),
    timeUnixNano: nanoseconds(of.time_us),
  }
}

function attributes(of: Attributes) {
  return of.map(([key, value]) => ({key: text(key), value: anyValue(value)}))
}

function anyValue(value: AttributeValue): object {
  if (typeof value === 'string') return {stringValue: text(value)}
  if (typeof value === 'boolean') return {boolValue: value}
  if ('int' in value) return {intValue: String(value.int)}
  if ('double' in value) return {doubleValue: value.double}
  return {arrayValue: {values: value.map(anyValue)}}
}

const nanoseconds = (us: number): string => (us > 0 ? `${Math.round(us)}000` : '0')

/** Receivers refuse a whole batch for one half of a surrogate pair. */
const text = (value: string): string => value.toWellFormed()
