import {describe, expect, test} from 'vitest'
import {outputSchema} from '../../../src/providers/anthropic/output-schema.ts'
import {claudeVersion, defaultMaxTokens} from '../../../src/providers/anthropic/thinking.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {CONTEXT, chatOn} from './fixtures.ts'

const messages = [{role: 'user', content: 'Hello'}]
const tool = (name: string) => ({type: 'function', function: {name}})

function body(asked: Json, context: Partial<TranslationContext> = {}): Json {
  return chatOn().request({messages, ...asked}, {...CONTEXT, ...context}).body as Json
}

function complaint(asked: Json): string {
  try {
    body(asked)
  } catch (error) {
    if (error instanceof UnsupportedInputFault) return error.message
    throw error
  }
  return 'translated'
}

// biome-ignore format: a table is read by its lines
test.each<[unknown, unknown, unknown, readonly string[]]>([
  [undefined, undefined, undefined, ['a', 'b']],
  ['auto', undefined, {type: 'auto'}, ['a', 'b']],
  ['none', undefined, {type: 'none'}, ['a', 'b']],
  ['required', undefined, {type: 'any'}, ['a', 'b']],
  [tool('b'), undefined, {type: 'tool', name: 'b'}, ['a', 'b']],
  [undefined, true, undefined, ['a', 'b']],
  [undefined, false, {type: 'auto', disable_parallel_tool_use: true}, ['a', 'b']],
  ['required', false, {type: 'any', disable_parallel_tool_use: true}, ['a', 'b']],
  [tool('b'), false, {type: 'tool', name: 'b', disable_parallel_tool_use: true}, ['a', 'b']],
  ['none', false, {type: 'none'}, ['a', 'b']],
  [{type: 'allowed_tools', allowed_tools: {mode: 'auto', tools: [tool('a')]}}, undefined, {type: 'auto'}, ['a']],
  [{type: 'allowed_tools', allowed_tools: {mode: 'required', tools: [tool('b')]}}, undefined, {type: 'any'}, ['b']],
])('tool_choice %j, parallel_tool_calls %j', (tool_choice, parallel_tool_calls, expected, names) => {
  const sent = body({tools: [tool('a'), tool('b')], tool_choice, parallel_tool_calls})
  expect(sent.tool_choice).toEqual(expected)
  expect((sent.tools as readonly Json[]).map(({name}) => name)).toEqual(names)
})

test('without tools there is nothing to choose', () => {
  for (const asked of [{tool_choice: 'auto'}, {tool_choice: 'none'}, {parallel_tool_calls: false}, {tools: []}]) {
    expect(Object.keys(body(asked))).toEqual(['model', 'max_tokens', 'messages'])
  }
})

// biome-ignore format: a table is read by its lines
test.each<[string, Json, Json]>([
  ['temperature', {temperature: 2}, {temperature: 1}],
  ['a negative temperature', {temperature: -1}, {temperature: 0}],
  ['temperature 0 before top_p', {temperature: 0, top_p: 0.5}, {temperature: 0}],
  ['top_p alone', {top_p: 1.5, temperature: null}, {top_p: 1}],
  ['one stop', {stop: 'a'}, {stop_sequences: ['a']}],
  ['stops', {stop: ['a', 'b']}, {stop_sequences: ['a', 'b']}],
  ['no stop', {stop: []}, {}],
  ['a safety identifier', {safety_identifier: 's', metadata: {user_id: 'u', room: '7'}}, {metadata: {user_id: 's'}}],
  ['a user in the metadata', {metadata: {user_id: 'u', room: '7'}}, {metadata: {user_id: 'u'}}],
  ['a notebook', {metadata: {room: '7'}}, {}],
  ['tier auto', {service_tier: 'auto'}, {service_tier: 'auto'}],
  ['tier default', {service_tier: 'default'}, {service_tier: 'standard_only'}],
  ['tier flex', {service_tier: 'flex'}, {}],
  ['max_completion_tokens first', {max_completion_tokens: 5, max_tokens: 6}, {max_tokens: 5}],
  ['max_tokens', {max_tokens: 6}, {max_tokens: 6}],
  ['text', {response_format: {type: 'text'}, n: 1, modalities: ['text']}, {}],
  ['what it has no word for', {seed: 1, logit_bias: {}, logprobs: true, top_logprobs: 3, presence_penalty: 1, store: true, prediction: {}}, {}],
  ['its own words', {top_k: 3, container: 'c', mcp_servers: [{url: 'https://example.com'}], cache_control: {type: 'ephemeral'}}, {top_k: 3, container: 'c', mcp_servers: [{url: 'https://example.com'}], cache_control: {type: 'ephemeral'}}],
  ['effort and a format', {output_config: {effort: 'low'}, response_format: {type: 'json_schema', json_schema: {schema: {type: 'object'}}}}, {output_config: {effort: 'low', format: {type: 'json_schema', schema: {type: 'object', additionalProperties: false}}}}],
])('%s', (_, asked, expected) => {
  expect(body(asked)).toEqual({...body({}), ...expected})
})

// biome-ignore format: a table is read by its lines
test.each<[string, Json]>([
  ['messages: expected an array with at least one message', {messages: []}],
  ['messages: this provider needs a message of the user that says something', {messages: [{role: 'system', content: 'Hi'}]}],
  ['messages[0]: expected an object with a role', {messages: ['Hi']}],
  ['messages[0].role: expected system, developer, user, assistant or tool', {messages: [{role: 'function', name: 'f', content: '1'}]}],
  ['messages[0].content: expected a string or an array of parts', {messages: [{role: 'user', content: 3}]}],
  ['messages[0].content[1]: expected an object with a type', {messages: [{role: 'user', content: [{type: 'text', text: 'a'}, 'b']}]}],
  ['messages[0].content[0].type: expected text, image_url or file; this provider takes no other parts', {messages: [{role: 'user', content: [{type: 'input_audio', input_audio: {data: '', format: 'wav'}}]}]}],
  ['messages[0].content[0].type: expected text', {messages: [{role: 'system', content: [{type: 'image_url', image_url: {url: 'https://example.com'}}]}]}],
  ['messages[0].content[0].text: expected a string', {messages: [{role: 'user', content: [{type: 'text'}]}]}],
  ['messages[0].content[0].image_url.url: expected an https URL or a data URI', {messages: [{role: 'user', content: [{type: 'image_url', image_url: {url: 'file:///etc/passwd'}}]}]}],
  ['messages[0].content[0].image_url.url: expected data:<media type>;base64,<data>', {messages: [{role: 'user', content: [{type: 'image_url', image_url: {url: 'data:image/png,abc'}}]}]}],
  ['messages[0].content[0].file.file_data: expected a picture, a PDF or text; this provider takes no other files', {messages: [{role: 'user', content: [{type: 'file', file: {file_data: 'data:application/zip;base64,UEs='}}]}]}],
  ['messages[0].content[0].image_url.url: expected a picture, a PDF or text; this provider takes no other files', {messages: [{role: 'user', content: [{type: 'image_url', image_url: 'data:audio/mp3;base64,UEs='}]}]}],
  ['messages[0].content[0].file.file_url: expected an https URL or a data URI', {messages: [{role: 'user', content: [{type: 'file', file: {file_url: 'file:///etc/passwd'}}]}]}],
  ['messages[0].content[0].file: expected file_data or file_id', {messages: [{role: 'user', content: [{type: 'file', file: {filename: 'a'}}]}]}],
  ['messages[0].tool_call_id: expected the id of a tool call', {messages: [{role: 'tool', content: '1'}]}],
  ['messages[0].function_call: say it with tool_calls', {messages: [{role: 'assistant', function_call: {name: 'f', arguments: ''}}]}],
  ['messages[0].tool_calls[0].id: expected the id of the call', {messages: [{role: 'assistant', tool_calls: [tool('a')]}]}],
  ['messages[0].tool_calls[0].function.arguments: expected a JSON object in a string, nested at most 256 deep', {messages: [{role: 'assistant', tool_calls: [{id: 'x', function: {name: 'f', arguments: '{"a":'}}]}]}],
  ['messages[0].tool_calls[0].function.arguments: expected a JSON object in a string, nested at most 256 deep', {messages: [{role: 'assistant', tool_calls: [{id: 'x', function: {name: 'f', arguments: '[1]'}}]}]}],
  ['n: this provider gives one choice for each request', {n: 2}],
  ['modalities: this provider answers in text only', {modalities: ['text', 'audio']}],
  ['functions: say it with tools and tool_choice', {functions: []}],
  ['max_tokens: expected a whole number of tokens', {max_tokens: '9'}],
  ['max_completion_tokens: expected a whole number of tokens', {max_completion_tokens: 1.5}],
  ['temperature: expected a number', {temperature: 'hot'}],
  ['stop: expected a string or an array of strings', {stop: [1]}],
  ['tools: expected an array of tools', {tools: {}}],
  ['tools[0].function.name: expected the name of a tool', {tools: [{type: 'function', function: {}}]}],
  ['tools[0].function.parameters: expected a JSON schema', {tools: [{type: 'function', function: {name: 'a', parameters: 'x'}}]}],
  ['tools[0].type: this provider has no free-form tools', {tools: [{type: 'custom', custom: {name: 'x'}}]}],
  ['tools[0].type: expected function, or a tool of the provider with its name', {tools: [{type: 'constructor'}]}],
  ['tool_choice: expected none, auto, required, or an object that names a function', {tool_choice: 'perhaps'}],
  ['response_format.type: expected text, json_object or json_schema', {response_format: {type: 'grammar'}}],
  ['response_format.json_schema.schema: expected a JSON schema', {response_format: {type: 'json_schema'}}],
  ['reasoning_effort: expected none, minimal, low, medium, high, xhigh or max', {reasoning_effort: 'toString'}],
  ['thinking: expected an object such as {"type": "adaptive"}', {thinking: true}],
  ['anthropic_version: expected a date such as 2023-06-01', {anthropic_version: 'a\r\nb: c'}],
  ['anthropic_beta: expected at most 32 names such as files-api-2025-04-14', {anthropic_beta: 'a\r\nx-evil: 1'}],
  ['anthropic_beta: expected at most 32 names such as files-api-2025-04-14', {anthropic_beta: 'a,'.repeat(40)}],
])('%s', (sentence, asked) => {
  expect(complaint(asked)).toBe(sentence)
})

describe('thinking', () => {
  // biome-ignore format: a table is read by its lines
  test.each<[string, number | null, number]>([
    ['claude-3-haiku-20240307', 300, 4096],
    ['claude-3-5-sonnet-v2@20241022', 305, 8192],
    ['claude-3-7-sonnet-20250219', 307, 8192],
    ['claude-sonnet-4-20250514', 400, 8192],
    ['claude-sonnet-4@20250514', 400, 8192],
    ['us.anthropic.claude-opus-4-5-20251101-v1:0', 405, 8192],
    ['claude-opus-4-6', 406, 8192],
    ['anthropic/claude-opus-4.7', 407, 8192],
    ['claude-instant-1.2', 102, 4096],
    ['my-deployment', null, 8192],
  ])('%s is version %s and writes %s tokens if nobody says how many', (model, version, max_tokens) => {
    expect(claudeVersion(model)).toBe(version)
    expect(defaultMaxTokens(model, 0)).toBe(max_tokens)
    expect(body({}, {model}).max_tokens).toBe(max_tokens)
  })

  const budget = (budget_tokens: number, max_tokens: number) => ({
    thinking: {type: 'enabled', budget_tokens},
    max_tokens,
  })
  const adaptive = (effort: string, max_tokens: number) => ({
    thinking: {type: 'adaptive'},
    output_config: {effort},
    max_tokens,
  })
  // biome-ignore format: a table is read by its lines
  test.each<[string, string, Json, Json]>([
    ['claude-sonnet-4-5', 'minimal', {}, budget(1024, 9216)],
    ['claude-sonnet-4-5', 'low', {}, budget(1024, 9216)],
    ['claude-sonnet-4-5', 'medium', {}, budget(8192, 16384)],
    ['claude-sonnet-4-5', 'high', {}, budget(16384, 24576)],
    ['claude-sonnet-4-5', 'xhigh', {}, budget(32768, 40960)],
    ['claude-sonnet-4-5', 'none', {}, {max_tokens: 8192}],
    ['claude-sonnet-4-5', 'high', {max_tokens: 4000}, budget(2000, 4000)],
    ['claude-sonnet-4-5', 'high', {max_tokens: 1100}, budget(1024, 1100)],
    ['claude-sonnet-4-5', 'high', {max_tokens: 1024, temperature: 0.5}, {max_tokens: 1024, temperature: 0.5}],
    ['claude-3-5-sonnet-20241022', 'high', {}, {max_tokens: 8192}],
    ['claude-opus-4-6', 'xhigh', {}, adaptive('high', 40960)],
    ['claude-opus-4-7', 'xhigh', {}, adaptive('xhigh', 40960)],
    ['claude-opus-5', 'minimal', {}, adaptive('low', 9216)],
    ['my-deployment', 'max', {max_tokens: 100}, adaptive('max', 100)],
    ['claude-opus-4-7', 'none', {}, {max_tokens: 8192, thinking: {type: 'disabled'}}],
    ['claude-opus-4-7', 'low', {thinking: {type: 'adaptive', display: 'summarized'}}, {max_tokens: 8192, thinking: {type: 'adaptive', display: 'summarized'}, output_config: {effort: 'low'}}],
    ['claude-sonnet-4-5', 'low', {thinking: {type: 'enabled', budget_tokens: 3000}, temperature: 1}, {...budget(3000, 11192), temperature: 1}],
  ])('%s, effort %s, %j', (model, reasoning_effort, asked, expected) => {
    expect(body({reasoning_effort, ...asked}, {model})).toEqual({model, messages: body({}).messages, ...expected})
  })

  test('is left off where Anthropic takes none: a forced tool, a turn with tools that began without', () => {
    const tools = [tool('f')]
    expect(body({tools, tool_choice: 'required', reasoning_effort: 'low'}).thinking).toBeUndefined()
    const forced = body({tools, tool_choice: 'required', reasoning_effort: 'low'}, {model: 'claude-opus-4-7'})
    expect([forced.thinking, forced.output_config]).toEqual([undefined, {effort: 'low'}])
    const called = {
      role: 'assistant',
      tool_calls: [{id: 'x', type: 'function', function: {name: 'f', arguments: '{}'}}],
    }
    const loop = [...messages, called, {role: 'tool', tool_call_id: 'x', content: '1'}]
    expect(body({messages: loop, tools, reasoning_effort: 'low'}).thinking).toBeUndefined()
    expect(body({messages: loop, tools, reasoning_effort: 'low'}, {model: 'claude-opus-4-7'}).thinking).toEqual({
      type: 'adaptive',
    })
    const block = {type: 'thinking', thinking: 'Hm.', signature: 'c2ln'}
    const echoed = [...messages, {...called, content_blocks: [block]}, loop[2]]
    expect(body({messages: echoed, tools, reasoning_effort: 'low'}, {strict: false}).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 1024,
    })
  })
})

test('tools of the provider go as they are named, and strict only where the model has it', () => {
  const strict = {type: 'function', function: {name: 'a', strict: true, parameters: {properties: {}}}}
  const tools = [
    strict,
    {type: 'computer', computer: {name: 'computer_20250124', display_width_px: 10}},
    {type: 'bash_20250124', name: 'bash'},
  ]
  const provided = [
    {type: 'computer_20250124', name: 'computer', display_width_px: 10},
    {type: 'bash_20250124', name: 'bash'},
  ]
  const a = {name: 'a', input_schema: {type: 'object', properties: {}}}
  const closed = {...a, input_schema: {...a.input_schema, additionalProperties: false}, strict: true}
  expect(body({tools}).tools).toEqual([closed, ...provided])
  expect(body({tools}, {model: 'claude-sonnet-4-20250514'}).tools).toEqual([a, ...provided])
})

test('blocks sent back with the calls among them keep their order, and no call is made twice', () => {
  const use = {type: 'tool_use', id: 'x', name: 'f', input: {}}
  const thought = {type: 'thinking', thinking: 'Hm.', signature: 'c2ln'}
  const tool_calls = ['x', 'y'].map(id => ({id, type: 'function', function: {name: 'f', arguments: '{}'}}))
  const sent = body(
    {messages: [...messages, {role: 'assistant', content_blocks: [use, thought], tool_calls}]},
    {strict: false},
  )
  expect((sent.messages as readonly Json[])[1]).toEqual({role: 'assistant', content: [use, thought, {...use, id: 'y'}]})
})

test('of blocks sent back where OpenAI’s own members are asked for, the text stays, and only if nothing else was said', () => {
  const content_blocks = [
    {type: 'thinking', thinking: 'Hm.', signature: 'c2ln'},
    {type: 'text', text: 'Of the blocks.'},
  ]
  const said = (more: Json) =>
    (body({messages: [...messages, {role: 'assistant', content_blocks, ...more}]}).messages as readonly Json[])[1]
  expect(said({content: null})).toEqual({role: 'assistant', content: [{type: 'text', text: 'Of the blocks.'}]})
  expect(said({content: 'Of the message.'})).toEqual({
    role: 'assistant',
    content: [{type: 'text', text: 'Of the message.'}],
  })
})

test('what says nothing is left out, a refusal is what was said', () => {
  const sent = body({
    messages: [
      {role: 'user', content: 'Hello'},
      {role: 'assistant', content: '', refusal: 'No.'},
      {role: 'user', content: [{type: 'text', text: ' '}]},
      {role: 'assistant', content: [{type: 'refusal', refusal: 'Still no.'}]},
    ],
  })
  const said = ['No.', 'Still no.'].map(text => ({type: 'text', text}))
  expect(sent.messages).toEqual([
    {role: 'user', content: [{type: 'text', text: 'Hello'}]},
    {role: 'assistant', content: said},
  ])
})

describe('the place', () => {
  const at = (place: 'api' | 'vertex' | 'bedrock', context: Partial<TranslationContext>, asked: Json = {}) => {
    const {body: _, ...envelope} = chatOn(place).request({messages, ...asked}, {...CONTEXT, ...context})
    return envelope
  }
  const beta = {anthropic_beta: 'a-2025-01-01, b-2025-01-01'}
  const header = {'anthropic-beta': 'a-2025-01-01,b-2025-01-01'}

  // biome-ignore format: a table is read by its lines
  test.each<['api' | 'vertex' | 'bedrock', Partial<TranslationContext>, Json, unknown]>([
    ['api', {}, {}, {path: '/messages', headers: {}}],
    ['api', {is_stream: true}, beta, {path: '/messages', headers: header}],
    ['api', {options: beta}, {anthropic_beta: 'of-the-body'}, {path: '/messages', headers: header}],
    ['api', {options: {anthropic_version: '2023-01-01'}}, {}, {path: '/messages', headers: {'anthropic-version': '2023-01-01'}}],
    ['vertex', {model: 'anthropic.claude-sonnet-4-5@20250929'}, beta, {path: '/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict', headers: header}],
    ['vertex', {model: '../x?y', is_stream: true}, {}, {path: '/publishers/anthropic/models/..%2Fx%3Fy:streamRawPredict', headers: {}}],
    ['bedrock', {model: 'us.anthropic.claude-v1:0'}, beta, {path: '/model/us.anthropic.claude-v1%3A0/invoke'}],
    ['bedrock', {model: '../x'}, {}, {path: '/model/..%2Fx/invoke'}],
    ['bedrock', {model: 'a/b', is_stream: true}, {}, {path: '/model/a%2Fb/invoke-with-response-stream'}],
  ])('%s %j %j', (place, context, asked, expected) => {
    expect(at(place, context, asked)).toEqual(expected)
  })

  test.each(['', '.', '..', 'anthropic..'])('a model %j, which would make another path, is refused', model => {
    if (!model.startsWith('a')) expect(() => at('bedrock', {model})).toThrow('model: expected the name of a model')
    expect(() => at('vertex', {model})).toThrow('model: expected the name of a model')
  })
})

test('references that fan out are followed once each, and a row of them has an end', () => {
  const chain = (levels: number) => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      Array.from({length: levels}, (_, at) => {
        const next = at + 1 < levels ? {$ref: `#/$defs/d${at + 1}`} : {type: 'string'}
        return [`d${at}`, {anyOf: [next, next]}]
      }),
    ),
  })
  expect(outputSchema(chain(60), 'schema')).toMatchObject({$ref: '#/$defs/d0'})
  expect(() => outputSchema(chain(200), 'schema')).toThrow('at most 100 references in a row')
  expect(() => outputSchema({$ref: '#/$defs/a', $defs: {a: {items: {$ref: '#/$defs/a'}}}}, 'schema')).toThrow('itself')
})
