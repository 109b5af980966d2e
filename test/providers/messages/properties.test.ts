import fc from 'fast-check'
import {expect, test} from 'vitest'
import {countTokens, messagesClient} from '../../../src/providers/messages/index.ts'
import type {Json} from '../../../src/providers/translation.ts'
import {UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {assembleMessage} from './assemble.ts'
import {completionOf, context} from './fixtures.ts'

const words = fc.string({minLength: 1, maxLength: 12, unit: 'grapheme'})
const input = fc.dictionary(words, fc.jsonValue({maxDepth: 2}), {maxKeys: 3})
const text = words.map(said => ({type: 'text', text: said}))

interface Turn {
  readonly user: readonly {readonly type: string; readonly text: string}[]
  readonly said: readonly {readonly type: string; readonly text: string}[]
  readonly calls: readonly {readonly name: string; readonly input: unknown; readonly result: string}[]
}

const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    user: fc.array(text, {minLength: 1, maxLength: 3}),
    said: fc.array(text, {minLength: 1, maxLength: 2}),
    calls: fc.array(fc.record({name: words, input, result: words}), {maxLength: 3}),
  }),
  {minLength: 1, maxLength: 4},
)

test('a conversation in chat’s words keeps roles, texts, names, ids, arguments and order', () => {
  fc.assert(
    fc.property(turns, conversation => {
      const asked = {messages: conversation.flatMap(messagesOf)}
      const {messages} = messagesClient.toChat(asked, context) as {messages: readonly Json[]}
      expect(messages.flatMap(heardInChat)).toEqual(conversation.flatMap(heardInTurn))
    }),
  )
})

/** An answer, and the ways its pieces may come. */
const answers = fc.record({
  thinking: fc.option(words, {nil: ''}),
  content: fc.option(words, {nil: ''}),
  calls: fc.array(fc.record({name: words, input}), {maxLength: 4}),
  piece: fc.integer({min: 1, max: 7}),
  is_interleaved: fc.boolean(),
})

test('however an answer is cut into chunks, the stream comes to the whole answer', () => {
  fc.assert(
    fc.property(answers, ({thinking, content, calls, piece, is_interleaved}) => {
      const tool_calls = calls.map(({name, input: asked}, index) => {
        return {index, id: `call_${index}`, type: 'function', function: {name, arguments: JSON.stringify(asked)}}
      })
      const said = {role: 'assistant', content, reasoning_content: thinking, tool_calls}
      const usage = {prompt_tokens: 7, completion_tokens: 3}
      const deltas = [
        ...cut(thinking, piece).map(part => ({reasoning_content: part})),
        ...cut(content, piece).map(part => ({content: part})),
        ...callDeltas(tool_calls, piece, is_interleaved),
      ]
      const stream = messagesClient.openStream(context, {})
      const head = {id: 'chatcmpl-abc', model: 'm-1'}
      const texts = deltas.map(delta => stream.chunk({...head, choices: [{index: 0, delta}]}))
      const finish = stream.chunk({...head, choices: [{index: 0, delta: {}, finish_reason: 'stop'}]})
      const last = stream.chunk({...head, choices: [], usage})
      const streamed = assembleMessage(texts.join('') + finish + last + stream.end())
      expect(streamed).toEqual(messagesClient.fromChat(completionOf({said, finish: 'stop', usage}), context, {}))
    }),
  )
})

test('what is no request is refused by name, never a crash', () => {
  fc.assert(
    fc.property(fc.anything({withNullPrototype: true}), fc.anything(), (content, tools) => {
      const asked = {messages: [{role: 'user', content}], tools, system: content, tool_choice: tools}
      try {
        messagesClient.toChat(asked, context)
      } catch (error) {
        expect(error).toBeInstanceOf(UnsupportedInputFault)
      }
      expect(Number.isSafeInteger(countTokens(asked).input_tokens)).toBe(true)
    }),
  )
})

test('chunks of anything make no crash and no half event', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.dictionary(fc.constantFrom('content', 'tool_calls', 'content_blocks', 'refusal', 'usage'), fc.anything()),
      ),
      deltas => {
        const stream = messagesClient.openStream(context, {})
        const texts = deltas.map(delta => stream.chunk({choices: [{delta}], usage: delta.usage}))
        for (const told of [...texts, stream.end()]) if (told) expect(told).toMatch(/^event: [\s\S]*\n\n$/)
      },
    ),
  )
})

function messagesOf({user, said, calls}: Turn, turn: number): readonly Json[] {
  const uses = calls.map(({name, input: asked}, at) => ({type: 'tool_use', id: `t${turn}_${at}`, name, input: asked}))
  const results = calls.map(({result}, at) => ({type: 'tool_result', tool_use_id: `t${turn}_${at}`, content: result}))
  return [
    {role: 'user', content: user},
    {role: 'assistant', content: [...said, ...uses]},
    ...(results.length > 0 ? [{role: 'user', content: results}] : []),
  ]
}

/** What a turn says, one line for each text, call and result. */
function heardInTurn({user, said, calls}: Turn, turn: number): readonly unknown[] {
  return [
    ...user.map(each => ['user', each.text]),
    ...said.map(each => ['assistant', each.text]),
    ...calls.map(({name, input: asked}, at) => ['call', `t${turn}_${at}`, name, JSON.parse(JSON.stringify(asked))]),
    ...calls.map(({result}, at) => ['tool', `t${turn}_${at}`, result]),
  ]
}

function heardInChat({role, content, tool_calls = [], tool_call_id}: Json): readonly unknown[] {
  const texts =
    typeof content === 'string' ? [content] : ((content ?? []) as readonly {text: string}[]).map(part => part.text)
  const calls = tool_calls as readonly {id: string; function: {name: string; arguments: string}}[]
  if (role === 'tool') return texts.map(each => ['tool', tool_call_id, each])
  return [
    ...texts.map(each => [role, each]),
    ...calls.map(each => ['call', each.id, each.function.name, JSON.parse(each.function.arguments)]),
  ]
}

function cut(whole: string, size: number): readonly string[] {
  return Array.from({length: Math.ceil(whole.length / size)}, (_, at) => whole.slice(at * size, (at + 1) * size))
}

type Call = {readonly index: number; readonly function: {readonly name: string; readonly arguments: string}}

/** Calls in fragments: one after the other, or by turns. */
function callDeltas(calls: readonly Call[], size: number, is_interleaved: boolean): readonly Json[] {
  const each = calls.map(call => [
    {...call, function: {...call.function, arguments: ''}},
    ...cut(call.function.arguments, size).map(part => ({index: call.index, function: {arguments: part}})),
  ])
  const longest = Math.max(0, ...each.map(({length}) => length))
  const byTurns = () =>
    Array.from({length: longest}, (_, at) => each.flatMap(pieces => pieces.slice(at, at + 1))).flat()
  return (is_interleaved ? byTurns() : each.flat()).map(fragment => ({tool_calls: [fragment]}))
}
