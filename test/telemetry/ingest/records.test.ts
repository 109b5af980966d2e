import {expect, test} from 'vitest'
import {encoded} from '../decoder.ts'
import {attributes, ingestHouse, ns, request, span, spanId, TRACE} from './house.ts'

const LOGS = '/v1/otel/v1/logs'
const PROTOBUF = {'content-type': 'application/x-protobuf'}

const logsOf = (records: readonly object[]) => ({
  resourceLogs: [
    {
      resource: {attributes: attributes({'service.name': 'shop'})},
      scopeLogs: [{scope: {name: 'instrumentation'}, logRecords: records}],
    },
  ],
})

test('log records are rows without a duration and without a cost, in either encoding, each once', async () => {
  const {gateway, post, rows} = await ingestHouse()
  const parent = spanId()
  const record = {
    timeUnixNano: ns(1_000, 7n),
    severityNumber: 9,
    severityText: 'INFO',
    body: {stringValue: 'what happened'},
    attributes: attributes({
      'event.name': 'gen_ai.client.inference.operation.details',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.usage.input_tokens': 100,
    }),
    traceId: TRACE,
    spanId: parent,
  }
  for (let times = 0; times < 2; times++) {
    const reply = await post(JSON.stringify(logsOf([record])), {}, LOGS)
    expect([reply.status, await reply.json()]).toEqual([200, {}])
    expect((await post(encoded('logs', logsOf([record])), PROTOBUF, '/otel/v1/logs')).status).toBe(200)
  }
  const found = await rows()
  expect(found).toHaveLength(1)
  expect(found[0]).toMatchObject({
    trace_id: TRACE,
    parent_span_id: parent,
    span_name: 'gen_ai.client.inference.operation.details',
    cost: 0,
    req_units: 0,
    response_time: 0,
    ai_model: 'gpt-4o-mini',
    span: {operation: 'chat', is_charged: false, start_ns: record.timeUnixNano, end_ns: record.timeUnixNano},
  })
  const row = await gateway.admin<{request: {body: {attributes: object}}}>('GET', `/logs/${found[0]!.id}`)
  expect(row.request.body.attributes).toMatchObject({'log.body': 'what happened', 'log.severity': 'INFO'})
}, 60_000)

test('a record without a trace is a trace of its own; its time may be that of its observation', async () => {
  const {post, rows} = await ingestHouse()
  const observed = ns(500)
  await post(JSON.stringify(logsOf([{observedTimeUnixNano: observed, body: {stringValue: 'a'}}])), {}, LOGS)
  await post(JSON.stringify(logsOf([{observedTimeUnixNano: observed, body: {stringValue: 'b'}}])), {}, LOGS)
  const found = await rows()
  expect(new Set(found.map(({trace_id}) => trace_id)).size).toBe(2)
  for (const row of found) {
    expect(row).toMatchObject({parent_span_id: null, span_name: 'log record', span: {start_ns: observed}})
    expect(row.trace_id).toMatch(/^[\da-f]{32}$/)
  }
}, 60_000)

test('a record that SDKs made outside of a trace, with ids of zeros, is a trace of its own', async () => {
  const {post, rows} = await ingestHouse()
  const record = {traceId: '0'.repeat(32), spanId: '0'.repeat(16), timeUnixNano: ns(500), severityText: 'INFO'}
  const reply = await post(JSON.stringify(logsOf([record])), {}, LOGS)
  expect([reply.status, await reply.json()]).toEqual([200, {}])
  // the same bytes by protobuf are the same record
  expect((await post(encoded('logs', logsOf([record])), PROTOBUF, LOGS)).status).toBe(200)
  const found = await rows()
  expect(found).toHaveLength(1)
  expect(found[0]).toMatchObject({parent_span_id: null, span_name: 'INFO'})
  expect(found[0]!.trace_id).toMatch(/^(?!0{32})[\da-f]{32}$/)
}, 60_000)

test('one bad record is one bad record, and spans that come as records are none', async () => {
  const {post, rows} = await ingestHouse()
  const records = [{timeUnixNano: 'yesterday'}, {timeUnixNano: ns(1), traceId: 'abc'}, {timeUnixNano: ns(1)}]
  const reply = await post(JSON.stringify(logsOf(records)), {}, LOGS)
  expect([reply.status, await reply.json()]).toEqual([
    200,
    {
      partialSuccess: {
        rejectedLogRecords: '2',
        errorMessage: expect.stringMatching(/^1 log record: has a time .* 1 log record: has no trace id .*\.$/),
      },
    },
  ])
  const spans = await post(encoded('traces', request([span()])), PROTOBUF, LOGS)
  expect(spans.status).toBe(200)
  expect(Buffer.from(await spans.arrayBuffer()).toString()).toContain('1 log record: cannot be read.')
  expect(await rows()).toHaveLength(1)
}, 60_000)
