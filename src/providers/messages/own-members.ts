import {isObject, object} from '../../base/json-object.ts'
import type {Json} from '../translation.ts'
import {CALL_EXTRAS} from './fragments.ts'
import {contentOf} from './parts.ts'

/**
 * A chat request without the members that the client dialects add for providers that know them: `cache_control` on
 * parts and tools, `content_blocks` and `is_error` on messages,
 * signatures on calls. For providers that take OpenAI's members alone and refuse others.
 */
export function withoutOwnMembers(chat: Json): Json {
  const messages = Array.isArray(chat.messages)
    ? chat.messages.map(each => (isObject(each) ? plainMessage(each) : each))
    : undefined
  const tools = Array.isArray(chat.tools) ? chat.tools.map(each => (isObject(each) ? unmarked(each) : each)) : undefined
  return {...chat, ...(messages && {messages}), ...(tools && {tools})}
}

function plainMessage(message: Json): Json {
  const {content_blocks: _, is_error: __, content, ...others} = message
  const {tool_calls} = others
  const plain = Array.isArray(tool_calls)
    ? {...others, tool_calls: tool_calls.map(each => (isObject(each) ? plainCall(each) : each))}
    : others
  if (!Array.isArray(content)) return content === undefined ? plain : {...plain, content}
  const parts = content.filter(isObject).map(unmarked)
  return {...plain, content: contentOf(parts)}
}

function plainCall(call: Json): Json {
  return {...without(call, 'call'), function: without(object(call.function), 'function')}
}

function without(source: Json, place: 'call' | 'function'): Json {
  const extras: Readonly<Record<string, string>> = CALL_EXTRAS
  return Object.fromEntries(
    Object.entries(source).filter(([name]) => !Object.hasOwn(extras, name) || extras[name] !== place),
  )
}

function unmarked(marked: Json): Json {
  const {cache_control: _, ...others} = marked
  return others
}
