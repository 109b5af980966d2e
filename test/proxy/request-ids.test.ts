import Anthropic, {APIError as AnthropicError} from '@anthropic-ai/sdk'
import OpenAI, {APIError} from 'openai'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json, openaiLike} from '../support/provider.ts'
import {dial} from '../support/raw.ts'

// The SDKs show one header as the id of an answer and of an error: OpenAI's `x-request-id`, Anthropic's `request-id`.

const TRACE = 'trace-of-the-call'
const messages = [{role: 'user' as const, content: 'Say hello'}]
const MESSAGE = {model: '@loop/gpt-4o-mini', max_tokens: 10, messages}

let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway()
  await gateway.provider('loop', 'openai', provider.url)
  await gateway.provider('ant', 'anthropic', provider.url)
  const gone = await fakeProvider()
  await gateway.provider('gone', 'openai', gone.url)
  await gone.close()
})
beforeEach(() => {
  provider.answer(openaiLike)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const ownHeaders = {'x-gateway-trace-id': TRACE}
const openai = (apiKey = WORKSPACE_KEY, headers: Record<string, string> = ownHeaders) =>
  new OpenAI({apiKey, baseURL: `${gateway.url}/v1`, defaultHeaders: headers, maxRetries: 0})
const anthropic = (apiKey = WORKSPACE_KEY) =>
  new Anthropic({apiKey, baseURL: gateway.url, defaultHeaders: ownHeaders, maxRetries: 0})

/** Both ids of an error, which a header that came twice would show twice. */
async function failed(asked: Promise<unknown>) {
  const fault = await asked.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(fault instanceof APIError || fault instanceof AnthropicError)) throw new Error('it is no error of an API')
  return {status: fault.status, id: fault.requestID, trace: fault.headers?.get('x-gateway-trace-id')}
}

describe('a refusal has the id of the call where its client shows it', () => {
  const REFUSED = {
    'an unknown key': ['gk-unknown-key-of-at-least-32-characters', '@loop/gpt-4o-mini', 401],
    'no provider of that name': [WORKSPACE_KEY, '@nobody/m', 400],
    'a provider out of reach': [WORKSPACE_KEY, '@gone/gpt-4o-mini', 503],
  } as const

  test.each(Object.entries(REFUSED))('%s', async (_, [key, model, status]) => {
    const expected = {status, id: TRACE, trace: TRACE}
    expect(await failed(openai(key).chat.completions.create({model, messages}))).toEqual(expected)
    expect(await failed(openai(key).responses.create({model, input: 'Hi'}))).toEqual(expected)
    expect(await failed(anthropic(key).messages.create({...MESSAGE, model}))).toEqual(expected)
  })

  test('an id that the gateway made, where the client sent none', async () => {
    const {id, trace} = await failed(openai('gk-unknown', {}).chat.completions.create({model: 'm', messages}))
    expect(id).toMatch(/^[\da-f-]{36}$/)
    expect(id).toBe(trace)
  })

  const OTHERS = {
    'an operation of the administration, without a key': ['GET', '/v1/configs', 401],
    'an unknown row': ['GET', '/v1/configs/nothing', 404],
    'a path of a later version': ['GET', '/v1/organisation/x', 501],
    'an unknown path': ['GET', '/nothing', 404],
    'a method that is not served': ['PATCH', '/v1/configs', 405],
  } as const
  test.each(Object.entries(OTHERS))('%s', async (name, [method, path, status]) => {
    const headers: Record<string, string> = name.endsWith('without a key') ? {} : {'x-gateway-api-key': WORKSPACE_KEY}
    const reply = await fetch(gateway.url + path, {method, headers})
    const id = reply.headers.get('x-request-id')
    expect([reply.status, id]).toEqual([status, reply.headers.get('x-gateway-trace-id')])
    expect(id).toMatch(/^[\da-f-]{36}$/)
  })

  test.each([
    ['without a key', '', 401],
    ['at an unknown provider', `x-gateway-api-key: ${WORKSPACE_KEY}\r\nx-gateway-provider: @nobody\r\n`, 400],
    ['at one out of reach', `x-gateway-api-key: ${WORKSPACE_KEY}\r\nx-gateway-provider: @gone\r\n`, 503],
  ])('a session %s', async (_, headers, status) => {
    const client = await dial(Number(new URL(gateway.url).port))
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
    client.write(
      `GET /v1/realtime?model=m HTTP/1.1\r\nHost: h\r\n${upgrade}${key}x-gateway-trace-id: ${TRACE}\r\n${headers}\r\n`,
    )
    await expect.poll(() => client.received(), {timeout: 5000}).toContain('\r\n\r\n')
    const received = client.received()
    expect(received.slice(9, 12)).toBe(String(status))
    for (const name of ['x-gateway-trace-id', 'x-request-id'])
      expect(received.match(new RegExp(`^${name}: .*$`, 'gim'))).toEqual([`${name}: ${TRACE}`])
  })
})

test('a refusal of an attempt at a path of Bedrock has the header that its clients read', async () => {
  const reply = await gateway.call('/v1/model/anthropic.claude/converse', {
    method: 'POST',
    headers: {'content-type': 'application/json', 'x-gateway-provider': '@gone'},
    body: JSON.stringify({messages: [{role: 'user', content: [{text: 'Hi'}]}]}),
  })
  expect([reply.status, reply.headers.get('x-amzn-errortype')]).toEqual([503, 'ServiceUnavailableException'])
  expect(await reply.json()).toEqual({message: expect.any(String)})
})

describe('an answer in Anthropic’s words that was made here', () => {
  test('whole, as a stream, and from the cache', async () => {
    const whole = await anthropic().messages.create(MESSAGE)
    expect(whole._request_id).toBe(TRACE)
    const streamed = await anthropic()
      .messages.create({...MESSAGE, stream: true})
      .withResponse()
    for await (const _ of streamed.data);
    expect(streamed.request_id).toBe(TRACE)
    const cached = {headers: {'x-gateway-config': JSON.stringify({cache: {mode: 'simple'}})}}
    for (const status of ['MISS', 'HIT']) {
      const {request_id, response} = await anthropic().messages.create(MESSAGE, cached).withResponse()
      expect([response.headers.get('x-gateway-cache-status'), request_id]).toEqual([status, TRACE])
    }
  })

  test('an error of the provider', async () => {
    provider.answer((_, response) => json(response, {error: {message: 'Too much', type: 'x'}}, 429))
    expect(await failed(anthropic().messages.create(MESSAGE))).toEqual({status: 429, id: TRACE, trace: TRACE})
  })

  test('the list of models', async () => {
    const {request_id} = await anthropic().models.list().withResponse()
    expect(request_id).toBe(TRACE)
  })
})

describe('an id of the provider passes as it is, once', () => {
  test('at OpenAI', async () => {
    provider.answer((received, response) => openaiLike(received, response.setHeader('x-request-id', 'req_1')))
    const {request_id, response} = await openai()
      .chat.completions.create({model: '@loop/gpt-4o-mini', messages})
      .withResponse()
    expect([request_id, response.headers.get('request-id')]).toEqual(['req_1', null])
    provider.answer((_, to) => json(to, {error: {message: 'No'}}, 400, {'x-request-id': 'req_2'}))
    const asked = openai().chat.completions.create({model: '@loop/gpt-4o-mini', messages})
    expect(await failed(asked)).toEqual({status: 400, id: 'req_2', trace: TRACE})
  })

  test('at Anthropic', async () => {
    const error = {type: 'error', error: {type: 'invalid_request_error', message: 'No'}}
    provider.answer((_, response) => json(response, error, 400, {'request-id': 'req_3'}))
    const asked = anthropic().messages.create({...MESSAGE, model: '@ant/claude-sonnet-4-5'})
    expect(await failed(asked)).toEqual({status: 400, id: 'req_3', trace: TRACE})
  })
})
