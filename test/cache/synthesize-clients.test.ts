import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {synthesizeStream} from '../../src/cache/synthesize-stream.ts'

/** Replays are read by the vendors' own clients, and come out as the answer that was stored. */

const CHAT = {
  id: 'c1',
  object: 'chat.completion',
  created: 1735689600,
  model: 'm',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: `${'Grüße 😀 '.repeat(200)}`,
        refusal: null,
        tool_calls: [
          {id: 't1', type: 'function', function: {name: 'f', arguments: '{"a":1}'}},
          {id: 't2', type: 'function', function: {name: 'g', arguments: '{}'}},
        ],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
  usage: {prompt_tokens: 1, completion_tokens: 2, total_tokens: 3},
}
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    {type: 'thinking', thinking: 'Well. '.repeat(200), signature: 's'.repeat(900)},
    {type: 'text', text: 'Hello', citations: null},
    {type: 'tool_use', id: 'tu_1', name: 'f', input: {place: 'Oslo', days: [1, 2]}},
    {type: 'tool_use', id: 'tu_2', name: 'g', input: {}},
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: {input_tokens: 5, output_tokens: 9},
}
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1735689600,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'm',
  output: [
    {id: 'rs_1', type: 'reasoning', summary: [{type: 'summary_text', text: 'Thought.'}]},
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{type: 'output_text', text: 'Hi. '.repeat(300), annotations: []}],
    },
    {id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'f', arguments: '{"a":1}'},
  ],
  usage: {input_tokens: 1, output_tokens: 2, total_tokens: 3},
}
const STREAMS: Record<string, Buffer> = {
  '/v1/chat/completions': synthesizeStream('chatComplete', Buffer.from(JSON.stringify(CHAT)))!,
  '/v1/messages': synthesizeStream('messages', Buffer.from(JSON.stringify(MESSAGE)))!,
  '/v1/responses': synthesizeStream('createModelResponse', Buffer.from(JSON.stringify(RESPONSE)))!,
}

describe('a replay is whole to', () => {
  let server: Server
  let url: string
  beforeAll(async () => {
    server = createServer((request, reply) => {
      request.resume()
      reply.writeHead(200, {'content-type': 'text/event-stream'}).end(STREAMS[request.url!.split('?')[0]!])
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => new Promise(resolve => server.close(resolve)))
  const openai = () => new OpenAI({apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0})

  test('the OpenAI client, as a chat', async () => {
    const stream = openai().chat.completions.stream({model: 'm', messages: [{role: 'user', content: 'hi'}]})
    let text = ''
    stream.on('content', piece => {
      text += piece
    })
    const told = await stream.finalChatCompletion()
    expect(text).toBe(CHAT.choices[0]!.message.content)
    expect(told).toMatchObject(CHAT)
  })

  test('the OpenAI client, as a response', async () => {
    const stream = openai().responses.stream({model: 'm', input: 'hi'})
    let text = ''
    stream.on('response.output_text.delta', event => {
      text += event.delta
    })
    expect(await stream.finalResponse()).toMatchObject(RESPONSE)
    expect(text).toBe('Hi. '.repeat(300))
  })

  test('the Anthropic client, as a message', async () => {
    const client = new Anthropic({apiKey: 'k', baseURL: url, maxRetries: 0})
    const stream = client.messages.stream({model: 'm', max_tokens: 9, messages: [{role: 'user', content: 'hi'}]})
    expect(await stream.finalMessage()).toMatchObject(MESSAGE)
  })
})
