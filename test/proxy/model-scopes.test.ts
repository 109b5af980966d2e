import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let gateway: TestGateway
let cloudflare: FakeProvider
let other: FakeProvider
beforeAll(async () => {
  cloudflare = await fakeProvider((_heard, response) =>
    json(response, {
      result: {response: 'Hi.', usage: {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2}},
      success: true,
    }),
  )
  other = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const configurations = {custom_host: cloudflare.url, workers_ai_account_id: 'acct'}
  await gateway.provider('mine', 'workers-ai', cloudflare.url, {configurations})
  await gateway.provider('cf', 'openai', other.url)
})
beforeEach(() => {
  cloudflare.received.length = other.received.length = 0
})
afterAll(async () => {
  await gateway.close()
  await cloudflare.close()
  await other.close()
})

const MODEL = '@cf/meta/llama-3.1-8b-instruct'
const HI = {messages: [{role: 'user', content: 'Hi'}]}
const config = (said: object) => ({'x-gateway-config': JSON.stringify(said)})
const plain = () => ({
  authorization: 'Bearer k',
  'x-gateway-custom-host': cloudflare.url,
  'x-gateway-workers-ai-account-id': 'acct',
})

test.each<[string, () => Record<string, string>, string]>([
  ['a provider by its kind', () => ({...plain(), 'x-gateway-provider': 'workers-ai'}), MODEL],
  ['a provider of the workspace', () => ({'x-gateway-provider': '@mine'}), MODEL],
  ['a virtual key', () => ({'x-gateway-virtual-key': 'mine'}), MODEL],
  ['a leaf of a config', () => config({provider: '@mine'}), MODEL],
  ['a leaf that sets the model', () => config({provider: '@mine', override_params: {model: MODEL}}), 'any'],
  [
    'a leaf that sets the model, beside a header',
    () => ({...config({override_params: {model: MODEL}}), 'x-gateway-provider': '@mine'}),
    'any',
  ],
  ['a leaf that passes it through', () => ({...config({passthrough: true}), 'x-gateway-provider': '@mine'}), MODEL],
  ['the model’s own slug', () => ({}), `@mine/${MODEL}`],
  ['a model of the other scope', () => ({'x-gateway-provider': '@mine'}), '@hf/mistral/mistral-7b-instruct-v0.2'],
])('the model keeps its name where Workers AI is named by %s', async (_, headers, model) => {
  const reply = await gateway.chat({...HI, model}, headers())
  expect(await reply.json()).toMatchObject({choices: [{message: {content: 'Hi.'}}]})
  const asked = model === 'any' ? MODEL : model.replace('@mine/', '')
  expect(cloudflare.received.map(({path}) => path)).toEqual([`/v1/${asked}`])
  expect((await gateway.logs())[0]).toMatchObject({ai_model: asked})
})

test('elsewhere it is the slug of a provider, as ever', async () => {
  for (const headers of [{}, {'x-gateway-provider': '@cf'}] as Record<string, string>[]) {
    const reply = await gateway.chat({...HI, model: '@cf/gpt-4o-mini'}, headers)
    expect(reply.status).toBe(200)
  }
  expect(other.received.map(({body}) => JSON.parse(body.toString()).model)).toEqual(['gpt-4o-mini', 'gpt-4o-mini'])
  expect(cloudflare.received).toEqual([])
})
