import fc from 'fast-check'
import {expect, test} from 'vitest'
import {bedrock} from '../../../src/providers/bedrock/index.ts'
import type {Json} from '../../../src/providers/translation.ts'
import {contextOf, follow, framed} from './fixtures.ts'

const chat = bedrock.endpoints.chatComplete!

/** What was said, by whom, in order: a text, a call, a result. */
type Said =
  | readonly ['system' | 'user' | 'assistant', 'text', string]
  | readonly ['assistant', 'call', string, string, unknown]
  | readonly ['user', 'result', string, string]

const words = fc
  .string({unit: 'grapheme', minLength: 1, maxLength: 30})
  .filter(text => text.isWellFormed() && text.trim() !== '')
const id = fc.stringMatching(/^[\w-]{1,20}$/)
const call = fc.record({
  id,
  name: fc.stringMatching(/^[\w-]{1,20}$/),
  arguments: fc.dictionary(words, fc.jsonValue({maxDepth: 2}), {maxKeys: 3}),
})
const parts = fc.oneof(words, fc.array(words, {minLength: 1, maxLength: 3}))
const message = fc.oneof(
  fc.record({role: fc.constantFrom('system', 'developer', 'user'), content: parts}),
  fc.record({role: fc.constant('assistant'), content: parts, calls: fc.array(call, {maxLength: 3})}),
  fc.record({role: fc.constant('tool'), id, content: words}),
)
type Message = typeof message extends fc.Arbitrary<infer T> ? T : never

test('roles, texts, tool names, ids, arguments and order of a conversation are all in the Converse request', () => {
  fc.assert(
    fc.property(fc.array(message, {minLength: 1, maxLength: 12}), messages => {
      const {body} = chat.request({messages: messages.map(asOpenAi)}, contextOf())
      const sent = JSON.parse(JSON.stringify(body)) as Json
      expect(readConverse(sent)).toEqual(messages.flatMap(said).toSorted(systemFirst))
      const roles = (sent.messages as readonly Json[]).map(({role}) => role)
      expect(roles.every((role, at) => role !== roles[at - 1])).toBe(true)
    }),
    {numRuns: 300},
  )
})

const block = fc.oneof(
  fc.record({text: words}),
  fc.record({
    reasoningContent: fc.record({reasoningText: fc.record({text: words, signature: fc.base64String({minLength: 4})})}),
  }),
  fc.record({reasoningContent: fc.record({redactedContent: fc.base64String({minLength: 4})})}),
)
const use = call.map(({id: toolUseId, name, arguments: input}) => ({toolUse: {toolUseId, name, input}}))

test('an answer that the client sends back is the answer that came: thinking, signatures, texts, calls, whole or streamed', () => {
  fc.assert(
    fc.property(fc.array(block, {maxLength: 5}), fc.array(use, {maxLength: 3}), (blocks, uses) => {
      fc.pre(blocks.length + uses.length > 0)
      const context = contextOf({strict: false, model: 'us.anthropic.claude-sonnet-4-20250514-v1:0'})
      const content: readonly Json[] = [...blocks, ...uses]
      const {body} = chat.reply({output: {message: {role: 'assistant', content}}, stopReason: 'end_turn'}, context, {})
      const [choice] = (body as Json).choices as readonly {message: Json}[]
      expect(sentBack(choice!.message, context)).toEqual(JSON.parse(JSON.stringify(content)))
      const chunks = follow(chat.stream!.open(context, {}), [framed(content.flatMap(asEvents))])
      expect(sentBack(messageOf(chunks), context)).toEqual(JSON.parse(JSON.stringify(content)))
    }),
    {numRuns: 200},
  )
})

function sentBack(message: Json, context: ReturnType<typeof contextOf>): unknown {
  const {body} = chat.request({messages: [message]}, context)
  const [turn] = (JSON.parse(JSON.stringify(body)) as {messages: readonly {role: string; content: unknown}[]}).messages
  expect(turn!.role).toBe('assistant')
  return turn!.content
}

function asOpenAi(message: Message): Json {
  const content =
    typeof message.content === 'string' ? message.content : message.content.map(text => ({type: 'text', text}))
  if ('id' in message) return {role: 'tool', tool_call_id: message.id, content}
  if (!('calls' in message)) return {role: message.role, content}
  const tool_calls = message.calls.map(each => ({
    id: each.id,
    type: 'function',
    function: {name: each.name, arguments: JSON.stringify(each.arguments)},
  }))
  return {role: 'assistant', content, ...(tool_calls.length > 0 ? {tool_calls} : {})}
}

function said(message: Message): Said[] {
  if ('id' in message) return [['user', 'result', message.id, message.content]]
  const texts = typeof message.content === 'string' ? [message.content] : message.content
  const role = message.role === 'developer' ? 'system' : (message.role as 'system' | 'user' | 'assistant')
  const told = texts.map((text): Said => [role, 'text', text])
  if (!('calls' in message)) return told
  return [
    ...told,
    ...message.calls.map(
      (each): Said => ['assistant', 'call', each.id, each.name, JSON.parse(JSON.stringify(each.arguments))],
    ),
  ]
}

/** Converse has its system apart and first. */
function systemFirst(one: Said, other: Said): number {
  return Number(other[0] === 'system') - Number(one[0] === 'system')
}

/** Reads a Converse request by Amazon's description of it. */
function readConverse(body: Json): Said[] {
  const turns: readonly Json[] = [{role: 'system', content: body.system ?? []}, ...(body.messages as readonly Json[])]
  return turns.flatMap(({role, content}) =>
    (content as readonly Json[]).map((part): Said => {
      expect(Object.keys(part)).toHaveLength(1)
      if (part.toolUse) {
        const {toolUseId, name, input} = part.toolUse as Record<string, string>
        return ['assistant', 'call', toolUseId!, name!, input]
      }
      if (part.toolResult) {
        const {toolUseId, content: results} = part.toolResult as {toolUseId: string; content: readonly {text: string}[]}
        return ['user', 'result', toolUseId, results[0]!.text]
      }
      return [role, 'text', part.text as string] as Said
    }),
  )
}

/** A block as ConverseStream tells it. */
function asEvents(part: Json, contentBlockIndex: number): Json[] {
  const delta = (said: Json) => ({contentBlockDelta: {contentBlockIndex, delta: said}})
  const stop = {contentBlockStop: {contentBlockIndex}}
  const reasoning = part.reasoningContent as
    | {reasoningText?: {text: string; signature: string}; redactedContent?: string}
    | undefined
  if (reasoning?.reasoningText) {
    const {text, signature} = reasoning.reasoningText
    return [delta({reasoningContent: {text}}), delta({reasoningContent: {signature}}), stop]
  }
  if (reasoning) return [delta({reasoningContent: {redactedContent: reasoning.redactedContent}}), stop]
  const tool = part.toolUse as {toolUseId: string; name: string; input: unknown} | undefined
  if (!tool) return [delta({text: part.text}), stop]
  const start = {contentBlockStart: {contentBlockIndex, start: {toolUse: {toolUseId: tool.toolUseId, name: tool.name}}}}
  const input = JSON.stringify(tool.input)
  return [start, delta({toolUse: {input: input.slice(0, 2)}}), delta({toolUse: {input: input.slice(2)}}), stop]
}

/** What a client keeps of a stream: blocks by their index, calls by theirs. */
function messageOf(chunks: readonly Json[]): Json {
  const blocks: Record<string, string>[] = []
  const calls: {id: string; function: {name: string; arguments: string}}[] = []
  for (const chunk of chunks) {
    const {delta} = (chunk.choices as readonly {delta: Json}[])[0]!
    for (const part of (delta.content_blocks ?? []) as readonly {index: number; delta: Record<string, string>}[]) {
      const known = blocks[part.index] ?? {}
      blocks[part.index] = {...known, ...part.delta}
    }
    for (const part of (delta.tool_calls ?? []) as readonly {
      index: number
      id: string
      function: {name: string; arguments: string}
    }[]) {
      const before = calls[part.index]
      if (before) before.function.arguments += part.function.arguments
      else calls[part.index] = {id: part.id, function: {...part.function}}
    }
  }
  const content_blocks = blocks.map(each => ({
    type: each.thinking !== undefined ? 'thinking' : each.data !== undefined ? 'redacted_thinking' : 'text',
    ...each,
  }))
  return {role: 'assistant', content: null, content_blocks, tool_calls: calls}
}
