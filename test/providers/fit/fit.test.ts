import {describe, expect, test} from 'vitest'
import {variantOf} from '../../../src/providers/base-urls/base-url.ts'
import {translationFor} from '../../../src/providers/clients.ts'
import {find} from '../../../src/providers/registry.ts'
import type {Json, TranslationContext} from '../../../src/providers/translation.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'

const OPTIONS = {vertex_project_id: 'p', aws_region: 'us-east-1'}
const NOVA = ['bedrock', 'amazon.nova-pro-v1:0'] as const
const CLAUDE = ['anthropic', 'claude-sonnet-4-5'] as const
const CONVERSE_CLAUDE = ['bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'] as const
const MISTRAL = ['mistral-ai', 'mistral-large-latest'] as const

/** What leaves for a request, and what is reported of it. */
function sent([slug, model]: readonly [string, string], request: Json, endpoint: EndpointName = 'chatComplete') {
  const reports: string[] = []
  const {translation, client} = translationFor(variantOf(find(slug)!, model, OPTIONS), endpoint)!
  const context: TranslationContext = {
    provider: slug,
    model,
    is_stream: false,
    strict: !client,
    options: OPTIONS,
    call_id: 'c',
    created_s: 1,
    report: adaptation => void reports.push(adaptation),
  }
  const chat = client ? client.toChat(request, context) : request
  const body = JSON.parse(JSON.stringify(translation.request(chat, context).body)) as Json
  return {body, reports}
}

const user = (content: unknown = 'Hi') => ({role: 'user', content})
const called = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(id => ({id, type: 'function', function: {name: 'read', arguments: '{"path":"a"}'}})),
})
const result = (tool_call_id: string, content = 'one') => ({role: 'tool', tool_call_id, content})
const tools = [{type: 'function', function: {name: 'read', parameters: {properties: {path: {type: 'string'}}}}}]
const history = [user(), called('t1'), result('t1'), user('Sum it up.')]

describe('calls and their results', () => {
  test('a result that comes late follows its call', () => {
    const {body, reports} = sent(CLAUDE, {
      messages: [user(), called('a', 'b'), result('a'), user('And?'), result('b')],
      tools,
    })
    const turns = body.messages as {role: string; content: Json[]}[]
    expect(turns.map(({role, content}) => [role, ...content.map(({type}) => type)])).toEqual([
      ['user', 'text'],
      ['assistant', 'tool_use', 'tool_use'],
      ['user', 'tool_result', 'tool_result', 'text'],
    ])
    expect(reports).toEqual(['converted messages[4]: the result follows its call'])
  })

  test('ids that come twice differ, and lead their results to the right call', () => {
    const messages = [user(), called('call_0'), result('call_0', 'one'), called('call_0'), result('call_0', 'two')]
    const turns = sent(CLAUDE, {messages, tools}).body.messages as {content: Json[]}[]
    const uses = turns.flatMap(({content}) => content.filter(({type}) => type === 'tool_use').map(({id}) => id))
    const results = turns.flatMap(({content}) =>
      content.filter(({type}) => type === 'tool_result').map(each => [each.tool_use_id, each.content]),
    )
    expect(new Set(uses).size).toBe(2)
    expect(results).toEqual([
      [uses[0], 'one'],
      [uses[1], 'two'],
    ])
  })

  test('an id that is too long for OpenAI is short, the same each time', () => {
    const id = `toolu_${'x'.repeat(60)}`
    const messages = [
      user(),
      {role: 'assistant', content: [{type: 'tool_use', id, name: 'read', input: {}}]},
      {role: 'user', content: [{type: 'tool_result', tool_use_id: id, content: 'one'}]},
    ]
    const [, assistant, answer] = sent(['openai', 'gpt-5-mini'], {max_tokens: 9, messages}, 'messages').body
      .messages as Json[]
    const [call] = assistant!.tool_calls as Json[]
    expect(String(call!.id).length).toBeLessThanOrEqual(40)
    expect(answer!.tool_call_id).toBe(call!.id)
  })

  test.each([
    ['a call without a result', 'messages[1].tool_calls[1].id', [user(), called('a', 'b'), result('a')]],
    ['a result without a call', 'messages[1].tool_call_id', [user(), result('a')]],
    ['a result that comes twice', 'messages[3].tool_call_id', [user(), called('a'), result('a'), result('a')]],
  ])('%s is refused', (_, field, messages) => {
    for (const target of [CLAUDE, NOVA, MISTRAL, ['google', 'gemini-2.5-flash'], ['cohere', 'command-a']] as const)
      expect(() => sent(target, {messages, tools})).toThrow(`${field}: `)
  })

  test.each([
    ['none are offered', {}],
    ['none may be called', {tools, tool_choice: 'none'}],
  ])('Converse gets them as text where %s', (_, more) => {
    const {body, reports} = sent(NOVA, {messages: history, ...more})
    expect(body.toolConfig).toBeUndefined()
    expect(body.messages).toEqual([
      {role: 'user', content: [{text: 'Hi'}]},
      {role: 'assistant', content: [{text: '[Call of read: {"path":"a"}]'}]},
      {role: 'user', content: [{text: '[Result of read]'}, {text: 'one'}, {text: 'Sum it up.'}]},
    ])
    expect(reports).toEqual(['converted messages: calls and their results are text, as no tools may be called'])
  })
})

describe('the order of messages', () => {
  test('the user has the first word at Converse', () => {
    const {body, reports} = sent(NOVA, {
      messages: [{role: 'system', content: 's'}, {role: 'assistant', content: 'Hello.'}, user()],
    })
    expect((body.messages as Json[]).map(({role}) => role)).toEqual(['user', 'assistant', 'user'])
    expect(reports).toEqual(['converted messages[1]: the user has the first word'])
  })

  test('a conversation in which only the system speaks is refused for Converse', () => {
    expect(() => sent(NOVA, {messages: [{role: 'system', content: 's'}]})).toThrow('messages: ')
    expect(() => sent(NOVA, {messages: [{role: 'system', content: 's'}, user(' ')]})).toThrow('messages[1].content: ')
  })

  test('Mistral hears the system first, the assistant behind results, and a prefix at the end', () => {
    const messages = [
      ...history.slice(0, 3),
      user('And?'),
      {role: 'system', content: 's'},
      {role: 'assistant', content: 'It is'},
    ]
    const {body, reports} = sent(MISTRAL, {messages, tools})
    const turns = body.messages as Json[]
    expect(turns.map(({role}) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
    ])
    expect(turns.at(-1)).toMatchObject({content: 'It is', prefix: true})
    expect(reports.length).toBe(3)
  })

  test('a prefill for Claude has no white space at its end', () => {
    const {body, reports} = sent(CLAUDE, {messages: [user(), {role: 'assistant', content: 'It is \n'}]})
    expect((body.messages as Json[])[1]).toEqual({role: 'assistant', content: [{type: 'text', text: 'It is'}]})
    expect(reports.length).toBe(1)
  })
})

test('what newer models of Claude refuse is left out, and the user has the last word', () => {
  const request = {messages: [user(), {role: 'assistant', content: 'It is'}], temperature: 0.2, top_k: 3}
  const {body, reports} = sent(['anthropic', 'claude-opus-4-7'], request)
  expect((body.messages as Json[]).at(-1)).toEqual({role: 'user', content: [{type: 'text', text: 'Continue.'}]})
  expect([body.temperature, body.top_k]).toEqual([undefined, undefined])
  expect(reports.length).toBe(3)
  expect(sent(CLAUDE, request).reports).toEqual([])
})

describe('stop sequences', () => {
  test.each([
    [CLAUDE, ['END'], (body: Json) => body.stop_sequences],
    [CONVERSE_CLAUDE, ['END'], (body: Json) => (body.inferenceConfig as Json).stopSequences],
    [NOVA, ['\n', 'END'], (body: Json) => (body.inferenceConfig as Json).stopSequences],
    [['google', 'gemini-2.5-flash'], ['\n', 'END'], (body: Json) => (body.generationConfig as Json).stopSequences],
    [['cohere', 'command-a'], ['\n', 'END'], (body: Json) => body.stop_sequences],
  ] as const)('%s takes %j', (target, expected, of) => {
    const {body, reports} = sent(target, {messages: [user()], stop: ['\n', '', 'END']})
    expect(of(body)).toEqual(expected)
    expect(reports.length).toBe(3 - expected.length)
  })

  test('of a text completion by way of chat are those of the chat', () => {
    const {body, reports} = sent(CLAUDE, {prompt: 'Hi', stop: ['\n', 'END']}, 'complete')
    expect(body.stop_sequences).toEqual(['END'])
    expect(reports).toEqual(['dropped stop[0]: blank'])
  })

  test('with none left the member is absent, and more than a provider takes are refused', () => {
    expect(sent(CLAUDE, {messages: [user()], stop: '\n'}).body.stop_sequences).toBeUndefined()
    const stop = ['a', 'b', 'c', 'd', 'e', 'f']
    expect(() => sent(['google', 'gemini-2.5-flash'], {messages: [user()], stop})).toThrow('stop: ')
  })
})

test('a model of OpenAI’s that reasons gets no sampling, and any other keeps it', () => {
  const request = {max_tokens: 9, temperature: 0, messages: [user()]}
  const {body, reports} = sent(['openai', 'gpt-5-mini'], request, 'messages')
  expect([body.temperature, reports]).toEqual([undefined, ['dropped temperature: the model takes none']])
  for (const model of ['gpt-4.1', 'gpt-5-chat-latest', 'gpt-5.2', 'o-series'])
    expect(sent(['openai', model], request, 'messages').body.temperature).toBe(0)
})

test('a picture of image/jpg is one of image/jpeg at Google, which knows no other', () => {
  const picture = {type: 'image_url', image_url: {url: 'data:image/jpg;base64,QUJD'}}
  const {body} = sent(['google', 'gemini-2.5-flash'], {messages: [user([picture])]})
  expect(JSON.stringify(body)).toContain('"mimeType":"image/jpeg"')
})

describe('tools', () => {
  test('parameters without a type are an object at Converse', () => {
    const named = [{type: 'function', function: {name: 'now', parameters: {}}}, ...tools]
    const {toolConfig} = sent(NOVA, {messages: [user()], tools: named}).body
    const specs = (toolConfig as {tools: {toolSpec: {inputSchema: {json: Json}}}[]}).tools
    expect(specs.map(({toolSpec}) => toolSpec.inputSchema.json.type)).toEqual(['object', 'object'])
  })

  test.each([
    ['tools[0].function.name', [{type: 'function', function: {name: ''}}], 'auto'],
    ['tools[1].function.name', [tools[0], tools[0]], 'auto'],
    ['tool_choice', tools, {type: 'function', function: {name: 'write'}}],
    [
      'tools[0].function.parameters.type',
      [{type: 'function', function: {name: 'a', parameters: {type: 'string'}}}],
      'auto',
    ],
  ])('%s is refused before it is sent', (field, given, tool_choice) => {
    expect(() => sent(CLAUDE, {messages: [user()], tools: given, tool_choice})).toThrow(`${field}: `)
  })

  test('alternatives at the top of parameters become properties of the whole for Claude', () => {
    const parameters = {
      anyOf: [{properties: {a: {type: 'string'}}, required: ['a']}, {properties: {b: {type: 'string'}}}],
    }
    const {body, reports} = sent(CLAUDE, {
      messages: [user()],
      tools: [{type: 'function', function: {name: 'f', parameters}}],
    })
    expect((body.tools as Json[])[0]!.input_schema).toEqual({
      type: 'object',
      properties: {a: {type: 'string'}, b: {type: 'string'}},
    })
    expect(reports.length).toBe(1)
  })

  test('a tool that is forced is chosen freely while Claude thinks, and a temperature is left out', () => {
    const thinking = {type: 'enabled', budget_tokens: 2048}
    const request = {messages: [user()], tools, tool_choice: 'required', thinking, temperature: 0.2}
    const {body, reports} = sent(CLAUDE, request)
    expect([body.tool_choice, body.temperature]).toEqual([{type: 'auto'}, undefined])
    expect(reports).toEqual([
      'converted tool_choice: auto, as the model thinks',
      'dropped temperature: the model thinks',
    ])
  })
})

describe('the format of the answer', () => {
  const schema = {
    type: 'object',
    properties: {
      score: {type: 'integer', minimum: 1, maximum: 10, description: 'A score.'},
      tags: {
        type: 'array',
        items: {type: 'object', properties: {t: {type: 'string', minLength: 2}}},
        minItems: 2,
        maxItems: 5,
      },
    },
    required: ['score'],
  }
  const request = {messages: [user()], response_format: {type: 'json_schema', json_schema: {name: 'a', schema}}}
  const closed = {
    type: 'object',
    properties: {
      score: {type: 'integer', description: 'A score. (minimum: 1, maximum: 10)'},
      tags: {
        type: 'array',
        items: {
          type: 'object',
          properties: {t: {type: 'string', description: '(minLength: 2)'}},
          additionalProperties: false,
        },
        description: '(maxItems: 5, minItems: 2)',
      },
    },
    required: ['score'],
    additionalProperties: false,
  }

  test('is a schema of Claude’s subset, by either way', () => {
    const {body, reports} = sent(CLAUDE, request)
    expect((body.output_config as {format: Json}).format.schema).toEqual(closed)
    expect(reports.length).toBe(2)
    const {outputConfig} = sent(CONVERSE_CLAUDE, request).body
    const {textFormat} = outputConfig as {textFormat: {structure: {jsonSchema: {schema: string}}}}
    expect(JSON.parse(textFormat.structure.jsonSchema.schema)).toEqual(closed)
  })

  test('is refused where it refers to itself', () => {
    const own = {type: 'object', properties: {next: {$ref: '#'}}}
    const format = {response_format: {type: 'json_schema', json_schema: {name: 'a', schema: own}}}
    expect(() => sent(CLAUDE, {messages: [user()], ...format})).toThrow('response_format.json_schema.schema: ')
  })

  test('is strict at OpenAI where it can be kept strictly', () => {
    const asked = (format: Json) => ({
      max_tokens: 9,
      messages: [user()],
      output_config: {format: {type: 'json_schema', schema: format}},
    })
    const strictOf = (format: Json) => {
      const {response_format} = sent(['openai', 'gpt-5-mini'], asked(format), 'messages').body
      return (response_format as {json_schema: Json}).json_schema.strict
    }
    expect([
      strictOf(schema),
      strictOf({...schema, properties: {}, required: [], additionalProperties: false}),
    ]).toEqual([false, true])
  })

  test('goes with the prompt to DeepSeek', () => {
    const asked = {input: 'Hi', text: {format: {type: 'json_schema', name: 'a', schema}}}
    const {body, reports} = sent(['deepseek', 'deepseek-chat'], asked, 'createModelResponse')
    expect(body.response_format).toEqual({type: 'json_object'})
    expect((body.messages as Json[])[0]).toEqual({role: 'system', content: expect.stringContaining('"minLength":2')})
    expect(reports).toEqual(['converted response_format: the schema goes with the prompt'])
  })
})

test('a text of blanks alone reaches Gemini, which refuses an empty one; Claude refuses both', () => {
  const GEMINI = ['google', 'gemini-2.5-flash'] as const
  expect(sent(GEMINI, {messages: [user(' \n')]}).body.contents).toEqual([{role: 'user', parts: [{text: ' \n'}]}])
  expect(() => sent(GEMINI, {messages: [user('')]})).toThrow('a message of the user that says something')
  expect(() => sent(CONVERSE_CLAUDE, {messages: [user(' \n')]})).toThrow('a message of the user that says something')
})
