import type {Json} from '../../../src/providers/translation.ts'
import {list, object, text} from '../dialects/words.ts'
import {first, when} from './rule.ts'

// Readers of what OpenAI's chat and those that speak nearly as it have in common.

export const NAME = /^[a-zA-Z0-9_-]{1,64}$/

export const messagesOf = (body: Json) => list(body.messages)
export const functionsOf = (body: Json) => list(body.tools).map(tool => object(tool.function))
export const callsOf = (message: Json) => list(message.tool_calls)

/** The parts of all contents, with the role of their message. */
export function partsOf(body: Json): readonly (readonly [role: string, part: Json])[] {
  return messagesOf(body).flatMap(({role, content}) => list(content).map(part => [text(role), part] as const))
}

/** A reason where a call is not answered right behind its message. */
export function unanswered(body: Json): string | null {
  const messages = messagesOf(body)
  return first(messages, (message, at) => {
    const ids = callsOf(message).map(({id}) => text(id))
    if (ids.length === 0) return null
    const answers = new Set(answersBehind(messages, at))
    const open = ids.find(id => !answers.has(id))
    return when(open !== undefined, `the call ${open} of messages[${at}] is not answered behind it`)
  })
}

/** A reason where a result answers no call of the message before the results. */
export function orphaned(body: Json): string | null {
  const messages = messagesOf(body)
  return first(messages, ({role, tool_call_id}, at) => {
    if (role !== 'tool') return null
    let before = at - 1
    while (messages[before]?.role === 'tool') before--
    const calls = callsOf(messages[before] ?? {}).map(({id}) => id)
    return when(!calls.includes(tool_call_id), `messages[${at}] answers no call of the message before`)
  })
}

function answersBehind(messages: readonly Json[], at: number): readonly string[] {
  const ids: string[] = []
  for (let next = at + 1; messages[next]?.role === 'tool'; next++) ids.push(text(messages[next]!.tool_call_id))
  return ids
}

/** A reason where a name of a tool, or of a call, does not fit. */
export function misnamed(body: Json, pattern = NAME): string | null {
  const called = messagesOf(body).flatMap(message => callsOf(message).map(call => object(call.function)))
  return first([...functionsOf(body), ...called], ({name}) =>
    when(!pattern.test(text(name)), `the function name ${JSON.stringify(name)} does not fit`),
  )
}

/** A reason where a choice is made without tools, or names one that is not among them. */
export function misChosen(body: Json): string | null {
  const {tool_choice} = body
  const names = functionsOf(body).map(({name}) => name)
  if (tool_choice === undefined || tool_choice === 'none') return null
  if (names.length === 0) return 'tool_choice without tools'
  const chosen = object(object(tool_choice).function).name
  return when(
    typeof tool_choice === 'object' && chosen !== undefined && !names.includes(chosen),
    `tool_choice names ${String(chosen)}, which is not among the tools`,
  )
}

/** A conversation in OpenAI's words with a picture, calls side by side, and their results. */
export const GOOD_MESSAGES: readonly Json[] = [
  {role: 'system', content: 'Answer in JSON.'},
  {
    role: 'user',
    content: [
      {type: 'text', text: 'Read both.'},
      {type: 'image_url', image_url: {url: 'data:image/png;base64,iVBORw0KGgo='}},
    ],
  },
  {role: 'assistant', content: 'I look.', tool_calls: [call('call_1', 'read'), call('call_2', 'read')]},
  {role: 'tool', tool_call_id: 'call_1', content: 'one'},
  {role: 'tool', tool_call_id: 'call_2', content: 'two'},
  {role: 'user', content: 'And?'},
]

/** The same without pictures, for those that read text alone. */
export const GOOD_TEXTS: readonly Json[] = GOOD_MESSAGES.map((message, at) =>
  at === 1 ? {role: 'user', content: 'Read both.'} : message,
)

export const GOOD_TOOL: Json = {
  type: 'function',
  function: {
    name: 'read',
    description: 'Reads a file.',
    parameters: {type: 'object', properties: {path: {type: 'string'}}, required: ['path'], additionalProperties: false},
  },
}

/** A call in OpenAI's words. */
export function call(id: string, name: string): Json {
  return {id, type: 'function', function: {name, arguments: '{"path":"a"}'}}
}

/** `list` with one entry in another's place. */
export function withAt(all: readonly Json[], at: number, entry: Json): readonly Json[] {
  return all.map((each, place) => (place === at ? entry : each))
}
