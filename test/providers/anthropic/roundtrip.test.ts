import fc from 'fast-check'
import {expect, test} from 'vitest'
import type {Json} from '../../../src/providers/translation.ts'
import {CONTEXT, chatOn} from './fixtures.ts'

/** One thing said: by whom, of what kind, and what. Whatever the dialect, a conversation is a list of these. */
type Said = readonly [role: string, kind: string, ...what: readonly unknown[]]

const anyText = fc.string({unit: 'binary', minLength: 1, maxLength: 30}).filter(text => text.trim() !== '')
const anyId = fc.string({unit: fc.constantFrom(...'abcXYZ019_-'), minLength: 1, maxLength: 12})
const anyArguments = fc.dictionary(fc.string({maxLength: 8}), fc.jsonValue({maxDepth: 2}), {maxKeys: 3})
const anyContent = fc.oneof(
  anyText,
  fc.array(
    anyText.map(text => ({type: 'text', text})),
    {minLength: 1, maxLength: 3},
  ),
)
const anyCall = fc.record({
  id: anyId,
  type: fc.constant('function'),
  function: fc.record({name: anyId, arguments: anyArguments.map(given => JSON.stringify(given))}),
})
const anyAssistant = fc.record({
  role: fc.constant('assistant'),
  content: fc.option(anyContent),
  tool_calls: fc.uniqueArray(anyCall, {minLength: 1, maxLength: 3, selector: call => call.id}),
})

/** What is said after the system: users, assistants, and assistants whose calls are all answered, in any order. */
const anyTurns = fc.oneof(
  anyContent.map(content => [{role: 'user', content}]),
  anyContent.map(content => [{role: 'assistant', content}]),
  fc
    .tuple(anyAssistant, fc.array(fc.option(anyContent), {minLength: 3, maxLength: 3}))
    .map(([assistant, contents]) => [
      assistant,
      ...assistant.tool_calls
        .map((call, index) => ({role: 'tool', tool_call_id: call.id, content: contents[index] ?? ''}))
        .toReversed(),
    ]),
)
const anySystem = fc
  .record({role: fc.constantFrom('system', 'developer'), content: anyContent})
  .map(message => [message])
const anyConversation = fc
  .array(fc.oneof({weight: 1, arbitrary: anySystem}, {weight: 5, arbitrary: anyTurns}), {minLength: 1, maxLength: 8})
  .map(turns => turns.flat() as readonly Json[])

function texts(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content]
  return ((content ?? []) as readonly {readonly text: string}[]).map(part => part.text)
}

function saidInOpenAi(messages: readonly Json[]): readonly Said[] {
  return messages.flatMap((message): readonly Said[] => {
    const role = message.role as string
    if (role === 'tool') return [['user', 'result', message.tool_call_id, texts(message.content).join('')] as const]
    const told = texts(message.content).map(text => [role === 'developer' ? 'system' : role, 'text', text] as const)
    const calls = (message.tool_calls ?? []) as readonly {
      readonly id: string
      readonly function: {readonly name: string; readonly arguments: string}
    }[]
    return [
      ...told,
      ...calls.map(call => [role, 'call', call.id, call.function.name, JSON.parse(call.function.arguments)] as const),
    ]
  })
}

/** Reads a Messages request by Anthropic's documentation, knowing nothing of the translation. */
function saidInAnthropic(body: Json): readonly Said[] {
  const turns = body.messages as readonly {readonly role: string; readonly content: readonly Json[]}[]
  const roles = turns.map(turn => turn.role)
  expect(roles.every(role => role === 'user' || role === 'assistant')).toBe(true)
  expect(turns.every(turn => turn.content.length > 0)).toBe(true)
  const told = turns.flatMap(({role, content}) =>
    content.map((block): Said => {
      if (block.type === 'text') return [role, 'text', block.text]
      if (block.type === 'tool_use') return [role, 'call', block.id, block.name, block.input]
      if (block.type === 'tool_result') return [role, 'result', block.tool_use_id, texts(block.content).join('')]
      throw new Error(`a block of type ${String(block.type)}`)
    }),
  )
  return [...((body.system ?? []) as readonly Json[]).map(block => ['system', 'text', block.text] as const), ...told]
}

test('chat in Anthropic’s words keeps roles, texts, tool names, ids, arguments and order', () => {
  fc.assert(
    fc.property(anyConversation, messages => {
      const said = saidInOpenAi(messages)
      fc.pre(said.some(([role]) => role !== 'system'))
      const body = JSON.parse(JSON.stringify(chatOn().request({messages}, CONTEXT).body)) as Json
      // What the system says stands before all else, in its own order.
      expect(saidInAnthropic(body)).toEqual([
        ...said.filter(([role]) => role === 'system'),
        ...said.filter(([role]) => role !== 'system'),
      ])
    }),
    {numRuns: 300},
  )
})

test('roles alternate, and the results of calls stand at the head of the turn that follows them', () => {
  fc.assert(
    fc.property(anyConversation, messages => {
      fc.pre(messages.some(({role}) => role !== 'system' && role !== 'developer'))
      const turns = (chatOn().request({messages}, CONTEXT).body as Json).messages as readonly {
        readonly role: string
        readonly content: readonly Json[]
      }[]
      turns.forEach((turn, index) => {
        expect(turn.role).not.toBe(turns[index - 1]?.role)
        const kinds = turn.content.map(block => block.type === 'tool_result')
        expect(kinds.indexOf(true)).toBeLessThanOrEqual(0)
      })
    }),
  )
})

test('an answer sent back as the next turn is what Anthropic said', () => {
  const anyBlock = fc.oneof(
    anyText.map(text => ({type: 'text', text})),
    fc.record({type: fc.constant('thinking'), thinking: fc.string(), signature: anyId}),
    fc.record({type: fc.constant('redacted_thinking'), data: anyId}),
    fc.record({type: fc.constant('server_tool_use'), id: anyId, name: fc.constant('web_search'), input: anyArguments}),
    fc.record({
      type: fc.constant('text'),
      text: anyText,
      citations: fc.array(fc.record({type: fc.constant('char_location'), cited_text: fc.string()})),
    }),
  )
  const anyUse = fc.record({
    type: fc.constant('tool_use'),
    id: anyId,
    name: anyId,
    input: anyArguments.map(given => JSON.parse(JSON.stringify(given)) as Json),
  })
  const anyUses = fc.uniqueArray(anyUse, {maxLength: 3, selector: use => use.id})
  fc.assert(
    fc.property(fc.array(anyBlock, {minLength: 1, maxLength: 6}), anyUses, (blocks, uses) => {
      const content = [...blocks, ...uses]
      const context = {...CONTEXT, strict: false}
      const answer = chatOn().reply({type: 'message', content, stop_reason: 'end_turn'}, context, {}).body as {
        readonly choices: readonly {readonly message: Json}[]
      }
      const messages = JSON.parse(
        JSON.stringify([{role: 'user', content: 'Hi'}, answer.choices[0]!.message]),
      ) as readonly Json[]
      const sent = chatOn().request({messages}, context).body as {readonly messages: readonly Json[]}
      expect(sent.messages[1]).toEqual({role: 'assistant', content: JSON.parse(JSON.stringify(content))})
    }),
  )
})
