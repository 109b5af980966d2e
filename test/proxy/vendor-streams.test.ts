import {setImmediate, setTimeout} from 'node:timers/promises'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {eventFrame} from '../providers/bedrock/frames.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

/**
 * Streams by a vendor's own path: what is reported in them is charged whatever they are labelled, and their text where
 * they break off.
 */
let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
  const origin = provider.url.replace(/\/v1$/, '')
  const more: Record<string, object> = {
    bedrock: {aws_auth_type: 'apiKey', aws_region: 'us-east-1'},
    'vertex-ai': {vertex_auth_type: 'basic', vertex_project_id: 'p', vertex_region: 'us-central1'},
    'workers-ai': {workers_ai_account_id: 'mine'},
  }
  for (const kind of ['google', 'bedrock', 'ollama', 'cohere', 'vertex-ai', 'workers-ai'])
    await gateway.provider(kind, kind, origin, {configurations: {custom_host: origin, ...more[kind]}})
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const line = (data: object) => `${JSON.stringify(data)}\n`
const sse = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const gemini = {
  candidates: [{index: 0, content: {parts: [{text: 'word '}], role: 'model'}, finishReason: 'STOP'}],
  usageMetadata: {promptTokenCount: 900, candidatesTokenCount: 70, totalTokenCount: 970},
}
const START = {
  type: 'message_start',
  message: {id: 'm', type: 'message', model: 'm', usage: {input_tokens: 900, output_tokens: 1}},
}
const TEXT = {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'word '.repeat(80)}}
const END = [
  {type: 'message_delta', delta: {stop_reason: 'end_turn'}, usage: {output_tokens: 70}},
  {type: 'message_stop'},
]
const framed = (data: object) => eventFrame('chunk', {bytes: Buffer.from(JSON.stringify(data)).toString('base64')})
const VERTEX = '/projects/p/locations/us-central1/publishers/anthropic/models/claude-sonnet-4-5'
const CONVERSE = [
  eventFrame('contentBlockDelta', {contentBlockIndex: 0, delta: {text: 'word '}}),
  eventFrame('messageStop', {stopReason: 'end_turn'}),
]
const METADATA = eventFrame('metadata', {usage: {inputTokens: 900, outputTokens: 70}})

type Bytes = string | Buffer
const STREAMS: readonly (readonly [name: string, kind: string, path: string, pieces: readonly Bytes[]])[] = [
  ['Gemini', 'google', '/v1beta/models/m:streamGenerateContent?alt=sse', [sse(gemini), ': the end\n\n']],
  ['Gemini, an array', 'google', '/v1beta/models/m:streamGenerateContent', [`[${JSON.stringify(gemini)}`, ']']],
  ['Claude on Vertex AI', 'vertex-ai', `/v1${VERTEX}:streamRawPredict`, [START, TEXT, ...END].map(sse)],
  ['Converse', 'bedrock', '/model/m/converse-stream', [...CONVERSE, METADATA]],
  ['InvokeModel', 'bedrock', '/model/m/invoke-with-response-stream', [START, TEXT, ...END].map(framed)],
  [
    'Ollama',
    'ollama',
    '/api/generate',
    [line({response: 'word '}), line({done: true, prompt_eval_count: 900, eval_count: 70})],
  ],
  [
    'Cohere',
    'cohere',
    '/v1/generate',
    [
      line({text: 'word '}),
      line({is_finished: true, response: {meta: {billed_units: {input_tokens: 900, output_tokens: 70}}}}),
    ],
  ],
]

async function ask(kind: string, path: string, more: RequestInit = {}) {
  const body = JSON.stringify({model: 'm', messages: [{role: 'user', content: 'Tell of Vienna, and of its river.'}]})
  const headers = {'content-type': 'application/json', 'x-gateway-provider': `@${kind}`}
  return gateway.call(`/v1/proxy${path}`, {...more, method: 'POST', body, headers})
}

async function charged() {
  const [row] = await gateway.logs()
  return [row!.req_units, row!.res_units, row!.usage_source]
}

/** Answers with the pieces one after the other. */
function answers(label: string | undefined, pieces: readonly Bytes[], broken = false) {
  provider.answer(async (_, response) => {
    response.writeHead(200, label === undefined ? {} : {'content-type': label})
    for (const piece of pieces) {
      response.write(piece)
      await setImmediate()
    }
    if (broken) response.socket?.destroySoon()
    else response.end()
  })
}

describe.each(STREAMS)('%s', (_, kind, path, pieces) => {
  test.each(['text/plain', 'application/octet-stream', undefined])('labelled %s is read as it streams', async label => {
    answers(label, pieces)
    const text = Buffer.from(await (await ask(kind, path)).arrayBuffer())
    expect(text.equals(Buffer.concat(pieces.map(piece => Buffer.from(piece))))).toBe(true)
    expect(await charged()).toEqual([900, 70, 'provider'])
  })

  test('labelled text/plain and broken before its end: what was reported until then, and no more than its text', async () => {
    answers('text/plain', pieces.slice(0, -1), true)
    await (await ask(kind, path)).arrayBuffer().catch(() => undefined)
    await expect.poll(async () => (await charged())[2]).toBe('partial')
    expect((await charged())[1]).toBeLessThan(110)
  })
})

test.each([
  ['InvokeModel', 'bedrock', '/model/m/invoke-with-response-stream', 'application/vnd.amazon.eventstream', framed],
  ['Claude on Vertex AI', 'vertex-ai', `/v1${VERTEX}:streamRawPredict`, 'text/event-stream', sse],
])('%s ends early, with its connection in order: its text is charged', async (_, kind, path, label, frame) => {
  answers(label, [frame(START), frame(TEXT)])
  await (await ask(kind, path)).arrayBuffer().catch(() => undefined)
  expect(await charged()).toEqual([900, 100, 'partial'])
})

test.each(['', '?alt=sse'])('Gemini ends early, with its connection in order: its text is charged %s', async query => {
  const begun = {
    candidates: [{index: 0, content: {parts: [{text: 'word '.repeat(80)}], role: 'model'}}],
    usageMetadata: {promptTokenCount: 900, candidatesTokenCount: 9},
  }
  answers(query ? 'text/event-stream' : 'application/json', [query ? sse(begun) : `[${JSON.stringify(begun)}`])
  await (await ask('google', `/v1beta/models/m:streamGenerateContent${query}`)).arrayBuffer().catch(() => undefined)
  expect(await charged()).toEqual([900, 100, 'partial'])
})

test('a client that leaves Converse behind its reason to end is charged what comes behind that', async () => {
  const gone = new AbortController()
  provider.answer(async (_, response) => {
    response.writeHead(200, {'content-type': 'application/vnd.amazon.eventstream'})
    for (const piece of CONVERSE) response.write(piece)
    await setTimeout(20)
    gone.abort()
    await setTimeout(100)
    response.end(METADATA)
  })
  await (await ask('bedrock', '/model/m/converse-stream', {signal: gone.signal})).arrayBuffer().catch(() => undefined)
  await expect.poll(charged, {timeout: 5000}).toEqual([900, 70, 'provider'])
})

test('a prompt of Gemini is estimated where nothing is reported', async () => {
  provider.answer((_, response) => json(response, {candidates: gemini.candidates}))
  const body = JSON.stringify({contents: [{role: 'user', parts: [{text: 'word '.repeat(100)}]}]})
  const headers = {'content-type': 'application/json', 'x-gateway-provider': '@google'}
  await (await gateway.call('/v1/proxy/v1beta/models/m:generateContent', {method: 'POST', body, headers})).text()
  const [input, output, source] = await charged()
  expect([Number(input) >= 100 && Number(input) < 120, output, source]).toEqual([true, 2, 'estimated'])
})

test("usage in Cloudflare's envelope is read", async () => {
  const result = {response: 'word ', usage: {prompt_tokens: 900, completion_tokens: 70, total_tokens: 970}}
  provider.answer((_, response) => json(response, {result, success: true, errors: [], messages: []}))
  await (await ask('workers-ai', '/@cf/meta/llama-3.1-8b-instruct')).text()
  expect(await charged()).toEqual([900, 70, 'provider'])
})

test('a whole answer that is translated is estimated by its text, not by what is around it', async () => {
  const message = {role: 'assistant', content: [{text: 'word '.repeat(10)}]}
  provider.answer((_, response) => json(response, {output: {message}, stopReason: 'end_turn', metrics: {latencyMs: 3}}))
  const headers = {'x-gateway-provider': '@bedrock'}
  await (
    await gateway.chat({model: 'amazon.nova-lite-v1:0', messages: [{role: 'user', content: 'hi'}]}, headers)
  ).text()
  expect((await charged()).slice(1)).toEqual([11, 'estimated'])
})
