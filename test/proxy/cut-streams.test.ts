import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

/** Text that a client was sent is charged when the stream is cut, also where usage is reported before it. */
let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
  await gateway.provider('oai', 'openai', provider.url)
  await gateway.provider('claude', 'anthropic', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify({type: name, ...data})}\n\n`
const PIECE = 'Vienna lies on the Danube. '
const PIECES = 100
const MESSAGES = [
  event('message_start', {
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      usage: {input_tokens: 1000, output_tokens: 1},
    },
  }),
  event('content_block_start', {index: 0, content_block: {type: 'text', text: ''}}),
  ...Array.from({length: PIECES}, () =>
    event('content_block_delta', {index: 0, delta: {type: 'text_delta', text: PIECE}}),
  ),
]
const chunk = (more: object) =>
  `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o', ...more})}\n\n`
const VLLM = [
  chunk({
    choices: [{index: 0, delta: {role: 'assistant'}}],
    usage: {prompt_tokens: 1000, completion_tokens: 1, total_tokens: 1001},
  }),
  ...Array.from({length: PIECES}, () => chunk({choices: [{index: 0, delta: {content: PIECE}}]})),
]

describe.each([
  ['Messages', '@claude', '/v1/messages', MESSAGES],
  ['Messages by the own path', '@claude', '/v1/proxy/messages', MESSAGES],
  ['Messages for a client of chat', '@claude', '/v1/chat/completions', MESSAGES],
  ['chat with usage in the first event', '@oai', '/v1/chat/completions', VLLM],
  ['the same by the own path', '@oai', '/v1/proxy/chat/completions', VLLM],
] as const)('%s', (_, slug, path, events) => {
  test.each(['the provider breaks off', 'the client is gone'])('%s: the text is charged', async how => {
    const is_broken = how === 'the provider breaks off'
    provider.answer((_, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'})
      response.write(events.join(''))
      if (is_broken) setTimeout(() => response.destroy(), 50)
    })
    const body = {
      model: slug === '@claude' ? 'claude-sonnet-4-5' : 'gpt-4o',
      max_tokens: 9000,
      stream: true,
      messages: [{role: 'user', content: 'hi'}],
    }
    const gone = new AbortController()
    const reply = await gateway.call(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {'content-type': 'application/json', 'x-gateway-provider': slug},
      signal: gone.signal,
    })
    let text = ''
    const reading = (async () => {
      for await (const piece of reply.body!) {
        text += Buffer.from(piece).toString()
        if (!is_broken && text.split(PIECE).length > PIECES) gone.abort()
      }
    })()
    await reading.catch(() => undefined)
    await expect.poll(async () => (await gateway.logs())[0]?.res_units, {timeout: 5000}).toBeGreaterThan(1)
    const [row] = await gateway.logs()
    expect([row!.req_units, row!.usage_source]).toEqual([1000, 'partial'])
    const tokens = (PIECE.length * PIECES) / 4
    expect(row!.res_units).toBeGreaterThanOrEqual(tokens)
    expect(row!.res_units).toBeLessThan(tokens * 1.2)
  })
})
