import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {assemble} from '../../src/cache/assemble.ts'
import type {StreamedEndpoint} from '../../src/cache/rules.ts'
import {synthesizeStream} from '../../src/cache/synthesize-stream.ts'
import {ANSWERS} from './answers.ts'

const ENDPOINTS = Object.keys(ANSWERS) as StreamedEndpoint[]
const bytes = (answer: unknown) => Buffer.from(JSON.stringify(answer))
const parsed = (answer: Buffer | null) => answer && (JSON.parse(answer.toString('utf8')) as unknown)
const events = (stream: Buffer | null) => stream!.toString('utf8').split('\n\n').slice(0, -1)
const dataOf = (stream: Buffer | null) =>
  events(stream).map(event => {
    const data = event.split('\n').at(-1)!.slice('data: '.length)
    return data === '[DONE]' ? data : (JSON.parse(data) as Record<string, unknown>)
  })

describe.each(ENDPOINTS)('a replay of %s', endpoint => {
  test('tells the whole answer: put together it is the same again', () => {
    fc.assert(
      fc.property(ANSWERS[endpoint], fc.boolean(), (answer, include_usage) => {
        const stream = synthesizeStream(endpoint, bytes(answer), {include_usage})
        expect(parsed(assemble(endpoint, stream!))).toEqual(answer)
      }),
      {numRuns: 1000},
    )
  })

  test('that is cut is no answer', () => {
    fc.assert(
      fc.property(ANSWERS[endpoint], fc.nat(), (answer, cut) => {
        const stream = synthesizeStream(endpoint, bytes(answer))!
        const end = stream.lastIndexOf(
          endpoint === 'chatComplete' || endpoint === 'complete' ? 'data: [DONE]' : 'event: ',
        )
        expect(assemble(endpoint, stream.subarray(0, cut % (end + 1)))).toBeNull()
      }),
      {numRuns: 300},
    )
  })

  test.each([
    '',
    'null',
    '[]',
    '{',
    '{"choices":[]}',
    '{"choices":[1]}',
    '{"choices":[{"message":1}]}',
    '{"content":[1]}',
    '{"output":[1]}',
  ])('of %s is none', answer => {
    const shaped = endpoint === 'complete' && answer.includes('message')
    if (!shaped) expect(synthesizeStream(endpoint, Buffer.from(answer))).toBeNull()
  })
})

describe('what a client sees', () => {
  const chat = {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'x'.repeat(1001),
          reasoning_content: 'why',
          tool_calls: [{id: 't1', type: 'function', function: {name: 'f', arguments: '{"a":1}'}}],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: {prompt_tokens: 1, completion_tokens: 2, total_tokens: 3},
  }

  test('of a chat: role, texts in pieces of 500, tool calls as one delta, the reason, usage, [DONE]', () => {
    const chunks = dataOf(synthesizeStream('chatComplete', bytes(chat)))
    const choices = chunks.slice(0, -1).map(chunk => (chunk as {choices: Record<string, unknown>[]}).choices[0])
    const open = {index: 0, logprobs: null, finish_reason: null}
    expect(choices).toEqual([
      {...open, delta: {role: 'assistant', content: ''}},
      {...open, delta: {reasoning_content: 'why'}},
      {...open, delta: {content: 'x'.repeat(500)}},
      {...open, delta: {content: 'x'.repeat(500)}},
      {...open, delta: {content: 'x'}},
      {
        ...open,
        delta: {tool_calls: [{index: 0, id: 't1', type: 'function', function: {name: 'f', arguments: '{"a":1}'}}]},
      },
      {...open, delta: {}, finish_reason: 'tool_calls'},
    ])
    expect(chunks.at(-2)).toMatchObject({
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      usage: chat.usage,
    })
    expect(chunks[0]).not.toHaveProperty('usage')
    expect(chunks.at(-1)).toBe('[DONE]')
  })

  test('of a chat, asked for usage: in a chunk of its own', () => {
    const chunks = dataOf(synthesizeStream('chatComplete', bytes(chat), {include_usage: true}))
    expect(chunks.at(-2)).toMatchObject({choices: [], usage: chat.usage})
    expect(chunks.slice(0, -2).map(chunk => (chunk as {usage: unknown}).usage)).toEqual(Array(7).fill(null))
  })

  test('of thinking: content blocks, their signature whole', () => {
    const content_blocks = [
      {type: 'thinking', thinking: 'y'.repeat(600), signature: 's'.repeat(600)},
      {type: 'text', text: 'hello'},
    ]
    const message = {role: 'assistant', content: 'hello', content_blocks}
    const stream = synthesizeStream(
      'chatComplete',
      bytes({...chat, choices: [{index: 0, message, finish_reason: 'stop'}]}),
    )
    const told = dataOf(stream).flatMap(
      chunk => (chunk as {choices?: {delta: {content_blocks?: unknown[]}}[]}).choices?.[0]?.delta.content_blocks ?? [],
    )
    expect(told).toEqual([
      {index: 0, delta: {thinking: 'y'.repeat(500), signature: 's'.repeat(600)}},
      {index: 0, delta: {thinking: 'y'.repeat(100)}},
      {index: 1, delta: {text: 'hello'}},
    ])
  })

  test('of a text completion: chunks of the same shape', () => {
    const answer = {
      id: 'c',
      object: 'text_completion',
      created: 1,
      model: 'm',
      choices: [{index: 0, text: 'One', logprobs: null, finish_reason: 'stop'}],
    }
    expect(dataOf(synthesizeStream('complete', bytes(answer)))).toEqual([
      {...answer, choices: [{index: 0, text: 'One', logprobs: null, finish_reason: null}]},
      {...answer, choices: [{index: 0, text: '', logprobs: null, finish_reason: 'stop'}]},
      '[DONE]',
    ])
  })

  test('of a message: message_start … message_stop, named, with nothing after', () => {
    const answer = {
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        {type: 'text', text: 'Hi'},
        {type: 'tool_use', id: 't', name: 'f', input: {a: 1}},
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {input_tokens: 3, output_tokens: 4},
    }
    const stream = synthesizeStream('messages', bytes(answer))
    const told = dataOf(stream) as Record<string, unknown>[]
    expect(events(stream).map(event => event.split('\n')[0])).toEqual(told.map(({type}) => `event: ${type}`))
    expect(told).toEqual([
      {
        type: 'message_start',
        message: {
          ...answer,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {input_tokens: 3, output_tokens: 0},
        },
      },
      {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}},
      {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'Hi'}},
      {type: 'content_block_stop', index: 0},
      {type: 'content_block_start', index: 1, content_block: {type: 'tool_use', id: 't', name: 'f', input: {}}},
      {type: 'content_block_delta', index: 1, delta: {type: 'input_json_delta', partial_json: '{"a":1}'}},
      {type: 'content_block_stop', index: 1},
      {
        type: 'message_delta',
        delta: {stop_reason: 'tool_use', stop_sequence: null},
        usage: {input_tokens: 3, output_tokens: 4},
      },
      {type: 'message_stop'},
    ])
  })

  test('of a response: created … completed, numbered', () => {
    const answer = {
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [
        {
          id: 'm',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{type: 'output_text', text: 'Hi', annotations: []}],
        },
        {id: 'f', type: 'function_call', status: 'completed', call_id: 'c', name: 'f', arguments: '{}'},
      ],
      usage: {input_tokens: 1, output_tokens: 1, total_tokens: 2},
    }
    const told = dataOf(synthesizeStream('createModelResponse', bytes(answer))) as Record<string, unknown>[]
    expect(told.map(({sequence_number}) => sequence_number)).toEqual(told.map((_, at) => at))
    expect(told.map(({type}) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(told[0]).toMatchObject({response: {status: 'in_progress', output: [], usage: null}})
    expect(told.at(-1)).toMatchObject({response: answer})
  })

  test('is nothing where a number would come out as another', () => {
    const answer = Buffer.from(
      '{"type":"message","content":[{"type":"tool_use","id":"t","name":"f","input":{"id":9007199254740993}}],"stop_reason":"tool_use"}',
    )
    expect(synthesizeStream('messages', answer)).toBeNull()
    expect(
      synthesizeStream('messages', Buffer.from(answer.toString().replace('9007199254740993', '"9007199254740993"'))),
    ).not.toBeNull()
    expect(
      synthesizeStream('messages', Buffer.from(answer.toString().replace('9007199254740993', '-0.12345678901234567'))),
    ).not.toBeNull()
  })
})
