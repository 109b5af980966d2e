import {expect, onTestFinished, test, vi} from 'vitest'
import {readSettings, SettingsFault} from '../../src/settings/index.ts'
import {startGateway} from '../support/gateway.ts'
import {startCollector} from './collector.ts'
import {type ForeignPoint, pointsIn, sumOf} from './metric-points.ts'
import {json, REPLY, startUpstream} from './upstream.ts'

test.each([
  ['1.40', 'http/protobuf'],
  ['latest', 'http/json'],
])('M26: metrics of generation %s sum to the ledger, over calls of several kinds', async (generation, protocol) => {
  const collector = await startCollector()
  const gateway = await startGateway({
    ...{OTEL_METRICS_EXPORTER: 'otlp', OTEL_METRIC_EXPORT_INTERVAL: '1000', OTEL_SEMCONV: generation},
    ...{OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`, TRUSTED_CUSTOM_HOSTS: '127.0.0.1'},
    ...{OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol, OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-token=a%3Db'},
  })
  onTestFinished(() => gateway.close())
  const upstream = await startUpstream()
  await gateway.provider('one', 'openai', upstream.url)
  const chat = async (config: object = {}, body: object = {}) => {
    const reply = await gateway.chat(
      {model: 'gpt-4o', messages: [{role: 'user', content: 'PLANTED prompt'}], ...body},
      {'x-gateway-config': JSON.stringify({provider: '@one', ...config})},
    )
    await reply.text()
    return reply.status
  }
  await chat()
  await chat({cache: {mode: 'simple'}})
  await chat({cache: {mode: 'simple'}})
  upstream.answer = reply => json(reply, 400, {error: {message: 'PLANTED error'}})
  expect(await chat()).toBe(400)
  let times = 0
  upstream.answer = reply => (times++ ? json(reply, 200, REPLY) : json(reply, 429, {error: {message: 'slow'}}))
  expect(await chat({retry: {attempts: 2, on_status_codes: [429]}})).toBe(200)
  upstream.answer = reply => {
    reply.writeHead(200, {'content-type': 'text/event-stream'})
    const chunk = {id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o'}
    const choice = {index: 0, delta: {content: 'yes'}, finish_reason: 'stop'}
    reply.write(`data: ${JSON.stringify({...chunk, choices: [choice]})}\n\n`)
    const usage = {prompt_tokens: 31, completion_tokens: 3, total_tokens: 34}
    reply.end(`data: ${JSON.stringify({...chunk, choices: [], usage})}\n\ndata: [DONE]\n\n`)
  }
  expect(await chat({}, {stream: true, stream_options: {include_usage: true}})).toBe(200)
  const rows = await gateway.logs()
  expect(rows).toHaveLength(6)
  const type = protocol === 'http/json' ? 'application/json' : 'application/x-protobuf'
  const last = (): readonly ForeignPoint[] => {
    const {body} = collector.requests.at(-1) ?? {}
    return body ? pointsIn(type, body) : []
  }
  const is_latest = generation === 'latest'
  const duration = is_latest ? 'gen_ai.client.inference.duration' : 'gen_ai.client.operation.duration'
  const count = (having: object) =>
    last()
      .filter(
        ({metric, attributes}) => metric === duration && Object.entries(having).every(([k, v]) => attributes[k] === v),
      )
      .reduce((sum, each) => sum + each.count!, 0)
  // six attempts: the hit of the cache has none, the retry has two
  await vi.waitFor(() => expect(count({})).toBe(6), {timeout: 30_000, interval: 100})
  expect([count({'error.type': '400'}), count({'error.type': '429'})]).toEqual([1, 1])
  const points = last()
  const tokens = (of: string) =>
    is_latest
      ? sumOf(points, `gen_ai.client.inference.usage.${of}_tokens`)
      : sumOf(points, 'gen_ai.client.token.usage', {'gen_ai.token.type': of})
  const {store} = await ledger(gateway.folder)
  const sums = await store.db
    .selectFrom('traffic.ledger_entries')
    .select(({fn}) => [
      fn.sum<number>('prompt_tokens').as('input'),
      fn.sum<number>('completion_tokens').as('output'),
      fn.sum<number>('cost_nanousd').as('cost'),
    ])
    .executeTakeFirstOrThrow()
  await store.close()
  expect(Number(sums.cost)).toBeGreaterThan(0)
  expect({input: tokens('input'), output: tokens('output'), cost: sumOf(points, 'gateway.cost')}).toEqual({
    input: Number(sums.input),
    output: Number(sums.output),
    cost: Number(sums.cost),
  })
  const chunks = points.filter(({metric}) => metric.endsWith('.time_to_first_chunk'))
  expect(chunks.map(each => each.count)).toEqual([1])
  expect(chunks[0]!.sum).toBeLessThan(30)
  for (const {body, headers, path} of collector.requests) {
    expect(path).toBe('/v1/metrics')
    expect(headers['x-token']).toBe('a=b')
    expect(body.includes('PLANTED')).toBe(false)
  }
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  expect(text).toContain('gateway_telemetry_items_total{export="metrics",outcome="sent"}')
})

async function ledger(folder: string) {
  const {openStore} = await import('../../src/store/dialect/index.ts')
  return {store: await openStore({kind: 'sqlite', folder, role: 'operator'})}
}

test('settings of metrics that lack a collector, or that are not spoken here, are refused', () => {
  const fault = (env: Record<string, string>) => {
    try {
      readSettings({env})
    } catch (thrown) {
      if (thrown instanceof SettingsFault) return thrown.message
    }
    return ''
  }
  const own = 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'
  expect(fault({OTEL_METRICS_EXPORTER: 'otlp'})).toContain(`needs OTEL_EXPORTER_OTLP_ENDPOINT or ${own}`)
  expect(fault({OTEL_METRICS_EXPORTER: 'otlp', [own]: 'http://c:4318/m'})).toBe('')
  expect(fault({OTEL_METRICS_EXPORTER: 'prometheus'})).toContain('otlp or none')
  expect(fault({OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta'})).toContain('metrics are cumulative')
  expect(fault({OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'cumulative'})).toBe('')
  expect(fault({OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY: '/k'})).toContain(
    'OTEL_EXPORTER_OTLP_METRICS_CLIENT_CERTIFICATE',
  )
})
