import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

/** Each embedding costs two US cents. */
const TOKENS = 1_000_000
const CENTS = 2
const PLACES = ['France', 'Norway', 'Japan', 'Chile', 'Kenya', 'Canada']

let provider: FakeProvider
let embedder: FakeProvider
let gateway: TestGateway
let workspace_id: string
let since: string

beforeAll(async () => {
  provider = await fakeProvider()
  embedder = await fakeProvider((_, response) =>
    json(response, {data: [{embedding: [1, 2, 3, 4]}], usage: {prompt_tokens: TOKENS}}),
  )
  gateway = await startGateway({
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    SEMANTIC_CACHE_EMBEDDER: 'openai',
    SEMANTIC_CACHE_EMBEDDINGS_URL: `${embedder.url}/embeddings`,
    SEMANTIC_CACHE_EMBEDDING_API_KEY: 'key-of-the-operator',
    SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: '4',
  })
  await gateway.provider('mock', 'openai', provider.url)
  workspace_id = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
  await embedder.close()
})

/** Calls in the log that no test before has had embedded. */
async function calls(count: number) {
  since = new Date().toISOString()
  for (const place of PLACES.slice(0, count)) {
    const messages = [{role: 'user', content: `What is the capital of ${place} at ${since}?`}]
    const reply = await gateway.chat({model: 'gpt-4o-mini', messages}, {'x-gateway-provider': '@mock'})
    expect(reply.status, await reply.text()).toBe(200)
  }
  await gateway.app.flushed()
  embedder.received.length = 0
}

interface Evaluator {
  readonly id: string
  evaluate(): Promise<{readonly status: number; readonly text: string; readonly retry_after: string | null}>
}

async function evaluator(limits: object): Promise<Evaluator> {
  const body = {name: 'evaluator', workspace_id, scopes: ['logs.view'], ...limits}
  const {id, key} = await gateway.admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', body)
  return {
    id,
    async evaluate() {
      const headers = {'content-type': 'application/json', 'x-gateway-api-key': key}
      const sent = JSON.stringify({since, workspace_id, limit: 200})
      const reply = await gateway.call('/v1/cache/questions', {method: 'POST', body: sent, headers})
      return {status: reply.status, text: await reply.text(), retry_after: reply.headers.get('retry-after')}
    },
  }
}

const usedBy = async ({id}: Evaluator) => {
  await gateway.app.flushed()
  const key = await gateway.admin<{usage_limits: {current_usage: number}}>('GET', `/api-keys/${id}`)
  return key.usage_limits.current_usage
}

describe('embeddings of an evaluation', () => {
  test('are charged to the key and counted by its budget; a text that is known costs nothing', async () => {
    await calls(3)
    const key = await evaluator({usage_limits: {type: 'cost', credit_limit: 1}})
    const first = await key.evaluate()
    expect(first.status, first.text).toBe(200)
    const {data, embeddings} = JSON.parse(first.text)
    expect(data).toHaveLength(3)
    expect(embeddings.requests).toBe(3)
    expect(embeddings.cost_usd).toBeCloseTo((3 * CENTS) / 100, 9)
    expect(await usedBy(key)).toBeCloseTo((3 * CENTS) / 100, 9)
    const again = JSON.parse((await key.evaluate()).text)
    expect(again.embeddings).toEqual({requests: 0, cost_usd: 0})
    expect(embedder.received).toHaveLength(3)
    const rows = (await gateway.logs()).filter(({endpoint}) => endpoint === 'embed')
    expect(rows.slice(0, 3).map(({api_key_id}) => api_key_id)).toEqual([key.id, key.id, key.id])
  })

  test.each(['compatible', 'strict'])('do not leave where the budget of the key is used up (%s)', async enforcement => {
    await calls(2)
    const key = await evaluator({usage_limits: {type: 'cost', credit_limit: CENTS / 100, enforcement}})
    expect((await key.evaluate()).status).toBe(200)
    await calls(3)
    const refused = await key.evaluate()
    expect([refused.status, embedder.received.length]).toEqual([412, 0])
    expect(refused.text).toContain('evaluator')
  })

  test('each are one request of a rate, and those that it admitted are not sent again', async () => {
    await calls(4)
    const key = await evaluator({rate_limits: [{type: 'requests', unit: 'rpm', value: 2}]})
    const refused = await key.evaluate()
    expect([refused.status, embedder.received.length]).toEqual([429, 2])
    expect(Number(refused.retry_after)).toBeGreaterThan(0)
    const free = await evaluator({})
    expect((await free.evaluate()).status).toBe(200)
    expect(embedder.received).toHaveLength(4)
  })

  test('need room in the limits of the workspace as well, also of an operator', async () => {
    await calls(2)
    const path = `/admin/workspaces/${workspace_id}`
    await gateway.admin('PUT', path, {rate_limits: [{type: 'requests', unit: 'rpm', value: 1}]})
    const request = {method: 'POST', url: '/v1/cache/questions', body: {since, workspace_id}}
    const by_operator = await gateway.app.inject(request)
    expect([by_operator.status, embedder.received.length]).toEqual([429, 1])
    await gateway.admin('PUT', path, {rate_limits: []})
  })
})
