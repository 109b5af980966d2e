import fc from 'fast-check'
import {expect, test} from 'vitest'
import {responsesClient} from '../../../src/providers/responses/index.ts'
import {type Json, UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {completionOf, context} from '../messages/fixtures.ts'
import {assembleResponse} from './assemble.ts'

const words = fc.string({minLength: 1, maxLength: 12, unit: 'grapheme'})
const input = fc.dictionary(words, fc.jsonValue({maxDepth: 2}), {maxKeys: 3}).map(value => JSON.stringify(value))

interface Turn {
  readonly user: readonly string[]
  readonly said: string
  readonly calls: readonly {readonly name: string; readonly input: string; readonly result: string}[]
}

const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    user: fc.array(words, {minLength: 1, maxLength: 3}),
    said: words,
    calls: fc.array(fc.record({name: words, input, result: words}), {maxLength: 3}),
  }),
  {minLength: 1, maxLength: 4},
)

test('a conversation in chat’s words keeps roles, texts, names, ids, arguments and order', () => {
  fc.assert(
    fc.property(turns, conversation => {
      const {messages} = responsesClient.toChat({input: conversation.flatMap(itemsOf)}, context) as {
        messages: readonly Json[]
      }
      expect(messages.flatMap(heardInChat)).toEqual(conversation.flatMap(heardInTurn))
    }),
  )
})

const answers = fc.record({
  thinking: fc.option(words, {nil: ''}),
  content: fc.option(words, {nil: ''}),
  refusal: fc.option(words, {nil: ''}),
  calls: fc.array(fc.record({name: words, input}), {maxLength: 4}),
  piece: fc.integer({min: 1, max: 7}),
  finish: fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls', 'MAX_TOKENS'),
})

test('however an answer is cut into chunks, the stream comes to the whole answer', () => {
  fc.assert(
    fc.property(answers, ({thinking, content, refusal, calls, piece, finish}) => {
      const tool_calls = calls.map((call, index) => {
        return {index, id: `call_${index}`, type: 'function', function: {name: call.name, arguments: call.input}}
      })
      const said = {role: 'assistant', content, refusal, reasoning_content: thinking, tool_calls}
      const usage = {prompt_tokens: 7, completion_tokens: 3}
      const deltas: readonly Json[] = [
        ...cut(thinking, piece).map(part => ({reasoning_content: part})),
        ...cut(content, piece).map(part => ({content: part})),
        ...cut(refusal, piece).map(part => ({refusal: part})),
        ...tool_calls.flatMap(call => [
          {tool_calls: [{...call, function: {...call.function, arguments: ''}}]},
          ...cut(call.function.arguments, piece).map(part => ({
            tool_calls: [{index: call.index, function: {arguments: part}}],
          })),
        ]),
      ]
      const head = {id: 'chatcmpl-abc', model: 'm-1'}
      const stream = responsesClient.openStream(context, {})
      const texts = deltas.map(delta => stream.chunk({...head, choices: [{index: 0, delta}]}))
      const ended = stream.chunk({...head, choices: [{index: 0, delta: {}, finish_reason: finish}], usage})
      const streamed = assembleResponse(texts.join('') + ended + stream.end())
      expect(streamed).toEqual(responsesClient.fromChat(completionOf({said, finish, usage}), context, {}))
    }),
  )
})

test('what is no request is refused by name, never a crash', () => {
  fc.assert(
    fc.property(fc.anything({withNullPrototype: true}), fc.anything(), (asked_input, tools) => {
      for (const each of [
        asked_input,
        [asked_input],
        [{role: 'user', content: asked_input}],
        [{type: 'reasoning', summary: asked_input}],
      ]) {
        try {
          responsesClient.toChat({input: each, tools, text: tools, reasoning: asked_input, tool_choice: tools}, context)
        } catch (error) {
          expect(error).toBeInstanceOf(UnsupportedInputFault)
        }
      }
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
        const stream = responsesClient.openStream(context, {})
        const texts = deltas.map(delta => stream.chunk({choices: [{delta}], usage: delta.usage}))
        for (const told of [...texts, stream.end()]) if (told) expect(told).toMatch(/^event: [\s\S]*\n\n$/)
      },
    ),
  )
})

function itemsOf({user, said, calls}: Turn, turn: number): readonly Json[] {
  return [
    {role: 'user', content: user.map(text => ({type: 'input_text', text}))},
    {type: 'message', role: 'assistant', content: [{type: 'output_text', text: said}]},
    ...calls.map(({name, input: asked}, at) => ({
      type: 'function_call',
      call_id: `t${turn}_${at}`,
      name,
      arguments: asked,
    })),
    ...calls.map(({result}, at) => ({type: 'function_call_output', call_id: `t${turn}_${at}`, output: result})),
  ]
}

/** What a turn says, one line for each text, call and result. */
function heardInTurn({user, said, calls}: Turn, turn: number): readonly unknown[] {
  return [
    ...user.map(text => ['user', text]),
    ['assistant', said],
    ...calls.map(({name, input: asked}, at) => ['call', `t${turn}_${at}`, name, asked]),
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
    ...calls.map(each => ['call', each.id, each.function.name, each.function.arguments]),
  ]
}

function cut(whole: string, size: number): readonly string[] {
  return Array.from({length: Math.ceil(whole.length / size)}, (_, at) => whole.slice(at * size, (at + 1) * size))
}
