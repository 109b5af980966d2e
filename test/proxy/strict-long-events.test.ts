import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

const LONG = 'Nobody knows how long an event is before it is whole. '.repeat(760)
const SHORT = 'It begins. '
const LIMIT = 2000

let provider: FakeProvider
let gateway: TestGateway
let key: string

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const kind of ['openai', 'anthropic', 'google', 'ollama']) await gateway.provider(kind, kind, provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

async function keyOf(credit_limit: number) {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const usage_limits = {type: 'tokens', credit_limit, enforcement: 'strict'}
  const body = {name: 'strict', workspace_id: workspace!.id, scopes: ['completions.write'], usage_limits}
  key = (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
  return key
}

const sse = (data: object, name?: string) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(data)}\n\n`
const chunk = (content: string) =>
  sse({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-4o',
    choices: [{index: 0, delta: {content}, finish_reason: null}],
  })
const delta = (text: string) =>
  sse({type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text}}, 'content_block_delta')
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [],
  usage: {input_tokens: 9, output_tokens: 1},
}
const line = (content: string) =>
  `${JSON.stringify({model: 'llama', message: {role: 'assistant', content}, done: false})}\n`
const user = [{role: 'user', content: 'hi'}]

interface Dialect {
  readonly provider: string
  readonly path: string
  readonly body: object
  readonly headers?: Record<string, string>
  readonly type: string
  readonly begins: string
  readonly event: (text: string) => string
}

const DIALECTS: readonly (readonly [string, Dialect])[] = [
  [
    'chat',
    {
      provider: 'openai',
      path: '/chat/completions',
      body: {model: 'gpt-4o', messages: user},
      type: 'text/event-stream',
      begins: '',
      event: chunk,
    },
  ],
  [
    'messages',
    {
      provider: 'anthropic',
      path: '/messages',
      body: {model: 'claude-sonnet-4-5', max_tokens: 20_000, messages: user},
      headers: {'anthropic-version': '2023-06-01'},
      type: 'text/event-stream',
      begins: sse({type: 'message_start', message}, 'message_start'),
      event: delta,
    },
  ],
  [
    'lines of a vendor',
    {
      provider: 'ollama',
      path: '/proxy/api/chat',
      body: {model: 'llama', messages: user, options: {num_predict: 20_000}},
      type: 'application/x-ndjson',
      begins: '',
      event: line,
    },
  ],
]

/** Sends the bytes in pieces, each by itself. */
function streams({type, begins}: Dialect, bytes: string) {
  provider.answer(async (_, response) => {
    response.writeHead(200, {'content-type': type})
    const whole = begins + bytes
    for (let at = 0; at < whole.length && !response.destroyed; at += 9000) {
      response.write(whole.slice(at, at + 9000))
      await new Promise(setImmediate)
    }
    response.end()
  })
}

async function call({provider: slug, path, body, headers}: Dialect, limit: number) {
  const reply = await gateway.call(`/v1${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': await keyOf(limit),
      'x-gateway-provider': `@${slug}`,
      ...headers,
    },
    body: JSON.stringify({...body, stream: true}),
  })
  expect(reply.status).toBe(200)
  return reply.text().catch(() => '')
}

describe.each(DIALECTS)('an event of 40 kB under a strict limit, in %s', (_, dialect) => {
  test.each([
    ['behind others', '\n\n'],
    ['that the stream breaks off in', ''],
  ])('does not reach the client where it does not fit: %s', async (_, end) => {
    const event = dialect.event(LONG)
    streams(dialect, dialect.event(SHORT) + (end ? event : event.trimEnd()))
    const text = await call(dialect, LIMIT)
    expect(text.includes('Nobody knows')).toBe(false)
    expect(text.length).toBeLessThan(5000)
  })

  test('passes as it came where it fits', async () => {
    const bytes = dialect.event(SHORT) + dialect.event(LONG)
    streams(dialect, bytes)
    expect((await call(dialect, 200_000)).includes(bytes.trimEnd())).toBe(true)
  })
})
