import {join} from 'node:path'
import {gzipSync} from 'node:zlib'
import Sqlite from 'better-sqlite3'
import {expect, onTestFinished, test} from 'vitest'
import {ADMIN_KEY} from '../../support/gateway.ts'
import {encoded} from '../decoder.ts'
import {attribute, attributes, ingestHouse, ns, PATH, request, span, spanId, TRACE} from './house.ts'

const PROTOBUF = {'content-type': 'application/x-protobuf'}

/** A `google.rpc.Status` in protobuf: a code below 128 and a message. */
function statusIn(body: Buffer): {code: number; message: string} {
  expect([body[0], body[2]]).toEqual([0x08, 0x12])
  const [first, second] = [body[3]!, body[4]!]
  const is_long = first >= 0x80
  return {
    code: body[1]!,
    message: body.toString('utf8', is_long ? 5 : 4, 4 + (is_long ? 1 + (first & 0x7f) + second * 128 : first)),
  }
}

test('a caller without a key, without the scope or with an admin key is refused before the body is read', async () => {
  const {gateway, post} = await ingestHouse()
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const made = {name: 'calls', workspace_id: workspace!.id, scopes: ['completions.write']}
  const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', made)
  const refused = async (headers: Record<string, string>) => {
    const reply = await post('{', headers)
    return [reply.status, await reply.json()]
  }
  expect(await refused({'x-gateway-api-key': key})).toEqual([
    403,
    {code: 7, message: expect.stringContaining('it needs the scope logs.write')},
  ])
  expect(await refused({'x-gateway-api-key': 'gk-nobody'})).toEqual([401, {code: 16, message: expect.any(String)}])
  expect(await refused({'x-gateway-api-key': ADMIN_KEY})).toEqual([403, {code: 7, message: expect.any(String)}])
  const reply = await post(new Uint8Array([1]), {...PROTOBUF, 'x-gateway-api-key': 'gk-nobody'})
  expect([reply.status, reply.headers.get('content-type')]).toEqual([401, 'application/x-protobuf'])
  expect(statusIn(Buffer.from(await reply.arrayBuffer()))).toEqual({
    code: 16,
    message: 'The API key is not known to this gateway. Check that it is whole and was not deleted.',
  })
}, 60_000)

test('a type or a coding that is not read is 415, in its sentence', async () => {
  const {post, rows} = await ingestHouse()
  const body = JSON.stringify(request([span()]))
  const refused = async (headers: Record<string, string>) => {
    const reply = await post(body, headers)
    return [reply.status, ((await reply.json()) as {message: string}).message]
  }
  expect(await refused({'content-type': 'text/plain'})).toEqual([415, expect.stringContaining('text/plain')])
  expect(await refused({'content-type': 'application/grpc'})).toEqual([415, expect.stringContaining('x-protobuf')])
  expect(await refused({'content-encoding': 'lzw'})).toEqual([415, expect.stringContaining('lzw')])
  expect(await refused({'content-encoding': 'gzip'})).toEqual([400, expect.stringContaining('gzip')])
  expect(await rows()).toEqual([])
}, 60_000)

test('a body of 256 MB in a quarter of a megabyte of gzip is 413 at once, and memory stays flat', async () => {
  const {post} = await ingestHouse({MAX_JSON_PAYLOAD_SIZE_IN_MB: '8'})
  const bomb = gzipSync(Buffer.alloc(256 << 20, 0x20), {level: 1})
  const before = process.memoryUsage().rss
  const started = performance.now()
  const reply = await post(bomb, {'content-encoding': 'gzip'})
  expect([reply.status, await reply.json()]).toEqual([413, {code: 8, message: expect.stringContaining('8 MB')}])
  expect(performance.now() - started).toBeLessThan(5_000)
  expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20)
  const plain = await post(' '.repeat(9 << 20))
  expect([plain.status, await plain.json()]).toEqual([413, {code: 8, message: expect.stringContaining('8 MB')}])
}, 60_000)

const NO_JSON: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['a half', '{"resourceSpans":['],
  ['a list', '[]'],
  ['a text', '"spans"'],
  ['spans that are no list', '{"resourceSpans":{}}'],
  ['250,000 levels', '['.repeat(250_000)],
  ['levels of objects', `${'{"a":'.repeat(400)}1${'}'.repeat(400)}`],
  ['millions of values', `{"resourceSpans":[${'{},'.repeat(1_100_000)}{}]}`],
]

test('a body that is no JSON of OTLP is 400, whatever it is', async () => {
  const {post, rows} = await ingestHouse()
  for (const [name, body] of NO_JSON) {
    const reply = await post(body)
    const fault = {code: 3, message: expect.stringContaining('valid JSON')}
    expect([name, reply.status, await reply.json()]).toEqual([name, 400, fault])
  }
  expect(await rows()).toEqual([])
}, 60_000)

const NO_PROTOBUF: readonly (readonly [string, Buffer])[] = [
  ['a text', Buffer.from('{"resourceSpans":[]}')],
  ['a field that is cut off', encoded('traces', request([span()])).subarray(0, 40)],
  ['a length beyond the end', Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])],
  ['a number without an end', Buffer.from([0x0a, ...new Array<number>(11).fill(0x80)])],
  ['field 0', Buffer.from([0x02, 0x00])],
  ['a group', Buffer.from([0x0b, 0x0c])],
]

test('a body that is no protobuf of OTLP is 400, in protobuf', async () => {
  const {post, rows} = await ingestHouse()
  for (const [name, body] of NO_PROTOBUF) {
    const reply = await post(body, PROTOBUF)
    const {code, message} = statusIn(Buffer.from(await reply.arrayBuffer()))
    const text = expect.stringContaining('not an OTLP request in protobuf')
    expect([name, reply.status, code, message]).toEqual([name, 400, 3, text])
  }
  expect(await rows()).toEqual([])
}, 60_000)

test('100,000 spans are 413 with the number that is taken, and none of them is', async () => {
  const {post, rows} = await ingestHouse()
  const one = JSON.stringify(span())
  const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[${new Array(100_000).fill(one).join(',')}]}]}]}`
  const reply = await post(body)
  expect([reply.status, await reply.json()]).toEqual([413, {code: 8, message: expect.stringContaining('10000 spans')}])
  const empty = Buffer.concat(new Array<Buffer>(200_000).fill(Buffer.from([0x0a, 0x00])))
  expect((await post(empty, PROTOBUF)).status).toBe(413)
  expect(await rows()).toEqual([])
}, 60_000)

test('5,000 spans at once are taken, and a call that comes meanwhile is not held up', async () => {
  const {gateway, post} = await ingestHouse()
  const spans = Array.from({length: 5_000}, () => span({attributes: [attribute('text', 'x'.repeat(500))]}))
  const taken = post(JSON.stringify(request(spans)))
  const body = {model: 'echo', messages: [{role: 'user', content: 'hi'}]}
  expect((await gateway.chat(body, {'x-gateway-provider': '@demo'})).status).toBe(200)
  expect((await taken).status).toBe(200)
  await gateway.app.flushed()
  const {total} = await gateway.admin<{total: number}>('GET', '/logs?page_size=1')
  expect(total).toBe(5_001)
}, 60_000)

test('a value that is nested too deep costs its span alone, in either encoding', async () => {
  const {post, rows} = await ingestHouse()
  const deep = (levels: number): object => (levels === 0 ? {intValue: '1'} : {arrayValue: {values: [deep(levels - 1)]}})
  const good = spanId()
  const spans = [span({attributes: [{key: 'deep', value: deep(60)}]}), span({spanId: good})]
  const reply = await post(JSON.stringify(request(spans)))
  expect(await reply.json()).toEqual({
    partialSuccess: {rejectedSpans: '1', errorMessage: '1 span: cannot be read.'},
  })
  const other = [span({attributes: [{key: 'deep', value: deep(60)}]}), span({spanId: spanId()})]
  expect((await post(encoded('traces', request(other)), PROTOBUF)).status).toBe(200)
  expect(await rows()).toHaveLength(2)
}, 60_000)

test('an attribute of a source that is nested too deep costs none of its spans, in either encoding', async () => {
  const {post, rows} = await ingestHouse()
  const deep = (levels: number): object => (levels === 0 ? {intValue: '1'} : {arrayValue: {values: [deep(levels - 1)]}})
  const of = (spans: object[]) => ({
    resourceSpans: [
      {
        resource: {attributes: [{key: 'deep', value: deep(60)}, attribute('service.name', 'shop')]},
        scopeSpans: [{spans}],
      },
    ],
  })
  const reply = await post(JSON.stringify(of([span()])))
  expect([reply.status, await reply.json()]).toEqual([200, {}])
  expect((await post(encoded('traces', of([span()])), PROTOBUF)).status).toBe(200)
  const found = await rows()
  expect(found).toHaveLength(2)
  for (const row of found) expect(row.metadata).toEqual({key: ['service.name'], value: ['shop']})
}, 60_000)

test('log records that come as spans are spans that cannot be read: 200, never 500', async () => {
  const {post, rows} = await ingestHouse()
  const records = [{timeUnixNano: ns(1), severityNumber: 9, severityText: 'INFO', body: {stringValue: 'hi'}}]
  const body = encoded('logs', {resourceLogs: [{scopeLogs: [{logRecords: records}]}]})
  const reply = await post(body, PROTOBUF)
  expect(reply.status).toBe(200)
  expect(Buffer.from(await reply.arrayBuffer()).toString()).toContain('1 span: cannot be read.')
  expect(await rows()).toEqual([])
}, 60_000)

/** Members of a span, and why it is not taken; null: it is. */
const SPANS: readonly (readonly [string, Record<string, unknown>, string | null])[] = [
  ['base64', {traceId: 'Cvdlf5NY9VD4hAAAAAAAAA==', spanId: 'AAAAAAAAAAE='}, 'has no trace id'],
  ['zeros', {traceId: '0'.repeat(32)}, 'has no trace id'],
  ['three bytes', {spanId: 'abcdef'}, 'has no trace id'],
  ['a number', {traceId: 17}, 'has no trace id'],
  ['a parent of another length', {parentSpanId: 'abc'}, 'has no trace id'],
  ['a date', {startTimeUnixNano: '2026-01-01T00:00:00Z'}, 'has a time'],
  ['two halves', {startTimeUnixNano: {low: 1, high: 2}}, 'has a time'],
  ['a negative time', {startTimeUnixNano: '-1'}, 'has a time'],
  ['a time beyond 64 bits', {endTimeUnixNano: '99999999999999999999'}, 'has a time'],
  ['no time', {startTimeUnixNano: undefined, endTimeUnixNano: undefined}, 'began before'],
  ['the year 2100', {startTimeUnixNano: '4102444800000000000'}, 'begins more than a day'],
  ['an end in the year 2100', {endTimeUnixNano: '4102444800000000000'}, null],
  ['a parent of zeros', {parentSpanId: '0'.repeat(16)}, null],
]

test('ids and times that are none reject their span alone, with the reason', async () => {
  const {post, rows} = await ingestHouse()
  for (const [name, given, why] of SPANS) {
    const reply = await post(JSON.stringify(request([span(given)])))
    const body = (await reply.json()) as {partialSuccess?: {errorMessage: string}}
    expect([name, reply.status]).toEqual([name, 200])
    expect([name, body.partialSuccess?.errorMessage ?? null]).toEqual([
      name,
      why === null ? null : expect.stringContaining(why),
    ])
  }
  expect(await rows()).toHaveLength(SPANS.filter(([, , why]) => why === null).length)
}, 60_000)

test('a span of one id twice in a request is one row, the first of them', async () => {
  const {send, rows} = await ingestHouse()
  const id = spanId()
  await send(span({spanId: id, name: 'first'}), span({spanId: id, name: 'second', startTimeUnixNano: ns(3_000)}))
  expect((await rows()).map(({span_name}) => span_name)).toEqual(['first'])
}, 60_000)

test('texts that no store takes are cleaned, and secrets of headers and addresses are masked', async () => {
  const {gateway, send, rows} = await ingestHouse()
  await send(
    span({
      name: 'nul \u0000 and half \ud800',
      attributes: attributes({
        'http.request.header.authorization': 'Bearer planted-secret-1',
        'http.request.header.x_api_key': 'planted-secret-2',
        'http.request.header.accept': 'text/html',
        'rpc.grpc.request.metadata.authorization': 'planted-secret-1',
        'rpc.response.metadata.x-request-id': 'shown-request-id',
        'url.full': 'https://example.com/a?key=planted-secret-3&b=1',
        'url.query': 'api_key=planted-secret-4',
        __proto__x: 'kept',
      }),
      status: {code: 2, message: 'failed at https://example.com/?token=planted-secret-5'},
    }),
  )
  const [row] = await rows()
  expect(row!.span_name).toBe('nul \ufffd and half \ufffd')
  const shown = JSON.stringify(await gateway.admin('GET', `/logs/${row!.id}`))
  expect(shown).not.toMatch(/planted-secret-[1-4]/)
  expect(shown).toContain('text/html')
  expect(shown).toContain('shown-request-id')
  expect(JSON.stringify(row)).not.toContain('planted-secret-5')
}, 60_000)

test('a caller that keeps no bodies keeps none of a span', async () => {
  const {gateway, post, rows} = await ingestHouse()
  const talk = span({attributes: [attribute('gen_ai.input.messages', 'planted prompt')]})
  await post(JSON.stringify(request([talk])), {'x-gateway-debug': 'false'})
  const [row] = await rows()
  expect(JSON.stringify(await gateway.admin('GET', `/logs/${row!.id}`))).not.toContain('planted prompt')
}, 60_000)

test('while the database takes nothing, a request is 503 and comes again later, with nothing half', async () => {
  const {gateway, post, rows} = await ingestHouse({DB_QUERY_TIMEOUT_MS: '500'})
  const other = new Sqlite(join(gateway.folder, 'traffic.db'))
  onTestFinished(() => void other.close())
  other.exec('begin immediate')
  const held = request([span(), span()])
  // the first is let in: all before it was written
  for (let at = 0; at < 2; at++) await post(JSON.stringify(request([span()])))
  const reply = await post(JSON.stringify(held))
  expect([reply.status, reply.headers.get('retry-after'), await reply.json()]).toEqual([
    503,
    '2',
    {code: 14, message: expect.stringContaining('cannot be brought up to date')},
  ])
  other.exec('rollback')
  const again = async () => (await post(JSON.stringify(held))).status
  await expect.poll(again, {timeout: 30_000}).toBe(200)
  expect(
    (await rows()).filter(({span_id}) =>
      held.resourceSpans[0]!.scopeSpans[0]!.spans.some(each => (each as {spanId?: unknown}).spanId === span_id),
    ),
  ).toHaveLength(2)
}, 60_000)

test('another method is 405, and metrics are a path of a later version', async () => {
  const {gateway, post} = await ingestHouse()
  const reply = await gateway.call(PATH, {method: 'PUT', body: '{}', headers: {'content-type': 'application/json'}})
  expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST'])
  expect((await post('{}', {}, '/v1/otel/v1/metrics')).status).toBe(501)
  expect(TRACE).toHaveLength(32)
}, 60_000)
