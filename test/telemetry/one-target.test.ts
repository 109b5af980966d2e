import {expect, onTestFinished, test, vi} from 'vitest'
import {startGateway} from '../support/gateway.ts'
import {startCollector} from './collector.ts'
import {json, startUpstream} from './upstream.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const LATER = '1af7651916cd43dd8448eb211c80319c'
const SOON = {timeout: 20_000, interval: 25}
const HOOK = {
  ...{type: 'guardrail', id: 'no-colours', deny: false},
  checks: [{id: 'default.contains', parameters: {words: ['colour'], operator: 'none'}}],
}

test('scenario SC23: tokens of a trace are reported once, whatever variables name its collector', async () => {
  const collector = await startCollector()
  const upstream = await startUpstream()
  const gateway = await startGateway({
    ...{OTEL_BSP_SCHEDULE_DELAY: '100', TRUSTED_CUSTOM_HOSTS: '127.0.0.1', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url},
    ...{OTEL_PUSH_ENABLED: 'true', OTEL_ENDPOINT: collector.url},
    EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED: 'true',
    EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  })
  onTestFinished(() => gateway.close())
  await gateway.provider('one', 'openai', upstream.url)
  upstream.answer = (reply, times) => {
    if (times === 0) return json(reply, 503, {error: {message: 'busy'}})
    reply.writeHead(200, {'content-type': 'text/event-stream'})
    const event = (body: object) =>
      reply.write(
        `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', ...body})}\n\n`,
      )
    event({choices: [{index: 0, delta: {role: 'assistant', content: 'yes'}, finish_reason: null}]})
    event({choices: [{index: 0, delta: {}, finish_reason: 'stop'}]})
    event({choices: [], usage: {prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100}})
    reply.end('data: [DONE]\n\n')
  }
  const config = {provider: '@one', retry: {attempts: 1, on_status_codes: [503]}, before_request_hooks: [HOOK]}
  const chat = async (trace: string) => {
    const reply = await gateway.chat(
      {model: 'gpt-4o', stream: true, messages: [{role: 'user', content: 'hi'}]},
      {'x-gateway-config': JSON.stringify(config), traceparent: `00-${trace}-b7ad6b7169203331-01`},
    )
    expect([reply.status, (await reply.text()).includes('[DONE]')]).toEqual([200, true])
  }
  const spansOf = (trace: string) => collector.spans.filter(({trace_id}) => trace_id === trace)
  const read = (trace: string, name: string) =>
    spansOf(trace).flatMap(({attributes}) => (name in attributes ? [attributes[name]] : []))
  // the analytics are a span of their own, with columns by other names
  const isThere = (trace: string) =>
    read(trace, 'req_units').length > 0 && read(trace, 'gen_ai.usage.input_tokens').length > 0
  for (const trace of [TRACE, LATER]) {
    await chat(trace)
    // with all of the later call, all of the first is there, and what would come twice
    await vi.waitFor(() => expect(isThere(trace)).toBe(true), SOON)
  }
  expect(spansOf(TRACE).length).toBeGreaterThanOrEqual(4)
  expect(read(TRACE, 'gen_ai.usage.input_tokens')).toEqual([1000])
  expect(read(TRACE, 'gen_ai.usage.output_tokens')).toEqual([100])
  expect(new Set(collector.spans.map(({span_id}) => span_id)).size).toBe(collector.spans.length)
}, 60_000)
