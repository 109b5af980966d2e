import {afterAll, beforeAll, expect, test} from 'vitest'
import {list} from '../../src/providers/registry.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard, json} from '../support/provider.ts'

const ENGINES = list().filter(
  ({is_engine, endpoints}) => is_engine && (endpoints === 'all' || endpoints.includes('chatComplete')),
)
/** Of so many words an engine makes where nothing bounds it. */
const UNBOUNDED = 2018

let provider: FakeProvider
let gateway: TestGateway
/** The one member that the engine reads. */
let reads = 'max_tokens'
beforeAll(async () => {
  provider = await fakeProvider((received: Heard, response) => {
    const body = JSON.parse(received.body.toString()) as Record<string, number | undefined>
    const completion_tokens = body[reads] ?? UNBOUNDED
    const choice = {index: 0, message: {role: 'assistant', content: 'Hi.'}, finish_reason: 'length'}
    const usage = {prompt_tokens: 9, completion_tokens, total_tokens: 9 + completion_tokens}
    json(response, {id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage})
  })
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const {slug} of ENGINES) await gateway.provider(slug, slug, provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const ways = ENGINES.flatMap(({slug}) => ['max_tokens', 'max_completion_tokens'].map(member => [slug, member] as const))
test.each(ways)('O1: a limit of Anthropic’s clients reaches %s, which reads %s alone', async (slug, member) => {
  reads = member
  const messages = [{role: 'user', content: 'hi'}]
  const reply = await gateway.call('/v1/messages', {
    method: 'POST',
    headers: {'content-type': 'application/json', 'x-gateway-provider': `@${slug}`},
    body: JSON.stringify({model: 'm', max_tokens: 5, messages}),
  })
  const body = (await reply.json()) as {usage?: {output_tokens: number}}
  expect([reply.status, body.usage?.output_tokens], JSON.stringify(body)).toEqual([200, 5])
})

test('there are engines, and every one of them is played', () => {
  expect(ENGINES.length).toBeGreaterThan(20)
})

const OWN_ROUTES = [
  '/completion',
  '/tokenize',
  '/props',
  '/slots',
  '/metrics',
  '/infill',
  '/api/chat',
  '/generate',
  '/lora-adapters',
] as const

test.each(['', '/v1'])('O6: routes of an engine’s own are reached from a custom host that ends in "%s"', async base => {
  const root = provider.url.replace(/\/v1$/, '')
  for (const [at, path] of OWN_ROUTES.entries()) {
    const slug = `own-${base.slice(1)}-${at}`
    await gateway.provider(slug, 'llama-cpp', root + base)
    provider.received.length = 0
    const reply = await gateway.call(`/v1${path}`, {
      method: 'POST',
      headers: {'content-type': 'application/json', 'x-gateway-provider': `@${slug}`},
      body: '{}',
    })
    expect([reply.status, provider.received.map(received => received.path)], path).toEqual([200, [path]])
  }
})

test('O6: and OpenAI’s below it', async () => {
  provider.received.length = 0
  await gateway.chat({model: 'm', messages: [{role: 'user', content: 'hi'}]}, {'x-gateway-provider': '@llama-cpp'})
  await gateway.call('/v1/chat/completions/input_tokens', {
    method: 'POST',
    headers: {'content-type': 'application/json', 'x-gateway-provider': '@llama-cpp'},
    body: '{}',
  })
  expect(provider.received.map(received => received.path)).toEqual([
    '/v1/chat/completions',
    '/v1/chat/completions/input_tokens',
  ])
})

test('O8: a price of nothing for all models of an engine is a price', async () => {
  const chat = async () => {
    const reply = await gateway.chat(
      {model: 'of-the-house', messages: [{role: 'user', content: 'hi'}]},
      {'x-gateway-provider': '@vllm'},
    )
    expect(reply.status, await reply.text()).toBe(200)
    return (await gateway.logs())[0]!
  }
  expect(await chat()).toMatchObject({unpriced: true})
  await expect(gateway.admin('PUT', '/model-configs/pricing/vllm/default', {pricing_config: {}})).rejects.toThrow(
    'prices nothing',
  )
  const pricing_config = {pay_as_you_go: {request_token: {price: 0}, response_token: {price: 0}}}
  await gateway.admin('PUT', '/model-configs/pricing/vllm/default', {pricing_config})
  expect(await chat()).toMatchObject({unpriced: false, cost: 0})
})
