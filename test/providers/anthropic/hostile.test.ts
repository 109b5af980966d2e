import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import type {Json, StreamEvent} from '../../../src/providers/translation.ts'
import {InvalidResponseFault, UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {CONTEXT, chatOn, eventsIn, fixtures, open} from './fixtures.ts'

const chat = chatOn()
const message = (more: Json) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: 'end_turn',
  ...more,
})
const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as Json
const last = (translator: ReturnType<typeof open>, events: readonly StreamEvent[]) =>
  events.flatMap(event => translator.event(event))

// biome-ignore format: a table is read by its lines
test.each<[string, unknown]>([
  ['nothing', undefined], ['null', null], ['truncated JSON', '{"type":"message","content":[{"ty'], ['HTML', '<html></html>'], ['a list', [message({})]], ['a number', 7],
  ['an empty object', {}], ['an error with status 200', {type: 'error', error: {type: 'overloaded_error', message: 'Overloaded'}}], ['an error of few words', {type: 'error'}],
  ['a chat completion', {object: 'chat.completion', choices: []}], ['content that is text', message({content: 'Hi'})], ['no content', message({content: null})],
  ['a block that is text', message({content: ['Hi']})], ['a block without a type', message({content: [{text: 'Hi'}]})], ['a text without text', message({content: [{type: 'text', text: 5}]})],
  ['a call without an id', message({content: [{type: 'tool_use', name: 'f', input: {}}]})], ['a call without a name', message({content: [{type: 'tool_use', id: 'x', input: {}}]})],
  ['a call with a list', message({content: [{type: 'tool_use', id: 'x', name: 'f', input: [1]}]})], ['a call too deep to write', message({content: [{type: 'tool_use', id: 'x', name: 'f', input: nested(200_000)}]})],
])('a reply that is %s is no answer', (_, said) => {
  expect(() => chat.reply(said, CONTEXT, {})).toThrow(InvalidResponseFault)
})

test('a reply with strange members beside its content is an answer without them', () => {
  const said = message({
    id: 5,
    model: {},
    usage: [1],
    stop_reason: '__proto__',
    content: [
      {type: 'of tomorrow', a: 1},
      {type: 'tool_use', id: 'x', name: 'f'},
    ],
  })
  const {body, usage, model} = chat.reply(said, CONTEXT, {})
  expect([usage, model]).toEqual([null, null])
  expect(body).toMatchObject({
    id: 'chatcmpl-0b7e',
    model: CONTEXT.model,
    choices: [{finish_reason: 'stop', message: {content: null, tool_calls: [{function: {arguments: '{}'}}]}}],
  })
  expect(chat.reply(message({usage: {input_tokens: -1, output_tokens: 'many'}}), CONTEXT, {}).usage).toBeNull()
})

test('any JSON is an answer or a bad reply, and nothing else', () => {
  const anyBlock = fc.oneof(
    fc.jsonValue(),
    fc.record({
      type: fc.constantFrom('text', 'tool_use', 'thinking'),
      text: fc.jsonValue(),
      id: fc.jsonValue(),
      name: fc.jsonValue(),
      input: fc.jsonValue(),
    }),
  )
  const anyReply = fc.oneof(
    fc.jsonValue(),
    fc.record({
      type: fc.constant('message'),
      content: fc.array(anyBlock),
      stop_reason: fc.jsonValue(),
      usage: fc.jsonValue(),
      stop_details: fc.jsonValue(),
    }),
  )
  fc.assert(
    fc.property(anyReply, fc.boolean(), (said, strict) => {
      try {
        const {body} = chat.reply(said, {...CONTEXT, strict}, {})
        expect(body).toMatchObject({
          object: 'chat.completion',
          choices: [{finish_reason: expect.any(String), message: {role: 'assistant'}}],
        })
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidResponseFault)
      }
    }),
  )
})

describe('a stream', () => {
  const start: StreamEvent = {
    name: 'message_start',
    data: {type: 'message_start', message: {id: 'm', usage: {input_tokens: 1}}},
  }
  const open_call = (input: unknown) => ({
    name: null,
    data: {type: 'content_block_start', index: 0, content_block: {type: 'tool_use', id: 'x', name: 'f', input}},
  })

  // biome-ignore format: a table is read by its lines
  test.each<[string, readonly StreamEvent[]]>([
    ['a start without a message', [{name: 'message_start', data: {type: 'message_start'}}]],
    ['no start', [{name: null, data: {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}}}]],
    ['an end alone', [{name: 'message_stop', data: {type: 'message_stop'}}]],
    ['a block that is none', [start, {name: null, data: {type: 'content_block_start', index: 0, content_block: 'text'}}]],
    ['a call without an id', [start, {name: null, data: {type: 'content_block_start', index: 0, content_block: {type: 'tool_use', name: 'f'}}}]],
    ['a delta that is none', [start, {name: null, data: {type: 'content_block_delta', index: 0}}]],
    ['a text that is a number', [start, {name: null, data: {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 4}}}]],
    ['thinking without words', [start, {name: null, data: {type: 'content_block_delta', index: 0, delta: {type: 'thinking_delta'}}}]],
    ['a named event cut off', [start, {name: 'content_block_delta', data: '{"type":"content_bl'}]],
    ['an event cut off', [start, {name: null, data: '{"type":"content_bl'}]],
    ['arguments too deep to write and no end of them', [start, open_call(nested(200_000)), {name: null, data: {type: 'message_stop'}}]],
    ['arguments too deep to write', [start, open_call(nested(200_000)), {name: null, data: {type: 'content_block_stop', index: 0}}]],
  ])('with %s fails, and goes on to say nothing', (_, events) => {
    const translator = open(CONTEXT, {})
    last(translator, events)
    expect(translator.failed).toMatchObject({type: 'api_error', status: 502, message: expect.stringMatching(/^anthropic error: Invalid response received/)})
    expect(last(translator, [{name: null, data: {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'more'}}}, {name: null, data: {type: 'message_stop'}}])).toEqual([])
    expect([translator.finished, ...translator.end()]).toEqual([false])
  })

  test('of events that nobody knows is followed to its end', () => {
    const translator = open(CONTEXT, {})
    const strange = ['ping', 'message_tomorrow', null].flatMap(name =>
      [null, 7, [], 'text', '[DONE]', {}, {type: '__proto__'}, {type: 5}].map(data => ({name, data})),
    )
    const block = [
      {type: 'content_block_start', index: 0, content_block: {type: 'of_tomorrow', text: 5}},
      {type: 'content_block_delta', index: 0, delta: {type: 'constructor', text: 'x'}},
      {type: 'content_block_delta', index: 0, delta: {type: 'of_tomorrow'}},
      {type: 'content_block_stop', index: 0},
      {type: 'message_delta', delta: null, usage: 'none'},
    ].map(data => ({name: null, data}))
    expect(last(translator, [...strange, start, ...strange, ...block, ...strange]).map(chunk => chunk.choices)).toEqual(
      [[{index: 0, delta: {role: 'assistant', content: ''}, logprobs: null, finish_reason: null}]],
    )
    expect(last(translator, [{name: 'message_stop', data: {type: 'message_stop'}}])).toHaveLength(1)
    expect([translator.finished, translator.failed]).toEqual([true, null])
  })

  test('with any events is chunks, or fails', () => {
    const types = [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'error',
      'ping',
    ]
    const anyPart = fc.oneof(
      fc.jsonValue({maxDepth: 2}),
      fc.record({
        type: fc.constantFrom('text', 'tool_use', 'text_delta', 'input_json_delta', 'thinking_delta'),
        text: fc.oneof(fc.string(), fc.jsonValue({maxDepth: 1})),
        partial_json: fc.string(),
        id: fc.string(),
        name: fc.string(),
      }),
    )
    const anyEvent = fc.record({
      name: fc.option(fc.constantFrom(...types)),
      data: fc.oneof(
        {weight: 1, arbitrary: fc.jsonValue({maxDepth: 1})},
        {
          weight: 6,
          arbitrary: fc.record({
            type: fc.constantFrom(...types),
            index: fc.nat(2),
            message: anyPart,
            content_block: anyPart,
            delta: anyPart,
            usage: anyPart,
            error: anyPart,
          }),
        },
      ),
    })
    fc.assert(
      fc.property(fc.array(anyEvent, {maxLength: 12}), fc.boolean(), (events, strict) => {
        const translator = open({...CONTEXT, strict}, {})
        for (const chunk of last(translator, [start, ...events])) {
          expect(chunk).toMatchObject({
            object: 'chat.completion.chunk',
            choices: [{index: 0, delta: expect.any(Object)}],
          })
        }
        expect(translator.finished && translator.failed !== null).toBe(false)
      }),
    )
  })

  test('with any byte of it gone is never more than the whole, and never throws', () => {
    const [fixture] = fixtures.filter(({name}) => name === 'parallel-tools')
    const bytes = fixture!.events!
    for (let at = 0; at < bytes.length; at++) {
      const translator = open(CONTEXT, {})
      const chunks = last(translator, eventsIn([bytes.subarray(0, at), bytes.subarray(at + 1)]))
      expect(chunks.length).toBeLessThanOrEqual(fixture!.told!.chunks.length)
    }
  })
})

describe('a request', () => {
  test('of ten thousand messages is translated, each once and in order', () => {
    const messages = Array.from({length: 10_000}, (_, index) => ({
      role: index % 4 < 2 ? 'user' : 'assistant',
      content: `m${index}`,
    }))
    const sent = chat.request({messages}, CONTEXT).body as {
      readonly messages: readonly {readonly role: string; readonly content: readonly {readonly text: string}[]}[]
    }
    expect(sent.messages).toHaveLength(5000)
    expect(sent.messages.flatMap(({role, content}) => content.map(({text}) => ({role, content: text})))).toEqual(
      messages,
    )
  })

  test('of two hundred thousand parts in one turn is translated', () => {
    const content = Array.from({length: 100_000}, () => ({type: 'text', text: 'x'}))
    const sent = chat.request(
      {
        messages: [
          {role: 'user', content},
          {role: 'user', content},
        ],
      },
      CONTEXT,
    ).body as {readonly messages: readonly {readonly content: readonly unknown[]}[]}
    expect(sent.messages[0]!.content).toHaveLength(200_000)
  })

  test('with arguments nested without end is refused', () => {
    const deep = (open: string, close: string, depth: number) => `{"a":${open.repeat(depth)}1${close.repeat(depth)}}`
    const asking = (given: string) =>
      chat.request(
        {messages: [{role: 'assistant', tool_calls: [{id: 'x', function: {name: 'f', arguments: given}}]}]},
        CONTEXT,
      )
    for (const given of [deep('[', ']', 500_000), deep('{"b":', '}', 500_000), '['.repeat(1_000_000)]) {
      expect(() => asking(given)).toThrow(UnsupportedInputFault)
    }
    expect(() => asking(deep('[', ']', 200))).not.toThrow()
    expect(() => asking(JSON.stringify({a: '[{"'.repeat(5000)}))).not.toThrow()
  })

  test('with names of objects’ own members touches no prototype', () => {
    const asked = JSON.parse(`{
      "__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "service_tier": "constructor", "metadata": {"__proto__": {"user_id": "x"}},
      "messages": [{"role": "user", "__proto__": {"content": "no"}, "content": [{"type": "text", "text": "Hi", "cache_control": {"__proto__": {"polluted": 1}, "type": "ephemeral"}}]},
        {"role": "assistant", "tool_calls": [{"id": "__proto__", "function": {"name": "__proto__", "arguments": "{\\"__proto__\\":{\\"polluted\\":1}}"}}]}],
      "tools": [{"type": "__proto__", "__proto__": {"name": "x", "polluted": 1}}, {"type": "function", "function": {"name": "__proto__", "parameters": {"__proto__": {"polluted": 1}}}}]
    }`) as Json
    const sent = chat.request(asked, CONTEXT).body as Json
    expect(({} as Json).polluted).toBeUndefined()
    expect([sent.service_tier, sent.metadata, Object.getPrototypeOf(sent)]).toEqual([
      undefined,
      undefined,
      Object.prototype,
    ])
    const [, calling] = sent.messages as readonly {readonly content: readonly Json[]}[]
    expect(JSON.stringify(calling!.content[0]!.input)).toBe('{"__proto__":{"polluted":1}}')
    expect((sent.tools as readonly Json[])[0]).toEqual({type: 'x', name: '__proto__', polluted: 1})
  })

  test('of any shape is translated or refused with the field, and nothing else', () => {
    const anyPart = fc.record(
      {
        type: fc.oneof(fc.constantFrom('text', 'image_url', 'file', 'thinking', 'refusal'), fc.string()),
        text: fc.jsonValue({maxDepth: 1}),
        image_url: fc.jsonValue({maxDepth: 1}),
        file: fc.jsonValue({maxDepth: 1}),
      },
      {requiredKeys: []},
    )
    const anyMessage = fc.oneof(
      fc.jsonValue({maxDepth: 2}),
      fc.record(
        {
          role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
          content: fc.oneof(fc.string(), fc.array(anyPart), fc.jsonValue({maxDepth: 1})),
          tool_calls: fc.jsonValue({maxDepth: 3}),
          tool_call_id: fc.jsonValue({maxDepth: 1}),
          content_blocks: fc.array(anyPart),
        },
        {requiredKeys: ['role']},
      ),
    )
    const anyField = fc.jsonValue({maxDepth: 2})
    const anyRequest = fc.record(
      {
        messages: fc.array(anyMessage),
        tools: fc.array(anyField),
        tool_choice: anyField,
        thinking: anyField,
        response_format: anyField,
        stop: anyField,
        metadata: anyField,
        output_config: anyField,
        max_tokens: anyField,
        anthropic_beta: anyField,
        n: anyField,
      },
      {requiredKeys: ['messages']},
    )
    fc.assert(
      fc.property(anyRequest, fc.boolean(), (asked, strict) => {
        try {
          expect(chat.request(asked as Json, {...CONTEXT, strict}).body).toMatchObject({
            model: CONTEXT.model,
            max_tokens: expect.any(Number),
          })
        } catch (error) {
          expect(error).toBeInstanceOf(UnsupportedInputFault)
          expect((error as UnsupportedInputFault).field).not.toBe('')
        }
      }),
      {numRuns: 300},
    )
  })
})
