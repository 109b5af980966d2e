import {expect, test} from 'vitest'
import type {LogRecord, McpLogDetail, Settlement} from '../../src/schema/records.ts'
import {readSettings} from '../../src/settings/index.ts'
import {telemetrySettings} from '../../src/settings/telemetry.ts'
import {encodeSettlement} from '../../src/store/flush/index.ts'
import {toProtobuf} from '../../src/telemetry/otlp/protobuf.ts'
import {type Generation, namesOf} from '../../src/telemetry/semconv.ts'
import {boundedJson, boundedText, CUT_MARK, MAX_VALUE_BYTES} from '../../src/telemetry/spans/bounded.ts'
import {callSpans} from '../../src/telemetry/spans/call-spans.ts'
import {spanIdOf, traceIdOf} from '../../src/telemetry/spans/ids.ts'
import {exportedRecord} from '../../src/telemetry/spans/record.ts'
import {faults} from '../settings/support.ts'
import {intent, logRecord, settlement} from '../support/records.ts'
import {spansIn} from './decoder.ts'

const source = {resource: [], scope: {name: 'gateway', version: '1'}}
const MCP: McpLogDetail = {
  server_id: 'server-1',
  method: 'tools/call',
  name: 'weather',
  client_protocol: '2025-06-18',
  client_name: 'agent',
  auth: 'api_key',
  outcome: 'tool_error',
  rpc_code: null,
  rounds: 1,
  upstream_protocol: '2025-06-18',
  upstream_transport: 'http',
}

async function spansOf(log: Partial<LogRecord>, given: Partial<Settlement> = {}, generation: Generation = '1.40') {
  const payload = encodeSettlement(settlement(intent(), {log: logRecord(log), ...given}))
  const record = exportedRecord(Buffer.from(payload))!
  const items = await callSpans(record, {names: namesOf(generation), generation, content: 'none'})
  return spansIn('application/x-protobuf', toProtobuf({signal: 'traces', source, items}))
}

test('TL31: a tool that failed has error.type tool_error; the CLIENT span is the parent of the upstream', async () => {
  const [server, client] = await spansOf({mcp: MCP, span_id: 'b7ad6b7169203331'})
  expect(server).toMatchObject({
    kind: 2,
    name: 'tools/call weather',
    status: {code: 2, message: 'tool_error'},
    attributes: {
      'error.type': 'tool_error',
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'weather',
      'mcp.request.success': false,
    },
  })
  expect(client).toMatchObject({
    kind: 3,
    span_id: 'b7ad6b7169203331',
    parent: server!.span_id,
    attributes: {'error.type': 'tool_error'},
  })
})

test('the SERVER span names the request, and the session of the old era by its digest', async () => {
  const named = {rpc_id: '"r-7"', session_digest: 'a'.repeat(32)}
  const [server, client] = await spansOf({mcp: {...MCP, ...named}})
  expect(server!.attributes).toMatchObject({'jsonrpc.request.id': 'r-7', 'mcp.session.id': 'a'.repeat(32)})
  expect(Object.keys(client!.attributes)).not.toContain('mcp.session.id')
  const [modern] = await spansOf({mcp: {...MCP, client_protocol: '2026-07-28', rpc_id: '1'}})
  expect(Object.keys(modern!.attributes)).not.toContain('mcp.session.id')
})

test.each([
  ['7', '7'],
  ['"7"', '7'],
  ['"a \\"quoted\\" id"', 'a "quoted" id'],
  // a long one is kept without its end
  [`"${'x'.repeat(63)}`, 'x'.repeat(63)],
  ['null', undefined],
  ['9007199254740993', '9007199254740993'],
])('the request id %s is the text %s', async (rpc_id, shown) => {
  const [server] = await spansOf({mcp: {...MCP, rpc_id}})
  expect(server!.attributes['jsonrpc.request.id']).toBe(shown)
})

test('a resource is never in the name of a span, and is no call of a tool', async () => {
  const [server] = await spansOf({mcp: {...MCP, method: 'resources/read', name: 'file:///secret', outcome: 'ok'}})
  expect(server!.name).toBe('resources/read')
  expect(JSON.stringify(server!.attributes)).not.toMatch(/secret|execute_tool/)
})

test('a row that comes again makes no second span of its call', async () => {
  expect(await spansOf({hook_results: undefined}, {attempt: 0, ending: 'again'})).toEqual([])
  expect(await spansOf({}, {ending: 'part'})).toHaveLength(1)
})

test('exactly one generation of names is sent', async () => {
  const usage = {input_uncached_tokens: 5, cache_write_5m_tokens: 3, output_text_tokens: 2, output_reasoning_tokens: 4}
  const names = async (generation: Generation) =>
    Object.keys((await spansOf({}, {usage}, generation)).find(({kind}) => kind === 3)!.attributes)
  const [older, latest] = [await names('1.40'), await names('latest')]
  expect(older).toEqual(expect.arrayContaining(['gen_ai.system', 'gen_ai.usage.cache_creation.input_tokens']))
  expect(latest).toEqual(
    expect.arrayContaining(['gen_ai.usage.cache_write.input_tokens', 'gen_ai.usage.reasoning.output_tokens']),
  )
  expect(latest).not.toContain('gen_ai.system')
  expect(older.some(name => /cache_write|reasoning/.test(name))).toBe(false)
})

test('a value that is too long is cut between characters, and JSON stays JSON', () => {
  const text = boundedText(`${'a'.repeat(MAX_VALUE_BYTES - 1)}${'😀'.repeat(9)}`)
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_VALUE_BYTES)
  expect([text.isWellFormed(), text.endsWith(CUT_MARK)]).toEqual([true, true])
  const json = boundedJson([{role: 'user', parts: [{type: 'text', content: '😀'.repeat(60_000)}]}])!
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(MAX_VALUE_BYTES)
  expect(JSON.parse(json)[0].parts[0].content.endsWith(CUT_MARK)).toBe(true)
  expect(boundedJson(Array.from({length: 50_000}, () => 7))).toBeUndefined()
})

test('ids of another form become their hash, the same each time', () => {
  expect(traceIdOf('0AF7')).toMatch(/^[\da-f]{32}$/)
  expect(traceIdOf('0AF7')).toBe(traceIdOf('0AF7'))
  expect(traceIdOf('0af76519-16cd-43dd-8448-eb211c80319c')).toBe('0af7651916cd43dd8448eb211c80319c')
  expect(traceIdOf('0'.repeat(32))).not.toBe('0'.repeat(32))
  expect([spanIdOf(null), spanIdOf('b7ad6b7169203331')]).toEqual([null, 'b7ad6b7169203331'])
})

const exportsOf = (env: Record<string, string>) =>
  telemetrySettings(readSettings({env, readFile: () => ''}).settings)?.exports ?? []
const COLLECTOR = 'http://collector.example.com:4318'

test('settings: what is sent and where', () => {
  expect(exportsOf({})).toEqual([])
  expect(exportsOf({OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_SDK_DISABLED: 'true'})).toEqual([])
  expect(exportsOf({OTEL_EXPORTER_OTLP_ENDPOINT: `${COLLECTOR}/base/`})).toMatchObject([
    {name: 'calls', content: 'none', target: {url: `${COLLECTOR}/base/v1/traces`, protocol: 'http/protobuf'}},
  ])
  expect(exportsOf({OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${COLLECTOR}/as-it-is`})[0]!.target.url).toBe(
    `${COLLECTOR}/as-it-is`,
  )
  const experimental = {
    EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED: 'true',
    EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR,
  }
  expect(exportsOf({...experimental, OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR})).toMatchObject([
    {name: 'calls-2', content: 'full', target: {protocol: 'http/json'}},
  ])
  expect(exportsOf({...experimental, OTEL_CONTENT: 'none'})).toMatchObject([{content: 'none'}])
  const resource = {OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,region=a%2Cb,', OTEL_SERVICE_NAME: 'mine'}
  expect(exportsOf({OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, ...resource})[0]!.resource).toEqual({
    'service.name': 'mine',
    region: 'a,b',
  })
})

test('settings: wrong ones refuse the start with a sentence that holds no secret', () => {
  const refused = (env: Record<string, string>) => faults({env}).join('\n')
  expect(refused({OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc'})).toContain('send to the OTLP/HTTP port of the collector (4318)')
  expect(refused({OTEL_RESOURCE_ATTRIBUTES: 'a=b,wrong'})).toContain('the entry "wrong" is no name=value')
  expect(refused({OTEL_EXPORTER_OTLP_HEADERS: 'a=b,secret-without-name'})).toContain('entry 2 is no name=value')
  expect(refused({OTEL_EXPORTER_OTLP_HEADERS: 'a=b,secret-without-name'})).not.toContain('secret-without-name')
  expect(refused({OTEL_PUSH_ENABLED: 'true'})).toContain('needs OTEL_ENDPOINT')
  expect(refused({OTEL_EXPORTER_OTLP_CLIENT_KEY: '/k'})).toContain(
    'needs OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE as well',
  )
})
