import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type Answer, type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ENABLE_PROMETHEUS: 'true'})
  await gateway.provider('main', 'openai', provider.url)
  await gateway.provider('claude', 'anthropic', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})
beforeEach(() => {
  provider.received.length = 0
})

const searched = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-4o-mini',
  output: [
    {type: 'web_search_call', action: {type: 'search'}},
    {type: 'code_interpreter_call', container_id: 'c'},
  ],
  usage: {input_tokens: 1000, output_tokens: 100, total_tokens: 1100},
}
const answering =
  (body: object): Answer =>
  (_, response) =>
    json(response, body)
const at = (slug: string, headers = {}) => ({
  'x-gateway-provider': `@${slug}`,
  'content-type': 'application/json',
  ...headers,
})
const responses = (body: object, headers = {}) =>
  gateway.call('/v1/responses', {
    method: 'POST',
    body: JSON.stringify({model: 'gpt-4o-mini', input: 'hi', ...body}),
    headers: at('main', headers),
  })

async function strictKey() {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const usage_limits = {type: 'cost', credit_limit: 100, enforcement: 'strict'}
  const body = {name: 'strict', workspace_id: workspace!.id, scopes: ['completions.write'], usage_limits}
  const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)
  return {'x-gateway-api-key': key}
}

describe('a unit without a price beside tokens that have one', () => {
  test('is said by name in the log, the ledger, the list of what has no price and a metric; the tokens are charged', async () => {
    provider.answer(answering(searched))
    expect((await responses({tools: [{type: 'web_search'}, {type: 'code_interpreter'}]})).status).toBe(200)
    const [row] = await gateway.logs()
    // 1000 × 0.15 and 100 × 0.60 USD/M; a search of gpt-4o-mini has a price, a container has none
    expect(row).toMatchObject({unpriced: true, unpriced_units: ['code_execution'], mode_unpriced: null})
    expect(row!.cost).toBeGreaterThanOrEqual(0.021)
    expect(row!.usage).toEqual({
      input_uncached_tokens: 1000,
      output_text_tokens: 100,
      units: {web_search: 1, code_execution: 1},
    })
    const {data} = await gateway.admin<{data: object[]}>('GET', '/model-configs/unpriced')
    expect(data).toMatchObject([
      {provider: 'openai', model: 'gpt-4o-mini', requests: 1, units: ['code_execution'], priced_now: false},
    ])
    expect(data).toMatchObject([
      {
        parts: [{kind: 'unit', name: 'code_execution', requests: 1}],
        command: 'gateway pricing set gpt-4o-mini --provider openai --unit code_execution=USD',
      },
    ])
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(metrics).toMatch(/^unpriced_unit_count\{provider="openai",unit="code_execution"[^}]*\} 1$/m)
  })

  test('is refused by a strict limit of cost before it can be used, as a model without a price is', async () => {
    provider.answer(answering(searched))
    const key = await strictKey()
    const refused = await responses({tools: [{type: 'code_interpreter'}], max_output_tokens: 100}, key)
    expect(refused.status).toBe(412)
    const {error} = (await refused.json()) as {error: {type: string; message: string}}
    expect(error.type).toBe('model_not_priced_error')
    expect(error.message).toContain('may use code_execution of gpt-4o-mini at openai, which has no price')
    expect(provider.received).toHaveLength(0)
    for (const tools of [[{type: 'web_search', max_uses: 1}], [{type: 'function', name: 'code_interpreter'}], []])
      expect((await responses({tools, max_output_tokens: 100}, key)).status).toBe(200)
  })
})

describe('a mode without a price of its own', () => {
  test('is charged at the standard price, and says so in the row and a metric', async () => {
    const choice = {index: 0, message: {role: 'assistant', content: 'Noon.'}, finish_reason: 'stop'}
    const usage = {prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100}
    provider.answer(
      answering({
        id: 'c',
        object: 'chat.completion',
        model: 'gpt-4o-mini',
        choices: [choice],
        usage,
        service_tier: 'priority',
      }),
    )
    await gateway.chat(
      {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}], service_tier: 'auto'},
      at('main'),
    )
    const [row] = await gateway.logs()
    expect(row).toMatchObject({unpriced: false, unpriced_units: [], mode_unpriced: 'priority', cost: 0.021})
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(metrics).toMatch(/^mode_unpriced_count\{provider="openai",mode="priority"[^}]*\} 1$/m)
  })

  test('is taken from the request where the answer is silent', async () => {
    const usage = {input_tokens: 1000, output_tokens: 100}
    const answer = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'claude-haiku-4-5',
      content: [{type: 'text', text: 'Noon.'}],
      usage,
    }
    provider.answer(answering({...answer, stop_reason: 'end_turn'}))
    const body = {model: 'claude-haiku-4-5', max_tokens: 100, messages: [{role: 'user', content: 'hi'}], speed: 'fast'}
    const reply = await gateway.call('/v1/messages', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: at('claude'),
    })
    expect(reply.status).toBe(200)
    expect((await gateway.logs())[0]).toMatchObject({mode_unpriced: 'fast', cost: 0.15})
  })
})

describe('doors 17: what has no price is listed', () => {
  interface Listed {
    readonly model: string
    readonly requests: number
    readonly parts: object[]
    readonly command: string | null
  }
  const listed = async (model: string) =>
    (await gateway.admin<{data: Listed[]}>('GET', '/model-configs/unpriced?page_size=100')).data.find(
      row => row.model === model,
    )
  const chat = async (model: string, more: object, usage: object = {}) => {
    const choice = {index: 0, message: {role: 'assistant', content: 'Noon.'}, finish_reason: 'stop'}
    const tokens = {prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100, ...usage}
    provider.answer(answering({id: 'c', object: 'chat.completion', model, choices: [choice], usage: tokens, ...more}))
    await gateway.chat({model, messages: [{role: 'user', content: 'hi'}]}, at('main'))
    await gateway.logs()
  }

  test('modes, numbers that nobody knows and models, with how often and a command', async () => {
    await chat('gpt-4.1-mini', {service_tier: 'ultrafast'})
    await chat('gpt-4.1-mini', {service_tier: 'ultrafast'}, {quantum_tokens: 4})
    await chat("never-heard 'of'", {})
    expect(await listed('gpt-4.1-mini')).toMatchObject({
      requests: 2,
      units: [],
      parts: [
        {kind: 'mode', name: 'ultrafast', requests: 2},
        {kind: 'usage', name: 'quantum_tokens', requests: 1},
      ],
      command: null,
      priced_now: false,
    })
    expect(await listed("never-heard 'of'")).toMatchObject({
      parts: [],
      command: `gateway pricing set 'never-heard '\\''of'\\''' --provider openai --input USD --output USD`,
    })
  })

  test('a call whose work costs and that told no usage is listed by its endpoint', async () => {
    provider.answer(answering({some: 'thing'}))
    const reply = await gateway.call('/v1/proxy/never/heard/of', {
      method: 'POST',
      body: JSON.stringify({model: 'gpt-4.1'}),
      headers: at('main'),
    })
    expect(reply.status).toBe(200)
    const [row] = await gateway.logs()
    expect(row).toMatchObject({usage_source: 'unmetered'})
    const {data} = await gateway.admin<{data: Listed[]}>('GET', '/model-configs/unpriced?page_size=100')
    expect(data.flatMap(({parts}) => parts)).toContainEqual({kind: 'operation', name: 'proxy', requests: 1})
  })

  test('a strict limit of cost refuses a mode without a rate before it leaves', async () => {
    const key = await strictKey()
    await chat('gpt-4o-mini', {})
    provider.received.length = 0
    const asked = (more: object) => responses({max_output_tokens: 100, ...more}, key)
    for (const service_tier of ['priority', 'fast', 'ultrafast', 'scale']) {
      const refused = await asked({service_tier})
      expect(refused.status).toBe(412)
      const {error} = (await refused.json()) as {error: {type: string; message: string}}
      expect(error.type).toBe('model_not_priced_error')
      expect(error.message).toContain(
        `the mode ${service_tier === 'fast' ? 'priority' : service_tier} of gpt-4o-mini at openai`,
      )
    }
    expect(provider.received).toHaveLength(0)
    for (const service_tier of ['auto', 'default', 'flex', null]) expect((await asked({service_tier})).status).toBe(200)
  })
})
