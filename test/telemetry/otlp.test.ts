import fc from 'fast-check'
import {expect, test} from 'vitest'
import {toJson} from '../../src/telemetry/otlp/json.ts'
import type {AttributeValue, OtlpBatch, OtlpSpan} from '../../src/telemetry/otlp/model.ts'
import {toProtobuf} from '../../src/telemetry/otlp/protobuf.ts'
import {decoded, spansIn} from './decoder.ts'

const source = {resource: [['service.name', 'gateway']] as const, scope: {name: 'gateway', version: '1'}}
const NOW_US = 1_764_298_800_123_456
const SPAN: OtlpSpan = {
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  span_id: 'b7ad6b7169203331',
  parent_span_id: '00f067aa0ba902b7',
  name: 'chat gpt-4o',
  kind: 3,
  start_us: NOW_US,
  end_us: NOW_US + 1500,
  attributes: [
    ['text', 'ä€😀'],
    ['none', ''],
    ['int', {int: 0}],
    ['negative', {int: -3}],
    ['large', {int: Number.MAX_SAFE_INTEGER}],
    ['double', {double: 0}],
    ['flag', false],
    ['list', ['stop', 'tool_call']],
  ],
  events: [{time_us: NOW_US, name: 'check', attributes: [['verdict', true]]}],
  status: {code: 2, message: '429'},
}

const both = (batch: OtlpBatch) => ({
  json: decoded(batch.signal, 'application/json', Buffer.from(toJson(batch))),
  protobuf: decoded(batch.signal, 'application/x-protobuf', toProtobuf(batch)),
})

test('TL4: JSON and protobuf of one batch of spans decode to the same', () => {
  const {json, protobuf} = both({signal: 'traces', source, items: [SPAN, {...SPAN, parent_span_id: null}]})
  expect(protobuf).toEqual(json)
  expect(json.resourceSpans[0].scopeSpans[0].spans).toHaveLength(2)
})

test('TL4: so do log records and metrics', () => {
  const log = {
    time_us: NOW_US,
    observed_us: NOW_US + 1,
    severity_number: 9,
    severity_text: 'INFO',
    body: 'a line',
    attributes: [['a', 'b']] as const,
    trace_id: SPAN.trace_id,
    span_id: SPAN.span_id,
    event_name: 'gateway.call',
  }
  const logs = both({signal: 'logs', source, items: [log]})
  const {eventName: _, ...known} = logs.json.resourceLogs[0].scopeLogs[0].logRecords[0]
  expect(logs.protobuf.resourceLogs[0].scopeLogs[0].logRecords[0]).toMatchObject(known)
  expect(known.body).toEqual({stringValue: 'a line'})
  const point = {attributes: [['model', 'm']] as const, start_us: NOW_US, time_us: NOW_US + 9}
  const histogram = {...point, count: 3, sum: 7.5, min: 0.5, max: 6, bounds: [1, 4], counts: [1, 1, 1]}
  const metrics = both({
    signal: 'metrics',
    source,
    items: [
      {name: 'n', description: 'd', unit: '1', points: {kind: 'sum', of: [{...point, value: 2.5}]}},
      {name: 'h', description: 'd', unit: 's', points: {kind: 'histogram', of: [histogram]}},
    ],
  })
  expect(metrics.protobuf).toEqual(metrics.json)
  expect(metrics.json.resourceMetrics[0].scopeMetrics[0].metrics[1].histogram.dataPoints[0]).toMatchObject({
    count: '3',
    sum: 7.5,
    bucketCounts: ['1', '1', '1'],
    explicitBounds: [1, 4],
  })
})

test('TL5: ids are hexadecimal in JSON, 64-bit numbers text, enumerations numbers', () => {
  const {resourceSpans} = JSON.parse(toJson({signal: 'traces', source, items: [SPAN]}))
  const [span] = resourceSpans[0].scopeSpans[0].spans
  expect(span).toMatchObject({
    traceId: SPAN.trace_id,
    spanId: SPAN.span_id,
    parentSpanId: SPAN.parent_span_id,
    kind: 3,
    startTimeUnixNano: '1764298800123456000',
    status: {code: 2, message: '429'},
  })
  expect(span.attributes[2]).toEqual({key: 'int', value: {intValue: '0'}})
  expect(span.attributes[5]).toEqual({key: 'double', value: {doubleValue: 0}})
})

test('half a surrogate pair becomes U+FFFD in both encodings', () => {
  const items = [{...SPAN, name: 'a\ud83d', attributes: [['x\udc00', 'y\ud800z']] as const}]
  const {json, protobuf} = both({signal: 'traces', source, items})
  expect(protobuf).toEqual(json)
  const [span] = spansIn('application/x-protobuf', toProtobuf({signal: 'traces', source, items}))
  expect([span!.name, span!.attributes]).toEqual(['a\ufffd', {'x\ufffd': 'y\ufffdz'}])
})

test('TL4: any batch decodes to the same from both encodings', () => {
  const value = fc.letrec<{any: AttributeValue}>(tie => ({
    any: fc.oneof(
      {depthSize: 'small'},
      fc.string({unit: 'binary', maxLength: 300}),
      fc.boolean(),
      fc.maxSafeInteger().map(int => ({int})),
      fc.double({noNaN: true, noDefaultInfinity: true}).map(double => ({double: double + 0})),
      fc.array(tie('any'), {minLength: 1, maxLength: 3}),
    ),
  })).any
  const span = fc.record({
    trace_id: fc.stringMatching(/^[\da-f]{32}$/),
    span_id: fc.stringMatching(/^[\da-f]{16}$/),
    parent_span_id: fc.option(fc.stringMatching(/^[\da-f]{16}$/)),
    name: fc.string({unit: 'grapheme', minLength: 1, maxLength: 200}),
    kind: fc.constantFrom(1 as const, 2 as const, 3 as const),
    start_us: fc.integer({min: 1, max: 4e15}),
    end_us: fc.integer({min: 1, max: 4e15}),
    attributes: fc.array(fc.tuple(fc.string({minLength: 1}), value), {maxLength: 8}),
    status: fc.constant({code: 1 as const}),
  })
  fc.assert(
    fc.property(fc.array(span, {minLength: 1, maxLength: 5}), items => {
      const {json, protobuf} = both({signal: 'traces', source, items})
      expect(protobuf).toEqual(json)
    }),
    {numRuns: 15, seed: Number(process.env.TEST_SEED ?? 42)},
  )
})
