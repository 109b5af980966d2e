import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {awsMessage} from '../support/aws-message.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

const KINDS = {
  gem: 'google',
  bed: 'bedrock',
  oll: 'ollama',
  coh: 'cohere',
  oai: 'openai',
  ant: 'anthropic',
  groq: 'groq',
} as const

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const origin = provider.url.replace(/\/v1$/, '')
  for (const [slug, kind] of Object.entries(KINDS)) {
    const more =
      kind === 'bedrock'
        ? {configurations: {custom_host: origin, aws_region: 'us-east-1', aws_auth_type: 'apiKey'}}
        : {}
    await gateway.provider(
      slug,
      kind,
      kind === 'openai' || kind === 'groq' || kind === 'anthropic' ? provider.url : origin,
      more,
    )
  }
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})
beforeEach(() => {
  provider.received.length = 0
})

const IN = 100_000
const OUT = 5000
const gemini = {
  candidates: [{content: {role: 'model', parts: [{text: 'x'}]}, finishReason: 'STOP', index: 0}],
  usageMetadata: {promptTokenCount: IN, candidatesTokenCount: OUT, totalTokenCount: IN + OUT},
  modelVersion: 'gemini-2.5-pro',
}
const converse = {
  output: {message: {role: 'assistant', content: [{text: 'hi'}]}},
  stopReason: 'end_turn',
  usage: {inputTokens: IN, outputTokens: OUT, totalTokens: IN + OUT},
}
const ollama = {
  model: 'llama3',
  message: {role: 'assistant', content: 'hi'},
  done: true,
  prompt_eval_count: IN,
  eval_count: OUT,
}
const cohere = {
  id: 'c',
  message: {role: 'assistant', content: [{type: 'text', text: 'hi'}]},
  finish_reason: 'COMPLETE',
  usage: {billed_units: {input_tokens: IN, output_tokens: OUT}, tokens: {input_tokens: IN + 500, output_tokens: OUT}},
}
const claude = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [],
  model: 'claude-sonnet-4-5',
  usage: {input_tokens: IN, output_tokens: OUT},
}
const openai = {
  id: 'c',
  object: 'chat.completion',
  model: 'gpt-4o',
  choices: [{index: 0, message: {role: 'assistant', content: 'hi'}, finish_reason: 'stop'}],
  usage: {prompt_tokens: IN, completion_tokens: OUT, total_tokens: IN + OUT},
}
const contents = {contents: [{role: 'user', parts: [{text: 'hi'}]}]}
const messages = {messages: [{role: 'user', content: 'hi'}]}
const turns = {messages: [{role: 'user', content: [{text: 'hi'}]}]}
const CLAUDE = 'anthropic.claude-sonnet-4-5-20250929-v1:0'

async function ask(slug: string, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await gateway.call(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {'content-type': 'application/json', ...(slug ? {'x-gateway-provider': `@${slug}`} : {}), ...headers},
  })
  return {status: response.status, text: await response.text()}
}

const tokens = (row: Record<string, unknown>) => [row.ai_model, row.req_units, row.res_units]
/** A stream as its vendor frames it; `end` may be a test's own. */
function stream(type: string, parts: readonly (string | Buffer)[]) {
  provider.answer((_, response) => {
    response.writeHead(200, {'content-type': type})
    for (const part of parts) response.write(part)
    response.end()
  })
}

/** Each is costed as the unified route costs the same (doors 1). */
const WHOLE: readonly [name: string, slug: string, path: string, body: object, reply: object, model: string][] = [
  ['Gemini', 'gem', '/v1beta/models/gemini-2.5-pro:generateContent', contents, gemini, 'gemini-2.5-pro'],
  ['Gemini without a version', 'gem', '/models/gemini-2.5-pro:generateContent', contents, gemini, 'gemini-2.5-pro'],
  ['Bedrock converse', 'bed', `/model/${encodeURIComponent(CLAUDE)}/converse`, turns, converse, CLAUDE],
  ['Bedrock invoke', 'bed', `/model/${encodeURIComponent(CLAUDE)}/invoke`, messages, claude, CLAUDE],
  ['Ollama chat', 'oll', '/api/chat', {model: 'llama3', stream: false, ...messages}, ollama, 'llama3'],
  [
    'Ollama generate',
    'oll',
    '/api/generate',
    {model: 'llama3', stream: false, prompt: 'hi'},
    {...ollama, response: 'hi'},
    'llama3',
  ],
  ['Cohere chat', 'coh', '/v2/chat', {model: 'command-a-03-2025', ...messages}, cohere, 'command-a-03-2025'],
  ['OpenAI chat', 'oai', '/chat/completions', {model: 'gpt-4o', ...messages}, openai, 'gpt-4o'],
  ['a deployment', 'oai', '/deployments/gpt-4o/chat/completions', messages, openai, 'gpt-4o'],
  [
    'Anthropic',
    'ant',
    '/messages',
    {model: 'claude-sonnet-4-5', max_tokens: 5, ...messages},
    claude,
    'claude-sonnet-4-5',
  ],
]

describe('by its own path a call is costed as the unified route costs the same', () => {
  const cases = WHOLE.flatMap(row => ['/v1/proxy', '/v1'].map(base => [row[0], base, row] as const))
  test.each(cases)('doors 1: %s below %s', async (_, base, [, slug, path, body, reply, model]) => {
    provider.answer((_, response) => json(response, reply))
    const {status, text} = await ask(slug, base + path, body)
    expect([status, JSON.parse(text)]).toEqual([200, reply])
    const [row] = await gateway.logs()
    expect(tokens(row!)).toEqual([model, IN, OUT])
    expect(row).toMatchObject({usage_source: 'provider'})
    if (slug !== 'oll') expect(row!.cost).toBeGreaterThan(0.01)
  })

  test('doors 1: by a model in the path that names its provider', async () => {
    provider.answer((_, response) => json(response, gemini))
    expect((await ask('', '/v1beta/models/@gem/gemini-2.5-pro:generateContent', contents)).status).toBe(200)
    expect(provider.received[0]!.path).toBe('/v1beta/models/gemini-2.5-pro:generateContent')
    expect(tokens((await gateway.logs())[0]!)).toEqual(['gemini-2.5-pro', IN, OUT])
  })
})

describe('streams in vendors own words', () => {
  const chunk = (parts: object) => `data: ${JSON.stringify(parts)}\r\n\r\n`
  const early = {...gemini, usageMetadata: {promptTokenCount: IN, candidatesTokenCount: 7, totalTokenCount: IN + 7}}

  test('doors 1: Gemini by events, counts being cumulative', async () => {
    const parts = [chunk(early), chunk(gemini), chunk(early)]
    stream('text/event-stream', parts)
    const {text} = await ask('gem', '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse', contents)
    expect(text).toBe(parts.join(''))
    const [row] = await gateway.logs()
    expect(tokens(row!)).toEqual(['gemini-2.5-pro', IN, OUT])
    expect(row).toMatchObject({usage_source: 'provider'})
  })

  test('doors 1: Gemini as one list', async () => {
    stream('application/json; charset=UTF-8', ['[', JSON.stringify(early), ',\r\n', JSON.stringify(gemini), ']'])
    await ask('gem', '/v1beta/models/gemini-2.5-pro:streamGenerateContent', contents)
    expect(tokens((await gateway.logs())[0]!)).toEqual(['gemini-2.5-pro', IN, OUT])
  })

  test('doors 1: Ollama by lines', async () => {
    const first = {model: 'llama3', message: {role: 'assistant', content: 'h'}, done: false}
    const lines = [`${JSON.stringify(first)}\n`, `${JSON.stringify(ollama)}\n`]
    stream('application/x-ndjson', lines)
    const {text} = await ask('oll', '/v1/api/chat', {model: 'llama3', ...messages})
    expect(text).toBe(lines.join(''))
    expect(tokens((await gateway.logs())[0]!)).toEqual(['llama3', IN, OUT])
  })

  test('doors 1: Bedrock, Converse and what a model says inside InvokeModel', async () => {
    const metadata = {usage: converse.usage, metrics: {latencyMs: 1}}
    stream('application/vnd.amazon.eventstream', [
      awsMessage('contentBlockDelta', {contentBlockIndex: 0, delta: {text: 'hi'}}),
      awsMessage('metadata', metadata),
    ])
    await ask('bed', `/v1/model/${encodeURIComponent(CLAUDE)}/converse-stream`, turns)
    expect(tokens((await gateway.logs())[0]!)).toEqual([CLAUDE, IN, OUT])

    const inner = (data: object) => awsMessage('chunk', {bytes: Buffer.from(JSON.stringify(data)).toString('base64')})
    stream('application/vnd.amazon.eventstream', [
      inner({type: 'message_start', message: {usage: {input_tokens: IN, output_tokens: 1}}}),
      inner({type: 'message_delta', delta: {stop_reason: 'end_turn'}, usage: {output_tokens: OUT}}),
      inner({type: 'message_stop', 'amazon-bedrock-invocationMetrics': {inputTokenCount: IN, outputTokenCount: OUT}}),
    ])
    await ask('bed', `/v1/model/${encodeURIComponent(CLAUDE)}/invoke-with-response-stream`, messages)
    expect(tokens((await gateway.logs())[0]!)).toEqual([CLAUDE, IN, OUT])
  })

  test('doors 1: Cohere at the end of its messages', async () => {
    const end = {type: 'message-end', delta: {finish_reason: 'COMPLETE', usage: cohere.usage}}
    stream('text/event-stream', [`event: message-end\ndata: ${JSON.stringify(end)}\n\n`])
    await ask('coh', '/v1/v2/chat', {model: 'command-a-03-2025', stream: true, ...messages})
    expect(tokens((await gateway.logs())[0]!)).toEqual(['command-a-03-2025', IN, OUT])
  })

  test('a stream that is cut before it tells its usage is estimated by its text', async () => {
    const piece = {candidates: [{content: {parts: [{text: 'word '.repeat(400)}]}}]}
    provider.answer((_, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'})
      response.write(chunk(piece))
      setTimeout(() => response.destroy(), 20)
    })
    await ask('gem', '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse', contents).catch(() => undefined)
    const [row] = await gateway.logs()
    expect(row!.res_units).toBeGreaterThan(300)
  })
})

describe('what leaves', () => {
  test.each([
    ['gem', '/v1/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
    ['gem', '/v1beta/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
    ['gem', '/v1/models/m:generateContent', '/v1beta/models/m:generateContent'],
    ['oai', '/v1/proxy/v1/chat/completions', '/v1/chat/completions'],
    ['oai', '/v1/v1/chat/completions', '/v1/chat/completions'],
    ['groq', '/openai/v1/chat/completions', '/v1/chat/completions'],
    ['groq', '/v1/openai/v1/chat/completions', '/v1/chat/completions'],
    ['oai', '/v1/chat/completions/', '/v1/chat/completions'],
    ['oll', '/api/chat', '/api/chat'],
    ['coh', '/v2/chat', '/v2/chat'],
  ])('doors 5: %s %s goes to %s', async (slug, path, leaves) => {
    provider.answer((_, response) => json(response, openai))
    expect((await ask(slug, path, {model: 'm', ...messages})).status).toBe(200)
    expect(provider.received[0]!.path).toBe(leaves)
  })

  test.each([
    ['POST', '/responses/compact'],
    ['POST', '/responses/input_tokens'],
    ['GET', '/chat/completions'],
    ['POST', '/chat/completions/chatcmpl-1'],
    ['DELETE', '/chat/completions/chatcmpl-1'],
    ['POST', '/conversations'],
  ])('doors 6: %s %s is the provider’s', async (method, path) => {
    provider.answer((_, response) => json(response, {object: 'list', data: [], usage: openai.usage}))
    const body = method === 'POST' ? JSON.stringify({metadata: {a: 'b'}}) : null
    const headers = {'x-gateway-provider': '@oai', 'content-type': 'application/json'}
    const response = await gateway.call(`/v1${path}`, {method, ...(body && {body}), headers})
    expect([response.status, provider.received[0]!.path]).toEqual([200, `/v1${path}`])
    await response.text()
    // doors 7: what shows, changes or ends what is there costs nothing, whatever usage its reply repeats
    const [row] = await gateway.logs()
    if (!path.endsWith('/compact')) expect(row).toMatchObject({cost: 0, req_units: 0, res_units: 0})
  })
})

test('doors 2: an unknown operation that brings no usage says so', async () => {
  provider.answer((_, response) => json(response, {ok: true}))
  await ask('oai', '/v1/brand/new', {model: 'gpt-4o', input: 'hi'})
  expect((await gateway.logs())[0]).toMatchObject({ai_model: 'gpt-4o', usage_source: 'unmetered', cost: 0})
})

test('doors 2: an unknown operation is charged by whatever usage it tells', async () => {
  provider.answer((_, response) => json(response, openai))
  await ask('oai', '/v1/brand/new', {model: 'gpt-4o', input: 'hi'})
  expect(tokens((await gateway.logs())[0]!)).toEqual(['gpt-4o', IN, OUT])
})

test('a strict limit of cost refuses what costs by no known rate', async () => {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const usage_limits = {type: 'cost', credit_limit: 100, enforcement: 'strict'}
  const body = {name: 'strict', workspace_id: workspace!.id, scopes: ['completions.write'], usage_limits}
  const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)
  const {status, text} = await ask('oai', '/v1/vector_stores/vs_1/search', {query: 'x'}, {'x-gateway-api-key': key})
  expect([status, provider.received.length]).toEqual([412, 0])
  expect(text).toContain('openai.vector_stores.search')
})

describe('keys where vendors’ clients put them', () => {
  test.each([
    ['x-goog-api-key', '/v1beta/models/@gem/gemini-2.5-pro:generateContent'],
    ['api-key', '/openai/deployments/@oai/gpt-4o/chat/completions?api-version=2024-10-21'],
    ['x-api-key', '/v1/chat/completions'],
  ])('%s is a key of the gateway, and leaves for nobody', async (header, path) => {
    provider.answer((_, response) => json(response, openai))
    const key = 'gk-test-workspace-key-of-at-least-32-characters'
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      body: JSON.stringify({model: '@oai/gpt-4o', ...messages}),
      headers: {'content-type': 'application/json', [header]: key},
    })
    expect(response.status).toBe(200)
    expect(JSON.stringify(provider.received)).not.toContain(key)
  })

  test('without a key a vendor’s own path answers 401 in the vendor’s shape', async () => {
    const response = await fetch(`${gateway.url}/v1beta/models/gemini-2.5-pro:generateContent`, {
      method: 'POST',
      body: '{}',
    })
    expect([response.status, ((await response.json()) as {error: {status: string}}).error.status]).toEqual([
      401,
      'UNAUTHENTICATED',
    ])
  })
})

describe('doors 24: operations that hand a credential out', () => {
  const session = {session: {type: 'realtime', model: 'gpt-realtime'}}
  const keyWith = async (fields: object) => {
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const body = {name: 'bound', workspace_id: workspace!.id, scopes: ['completions.write'], ...fields}
    return (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
  }
  const asked = async (key?: string) => {
    provider.answer((_, response) => json(response, {value: 'ek_1'}))
    const {status} = await ask('oai', '/v1/realtime/client_secrets', session, key ? {'x-gateway-api-key': key} : {})
    return [status, provider.received.length]
  }

  test('pass where nothing binds the caller, and say that nothing was metered', async () => {
    expect(await asked()).toEqual([200, 1])
    expect((await gateway.logs())[0]).toMatchObject({usage_source: 'unmetered', cost: 0})
  })

  test.each<[string, object, number[]]>([
    ['a limit of cost', {usage_limits: {type: 'cost', credit_limit: 5}}, [403, 0]],
    ['a limit of tokens', {usage_limits: {type: 'tokens', credit_limit: 500}}, [403, 0]],
    ['a list that allows the model', {models: {allow: ['gpt-realtime']}}, [403, 0]],
    ['a list without the model', {models: {allow: ['gpt-4o']}}, [412, 0]],
    ['a limit of requests alone', {rate_limits: [{type: 'requests', unit: 'rpm', value: 50}]}, [200, 1]],
  ])('are refused under %s', async (_, fields, expected) => {
    expect(await asked(await keyWith(fields))).toEqual(expected)
  })
})

test('doors 4: Gemini’s words for another kind’s model are not available yet', async () => {
  const {status, text} = await ask('', '/v1beta/models/@oai/gpt-4o:generateContent', contents)
  expect([status, JSON.parse(text).error.status, provider.received.length]).toEqual([501, 'UNIMPLEMENTED', 0])
})

test('doors 3: a deployment that the integration lists is the model that it lists', async () => {
  const deployments = [
    {azure_deployment_name: 'my-dep', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o', is_default: true},
  ]
  const configurations = {
    custom_host: provider.url.replace(/\/v1$/, '/openai'),
    azure_auth_mode: 'default',
    azure_deployment_config: deployments,
  }
  await gateway.provider('az', 'azure-openai', provider.url, {
    configurations: {...configurations, azure_resource_name: 'r'},
  })
  provider.answer((_, response) => json(response, openai))
  expect(
    (await ask('az', '/openai/deployments/my-dep/chat/completions?api-version=2024-10-21', {model: 'o1', ...messages}))
      .status,
  ).toBe(200)
  expect(provider.received[0]!.path).toBe('/openai/deployments/my-dep/chat/completions?api-version=2024-10-21')
  expect(tokens((await gateway.logs())[0]!)).toEqual(['gpt-4o', IN, OUT])
})

describe('doors 9: from a vendor’s own client, paths mean the vendor’s own operations', () => {
  const version = {'anthropic-version': '2023-06-01'}
  const get = async (slug: string, path: string, headers: Record<string, string> = {}) => {
    const response = await gateway.call(path, {headers: {'x-gateway-provider': `@${slug}`, ...headers}})
    return {status: response.status, body: (await response.json()) as Record<string, unknown>}
  }
  const files = {
    data: [{id: 'file_1', type: 'file', size_bytes: 3, extra: 1}],
    has_more: false,
    first_id: 'file_1',
    last_id: 'file_1',
  }

  test.each(['/v1/files', '/v1/skills', '/v1/messages/batches'])('%s is Anthropic’s as it came', async path => {
    provider.answer((_, response) => json(response, files))
    expect(await get('ant', `${path}?limit=3`, version)).toEqual({status: 200, body: files})
    expect(provider.received.map(({path}) => path)).toEqual([`${path}?limit=3`])
    expect((await gateway.logs())[0]).toMatchObject({cost: 0, usage_source: 'none'})
  })

  test('without its header files are OpenAI’s', async () => {
    provider.answer((_, response) => json(response, {...files, data: []}))
    expect((await get('ant', '/v1/files')).body).toMatchObject({object: 'list', data: []})
  })

  test('an upload leaves as the client wrote it', async () => {
    provider.answer((_, response) => json(response, files.data[0]))
    const form = new FormData()
    form.set('file', new File(['abc'], 'a.txt'))
    const sent = new Request('http://127.0.0.1', {method: 'POST', body: form})
    const headers = {...version, 'x-gateway-provider': '@ant', 'content-type': sent.headers.get('content-type')!}
    const bytes = Buffer.from(await sent.arrayBuffer())
    const response = await gateway.call('/v1/files', {method: 'POST', body: bytes, headers})
    expect(await response.json()).toEqual(files.data[0])
    expect(provider.received[0]!.body.equals(bytes)).toBe(true)
  })

  test('the next target of another kind is asked in OpenAI’s words, and answers in Anthropic’s', async () => {
    provider.answer(({headers}, response) =>
      json(response, {object: 'list', data: []}, headers['x-api-key'] ? 500 : 200),
    )
    const config = JSON.stringify({strategy: {mode: 'fallback'}, targets: [{provider: '@ant'}, {provider: '@oai'}]})
    const {status, body} = await get('ant', '/v1/files', {...version, 'x-gateway-config': config})
    expect([status, body]).toEqual([200, {data: [], has_more: false, first_id: null, last_id: null, next_page: null}])
    const rows = await gateway.logs()
    expect(rows.slice(0, 2).map(row => row.is_proxy_call)).toEqual([false, true])
  })

  test.each(['/v1/skills', '/v1/messages/batches', '/v1/messages/batches/b_1/results'])(
    '%s is 501 for a kind without Messages',
    async path => {
      expect((await get('oai', path, version)).status).toBe(501)
      expect(provider.received).toEqual([])
    },
  )

  test('Google’s client reads Google’s files', async () => {
    provider.answer((_, response) => json(response, {files: [{name: 'files/f_1'}]}))
    expect(await get('gem', '/v1/files', {'x-goog-api-client': 'google-genai-sdk/3.1.0'})).toEqual({
      status: 200,
      body: {files: [{name: 'files/f_1'}]},
    })
    expect(provider.received[0]!.path).toBe('/v1beta/files')
  })

  test('a path of our administration too is Anthropic’s for its client, and ours for others', async () => {
    provider.answer((_, response) => json(response, files))
    expect((await get('ant', '/v1/deployments', version)).body).toEqual(files)
    expect((await get('ant', '/v1/deployments')).body).not.toEqual(files)
    expect((await get('ant', '/v1/proxy/deployments')).body).toEqual(files)
    expect(provider.received.map(({path}) => path)).toEqual(['/v1/deployments', '/v1/deployments'])
  })
})

test('doors 7: tokens that are counted beforehand cost nothing, and a training that has no rate says so', async () => {
  provider.answer((_, response) => json(response, claude))
  await ask('ant', '/v1/messages/count_tokens', {model: 'claude-sonnet-4-5', ...messages})
  expect((await gateway.logs())[0]).toMatchObject({cost: 0, req_units: 0, usage_source: 'none'})
  provider.answer((_, response) => json(response, {id: 'ftjob-1', object: 'fine_tuning.job'}))
  await ask('oai', '/v1/fine_tuning/jobs', {model: 'gpt-4o', training_file: 'file-1'})
  expect((await gateway.logs())[0]).toMatchObject({cost: 0, usage_source: 'unmetered'})
})
