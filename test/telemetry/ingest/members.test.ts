import {expect, test} from 'vitest'
import {decodeRecord, encodeSettlement} from '../../../src/store/flush/index.ts'
import type {IngestSignal} from '../../../src/telemetry/ingest/received.ts'
import {intakeOf, SENDER} from './hand.ts'
import {attribute, ns, span, spanId} from './house.ts'

/** JSON that stands where another kind of value belongs. Objects have members that conversions of JavaScript call. */
const VALUES: readonly (readonly [string, string])[] = [
  ...['null', 'true', '-1', '1.5', '1e999', '-0', '0', '""', '"x"', '[]', '[[]]', '[null]', '{}'].map(
    text => [text, text] as const,
  ),
  ['2^63', '9223372036854775808'],
  ['2^63 as a text', '"9223372036854775808"'],
  ['2^64 + 1', '"18446744073709551617"'],
  ['NUL', '"a\\u0000b"'],
  ['half a character', '"\\ud800"'],
  ['zeros', `"${'0'.repeat(32)}"`],
  ['200 KB', `"${'x'.repeat(200_000)}"`],
  ['toString', '{"toString":1,"valueOf":1,"toJSON":1}'],
  ['a list of toString', '[{"toString":1,"valueOf":1}]'],
  ['__proto__', '{"__proto__":{"stringValue":"x"},"constructor":1}'],
  ['values of toString', '{"kvlistValue":{"values":[{"key":"toString","value":{"intValue":"1"}}]}}'],
  ['60 levels', `${'{"arrayValue":{"values":['.repeat(60)}{}${']}}'.repeat(60)}`],
]

const PLACE = '"@place@"'
const HERE = '@place@'
const bad = (given: Readonly<Record<string, unknown>>): object => span({spanId: 'a'.repeat(16), ...given})

/** Every member of a span, and every kind of value of the attributes that are read. */
const OF_SPANS: readonly object[] = [
  ...['traceId', 'spanId', 'parentSpanId', 'traceState', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'],
  ...['attributes', 'events', 'links', 'status', 'droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'],
  'flags',
]
  .map(member => bad({[member]: HERE}))
  .concat(
    [{attributes: [HERE]}, {events: [HERE]}, {links: [HERE]}].map(each => bad(each)),
    [{timeUnixNano: HERE}, {name: HERE}, {attributes: HERE}].map(event => bad({events: [event]})),
    [
      {traceId: HERE, spanId: '1'.repeat(16)},
      {traceId: '1'.repeat(32), spanId: HERE},
    ].map(link => bad({links: [link]})),
    [{code: HERE}, {code: 2, message: HERE}].map(status => bad({status})),
    [
      {key: HERE, value: {stringValue: 'x'}},
      {key: 'a', value: HERE},
    ].map(one => bad({attributes: [one]})),
    [
      ...['http.response.status_code', 'http.status_code', 'gen_ai.operation.name', 'gen_ai.provider.name'],
      ...['gen_ai.request.model', 'gen_ai.usage.input_tokens', 'gen_ai.usage.cache_read.input_tokens'],
      ...['openinference.span.kind', 'url.full', 'http.request.header.cookie', '__proto__', 'toString'],
    ].flatMap(key => {
      const kinds = ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue']
      const values = [HERE, ...kinds.map(kind => ({[kind]: HERE}))]
      const work = [attribute('gen_ai.operation.name', 'chat')].filter(each => each.key !== key)
      return values.map(value => bad({attributes: [{key, value}, ...work]}))
    }),
  )

const OF_RECORDS: readonly object[] = [
  ...['traceId', 'spanId', 'eventName', 'severityText', 'severityNumber', 'body', 'attributes', 'observedTimeUnixNano'],
  ...['timeUnixNano', 'droppedAttributesCount', 'flags'],
].map(member => ({timeUnixNano: ns(1_000), [member]: HERE}))

const SHAPES = {
  traces: {of_resource: 'resourceSpans', of_scope: 'scopeSpans', items: 'spans'},
  logs: {of_resource: 'resourceLogs', of_scope: 'scopeLogs', items: 'logRecords'},
} as const

interface Case {
  readonly signal: IngestSignal
  readonly bad: object
  readonly resource?: unknown
  readonly scope?: unknown
}

let made = 0
const goodOf = (signal: IngestSignal): object =>
  signal === 'traces' ? span({spanId: spanId()}) : {timeUnixNano: ns(2_000), eventName: `good ${++made}`}
const nameOf = (good: object) => String('spanId' in good ? good.spanId : (good as {eventName?: unknown}).eventName)

const CASES: readonly Case[] = [
  ...OF_SPANS.map(item => ({signal: 'traces' as const, bad: item})),
  ...OF_RECORDS.map(item => ({signal: 'logs' as const, bad: item})),
  ...(['traces', 'logs'] as const).flatMap(signal => {
    const of = {signal, bad: goodOf(signal)}
    return [
      ...[HERE, {attributes: HERE}, {attributes: [{key: 'service.name', value: HERE}]}].map(resource => ({
        ...of,
        resource,
      })),
      ...[HERE, {name: HERE, version: HERE}].map(scope => ({...of, scope})),
    ]
  }),
]

/** Intake of a request in which each value is in that place of a source of its own, beside an item that is good. */
async function lostIn({signal, bad, resource = {}, scope = {}}: Case, values: typeof VALUES) {
  const {of_resource, of_scope, items} = SHAPES[signal]
  const goods = values.map(() => goodOf(signal))
  const parts = values.map(([, value], at) =>
    JSON.stringify({resource, [of_scope]: [{scope, [items]: [bad, goods[at]]}]}).replaceAll(PLACE, () => value),
  )
  const rows = new Set<string>()
  const {intakes} = intakeOf({
    note(row, bodies, done) {
      const record = decodeRecord(Buffer.from(encodeSettlement(row)))
      JSON.parse(record.row!.detail)
      if (bodies?.request_body) JSON.parse(Buffer.from(bodies.request_body).toString())
      rows.add(signal === 'traces' ? row.log!.span_id : (row.log!.span_name ?? ''))
      setImmediate(done)
    },
    most_body_bytes: 8 << 20,
  })
  const body = Buffer.from(`{"${of_resource}":[${parts.join(',')}]}`)
  try {
    const {taken, rejected} = await intakes.take(body, {signal, encoding: 'json'}, SENDER)
    const all = taken + [...rejected.values()].reduce((sum, count) => sum + count, 0)
    return all === 2 * values.length ? goods.map(nameOf).filter(name => !rows.has(name)) : [`${all} in all`]
  } catch (fault) {
    return [String(fault)]
  }
}

test('with any value in the place of any member, the item beside it is taken, and can be written', async () => {
  const wrong: unknown[] = []
  for (const one of CASES) {
    if ((await lostIn(one, VALUES)).length === 0) continue
    // which of them it was
    for (const value of VALUES) {
      const lost = await lostIn(one, [value])
      if (lost.length > 0) wrong.push({...one, value: value[0], lost})
    }
  }
  expect(wrong).toEqual([])
}, 60_000)
