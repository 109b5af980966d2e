import {request} from 'node:http'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {asLines} from '../support/files.ts'
import {json} from '../support/provider.ts'
import {CHAT, type RoutingSetup, startRouting} from '../support/routing.ts'

let routed: RoutingSetup
let workspace: string
let keys = 0

beforeAll(async () => {
  routed = await startRouting({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  workspace = (await routed.gateway.admin<{data: {slug: string}[]}>('GET', '/admin/workspaces')).data[0]!.slug
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

interface Asked {
  readonly key?: string
  readonly config?: object | string
  readonly headers?: Record<string, string>
  readonly method?: string
}

const keyWith = (models: object) => routed.key({models})
const onWorkspace = (models: object | null) => routed.gateway.admin('PUT', `/admin/workspaces/${workspace}`, {models})

/** Sends `body` and gives status, and what refused it. */
async function sent(path: string, body: object | undefined, {key, config, headers, method = 'POST'}: Asked = {}) {
  const at: Record<string, string> =
    config === undefined
      ? {'x-gateway-provider': '@a'}
      : {'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config)}
  const response = await routed.gateway.call(path, {
    method,
    ...(body && {body: JSON.stringify(body)}),
    headers: {
      ...(body && {'content-type': 'application/json'}),
      ...at,
      ...(key !== undefined && {'x-gateway-api-key': key}),
      ...headers,
    },
  })
  const text = await response.text()
  const fault = response.status < 400 ? null : (JSON.parse(text) as {error: {type: string; message: string}}).error
  return {status: response.status, type: fault?.type ?? null, message: fault?.message ?? null}
}
const chat = (model: string, asked?: Asked) => sent('/v1/chat/completions', {...CHAT, model}, asked)
const REFUSED = {status: 412, type: 'model_not_allowed_error'}

describe('fact 26: the models of a key', () => {
  test('are those that its globs allow, whatever the case, by name and by provider', async () => {
    const key = await keyWith({allow: ['gpt-4o*', '@b/*']})
    expect(await chat('gpt-4o-mini', {key})).toMatchObject({status: 200})
    expect(await chat('GPT-4o-mini', {key})).toMatchObject({status: 200})
    expect(await chat('@b/whatever', {key, config: {provider: '@b'}})).toMatchObject({status: 200})
    expect(await chat('whatever', {key, config: {provider: '@b'}})).toMatchObject({status: 200})
    const refused = await chat('o1', {key})
    expect(refused).toMatchObject(REFUSED)
    expect(refused.message).toContain('The model o1 is not allowed for the API key')
    expect(routed.received()).toMatchObject({a: 2, b: 2})
  })

  test('deny wins over allow', async () => {
    const key = await keyWith({allow: ['gpt-4o*'], deny: ['*-mini', '@b/gpt-4o']})
    expect(await chat('gpt-4o', {key})).toMatchObject({status: 200})
    expect(await chat('gpt-4o-mini', {key})).toMatchObject(REFUSED)
    expect(await chat('GPT-4O-MINI', {key})).toMatchObject(REFUSED)
    expect(await chat('gpt-4o', {key, config: {provider: '@b'}})).toMatchObject(REFUSED)
    expect(routed.received()).toMatchObject({a: 1, b: 0})
  })

  test('are held beside those of the workspace, and the refusal says whose list it was', async () => {
    const key = await keyWith({deny: ['o1']})
    await onWorkspace({allow: ['gpt-*', 'o1']})
    try {
      expect(await chat('gpt-4o', {key})).toMatchObject({status: 200})
      expect((await chat('o1', {key})).message).toContain('the API key')
      expect((await chat('claude', {key})).message).toMatch(/claude is not allowed for the workspace /)
      expect(await chat('claude')).toMatchObject(REFUSED)
      expect(await chat('o1')).toMatchObject({status: 200})
    } finally {
      await onWorkspace(null)
    }
    expect(await chat('claude')).toMatchObject({status: 200})
  })

  test('hold for the key of the provider that the caller brings, which no slug names', async () => {
    const key = await keyWith({allow: ['@openai/*']})
    const own = {'x-gateway-provider': 'openai', 'x-gateway-custom-host': routed.a.url, authorization: 'Bearer sk-own'}
    const asked = (key: string) => sent('/v1/chat/completions', CHAT, {headers: {...own, 'x-gateway-api-key': key}})
    expect(await asked(key)).toMatchObject(REFUSED)
    expect(await asked(await keyWith({allow: [CHAT.model]}))).toMatchObject({status: 200})
  })

  test('are held on the model that a config sets, and on each target of it', async () => {
    const key = await keyWith({allow: ['gpt-4o']})
    const sets = (model: string, provider = '@a') => ({provider, override_params: {model}})
    expect(await chat('gpt-4o', {key, config: sets('o1')})).toMatchObject(REFUSED)
    expect(await chat('o1', {key, config: sets('gpt-4o')})).toMatchObject({status: 200})
    const fallback = {strategy: {mode: 'fallback'}, targets: [sets('o1'), sets('gpt-4o', '@b')]}
    expect(await chat('anything', {key, config: fallback})).toMatchObject({status: 200})
    const only = {strategy: {mode: 'fallback'}, targets: [sets('o1'), sets('o3', '@b')]}
    expect(await chat('anything', {key, config: only})).toMatchObject(REFUSED)
    expect(routed.received()).toMatchObject({a: 1, b: 1})
  })

  test.each([
    ['/v1/completions', {prompt: 'x'}],
    ['/v1/embeddings', {input: 'x'}],
    ['/v1/responses', {input: 'x'}],
    ['/v1/messages', {messages: [{role: 'user', content: 'x'}], max_tokens: 5}],
    ['/v1/images/generations', {prompt: 'x'}],
    ['/v1/audio/speech', {input: 'x', voice: 'alloy'}],
    ['/v1/moderations', {input: 'x'}],
    ['/v1/proxy/chat/completions', {messages: []}],
    ['/v1/something/new', {}],
  ])('are held on %s', async (path, body) => {
    const key = await keyWith({allow: ['fine']})
    expect((await sent(path, {...body, model: 'fine'}, {key})).status).not.toBe(412)
    routed.reset()
    for (const refused of [await sent(path, {...body, model: 'other'}, {key}), await sent(path, body, {key})]) {
      expect(refused.status).toBe(412)
      expect(refused.message).toContain('is not allowed for the API key')
    }
    expect(routed.received().a).toBe(0)
  })

  test('are held on the model in a form', async () => {
    const key = await keyWith({allow: ['whisper-1']})
    const form = async (model: string) => {
      const body = new FormData()
      body.set('model', model)
      body.set('file', new Blob(['sound']), 'a.mp3')
      const headers = {'x-gateway-provider': '@a', 'x-gateway-api-key': key}
      return (await routed.gateway.call('/v1/audio/transcriptions', {method: 'POST', body, headers})).status
    }
    expect([await form('whisper-1'), await form('whisper-2')]).toEqual([200, 412])
  })

  test('are held on the model of a prompt', async () => {
    const key = await keyWith({allow: ['o1']})
    expect(await sent(`/v1/prompts/${routed.prompt}/completions`, {variables: {text: 'x'}}, {key})).toMatchObject(
      REFUSED,
    )
  })

  test('are held on each row of a batch', async () => {
    const key = await keyWith({deny: ['claude-opus*']})
    const row = (custom_id: string, model: string) => ({
      custom_id,
      method: 'POST',
      url: '/v1/chat/completions',
      body: {model, max_tokens: 5, messages: [{role: 'user', content: 'x'}]},
    })
    const tried = async (...models: string[]) => {
      const body = new FormData()
      body.set('purpose', 'batch')
      body.set('file', new Blob([asLines(models.map((model, at) => row(String(at), model)))]), 'rows.jsonl')
      const headers = {'x-gateway-provider': '@claude', 'x-gateway-api-key': key}
      const uploaded = await routed.gateway.call('/v1/files', {method: 'POST', body, headers})
      const {id: input_file_id} = (await uploaded.json()) as {id?: string}
      if (!input_file_id) return uploaded.status
      const batch = {input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h'}
      return (await sent('/v1/batches', batch, {key, headers: {'x-gateway-provider': '@claude'}})).status
    }
    expect(await tried('claude-haiku-4-5', 'claude-opus-4-8')).toBe(412)
    expect(await tried('claude-haiku-4-5')).not.toBe(412)
  })

  test('are held on sessions', async () => {
    const key = await keyWith({allow: ['gpt-realtime']})
    const opened = (model: string) =>
      new Promise<number>((done, failed) => {
        const headers = {
          'x-gateway-api-key': key,
          'x-gateway-provider': '@a',
          connection: 'upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        }
        request(`${routed.gateway.url}/v1/realtime?model=${model}`, {headers}, response => {
          response.resume()
          done(response.statusCode!)
        })
          .on('error', failed)
          .end()
      })
    expect(await opened('other')).toBe(412)
    expect(await opened('gpt-realtime')).not.toBe(412)
  })

  test('are no hindrance to what runs no model', async () => {
    const key = await keyWith({allow: ['gpt-4o']})
    for (const [method, path] of [
      ['POST', '/v1/vector_stores'],
      ['POST', '/v1/vector_stores/vs_1/search'],
      ['GET', '/v1/files'],
      ['POST', '/v1/threads'],
      ['POST', '/v1/threads/t_1/messages'],
      ['POST', '/v1/threads/t_1/runs/run_1/cancel'],
      ['POST', '/v1/conversations'],
      ['POST', '/v1/batches/b_1/cancel'],
      ['GET', '/v1/something/new'],
      ['DELETE', '/v1/vector_stores/vs_1'],
    ] as const)
      expect([path, (await sent(path, method === 'POST' ? {name: 'x'} : undefined, {key, method})).status]).toEqual([
        path,
        200,
      ])
    const body = new FormData()
    body.set('purpose', 'assistants')
    body.set('file', new Blob(['text']), 'a.txt')
    const headers = {'x-gateway-provider': '@a', 'x-gateway-api-key': key}
    expect((await routed.gateway.call('/v1/files', {method: 'POST', body, headers})).status).toBe(200)
  })

  test('are told by explain, for the workspace', async () => {
    await onWorkspace({deny: ['o1']})
    try {
      const explained = async (model: string) =>
        await routed.gateway.admin<{targets: {refusal: {message: string} | null}[]}>('POST', '/configs/explain', {
          workspace_id: workspace,
          config: {provider: '@a'},
          request: {body: {...CHAT, model}},
        })
      expect((await explained('o1')).targets[0]!.refusal?.message).toContain('the workspace')
      expect((await explained('gpt-4o')).targets[0]!.refusal).toBeNull()
    } finally {
      await onWorkspace(null)
    }
  })

  test('act at once, and outlive a rotation of the key', async () => {
    const made = await routed.gateway.admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', {
      name: `rotated ${++keys}`,
      scopes: ['completions.write'],
      workspace_id: workspace,
    })
    expect(await chat('o1', {key: made.key})).toMatchObject({status: 200})
    await routed.gateway.admin('PUT', `/api-keys/${made.id}`, {models: {deny: ['o1']}})
    expect(await chat('o1', {key: made.key})).toMatchObject(REFUSED)
    const {key} = await routed.gateway.admin<{key: string}>('POST', `/api-keys/${made.id}/rotate`, {})
    expect([await chat('o1', {key}), await chat('o1', {key: made.key})]).toMatchObject([REFUSED, REFUSED])
    await routed.gateway.admin('PUT', `/api-keys/${made.id}`, {models: null})
    expect(await chat('o1', {key})).toMatchObject({status: 200})
  })
})

describe('fact 26: what was made before', () => {
  const made = (id: string) => routed.a.answer((_, response) => json(response, {id, object: 'x'}))
  const upload = async (key: string, ...models: (string | undefined)[]) => {
    const rows = models.map((model, at) => ({
      custom_id: String(at),
      method: 'POST',
      url: '/v1/chat/completions',
      body: {model, messages: []},
    }))
    const body = new FormData()
    body.set('purpose', 'batch')
    body.set('file', new Blob([asLines(rows)]), 'rows.jsonl')
    return (
      await routed.gateway.call('/v1/files', {
        method: 'POST',
        body,
        headers: {'x-gateway-provider': '@a', 'x-gateway-api-key': key},
      })
    ).status
  }
  const batch = (key: string, input_file_id: string, more: object = {}) =>
    sent('/v1/batches', {input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h', ...more}, {key})

  test('a batch runs a file whose rows were held against the list, and no other', async () => {
    const key = await keyWith({allow: ['gpt-4o*']})
    made('file-good')
    expect(await upload(key, 'gpt-4o', '@a/gpt-4o-mini')).toBe(200)
    expect(await batch(key, 'file-good')).toMatchObject({status: 200})
    expect(await upload(key, 'gpt-4o', 'o1')).toBe(412)
    expect(await upload(key, 'gpt-4o', undefined)).toBe(412)
    const refused = await batch(key, 'file-other')
    expect(refused).toMatchObject(REFUSED)
    expect(refused.message).toContain('was made before')
    // what the body names beside it runs nothing
    expect(await batch(key, 'file-other', {model: 'gpt-4o'})).toMatchObject(REFUSED)
    const narrower = await keyWith({deny: ['*-mini']})
    expect((await batch(narrower, 'file-good')).message).toContain('gpt-4o-mini is not allowed')
    expect((await batch(key, 'file-good', {metadata: null})).status).toBe(200)
    const elsewhere = {headers: {'x-gateway-provider': '@b'}, key}
    expect(
      await sent('/v1/batches', {input_file_id: 'file-good', endpoint: '/v1/chat/completions'}, elsewhere),
    ).toMatchObject(REFUSED)
  })

  test('a run uses an assistant that was made with an allowed model, or names one itself', async () => {
    const key = await keyWith({allow: ['gpt-4o']})
    const free = await routed.key({})
    made('asst_good')
    expect(await sent('/v1/assistants', {model: 'gpt-4o'}, {key: free})).toMatchObject({status: 200})
    made('asst_dear')
    expect(await sent('/v1/assistants', {model: 'o1'}, {key: free})).toMatchObject({status: 200})
    made('run_1')
    expect(await sent('/v1/threads/t_1/runs', {assistant_id: 'asst_good'}, {key})).toMatchObject({status: 200})
    expect(await sent('/v1/threads/t_1/runs/run_1/submit_tool_outputs', {tool_outputs: []}, {key})).toMatchObject({
      status: 200,
    })
    expect(await sent('/v1/threads/runs', {assistant_id: 'asst_dear'}, {key})).toMatchObject(REFUSED)
    expect(await sent('/v1/threads/runs', {assistant_id: 'asst_dear', model: 'gpt-4o'}, {key})).toMatchObject({
      status: 200,
    })
    expect(await sent('/v1/threads/runs', {assistant_id: 'asst_unknown'}, {key})).toMatchObject(REFUSED)
    expect(await sent('/v1/responses', {prompt: {id: 'pmpt_1'}}, {key})).toMatchObject(REFUSED)
    expect(await sent('/v1/threads/runs', {assistant_id: 'asst_unknown'}, {key: free})).toMatchObject({status: 200})
  })

  test('a file that was too large to be read is kept, and no batch runs it', async () => {
    const small = await startRouting({MAX_JSON_PAYLOAD_SIZE_IN_MB: '1'})
    try {
      const key = await small.key({models: {allow: ['gpt-4o']}})
      small.a.answer((_, response) => json(response, {id: 'file-large', object: 'file'}))
      const body = new FormData()
      body.set('purpose', 'batch')
      body.set('file', new Blob(['x'.repeat(2 << 20)]), 'rows.jsonl')
      const headers = {'x-gateway-provider': '@a', 'x-gateway-api-key': key}
      expect((await small.gateway.call('/v1/files', {method: 'POST', body, headers})).status).toBe(200)
      const asked = {
        method: 'POST',
        body: JSON.stringify({input_file_id: 'file-large'}),
        headers: {...headers, 'content-type': 'application/json'},
      }
      expect((await small.gateway.call('/v1/batches', asked)).status).toBe(412)
    } finally {
      await small.close()
    }
  })
})
