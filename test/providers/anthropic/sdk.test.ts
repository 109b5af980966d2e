import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import OpenAI from 'openai'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Json} from '../../../src/providers/translation.ts'
import {type Fixture, fixtures, told} from './fixtures.ts'

/** Serves the chunks of each streamed fixture as the data plane does; the fixture is named by the model. */
let server: Server
let client: OpenAI

const named = (name: string) => fixtures.find(fixture => fixture.name === name) as Fixture & {readonly events: Buffer}

beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const asked = JSON.parse(Buffer.concat(parts).toString('utf8')) as Json
      const fixture = named(asked.model as string)
      response.writeHead(200, {'content-type': 'text/event-stream'})
      const {chunks} = told({...fixture, request: asked}, [fixture.events])
      for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      response.end('data: [DONE]\n\n')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  client = new OpenAI({
    apiKey: 'sk-none',
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    maxRetries: 0,
  })
})
afterAll(() => new Promise(resolve => server.close(resolve)))

const tool = (name: string) => ({
  type: 'function' as const,
  function: {name, parameters: {type: 'object', properties: {}}},
})

test.each([
  'roles-and-sampling',
  'parallel-tools',
  'empty-arguments',
  'json-schema',
  'thinking-echoed',
  'thinking-strict',
  'cache-marks',
  'citations',
  'refusal',
  'stop-pause-turn',
  'web-search',
])('the OpenAI SDK puts %s together as the answer that is not streamed', async name => {
  const {expected} = named(name)
  const stream = client.chat.completions.stream({
    model: name,
    messages: [{role: 'user', content: 'Hello'}],
    tools: [tool('get_weather'), tool('get_time')],
    stream_options: {include_usage: true},
  })
  const whole = await stream.finalChatCompletion()
  const message = await stream.finalMessage()
  const [choice] = expected!.choices as readonly Json[]
  const {content, tool_calls, refusal} = choice!.message as Json
  expect(message.role).toBe('assistant')
  expect(message.content || null).toBe(content || null)
  expect(message.refusal ?? null).toBe(refusal)
  expect(calls(message.tool_calls)).toEqual(calls(tool_calls))
  expect(whole.choices[0]!.finish_reason).toBe(choice!.finish_reason)
  expect([whole.id, whole.model, whole.created]).toEqual([expected!.id, expected!.model, expected!.created])
  expect(whole.usage).toEqual(expected!.usage)
})

function calls(said: unknown) {
  const made = (said ?? []) as readonly {
    readonly id: string
    readonly type: string
    readonly function: {readonly name: string; readonly arguments: string}
  }[]
  return made.map(({id, type, function: {name, arguments: given}}) => ({
    id,
    type,
    name,
    given: JSON.parse(given) as unknown,
  }))
}
