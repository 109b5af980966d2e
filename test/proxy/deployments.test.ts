import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {list} from '../../src/providers/registry.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, openaiLike} from '../support/provider.ts'

// Clients made for Azure write the model as a deployment. At a kind without deployments such a call has to be what the
// unified route is there: the same path below every base URL that its operator may write, and the same body.

const OPERATIONS = {
  chatComplete: ['/chat/completions', {messages: [{role: 'user', content: 'hi'}]}],
  embed: ['/embeddings', {input: 'hi'}],
} as const
const MODEL = 'meta-llama/Llama-3.3-70B'
const BASES = ['', '/v1', '/openai/v1'] as const
const ENGINES = list().filter(({is_engine}) => is_engine)

let provider: FakeProvider
let gateway: TestGateway
beforeAll(async () => {
  provider = await fakeProvider(openaiLike)
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const root = provider.url.replace(/\/v1$/, '')
  for (const {slug} of ENGINES)
    for (const [at, base] of BASES.entries()) await gateway.provider(`${slug}-${at}`, slug, root + base)
  await gateway.provider('deepseek-0', 'deepseek', root)
})
beforeEach(() => {
  provider.received.length = 0
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {'content-type': 'application/json', 'api-key': WORKSPACE_KEY, ...headers},
    body: JSON.stringify(body),
  })
  await reply.arrayBuffer()
  const sent = provider.received.pop()
  return {status: reply.status, path: sent?.path, body: sent?.body.toString()}
}

const cases = ENGINES.flatMap(({slug, endpoints}) =>
  BASES.flatMap((base, at) =>
    (['chatComplete', 'embed'] as const)
      .filter(name => endpoints === 'all' || endpoints.includes(name))
      .map(name => [slug, base, name, `@${slug}-${at}`] as const),
  ),
)

describe('a deployment at an engine is the unified route', () => {
  test('there are engines of each form of base URL', () => {
    expect(cases.length).toBeGreaterThan(60)
  })

  test.each(cases)('%s at HOST%s: %s', async (_, __, name, slug) => {
    const [path, body] = OPERATIONS[name]
    const query = '?api-version=2024-10-21'
    const unified = await post(`/v1${path}`, {model: `${slug}/${MODEL}`, ...body})
    expect([unified.status, JSON.parse(unified.body!)]).toEqual([200, {model: MODEL, ...body}])
    const named = {'x-gateway-provider': slug}
    for (const deployment of [MODEL, encodeURIComponent(MODEL)])
      expect(
        await post(`/openai/deployments/${deployment}${path}${query}`, {model: MODEL, ...body}, named),
        deployment,
      ).toEqual(unified)
    for (const deployment of [`${slug}/${MODEL}`, `${slug}/${MODEL}`.replaceAll('/', '%2F')])
      expect(
        await post(`/openai/deployments/${deployment}${path}${query}`, {model: `${slug}/${MODEL}`, ...body}),
        deployment,
      ).toEqual(unified)
  })
})

test('a deployment without a model in the body is the model of the body that leaves', async () => {
  const [path, body] = OPERATIONS.chatComplete
  const sent = await post(`/openai/deployments/@vllm-0/llama3${path}?api-version=2024-10-21`, body)
  expect([sent.status, sent.path, JSON.parse(sent.body!)]).toEqual([
    200,
    '/v1/chat/completions',
    {...body, model: 'llama3'},
  ])
})

test('the model that a list judges is the one that leaves', async () => {
  const [path, body] = OPERATIONS.chatComplete
  const sent = await post(`/openai/deployments/@vllm-0/llama3${path}`, {model: 'another', ...body})
  expect(JSON.parse(sent.body!).model).toBe('llama3')
})

test('a kind whose chat has a path of its own gets that', async () => {
  const [path, body] = OPERATIONS.chatComplete
  const sent = await post(
    `/openai/deployments/deepseek-chat${path}?api-version=2024-10-21`,
    {model: 'deepseek-chat', ...body},
    {
      'x-gateway-provider': '@deepseek-0',
    },
  )
  expect([sent.status, sent.path]).toEqual([200, '/v1/chat/completions'])
})

test('the refusal of a call without a key names each header that a key may be in', async () => {
  for (const prefix of ['x-gateway', 'x-portkey']) {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {'content-type': 'application/json', [`${prefix}-provider`]: '@vllm-0'},
      body: '{}',
    })
    expect([reply.status, await reply.json()]).toEqual([
      401,
      expect.objectContaining({
        error: expect.objectContaining({
          message: `No API key was sent. Send it as ${prefix}-api-key or x-api-key, or as Authorization: Bearer.`,
        }),
      }),
    ])
  }
})
