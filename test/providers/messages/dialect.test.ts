import {describe, expect, test} from 'vitest'
import {messagesClient, withoutOwnMembers} from '../../../src/providers/messages/index.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {assembleMessage, eventsIn} from './assemble.ts'
import {chunksOf, completionOf, context, fixtures} from './fixtures.ts'

const all = fixtures('messages')
const streamed = all.filter(({chunks}) => chunks)

describe('each fixture', () => {
  test.each(all)('$name: the request in chat’s words', ({asked, chat}) => {
    expect(messagesClient.toChat(asked, context)).toEqual(chat)
  })

  test.each(all)('$name: the same request, streamed, asks for usage', ({asked, chat}) => {
    const told = messagesClient.toChat({...asked, stream: true}, {...context, is_stream: true})
    expect(told).toEqual({...chat, stream: true, stream_options: {include_usage: true}})
  })

  test.each(all)('$name: the whole answer', fixture => {
    const head = {
      id: 'msg_abc',
      type: 'message',
      role: 'assistant',
      model: 'm-1',
      provider: 'acme',
      stop_sequence: null,
    }
    expect(messagesClient.fromChat(completionOf(fixture), context, fixture.asked)).toEqual({...head, ...fixture.answer})
  })

  test.each(streamed)('$name: the streamed answer comes to the whole one', fixture => {
    expect(assembleMessage(textOf(chunksOf(fixture)))).toEqual(
      messagesClient.fromChat(completionOf(fixture), context, fixture.asked),
    )
  })

  test.each(all.filter(({events}) => events))('$name: its events, one by one', ({chunks, events}) => {
    expect(eventsIn(textOf(chunksOf({chunks})))).toEqual(events!.map(([type, more]) => ({type, ...more})))
  })
})

describe('a call', () => {
  const ask = {index: 0, id: 'a', type: 'function'}

  test('that is whole is told before the next one begins to come', () => {
    const stream = messagesClient.openStream(context, {})
    stream.chunk(delta({tool_calls: [{...ask, function: {name: 'f', arguments: '{"a":[{}]}'}}]}))
    const text = stream.chunk(delta({tool_calls: [{...ask, index: 1, id: 'b', function: {name: 'g', arguments: ''}}]}))
    expect(eventsIn(text).map(({type}) => type)).toEqual(['content_block_stop', 'content_block_start'])
  })

  test('whose name comes late begins with its name', () => {
    const stream = messagesClient.openStream(context, {})
    const early = stream.chunk(delta({tool_calls: [{...ask, function: {arguments: '{"a"'}}]}))
    expect(eventsIn(early).map(({type}) => type)).toEqual(['message_start'])
    const late = stream.chunk(delta({tool_calls: [{index: 0, function: {name: 'f', arguments: ':1}'}}]}))
    expect(eventsIn(late)).toEqual([
      {type: 'content_block_start', index: 0, content_block: {type: 'tool_use', id: 'a', name: 'f', input: {}}},
      {type: 'content_block_delta', index: 0, delta: {type: 'input_json_delta', partial_json: '{"a":1}'}},
    ])
  })

  test('without a name is an error, never half a call', () => {
    const call = {...ask, function: {arguments: '{}'}}
    const stream = messagesClient.openStream(context, {})
    const text = stream.chunk(delta({tool_calls: [call]})) + stream.end()
    expect(eventsIn(text).map(({type}) => type)).toEqual(['message_start', 'error'])
    expect(() => whole({tool_calls: [call]}, 'tool_calls')).toThrow(InvalidResponseFault)
  })

  test.each(['{"a":', '[1]', '"a"', 'null'])('with the arguments %s is refused, unless the limit cut it', input => {
    const said = {tool_calls: [{...ask, function: {name: 'f', arguments: input}}]}
    expect(() => whole(said, 'tool_calls')).toThrow('acme called a tool with arguments that are no JSON object')
    expect(whole(said, 'length')).toMatchObject({content: [{type: 'tool_use', input: {}}], stop_reason: 'max_tokens'})
  })

  test('in the form before tool calls is read', () => {
    expect(whole({content: null, function_call: {name: 'f', arguments: '{"a":1}'}}, 'function_call')).toMatchObject({
      content: [{type: 'tool_use', id: 'call_c0ffee_0', name: 'f', input: {a: 1}}],
      stop_reason: 'tool_use',
    })
  })
})

describe('a stream', () => {
  test('that was cut ends with an error and nothing behind it', () => {
    const stream = messagesClient.openStream(context, {})
    const fault = {message: 'acme error: the connection broke', type: 'upstream_error', param: null, code: null}
    const text = stream.chunk(delta({content: 'Hel'})) + stream.fault(fault)
    const last = {type: 'error', error: {type: 'api_error', message: 'acme error: the connection broke'}}
    expect(eventsIn(text).at(-1)).toEqual(last)
    expect(() => assembleMessage(text)).toThrow('unknown event error')
    expect([stream.chunk(delta({content: 'lo'})), stream.end(), stream.fault(fault)]).toEqual(['', '', ''])
  })

  test.each([
    [{type: 'rate_limit_exceeded'}, 'rate_limit_error'],
    [{code: 429}, 'rate_limit_error'],
    [{type: 'overloaded_error'}, 'overloaded_error'],
    [{type: 'server_error'}, 'api_error'],
    [{type: 'constructor', code: '__proto__'}, 'api_error'],
  ])('in which the provider tells the error %j ends with it', (error, type) => {
    const stream = messagesClient.openStream(context, {})
    const text =
      stream.chunk(delta({content: 'Hel'})) + stream.chunk({error: {message: 'no more', ...error}}) + stream.end()
    expect(eventsIn(text).at(-1)).toEqual({type: 'error', error: {type, message: 'acme error: no more'}})
  })

  test('of nothing at all is an empty message', () => {
    expect(assembleMessage(messagesClient.openStream(context, {}).end())).toMatchObject({
      content: [],
      stop_reason: 'end_turn',
    })
  })

  test('with several choices tells the first', () => {
    const stream = messagesClient.openStream(context, {})
    const other = {choices: [{index: 1, delta: {content: 'other'}, finish_reason: 'length'}]}
    const message = assembleMessage(stream.chunk(delta({content: 'one'})) + stream.chunk(other) + stream.end())
    expect(message).toMatchObject({content: [{type: 'text', text: 'one'}], stop_reason: 'end_turn'})
  })
})

test.each([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [412, 'invalid_request_error'],
  [413, 'request_too_large'],
  [422, 'invalid_request_error'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [502, 'api_error'],
  [503, 'api_error'],
  [529, 'overloaded_error'],
])('an error of status %i is an %s', (status, type) => {
  const fault = {message: 'acme error: no', type: 'x', param: 'y', code: 'z'}
  expect(messagesClient.error(status, fault)).toEqual({type: 'error', error: {type, message: 'acme error: no'}})
})

test.each<[field: string, asked: Json]>([
  ['messages', {}],
  ['messages', {messages: []}],
  ['messages[0]', {messages: ['hi']}],
  ['messages[0].role', {messages: [{role: 'tool', content: 'x'}]}],
  ['messages[0].role', {messages: [{role: '__proto__', content: 'x'}]}],
  ['messages[0].content', {messages: [{role: 'user', content: 7}]}],
  ['messages[0].content[0].type', user({type: 'container_upload', file_id: 'f'})],
  ['messages[0].content[0].source.type', user({type: 'image', source: {type: 'file', file_id: 'f'}})],
  ['messages[0].content[0].source.type', user({type: 'document', source: {type: 'file', file_id: 'f'}})],
  [
    'messages[0].content[0].source.content[0].type',
    user({type: 'document', source: {type: 'content', content: [{type: 'document'}]}}),
  ],
  ['messages[0].content[0].tool_use_id', user({type: 'tool_result'})],
  [
    'messages[0].content[0].content[0].type',
    user({type: 'tool_result', tool_use_id: 'a', content: [{type: 'tool_reference', tool_name: 'x'}]}),
  ],
  [
    'messages[0].content[0].type',
    {messages: [{role: 'assistant', content: [{type: 'server_tool_use', id: 'a', name: 'web_search', input: {}}]}]},
  ],
  ['system', {messages: [{role: 'user', content: 'a'}], system: 7}],
  [
    'tools[0].type',
    {messages: [{role: 'user', content: 'a'}], tools: [{type: 'web_search_20250305', name: 'web_search'}]},
  ],
  ['tools[0].input_schema', {messages: [{role: 'user', content: 'a'}], tools: [{name: 'x'}]}],
  [
    'tool_choice.type',
    {
      messages: [{role: 'user', content: 'a'}],
      tools: [{name: 'x', input_schema: {}}],
      tool_choice: {type: 'constructor'},
    },
  ],
  ['output_config.format.type', {messages: [{role: 'user', content: 'a'}], output_config: {format: {type: 'xml'}}}],
  ['output_config.effort', {messages: [{role: 'user', content: 'a'}], output_config: {effort: 'much'}}],
  ['metadata.user_id', {messages: [{role: 'user', content: 'a'}], metadata: {user_id: 7}}],
])('%s is named when it cannot be said', (field, asked) => {
  const refused = refusalOf(() => messagesClient.toChat(asked, context))
  expect(refused).toMatchObject({name: 'UnsupportedInputFault', field})
})

test('a tool of Anthropic’s own is named in the refusal', () => {
  const asked = {messages: [{role: 'user', content: 'a'}], tools: [{type: 'bash_20250124', name: 'bash'}]}
  expect(refusalOf(() => messagesClient.toChat(asked, context)).message).toBe(
    'tools[0].type: bash_20250124 cannot be said to acme, which is asked through chat completions',
  )
})

test('an end user’s long name goes as its digest', () => {
  const asked = {messages: [{role: 'user', content: 'a'}], metadata: {user_id: 'u'.repeat(65)}}
  expect(messagesClient.toChat(asked, context).user).toMatch(/^[0-9a-f]{64}$/)
})

test.each<unknown>([{}, {choices: []}, {choices: [{}]}, {choices: [{message: 'hi'}]}, {choices: {0: {message: {}}}}])(
  'the answer %j is no message',
  completion => {
    expect(() => messagesClient.fromChat(completion as Json, context, {})).toThrow(InvalidResponseFault)
  },
)

test('members that only some providers know can be taken off', () => {
  const mark = {cache_control: {type: 'ephemeral'}}
  const chat = {
    model: 'm',
    messages: [
      {role: 'system', content: [{type: 'text', text: 'a', ...mark}]},
      {
        role: 'user',
        content: [
          {type: 'text', text: 'a', ...mark},
          {type: 'text', text: 'b'},
        ],
      },
      {
        role: 'assistant',
        content: null,
        content_blocks: [{type: 'thinking'}],
        tool_calls: [{id: 'a', extra_content: {}, function: {name: 'f', arguments: '{}', thought_signature: 's'}}],
      },
      {role: 'tool', tool_call_id: 'a', content: 'Error', is_error: true},
    ],
    tools: [{type: 'function', function: {name: 'f'}, ...mark}],
  }
  expect(withoutOwnMembers(chat)).toEqual({
    model: 'm',
    messages: [
      {role: 'system', content: 'a'},
      {
        role: 'user',
        content: [
          {type: 'text', text: 'a'},
          {type: 'text', text: 'b'},
        ],
      },
      {role: 'assistant', content: null, tool_calls: [{id: 'a', function: {name: 'f', arguments: '{}'}}]},
      {role: 'tool', tool_call_id: 'a', content: 'Error'},
    ],
    tools: [{type: 'function', function: {name: 'f'}}],
  })
})

function user(block: Json): Json {
  return {messages: [{role: 'user', content: [block]}]}
}

function delta(said: Json): Json {
  return {id: 'chatcmpl-abc', model: 'm-1', choices: [{index: 0, delta: said, finish_reason: null}]}
}

function whole(said: Json, finish: string): Json {
  return messagesClient.fromChat(completionOf({said, finish, usage: null}), context, {})
}

function textOf(chunks: readonly Json[]): string {
  const stream = messagesClient.openStream({...context, is_stream: true}, {})
  return chunks.map(chunk => stream.chunk(chunk)).join('') + stream.end()
}

function refusalOf(act: () => unknown): UnsupportedInputFault {
  try {
    act()
  } catch (error) {
    if (error instanceof UnsupportedInputFault) return error
  }
  throw new Error('nothing was refused')
}
