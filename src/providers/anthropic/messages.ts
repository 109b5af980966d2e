import {isObject} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {assistantBlocks, blocksOf, type ConversationTurn, cached, textPart, userPart} from './content.ts'
import {toolId, toolUses} from './tools.ts'

/**
 * OpenAI's messages as Anthropic has them: system and developer messages first, then turns. Messages of one role that
 * follow each other become one turn, in order, so that the results of parallel tools come together, as Anthropic wants
 * them.
 */
export function conversation(
  request: Json,
  strict: boolean,
): {readonly system: Json[]; readonly turns: ConversationTurn[]} {
  const {messages} = request
  if (!Array.isArray(messages) || messages.length === 0)
    throw new UnsupportedInputFault('messages', 'expected an array with at least one message')
  const system: Json[] = []
  const turns: ConversationTurn[] = []
  messages.forEach((message: unknown, index) => {
    const at = `messages[${index}]`
    if (!isObject(message)) throw new UnsupportedInputFault(at, 'expected an object with a role')
    const {role} = message
    if (role === 'system' || role === 'developer')
      append(system, marked(blocksOf(message.content, `${at}.content`, textPart), message))
    else if (role === 'user') say(turns, 'user', marked(blocksOf(message.content, `${at}.content`, userPart), message))
    else if (role === 'assistant') say(turns, 'assistant', assistant(message, at, strict))
    else if (role === 'tool') say(turns, 'user', [toolResult(message, at)])
    else throw new UnsupportedInputFault(`${at}.role`, 'expected system, developer, user, assistant or tool')
  })
  if (turns.length === 0)
    throw new UnsupportedInputFault('messages', 'this provider needs a message of the user that says something')
  return {system, turns}
}

function assistant(message: Json, at: string, strict: boolean): readonly Json[] {
  if (message.function_call !== undefined && message.function_call !== null) {
    throw new UnsupportedInputFault(`${at}.function_call`, 'say it with tool_calls')
  }
  const blocks = marked(assistantBlocks(message, at, strict), message)
  const uses = toolUses(message, at)
  if (uses.length === 0) return blocks
  // Blocks sent back as they came may have the calls among them, where they stood.
  const known = new Set(blocks.filter(block => block.type === 'tool_use').map(block => block.id))
  return [...blocks, ...uses.filter(use => !known.has(use.id))]
}

function toolResult(message: Json, at: string): Json {
  if (typeof message.tool_call_id !== 'string' || message.tool_call_id === '') {
    throw new UnsupportedInputFault(`${at}.tool_call_id`, 'expected the id of a tool call')
  }
  const {content} = message
  const result = typeof content === 'string' ? content : blocksOf(content, `${at}.content`, userPart)
  return cached(
    {
      type: 'tool_result',
      tool_use_id: toolId(message.tool_call_id),
      ...(result.length > 0 ? {content: result} : {}),
      ...(message.is_error === true ? {is_error: true} : {}),
    },
    message,
  )
}

/** A mark on the message is one on the last thing it says. */
function marked(blocks: Json[], message: Json): Json[] {
  const last = blocks.at(-1)
  if (last) blocks[blocks.length - 1] = cached(last, message)
  return blocks
}

function say(turns: ConversationTurn[], role: ConversationTurn['role'], blocks: readonly Json[]) {
  if (blocks.length === 0) return
  const last = turns.at(-1)
  if (last?.role === role) append(last.content, blocks)
  else turns.push({role, content: [...blocks]})
}

/** One by one: a spread of very many arguments overflows the stack. */
function append(all: Json[], more: readonly Json[]) {
  for (const each of more) all.push(each)
}
