import {describe, expect, test} from 'vitest'
import {responsesClient} from '../../../src/providers/responses/index.ts'
import {InvalidResponseFault, type Json} from '../../../src/providers/translation.ts'
import {eventsIn} from '../messages/assemble.ts'
import {chunksOf, completionOf, context, fixtures} from '../messages/fixtures.ts'
import {assembleResponse} from './assemble.ts'

const all = fixtures('responses')
const streamed = all.filter(({chunks}) => chunks)

describe('each fixture', () => {
  test.each(all)('$name: the request in chat’s words', ({asked, chat}) => {
    expect(responsesClient.toChat(asked, context)).toEqual(chat)
  })

  test.each(all)('$name: the same request, streamed, asks for usage', ({asked, chat}) => {
    const told = responsesClient.toChat({...asked, stream: true}, {...context, is_stream: true})
    expect(told).toEqual({...chat, stream: true, stream_options: {include_usage: true}})
  })

  test.each(all)('$name: the whole answer', fixture => {
    const response = responsesClient.fromChat(completionOf(fixture), context, fixture.asked)
    expect(response).toMatchObject({id: 'resp_abc', object: 'response', model: 'm-1', error: null, ...fixture.answer})
    expect(response.output).toEqual(fixture.answer.output)
  })

  test.each(streamed)('$name: the streamed answer comes to the whole one', fixture => {
    const whole = responsesClient.fromChat(completionOf(fixture), context, fixture.asked)
    expect(assembleResponse(textOf(chunksOf(fixture), fixture.asked))).toEqual(whole)
  })

  test.each(all.filter(({events}) => events))('$name: its events, one by one', ({chunks, events, asked}) => {
    const numbered = events!.map(([type, more], sequence_number) => ({type, sequence_number, ...more}))
    expect(eventsIn(textOf(chunksOf({chunks}), asked))).toEqual(numbered)
  })
})

describe('a stream', () => {
  const fault = {message: 'acme error: the connection broke', type: 'upstream_error', param: null, code: null}

  test('that was cut ends as failed, with an error behind it and nothing more', () => {
    const stream = responsesClient.openStream(context, {})
    const text = stream.chunk(delta({content: 'Hel'})) + stream.fault(fault)
    const [failed, error] = eventsIn(text).slice(-2)
    expect(failed).toMatchObject({
      type: 'response.failed',
      response: {
        id: 'resp_abc',
        status: 'failed',
        error: {code: 'server_error', message: 'acme error: the connection broke'},
        output: [{type: 'message', status: 'incomplete', content: [{text: 'Hel'}]}],
      },
    })
    expect(error).toEqual({
      type: 'error',
      sequence_number: (failed!.sequence_number as number) + 1,
      code: 'server_error',
      message: 'acme error: the connection broke',
      param: null,
      error: fault,
    })
    expect([stream.chunk(delta({content: 'lo'})), stream.end(), stream.fault(fault)]).toEqual(['', '', ''])
  })

  test('that was cut before it began begins first', () => {
    const types = eventsIn(responsesClient.openStream(context, {}).fault(fault)).map(({type}) => type)
    expect(types).toEqual(['response.created', 'response.in_progress', 'response.failed', 'error'])
  })

  test('in which the provider tells an error ends with it', () => {
    const stream = responsesClient.openStream(context, {})
    const text =
      stream.chunk(delta({content: 'Hel'})) +
      stream.chunk({error: {message: 'slow down', type: 'rate_limit_exceeded'}}) +
      stream.end()
    expect(eventsIn(text).at(-1)).toMatchObject({
      type: 'error',
      code: 'rate_limit_exceeded',
      message: 'acme error: slow down',
    })
  })

  test('whose chunks have ids of their own has one', () => {
    const stream = responsesClient.openStream(context, {})
    const chunk = (id: string, content: string) => stream.chunk({...delta({content}), id})
    const response = assembleResponse(chunk('a', 'Hel') + chunk('b', 'lo') + stream.end())
    expect(response).toMatchObject({id: 'resp_a', output: [{id: 'msg_a_0', content: [{text: 'Hello'}]}]})
  })

  test('with a call that has no name ends as failed', () => {
    const stream = responsesClient.openStream(context, {})
    const text = stream.chunk(delta({tool_calls: [{index: 0, id: 'a', function: {arguments: '{}'}}]})) + stream.end()
    expect(eventsIn(text).map(({type}) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
      'error',
    ])
  })
})

test.each([400, 401, 403, 404, 413, 429, 500, 503, 529])('an error of status %i is OpenAI’s', status => {
  const fault = {message: 'acme error: no', type: 'x', param: 'y', code: 'z'}
  expect(responsesClient.error(status, fault)).toEqual({error: fault})
})

test.each<[field: string, asked: Json]>([
  ['input', {}],
  ['input', {input: []}],
  ['input', {input: {role: 'user'}}],
  ['input[0]', {input: ['hi']}],
  ['input[0].type', {input: [{}]}],
  ['input[0].type', {input: [{type: 'item_reference', id: 'msg_1'}]}],
  ['input[0].type', {input: [{type: 'web_search_call', id: 'ws_1'}]}],
  ['input[0].role', {input: [{role: 'tool', content: 'a'}]}],
  ['input[0].role', {input: [{role: '__proto__', content: 'a'}]}],
  ['input[0].content', {input: [{role: 'user'}]}],
  ['input[0].content[0].type', {input: [{role: 'user', content: [{type: 'computer_screenshot'}]}]}],
  ['input[0].content[0].file_id', {input: [{role: 'user', content: [{type: 'input_image', file_id: 'file-1'}]}]}],
  ['input[0].content[0].file_id', {input: [{role: 'user', content: [{type: 'input_file', file_id: 'file-1'}]}]}],
  ['input[0].arguments', {input: [{type: 'function_call', call_id: 'a', name: 'f', arguments: {}}]}],
  ['input[0].call_id', {input: [{type: 'function_call_output', output: 'a'}]}],
  ['input[0].output', {input: [{type: 'function_call_output', call_id: 'a', output: {a: 1}}]}],
  ['input[0].summary', {input: [{type: 'reasoning', summary: 'a'}]}],
  ['instructions', {input: 'a', instructions: 7}],
  ['previous_response_id', {input: 'a', previous_response_id: 'resp_1'}],
  ['conversation', {input: 'a', conversation: {id: 'conv_1'}}],
  ['prompt', {input: 'a', prompt: {id: 'pmpt_1'}}],
  ['background', {input: 'a', background: true}],
  ['top_logprobs', {input: 'a', top_logprobs: 2}],
  ['tools[0].type', {input: 'a', tools: [{type: 'web_search'}]}],
  [
    'tools[1].type',
    {
      input: 'a',
      tools: [
        {type: 'function', name: 'f'},
        {type: 'custom', name: 'g'},
      ],
    },
  ],
  ['tool_choice', {input: 'a', tool_choice: 'constructor'}],
  ['tool_choice.type', {input: 'a', tool_choice: {type: 'file_search'}}],
  [
    'tool_choice.tools[0].type',
    {input: 'a', tool_choice: {type: 'allowed_tools', mode: 'auto', tools: [{type: 'mcp'}]}},
  ],
  ['text.format.type', {input: 'a', text: {format: {type: 'grammar'}}}],
  ['text.format.schema', {input: 'a', text: {format: {type: 'json_schema', name: 'a'}}}],
])('%s is named when it cannot be said', (field, asked) => {
  expect(() => responsesClient.toChat(asked, context)).toThrow(
    expect.objectContaining({name: 'UnsupportedInputFault', field}),
  )
})

test('a built-in tool is named in the refusal', () => {
  expect(() => responsesClient.toChat({input: 'a', tools: [{type: 'code_interpreter'}]}, context)).toThrow(
    'tools[0].type: code_interpreter cannot be said to acme, which is asked through chat completions',
  )
})

test.each<unknown>([{}, {choices: []}, {choices: [{}]}, {choices: [{message: 'hi'}]}])(
  'the answer %j is no response',
  completion => {
    expect(() => responsesClient.fromChat(completion as Json, context, {})).toThrow(InvalidResponseFault)
  },
)

test.each([
  'gw1.',
  'gw1.!!!',
  `gw1.${Buffer.from('[]').toString('base64url')}`,
  `gw1.${Buffer.from('{"signature":7}').toString('base64url')}`,
  'x',
  7,
  null,
])('thinking that is sealed as %j is left out', encrypted_content => {
  const input = [
    {role: 'user', content: 'a'},
    {type: 'reasoning', id: 'rs', summary: [], encrypted_content},
    {role: 'assistant', content: 'b'},
  ]
  expect(responsesClient.toChat({input}, context).messages).toEqual([
    {role: 'user', content: 'a'},
    {role: 'assistant', content: 'b'},
  ])
})

test('thinking between two texts keeps its place', () => {
  const thought = (n: number) => ({type: 'thinking', thinking: `t${n}`, signature: `s${n}`})
  const blocks = [thought(0), {type: 'text', text: 'a'}, thought(1), {type: 'text', text: 'b'}]
  const said = {role: 'assistant', content: 'ab', content_blocks: blocks}
  const {output} = responsesClient.fromChat(completionOf({said, finish: 'stop', usage: null}), context, {})
  const {messages} = responsesClient.toChat({input: [{role: 'user', content: 'q'}, ...(output as Json[])]}, context)
  expect((messages as Json[])[1]).toMatchObject({role: 'assistant', content_blocks: blocks})
})

function delta(said: Json): Json {
  return {id: 'chatcmpl-abc', model: 'm-1', choices: [{index: 0, delta: said, finish_reason: null}]}
}

function textOf(chunks: readonly Json[], asked: Json): string {
  const stream = responsesClient.openStream({...context, is_stream: true}, asked)
  return chunks.map(chunk => stream.chunk(chunk)).join('') + stream.end()
}
