import {mkdtempSync, rmSync} from 'node:fs'
import {createServer, type Server, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {run} from '../cli/support.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type Answer, type FakeProvider, fakeProvider} from '../support/provider.ts'

const USAGE = {prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100}
const choice = {index: 0, message: {role: 'assistant', content: 'Noon.'}, finish_reason: 'stop'}
const priced = (input: number, output: number) => ({
  pricing_config: {pay_as_you_go: {request_token: {price: input}, response_token: {price: output}}},
})

const usual: Answer = (received, response) => {
  const {model} = JSON.parse(received.body.toString())
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({id: 'c', object: 'chat.completion', model, choices: [choice], usage: USAGE}))
}

describe('what calls are charged', () => {
  let folder: string
  let gateway: TestGateway
  let provider: FakeProvider
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-prices-'))
    provider = await fakeProvider(usual)
    gateway = await startGateway({}, {folder})
    await gateway.provider('main', 'openai', provider.url)
  })
  afterAll(async () => {
    await gateway.close()
    await provider.close()
    rmSync(folder, {recursive: true, force: true})
  })

  const command = async (...argv: string[]) => {
    const {code, stderr} = await run([...argv, '--data-dir', folder], {now_ms: Date.now})
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
  }
  /** The cost of one call, in cents, as its row says. */
  const costOf = async (model: string) => {
    const reply = await gateway.chat(
      {model, messages: [{role: 'user', content: 'When?'}]},
      {'x-gateway-provider': '@main'},
    )
    expect(reply.status).toBe(200)
    await reply.arrayBuffer()
    const [row] = await gateway.logs()
    return row!.cost
  }

  test('follows a change by a command at once, without a restart, and what was charged before stays', async () => {
    // 1000 × 2.50 USD/M + 100 × 10 USD/M = 0.0035 USD
    expect(await costOf('gpt-4o')).toBe(0.35)
    await command('pricing', 'set', 'gpt-4o', '--provider', 'openai', '--input', '5', '--output', '20')
    await expect.poll(() => costOf('gpt-4o'), {timeout: 5000}).toBe(0.7)
    await command('pricing', 'rollback')
    await expect.poll(() => costOf('gpt-4o'), {timeout: 5000}).toBe(0.35)
    const costs = (await gateway.logs()).map(row => row.cost)
    expect(costs.at(-1)).toBe(0.35)
    expect(costs).toContain(0.7)
  })

  test('follows a change through the API', async () => {
    const prices = {format: 'gateway-prices/1', providers: {openai: {'gpt-4o': priced(0.001, 0.002)}}}
    await gateway.admin('POST', '/model-configs/pricing', {prices})
    // 1000 × 0.001 + 100 × 0.002 cents
    await expect.poll(() => costOf('gpt-4o'), {timeout: 5000}).toBe(1.2)
    await gateway.admin('POST', '/model-configs/rollback', {})
    await expect.poll(() => costOf('gpt-4o'), {timeout: 5000}).toBe(0.35)
  })

  test('is the price of the moment it was admitted, though it ends after another was installed', async () => {
    const {promise: asked, resolve: received} = Promise.withResolvers<() => void>()
    provider.answer((_, response) =>
      received(() => {
        response.setHeader('content-type', 'application/json')
        response.end(
          JSON.stringify({id: 'c', object: 'chat.completion', model: 'gpt-4o', choices: [choice], usage: USAGE}),
        )
      }),
    )
    const early = gateway.chat(
      {model: 'gpt-4o', messages: [{role: 'user', content: 'When?'}]},
      {'x-gateway-provider': '@main'},
    )
    const answer = await asked
    await gateway.admin('PUT', '/model-configs/pricing/openai/gpt-4o', priced(0.001, 0.002))
    provider.answer(usual)
    await expect.poll(() => costOf('gpt-4o'), {timeout: 5000}).toBe(1.2)
    answer()
    const reply = await early
    await reply.arrayBuffer()
    const trace_id = reply.headers.get('x-gateway-trace-id')
    expect((await gateway.logs()).filter(row => row.trace_id === trace_id).map(row => row.cost)).toEqual([0.35])
    await gateway.admin('POST', '/model-configs/rollback', {})
    await expect.poll(() => costOf('gpt-4o'), {timeout: 5000}).toBe(0.35)
  })

  test('says where its counts come from', async () => {
    const sourceOf = async (answer: (response: ServerResponse) => void) => {
      provider.answer((_, response) => {
        response.setHeader('content-type', 'application/json')
        answer(response)
      })
      await (
        await gateway.chat(
          {model: 'gpt-4o', messages: [{role: 'user', content: 'hi there'}]},
          {'x-gateway-provider': '@main'},
        )
      ).arrayBuffer()
      const [row] = await gateway.logs()
      return [row!.usage_source, row!.cost]
    }
    const said = {
      id: 'c',
      object: 'chat.completion',
      model: 'gpt-4o',
      choices: [{...choice, message: {role: 'assistant', content: 'It is noon.'}}],
    }
    expect(await sourceOf(response => response.end(JSON.stringify({...said, usage: USAGE})))).toEqual([
      'provider',
      0.35,
    ])
    // 6 × 2.50 USD/M + 4 × 10 USD/M = 0.000055 USD
    expect(await sourceOf(response => response.end(JSON.stringify(said)))).toEqual(['estimated', 0.0055])
    expect(
      await sourceOf(response => {
        response.statusCode = 400
        response.end(JSON.stringify({error: {message: 'no'}}))
      }),
    ).toEqual(['none', 0])
    provider.answer(usual)
  })

  test('does not begin before its date', async () => {
    await command(
      'pricing',
      'set',
      'gpt-4o',
      '--provider',
      'openai',
      '--input',
      '5',
      '--output',
      '20',
      '--from',
      '2999-01-01',
    )
    expect(await costOf('gpt-4o')).toBe(0.35)
    await command('pricing', 'rollback')
  })

  test('is the integration’s own price first, then the model’s, then that of the model it is made of', async () => {
    const models = [
      {slug: 'our-own', enabled: true, is_custom: true, base_model_slug: 'gpt-4o', ...priced(0.01, 0.01)},
      {slug: 'our-tune', enabled: true, is_custom: true, is_finetune: true, base_model_slug: 'gpt-4o'},
      {slug: 'our-tune-of-own', enabled: true, is_custom: true, base_model_slug: 'our-own'},
      {slug: 'gpt-4o-mini', enabled: true, base_model_slug: 'gpt-4o'},
      {slug: 'our-unknown', enabled: true, is_custom: true},
    ]
    await gateway.admin('PUT', '/integrations/main/models', {models, allow_all_models: true})
    expect(await costOf('our-own')).toBe(11)
    expect(await costOf('our-tune')).toBe(0.35)
    expect(await costOf('our-tune-of-own')).toBe(11)
    // 1000 × 0.15 USD/M + 100 × 0.60 USD/M = 0.00021 USD
    expect(await costOf('gpt-4o-mini')).toBe(0.021)
    expect(await costOf('our-unknown')).toBe(0)
  })
})

test('throughput bought in advance costs nothing, where the integration says so', async () => {
  const provider = await fakeProvider((received, response) => {
    const trafficType = received.body.toString().includes('spill') ? 'ON_DEMAND' : 'PROVISIONED_THROUGHPUT'
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        candidates: [{content: {role: 'model', parts: [{text: 'Noon.'}]}, finishReason: 'STOP'}],
        usageMetadata: {promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100, trafficType},
      }),
    )
  })
  const gateway = await startGateway()
  const place = {
    vertex_auth_type: 'basic',
    vertex_region: 'us-central1',
    vertex_project_id: 'p',
    custom_host: provider.url,
  }
  await gateway.provider('bought', 'vertex-ai', provider.url, {
    configurations: {...place, skipPtuCostAttribution: true},
  })
  await gateway.provider('paid', 'vertex-ai', provider.url, {configurations: place})
  for (const [slug, content] of [
    ['bought', 'hi'],
    ['bought', 'spill'],
    ['paid', 'hi'],
  ] as const) {
    const reply = await gateway.chat(
      {model: 'gemini-2.5-pro', messages: [{role: 'user', content}]},
      {'x-gateway-provider': `@${slug}`},
    )
    expect(reply.status).toBe(200)
    await reply.arrayBuffer()
  }
  // 1000 × 1.25 USD/M + 100 × 10 USD/M = 0.00225 USD
  expect((await gateway.logs()).map(row => row.cost).reverse()).toEqual([0, 0.225, 0.225])
  await gateway.close()
  await provider.close()
})

describe('a proxy for prices', () => {
  let server: Server
  beforeAll(async () => {
    server = createServer((request, reply) => {
      const said: Record<string, object> = {
        '/pricing/openai': {'gpt-4o': priced(0.001, 0.002)},
        '/general/openai': {'gpt-4o': {type: {primary: 'chat'}}},
      }
      reply.statusCode = said[request.url!] ? 200 : 404
      reply.end(JSON.stringify(said[request.url!] ?? {}))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => void server.close())

  test('is asked by a running gateway, over the wall, though it is a private address', async () => {
    const gateway = await startGateway({
      MODEL_CONFIGS_PROXY_FETCH_ENABLED: 'ON',
      MODEL_CONFIGS_PROXY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    })
    const get = async (path: string) => {
      const reply = await fetch(`${gateway.url}${path}`)
      return [reply.status, await reply.json()] as const
    }
    for (const root of ['/v1', '']) {
      expect(await get(`${root}/model-configs/pricing/openai/gpt-4o`)).toMatchObject([
        200,
        {pay_as_you_go: {request_token: {price: 0.001}}},
      ])
      expect(await get(`${root}/model-configs/general/openai`)).toEqual([200, {'gpt-4o': {type: {primary: 'chat'}}}])
      expect(await get(`${root}/model-configs/general/groq`)).toEqual([404, {error: 'Provider not found'}])
    }
    await gateway.close()
  })
})
