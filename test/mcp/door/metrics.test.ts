import {Registry} from 'prom-client'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {mcpMetrics} from '../../../src/mcp/records/metrics.ts'
import {openRaw, type RawFixture} from '../../support/mcp/raw-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'

/** Section 11.1: counts of MCP on /metrics; section 7: the trace of a client, to the server and with our span. */
let mcp: McpGateway
let raw: RawFixture
beforeAll(async () => {
  raw = await openRaw({
    'tools/call': (answer, seen) =>
      answer.result({content: [], isError: seen.body.includes('"bad"'), structuredContent: {seen: seen.body}}),
  })
  mcp = await McpGateway.open()
  await mcp.server('raw', raw.url)
})
afterAll(async () => {
  await mcp?.close()
  await raw?.close()
})

async function page(): Promise<string> {
  return (await fetch(`${mcp.gateway.url}/metrics`)).text()
}

const LABELS = /^mcp_requests_total\{server="([^"]*)",method="([^"]*)",outcome="([^"]*)"\} (\d+)$/gm

async function counts(): Promise<Record<string, number>> {
  const found = [...(await page()).matchAll(LABELS)]
  return Object.fromEntries(
    found.map(([, server, method, outcome, count]) => [`${server} ${method} ${outcome}`, Number(count)]),
  )
}

const call = (name: string, headers: Record<string, string> = {}, meta: object = {}) =>
  mcp.post('raw', {jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name, arguments: {}, _meta: meta}}, headers)

test('requests are counted by server, method and outcome; what clients invent is no label', async () => {
  await call('good')
  await call('good')
  await call('bad')
  await mcp.post('raw', {jsonrpc: '2.0', id: 1, method: 'invented/"method\n'})
  await call('good', {'x-gateway-api-key': 'wrong'})
  await mcp.post('no-such-server', {jsonrpc: '2.0', id: 1, method: 'tools/list'})
  const found = await counts()
  expect(found).toMatchObject({'raw tools/call ok': 2, 'raw tools/call tool_error': 1, '- other unauthenticated': 1})
  expect(Object.keys(found).filter(key => /invented|no-such/.test(key))).toEqual([])
  expect(Object.keys(found).some(key => key.startsWith('raw other '))).toBe(true)
  const text = await page()
  expect(text).toMatch(/^mcp_request_duration_seconds_count\{method="tools\/call"\} 3$/m)
  for (const name of ['mcp_pool_connections', 'mcp_client_sessions', 'mcp_held_calls'])
    expect(text).toMatch(new RegExp(`^${name} \\d+$`, 'm'))
})

test('a session and its connection are counted while they last', async () => {
  const before = Number(/^mcp_client_sessions (\d+)$/m.exec(await page())![1])
  await mcp.legacy('raw', {capabilities: {}})
  const text = await page()
  expect(Number(/^mcp_client_sessions (\d+)$/m.exec(text)![1])).toBe(before + 1)
  expect(Number(/^mcp_pool_connections (\d+)$/m.exec(text)![1])).toBeGreaterThan(0)
})

test('the page has no more than 200 servers of their own', async () => {
  const registry = new Registry()
  const metrics = mcpMetrics(registry)
  for (let number = 0; number < 300; number++)
    metrics.ended({server: `s${number}`, method: 'tools/list', outcome: 'ok', duration_ms: 1})
  const lines = (await registry.metrics()).split('\n').filter(line => line.startsWith('mcp_requests_total{'))
  expect(lines).toHaveLength(201)
  expect(lines.at(-1)).toBe('mcp_requests_total{server="other",method="tools/list",outcome="ok"} 100')
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const seenMeta = async (response: Response) => {
  const text = await response.text()
  const line = text.split('\n').find(each => each.startsWith('data: {'))
  const {result} = JSON.parse(line?.slice(6) ?? text)
  return JSON.parse(result.structuredContent.seen).params._meta as Record<string, string>
}

test.each([
  [
    'of headers',
    {traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'a=1', baggage: 'b=2'},
    {},
    {tracestate: 'a=1', baggage: 'b=2'},
  ],
  [
    'of _meta, which wins',
    {traceparent: `00-${'1'.repeat(32)}-${SPAN}-01`, tracestate: 'x=9', baggage: 'y=9'},
    {traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'a=1'},
    {tracestate: 'a=1'},
  ],
  ['with a state that belongs to no trace', {'x-gateway-trace-id': TRACE, tracestate: 'a=1'}, {}, {}],
] as const)('the trace %s reaches the server, with our span as parent', async (_, headers, meta, carried) => {
  const {traceparent, tracestate, baggage} = await seenMeta(await call('good', headers, meta))
  expect(traceparent).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-01$`))
  expect(traceparent).not.toContain(SPAN)
  expect({tracestate, baggage}).toEqual({tracestate: undefined, baggage: undefined, ...carried})
  const [row] = await mcp.gateway.logs()
  expect(row).toMatchObject({trace_id: TRACE, span_name: 'tools/call good'})
})
