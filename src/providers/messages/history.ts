import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {providerCallId} from './call-ids.ts'
import {arrayAt, objectAt, stringAt} from './fields.ts'
import {CALL_EXTRAS} from './fragments.ts'
import {contentOf, noWord, partsOf} from './parts.ts'
import {type ToolResult, toolMessages} from './tool-results.ts'

/** `system` and `messages` of a Messages request as chat messages, in their order. */
export function chatMessages(request: Json, context: TranslationContext): readonly Json[] {
  const messages = arrayAt(request.messages, 'messages')
  if (messages.length === 0) throw new UnsupportedInputFault('messages', 'expected at least one message')
  const system = request.system === undefined || request.system === null ? [] : systemMessage(request.system, 'system')
  return [...system, ...messages.flatMap((message, at) => messageOf(message, `messages[${at}]`, context))]
}

function messageOf(value: unknown, field: string, context: TranslationContext): readonly Json[] {
  const {role, content} = objectAt(value, field)
  if (role === 'system') return systemMessage(content, `${field}.content`)
  if (role !== 'user' && role !== 'assistant')
    throw new UnsupportedInputFault(`${field}.role`, 'expected user or assistant')
  if (typeof content === 'string') return [{role, content}]
  const blocks = arrayAt(content, `${field}.content`).map((block, at) => objectAt(block, `${field}.content[${at}]`))
  return role === 'user'
    ? userMessages(blocks, `${field}.content`, context)
    : [assistantMessage(blocks, `${field}.content`, context)]
}

/** One system message; empty texts say nothing and are left out. */
function systemMessage(system: unknown, field: string): readonly Json[] {
  if (typeof system === 'string') return system ? [{role: 'system', content: system}] : []
  const parts = arrayAt(system, field).map((block, at) => {
    const {type, text, cache_control} = objectAt(block, `${field}[${at}]`)
    if (type !== 'text') throw new UnsupportedInputFault(`${field}[${at}].type`, 'expected text')
    return {type, text: stringAt(text, `${field}[${at}].text`), ...(cache_control ? {cache_control} : {})}
  })
  return parts.some(({text}) => text) ? [{role: 'system', content: contentOf(parts)}] : []
}

/** Tool results come first, whatever stood before them: chat wants them right behind the calls. */
function userMessages(blocks: readonly Json[], field: string, context: TranslationContext): readonly Json[] {
  const results: ToolResult[] = []
  const parts: Json[] = []
  blocks.forEach((block, at) => {
    if (block.type === 'tool_result') results.push(toolResult(block, `${field}[${at}]`, context))
    else for (const part of partsOf(block, `${field}[${at}]`, context)) parts.push(part)
  })
  return results.length > 0 ? toolMessages(results, parts) : [{role: 'user', content: contentOf(parts)}]
}

function toolResult(block: Json, field: string, context: TranslationContext): ToolResult {
  const {content, cache_control} = block
  const call_id = providerCallId(stringAt(block.tool_use_id, `${field}.tool_use_id`))
  const is_error = block.is_error === true
  if (content === undefined || content === null) return {call_id, parts: [], is_error}
  const blocks = typeof content === 'string' ? [{type: 'text', text: content}] : arrayAt(content, `${field}.content`)
  const parts = blocks.flatMap((each, at) => partsOf(each, `${field}.content[${at}]`, context))
  const last = parts.length - 1
  return {
    call_id,
    parts: cache_control ? parts.map((part, at) => (at === last ? {...part, cache_control} : part)) : parts,
    is_error,
  }
}

/**
 * An assistant's message. With signed thinking in it the blocks go along as `content_blocks` (data-plane digest 7.5),
 * text included, for a provider that wants its thinking back; thinking without a signature is another provider's and is
 * left out.
 */
function assistantMessage(blocks: readonly Json[], field: string, context: TranslationContext): Json {
  const parts: Json[] = []
  const kept: Json[] = []
  const calls: Json[] = []
  let has_thinking = false
  blocks.forEach((block, at) => {
    const {type} = block
    if (type === 'text') {
      const [part] = partsOf(block, `${field}[${at}]`, context)
      parts.push(part!)
      kept.push(part!)
    } else if (type === 'tool_use') calls.push(callOf(block, `${field}[${at}]`))
    else if (type === 'thinking' || type === 'redacted_thinking') {
      const thought = thoughtOf(block, `${field}[${at}]`)
      if (thought) kept.push(thought)
      has_thinking ||= thought !== null
    } else throw noWord(type, `${field}[${at}].type`, context)
  })
  return {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : contentOf(parts),
    ...(has_thinking ? {content_blocks: kept} : {}),
    ...(calls.length > 0 ? {tool_calls: calls} : {}),
  }
}

function thoughtOf(block: Json, field: string): Json | null {
  if (block.type === 'redacted_thinking')
    return {type: 'redacted_thinking', data: stringAt(block.data, `${field}.data`)}
  const {thinking, signature} = block
  if (typeof signature !== 'string' || signature === '') return null
  return {type: 'thinking', thinking: stringAt(thinking, `${field}.thinking`), signature}
}

function callOf(block: Json, field: string): Json {
  const name = stringAt(block.name, `${field}.name`)
  return chatCall(providerCallId(stringAt(block.id, `${field}.id`)), name, JSON.stringify(block.input ?? {}), block)
}

/** A tool call of a chat message, with what its provider wants back (`CALL_EXTRAS`) where `block` brought it. */
export function chatCall(id: string, name: string, input: string, block: Json): Json {
  const extras = (place: string) =>
    Object.entries(CALL_EXTRAS).flatMap(([extra, at]) => (at === place ? [[extra, block[extra]]] : []))
  const given = (place: string) =>
    Object.fromEntries(extras(place).filter(([, value]) => value !== undefined && value !== null))
  return {id, type: 'function', function: {name, arguments: input, ...given('function')}, ...given('call')}
}
