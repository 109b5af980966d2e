import OpenAI, {APIError} from 'openai'
import type {ResponseCreateParamsNonStreaming} from 'openai/resources/responses/responses'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {responsesClient} from '../../../src/providers/responses/index.ts'
import {chunksOf, fixtures} from '../messages/fixtures.ts'
import {type Loopback, loopback} from '../messages/loopback.ts'

type Asked = ResponseCreateParamsNonStreaming

const all = fixtures('responses')
const streamed = all.filter(({chunks}) => chunks)
let server: Loopback
let client: OpenAI

beforeAll(async () => {
  server = await loopback(responsesClient)
  client = new OpenAI({baseURL: server.url, apiKey: 'key', maxRetries: 0})
})

afterAll(() => server.close())

test.each(all)('$name: the SDK reads the whole answer', async fixture => {
  server.play({fixture})
  const response = await client.responses.create(fixture.asked as unknown as Asked)
  expect(response).toMatchObject(fixture.answer)
  expect(response.output_text).toBe(textOf(fixture.answer.output))
  expect(server.chats.at(-1)).toEqual(fixture.chat)
})

test.each(streamed)('$name: the SDK’s stream helper comes to the same response', async fixture => {
  server.play({fixture})
  const stream = client.responses.stream(fixture.asked as never)
  const deltas: string[] = []
  stream.on('response.output_text.delta', ({delta}) => deltas.push(delta))
  const response = await stream.finalResponse()
  expect(response).toMatchObject(fixture.answer)
  expect(response.output_text).toBe(textOf(fixture.answer.output))
  expect(deltas.join('')).toBe(response.output_text)
  expect(server.chats.at(-1)).toMatchObject({stream: true, stream_options: {include_usage: true}})
})

test('the SDK’s parser reads what a schema asked for', async () => {
  const fixture = all.find(({name}) => name === 'json-schema-and-effort')!
  server.play({fixture})
  const response = await client.responses.parse(fixture.asked as unknown as Asked)
  expect(response.output_parsed).toEqual({n: 7})
})

test('thinking that the SDK got goes back as it came', async () => {
  const fixture = all.find(({name}) => name === 'thinking')!
  server.play({fixture})
  const {output} = await client.responses.stream({model: 'm', input: 'a'}).finalResponse()
  await client.responses.create({model: 'm', input: [{role: 'user', content: 'a'}, ...(output as never[])]})
  const [, sent] = server.chats.at(-1)!.messages as readonly {content_blocks: unknown}[]
  expect(sent!.content_blocks).toEqual(fixture.said.content_blocks)
})

test.each([
  [400, 'BadRequestError'],
  [401, 'AuthenticationError'],
  [403, 'PermissionDeniedError'],
  [404, 'NotFoundError'],
  [422, 'UnprocessableEntityError'],
  [429, 'RateLimitError'],
  [500, 'InternalServerError'],
  [529, 'InternalServerError'],
] as const)('the SDK takes an error of status %i for its %s', async (status, name) => {
  server.play({status, fault: {message: 'acme error: no', type: 'a_type', param: 'a_param', code: 'a_code'}})
  const error = await failureOf(client.responses.create({model: 'm', input: 'a'}))
  expect(error).toBeInstanceOf(OpenAI[name])
  expect(error).toMatchObject({status, type: 'a_type', param: 'a_param', code: 'a_code'})
  expect(error.message).toContain('acme error: no')
})

test('the SDK takes a stream that was cut for an error, whatever came before', async () => {
  const fixture = all.find(({name}) => name === 'parallel-tools')!
  for (let kept = 0; kept < fixture.chunks!.length; kept++) {
    server.play({
      chunks: chunksOf(fixture).slice(0, kept),
      fault: {message: 'it broke', type: 'upstream_error', param: null, code: null},
    })
    const stream = client.responses.stream(fixture.asked as never)
    expect(await failureOf(stream.finalResponse())).toMatchObject({
      type: 'upstream_error',
      message: expect.stringContaining('it broke'),
    })
  }
})

function textOf(output: unknown): string {
  const items = output as readonly {content?: readonly {text?: string}[]}[]
  return items.flatMap(({content = []}) => content.map(({text = ''}) => text)).join('')
}

async function failureOf(call: PromiseLike<unknown>): Promise<APIError> {
  try {
    await call
  } catch (error) {
    if (error instanceof APIError) return error
    throw error
  }
  throw new Error('nothing failed')
}
