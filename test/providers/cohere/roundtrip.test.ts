import fc from 'fast-check'
import {expect, test} from 'vitest'
import {cohere} from '../../../src/providers/cohere/index.ts'
import type {Json} from '../../../src/providers/translation.ts'
import {
  contextOf,
  conversation,
  joined,
  messageOf,
  pieces,
  spoken,
  spokenIn,
  type Turn,
  told,
  turnOf,
} from '../../support/dialect.ts'

const chat = cohere.endpoints.chatComplete!
const usage = {tokens: {input_tokens: 9, output_tokens: 4}}
const cuts = fc.array(fc.nat(50), {maxLength: 4})

test('a conversation leaves with its roles, texts, thoughts, pictures, calls and results, in order', () => {
  fc.assert(
    fc.property(conversation, turns => {
      const asked = {model: 'command-a', messages: turns.map(messageOf)}
      const {body} = chat.request(asked, contextOf('cohere', asked))
      const said = JSON.parse(JSON.stringify(body)) as {messages: Json[]}
      expect(said.messages.map(read)).toEqual(turns.map(plain))
    }),
  )
})

test('an answer comes back with its text, thoughts and calls, whole and streamed in any pieces', () => {
  fc.assert(
    fc.property(spoken, cuts, (turn, at) => {
      const asked = {model: 'command-a', messages: []}
      const context = contextOf('cohere', asked, {strict: false})
      const answer = chat.reply(write(turn), context, asked)
      const whole = spokenIn(JSON.parse(JSON.stringify(answer.body)))[0]!
      expect(plain(turnOf(whole))).toEqual(plain(turn))
      const stream = chat.stream!.open({...context, is_stream: true}, asked)
      const streamed = joined(told(stream, events(turn, at)))[0]!
      expect(stream.finished).toBe(true)
      expect(stream.usage).toEqual(answer.usage)
      expect(plain(turnOf(streamed))).toEqual(plain(turn))
      expect(streamed.finish_reason).toBe(whole.finish_reason)
    }),
  )
})

test('what an assistant said goes back as Cohere said it', () => {
  fc.assert(
    fc.property(spoken, turn => {
      const context = contextOf('cohere', {model: 'command-a'}, {strict: false})
      const answer = chat.reply(write(turn), context, {})
      const {message} = (JSON.parse(JSON.stringify(answer.body)) as {choices: {message: Json}[]}).choices[0]!
      const {body} = chat.request({messages: [message]}, context)
      const [back] = (JSON.parse(JSON.stringify(body)) as {messages: Json[]}).messages
      expect(read(back!)).toEqual(plain(turn))
    }),
  )
})

function plain({role, text, thought, images, calls, answers}: Turn) {
  return [role, text, thought ?? '', images, calls, answers ?? null]
}

interface Part {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly image_url?: {readonly url: string}
}

/** Reads a message as Cohere documents it, by no code of ours. */
function read(message: Json) {
  const {content, tool_plan, tool_call_id} = message
  const parts = (typeof content === 'string' ? [{type: 'text', text: content}] : (content ?? [])) as readonly Part[]
  const calls = (message.tool_calls ?? []) as readonly {id: string; function: {name: string; arguments: string}}[]
  return [
    message.role,
    `${tool_plan ?? ''}${parts.map(({type, text}) => (type === 'text' ? text : '')).join('')}`,
    parts.map(({type, thinking}) => (type === 'thinking' ? thinking : '')).join(''),
    parts.flatMap(({type, image_url}) => (type === 'image_url' ? [image_url?.url] : [])),
    calls.map(({id, function: {name, arguments: given}}) => ({id, name, arguments: given})),
    tool_call_id ?? null,
  ]
}

/** An answer as Cohere writes it. */
function write({text, thought, calls}: Turn): Json {
  const is_plan = calls.length > 0
  const content = [
    ...(thought ? [{type: 'thinking', thinking: thought}] : []),
    ...(text && !is_plan ? [{type: 'text', text}] : []),
  ]
  return {
    id: 'c1',
    finish_reason: is_plan ? 'TOOL_CALL' : 'COMPLETE',
    message: {
      role: 'assistant',
      ...(content.length > 0 ? {content} : {}),
      ...(is_plan && text ? {tool_plan: text} : {}),
      ...(is_plan
        ? {
            tool_calls: calls.map(({id, name, arguments: given}) => ({
              id,
              type: 'function',
              function: {name, arguments: given},
            })),
          }
        : {}),
    },
    usage,
  }
}

/** The same as a stream. */
function events({text, thought, calls}: Turn, cuts: readonly number[]): Json[] {
  const said: Json[] = [
    {
      type: 'message-start',
      id: 'c1',
      delta: {message: {role: 'assistant', content: [], tool_plan: '', tool_calls: []}},
    },
  ]
  const tell = (type: string, index: number, message: Json) => said.push({type, index, delta: {message}})
  const block = (index: number, kind: string, all: string) => {
    tell('content-start', index, {content: {type: kind, [kind]: ''}})
    for (const piece of pieces(all, cuts)) tell('content-delta', index, {content: {[kind]: piece}})
    said.push({type: 'content-end', index})
  }
  if (thought) block(0, 'thinking', thought)
  if (text && calls.length === 0) block(thought ? 1 : 0, 'text', text)
  if (text && calls.length > 0)
    for (const piece of pieces(text, cuts)) said.push({type: 'tool-plan-delta', delta: {message: {tool_plan: piece}}})
  for (const [index, {id, name, arguments: given}] of calls.entries()) {
    tell('tool-call-start', index, {tool_calls: {id, type: 'function', function: {name, arguments: ''}}})
    for (const piece of pieces(given, cuts))
      tell('tool-call-delta', index, {tool_calls: {function: {arguments: piece}}})
    said.push({type: 'tool-call-end', index})
  }
  said.push({type: 'message-end', id: 'c1', delta: {finish_reason: calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE', usage}})
  return said
}
