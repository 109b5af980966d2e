import {readFileSync} from 'node:fs'
import {describe, expect, test} from 'vitest'
import {createAssembler} from '../../src/cache/assemble.ts'
import type {StreamedEndpoint} from '../../src/cache/rules.ts'

const recorded = (endpoint: StreamedEndpoint, name: string) =>
  readFileSync(new URL(`../fixtures/openai/${endpoint}/${name}/events.txt`, import.meta.url))
const chunks = (...told: readonly (object | string)[]) =>
  Buffer.from(told.map(each => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join(''))
const named = (...told: readonly {readonly type: string; readonly [member: string]: unknown}[]) =>
  Buffer.from(told.map(each => `event: ${each.type}\r\ndata: ${JSON.stringify(each)}\r\n\r\n`).join(''))
const delta = (told: object, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{index: 0, delta: told, finish_reason: null}],
  ...more,
})
const ended = (finish_reason = 'stop') => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{index: 0, delta: {}, finish_reason}],
})

function assembled(endpoint: StreamedEndpoint, ...cut: readonly Buffer[]): unknown {
  const assembler = createAssembler(endpoint)
  for (const each of cut) assembler.push(each)
  const answer = assembler.end()
  return answer && JSON.parse(answer.toString('utf8'))
}

/** What comes out, the stream whole, cut in two at every byte, and cut at all of them. */
function everyCut(endpoint: StreamedEndpoint, stream: Buffer): unknown {
  const whole = assembled(endpoint, stream)
  for (let at = 1; at < stream.length; at++) {
    // A buffer that is used again: what is kept must be a copy.
    const [first, second] = [Buffer.from(stream.subarray(0, at)), Buffer.from(stream.subarray(at))]
    const assembler = createAssembler(endpoint)
    assembler.push(first)
    first.fill(0)
    assembler.push(second)
    second.fill(0)
    const answer = assembler.end()
    expect(answer && JSON.parse(answer.toString('utf8'))).toEqual(whole)
  }
  expect(assembled(endpoint, ...Array.from(stream, byte => Buffer.from([byte])))).toEqual(whole)
  return whole
}

const CHAT = {
  id: 'chatcmpl-Ba1',
  object: 'chat.completion',
  created: 1735689600,
  model: 'gpt-4o-2024-08-06',
  service_tier: 'default',
  system_fingerprint: 'fp_a1',
}
const said = (message: object, finish_reason = 'stop') => [
  {index: 0, message: {role: 'assistant', ...message}, logprobs: null, finish_reason},
]

describe('chat', () => {
  test('with usage at the end', () => {
    expect(everyCut('chatComplete', recorded('chatComplete', 'usage'))).toEqual({
      ...CHAT,
      choices: said({content: 'Good mörning "\\"\n', refusal: null}),
      usage: {
        prompt_tokens: 1200,
        completion_tokens: 350,
        total_tokens: 1550,
        prompt_tokens_details: {cached_tokens: 1024, audio_tokens: 0},
        completion_tokens_details: {
          reasoning_tokens: 300,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
    })
  })

  test('with a tool call in fragments', () => {
    expect(everyCut('chatComplete', recorded('chatComplete', 'tool-calls'))).toEqual({
      ...CHAT,
      choices: said(
        {
          content: null,
          refusal: null,
          tool_calls: [{id: 'call_1', type: 'function', function: {name: 'weather', arguments: '{"place":"Oslo"}'}}],
        },
        'tool_calls',
      ),
      usage: {prompt_tokens: 60, completion_tokens: 15, total_tokens: 75},
    })
  })

  test('with reasoning beside content', () => {
    expect(everyCut('chatComplete', recorded('chatComplete', 'deepseek-crlf'))).toMatchObject({
      choices: said({content: '42', reasoning_content: 'Hmm.'}),
      usage: {prompt_cache_hit_tokens: 64},
    })
  })

  test('with a blank chunk first, and members that only one provider has', () => {
    expect(everyCut('chatComplete', recorded('chatComplete', 'azure-empty-choices'))).toEqual({
      ...CHAT,
      prompt_filter_results: [{prompt_index: 0, content_filter_results: {hate: {filtered: false, severity: 'safe'}}}],
      choices: said({content: 'Hi', refusal: null}),
      usage: {prompt_tokens: 8, completion_tokens: 2, total_tokens: 10},
    })
    expect(everyCut('chatComplete', recorded('chatComplete', 'groq'))).toMatchObject({
      x_groq: {id: 'req_01', usage: {total_tokens: 52}},
    })
  })

  test('between comments, with the role in every chunk', () => {
    expect(everyCut('chatComplete', recorded('chatComplete', 'openrouter-comments'))).toMatchObject({
      choices: said({content: 'Ja'}),
      provider: 'Any',
    })
  })

  test('with lines that end with CR and events of several lines', () => {
    expect(everyCut('chatComplete', recorded('chatComplete', 'multi-line-data-cr'))).toMatchObject({
      choices: [{index: 0, message: {content: 'ab'}, finish_reason: 'stop'}],
    })
  })

  test('with several choices, mingled, and several tool calls', () => {
    const of = (index: number, told: object, finish_reason: string | null = null) => ({
      id: 'c',
      choices: [{index, delta: told, finish_reason}],
    })
    const call = (index: number, told: object) => ({tool_calls: [{index, ...told}]})
    const stream = chunks(
      of(1, {role: 'assistant', content: 'b'}),
      of(0, {role: 'assistant', content: null}),
      of(0, call(0, {id: 't0', type: 'function', function: {name: 'f', arguments: ''}})),
      of(1, {content: 'B'}, 'stop'),
      of(0, call(1, {id: 't1', type: 'function', function: {name: 'g', arguments: '{'}})),
      of(0, call(0, {id: 't0', function: {arguments: '{}'}})),
      of(0, call(1, {function: {arguments: '}'}})),
      of(0, {}, 'tool_calls'),
      '[DONE]',
    )
    expect(everyCut('chatComplete', stream)).toEqual({
      id: 'c',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              {id: 't0', type: 'function', function: {name: 'f', arguments: '{}'}},
              {id: 't1', type: 'function', function: {name: 'g', arguments: '{}'}},
            ],
          },
          finish_reason: 'tool_calls',
        },
        {index: 1, message: {role: 'assistant', content: 'bB'}, finish_reason: 'stop'},
      ],
    })
  })

  test('with refusal, probabilities, annotations, audio and thinking', () => {
    const token = (text: string) => ({token: text, logprob: -0.5, bytes: [1], top_logprobs: []})
    const spoken = (told: object, content: object[] | null = null) => ({
      choices: [{index: 0, delta: told, logprobs: content && {content, refusal: null}, finish_reason: null}],
    })
    const stream = chunks(
      spoken({role: 'assistant', content: ''}),
      spoken({content: 'a', refusal: 'I '}, [token('a')]),
      spoken({content: 'b', refusal: 'cannot'}, [token('b')]),
      spoken({annotations: [{type: 'url_citation'}]}),
      spoken({annotations: [{type: 'url_citation'}], audio: {id: 'a', transcript: 'x', data: 'AA'}}),
      spoken({audio: {transcript: 'y', data: 'BB', expires_at: 9}}),
      spoken({content_blocks: [{index: 0, delta: {thinking: 'th'}}]}),
      spoken({content_blocks: [{index: 0, delta: {thinking: 'ink'}}]}),
      spoken({content_blocks: [{index: 0, delta: {signature: 'S'}}]}),
      spoken({content_blocks: [{index: 1, delta: {text: 'ab'}}], x_rare: {kept: [1]}}),
      ended(),
      '[DONE]',
    )
    expect(everyCut('chatComplete', stream)).toEqual({
      id: 'c',
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'ab',
            refusal: 'I cannot',
            annotations: [{type: 'url_citation'}, {type: 'url_citation'}],
            audio: {id: 'a', transcript: 'xy', data: 'AABB', expires_at: 9},
            x_rare: {kept: [1]},
            content_blocks: [
              {type: 'thinking', thinking: 'think', signature: 'S'},
              {type: 'text', text: 'ab'},
            ],
          },
          logprobs: {content: [token('a'), token('b')], refusal: null},
          finish_reason: 'stop',
        },
      ],
    })
  })

  test.each<readonly [string, Buffer]>([
    ['nothing at all', Buffer.from('')],
    ['comments alone', Buffer.from(': nothing yet\n\n')],
    ['an error first', recorded('chatComplete', 'error-first')],
    ['an error in its midst', recorded('chatComplete', 'error-mid-stream')],
    ['an error told as its end', chunks(delta({content: 'a'}), ended('overloaded_error'), '[DONE]')],
    ['no [DONE]', chunks(delta({content: 'a'}), ended())],
    ['no reason', chunks(delta({content: 'a'}), '[DONE]')],
    ['a choice missing', chunks({choices: [{index: 1, delta: {content: 'a'}, finish_reason: 'stop'}]}, '[DONE]')],
    ['a tool call missing', chunks(delta({tool_calls: [{index: 1, id: 'a'}]}), ended(), '[DONE]')],
    ['something after its end', chunks(delta({content: 'a'}), ended(), '[DONE]', delta({content: 'b'}))],
    ['a text that nobody knows how to add', chunks(delta({x_words: 'a'}), delta({x_words: 'a'}), ended(), '[DONE]')],
    ['a list that nobody knows how to add', chunks(delta({x_list: [1]}), delta({x_list: [2]}), ended(), '[DONE]')],
    ['a member that changes', chunks(delta({x_n: 1}), delta({x_n: 2}), ended(), '[DONE]')],
    ['no JSON', chunks('{', ended(), '[DONE]')],
    ['a choice that is none', chunks({choices: [null]}, '[DONE]')],
    ['a choice at a place far away', chunks({choices: [{index: 1e9, delta: {}, finish_reason: 'stop'}]}, '[DONE]')],
    [
      'a number that would come out as another',
      Buffer.from(
        'data: {"choices":[{"index":0,"delta":{"x":12345678901234567890},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
      ),
    ],
  ])('with %s is no answer', (_, stream) => {
    expect(everyCut('chatComplete', stream)).toBeNull()
  })

  test('cut anywhere before its end is no answer', () => {
    const stream = recorded('chatComplete', 'usage')
    for (let at = 0; at < stream.indexOf('[DONE]'); at++)
      expect(assembled('chatComplete', stream.subarray(0, at))).toBeNull()
  })

  test('has no way into the prototype', () => {
    const stream = Buffer.from(
      'data: {"choices":[{"index":0,"delta":{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1}}},"finish_reason":"stop"}],"__proto__":{"polluted":1}}\n\ndata: [DONE]\n\n',
    )
    expect(JSON.stringify(assembled('chatComplete', stream))).toContain('"__proto__":{"polluted":1}')
    expect({}).not.toHaveProperty('polluted')
  })
})

test('a text completion with usage at the end', () => {
  expect(everyCut('complete', recorded('complete', 'usage'))).toEqual({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1735689600,
    model: 'gpt-3.5-turbo-instruct',
    choices: [{index: 0, text: 'One two', logprobs: null, finish_reason: 'stop'}],
    usage: {prompt_tokens: 4, completion_tokens: 2, total_tokens: 6},
  })
})

describe('a message', () => {
  const start = {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {input_tokens: 5, output_tokens: 1},
    },
  }
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    {type: 'content_block_start', index, content_block},
    ...deltas.map(each => ({type: 'content_block_delta', index, delta: each})),
    {type: 'content_block_stop', index},
  ]
  const end = [
    {type: 'message_delta', delta: {stop_reason: 'end_turn', stop_sequence: null}, usage: {output_tokens: 7}},
    {type: 'message_stop'},
  ]
  const text = block(0, {type: 'text', text: ''}, {type: 'text_delta', text: 'a'})

  test('with text, pings and usage in two places', () => {
    expect(everyCut('messages', recorded('messages', 'whole'))).toEqual({
      id: 'msg_01',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{type: 'text', text: 'Hello message_stop'}],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 25,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 2000,
        cache_creation: {ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40},
        output_tokens: 15,
        service_tier: 'standard',
        server_tool_use: {web_search_requests: 1},
      },
    })
  })

  test('with thinking, citations, tools and blocks that come whole', () => {
    const stream = named(
      start,
      {type: 'ping'},
      ...block(
        0,
        {type: 'thinking', thinking: '', signature: ''},
        {type: 'thinking_delta', thinking: 'th'},
        {type: 'thinking_delta', thinking: 'ink'},
        {type: 'signature_delta', signature: 'S'},
      ),
      ...block(1, {type: 'redacted_thinking', data: 'R'}),
      ...block(
        2,
        {type: 'text', text: '', citations: []},
        {type: 'citations_delta', citation: {cited_text: 'c'}},
        {type: 'text_delta', text: 'a'},
      ),
      ...block(
        3,
        {type: 'server_tool_use', id: 's', name: 'web_search', input: {}},
        {type: 'input_json_delta', partial_json: ''},
        {type: 'input_json_delta', partial_json: '{"query":'},
        {type: 'input_json_delta', partial_json: '"q"}'},
      ),
      ...block(4, {
        type: 'web_search_tool_result',
        tool_use_id: 's',
        content: [{type: 'web_search_result', url: 'https://example.com'}],
      }),
      ...block(5, {type: 'tool_use', id: 't', name: 'f', input: {}}, {type: 'input_json_delta', partial_json: ''}),
      {
        type: 'message_delta',
        delta: {stop_reason: 'tool_use', stop_sequence: null, container: {id: 'k'}},
        usage: {output_tokens: 9},
        context_management: {applied_edits: []},
      },
      {type: 'message_stop'},
    )
    expect(everyCut('messages', stream)).toEqual({
      ...start.message,
      content: [
        {type: 'thinking', thinking: 'think', signature: 'S'},
        {type: 'redacted_thinking', data: 'R'},
        {type: 'text', text: 'a', citations: [{cited_text: 'c'}]},
        {type: 'server_tool_use', id: 's', name: 'web_search', input: {query: 'q'}},
        {
          type: 'web_search_tool_result',
          tool_use_id: 's',
          content: [{type: 'web_search_result', url: 'https://example.com'}],
        },
        {type: 'tool_use', id: 't', name: 'f', input: {}},
      ],
      stop_reason: 'tool_use',
      container: {id: 'k'},
      usage: {input_tokens: 5, output_tokens: 9},
      context_management: {applied_edits: []},
    })
  })

  test.each<readonly [string, Buffer]>([
    ['an error', recorded('messages', 'overloaded')],
    ['pings alone', recorded('messages', 'pings-only')],
    ['no message_stop', named(start, ...text, end[0]!)],
    ['no reason', named(start, ...text, end[1]!)],
    ['no start', named(...text, ...end)],
    ['two starts', named(start, start, ...text, ...end)],
    ['a block that stays open', named(start, ...text.slice(0, 2), ...end)],
    ['a block missing', named(start, ...block(1, {type: 'text', text: ''}), ...end)],
    ['a delta of no block', named(start, text[1]!, ...end)],
    [
      'a delta that we do not know',
      named(start, ...block(0, {type: 'text', text: ''}, {type: 'rhyme_delta', rhyme: 'a'}), ...end),
    ],
    [
      'a delta with more than we know',
      named(start, ...block(0, {type: 'text', text: ''}, {type: 'text_delta', text: 'a', tone: 'b'}), ...end),
    ],
    ['an event that we do not know', named(start, ...text, {type: 'message_aside'}, ...end)],
    [
      'the input of a tool cut off',
      named(
        start,
        ...block(0, {type: 'tool_use', input: {}}, {type: 'input_json_delta', partial_json: '{"a":'}),
        ...end,
      ),
    ],
    [
      'a number that would come out as another',
      named(
        start,
        ...block(0, {type: 'tool_use', input: {}}, {type: 'input_json_delta', partial_json: '{"a":9007199254740993}'}),
        ...end,
      ),
    ],
    ['something after its end', named(start, ...text, ...end, {type: 'message_delta'})],
  ])('with %s is no answer', (_, stream) => {
    expect(everyCut('messages', stream)).toBeNull()
  })
})

describe('a response', () => {
  test('is what its last event says', () => {
    expect(everyCut('createModelResponse', recorded('createModelResponse', 'completed'))).toMatchObject({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [{id: 'ws_1'}, {id: 'ws_2'}, {id: 'fs_1'}, {id: 'msg_1', content: [{text: 'Say response.completed'}]}],
      usage: {total_tokens: 390},
    })
    expect(everyCut('createModelResponse', recorded('createModelResponse', 'data-only'))).toMatchObject({
      status: 'incomplete',
    })
  })

  test.each<readonly [string, Buffer]>([
    ['failed', recorded('createModelResponse', 'failed')],
    ['told of an error', recorded('createModelResponse', 'error-event')],
    [
      'left out of its end what it streamed',
      named({type: 'response.output_item.done'}, {type: 'response.completed', response: {output: []}}),
    ],
    ['has no output', named({type: 'response.completed', response: {}})],
    ['went on after its end', named({type: 'response.completed', response: {output: []}}, {type: 'response.more'})],
  ])('that %s is no answer', (_, stream) => {
    expect(everyCut('createModelResponse', stream)).toBeNull()
  })
})

test('a stream longer than the bound is given up, and costs nothing more', () => {
  const assembler = createAssembler('chatComplete', 100)
  assembler.push(chunks(delta({content: 'a'})))
  expect(assembler.hopeful).toBe(false)
  assembler.push(chunks(ended(), '[DONE]'))
  expect(assembler.end()).toBeNull()
})
