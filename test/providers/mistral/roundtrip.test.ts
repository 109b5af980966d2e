import fc from 'fast-check'
import {expect, test} from 'vitest'
import {mistral} from '../../../src/providers/mistral/index.ts'
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

const chat = mistral.endpoints.chatComplete!
const usage = {prompt_tokens: 9, completion_tokens: 4, total_tokens: 13}
const thinking = (text: string) => ({type: 'thinking', thinking: [{type: 'text', text}]})
const cuts = fc.array(fc.nat(50), {maxLength: 4})

test('a conversation leaves with its roles, texts, thoughts, pictures, calls and results, in order', () => {
  fc.assert(
    fc.property(conversation, turns => {
      const asked = {model: 'mistral-large', messages: turns.map(messageOf)}
      const {body} = chat.request(asked, contextOf('mistral', asked))
      const said = JSON.parse(JSON.stringify(body)) as {messages: Json[]}
      expect(said.messages.map(read)).toEqual(turns.map(plain))
    }),
  )
})

test('ids from elsewhere become ids that Mistral takes, and results still answer their calls', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({minLength: 1}), {minLength: 1, maxLength: 5}), ids => {
      const tool_calls = ids.map(id => ({id, type: 'function', function: {name: 'f', arguments: '{}'}}))
      const asked = {
        messages: [{role: 'assistant', tool_calls}, ...ids.map(id => ({role: 'tool', tool_call_id: id, content: 'x'}))],
      }
      const {body} = chat.request(asked, contextOf('mistral', {}))
      const [called, ...results] = (body as {messages: {tool_calls?: {id: string}[]; tool_call_id?: string}[]}).messages
      const theirs = called!.tool_calls!.map(({id}) => id)
      for (const id of theirs) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
      expect(results.map(({tool_call_id}) => tool_call_id)).toEqual(theirs)
      expect(new Set(theirs).size).toBe(ids.length)
    }),
  )
})

test('an answer comes back with its text, thoughts and calls, whole and streamed in any pieces', () => {
  fc.assert(
    fc.property(spoken, cuts, (turn, at) => {
      const asked = {model: 'mistral-large', messages: []}
      const context = contextOf('mistral', asked, {strict: false})
      const answer = chat.reply(write(turn), context, asked)
      const whole = spokenIn(JSON.parse(JSON.stringify(answer.body)))[0]!
      expect(plain(turnOf(whole))).toEqual(plain(turn))
      const stream = chat.stream!.open({...context, is_stream: true}, asked)
      const streamed = joined(told(stream, chunks(turn, at)))[0]!
      expect(stream.finished).toBe(true)
      expect(stream.usage).toEqual(answer.usage)
      expect(plain(turnOf(streamed))).toEqual(plain(turn))
      expect(streamed.finish_reason).toBe(whole.finish_reason)
    }),
  )
})

test('what an assistant said goes back as Mistral said it', () => {
  fc.assert(
    fc.property(spoken, turn => {
      const context = contextOf('mistral', {model: 'mistral-large'}, {strict: false})
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
  readonly thinking?: readonly {readonly text: string}[]
  readonly image_url?: {readonly url: string}
}

/** Reads a message as Mistral documents it, by no code of ours. */
function read(message: Json) {
  const {content, tool_call_id} = message
  const parts = (typeof content === 'string' ? [{type: 'text', text: content}] : (content ?? [])) as readonly Part[]
  const calls = (message.tool_calls ?? []) as readonly {id: string; function: {name: string; arguments: string}}[]
  return [
    message.role,
    parts.map(({type, text}) => (type === 'text' ? text : '')).join(''),
    parts.flatMap(({type, thinking}) => (type === 'thinking' ? (thinking ?? []).map(({text}) => text) : [])).join(''),
    parts.flatMap(({type, image_url}) => (type === 'image_url' ? [image_url?.url] : [])),
    calls.map(({id, function: {name, arguments: given}}) => ({id, name, arguments: given})),
    tool_call_id ?? null,
  ]
}

/** An answer as Mistral writes it. */
function write({text, thought, calls}: Turn): Json {
  const content = thought ? [thinking(thought), ...(text ? [{type: 'text', text}] : [])] : text
  const tool_calls = calls.map(({id, name, arguments: given}, index) => ({
    id,
    function: {name, arguments: given},
    index,
  }))
  const message = {role: 'assistant', content, tool_calls: calls.length > 0 ? tool_calls : null}
  return {
    id: 'm1',
    model: 'mistral-large',
    choices: [{index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop'}],
    usage,
  }
}

/** The same as a stream; a call's arguments come in pieces under its number. */
function chunks({text, thought, calls}: Turn, cuts: readonly number[]): Json[] {
  const said: Json[] = []
  const tell = (delta: Json, more: Json = {}) =>
    said.push({id: 'm1', model: 'mistral-large', choices: [{index: 0, delta, finish_reason: null, ...more}]})
  tell({role: 'assistant', content: ''})
  if (thought) for (const piece of pieces(thought, cuts)) tell({content: [thinking(piece)]})
  if (text) for (const piece of pieces(text, cuts)) tell({content: thought ? [{type: 'text', text: piece}] : piece})
  for (const [index, {id, name, arguments: given}] of calls.entries()) {
    const [first = '', ...rest] = pieces(given, cuts)
    tell({tool_calls: [{id, function: {name, arguments: first}, index}]})
    for (const piece of rest) tell({tool_calls: [{id: 'null', function: {name: '', arguments: piece}, index}]})
  }
  said.push({
    id: 'm1',
    choices: [{index: 0, delta: {content: ''}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop'}],
    usage,
  })
  return said
}
