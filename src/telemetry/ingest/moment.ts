import {hash} from 'node:crypto'
import {optionalId, type ReceivedSpan, type SpanAttributes, type SpanSource, type SpanValue} from './received.ts'

/** A log record as it was read. */
export interface ReceivedRecord {
  readonly trace_id: unknown
  readonly span_id: unknown
  readonly event_name: string
  readonly severity: string
  readonly time_ns: bigint | null
  readonly observed_ns: bigint | null
  readonly body: SpanValue | undefined
  readonly attributes: SpanAttributes
  readonly dropped: number
  readonly is_cut: boolean
}

const NO_LINKS = {events: [], links: [], status: {is_error: false, message: ''}} as const

/**
 * A log record as a span without a duration, below the span that it came from. It has no id of its own: that is the
 * hash of the record, so that one that comes again is the same.
 */
export function momentOf(record: ReceivedRecord, source: SpanSource): ReceivedSpan {
  const {event_name, severity, time_ns, observed_ns, body, attributes} = record
  const at_ns = time_ns === 0n ? observed_ns : time_ns
  const [trace_id, parent_span_id] = [optionalId(record.trace_id, 32), optionalId(record.span_id, 16)]
  const digits = hash(
    'sha256',
    JSON.stringify([trace_id, parent_span_id, `${at_ns}`, event_name, severity, body, [...attributes]]),
    'hex',
  )
  const named = attributes.get('event.name')
  return {
    trace_id: trace_id === null ? digits.slice(16, 48) : trace_id,
    span_id: digits.slice(0, 16),
    parent_span_id,
    tracestate: '',
    name: event_name || (typeof named === 'string' && named) || severity || 'log record',
    kind: 'unspecified',
    start_ns: at_ns,
    end_ns: at_ns,
    attributes: withFacts(attributes, {'log.body': body, 'log.severity': severity || undefined}),
    ...NO_LINKS,
    dropped: record.dropped,
    is_cut: record.is_cut,
    source,
    is_record: true,
  }
}

function withFacts(attributes: SpanAttributes, facts: Readonly<Record<string, SpanValue | undefined>>): SpanAttributes {
  const all = new Map(attributes)
  for (const [name, value] of Object.entries(facts)) if (value !== undefined && !all.has(name)) all.set(name, value)
  return all
}
