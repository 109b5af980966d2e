import {createServer, type IncomingMessage, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import OpenAI from 'openai'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {bedrock} from '../../../src/providers/bedrock/index.ts'
import type {Json, Translation, TranslationContext} from '../../../src/providers/translation.ts'
import {contextOf, fixtures, follow} from './fixtures.ts'
import {eventFrame} from './frames.ts'

/** Answers as Bedrock would, by what is asked for as `user`; the translation stands between it and the client. */
let server: Server
let client: OpenAI

beforeAll(async () => {
  server = createServer((request, response) => {
    void readJson(request).then(asked => {
      const stream = asked.stream === true
      const [translation, said, frames] = upstream(request.url ?? '', asked)
      const context: TranslationContext = contextOf({model: String(asked.model), is_stream: stream})
      translation.request(asked, context)
      if (!stream) {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(translation.reply(said, context, asked).body))
        return
      }
      response.setHeader('content-type', 'text/event-stream')
      for (const chunk of follow(translation.stream!.open(context, asked), [frames]))
        response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      response.end('data: [DONE]\n\n')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  client = new OpenAI({apiKey: 'none', baseURL: `http://127.0.0.1:${port}`, maxRetries: 0})
})

afterAll(() => new Promise(resolve => server.close(resolve)))

const TOOLS = [
  {
    type: 'function' as const,
    function: {name: 'weather', parameters: {type: 'object', properties: {city: {type: 'string'}}}},
  },
]

test('the openai SDK puts a streamed answer with parallel tools together', async () => {
  const model = 'us.anthropic.claude-sonnet-4-20250514-v1:0'
  const asked = {model, messages: [{role: 'user' as const, content: 'Weather?'}], tools: TOOLS, user: 'parallel-tools'}
  const streamed = await client.chat.completions
    .stream({...asked, stream_options: {include_usage: true}})
    .finalChatCompletion()
  const plain = await client.chat.completions.create(asked)
  const choice = {
    content: 'I will look at both.',
    calls: [
      ['tooluse_b1', 'weather', {city: 'Rome'}],
      ['tooluse_b2', 'weather', {city: 'Cairo'}],
    ],
  }
  for (const {choices, usage} of [streamed, plain]) {
    const {message, finish_reason} = choices[0]!
    const calls = message.tool_calls!.map(
      call => call.type === 'function' && [call.id, call.function.name, JSON.parse(call.function.arguments)],
    )
    expect({content: message.content, calls}).toEqual(choice)
    expect(finish_reason).toBe('tool_calls')
    expect(usage).toMatchObject({prompt_tokens: 410, completion_tokens: 88, total_tokens: 498})
  }
})

test('a tool without arguments has an empty object', async () => {
  const asked = {
    model: 'anthropic.claude-3-haiku-20240307-v1:0',
    messages: [{role: 'user' as const, content: 'Time?'}],
    tools: TOOLS,
    user: 'empty-arguments',
  }
  const {choices} = await client.chat.completions.stream(asked).finalChatCompletion()
  expect(choices[0]!.message.tool_calls).toMatchObject([{id: 'tooluse_c1', function: {name: 'clock', arguments: '{}'}}])
})

test('texts come in the order they were written', async () => {
  const asked = {
    model: 'meta.llama3-8b-instruct-v1:0',
    messages: [{role: 'user' as const, content: 'River?'}],
    user: 'roles',
  }
  const deltas: string[] = []
  for await (const chunk of await client.chat.completions.create({...asked, stream: true}))
    deltas.push(chunk.choices[0]?.delta.content ?? '')
  expect(deltas.filter(Boolean)).toEqual(['The Danube', ' runs through', ' Vienna.'])
})

test('an embedding comes as numbers, whether the SDK asks for base64 or not', async () => {
  const asked = {model: 'amazon.titan-embed-text-v2:0', input: 'word'}
  const packed = await client.embeddings.create(asked)
  const plain = await client.embeddings.create({...asked, encoding_format: 'float'})
  expect(packed.data[0]!.embedding).toEqual([0.5, -0.25, 2])
  expect(plain.data[0]!.embedding).toEqual([0.5, -0.25, 2])
  expect(plain.usage).toEqual({prompt_tokens: 3, total_tokens: 3})
})

test('a completion is read whole and streamed', async () => {
  const asked = {model: 'meta.llama3-8b-instruct-v1:0', prompt: 'One, two,'}
  const plain = await client.completions.create(asked)
  expect(plain.choices[0]).toMatchObject({text: ' three', finish_reason: 'stop'})
  let text = ''
  for await (const chunk of await client.completions.create({...asked, stream: true}))
    text += chunk.choices[0]?.text ?? ''
  expect(text).toBe(' three')
})

function upstream(url: string, asked: Json): readonly [Translation, said: unknown, frames: Buffer] {
  if (url === '/embeddings')
    return [bedrock.endpoints.embed!, {embedding: [0.5, -0.25, 2], inputTextTokenCount: 3}, Buffer.alloc(0)]
  if (url === '/completions') {
    const last = {generation: ' three', stop_reason: 'stop', prompt_token_count: 4, generation_token_count: 2}
    return [
      bedrock.endpoints.complete!,
      last,
      eventFrame('chunk', {bytes: Buffer.from(JSON.stringify(last)).toString('base64')}),
    ]
  }
  const {reply, stream} = fixtures.find(({name}) => name === asked.user)!
  return [bedrock.endpoints.chatComplete!, reply, stream!]
}

async function readJson(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Json
}
