import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {bundledCatalogue} from '../../src/pricing/catalogue.ts'
import {PriceCache} from '../../src/pricing/price-cache.ts'
import {withUnknown} from '../../src/proxy/records/price.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ENABLE_PROMETHEUS: 'true'})
  await gateway.provider('openai', 'openai', provider.url)
  await gateway.provider('groq', 'groq', provider.url)
  await gateway.provider('claude', 'anthropic', provider.url)
  await gateway.provider('mistral', 'mistral-ai', provider.url)
  await gateway.provider('x-ai', 'x-ai', provider.url)
  await gateway.provider('gemini', 'google', provider.url)
  await gateway.provider('bedrock', 'bedrock', provider.url, {
    key: 'k',
    configurations: {aws_region: 'us-east-1', aws_auth_type: 'apiKey', custom_host: provider.url.replace(/\/v1$/, '')},
  })
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})
beforeEach(() => {
  provider.received.length = 0
})

const at = (slug: string) => ({'x-gateway-provider': `@${slug}`, 'content-type': 'application/json'})
const messages = [{role: 'user', content: 'hi'}]
const choice = {index: 0, message: {role: 'assistant', content: 'Noon.'}, finish_reason: 'stop'}
const claude = {id: 'm', type: 'message', role: 'assistant', model: 'claude-haiku-4-5', stop_reason: 'end_turn'}
const spoken = [{type: 'text', text: 'Noon.'}]
const post = (slug: string, path: string, body: object) =>
  gateway.call(path, {method: 'POST', headers: at(slug), body: JSON.stringify(body)})
const chat = (usage: object) => ({id: 'c', object: 'chat.completion', model: 'gpt-4o-mini', choices: [choice], usage})
const tokens = {prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100}

interface EndpointCase {
  readonly slug: string
  readonly path: string
  readonly body: object
  /** The reply whose report has `more` in it. */
  readonly reply: (more: object) => object | string
}

const DOORS: Readonly<Record<string, EndpointCase>> = {
  'OpenAI chat': {
    slug: 'openai',
    path: '/v1/chat/completions',
    body: {model: 'gpt-4o-mini', messages},
    reply: more => chat({...tokens, ...more}),
  },
  'a stream of OpenAI chat': {
    slug: 'openai',
    path: '/v1/chat/completions',
    body: {model: 'gpt-4o-mini', messages, stream: true, stream_options: {include_usage: true}},
    reply: more =>
      [
        JSON.stringify({choices: [{index: 0, delta: {content: 'Noon.'}, finish_reason: 'stop'}]}),
        JSON.stringify({model: 'gpt-4o-mini', choices: [], usage: {...tokens, ...more}}),
        '[DONE]',
      ]
        .map(event => `data: ${event}\n\n`)
        .join(''),
  },
  Responses: {
    slug: 'openai',
    path: '/v1/responses',
    body: {model: 'gpt-4o-mini', input: 'hi'},
    reply: more => ({
      ...{id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-4o-mini', output: []},
      usage: {input_tokens: 1000, output_tokens: 100, total_tokens: 1100, ...more},
    }),
  },
  Messages: {
    slug: 'claude',
    path: '/v1/messages',
    body: {model: 'claude-haiku-4-5', max_tokens: 9, messages},
    reply: more => ({...claude, content: spoken, usage: {input_tokens: 1000, output_tokens: 100, ...more}}),
  },
  'chat with Claude': {
    slug: 'claude',
    path: '/v1/chat/completions',
    body: {model: 'claude-haiku-4-5', max_tokens: 9, messages},
    reply: more => ({...claude, content: spoken, usage: {input_tokens: 1000, output_tokens: 100, ...more}}),
  },
  'chat with Gemini': {
    slug: 'gemini',
    path: '/v1/chat/completions',
    body: {model: 'gemini-2.5-flash', messages},
    reply: more => gemini(more),
  },
  'Gemini by its own path': {
    slug: 'gemini',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    body: {contents: [{role: 'user', parts: [{text: 'hi'}]}]},
    reply: more => gemini(more),
  },
  'Bedrock by its own path': {
    slug: 'bedrock',
    path: '/v1/proxy/model/amazon.nova-lite-v1:0/converse',
    body: {messages: [{role: 'user', content: [{text: 'hi'}]}]},
    reply: more => ({
      output: {message: {role: 'assistant', content: [{text: 'Noon.'}]}},
      stopReason: 'end_turn',
      usage: {inputTokens: 1000, outputTokens: 100, totalTokens: 1100, ...more},
    }),
  },
}

function gemini(more: object) {
  const candidates = [{content: {role: 'model', parts: [{text: 'Noon.'}]}, finishReason: 'STOP', index: 0}]
  return {
    candidates,
    usageMetadata: {promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100, ...more},
  }
}

async function called({slug, path, body, reply}: EndpointCase, more: object) {
  provider.answer((_, response) => {
    const said = reply(more)
    if (typeof said === 'string') response.writeHead(200, {'content-type': 'text/event-stream'}).end(said)
    else json(response, said)
  })
  const answer = await post(slug, path, body)
  expect(answer.status, await answer.text()).toBe(200)
  const [row] = await gateway.logs()
  return row!
}

const metric = async (slug: string) => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  return Number(new RegExp(`^usage_unknown_count\\{provider="${slug}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

describe.each(Object.entries(DOORS))('doors 11: by %s', (_, door) => {
  test('a number that no reader knows is named and flags the entry, and changes nothing of what is charged', async () => {
    const plain = await called(door, {})
    expect(plain).toMatchObject({unpriced: false, usage_unknown: []})
    expect(plain.cost).toBeGreaterThan(0)
    const row = await called(door, {
      quantum_tokens: 7,
      deep: {dark_tokens: 3},
      nothing: 0,
      word: 'x',
      list: [{some: 1}, {some: 2}],
    })
    expect(row).toMatchObject({
      unpriced: true,
      usage_unknown: ['quantum_tokens', 'deep.dark_tokens', 'list.some'],
      cost: plain.cost,
    })
    expect(row.usage).toEqual(plain.usage)
  })
})

test('doors 11: at most 8 paths of 64 bytes are named, whatever a provider writes', async () => {
  const names = Array.from({length: 100}, (_, index) => `${'é'.repeat(60)}\u0000"\ud800${index}`)
  const row = await called(
    DOORS['OpenAI chat']!,
    Object.fromEntries(names.map((name, index) => [`m${index}${name}`, 1])),
  )
  const paths = row.usage_unknown as string[]
  expect(paths).toHaveLength(8)
  for (const path of paths) expect(Buffer.byteLength(path)).toBeLessThanOrEqual(64)
  const odd = (await called(DOORS['OpenAI chat']!, {'a\u0000"b\ud800': 1, constructor: 2})).usage_unknown
  expect(odd).toEqual(['a�"b�', 'constructor'])
})

test('doors 11: numbers deeper than any report is nested are not free', async () => {
  const deep = Array.from({length: 20}).reduce<object>(inner => ({x: inner}), {x: 1})
  expect(await called(DOORS['OpenAI chat']!, {deep})).toMatchObject({unpriced: true, usage_unknown: ['deep.x.x.x.x.x']})
})

test('doors 11: a metric counts such calls by the kind of provider alone', async () => {
  const before = await metric('openai')
  await called(DOORS['OpenAI chat']!, {quantum_tokens: 7})
  await called(DOORS['OpenAI chat']!, {})
  expect(await metric('openai')).toBe(before + 1)
})

test('doors 11: what a kind of provider documents as no charge flags nothing there, and elsewhere it does', async () => {
  const times = {queue_time: 0.1, prompt_time: 0.2, completion_time: 0.3, total_time: 0.6}
  const groq = {...DOORS['OpenAI chat']!, slug: 'groq', body: {model: 'llama-3.3-70b-versatile', messages}}
  expect(await called(groq, times)).toMatchObject({unpriced: false, usage_unknown: []})
  expect(await called(DOORS['OpenAI chat']!, times)).toMatchObject({unpriced: true, usage_unknown: Object.keys(times)})
  const parts = {
    completion_tokens_details: {accepted_prediction_tokens: 4, rejected_prediction_tokens: 2, text_tokens: 9},
  }
  expect(await called(DOORS['OpenAI chat']!, parts)).toMatchObject({unpriced: false, usage_unknown: []})
  expect(await called(DOORS.Messages!, {server_tool_use: {web_fetch_requests: 3}})).toMatchObject({
    unpriced: false,
    usage_unknown: [],
  })
})

test('doors 11: a kind of provider that charges for nothing is noted, and not flagged', () => {
  const kinds = new PriceCache({...bundledCatalogue(), span: () => ({from_ms: 0, until_ms: Infinity})}, () => 0)
  const free = {cost_nanousd: 0, unpriced: false, unpriced_units: [], mode_unpriced: null}
  const at = (slug: string, cost = free) =>
    withUnknown({slug} as never, {unknown: ['quantum_tokens']}, cost, {prices: kinds as never})
  expect(at('ollama')).toEqual({...free, usage_unknown: ['quantum_tokens']})
  for (const slug of ['openai', 'bedrock-mantle', 'vertex-ai', 'azure-openai'])
    expect(at(slug)).toMatchObject({unpriced: true})
  // a price that an operator set there
  expect(at('ollama', {...free, cost_nanousd: 5})).toMatchObject({unpriced: true})
})

test('doors 11: a row covers what the retries before it did not know', async () => {
  const replies = [
    {status: 500, more: {}},
    {status: 200, more: {quantum_tokens: 7}},
  ]
  provider.answer((_, response) => {
    const {status, more} = replies.shift()!
    json(response, status === 200 ? chat({...tokens, ...more}) : {error: {message: 'no'}}, status)
  })
  const headers = {...at('openai'), 'x-gateway-config': JSON.stringify({retry: {attempts: 1, on_status_codes: [500]}})}
  await gateway.chat({model: 'gpt-4o-mini', messages}, headers)
  expect((await gateway.logs())[0]).toMatchObject({
    retry_success_count: 1,
    usage_unknown: ['quantum_tokens'],
    unpriced: true,
  })
})

describe('what a total has beyond the sum of its parts', () => {
  const total = {prompt_tokens: 4, completion_tokens: 8, total_tokens: 387}
  const result = (slug: string, model: string, usage: object) =>
    called({...DOORS['OpenAI chat']!, slug, body: {model, messages}, reply: () => ({...chat({}), model, usage})}, {})

  test.each([
    ['x-ai', 'grok-4'],
    ['gemini', 'gemini-2.5-flash'],
  ])('is reasoning at %s, which documents it', async (slug, model) => {
    const path = slug === 'gemini' ? '/v1/proxy/openai/chat/completions' : '/v1/chat/completions'
    const door = {
      ...DOORS['OpenAI chat']!,
      slug,
      path,
      body: {model, messages},
      reply: () => ({...chat({}), model, usage: total}),
    }
    expect(await called(door, {})).toMatchObject({
      usage: {input_uncached_tokens: 4, output_text_tokens: 8, output_reasoning_tokens: 375},
      usage_unknown: [],
      unpriced: false,
    })
  })

  test('is flagged at all others, and charged as nothing: it may be sound that was heard', async () => {
    const row = await result('openai', 'gpt-4o-mini', total)
    expect(row).toMatchObject({usage_unknown: ['total_tokens'], unpriced: true})
    expect(row.usage).toEqual({input_uncached_tokens: 4, output_text_tokens: 8})
  })

  test('is sound that is sold by the second at Mistral, where the seconds are told', async () => {
    const row = await result('mistral', 'voxtral-mini-latest', {...total, prompt_audio_seconds: 30})
    expect(row.usage).toEqual({input_uncached_tokens: 4, output_text_tokens: 8, units: {audio_seconds: 30}})
    expect(row.usage_unknown).toEqual([])
    expect(await result('mistral', 'mistral-small-latest', total)).toMatchObject({
      usage_unknown: ['total_tokens'],
      unpriced: true,
    })
  })

  test('is the reasoning that a report names, whoever writes it', async () => {
    const named = {...total, completion_tokens_details: {reasoning_tokens: 375}}
    expect(await result('openai', 'gpt-4o-mini', named)).toMatchObject({
      usage: {output_reasoning_tokens: 375},
      usage_unknown: [],
      unpriced: false,
    })
    const less = {...total, completion_tokens_details: {reasoning_tokens: 5}}
    expect((await result('openai', 'gpt-4o-mini', less)).usage_unknown).toEqual(['total_tokens'])
  })

  test.each([
    ['Gemini by its own path', {totalTokenCount: 1500}, 'totalTokenCount'],
    ['Bedrock by its own path', {totalTokens: 1500}, 'totalTokens'],
    ['Responses', {total_tokens: 1500}, 'total_tokens'],
  ])('is flagged in %s', async (name, more, path) => {
    const plain = await called(DOORS[name]!, {})
    expect(await called(DOORS[name]!, more)).toMatchObject({usage_unknown: [path], unpriced: true, cost: plain.cost})
  })
})
