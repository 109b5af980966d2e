import {isSuccess} from '../../schema/success.ts'
import type {OtlpLogRecord} from '../otlp/model.ts'
import {SERVER_NAME} from '../semconv.ts'
import {serverAttributes} from './call-spans.ts'
import {derivedSpanId, traceIdOf} from './ids.ts'
import {routeOf} from './operations.ts'
import {type ExportedRecord, timesOf} from './record.ts'
import type {SpanServices} from './span-services.ts'

const INFO = 9
const ERROR = 17

/** The log record of a call, when it has ended. */
export function callLog(record: ExportedRecord, services: SpanServices): OtlpLogRecord | undefined {
  const {entry, row} = record
  if (row?.ending !== 'call') return undefined
  const {end_us} = timesOf(record)
  const is_good = isSuccess(row.status, entry.outcome)
  return {
    time_us: end_us,
    observed_us: Math.max(end_us, Date.parse(entry.settled_at) * 1000),
    severity_number: is_good ? INFO : ERROR,
    severity_text: is_good ? 'INFO' : 'ERROR',
    body: `${row.detail.method} ${routeOf(entry.endpoint) ?? entry.endpoint} ${row.status}`,
    attributes: serverAttributes(record, row, services).list,
    trace_id: traceIdOf(entry.trace_id),
    span_id: derivedSpanId('call', entry.call_id),
    event_name: SERVER_NAME.call_event,
  }
}
