import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json, openaiLike} from '../support/provider.ts'

interface Row {
  readonly [member: string]: unknown
  readonly id: string
}

interface Told {
  readonly status: number
  readonly ids: readonly string[]
  readonly rows: readonly Row[]
  readonly body: Record<string, unknown>
}

const engineOf = (...ids: string[]) => ({
  object: 'list',
  data: ids.map(id => ({id, object: 'model', created: 7, owned_by: 'me', max_model_len: 4096})),
})
const HEAR = (provider: FakeProvider) => provider.received.filter(({path}) => path.startsWith('/v1/models')).length

let gateway: TestGateway
let engine: FakeProvider
let workspace: string
let now = Date.parse('2026-03-04T05:06:07Z')
let names = 0

beforeAll(async () => {
  engine = await fakeProvider()
  gateway = await startGateway({}, {now: () => now})
  workspace = (await gateway.admin<{data: {slug: string}[]}>('GET', '/admin/workspaces')).data[0]!.slug
  await gateway.provider('cloud', 'openai', '', {configurations: {}})
  await gateway.provider('bare', 'groq', '', {configurations: {}, key: undefined})
  await gateway.provider('claude', 'anthropic', engine.url.replace(/\/v1$/, '/claude'), {})
  await gateway.provider('local', 'vllm', engine.url, {key: undefined})
  await gateway.provider('own', 'openai', `${engine.url}/own`, {})
})
afterAll(async () => {
  await gateway.close()
  await engine.close()
})
beforeEach(() => {
  now += 61_000
  engine.received.length = 0
  engine.answer(({path}, response) => {
    if (path === '/v1/models') return json(response, engineOf('llama', 'qwen'))
    if (path === '/v1/own/models') return json(response, engineOf('mine'))
    if (path.startsWith('/claude/models'))
      return json(response, {
        data: [
          {type: 'model', id: 'claude-x', display_name: 'X'},
          {type: 'model', id: 'claude-y'},
        ],
        has_more: false,
      })
    return openaiLike({path, method: 'POST', headers: {}, body: Buffer.alloc(0)}, response)
  })
})

async function asked(path = '/v1/models', headers: Record<string, string> = {}): Promise<Told> {
  const response = await gateway.call(path, {headers})
  const body = (await response.json()) as Record<string, unknown>
  const rows = (body.data ?? []) as Row[]
  return {status: response.status, rows, ids: rows.map(({id}) => id), body}
}
const by = (config: object) => ({'x-gateway-config': JSON.stringify(config)})
const slugsIn = ({ids}: Told) => [...new Set(ids.map(id => /^@([^/]+)\//.exec(id)?.[1]))].sort()
async function key(models: object): Promise<Record<string, string>> {
  const body = {name: `listed ${++names}`, scopes: ['completions.write'], workspace_id: workspace, models}
  const {key: made} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)
  return {'x-gateway-api-key': made}
}

describe('fact 25: models without a provider', () => {
  test('are those of integrations with a credential, and those that local engines say they have', async () => {
    const result = await asked()
    expect(result.status).toBe(200)
    expect(slugsIn(result)).toEqual(['claude', 'cloud', 'demo', 'local', 'own'])
    expect(result.ids).toEqual(
      expect.arrayContaining(['@local/llama', '@local/qwen', '@own/mine', '@cloud/gpt-4o', '@demo/echo']),
    )
    expect(result.ids.filter(id => id.startsWith('@own/'))).toEqual(['@own/mine'])
    expect(result.body.total).toBe(result.ids.length)
    expect(result.body).not.toHaveProperty('unanswered')
  })

  test('have OpenAI’s members, and what is known besides; nothing is null', async () => {
    const {rows, body} = await asked()
    const row = (id: string) => rows.find(each => each.id === id)
    expect(row('@local/llama')).toMatchObject({
      object: 'model',
      created: 7,
      owned_by: 'me',
      context_length: 4096,
      slug: 'llama',
    })
    expect(row('@cloud/gpt-4o')).toEqual({
      id: '@cloud/gpt-4o',
      slug: 'gpt-4o',
      canonical_slug: 'gpt-4o',
      object: 'model',
      created: 0,
      owned_by: 'openai',
      max_output_tokens: 16_384,
      pricing: expect.objectContaining({prompt: '0.0000025', completion: '0.00001'}),
    })
    expect(JSON.stringify(body)).not.toMatch(/:null/)
  })

  test('of an engine are asked for once in a minute, however many ask', async () => {
    await Promise.all([asked(), asked(), asked()])
    expect(HEAR(engine)).toBe(1)
    now += 59_000
    await asked()
    expect(HEAR(engine)).toBe(1)
    now += 2_000
    engine.answer((_, response) => json(response, engineOf('newer')))
    expect((await asked()).ids).toContain('@local/newer')
  })

  test('of an engine are asked for anew when its integration changed', async () => {
    await asked()
    await gateway.admin('PUT', '/integrations/local', {configurations: {custom_host: `${engine.url}/own`}})
    expect((await asked()).ids).toContain('@local/mine')
    await gateway.admin('PUT', '/integrations/local', {configurations: {custom_host: engine.url}})
  })

  test('of an engine that is silent are not waited for, and that is told', async () => {
    engine.answer(({path}, response) => (path === '/v1/own/models' ? json(response, engineOf('mine')) : undefined))
    const begun = performance.now()
    const result = await asked()
    expect(performance.now() - begun).toBeLessThan(1600) // the bench holds the figure on a machine of its own
    expect(result.body.unanswered).toEqual(['@local'])
    expect(result.ids).toEqual(expect.arrayContaining(['@own/mine', '@cloud/gpt-4o']))
    const again = performance.now()
    expect((await asked()).body.unanswered).toEqual(['@local'])
    expect(performance.now() - again).toBeLessThan(500)
  })

  test.each([500, 404])('of an engine that answers %s, or no list, are none', async status => {
    engine.answer((_, response) => json(response, status === 500 ? 'broken' : {}, status))
    expect((await asked()).body.unanswered).toEqual(['@local', '@own'])
    now += 6_000
    engine.answer((_, response) => json(response, {object: 'nothing'}))
    expect((await asked()).body.unanswered).toEqual(['@local', '@own'])
  })

  test('are those that the lists of the key allow', async () => {
    const result = await asked(
      '/v1/models',
      await key({allow: ['gpt-4o*', '@local/*'], deny: ['*-mini*', '@local/qwen']}),
    )
    expect(result.ids).toContain('@cloud/gpt-4o')
    expect(result.ids).toContain('@local/llama')
    expect(result.ids.filter(id => /mini|qwen|claude|@own/.test(id))).toEqual([])
    expect(result.ids.every(id => /^@local\/|\/gpt-4o/.test(id))).toBe(true)
  })

  test('are those that integrations allow, by name or all but some', async () => {
    await gateway.admin('PUT', '/integrations/local/models', {models: [{slug: 'qwen', enabled: false}]})
    await gateway.admin('PUT', '/integrations/own/models', {
      models: [{slug: 'other', enabled: true, is_custom: true}],
      allow_all_models: false,
    })
    const {ids} = await asked()
    expect(ids.filter(id => /^@(?:local|own)\//.test(id))).toEqual(['@local/llama'])
    await gateway.admin('PUT', '/integrations/local/models', {models: [{slug: 'qwen', enabled: true}]})
    await gateway.admin('PUT', '/integrations/own/models', {models: [], allow_all_models: true})
  })

  test('are none of a provider past its time', async () => {
    await gateway.provider('brief', 'groq', '', {configurations: {}})
    await gateway.admin('PUT', '/providers/brief', {expires_at: new Date(now + 30_000).toISOString()})
    expect(slugsIn(await asked())).toContain('brief')
    now += 31_000
    expect(slugsIn(await asked())).not.toContain('brief')
  })

  test('are filtered, sorted and paged by the query', async () => {
    expect(slugsIn(await asked('/v1/models?provider=@local'))).toEqual(['local'])
    expect(HEAR(engine)).toBe(1)
    expect(slugsIn(await asked('/v1/models?ai_service=openai'))).toEqual(['cloud', 'own'])
    const all = (await asked('/v1/models?sort=provider&order=desc')).ids
    expect(all[0]).toBe('@own/mine')
    const page = await asked('/v1/models?sort=provider&order=desc&offset=1&limit=2')
    expect([page.ids, page.body.total]).toEqual([all.slice(1, 3), all.length])
    expect((await asked('/v1/models?sort=size')).status).toBe(400)
  })

  test('are read by the clients of OpenAI and of Anthropic', async () => {
    const openai = new OpenAI({apiKey: WORKSPACE_KEY, baseURL: `${gateway.url}/v1`})
    const found = (await openai.models.list()).data
    expect(found.find(({id}) => id === '@local/llama')).toMatchObject({created: 7, owned_by: 'me', object: 'model'})
    expect(await openai.models.retrieve('@local/llama')).toMatchObject({id: '@local/llama', created: 7})
    const anthropic = new Anthropic({apiKey: WORKSPACE_KEY, baseURL: gateway.url})
    const all: string[] = []
    for await (const {id, type, created_at} of anthropic.models.list({limit: 50})) {
      expect([type, Number.isNaN(Date.parse(created_at))]).toEqual(['model', false])
      all.push(id)
    }
    expect(all.sort()).toEqual(found.map(({id}) => id).sort())
    expect(await anthropic.models.retrieve('@claude/claude-opus-4-8')).toMatchObject({
      type: 'model',
      id: '@claude/claude-opus-4-8',
    })
  })

  test('are told one by one; one that cannot be called is 404', async () => {
    expect((await asked('/v1/models/@local%2Fllama')).body).toMatchObject({id: '@local/llama', object: 'model'})
    const refused = await asked('/v1/models/@local/gone')
    expect([refused.status, (refused.body.error as {type: string}).type]).toEqual([404, 'not_found_error'])
    const held = await gateway.call('/v1/models/@local/llama', {headers: await key({deny: ['llama']})})
    expect(held.status).toBe(404)
  })
})

describe('fact 25: models of the provider that is named', () => {
  test('are its own, in OpenAI’s shape with its kind, held against the lists', async () => {
    const result = await asked('/v1/models', {'x-gateway-provider': '@local'})
    expect(result.body).toMatchObject({object: 'list', provider: 'vllm'})
    expect(result.ids).toEqual(['llama', 'qwen'])
    expect(result.rows[0]).toMatchObject({object: 'model', created: 7, owned_by: 'me', context_length: 4096})
    const held = await asked('/v1/models', {'x-gateway-provider': '@local', ...(await key({deny: ['llama']}))})
    expect(held.ids).toEqual(['qwen'])
    await gateway.admin('PUT', '/integrations/claude/models', {
      models: [{slug: 'claude-y', enabled: true}],
      allow_all_models: false,
    })
    expect((await asked('/v1/models', {'x-gateway-provider': '@claude'})).ids).toEqual(['claude-y'])
    await gateway.admin('PUT', '/integrations/claude/models', {models: [], allow_all_models: true})
  })

  test('of Anthropic are in OpenAI’s shape, and in Anthropic’s for its clients; of another kind too', async () => {
    const at = {'x-gateway-provider': '@claude'}
    expect((await asked('/v1/models', at)).rows[0]).toEqual({
      id: 'claude-x',
      object: 'model',
      created: 0,
      owned_by: 'anthropic',
      display_name: 'X',
    })
    const version = {'anthropic-version': '2023-06-01'}
    expect((await asked('/v1/models', {...at, ...version})).rows[0]).toEqual({
      type: 'model',
      id: 'claude-x',
      display_name: 'X',
      created_at: '1970-01-01T00:00:00Z',
    })
    const local = await asked('/v1/models?limit=1', {'x-gateway-provider': '@local', ...version})
    expect(local.body).toMatchObject({has_more: true, first_id: 'llama', last_id: 'llama'})
  })

  test('are raw below /proxy', async () => {
    const response = await gateway.call('/v1/proxy/models', {headers: {'x-gateway-provider': '@local'}})
    expect(await response.json()).toEqual(engineOf('llama', 'qwen'))
  })

  test('keep the status of its fault', async () => {
    engine.answer((_, response) => json(response, {error: {message: 'No.', type: 'x'}}, 401))
    const result = await asked('/v1/models', {'x-gateway-provider': '@local'})
    expect([result.status, (result.body.error as {message: string}).message]).toEqual([401, 'No.'])
  })

  test('are the gateway’s where the kind has no list, or the call asks for them', async () => {
    await gateway.provider('voice', 'deepgram', '', {configurations: {}})
    expect((await asked('/v1/models', {'x-gateway-provider': '@voice'})).status).toBe(200)
    const result = await asked('/v1/models', {
      'x-gateway-provider': '@cloud',
      'x-gateway-fetch-integrated-models': 'true',
    })
    expect(slugsIn(result)).toEqual(['cloud'])
    expect(result.ids).toContain('@cloud/gpt-4o')
    expect(slugsIn(await asked('/v1/models', by({provider: '@cloud', fetch_integrated_models: true})))).toEqual([
      'cloud',
    ])
  })
})

describe('fact 25: models of a config with several targets', () => {
  const sets = (provider: string, model: string) => ({provider, override_params: {model}})

  test('are those of its targets', async () => {
    const result = await asked(
      '/v1/models',
      by({strategy: {mode: 'fallback'}, targets: [{provider: '@local'}, {provider: '@own'}]}),
    )
    expect(result.ids).toEqual(['@local/llama', '@own/mine', '@local/qwen'])
    const held = await asked('/v1/models', {
      ...by({strategy: {mode: 'fallback'}, targets: [{provider: '@local'}, {provider: '@own'}]}),
      ...(await key({deny: ['mine']})),
    })
    expect(held.ids).toEqual(['@local/llama', '@local/qwen'])
  })

  test('are the one that a target sets', async () => {
    const result = await asked(
      '/v1/models',
      by({strategy: {mode: 'loadbalance'}, targets: [sets('@local', 'llama'), sets('@cloud', 'gpt-4o')]}),
    )
    expect(result.ids).toEqual(['@cloud/gpt-4o', '@local/llama'])
  })

  test('J1: are the names that its conditions know, and none that it would refuse', async () => {
    const condition = (query: object, target: string) =>
      Object.fromEntries([
        ['query', query],
        ['then', target],
      ])
    const config = (more: object = {}) => ({
      strategy: {
        mode: 'conditional',
        conditions: [
          condition({'params.model': {$eq: 'smart'}}, 'smart'),
          condition({$or: [{'params.model': {$in: ['cheap', 'small']}}, {'params.model': 'tiny'}]}, 'cheap'),
          condition({'metadata.team': {$eq: 'red'}}, 'red'),
        ],
        ...more,
      },
      targets: [
        {name: 'smart', ...sets('@cloud', 'gpt-4o')},
        {name: 'cheap', ...sets('@local', 'llama')},
        {name: 'red', provider: '@own'},
      ],
    })
    const result = await asked('/v1/models', by(config()))
    expect([result.status, result.ids]).toEqual([200, expect.any(Array)])
    expect(result.ids.toSorted()).toEqual(['cheap', 'small', 'smart', 'tiny'])
    expect(result.rows.find(({id}) => id === 'smart')).toMatchObject({
      owned_by: 'openai',
      slug: 'gpt-4o',
      max_output_tokens: 16_384,
    })
    const red = await asked('/v1/models', {...by(config()), 'x-gateway-metadata': '{"team":"red"}'})
    expect(red.ids).toContain('@own/mine')
    expect((await asked('/v1/models', by(config({default: 'red'})))).ids).toContain('@own/mine')
    const held = await asked('/v1/models', {...by(config()), ...(await key({allow: ['gpt-4o']}))})
    expect(held.ids).toEqual(['smart'])
    expect((await asked('/v1/models/smart', by(config()))).body).toMatchObject({id: 'smart', object: 'model'})
    for (const id of result.ids) {
      const headers = {...by(config()), 'content-type': 'application/json'}
      const body = JSON.stringify({model: id, messages: [{role: 'user', content: 'x'}]})
      engine.answer(openaiLike)
      if (id !== 'smart')
        expect((await gateway.call('/v1/chat/completions', {method: 'POST', body, headers})).status).toBe(200)
    }
  })

  test('are all where the provider is left to the call', async () => {
    const result = await asked(
      '/v1/models',
      by({strategy: {mode: 'fallback'}, targets: [{passthrough: true}, {provider: '@local'}]}),
    )
    expect(slugsIn(result)).toEqual(expect.arrayContaining(['claude', 'cloud', 'local', 'own']))
  })
})
