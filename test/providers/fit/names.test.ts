import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {variantOf} from '../../../src/providers/base-urls/base-url.ts'
import {translationFor} from '../../../src/providers/clients.ts'
import {answerWithNames, fittingNames, ownNames} from '../../../src/providers/fit/names.ts'
import {find} from '../../../src/providers/registry.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../../../src/providers/translation.ts'

const OPTIONS = {vertex_project_id: 'p', aws_region: 'us-east-1'}
const CLAUDE_NAME = /^[a-zA-Z0-9_-]{1,64}$/
const GEMINI_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/
const context = {provider: 'p', model: 'm'} as TranslationContext
const row = {...context, is_row: true} as const

const tool = (name: string) => ({type: 'function', function: {name, parameters: {type: 'object', properties: {}}}})
const call = (name: string) => ({id: 'c1', type: 'function', function: {name, arguments: '{}'}})
const answer = (name: string) => ({choices: [{index: 0, message: {role: 'assistant', tool_calls: [call(name)]}}]})
const nameIn = (body: Json) => (body as ReturnType<typeof answer>).choices[0]!.message.tool_calls[0]!.function.name

function sentName(name: string, pattern: RegExp, of: TranslationContext = context): string {
  const request = fittingNames({tools: [tool(name)]}, pattern, of, () => undefined)
  return (request.tools as ReturnType<typeof tool>[])[0]!.function.name
}

const NAMES = [
  'files.read',
  'read file',
  '9lives',
  '-a',
  'a_x2e.b',
  'a_x2e_b',
  '_x',
  'read/日本',
  `long_${'x'.repeat(70)}`,
]

describe('a name', () => {
  test.each(['read', 'mcp__repo__search', 'a-b', 'a_x', 'x'.repeat(64)])(
    '%s stays, as every provider takes it',
    name => {
      expect(sentName(name, CLAUDE_NAME)).toBe(name)
    },
  )

  test('files.read is still readable where it is refused, and stays where it is taken', () => {
    expect([sentName('files.read', CLAUDE_NAME), sentName('files.read', GEMINI_NAME)]).toEqual([
      'files_x2e_read',
      'files.read',
    ])
  })

  test('any name is written so that its provider takes it, and leads back to it alone', () => {
    const any = fc.oneof(fc.constantFrom(...NAMES), fc.string({minLength: 1, maxLength: 90, unit: 'binary'}))
    const odd = fc
      .array(fc.constantFrom('_', 'x', '2e', '.', '5f', 'a', '_x2e_'), {minLength: 1})
      .map(all => all.join(''))
    for (const pattern of [CLAUDE_NAME, GEMINI_NAME]) {
      fc.assert(
        fc.property(fc.oneof(any, odd), fc.oneof(any, odd), (one, other) => {
          expect(sentName(one, pattern)).toMatch(pattern)
          expect(sentName(one, pattern)).toBe(sentName(one, pattern))
          if (one !== other) expect(sentName(one, pattern)).not.toBe(sentName(other, pattern))
          const own = ownNames({tools: [tool(one), tool(other)]}, pattern, context)
          for (const name of [one, other]) {
            const came = answer(sentName(name, pattern))
            expect(nameIn(own ? answerWithNames(came, own) : came)).toBe(name)
          }
        }),
      )
    }
  })

  test('of a row leads back without its request, or is refused', () => {
    for (const name of NAMES) {
      try {
        const own = ownNames({}, CLAUDE_NAME, row)!
        expect(own(sentName(name, CLAUDE_NAME, row))).toBe(name)
      } catch (fault) {
        expect(fault).toBeInstanceOf(UnsupportedInputFault)
        expect(name.length).toBeGreaterThan(64)
      }
    }
  })
})

test('a request has its names everywhere, and each is reported once', () => {
  const reports: string[] = []
  const request = {
    tools: [tool('files.read'), tool('read')],
    messages: [
      {role: 'assistant', content: null, tool_calls: [call('files.read'), call('old.one')]},
      {role: 'tool', tool_call_id: 'c1', name: 'files.read', content: 'files.read'},
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: {mode: 'auto', tools: [{type: 'function', name: 'files.read'}]},
    },
  }
  const fitted = fittingNames(request, CLAUDE_NAME, context, report => void reports.push(report))
  expect(fitted).toEqual({
    tools: [tool('files_x2e_read'), tool('read')],
    messages: [
      {role: 'assistant', content: null, tool_calls: [call('files_x2e_read'), call('old_x2e_one')]},
      {role: 'tool', tool_call_id: 'c1', name: 'files_x2e_read', content: 'files.read'},
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: {mode: 'auto', tools: [{type: 'function', name: 'files_x2e_read'}]},
    },
  })
  expect(reports).toEqual([
    'converted tools[0].function.name: characters and length that the provider takes',
    'converted messages[0].tool_calls[1].function.name: characters and length that the provider takes',
  ])
})

/** Answers that call the function that the request offers, as each provider writes them. */
const CALLS: Readonly<
  Record<string, {model: string; whole(name: string): Json; events(name: string): readonly Json[]}>
> = {
  anthropic: {
    model: 'claude-sonnet-4-5',
    whole: name => ({
      ...{id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use'},
      content: [{type: 'tool_use', id: 'c1', name, input: {}}],
      usage: {input_tokens: 1, output_tokens: 1},
    }),
    events: name => [
      {type: 'message_start', message: {id: 'm', model: 'm', usage: {input_tokens: 1, output_tokens: 1}}},
      {type: 'content_block_start', index: 0, content_block: {type: 'tool_use', id: 'c1', name, input: {}}},
      {type: 'content_block_stop', index: 0},
      {type: 'message_delta', delta: {stop_reason: 'tool_use'}, usage: {output_tokens: 1}},
      {type: 'message_stop'},
    ],
  },
  bedrock: {
    model: 'amazon.nova-pro-v1:0',
    whole: name => ({
      output: {message: {role: 'assistant', content: [{toolUse: {toolUseId: 'c1', name, input: {}}}]}},
      stopReason: 'tool_use',
      usage: {inputTokens: 1, outputTokens: 1, totalTokens: 2},
    }),
    events: name => [
      {messageStart: {role: 'assistant'}},
      {contentBlockStart: {contentBlockIndex: 0, start: {toolUse: {toolUseId: 'c1', name}}}},
      {contentBlockStop: {contentBlockIndex: 0}},
      {messageStop: {stopReason: 'tool_use'}},
    ],
  },
  google: {
    model: 'gemini-2.5-flash',
    whole: name => ({candidates: [{content: {parts: [{functionCall: {name, args: {}}}]}, finishReason: 'STOP'}]}),
    events: name => [{candidates: [{content: {parts: [{functionCall: {name, args: {}}}]}, finishReason: 'STOP'}]}],
  },
  'mistral-ai': {
    model: 'mistral-large-latest',
    whole: name => ({
      choices: [{index: 0, message: {role: 'assistant', tool_calls: [call(name)]}, finish_reason: 'tool_calls'}],
    }),
    events: name => [
      {choices: [{index: 0, delta: {tool_calls: [{index: 0, ...call(name)}]}, finish_reason: 'tool_calls'}]},
    ],
  },
  cohere: {
    model: 'command-a-03-2025',
    whole: name => ({id: 'c', finish_reason: 'TOOL_CALL', message: {role: 'assistant', tool_calls: [call(name)]}}),
    events: name => [
      {type: 'message-start', id: 'c', delta: {message: {role: 'assistant'}}},
      {type: 'tool-call-start', index: 0, delta: {message: {tool_calls: call(name)}}},
      {type: 'tool-call-end', index: 0},
      {type: 'message-end', delta: {finish_reason: 'TOOL_CALL'}},
    ],
  },
}

const REQUESTS = {
  chatComplete: (name: string) => ({messages: [{role: 'user', content: 'x'}], tools: [tool(name)]}),
  messages: (name: string) => ({
    max_tokens: 9,
    messages: [{role: 'user', content: 'x'}],
    tools: [{name, input_schema: {type: 'object'}}],
  }),
  createModelResponse: (name: string) => ({
    input: 'x',
    tools: [{type: 'function', name, parameters: {type: 'object'}}],
  }),
} as const

describe.each(Object.entries(CALLS))('at %s', (slug, {model, whole, events}) => {
  describe.each(Object.keys(REQUESTS) as (keyof typeof REQUESTS)[])('a client of %s', endpoint => {
    // Claude's own Messages pass as they came.
    const pair = translationFor(variantOf(find(slug)!, model, OPTIONS), endpoint)
    test.skipIf(!pair?.translation.stream || (slug === 'anthropic' && endpoint === 'messages')).each(NAMES)(
      'sees its own name %s, whole and streamed',
      name => {
        const {translation, client} = pair!
        const base = {provider: slug, model, strict: !client, options: OPTIONS, call_id: 'c', created_s: 1}
        const of: TranslationContext = {...base, is_stream: false}
        const request = REQUESTS[endpoint](name) as Json
        const chat = client ? client.toChat(request, of) : request
        const sent = JSON.stringify(translation.request(chat, of).body)
        const [written] = /"name":"([^"]+)"/.exec(sent)!.slice(1) as [string]
        const {body} = translation.reply(whole(written), of, chat)
        const told = client ? client.fromChat(body as Json, of, request) : body
        expect(JSON.stringify(told)).toContain(`"name":${JSON.stringify(name)}`)
        const streamed = translation.stream!.open({...of, is_stream: true}, chat)
        const framed = events(written).map(event =>
          slug === 'bedrock'
            ? {name: Object.keys(event)[0]!, data: Object.values(event)[0]}
            : {name: null, data: event},
        )
        const chunks = framed.flatMap(event => streamed.event(event))
        expect(JSON.stringify([...chunks, ...streamed.end()])).toContain(`"name":${JSON.stringify(name)}`)
        expect(streamed.failed).toBeNull()
      },
    )
  })
})
