import fc from 'fast-check'
import {expect, test} from 'vitest'
import {jsonSpans} from '../../src/telemetry/ingest/read-json.ts'
import {protobufSpans} from '../../src/telemetry/ingest/read-protobuf.ts'
import type {FoundSpan} from '../../src/telemetry/ingest/received.ts'
import {toProtobuf} from '../../src/telemetry/otlp/protobuf.ts'
import {ProtobufReader, WireFault} from '../../src/telemetry/otlp/wire-reader.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {encoded} from './decoder.ts'

const RUNS = forRing({own: 300, ci: 3_000, full: 20_000})
const hex = (digits: number) =>
  fc
    .array(fc.integer({min: 0, max: 15}), {minLength: digits, maxLength: digits})
    .map(all => all.map(each => each.toString(16)).join(''))
const text = fc.string({unit: 'grapheme', maxLength: 40})
const time = fc.bigInt({min: 0n, max: 2n ** 64n - 1n}).map(String)

const value: fc.Arbitrary<object> = fc.letrec<{value: object}>(tie => ({
  value: fc.oneof(
    {depthSize: 'small'},
    text.map(stringValue => ({stringValue})),
    fc.boolean().map(boolValue => ({boolValue})),
    fc.bigInt({min: -(2n ** 63n), max: 2n ** 63n - 1n}).map(number => ({intValue: String(number)})),
    fc.double({noNaN: true, noDefaultInfinity: true}).map(number => ({doubleValue: number === 0 ? 0 : number})),
    fc.array(tie('value'), {maxLength: 4}).map(values => ({arrayValue: {values}})),
    fc.array(fc.tuple(text, tie('value')), {maxLength: 4}).map(pairs => ({
      kvlistValue: {values: pairs.map(([key, each]) => ({key, value: each}))},
    })),
  ),
})).value

const attributes = fc
  .array(fc.tuple(text, value), {maxLength: 6})
  .map(all => all.map(([key, each]) => ({key, value: each})))
const span = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  traceState: text,
  name: text,
  kind: fc.integer({min: 0, max: 5}),
  startTimeUnixNano: time,
  endTimeUnixNano: time,
  attributes,
  events: fc.array(fc.record({timeUnixNano: time, name: text, attributes}), {maxLength: 3}),
  status: fc.record({code: fc.integer({min: 0, max: 2}), message: text}),
})
const requests = fc.array(
  fc.record({
    resource: fc.record({attributes}),
    scopeSpans: fc.array(
      fc.record({scope: fc.record({name: text, version: text}), spans: fc.array(span, {maxLength: 3})}),
      {maxLength: 2},
    ),
  }),
  {maxLength: 3},
)

const plain = (found: Iterable<FoundSpan>) =>
  JSON.parse(
    JSON.stringify([...found], (_, each: unknown) =>
      typeof each === 'bigint' ? String(each) : each instanceof Map ? [...each] : each,
    ),
  ) as unknown

test('TI1: whatever the encoder of others writes is read as its JSON is', () => {
  fc.assert(
    fc.property(requests, resourceSpans => {
      const request = {resourceSpans}
      expect(plain(protobufSpans(encoded('traces', request), 'traces'))).toEqual(
        plain(jsonSpans(Buffer.from(JSON.stringify(request)), 'traces')),
      )
    }),
    {numRuns: RUNS, seed: seed()},
  )
  generated('otlp-requests', RUNS)
}, 120_000)

test('bytes that were changed are read, or are a fault of the wire, and nothing else', () => {
  fc.assert(
    fc.property(
      requests,
      fc.array(fc.tuple(fc.nat(), fc.integer({min: 0, max: 255})), {minLength: 1, maxLength: 8}),
      fc.nat(),
      (resourceSpans, changes, end) => {
        const bytes = encoded('traces', {resourceSpans})
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte
        const cut = bytes.length === 0 ? bytes : bytes.subarray(0, end % (bytes.length + 1))
        for (const each of [bytes, cut]) {
          try {
            plain(protobufSpans(each, 'traces'))
          } catch (fault) {
            expect(fault).toBeInstanceOf(WireFault)
          }
        }
      },
    ),
    {numRuns: RUNS, seed: seed()},
  )
  generated('otlp-damaged', RUNS)
}, 120_000)

test('what our own encoder writes is read by our own decoder', () => {
  const bytes = toProtobuf({
    signal: 'traces',
    source: {resource: [['service.name', 'gateway']], scope: {name: 'scope', version: '1'}},
    items: [
      {
        trace_id: '1'.repeat(32),
        span_id: '2'.repeat(16),
        parent_span_id: '3'.repeat(16),
        trace_state: 'a=1',
        name: 'chat',
        kind: 3,
        start_us: 1_700_000_000_000_001,
        end_us: 1_700_000_000_000_002,
        attributes: [
          ['count', {int: -5}],
          ['part', {double: 0.5}],
          ['list', ['a', 'b']],
        ],
        status: {code: 2, message: 'failed'},
      },
    ],
  })
  expect([...protobufSpans(bytes, 'traces')].filter(each => each !== 'part')).toMatchObject([
    {
      trace_id: '1'.repeat(32),
      span_id: '2'.repeat(16),
      parent_span_id: '3'.repeat(16),
      tracestate: 'a=1',
      kind: 'client',
      start_ns: 1_700_000_000_000_001_000n,
      end_ns: 1_700_000_000_000_002_000n,
      attributes: new Map<string, unknown>([
        ['count', -5],
        ['part', 0.5],
        ['list', ['a', 'b']],
      ]),
      status: {is_error: true, message: 'failed'},
      source: {scope: {name: 'scope', version: '1'}},
    },
  ])
})

test('a reader never leaves its message', () => {
  const outer = new ProtobufReader(Buffer.from([0x0a, 0x02, 0x08, 0x80, 0x10, 0x07]))
  expect(outer.next()).toBe(1)
  const inner = outer.message()
  expect(inner.next()).toBe(1)
  // its number would go into the bytes behind it
  expect(() => inner.number()).toThrow(WireFault)
  expect([outer.next(), outer.number(), outer.next()]).toEqual([2, 7, 0])
})
