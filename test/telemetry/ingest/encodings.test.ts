import {createRequire} from 'node:module'
import {gzipSync, zstdCompressSync} from 'node:zlib'
import {expect, test} from 'vitest'
import type {LogRow} from '../../support/gateway.ts'
import {decodedReply, encoded} from '../decoder.ts'
import {attribute, attributes, ingestHouse, ns, request, span, spanId} from './house.ts'

const require = createRequire(import.meta.url)
const PROTOBUF = {'content-type': 'application/x-protobuf'}
const PARENT = 'b7ad6b7169203331'
const EVENT_AT = ns(1_500)

/** Every kind of value, an event, a link and a state, as JSON that is the same in both encodings. */
function whole() {
  return span({
    parentSpanId: PARENT,
    traceState: 'vendor=1',
    attributes: [
      ...attributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        ok: true,
        count: 42,
        part: 0.5,
      }),
      {key: 'below', value: {intValue: '-7'}},
      {key: 'wide', value: {intValue: '9223372036854775807'}},
      {key: 'list', value: {arrayValue: {values: [{stringValue: 'a'}, {intValue: '1'}, {}]}}},
      {key: 'members', value: {kvlistValue: {values: [attribute('inner', 'b')]}}},
      {key: 'bytes', value: {bytesValue: 'AQID'}},
      {key: 'nothing', value: {}},
    ],
    events: [{timeUnixNano: EVENT_AT, name: 'first token', attributes: attributes({at: 1})}],
    links: [{traceId: '1'.repeat(32), spanId: '2'.repeat(16)}],
    status: {code: 2, message: 'it failed'},
    droppedAttributesCount: 3,
  })
}

/** The row without what names it. */
function alike({id: _, trace_id, span_id, internal_trace_id, created_at, ...row}: LogRow) {
  return row
}

test('TI1: JSON and protobuf of one span give equal rows, and what it said is the same', async () => {
  const {gateway, post, rows} = await ingestHouse()
  const first = whole()
  const second = {...first, traceId: 'f'.repeat(32)}
  expect((await post(JSON.stringify(request([first])))).status).toBe(200)
  const reply = await post(encoded('traces', request([second])), PROTOBUF)
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/x-protobuf'])
  expect(decodedReply(Buffer.from(await reply.arrayBuffer()))).toEqual({})
  const found = await rows()
  expect(found).toHaveLength(2)
  expect(alike(found[0]!)).toEqual(alike(found[1]!))
  expect(found[0]).toMatchObject({
    source: 'otel',
    endpoint: 'ingestTelemetry',
    span_name: 'chat gpt-4o-mini',
    parent_span_id: PARENT,
    is_success: false,
    response_status_code: 500,
    error: 'it failed',
    metadata: {key: ['service.name'], value: ['shop']},
    span: {kind: 'client', operation: 'chat', is_charged: true, scope: 'instrumentation', dropped: 3},
  })
  const bodies = await Promise.all(
    found.map(async ({id}) => (await gateway.admin<{request: {body: unknown}}>('GET', `/logs/${id}`)).request.body),
  )
  expect(bodies[0]).toEqual(bodies[1])
  expect(bodies[0]).toEqual({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      ok: true,
      count: 42,
      part: 0.5,
      below: -7,
      wide: '9223372036854775807',
      list: ['a', 1, null],
      members: {inner: 'b'},
      bytes: 'AQID',
    },
    events: [{name: 'first token', time_ns: EVENT_AT, attributes: {at: 1}}],
    links: [{trace_id: '1'.repeat(32), span_id: '2'.repeat(16)}],
    status_message: 'it failed',
    tracestate: 'vendor=1',
    resource: {'service.name': 'shop'},
    scope: {name: 'instrumentation', version: '1.2.3'},
  })
}, 60_000)

test('TI1: all spellings of numbers, kinds and ids are the same span', async () => {
  const {post, rows} = await ingestHouse()
  const [start, end] = [ns(2_000, 1n), ns(2_000, 155_000_003n)]
  const times = `"startTimeUnixNano":${start},"endTimeUnixNano":${end}`
  const texts = `"startTimeUnixNano":"${start}","endTimeUnixNano":"${end}"`
  const trace = 'ABCDEF0123456789abcdef0123456789'
  const whole = (id: string, rest: string) =>
    `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${trace}","spanId":"${id}",${rest}}]}],"more":[1]}]}`
  const count = (value: string) => `"attributes":[{"key":"gen_ai.usage.input_tokens","value":{"intValue":${value}}}]`
  const bodies = [
    whole('AAAAAAAAAAAAAAA1', `${texts},"kind":3,${count('"42"')}`),
    whole('aaaaaaaaaaaaaaa2', `${times},"kind":"SPAN_KIND_CLIENT",${count('42')}`),
    whole('aaaaaaaaaaaaaaa3', `${texts} , "extra":null,"kind" : 3,${count('"42"')},"parentSpanId":""`),
    whole('aaaaaaaaaaaaaaa4', `${times},"kind":3,"parentSpanId":"0000000000000000",${count('42')}`),
  ]
  for (const body of bodies) {
    const reply = await post(body)
    expect([reply.status, await reply.json()]).toEqual([200, {}])
  }
  const found = await rows()
  expect(found.map(({span_id}) => span_id).toSorted()).toEqual([1, 2, 3, 4].map(digit => `aaaaaaaaaaaaaaa${digit}`))
  for (const row of found) {
    expect(row.trace_id).toBe(trace.toLowerCase())
    expect(row.parent_span_id).toBeNull()
    expect(row.span).toMatchObject({kind: 'client', start_ns: start, end_ns: end})
    expect(row.phases_ms).toMatchObject({last_byte: 155})
  }
}, 60_000)

test('TI1: gzip and zstd are decoded, parameters of the type mean nothing, and both paths are served', async () => {
  const {post, rows} = await ingestHouse()
  const body = () => encoded('traces', request([span()]))
  const sent: readonly (readonly [Uint8Array, Record<string, string>, string])[] = [
    [gzipSync(body()), {'content-type': 'application/x-protobuf; charset=utf-8', 'content-encoding': 'gzip'}, PATHS[0]],
    [zstdCompressSync(body()), {...PROTOBUF, 'content-encoding': 'zstd'}, PATHS[1]],
    [body(), {'content-type': 'application/protobuf'}, PATHS[1]],
  ]
  for (const [bytes, headers, path] of sent) expect((await post(bytes, headers, path)).status).toBe(200)
  expect(await rows()).toHaveLength(3)
}, 60_000)

const PATHS = ['/v1/otel/v1/traces', '/otel/v1/traces'] as const

test('TI1: a request of nothing takes nothing', async () => {
  const {post, rows} = await ingestHouse()
  expect((await post('{}')).status).toBe(200)
  expect((await post(new Uint8Array(0), PROTOBUF)).status).toBe(200)
  expect(await post(JSON.stringify(request([])))).toMatchObject({status: 200})
  expect(await rows()).toEqual([])
}, 60_000)

test.each(['json', 'protobuf'] as const)(
  'TI1: the bytes of the official exporters (%s) are taken',
  async encoding => {
    const {gateway, post, rows} = await ingestHouse()
    const {JsonTraceSerializer, ProtobufTraceSerializer} = require('@opentelemetry/otlp-transformer')
    const now_s = Math.floor(Date.now() / 1000)
    const context = {traceId: 'd4cda95b652f4a1592b449d5929fda1b', spanId: '6e0c63257de34c92', traceFlags: 1}
    const readable = {
      name: 'chat gpt-4o-mini',
      kind: 2,
      spanContext: () => context,
      parentSpanContext: {...context, spanId: PARENT},
      startTime: [now_s - 2, 123_456_789],
      endTime: [now_s - 1, 123_456_790],
      duration: [1, 1],
      ended: true,
      status: {code: 1},
      attributes: {'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 7, list: ['a', 'b']},
      events: [{name: 'first', time: [now_s - 2, 5], attributes: {a: 1}}],
      links: [],
      resource: {attributes: {'service.name': 'sdk'}, asyncAttributesPending: false},
      instrumentationScope: {name: 'official', version: '1'},
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
    const serializer = encoding === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer
    const bytes = serializer.serializeRequest([readable]) as Uint8Array
    const reply = await post(bytes, encoding === 'json' ? {} : PROTOBUF)
    expect(reply.status).toBe(200)
    const answer = serializer.deserializeResponse(new Uint8Array(await reply.arrayBuffer()))
    expect(answer.partialSuccess ?? {}).toMatchObject({})
    const [row] = await rows()
    expect(row).toMatchObject({
      trace_id: context.traceId,
      span_id: context.spanId,
      parent_span_id: PARENT,
      metadata: {key: ['service.name'], value: ['sdk']},
      span: {kind: 'client', scope: 'official', start_ns: `${now_s - 2}123456789`, end_ns: `${now_s - 1}123456790`},
    })
    const {request: talk} = await gateway.admin<{request: {body: {attributes: object}}}>('GET', `/logs/${row!.id}`)
    expect(talk.body.attributes).toEqual(readable.attributes)
  },
  60_000,
)

test('the order of fields means nothing: a resource may be behind its spans', async () => {
  const {gateway, post, rows} = await ingestHouse()
  const id = spanId()
  const field = (number: number, bytes: Buffer) => {
    const length = Buffer.from([(number << 3) | 2, (bytes.length & 0x7f) | 0x80, bytes.length >> 7])
    return Buffer.concat([length, bytes])
  }
  const inner = encoded('traces', request([span({spanId: id})]))
  // resource_spans holds the resource first; here it comes last
  const parts = fieldsOf(fieldsOf(inner)[0]!.bytes)
  const turned = Buffer.concat(parts.toReversed().map(({number, bytes}) => field(number, bytes)))
  expect((await post(field(1, turned), PROTOBUF)).status).toBe(200)
  const [row] = await rows()
  expect(row).toMatchObject({span_id: id, metadata: {key: ['service.name'], value: ['shop']}})
  expect(gateway.lines.filter(line => line.includes('"level":"error"'))).toEqual([])
}, 60_000)

/** The fields of a message whose fields all have lengths. */
function fieldsOf(bytes: Buffer): {number: number; bytes: Buffer}[] {
  const found: {number: number; bytes: Buffer}[] = []
  for (let at = 0; at < bytes.length; ) {
    const number = bytes[at++]! >> 3
    let [length, shift] = [0, 0]
    for (;;) {
      const byte = bytes[at++]!
      length |= (byte & 0x7f) << shift
      shift += 7
      if (byte < 0x80) break
    }
    found.push({number, bytes: bytes.subarray(at, at + length)})
    at += length
  }
  return found
}
