import Anthropic, {APIError} from '@anthropic-ai/sdk'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {messagesClient} from '../../../src/providers/messages/index.ts'
import {chunksOf, fixtures} from './fixtures.ts'
import {type Loopback, loopback} from './loopback.ts'

type Asked = Anthropic.MessageCreateParamsNonStreaming

const all = fixtures('messages')
const streamed = all.filter(({chunks}) => chunks)
let server: Loopback
let client: Anthropic

beforeAll(async () => {
  server = await loopback(messagesClient)
  client = new Anthropic({baseURL: server.url, apiKey: 'key', maxRetries: 0})
})

afterAll(() => server.close())

test.each(all)('$name: the SDK reads the whole answer', async fixture => {
  server.play({fixture})
  const message = await client.messages.create(fixture.asked as unknown as Asked)
  expect(message).toMatchObject({...fixture.answer, type: 'message', role: 'assistant', id: 'msg_abc'})
  expect(server.chats.at(-1)).toEqual(fixture.chat)
})

test.each(streamed)('$name: the SDK’s stream helper comes to the same message', async fixture => {
  server.play({fixture})
  const stream = client.messages.stream(fixture.asked as unknown as Asked)
  const texts: string[] = []
  stream.on('text', delta => texts.push(delta))
  const {content, stop_reason, usage} = await stream.finalMessage()
  expect(JSON.parse(JSON.stringify({content, stop_reason}))).toEqual({
    content: fixture.answer.content,
    stop_reason: fixture.answer.stop_reason,
  })
  expect(usage).toMatchObject(fixture.answer.usage as object)
  const blocks = content.flatMap(block => (block.type === 'text' ? [block.text] : []))
  expect(texts.join('')).toBe(blocks.join(''))
  expect(server.chats.at(-1)).toMatchObject({stream: true, stream_options: {include_usage: true}})
})

test('the SDK’s parser reads what a schema asked for', async () => {
  const fixture = all.find(({name}) => name === 'json-schema-and-effort')!
  server.play({fixture})
  const message = await client.messages.parse(fixture.asked as unknown as Asked)
  expect(JSON.parse((message.content[0] as Anthropic.TextBlock).text)).toEqual({n: 7})
})

test('thinking that the SDK got goes back as it came', async () => {
  const fixture = all.find(({name}) => name === 'thinking')!
  server.play({fixture})
  const {content} = await client.messages
    .stream({model: 'm', max_tokens: 9, messages: [{role: 'user', content: 'a'}]})
    .finalMessage()
  await client.messages.create({
    model: 'm',
    max_tokens: 9,
    messages: [
      {role: 'user', content: 'a'},
      {role: 'assistant', content},
    ],
  })
  const [, sent] = server.chats.at(-1)!.messages as readonly {content_blocks: unknown}[]
  expect(sent!.content_blocks).toEqual(fixture.said.content_blocks)
})

test.each([
  [400, 'BadRequestError'],
  [401, 'AuthenticationError'],
  [403, 'PermissionDeniedError'],
  [404, 'NotFoundError'],
  [413, 'ContentTooLargeError'],
  [429, 'RateLimitError'],
  [500, 'InternalServerError'],
  [529, 'OverloadedError'],
] as const)('the SDK takes an error of status %i for its %s', async (status, name) => {
  server.play({status, fault: {message: 'acme error: no', type: null, param: null, code: null}})
  const error = await failureOf(
    client.messages.create({model: 'm', max_tokens: 9, messages: [{role: 'user', content: 'a'}]}),
  )
  expect(error).toBeInstanceOf(Anthropic[name as 'BadRequestError'] ?? APIError)
  const {error: said} = messagesClient.error(status, {message: 'acme error: no', type: null, param: null, code: null})
  expect(error).toMatchObject({status, type: (said as {type: string}).type})
  expect(error.message).toContain('acme error: no')
})

test('the SDK takes a stream that was cut for an error, whatever came before', async () => {
  const fixture = all.find(({name}) => name === 'parallel-tools')!
  for (let kept = 1; kept < fixture.chunks!.length; kept++) {
    server.play({
      chunks: chunksOf(fixture).slice(0, kept),
      fault: {message: 'it broke', type: 'overloaded_error', param: null, code: null},
    })
    const stream = client.messages.stream(fixture.asked as unknown as Asked)
    expect(await failureOf(stream.finalMessage())).toMatchObject({type: 'overloaded_error'})
  }
})

async function failureOf(call: PromiseLike<unknown>): Promise<APIError> {
  try {
    await call
  } catch (error) {
    if (error instanceof APIError) return error
    throw error
  }
  throw new Error('nothing failed')
}
