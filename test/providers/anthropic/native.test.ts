import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {messagesAt} from '../../../src/providers/anthropic/native.ts'
import {nativeMessages} from '../../../src/providers/messages/native.ts'
import {InvalidResponseFault, type Json, type TranslationContext} from '../../../src/providers/translation.ts'

const context: TranslationContext = {
  provider: 'bedrock',
  model: 'anthropic.claude-sonnet-4-20250514-v1:0',
  is_stream: true,
  strict: false,
  options: {anthropic_beta: 'context-1m-2025-08-07'},
  call_id: 'c',
  created_s: 1,
}
const {request, reply, stream} = messagesAt('bedrock')

test('what was asked stays as it is but for the envelope, and what only Anthropic’s own service takes', () => {
  const asked = {
    model: 'm',
    stream: true,
    max_tokens: 10,
    system: [{type: 'text', text: 'a', cache_control: {type: 'ephemeral'}}],
    messages: [{role: 'user', content: [{type: 'text', text: 'Hi', cache_control: {type: 'ephemeral', ttl: '1h'}}]}],
    tools: [{type: 'computer_20250124', name: 'computer'}],
    thinking: {type: 'enabled', budget_tokens: 1024},
    top_k: 3,
    service_tier: 'auto',
    container: 'c',
    mcp_servers: [],
  }
  const {model: _, stream: __, service_tier: ___, container: ____, mcp_servers: _____, ...kept} = asked
  expect(request(asked, context)).toEqual({
    path: '/model/anthropic.claude-sonnet-4-20250514-v1%3A0/invoke-with-response-stream',
    body: {anthropic_version: 'bedrock-2023-05-31', ...kept, anthropic_beta: ['context-1m-2025-08-07']},
  })
})

test('an answer is the client’s as it is, its usage in classes', () => {
  const said = {
    id: 'msg_bdrk_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-20250514',
    content: [{type: 'text', text: 'Hi', citations: [{type: 'char_location'}]}],
    stop_reason: 'end_turn',
    usage: {input_tokens: 5, cache_creation_input_tokens: 7, cache_read_input_tokens: 9, output_tokens: 3},
  }
  const {body, usage, model} = reply(said, context, {})
  expect(body).toBe(said)
  expect(usage).toMatchObject({
    input_uncached_tokens: 5,
    cache_write_5m_tokens: 7,
    cache_read_tokens: 9,
    output_text_tokens: 3,
  })
  expect(model).toBe('claude-sonnet-4-20250514')
  for (const wrong of [null, 'a', {}, {type: 'error'}])
    expect(() => reply(wrong, context, {})).toThrow(InvalidResponseFault)
})

const chunk = (said: Json) => ({name: 'chunk', data: {bytes: Buffer.from(JSON.stringify(said)).toString('base64')}})
const START = {type: 'message_start', message: {model: 'claude', usage: {input_tokens: 4, output_tokens: 1}}}
const DELTA = {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'Hé'}}
const END = {type: 'message_delta', delta: {stop_reason: 'end_turn'}, usage: {output_tokens: 9}}

describe('a stream', () => {
  test('is told event by event; the start waits for the first, the last is told at the end', () => {
    const told = stream!.open(context, {})
    const events: Json[][] = []
    for (const said of [
      {type: 'vertex_event', a: 1},
      START,
      {type: 'ping'},
      DELTA,
      {type: 'ping'},
      {type: 'yet_unknown', a: 1},
      END,
      {type: 'message_stop'},
    ])
      events.push([...told.event(chunk(said))])
    expect(events).toEqual([
      [],
      [],
      [],
      [START, {type: 'ping'}, DELTA],
      [{type: 'ping'}],
      [{type: 'yet_unknown', a: 1}],
      [END],
      [],
    ])
    expect(told.end()).toEqual([{type: 'message_stop'}])
    expect(told).toMatchObject({finished: true, failed: null, model: 'claude', text_bytes: 3})
    expect(told.usage).toMatchObject({input_uncached_tokens: 4, output_text_tokens: 9})
    const writer = nativeMessages.openStream(context, {})
    expect(writer.chunk(DELTA)).toBe(`event: content_block_delta\ndata: ${JSON.stringify(DELTA)}\n\n`)
    expect(writer.chunk({type: 'message_stop'})).toBe('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    expect(writer.end()).toBe('')
  })

  test.each([
    [{name: 'throttlingException', data: {message: 'slow down'}}, 'rate_limit_error', 429],
    [chunk({type: 'error', error: {type: 'overloaded_error', message: 'busy'}}), 'overloaded_error', 529],
    [chunk(DELTA), 'api_error', 500],
  ])('that fails before it says anything tells the client nothing', (event, type, status) => {
    const told = stream!.open(context, {})
    expect(told.event(event)).toEqual([])
    expect(told.failed).toMatchObject({type, status})
    expect(told.event(chunk(START))).toEqual([])
  })

  test('never tells what could break out of an event', () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.record({type: fc.string()}),
      fc.constantFrom(START, DELTA, END, {type: 'a\ndata: b'}),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(odd, fc.boolean())), events => {
        const told = stream!.open(context, {})
        const writer = nativeMessages.openStream(context, {})
        for (const [said, is_wrapped] of events) {
          const event = is_wrapped ? chunk(said as Json) : {name: null, data: said}
          for (const each of told.event(event)) expect(writer.chunk(each)).toMatch(/^event: [\w.-]+\ndata: \{.*\}\n\n$/)
        }
      }),
    )
  })
})
