import {afterAll, beforeAll, expect, test} from 'vitest'
import {type LogRow, startGateway, type TestGateway} from '../support/gateway.ts'
import {chatEvents, chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'

/**
 * Answers that are nested deeper than anything of ours walks: they pass where they only pass, and are faults of their
 * provider elsewhere.
 */
let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
})
afterAll(async () => {
  expect(gateway.lines.filter(line => line.includes('RangeError'))).toEqual([])
  await gateway.close()
  await provider.close()
})

const DEEP = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
const body = JSON.stringify(chatReply('m')).replace(/\}$/, `,"x":${DEEP}}`)
const message = {messages: [{role: 'user', content: 'hi'}]}

async function ask(kind: string, path: string, asked: object, headers: Record<string, string> = {}) {
  const place: Record<string, string> = headers['x-gateway-config']
    ? {}
    : {'x-gateway-provider': kind, 'x-gateway-custom-host': provider.url, authorization: 'Bearer sk-1'}
  const answer = await gateway.call(path, {
    method: 'POST',
    body: JSON.stringify({model: 'm', ...message, ...asked}),
    headers: {'content-type': 'application/json', ...place, ...headers},
  })
  return {status: answer.status, text: await answer.text(), cache: answer.headers.get('x-gateway-cache-status')}
}

const whole = () =>
  provider.answer((_heard, response) => response.writeHead(200, {'content-type': 'application/json'}).end(body))
const config = (more: object) => ({
  'x-gateway-config': JSON.stringify({provider: 'openai', api_key: 'sk-1', custom_host: provider.url, ...more}),
})
const TOO_DEEP = /nested deeper than the 256 levels/

test('one that only passes comes as it is, and its row and its kept body can be read', async () => {
  whole()
  expect(await ask('openai', '/v1/chat/completions', {})).toMatchObject({status: 200, text: body})
  const [row] = await gateway.logs()
  expect(row).toMatchObject({usage_source: 'estimated'} satisfies LogRow)
  const shown = await gateway.admin('GET', `/logs/${String(row!.id)}`)
  expect(JSON.stringify(shown)).toContain('chatcmpl-1')
})

test.each([
  ['mistral-ai', '/v1/chat/completions', {}],
  ['cohere', '/v1/chat/completions', {}],
  ['google', '/v1/chat/completions', {}],
  ['anthropic', '/v1/chat/completions', {}],
  ['openai', '/v1/messages', {max_tokens: 5}],
] as const)('one that is translated from %s at %s is a fault of the provider', async (kind, path, more) => {
  whole()
  expect(await ask(kind, path, more)).toMatchObject({status: 502, text: expect.stringMatching(TOO_DEEP)})
})

test('one that guardrails judge is a fault of the provider', async () => {
  whole()
  const guard = {output_guardrails: [{'default.contains': {operator: 'none', words: ['nothing']}, deny: true}]}
  expect(await ask('openai', '/v1/chat/completions', {}, config(guard))).toMatchObject({
    status: 502,
    text: expect.stringMatching(TOO_DEEP),
  })
})

test('an event too deep passes, and ends a stream that is translated', async () => {
  provider.answer((_heard, response) => {
    const [first, ...rest] = chatEvents('m')
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.end(
      [first, `data: {"id":"c","object":"chat.completion.chunk","choices":[],"x":${DEEP}}\n\n`, ...rest].join(''),
    )
  })
  const passed = await ask('openai', '/v1/chat/completions', {stream: true})
  expect(passed).toMatchObject({status: 200, text: expect.stringContaining(DEEP)})
  expect(passed.text).toMatch(/\[DONE\]\n\n$/)
  const translated = await ask('openai', '/v1/messages', {stream: true, max_tokens: 5})
  expect(translated.text).toMatch(TOO_DEEP)
})

test('one that was asked for under a cache is asked for again, whole and streamed', async () => {
  whole()
  const cached = config({cache: {mode: 'simple'}})
  for (let round = 0; round < 2; round++)
    expect(await ask('openai', '/v1/chat/completions', {}, cached)).toMatchObject({status: 200, text: body})
  provider.answer((_heard, response) =>
    response.writeHead(200, {'content-type': 'text/event-stream'}).end(chatEvents('m').join('')),
  )
  const streamed = await ask('openai', '/v1/chat/completions', {stream: true}, cached)
  expect(streamed).toMatchObject({status: 200, text: expect.stringContaining('[DONE]')})
})
