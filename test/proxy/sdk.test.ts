import {createHash} from 'node:crypto'
import OpenAI, {toFile} from 'openai'
import {Portkey} from 'portkey-ai'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, openaiLike} from '../support/provider.ts'

let gateway: TestGateway
let provider: FakeProvider

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway()
  await gateway.provider('loop', 'openai', provider.url)
})
beforeEach(() => {
  provider.answer(openaiLike)
  provider.received.length = 0
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const messages = [{role: 'user' as const, content: 'Say hello'}]

describe('the unmodified OpenAI SDK', () => {
  const client = () =>
    new OpenAI({
      apiKey: WORKSPACE_KEY,
      baseURL: `${gateway.url}/v1`,
      defaultHeaders: {'x-gateway-provider': '@loop'},
      maxRetries: 0,
    })

  test('chats, and the provider hears its own key, never ours', async () => {
    const reply = await client().chat.completions.create({model: 'gpt-4o-mini', messages})
    expect(reply.choices[0]!.message.content).toBe('Hello from the provider')
    expect(reply.usage?.total_tokens).toBe(17)
    const [received] = provider.received
    expect(received!.headers.authorization).toBe('Bearer sk-upstream-secret-0123456789')
    expect(JSON.stringify(received!.headers)).not.toContain(WORKSPACE_KEY)
    const [row] = await gateway.logs()
    expect(row).toMatchObject({
      ai_model: 'gpt-4o-mini',
      response_status_code: 200,
      req_units: 12,
      res_units: 5,
      total_units: 17,
      is_success: true,
    })
    expect(row!.cost).toBeGreaterThan(0)
  })

  test('streams a chat chunk by chunk', async () => {
    const stream = await client().chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
      stream: true,
      stream_options: {include_usage: true},
    })
    let text = ''
    let usage = 0
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      usage += chunk.usage?.total_tokens ?? 0
    }
    expect([text, usage]).toEqual(['Hello you', 17])
    expect((await gateway.logs())[0]).toMatchObject({total_units: 17, stream_mode: 1})
  })

  test('names the provider in the model', async () => {
    const plain = new OpenAI({apiKey: WORKSPACE_KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0})
    await plain.chat.completions.create({model: '@loop/gpt-4o-mini', messages})
    expect(JSON.parse(provider.received[0]!.body.toString()).model).toBe('gpt-4o-mini')
  })

  test('embeds', async () => {
    const reply = await client().embeddings.create({
      model: 'text-embedding-3-small',
      input: 'a',
      encoding_format: 'float',
    })
    expect(reply.data[0]!.embedding).toEqual([0.25, -0.5])
    expect((await gateway.logs())[0]).toMatchObject({ai_model: 'text-embedding-3-small', req_units: 3, total_units: 3})
  })

  test('uploads a file whose bytes arrive as they were sent', async () => {
    const bytes = Buffer.from('{"custom_id":"1"}\n'.repeat(20_000))
    const file = await client().files.create({file: await toFile(bytes, 'rows.jsonl'), purpose: 'batch'})
    expect(file.id).toBe('file-1')
    expect(provider.received[0]!.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    expect(provider.received[0]!.body.includes(bytes)).toBe(true)
  })

  test('gets speech byte for byte', async () => {
    const reply = await client().audio.speech.create({model: 'tts-1', voice: 'alloy', input: 'Hello'})
    const bytes = Buffer.from(await reply.arrayBuffer())
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(provider.sent.at(-1))
    expect(reply.headers.get('content-type')).toBe('audio/mpeg')
  })

  test('transcribes with a model named in the form', async () => {
    provider.answer((received, response) =>
      response
        .writeHead(200, {'content-type': 'application/json'})
        .end(JSON.stringify({text: String(received.body.includes('whisper-1'))})),
    )
    const plain = new OpenAI({apiKey: WORKSPACE_KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0})
    const reply = await plain.audio.transcriptions.create({
      model: '@loop/whisper-1',
      file: await toFile(Buffer.from('RIFF'), 'a.wav'),
    })
    expect(reply.text).toBe('true')
    expect(provider.received[0]!.body.includes('@loop')).toBe(false)
  })

  test('makes images', async () => {
    const reply = await client().images.generate({model: 'dall-e-3', prompt: 'A cat'})
    expect(reply.data![0]!.b64_json).toBe('aGk=')
  })

  test('is told an error of the provider as the provider said it', async () => {
    provider.answer((_, response) =>
      response
        .writeHead(429, {'content-type': 'application/json', 'retry-after': '7'})
        .end('{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}'),
    )
    const failure = await client()
      .chat.completions.create({model: 'gpt-4o-mini', messages})
      .catch((error: InstanceType<typeof OpenAI.APIError>) => error)
    expect(failure).toMatchObject({status: 429, code: 'rate_limit_exceeded'})
    expect((failure as {headers: Headers}).headers.get('retry-after')).toBe('7')
  })
})

describe('the unmodified SDK of the compatible product', () => {
  const client = (more: object = {}) => new Portkey({apiKey: WORKSPACE_KEY, baseURL: `${gateway.url}/v1`, ...more})

  test('chats through a virtual key, and is answered under its own header names', async () => {
    const reply = await client({virtualKey: 'loop'}).chat.completions.create({model: 'gpt-4o-mini', messages})
    expect(reply.choices[0]!.message!.content).toBe('Hello from the provider')
    expect(reply.getHeaders()!['trace-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('chats through @provider, with its metadata and trace in the log', async () => {
    await client({provider: '@loop', traceID: 'trace-of-mine', metadata: {_user: 'ada'}}).chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
    })
    const [row] = await gateway.logs()
    expect(row).toMatchObject({trace_id: 'trace-of-mine'})
    expect(JSON.stringify(row)).toContain('ada')
  })

  test('streams', async () => {
    const stream = await client({virtualKey: 'loop'}).chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
      stream: true,
    })
    let text = ''
    for await (const chunk of stream as unknown as AsyncIterable<{choices: {delta: {content?: string}}[]}>)
      text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('Hello you')
  })

  test('posts to any other path', async () => {
    const reply = (await client({virtualKey: 'loop'}).post('/some/other/path', {a: 1})) as unknown as {path: string}
    expect(reply.path).toBe('/some/other/path')
  })
})
