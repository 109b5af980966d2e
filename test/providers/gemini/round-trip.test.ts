import fc from 'fast-check'
import {expect, test} from 'vitest'
import type {Json} from '../../../src/providers/translation.ts'
import {chatOf, contextOf, followed} from './fixtures.ts'

/**
 * What was said, in no one's words: who, and texts, calls and results in order. Neighbours of one speaker are one turn.
 */
type Item = {text: string} | {call: string; args: unknown; id?: string} | {result: string; output: string; id?: string}
interface Spoken {
  who: 'system' | 'user' | 'model'
  items: Item[]
}

/** A reader of OpenAI's words of its own. */
function fromOpenAi(messages: readonly Json[]): Spoken[] {
  const names = new Map<unknown, string>()
  return joined(
    messages.map((message): Spoken => {
      const texts = (
        typeof message.content === 'string'
          ? [message.content]
          : ((message.content ?? []) as {text: string}[]).map(({text}) => text)
      ).filter(Boolean)
      if (message.role === 'tool') {
        return {
          who: 'user',
          items: [
            {result: names.get(message.tool_call_id)!, output: texts.join(''), id: message.tool_call_id as string},
          ],
        }
      }
      const calls = ((message.tool_calls ?? []) as {id: string; function: {name: string; arguments: string}}[]).map(
        call => {
          names.set(call.id, call.function.name)
          return {
            call: call.function.name,
            args: call.function.arguments ? JSON.parse(call.function.arguments) : {},
            id: call.id,
          }
        },
      )
      const who = message.role === 'assistant' ? 'model' : message.role === 'user' ? 'user' : 'system'
      return {who, items: [...texts.map(text => ({text})), ...calls]}
    }),
  )
}

/** A reader of Gemini's words of its own. */
function fromGemini(body: Json): Spoken[] {
  const {systemInstruction, contents} = body as {
    systemInstruction?: {parts: Json[]}
    contents: {role: 'user' | 'model'; parts: Json[]}[]
  }
  const item = (part: Json): Item => {
    const {functionCall, functionResponse} = part as {
      functionCall?: {id: string; name: string; args: unknown}
      functionResponse?: {id: string; name: string; response: {output: string}}
    }
    if (functionCall) return {call: functionCall.name, args: functionCall.args, id: functionCall.id}
    if (functionResponse)
      return {result: functionResponse.name, output: functionResponse.response.output, id: functionResponse.id}
    return {text: part.text as string}
  }
  return joined([
    {who: 'system', items: (systemInstruction?.parts ?? []).map(item)},
    ...contents.map(({role, parts}): Spoken => ({who: role, items: parts.map(item)})),
  ])
}

function joined(turns: readonly Spoken[]): Spoken[] {
  const result: Spoken[] = []
  for (const turn of turns.filter(({items}) => items.length > 0)) {
    const last = result.at(-1)
    if (last?.who === turn.who) last.items.push(...turn.items)
    else result.push({who: turn.who, items: [...turn.items]})
  }
  return result
}

/** System messages first, as Gemini hears them. */
function systemFirst(messages: readonly Json[]): Json[] {
  const is_system = ({role}: Json) => role === 'system' || role === 'developer'
  return [...messages.filter(is_system), ...messages.filter(message => !is_system(message))]
}

const text = fc.string({unit: 'binary', minLength: 1, maxLength: 12})
const content = fc.oneof(
  text,
  fc.array(
    text.map(each => ({type: 'text', text: each})),
    {minLength: 1, maxLength: 3},
  ),
)
const args = fc.oneof(
  fc.constant(''),
  fc.dictionary(fc.string({maxLength: 5}), fc.jsonValue({maxDepth: 2}), {maxKeys: 3}).map(each => JSON.stringify(each)),
)
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/)
const plain = fc.record({role: fc.constantFrom('system', 'developer', 'user', 'assistant'), content})
/** Calls, and their results in another order. */
const round = fc
  .record({
    said: fc.option(text),
    calls: fc.array(fc.tuple(name, args, content), {minLength: 1, maxLength: 3}),
    turned: fc.boolean(),
  })
  .map(({said, calls, turned}) => ({said, calls, turned}))
const talk = fc.array(fc.oneof(plain, round), {minLength: 1, maxLength: 6}).map(parts =>
  parts.flatMap((part, at): Json[] => {
    if ('role' in part) return [part]
    const ids = part.calls.map((_, call) => `call_${at}_${call}`)
    const results = part.calls.map(([, , output], call) => ({role: 'tool', tool_call_id: ids[call], content: output}))
    const tool_calls = part.calls.map(([called, written], call) => ({
      id: ids[call],
      type: 'function',
      function: {name: called, arguments: written},
    }))
    return [{role: 'assistant', content: part.said, tool_calls}, ...(part.turned ? results.toReversed() : results)]
  }),
)

test('a conversation keeps its roles, texts, tools, arguments, ids and order', () => {
  fc.assert(
    fc.property(talk, messages => {
      const {body} = chatOf().request({messages}, contextOf())
      const asked = systemFirst(messages)
      const only_system = messages.every(({role}) => role === 'system' || role === 'developer')
      const expected = fromOpenAi(asked)
      if (only_system) for (const turn of expected) turn.who = 'user'
      expect(fromGemini(JSON.parse(JSON.stringify(body)))).toEqual(expected)
    }),
    {numRuns: 500},
  )
})

test('an answer keeps its texts, tools, arguments, ids and order, plain and streamed, and goes back as it came', () => {
  const part = fc.oneof(
    text.map(each => ({text: each})),
    fc.record({
      functionCall: fc.record({
        id: fc.uuid(),
        name,
        args: fc.dictionary(fc.string({maxLength: 5}), fc.jsonValue({maxDepth: 2}), {maxKeys: 3}),
      }),
    }),
  )
  fc.assert(
    fc.property(fc.array(part, {minLength: 1, maxLength: 6}), said => {
      const parts = [...said.filter(each => 'text' in each), ...said.filter(each => !('text' in each))]
      const whole = {candidates: [{content: {role: 'model', parts}, finishReason: 'STOP'}]}
      const {body} = chatOf().reply(whole, contextOf(), {})
      const [{message}] = (body as {choices: [{message: Json}]}).choices
      const back = chatOf().request({messages: [{role: 'user', content: '?'}, message]}, contextOf()).body as Json
      expect(asOne(fromGemini(JSON.parse(JSON.stringify(back)))[1])).toEqual(asOne({who: 'model', items: items(parts)}))

      const events = parts.map((each, at) => ({
        candidates: [{content: {parts: [each]}, ...(at === parts.length - 1 ? {finishReason: 'STOP'} : {})}],
      }))
      const {chunks} = followed(
        [Buffer.from(events.map(each => `data: ${JSON.stringify(each)}\n\n`).join(''))],
        contextOf(),
        {},
      )
      expect(collected(chunks)).toEqual({
        content: (message.content as string | null) ?? '',
        tool_calls: message.tool_calls ?? [],
      })
    }),
    {numRuns: 300},
  )
})

function items(parts: readonly Json[]): Item[] {
  return parts.map(part => {
    const call = part.functionCall as {id: string; name: string; args: unknown} | undefined
    return call
      ? {call: call.name, args: JSON.parse(JSON.stringify(call.args)), id: call.id}
      : {text: part.text as string}
  })
}

/** Its texts as one. */
function asOne(turn: Spoken | undefined) {
  const texts = turn!.items.flatMap(item => ('text' in item ? [item.text] : []))
  return {who: turn!.who, text: texts.join(''), rest: turn!.items.filter(item => !('text' in item))}
}

function collected(chunks: readonly Json[]) {
  let content = ''
  const tool_calls: Json[] = []
  for (const chunk of chunks) {
    const {delta} = (chunk.choices as [{delta: {content?: string; tool_calls?: (Json & {index: number})[]}}])[0]
    content += delta.content ?? ''
    for (const {index, ...call} of delta.tool_calls ?? []) tool_calls[index] = call
  }
  return {content, tool_calls}
}
