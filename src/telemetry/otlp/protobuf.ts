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
} from './model.ts'
import {WireWriter} from './wire.ts'

/** A batch as the message of its export request. The numbers are those of the published `.proto` files. */
export function toProtobuf(batch: OtlpBatch): Buffer {
  const out = new WireWriter()
  const {resource, scope} = batch.source
  out.message(1, () => {
    out.message(1, () => attributes(out, 1, resource))
    out.message(2, () => {
      out.message(1, () => {
        out.string(1, scope.name)
        out.string(2, scope.version)
      })
      items(out, batch)
    })
  })
  return out.finish()
}

function items(out: WireWriter, batch: OtlpBatch): void {
  if (batch.signal === 'traces') for (const item of batch.items) out.message(2, () => span(out, item))
  else if (batch.signal === 'logs') for (const item of batch.items) out.message(2, () => log(out, item))
  else for (const item of batch.items) out.message(2, () => metric(out, item))
}

function span(out: WireWriter, of: OtlpSpan): void {
  out.hex(1, of.trace_id)
  out.hex(2, of.span_id)
  if (of.trace_state !== undefined) out.string(3, of.trace_state)
  if (of.parent_span_id !== null) out.hex(4, of.parent_span_id)
  out.string(5, of.name)
  out.int(6, of.kind)
  out.time(7, of.start_us)
  out.time(8, of.end_us)
  attributes(out, 9, of.attributes)
  for (const event of of.events ?? [])
    out.message(11, () => {
      out.time(1, event.time_us)
      out.string(2, event.name)
      attributes(out, 3, event.attributes)
    })
  const {code, message} = of.status
  out.message(15, () => {
    if (message !== undefined) out.string(2, message)
    out.int(3, code)
  })
}

function log(out: WireWriter, of: OtlpLogRecord): void {
  out.time(1, of.time_us)
  out.int(2, of.severity_number)
  out.string(3, of.severity_text)
  out.message(5, () => out.string(1, of.body))
  attributes(out, 6, of.attributes)
  if (of.trace_id !== undefined) out.hex(9, of.trace_id)
  if (of.span_id !== undefined) out.hex(10, of.span_id)
  out.time(11, of.observed_us)
  if (of.event_name !== undefined) out.string(12, of.event_name)
}

function metric(out: WireWriter, {name, description, unit, points}: OtlpMetric): void {
  out.string(1, name)
  out.string(2, description)
  out.string(3, unit)
  if (points.kind === 'sum')
    out.message(7, () => {
      for (const each of points.of) out.message(1, () => number(out, each))
      out.int(2, CUMULATIVE)
      out.int(3, 1)
    })
  else
    out.message(9, () => {
      for (const each of points.of) out.message(1, () => histogram(out, each))
      out.int(2, CUMULATIVE)
    })
}

function number(out: WireWriter, of: NumberPoint): void {
  out.time(2, of.start_us)
  out.time(3, of.time_us)
  out.double(4, of.value)
  attributes(out, 7, of.attributes)
}

function histogram(out: WireWriter, of: HistogramPoint): void {
  out.time(2, of.start_us)
  out.time(3, of.time_us)
  out.fixed64(4, of.count)
  out.double(5, of.sum)
  out.fixed64s(6, of.counts)
  out.doubles(7, of.bounds)
  attributes(out, 9, of.attributes)
  out.double(11, of.min)
  out.double(12, of.max)
}

function attributes(out: WireWriter, field: number, of: Attributes): void {
  for (const [key, value] of of)
    out.message(field, () => {
      out.string(1, key)
      out.message(2, () => anyValue(out, value))
    })
}

function anyValue(out: WireWriter, value: AttributeValue): void {
  if (typeof value === 'string') out.string(1, value)
  else if (typeof value === 'boolean') out.int(2, value ? 1 : 0)
  else if ('int' in value) out.signed(3, value.int)
  else if ('double' in value) out.double(4, value.double)
  else
    out.message(5, () => {
      for (const each of value) out.message(1, () => anyValue(out, each))
    })
}
