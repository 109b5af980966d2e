import {createServer, type IncomingHttpHeaders} from 'node:http'
import type {AddressInfo} from 'node:net'
import {expect, onTestFinished, test, vi} from 'vitest'
import {readSettings, telemetrySettings} from '../../src/settings/index.ts'
import {encodeSettlement} from '../../src/store/flush/index.ts'
import {exportedRecord} from '../../src/telemetry/spans/record.ts'
import {isSampled} from '../../src/telemetry/spans/sampler.ts'
import {startGateway} from '../support/gateway.ts'
import {intent, logRecord, settlement} from '../support/records.ts'
import {startCollector} from './collector.ts'
import {json, REPLY} from './upstream.ts'

const PARENT = 'b7ad6b7169203331'
const trace = (digit: string) => digit.repeat(32)
const SOON = {timeout: 20_000, interval: 25}
const CHAT = {model: 'gpt-4o', messages: [{role: 'user', content: 'hi'}]}

/** An upstream that keeps the headers that came; the first of each pair of requests may fail. */
async function listener() {
  const received: IncomingHttpHeaders[] = []
  const state = {fails: 0}
  const server = createServer((request, reply) => {
    received.push(request.headers)
    request.resume().on('end', () => {
      if (state.fails-- > 0) json(reply, 503, {error: {message: 'busy'}})
      else json(reply, 200, REPLY)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return {received, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`}
}

async function house(env: Record<string, string> = {}) {
  const collector = await startCollector()
  const upstream = await listener()
  const gateway = await startGateway({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    ...env,
  })
  onTestFinished(() => gateway.close())
  await gateway.provider('one', 'openai', upstream.url)
  const chat = (headers: Record<string, string>) => gateway.chat(CHAT, {'x-gateway-provider': '@one', ...headers})
  /** The traces at the collector once that of a last, sampled call is there. */
  const traces = async () => {
    await chat({traceparent: `00-${trace('f')}-${PARENT}-01`})
    await vi.waitFor(() => expect(collector.spans.map(({trace_id}) => trace_id)).toContain(trace('f')), SOON)
    return new Set(collector.spans.map(({trace_id}) => trace_id).filter(trace_id => trace_id !== trace('f')))
  }
  return {collector, upstream, gateway, chat, traces}
}

test.each<[string, readonly string[], boolean]>([
  ['always_on', ['a', 'b'], true],
  ['parentbased_always_on', ['a'], true],
  ['parentbased_always_off', ['a'], false],
])(
  'OTEL_TRACES_SAMPLER=%s goes by the flag of the parent, and by itself without one',
  async (sampler, sent, of_none) => {
    const {chat, traces, collector} = await house({OTEL_TRACES_SAMPLER: sampler})
    await chat({traceparent: `00-${trace('a')}-${PARENT}-01`})
    await chat({traceparent: `00-${trace('b')}-${PARENT}-00`})
    await chat({'x-gateway-trace-id': trace('c')})
    const found = await traces()
    expect([...found].toSorted()).toEqual([...sent.map(trace), ...(of_none ? [trace('c')] : [])])
    // an unsampled call is no call that was lost
    expect(collector.spans.filter(({trace_id}) => trace_id === trace('b')).length).toBe(sent.includes('b') ? 2 : 0)
  },
  60_000,
)

test('an attempt without a row of its own goes by the flag of its client as well', async () => {
  const {chat, traces, upstream} = await house({OTEL_TRACES_SAMPLER: 'parentbased_always_on'})
  const config = JSON.stringify({retry: {attempts: 1, on_status_codes: [503]}, provider: '@one'})
  upstream.state.fails = 1
  await chat({traceparent: `00-${trace('b')}-${PARENT}-00`, 'x-gateway-config': config})
  expect(upstream.received).toHaveLength(2)
  expect([...(await traces())]).toEqual([])
}, 60_000)

test('of a ratio the same traces are sent in every process, about so many', () => {
  const sampling = (ratio: number, name: 'traceidratio' | 'parentbased_traceidratio' = 'traceidratio') => ({
    name,
    ratio,
  })
  const record = (trace_id: string, w3c?: {is_sampled: boolean}) =>
    exportedRecord(
      Buffer.from(encodeSettlement(settlement(intent({trace_id, ...(w3c && {w3c})}), {log: logRecord()}))),
    )!
  const ids = Array.from({length: 2_000}, (_, at) => `00000000-0000-4000-8000-${at.toString(16).padStart(12, '0')}`)
  const taken = (ratio: number) => ids.filter(id => isSampled(record(id), sampling(ratio)))
  expect(taken(0)).toEqual([])
  expect(taken(1)).toEqual(ids)
  const quarter = taken(0.25)
  expect(quarter).toEqual(taken(0.25))
  const half = new Set(taken(0.5))
  expect(quarter.filter(id => !half.has(id))).toEqual([])
  // ids that only count up are not spread: those of clients are
  const spread = Array.from(
    {length: 2_000},
    (_, at) => `${'0'.repeat(16)}${(BigInt(at) * 9_223_372_036_854_775n).toString(16).padStart(16, '0')}`,
  )
  expect(spread.filter(id => isSampled(record(id), sampling(0.25))).length).toBeGreaterThan(400)
  const [inside, outside] = [`${'a'.repeat(16)}${'0'.repeat(15)}1`, 'f'.repeat(32)]
  expect(isSampled(record(inside), sampling(0.01))).toBe(true)
  expect(isSampled(record(outside), sampling(0.99))).toBe(false)
  expect(isSampled(record(inside, {is_sampled: false}), sampling(1, 'parentbased_traceidratio'))).toBe(false)
  expect(isSampled(record(outside, {is_sampled: true}), sampling(0, 'parentbased_traceidratio'))).toBe(true)
  expect(isSampled(record(inside, {is_sampled: false}), sampling(1))).toBe(true)
})

test('samplers are settings: a wrong one refuses the start, and always_off sends to nobody', () => {
  const settingsOf = (env: Record<string, string>) =>
    telemetrySettings(readSettings({env: {OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...env}}).settings)
  expect(settingsOf({OTEL_TRACES_SAMPLER: 'always_off'})).toBeUndefined()
  expect(settingsOf({OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25'})).toMatchObject({
    exports: [{sampler: {name: 'parentbased_traceidratio', ratio: 0.25}}],
  })
  expect(() => settingsOf({OTEL_TRACES_SAMPLER: 'jaeger_remote'})).toThrow('OTEL_TRACES_SAMPLER')
  expect(() => settingsOf({OTEL_TRACES_SAMPLER_ARG: '1.5'})).toThrow('OTEL_TRACES_SAMPLER_ARG')
})

test('tracestate goes to the provider with our span as the parent, and is on every span', async () => {
  const {chat, traces, collector, upstream} = await house()
  await chat({traceparent: `00-${trace('a')}-${PARENT}-01`, tracestate: 'vendor=1, other@x=2'})
  await traces()
  const [first] = upstream.received
  const spans = collector.spans.filter(({trace_id}) => trace_id === trace('a'))
  const client = spans.find(({kind}) => kind === 3)!
  expect(first).toMatchObject({
    traceparent: `00-${trace('a')}-${client.span_id}-01`,
    tracestate: 'vendor=1,other@x=2',
  })
  expect(spans.map(({trace_state}) => trace_state)).toEqual(['vendor=1,other@x=2', 'vendor=1,other@x=2'])
}, 60_000)

test('each attempt is a parent of its own, with the flag of the client', async () => {
  const {chat, traces, collector, upstream} = await house()
  const config = JSON.stringify({retry: {attempts: 1, on_status_codes: [503]}, provider: '@one'})
  upstream.state.fails = 1
  await chat({traceparent: `00-${trace('a')}-${PARENT}-00`, 'x-gateway-config': config})
  await traces()
  const clients = collector.spans.filter(({trace_id, kind}) => trace_id === trace('a') && kind === 3)
  expect(clients).toHaveLength(2)
  expect(new Set(upstream.received.slice(0, 2).map(({traceparent}) => traceparent))).toEqual(
    new Set(clients.map(({span_id}) => `00-${trace('a')}-${span_id}-00`)),
  )
}, 60_000)

test.each<[string, Record<string, string>, {traceparent?: unknown; tracestate?: unknown}]>([
  [
    'a hostile state',
    {traceparent: `00-${trace('a')}-${PARENT}-01`, tracestate: 'A=1,=,a==b'},
    {tracestate: undefined},
  ],
  ['a state without a trace', {tracestate: 'a=1'}, {traceparent: undefined, tracestate: undefined}],
  [
    'a trace that is none',
    {traceparent: '00-1-2-01', tracestate: 'a=1'},
    {traceparent: undefined, tracestate: undefined},
  ],
  [
    'a trace id of ours that is another',
    {'x-gateway-trace-id': 'mine', traceparent: `00-${trace('a')}-${PARENT}-01`, tracestate: 'a=1'},
    {traceparent: undefined, tracestate: undefined},
  ],
  [
    'both passed on by name',
    {
      'x-gateway-forward-headers': 'traceparent,tracestate',
      traceparent: `00-${trace('a')}-${PARENT}-01`,
      tracestate: 'a=1,, b=2',
    },
    {traceparent: `00-${trace('a')}-${PARENT}-01`, tracestate: 'a=1,b=2'},
  ],
])(
  'a provider hears of %s',
  async (_, headers, expected) => {
    const {chat, upstream} = await house()
    expect((await chat(headers)).status).toBe(200)
    const {traceparent, tracestate} = upstream.received[0]!
    expect({traceparent, tracestate}).toEqual({
      traceparent: expect.stringMatching(new RegExp(`^00-${trace('a')}-[\\da-f]{16}-01$`)),
      tracestate: undefined,
      ...expected,
    })
  },
  60_000,
)
