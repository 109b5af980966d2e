import {expect, onTestFinished, test, vi} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type Collector, startCollector} from './collector.ts'
import type {ForeignSpan} from './decoder.ts'
import {json, REPLY, startUpstream} from './upstream.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const SECRET = 'the colour of the planted prompt'
const CHAT = {
  model: 'gpt-4o',
  temperature: 0,
  max_tokens: 7,
  messages: [
    {role: 'system', content: 'be brief'},
    {role: 'user', content: SECRET},
  ],
}
const SOON = {timeout: 20_000, interval: 25}
const [SERVER, CLIENT, INTERNAL] = [2, 3, 1]

async function house(env: Record<string, string> = {}) {
  const collector = await startCollector()
  const gateway = await gatewayOf({OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env})
  const upstream = await startUpstream()
  await gateway.provider('one', 'openai', upstream.url)
  const chat = (body: object = {}, headers: Record<string, string> = {}) =>
    gateway.chat({...CHAT, ...body}, {'x-gateway-provider': '@one', ...headers})
  return {collector, gateway, upstream, chat}
}

async function gatewayOf(env: Record<string, string>): Promise<TestGateway> {
  const gateway = await startGateway({OTEL_BSP_SCHEDULE_DELAY: '100', TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env})
  onTestFinished(() => gateway.close())
  return gateway
}

async function collected({spans}: Collector, most: number): Promise<ForeignSpan[]> {
  await vi.waitFor(() => expect(spans.length).toBeGreaterThanOrEqual(most), SOON)
  return spans
}

const ofKind = (spans: readonly ForeignSpan[], kind: number) => spans.filter(span => span.kind === kind)

test('TL1 TL6 TL7: one chat is a SERVER and a CLIENT span, with the ids of traceparent and cached tokens', async () => {
  const {collector, chat} = await house()
  const reply = await chat({}, {traceparent: `00-${TRACE}-${PARENT}-01`})
  expect(reply.status).toBe(200)
  const spans = await collected(collector, 2)
  const [[server], [client]] = [ofKind(spans, SERVER), ofKind(spans, CLIENT)]
  expect(spans).toHaveLength(2)
  expect(server).toMatchObject({
    trace_id: TRACE,
    parent: PARENT,
    name: 'POST /v1/chat/completions',
    status: {code: 1, message: '200'},
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'gateway.cache.status': 'DISABLED',
    },
    scope: 'gateway.genai',
  })
  expect(client).toMatchObject({
    trace_id: TRACE,
    parent: server!.span_id,
    name: 'chat gpt-4o',
    status: {code: 1},
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.response.model': 'gpt-4o-2024-08-06',
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.request.temperature': 0,
      'gen_ai.request.max_tokens': 7,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 40,
      'gateway.attempt': 1,
      'server.address': '127.0.0.1',
    },
  })
  expect(client!.attributes['gateway.cost.nanousd']).toBeGreaterThan(0)
  expect(Object.keys(server!.attributes).filter(name => /usage|cost/.test(name))).toEqual([])
  expect(client!.start >= server!.start && client!.end <= server!.end && client!.start < client!.end).toBe(true)
  expect(server!.resource).toMatchObject({'service.name': 'gateway', 'otel.semconv.version': '1.40.0'})
}, 60_000)

test('TL2 TL9: a retry is two CLIENT spans below one parent; a 429 is an error of that type', async () => {
  const {collector, upstream, chat} = await house()
  upstream.answer = (reply, times) =>
    times === 0 ? json(reply, 429, {error: {message: `slow down, you said ${SECRET}`}}) : json(reply, 200, REPLY)
  const config = {retry: {attempts: 2, on_status_codes: [429]}, provider: '@one'}
  await chat({}, {'x-gateway-config': JSON.stringify(config)})
  const spans = await collected(collector, 3)
  const clients = ofKind(spans, CLIENT)
  expect(clients.map(({attributes}) => attributes['gateway.attempt'])).toEqual([1, 2])
  expect(new Set(clients.map(({parent}) => parent))).toEqual(new Set([ofKind(spans, SERVER)[0]!.span_id]))
  expect(clients[0]).toMatchObject({status: {code: 2, message: '429'}, attributes: {'error.type': '429'}})
  expect(clients[0]!.attributes).not.toHaveProperty(['gen_ai.usage.input_tokens'])
  expect(clients[1]).toMatchObject({attributes: {'gen_ai.usage.input_tokens': 100, 'http.request.resend_count': 1}})
  expect(clients[0]!.span_id).not.toBe(clients[1]!.span_id)
  expect(Buffer.concat(collector.requests.map(({body}) => body)).includes(SECRET)).toBe(false)
}, 60_000)

test('TL3: a fallback to another provider is one SERVER span, and each attempt names its own provider', async () => {
  const {collector, gateway, upstream, chat} = await house()
  const other = await startUpstream()
  await gateway.provider('two', 'groq', other.url)
  upstream.answer = reply => json(reply, 500, {error: {message: 'down'}})
  const config = {strategy: {mode: 'fallback'}, targets: [{provider: '@one'}, {provider: '@two'}]}
  expect((await chat({}, {'x-gateway-config': JSON.stringify(config)})).status).toBe(200)
  const spans = await collected(collector, 3)
  expect(spans).toHaveLength(3)
  expect(ofKind(spans, SERVER)).toHaveLength(1)
  const clients = ofKind(spans, CLIENT)
  expect(clients.map(({attributes}) => attributes['gen_ai.provider.name'])).toEqual(['openai', 'groq'])
  expect(clients.map(({attributes}) => attributes['gateway.fallback.index'])).toEqual([0, 1])
}, 60_000)

test('TL8: a stream has its tokens and its finish reason', async () => {
  const {collector, upstream, chat} = await house()
  upstream.answer = reply => {
    reply.writeHead(200, {'content-type': 'text/event-stream'})
    const event = (body: object) =>
      reply.write(
        `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', ...body})}\n\n`,
      )
    event({choices: [{index: 0, delta: {role: 'assistant', content: 'yes'}, finish_reason: null}]})
    event({choices: [{index: 0, delta: {}, finish_reason: 'length'}]})
    event({choices: [], usage: {prompt_tokens: 9, completion_tokens: 3, total_tokens: 12}})
    reply.end('data: [DONE]\n\n')
  }
  await (await chat({stream: true, stream_options: {include_usage: true}})).text()
  const spans = await collected(collector, 2)
  expect(ofKind(spans, CLIENT)[0]!.attributes).toMatchObject({
    'gen_ai.response.finish_reasons': ['length'],
    'gen_ai.usage.input_tokens': 9,
    'gen_ai.usage.output_tokens': 3,
  })
}, 60_000)

test('TL10: a hit of the cache has no CLIENT span', async () => {
  const {collector, chat} = await house()
  const config = {'x-gateway-config': JSON.stringify({cache: {mode: 'simple'}, provider: '@one'})}
  await (await chat({}, config)).text()
  await collected(collector, 2)
  await (await chat({}, config)).text()
  const spans = await collected(collector, 3)
  expect(spans).toHaveLength(3)
  expect(spans[2]).toMatchObject({kind: SERVER, attributes: {'gateway.cache.status': 'HIT'}})
}, 60_000)

test('TL11: without OTEL_CONTENT no text of a call is in any payload', async () => {
  const {collector, upstream, chat} = await house({OTEL_LOGS_EXPORTER: 'otlp'})
  await chat({stop: ['the end of secrets']}, {'x-gateway-metadata': JSON.stringify({team: 'planted-team'})})
  upstream.answer = reply => json(reply, 400, {error: {message: `bad prompt: ${SECRET}`, code: 'bad'}})
  await chat()
  await collected(collector, 4)
  await vi.waitFor(() => expect(collector.requests.some(({path}) => path === '/v1/logs')).toBe(true), SOON)
  const all = Buffer.concat(collector.requests.map(({body}) => body)).toString('latin1')
  for (const text of [SECRET, 'be brief', 'an answer', 'the end of secrets', 'planted-team', 'bad prompt'])
    expect(all).not.toContain(text)
}, 60_000)

test('TL12 TL22: content is that of the log in its message schema; analytics go out beside it', async () => {
  const {collector, chat} = await house({
    OTEL_CONTENT: 'full',
    OTEL_PUSH_ENABLED: 'true',
    OTEL_ENDPOINT: 'http://127.0.0.1:1',
  })
  await chat()
  const [client] = ofKind(await collected(collector, 2), CLIENT)
  expect(JSON.parse(client!.attributes['gen_ai.input.messages'] as string)).toEqual([
    {role: 'system', parts: [{type: 'text', content: 'be brief'}]},
    {role: 'user', parts: [{type: 'text', content: SECRET}]},
  ])
  expect(JSON.parse(client!.attributes['gen_ai.output.messages'] as string)).toEqual([
    {role: 'assistant', parts: [{type: 'text', content: 'an answer'}], finish_reason: 'stop'},
  ])
}, 60_000)

test('TL13: a call that keeps no bodies has no content, even in full', async () => {
  const {collector, chat} = await house({OTEL_CONTENT: 'full'})
  await chat({}, {'x-gateway-debug': 'false'})
  await collected(collector, 2)
  expect(Buffer.concat(collector.requests.map(({body}) => body)).includes(SECRET)).toBe(false)
}, 60_000)

test('TL21 TL22 TL23: analytics are columns by their names, beside spans of calls; headers are as given', async () => {
  const analytics = await startCollector()
  const {collector, chat} = await house({
    OTEL_PUSH_ENABLED: 'true',
    OTEL_ENDPOINT: analytics.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20dXNlcjpwYXNz==,x-list=a%2Cb',
  })
  await chat({}, {'x-gateway-metadata': JSON.stringify({team: 'blue'}), traceparent: `00-${TRACE}-${PARENT}-01`})
  const [row] = await collected(analytics, 1)
  expect(row).toMatchObject({
    kind: SERVER,
    trace_id: TRACE,
    scope: 'gateway',
    attributes: {ai_model: 'gpt-4o', ai_org: 'openai', req_units: 100, res_units: 20, 'metadata.team': 'blue'},
  })
  const spans = await collected(collector, 2)
  expect(spans.map(({span_id}) => span_id)).not.toContain(row!.span_id)
  const [request] = analytics.requests
  expect(request).toMatchObject({
    path: '/v1/traces',
    type: 'application/json',
    headers: {authorization: 'Basic dXNlcjpwYXNz==', 'x-list': 'a,b'},
  })
}, 60_000)

test('TL32: a denial by a guardrail is a child span with its verdict', async () => {
  const {collector, chat} = await house()
  const hooks = [
    {
      type: 'guardrail',
      id: 'no-colours',
      deny: true,
      checks: [{id: 'default.contains', parameters: {words: ['colour'], operator: 'none'}}],
    },
  ]
  expect(
    (await chat({}, {'x-gateway-config': JSON.stringify({before_request_hooks: hooks, provider: '@one'})})).status,
  ).toBe(446)
  const spans = await collected(collector, 2)
  const [[server], [guard]] = [ofKind(spans, SERVER), ofKind(spans, INTERNAL)]
  expect(ofKind(spans, CLIENT)).toEqual([])
  expect(guard).toMatchObject({
    parent: server!.span_id,
    attributes: {
      'gateway.guardrail.verdict': 'fail',
      'gateway.guardrail.action': 'deny',
      'gateway.guardrail.phase': 'input',
    },
    events: [{name: 'gateway.guardrail.check', attributes: {'gateway.guardrail.check.verdict': false}}],
  })
}, 60_000)
