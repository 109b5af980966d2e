import {describe, expect, test} from 'vitest'
import {bedrock} from '../../../src/providers/bedrock/index.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {chunkSaid, contextOf, counted, fixtures, follow, framed} from './fixtures.ts'

const chat = bedrock.endpoints.chatComplete!
const streamed = fixtures.filter(({stream}) => stream !== null)
const whole = fixtures.filter(({reply}) => reply !== null)

test.each(fixtures)('$name: the request', ({asked, context, sent}) => {
  expect(chat.request(asked, context)).toEqual({method: 'POST', ...sent})
})

test.each(whole)('$name: the answer', ({asked, context, reply, expected}) => {
  const {body, usage, model} = chat.reply(reply, context, asked)
  const {choices, ...rest} = body as Json & {choices: readonly Json[]}
  expect(choices).toEqual([
    {index: 0, message: expected.message, logprobs: null, finish_reason: expected.finish_reason},
  ])
  expect(counted(usage)).toEqual(expected.usage)
  expect(rest).toMatchObject({
    id: 'chatcmpl-call-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: context.model,
    provider: 'bedrock',
  })
  expect(model).toBeNull()
})

test.each(streamed)('$name: the stream', ({asked, context, stream, expected}) => {
  const translator = chat.stream!.open(context, asked)
  const chunks = follow(translator, [stream!])
  expect(chunks.map(chunkSaid)).toEqual(expected.chunks)
  for (const chunk of chunks) {
    expect(chunk).toMatchObject({
      id: 'chatcmpl-call-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: context.model,
    })
  }
  expect(counted(translator.usage)).toEqual(expected.usage)
  expect(translator.failed).toEqual(expected.failed ?? null)
  expect({finished: translator.finished, text_bytes: translator.text_bytes}).toEqual({
    finished: expected.finished,
    text_bytes: expected.text_bytes,
  })
})

test.each(streamed)('$name: cut at any byte, and at every byte, the stream is the same', ({asked, context, stream}) => {
  const through = (pieces: readonly Buffer[]) => {
    const translator = chat.stream!.open(context, asked)
    const chunks = follow(translator, pieces)
    const {usage, finished, failed, text_bytes} = translator
    return JSON.stringify({chunks, usage, finished, failed, text_bytes})
  }
  const bytes = stream!
  const expected = through([bytes])
  for (let at = 1; at < bytes.length; at++)
    expect(through([bytes.subarray(0, at), bytes.subarray(at)]) === expected, `cut at ${at}`).toBe(true)
  expect(through([...bytes].map(byte => Buffer.from([byte])))).toBe(expected)
})

const both = fixtures.filter(({reply, stream}) => reply !== null && stream !== null)

test.each(both)(
  '$name: streamed and whole answers say the same and count the same',
  ({asked, context, reply, stream}) => {
    const answer = chat.reply(reply, context, asked)
    const translator = chat.stream!.open(context, asked)
    const chunks = follow(translator, [stream!])
    const [choice] = (answer.body as Json).choices as readonly {message: Json; finish_reason: string}[]
    expect(translator.usage).toEqual(answer.usage)
    expect(assembled(chunks)).toEqual({
      content: choice!.message.content ?? '',
      tool_calls: choice!.message.tool_calls ?? [],
      finish_reason: choice!.finish_reason,
    })
  },
)

describe('every stop reason', () => {
  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['malformed_tool_use', 'stop'],
    ['constructor', 'stop'],
  ])('%s is %s, and itself where the client wants the provider’s words', (said, expected) => {
    const reply = {output: {message: {role: 'assistant', content: [{text: 'x'}]}}, stopReason: said}
    const events = framed([{messageStop: {stopReason: said}}])
    for (const [strict, reason] of [
      [true, expected],
      [false, said],
    ] as const) {
      const context = contextOf({strict})
      expect((chat.reply(reply, context, {}).body as Json).choices).toMatchObject([{finish_reason: reason}])
      expect(follow(chat.stream!.open(context, {}), [events]).map(chunkSaid)).toEqual([[{}, reason]])
    }
  })
})

describe('malformed answers are refused whole', () => {
  const good = {output: {message: {content: [] as unknown[]}}, stopReason: 'end_turn'}
  const content = (...blocks: unknown[]) => ({...good, output: {message: {content: blocks}}})
  test.each<[string, unknown]>([
    ['nothing', null],
    ['a page', '<html>'],
    ['a list', []],
    ['an error with 200', {message: 'The model is overloaded.'}],
    ['no message', {...good, output: {}}],
    ['content that is text', {...good, output: {message: {content: 'x'}}}],
    ['no stop reason', {...good, stopReason: undefined}],
    ['a block that is no object', content(null)],
    ['text that is a number', content({text: 5})],
    ['a tool call without a name', content({toolUse: {toolUseId: 'a', input: {}}})],
    ['a tool call without an id', content({toolUse: {name: 'a', input: {}}})],
    ['a tool call that is null', content({toolUse: null})],
    ['a thought that is no text', content({reasoningContent: {reasoningText: {text: 1}}})],
    ['a signature that is no text', content({reasoningContent: {reasoningText: {text: '', signature: {}}}})],
    ['thinking that is a word', content({reasoningContent: 'x'})],
  ])('%s', (_, said) => {
    expect(() => chat.reply(said, contextOf(), {})).toThrow(InvalidResponseFault)
  })

  test('a block of a kind that is not known is left out', () => {
    const {body} = chat.reply(content({hologram: {}}, {text: 'x'}), contextOf(), {})
    expect((body as Json).choices).toMatchObject([{message: {content: 'x'}}])
  })

  test('usage that cannot be is not counted', () => {
    expect(chat.reply({...good, usage: {inputTokens: -1, outputTokens: 'many'}}, contextOf(), {}).usage).toBeNull()
    // half of a report would be an output for nothing
    expect(chat.reply({...good, usage: {inputTokens: 1, outputTokens: 1e300}}, contextOf(), {}).usage).toBeNull()
  })
})

describe('malformed events end the stream with a fault, and nothing of them is shown', () => {
  test.each<[string, Json]>([
    ['a delta without an index', {contentBlockDelta: {delta: {text: 'x'}}}],
    ['a delta of null', {contentBlockDelta: {contentBlockIndex: 0, delta: null}}],
    ['text that is a number', {contentBlockDelta: {contentBlockIndex: 0, delta: {text: 4}}}],
    ['input of a tool that never began', {contentBlockDelta: {contentBlockIndex: 3, delta: {toolUse: {input: '{'}}}}],
    ['input that is an object', {contentBlockDelta: {contentBlockIndex: 0, delta: {toolUse: {input: {}}}}}],
    ['a thought that is a number', {contentBlockDelta: {contentBlockIndex: 0, delta: {reasoningContent: {text: 1}}}}],
    ['a tool without a name', {contentBlockStart: {contentBlockIndex: 1, start: {toolUse: {toolUseId: 'a'}}}}],
    ['a tool without an id', {contentBlockStart: {contentBlockIndex: 1, start: {toolUse: {name: 'a'}}}}],
    ['a tool that is null', {contentBlockStart: {contentBlockIndex: 1, start: {toolUse: null}}}],
    ['an index that is negative', {contentBlockStop: {contentBlockIndex: -1}}],
    ['an end without a reason', {messageStop: {}}],
    ['metadata that is text', {metadata: 'x'}],
  ])('%s', (_, event) => {
    const translator = chat.stream!.open(contextOf({strict: false}), {})
    const start = {contentBlockStart: {contentBlockIndex: 0, start: {toolUse: {toolUseId: 'a', name: 'b'}}}}
    const before = follow(chat.stream!.open(contextOf({strict: false}), {}), [framed([start])])
    expect(follow(translator, [framed([start, event, {messageStop: {stopReason: 'end_turn'}}])])).toEqual(before)
    expect(translator.failed).toMatchObject({
      message: expect.stringMatching(/^bedrock error: Invalid response received/),
      type: 'invalid_response',
      status: 502,
    })
    expect(translator.finished).toBe(false)
  })
})

describe('what Bedrock has no words for is refused by its place', () => {
  const user = (...content: unknown[]) => ({messages: [{role: 'user', content}]})
  const call = (arguments_: unknown) => ({
    messages: [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{id: 'a', type: 'function', function: {name: 'b', arguments: arguments_}}],
      },
    ],
  })
  const held = {messages: [...call('{}').messages, {role: 'tool', tool_call_id: 'a', content: 'x'}]}
  const tools = [{type: 'function', function: {name: 'b'}}]
  test.each<[string, string, Json]>([
    [
      'an image on the web',
      'messages[0].content[0].image_url.url',
      user({type: 'image_url', image_url: {url: 'https://pictures.example/a.png'}}),
    ],
    [
      'an image of another kind',
      'messages[0].content[0].image_url.url',
      user({type: 'image_url', image_url: {url: 'data:image/tiff;base64,AA=='}}),
    ],
    [
      'an image that is no base64',
      'messages[0].content[0].image_url.url',
      user({type: 'image_url', image_url: {url: 'data:image/png,AA'}}),
    ],
    [
      'an empty image',
      'messages[0].content[0].image_url.url',
      user({type: 'image_url', image_url: {url: 'data:image/png;base64,'}}),
    ],
    ['an image that is null', 'messages[0].content[0].image_url.url', user({type: 'image_url', image_url: null})],
    [
      'a bucket that is a way out',
      'messages[0].content[0].image_url.url',
      user({type: 'image_url', image_url: {url: 's3://../a.png'}}),
    ],
    ['an uploaded file', 'messages[0].content[0].file', user({type: 'file', file: {file_id: 'file-1'}})],
    ['a file of no kind', 'messages[0].content[0].file.file_data', user({type: 'file', file: {file_data: 'AA=='}})],
    [
      'a film on the web',
      'messages[0].content[0].video_url.url',
      user({type: 'video_url', video_url: {url: 'https://films.example/a.mp4'}}),
    ],
    [
      'sound of another kind',
      'messages[0].content[0].input_audio.format',
      user({type: 'input_audio', input_audio: {data: 'AA==', format: 'midi'}}),
    ],
    ['a part of another kind', 'messages[0].content[1].type', user({type: 'text', text: 'x'}, {type: 'hologram'})],
    ['a part that is text', 'messages[0].content[0]', user('x')],
    ['a text that is a number', 'messages[0].content[0].text', user({type: 'text', text: 1})],
    ['content that is a number', 'messages[0].content', {messages: [{role: 'user', content: 4}]}],
    [
      'a picture for the system',
      'messages[0].content',
      {messages: [{role: 'system', content: [{type: 'image_url', image_url: {url: 'data:image/png;base64,AA=='}}]}]},
    ],
    ['another role', 'messages[0].role', {messages: [{role: 'function', name: 'f', content: 'x'}]}],
    ['a message that is text', 'messages[0]', {messages: ['x']}],
    ['no messages', 'messages', {}],
    ['arguments that are no JSON', 'messages[0].tool_calls[0].function.arguments', call('{"a":')],
    ['arguments that are a list', 'messages[0].tool_calls[0].function.arguments', call('[1]')],
    ['arguments that are no text', 'messages[0].tool_calls[0].function.arguments', call({a: 1})],
    [
      'a call without an id',
      'messages[0].tool_calls[0].id',
      {messages: [{role: 'assistant', tool_calls: [{function: {name: 'b'}}]}]},
    ],
    ['a result without a call', 'messages[0].tool_call_id', {messages: [{role: 'tool', content: 'x'}]}],
    ['a tool of another kind', 'tools[0]', {...user(), tools: [{type: 'web_search'}]}],
    [
      'a schema that is text',
      'tools[0].function.parameters',
      {...user(), tools: [{type: 'function', function: {name: 'b', parameters: 'x'}}]},
    ],
    ['no tools, where calls were made', 'tool_choice', {...held, tools, tool_choice: 'none'}],
    ['another choice', 'tool_choice', {...user(), tools, tool_choice: 'sometimes'}],
    ['two choices', 'n', {...user(), n: 2}],
    ['log probabilities', 'logprobs', {...user(), logprobs: true}],
    ['functions', 'functions', {...user(), functions: [{name: 'b'}]}],
    ['any JSON', 'response_format', {...user(), response_format: {type: 'json_object'}}],
    ['a temperature in words', 'temperature', {...user(), temperature: 'hot'}],
    ['a stop that is a number', 'stop', {...user(), stop: [1]}],
    ['thinking that is a word', 'thinking', {...user(), thinking: 'yes'}],
  ])('%s', (_, field, asked) => {
    expect(() => chat.request(asked, contextOf())).toThrow(
      expect.objectContaining({name: 'UnsupportedInputFault', field}),
    )
  })

  test.each(['', '..', '../converse', 'a/../b', 'a b', 'a?b', 'a#b', '/a', 'a%2e', 'é', `a${'b'.repeat(2048)}`])(
    'the model %j',
    model => {
      expect(() => chat.request({messages: []}, contextOf({model}))).toThrow(UnsupportedInputFault)
    },
  )

  test('tools that are not to be used are not sent', () => {
    const {body} = chat.request({messages: [{role: 'user', content: 'x'}], tools, tool_choice: 'none'}, contextOf())
    expect(body).toEqual({messages: [{role: 'user', content: [{text: 'x'}]}]})
  })
})

test('blank texts of earlier answers are left out, and a thought that was withheld goes back with its signature', () => {
  const tool_calls = [{id: 'a', type: 'function', function: {name: 'b', arguments: '{}'}}]
  const messages = [
    {role: 'user', content: 'x'},
    {role: 'assistant', content: '\n\n', tool_calls},
    {role: 'tool', tool_call_id: 'a', content: 'y'},
    {role: 'assistant', content: ' '},
    {
      role: 'assistant',
      content: null,
      content_blocks: [
        {type: 'thinking', signature: 'S'},
        {type: 'text', text: ' \n'},
        {type: 'text', text: ' z '},
      ],
    },
  ]
  expect(chat.request({messages}, contextOf({model: 'anthropic.claude-3-haiku-20240307-v1:0'})).body).toEqual({
    messages: [
      {role: 'user', content: [{text: 'x'}]},
      {role: 'assistant', content: [{toolUse: {toolUseId: 'a', name: 'b', input: {}}}]},
      {role: 'user', content: [{toolResult: {toolUseId: 'a', content: [{text: 'y'}]}}]},
      {role: 'assistant', content: [{reasoningContent: {reasoningText: {text: '', signature: 'S'}}}, {text: ' z '}]},
    ],
  })
})

test('a cache point stands after something, never alone', () => {
  const cache_control = {type: 'ephemeral'}
  const messages = [
    {role: 'system', content: '', cache_control},
    {
      role: 'user',
      content: [
        {type: 'text', text: 'x'},
        {type: 'text', text: ' ', cache_control},
      ],
      cache_control,
    },
    {role: 'assistant', content: '', cache_control},
  ]
  expect(chat.request({messages}, contextOf()).body).toEqual({
    messages: [{role: 'user', content: [{text: 'x'}, {cachePoint: {type: 'default'}}]}],
  })
})

test('a version of Anthropic’s own API is not Bedrock’s', () => {
  const sent = (anthropic_version: string) =>
    chat.request(
      {messages: []},
      contextOf({model: 'anthropic.claude-3-haiku-20240307-v1:0', options: {anthropic_version}}),
    ).body
  expect(sent('2023-06-01')).toEqual({messages: []})
  expect(sent('bedrock-2023-05-31')).toEqual({
    messages: [],
    additionalModelRequestFields: {anthropic_version: 'bedrock-2023-05-31'},
  })
})

test('a user who says nothing is heard: the provider answers to that', () => {
  const messages = [{role: 'user', content: ''}]
  expect(chat.request({messages}, contextOf()).body).toEqual({messages: [{role: 'user', content: [{text: ''}]}]})
})

test('a large picture is not copied: the request holds a slice of it', () => {
  const base64 = 'A'.repeat(10 * 1024 * 1024)
  const asked = {
    messages: [{role: 'user', content: [{type: 'image_url', image_url: {url: `data:image/png;base64,${base64}`}}]}],
  }
  const before = process.memoryUsage().heapUsed
  const sent = Array.from({length: 20}, () => chat.request(asked, contextOf()))
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(base64.length * 5)
  expect(sent).toHaveLength(20)
})

/** A chat stream put together as a client does, by OpenAI's rules. */
function assembled(chunks: readonly Json[]) {
  let content = ''
  let finish_reason: string | null = null
  const tool_calls: {id?: string; type?: string; function: {name: string; arguments: string}}[] = []
  for (const chunk of chunks) {
    const [choice] = chunk.choices as readonly {delta: Json; finish_reason: string | null}[]
    if (!choice) continue
    content += choice.delta.content ?? ''
    finish_reason = choice.finish_reason ?? finish_reason
    for (const part of (choice.delta.tool_calls ?? []) as readonly {
      index: number
      id?: string
      type?: string
      function: {name?: string; arguments: string}
    }[]) {
      tool_calls[part.index] ??= {id: part.id!, type: part.type!, function: {name: part.function.name!, arguments: ''}}
      tool_calls[part.index]!.function.arguments += part.function.arguments
    }
  }
  return {content, tool_calls, finish_reason}
}
