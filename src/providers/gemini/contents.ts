import {isObject, list} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {callPart, partsOf, resultPart} from './parts.ts'
import {word} from './read.ts'

/** Differences of a host and a model in the same format. */
export interface Manner {
  /** AI Studio knows ids of calls; Vertex refuses them. */
  readonly sends_ids: boolean
  /** From its third generation on Gemini refuses a call that comes back without its signature. */
  readonly needs_signatures: boolean
}

interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: Json[]
  readonly has_results: boolean
}

/**
 * Messages as `contents` and `systemInstruction`. System and developer messages are gathered in order, wherever they
 * are, since Gemini has no other place for them; turns of one role are joined. Results of tools are a turn of their
 * own: Gemini counts them against the calls before. When all are system messages, they become the user's turn.
 */
export function contentsOf(messages: unknown, manner: Manner): Json {
  const given_messages = list(messages)
  if (given_messages.length === 0) throw new UnsupportedInputFault('messages', 'expected at least one message')
  const system: Json[] = []
  const turns: Turn[] = []
  const names = new Map<string, string>()
  for (const [at, each] of given_messages.entries()) {
    const field = `messages[${at}]`
    if (!isObject(each)) throw new UnsupportedInputFault(field, 'expected an object')
    const {role} = each
    if (role === 'system' || role === 'developer') push(system, systemParts(each, field))
    else if (role === 'user') add(turns, 'user', partsOf(each.content, `${field}.content`))
    else if (role === 'assistant') add(turns, 'model', answerParts(each, field, names, manner))
    else if (role === 'tool' || role === 'function') add(turns, 'user', [result(each, field, names, manner)], true)
    else throw new UnsupportedInputFault(`${field}.role`, 'expected system, developer, user, assistant or tool')
  }
  if (turns.length === 0) add(turns, 'user', system.splice(0))
  if (turns.length === 0) throw new UnsupportedInputFault('messages', 'expected a message with content')
  return {
    ...(system.length > 0 ? {systemInstruction: {parts: system}} : {}),
    contents: turns.map(({role, parts}) => ({role, parts})),
  }
}

/** Google takes text alone where the system speaks. */
function systemParts({content}: Json, field: string): Json[] {
  const parts = partsOf(content, `${field}.content`)
  const at = parts.findIndex(({text}) => typeof text !== 'string')
  if (at >= 0)
    throw new UnsupportedInputFault(`${field}.content[${at}].type`, 'expected text in a message of the system')
  return parts
}

function add(turns: Turn[], role: Turn['role'], parts: readonly Json[], has_results = false) {
  if (parts.length === 0) return
  const last = turns.at(-1)
  if (last && last.role === role && last.has_results === has_results) push(last.parts, parts)
  else turns.push({role, parts: [...parts], has_results})
}

/** Not spread into `push`, which takes a limited number. */
function push(to: Json[], parts: readonly Json[]) {
  for (const part of parts) to.push(part)
}

/**
 * The blocks of an earlier answer when the client kept them, for they have its thinking and signatures; else its
 * content.
 */
function answerParts(
  message: Json,
  field: string,
  names: Map<string, string>,
  {sends_ids, needs_signatures}: Manner,
): Json[] {
  const blocks = list(message.content_blocks)
  const own =
    blocks.length > 0 ? partsOf(blocks, `${field}.content_blocks`) : partsOf(message.content, `${field}.content`)
  const refusal = own.length === 0 ? partsOf(message.refusal, `${field}.refusal`) : []
  const images = partsOf(list(message.images), `${field}.images`)
  const older = isObject(message.function_call) ? [{function: message.function_call}] : []
  const calls = [...list(message.tool_calls), ...older].map((call, at) => {
    // The first of parallel calls carries the signature of all.
    const called = callPart(call, `${field}.tool_calls[${at}]`, sends_ids, needs_signatures && at === 0)
    if (called.id) names.set(called.id, called.name)
    return called.part
  })
  return [...own, ...refusal, ...images, ...calls]
}

function result(message: Json, field: string, names: ReadonlyMap<string, string>, {sends_ids}: Manner): Json {
  const id = word(message.tool_call_id)
  const name = (id ? names.get(id) : null) ?? word(message.name)
  if (!name)
    throw new UnsupportedInputFault(`${field}.tool_call_id`, 'expected the id of a tool call in an earlier message')
  return resultPart(message.content, name, sends_ids ? id : null, `${field}.content`)
}
