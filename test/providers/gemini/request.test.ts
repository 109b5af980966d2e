import {describe, expect, test} from 'vitest'
import {gemini, geminiOnVertex} from '../../../src/providers/gemini/index.ts'
import {type Json, UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {chatOf, contextOf} from './fixtures.ts'

const user = {role: 'user', content: 'Hi'}
const tool = {type: 'function', function: {name: 'f', parameters: {type: 'object', properties: {a: {type: 'string'}}}}}

function asks(more: Json, model = 'gemini-2.5-flash', strict = true): Json {
  return chatOf().request({model, messages: [user], ...more}, contextOf({model, strict})).body as Json
}

function refusal(asked: Json, dialect = gemini, options: Record<string, string> = {}): UnsupportedInputFault {
  try {
    chatOf(dialect).request(asked, contextOf({options}))
  } catch (error) {
    if (error instanceof UnsupportedInputFault) return error
    throw error
  }
  throw new Error('it was translated')
}

test.each([
  ['none', {mode: 'NONE'}],
  ['auto', {mode: 'AUTO'}],
  ['required', {mode: 'ANY'}],
  [
    {type: 'function', function: {name: 'f'}},
    {mode: 'ANY', allowedFunctionNames: ['f']},
  ],
  [
    {type: 'allowed_tools', allowed_tools: {mode: 'auto', tools: [{type: 'function', function: {name: 'f'}}]}},
    {mode: 'VALIDATED', allowedFunctionNames: ['f']},
  ],
  [
    {type: 'allowed_tools', allowed_tools: {mode: 'required', tools: [{type: 'function', function: {name: 'f'}}]}},
    {mode: 'ANY', allowedFunctionNames: ['f']},
  ],
])('tool_choice %j', (tool_choice, functionCallingConfig) => {
  expect(asks({tools: [tool], tool_choice}).toolConfig).toEqual({functionCallingConfig})
  expect(asks({tool_choice})).not.toHaveProperty('toolConfig')
})

test.each([
  ['gemini-2.5-pro', {reasoning_effort: 'none'}, {thinkingBudget: 0}],
  ['gemini-2.5-flash', {reasoning_effort: 'minimal'}, {thinkingBudget: 1024}],
  ['gemini-2.5-flash', {reasoning_effort: 'low'}, {thinkingBudget: 1024}],
  ['gemini-2.5-flash', {reasoning_effort: 'high'}, {thinkingBudget: 24576}],
  ['gemini-flash-latest', {reasoning_effort: 'medium'}, {thinkingBudget: 8192}],
  ['gemini-2.5-flash', {thinking: {type: 'disabled'}}, {thinkingBudget: 0}],
  ['gemini-2.5-flash', {thinking: {type: 'enabled'}}, {includeThoughts: true}],
  [
    'gemini-2.5-flash',
    {thinking: {type: 'adaptive'}, reasoning_effort: 'low'},
    {includeThoughts: true, thinkingBudget: 1024},
  ],
  ['gemini-3-flash-preview', {reasoning_effort: 'minimal'}, {thinkingLevel: 'minimal'}],
  ['gemini-3-flash-preview', {reasoning_effort: 'medium'}, {thinkingLevel: 'medium'}],
  ['gemini-3-pro-preview', {reasoning_effort: 'medium'}, {thinkingLevel: 'high'}],
  ['gemini-3.1-pro-preview', {reasoning_effort: 'medium'}, {thinkingLevel: 'medium'}],
  ['gemini-3-pro-preview', {reasoning_effort: 'minimal'}, {thinkingLevel: 'low'}],
  [
    'gemini-3-pro-preview',
    {thinking: {type: 'enabled', budget_tokens: 1024}},
    {includeThoughts: true, thinkingLevel: 'low'},
  ],
  [
    'gemini-3-pro-preview',
    {thinking: {type: 'enabled', budget_tokens: 32000}},
    {includeThoughts: true, thinkingLevel: 'high'},
  ],
  ['gemini-3-flash-preview', {thinking: {type: 'disabled'}}, {thinkingLevel: 'minimal'}],
  [
    'gemini-2.5-pro',
    {thinking_config: {include_thoughts: true, thinking_budget: -1}},
    {includeThoughts: true, thinkingBudget: -1},
  ],
])('%s is told how much to think: %j', (model, more, thinkingConfig) => {
  expect(asks(more, model).generationConfig).toEqual({thinkingConfig})
})

test('a model that cannot think is not told to', () => {
  expect(asks({reasoning_effort: 'high'}, 'gemini-2.0-flash')).not.toHaveProperty('generationConfig')
  expect(asks({thinking: {type: 'enabled', budget_tokens: 1024}}, 'gemini-2.0-flash')).not.toHaveProperty(
    'generationConfig',
  )
  expect(asks({reasoning_effort: 'high'}, 'gemma-3-27b-it')).not.toHaveProperty('generationConfig')
})

test('a caller’s own function may have the name of one of Google’s tools', () => {
  const own = {
    type: 'function',
    function: {name: 'google_search', parameters: {type: 'object', properties: {query: {type: 'string'}}}},
  }
  expect(asks({tools: [own]}).tools).toEqual([
    {
      functionDeclarations: [
        {name: 'google_search', parameters: {type: 'object', properties: {query: {type: 'string'}}}},
      ],
    },
  ])
  expect(asks({tools: [{type: 'function', function: {name: 'code_execution'}}]}).tools).toEqual([
    {functionDeclarations: [{name: 'code_execution'}]},
  ])
})

test('nulls say nothing', () => {
  const nothing = {
    temperature: null,
    stop: null,
    n: null,
    response_format: null,
    modalities: null,
    audio: null,
    tools: null,
    tool_choice: null,
  }
  expect(asks(nothing)).toEqual({contents: [{role: 'user', parts: [{text: 'Hi'}]}]})
})

test('a result of a tool may carry pictures', () => {
  const call = {id: 'a', type: 'function', function: {name: 'f', arguments: '{}'}}
  const content = [
    {type: 'text', text: 'Seen'},
    {type: 'image_url', image_url: {url: 'data:image/png;base64,iVBO'}},
  ]
  const messages = [user, {role: 'assistant', tool_calls: [call]}, {role: 'tool', tool_call_id: 'a', content}]
  expect((asks({messages}).contents as Json[])[2]).toEqual({
    role: 'user',
    parts: [
      {
        functionResponse: {
          id: 'a',
          name: 'f',
          response: {output: 'Seen'},
          parts: [{inlineData: {mimeType: 'image/png', data: 'iVBO'}}],
        },
      },
    ],
  })
})

test.each([
  [{messages: []}, 'messages'],
  [{messages: 'x'}, 'messages'],
  [{messages: [{role: 'user', content: ''}]}, 'messages'],
  [{messages: [user, null]}, 'messages[1]'],
  [{messages: [{role: 'robot', content: 'x'}]}, 'messages[0].role'],
  [{messages: [{role: 'user', content: 7}]}, 'messages[0].content'],
  [{messages: [{role: 'user', content: [{type: 'text', text: 7}]}]}, 'messages[0].content[0].text'],
  [{messages: [{role: 'user', content: [{type: 'hologram'}]}]}, 'messages[0].content[0].type'],
  [
    {messages: [{role: 'user', content: [{type: 'image_url', image_url: {url: 'file:///etc/passwd'}}]}]},
    'messages[0].content[0].image_url.url',
  ],
  [
    {messages: [{role: 'user', content: [{type: 'image_url', image_url: {url: 'data:image/png'}}]}]},
    'messages[0].content[0].image_url.url',
  ],
  [{messages: [{role: 'user', content: [{type: 'image_url'}]}]}, 'messages[0].content[0].image_url.url'],
  [
    {messages: [{role: 'user', content: [{type: 'input_audio', input_audio: {data: 'x', format: 'a/b\r\n'}}]}]},
    'messages[0].content[0].input_audio.format',
  ],
  [{messages: [{role: 'user', content: [{type: 'file', file: {}}]}]}, 'messages[0].content[0].file'],
  [{messages: [{role: 'tool', tool_call_id: 'nobody', content: 'x'}]}, 'messages[0].tool_call_id'],
  [
    {messages: [{role: 'assistant', tool_calls: [{id: 'a', type: 'custom', custom: {}}]}]},
    'messages[0].tool_calls[0].type',
  ],
  [
    {messages: [{role: 'assistant', tool_calls: [{id: 'a', function: {arguments: '{}'}}]}]},
    'messages[0].tool_calls[0].function.name',
  ],
  [
    {messages: [{role: 'assistant', tool_calls: [{id: 'a', function: {name: 'f', arguments: '{"a":'}}]}]},
    'messages[0].tool_calls[0].function.arguments',
  ],
  [
    {messages: [{role: 'assistant', tool_calls: [{id: 'a', function: {name: 'f', arguments: '[1]'}}]}]},
    'messages[0].tool_calls[0].function.arguments',
  ],
  [{messages: [user], tools: [{type: 'custom', custom: {name: 'x'}}]}, 'tools[0].type'],
  [{messages: [user], tools: [{type: 'constructor'}]}, 'tools[0].type'],
  [{messages: [user], tools: [{type: 'function', function: {}}]}, 'tools[0].function.name'],
  [{messages: [user], functions: [{name: 'x'}]}, 'functions'],
  [{messages: [user], tools: [tool], tool_choice: 'maybe'}, 'tool_choice'],
  [{messages: [user], response_format: {type: 'grammar'}}, 'response_format.type'],
  [
    {messages: [user], response_format: {type: 'json_schema', json_schema: {schema: 'x'}}},
    'response_format.json_schema.schema',
  ],
  [{messages: [user], modalities: ['smell']}, 'modalities'],
  [{messages: [user], audio: {voice: 'Kore', format: 'mp3'}}, 'audio.format'],
  [{messages: [user], reasoning_effort: 'constructor'}, 'reasoning_effort'],
  [{messages: [user], thinking: {type: 'maybe'}}, 'thinking.type'],
])('%j is refused by its field', (asked, field) => {
  expect(refusal({model: 'gemini-2.5-flash', ...asked}).field).toBe(field)
})

describe('paths', () => {
  const path = (model: string, options: Record<string, string> = {}, dialect = gemini) =>
    chatOf(dialect).request({messages: [user]}, contextOf({model, options})).path

  test.each([
    ['models/gemini-2.5-pro', '/v1beta/models/gemini-2.5-pro:generateContent'],
    ['google.gemini-2.5-pro', '/v1beta/models/gemini-2.5-pro:generateContent'],
    ['tunedModels/mine-1', '/v1beta/tunedModels/mine-1:generateContent'],
    ['../../x?y=1#z', '/v1beta/models/..%2F..%2Fx%3Fy%3D1%23z:generateContent'],
  ])('AI Studio: %s', (model, expected) => {
    expect(path(model)).toBe(expected)
  })

  test('Vertex AI: the options say where', () => {
    const options = {vertex_project_id: 'p-1', vertex_api_version: 'v1beta1', vertex_region: 'global'}
    expect(path('a/b', options, geminiOnVertex())).toBe(
      '/v1beta1/projects/p-1/locations/global/publishers/google/models/a%2Fb:generateContent',
    )
    expect(path('gemini-2.5-pro', {vertex_project_id: '12345'}, geminiOnVertex())).toBe(
      '/v1/projects/12345/locations/us-central1/publishers/google/models/gemini-2.5-pro:generateContent',
    )
  })

  test.each([
    [{}, 'vertex_project_id'],
    [{vertex_project_id: '..'}, 'vertex_project_id'],
    [{vertex_project_id: 'a/../b'}, 'vertex_project_id'],
    [{vertex_project_id: 'p', vertex_region: '../x'}, 'vertex_region'],
    [{vertex_project_id: 'p', vertex_api_version: 'v1?'}, 'vertex_api_version'],
    [{vertex_project_id: 'p', vertex_publisher: '..'}, 'vertex_publisher'],
  ])('Vertex AI: %j is refused', (options, field) => {
    expect(refusal({messages: [user]}, geminiOnVertex(), options as Record<string, string>).field).toBe(field)
  })

  test('a model must be named', () => {
    expect(() => path('')).toThrow('model: expected the name of a model')
  })
})

test('10,000 messages are translated, and a member named __proto__ is a member', () => {
  const args = '{"__proto__":{"polluted":true},"a":1}'
  const call = {id: 'a', type: 'function', function: {name: '__proto__', arguments: args}}
  const messages = Array.from({length: 10_000}, (_, at) =>
    at % 4 === 0
      ? user
      : at % 4 === 1
        ? {role: 'assistant', tool_calls: [call]}
        : at % 4 === 2
          ? {role: 'tool', tool_call_id: 'a', content: 'x'}
          : {role: 'assistant', content: 'y'},
  )
  const {contents} = asks({messages}) as {contents: readonly {parts: readonly Json[]}[]}
  expect(contents).toHaveLength(10_000)
  expect(JSON.stringify(contents[1]!.parts[0])).toBe(`{"functionCall":{"id":"a","name":"__proto__","args":${args}}}`)
  expect({}).not.toHaveProperty('polluted')
  const one = asks({messages: Array.from({length: 200_000}, () => user)}) as {
    contents: readonly {parts: readonly Json[]}[]
  }
  expect(one.contents[0]!.parts).toHaveLength(200_000)
})

test('arguments nested too deep are refused', () => {
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const call = {id: 'a', type: 'function', function: {name: 'f', arguments: deep}}
  expect(refusal({messages: [{role: 'assistant', tool_calls: [call]}]}).field).toBe(
    'messages[0].tool_calls[0].function.arguments',
  )
})
