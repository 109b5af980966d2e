import {isObject} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'

type JsonBodyOf = Readonly<Record<string, unknown>>

/** The text of a request that is compared by its meaning, and its body without that text. */
export interface SemanticText {
  readonly text: string
  /** The member of the body that holds the text. */
  readonly member: 'messages' | 'input' | 'prompt'
  /** The value of that member with a mark in place of the text; all else of it is the same object as in the body. */
  readonly masked: unknown
  /** Members that say how to answer and part nothing, where the settings say so. */
  readonly ignored: readonly string[]
}

/** A request with more messages is compared exactly alone. */
export const MAX_MESSAGES = 4
/** Takes the place of the text in the body; it is the same for all, so that it parts nothing. */
const MARK = '\u{f8ff}'
/** The same where system prompts part nothing: what was stored under one setting is not found under the other. */
const MARK_IGNORING = '\u{f8fe}'
/** A longer message is cut up for another reason than style. */
const MAX_PARTS = 8

/**
 * The text of a request: its last message of a user, or the prompt. Null where the request is to be compared exactly
 * alone: it holds what no text says (images, sound, files), or results of tools, or there are too many messages.
 */
export function semanticText(
  endpoint: EndpointName,
  body: JsonBodyOf,
  {ignores_system = false}: {readonly ignores_system?: boolean} = {},
): SemanticText | null {
  const mark = ignores_system ? MARK_IGNORING : MARK
  const found = textIn(endpoint, body, mark)
  if (!found || !ignores_system) return found
  const masked = Array.isArray(found.masked) ? found.masked.filter(each => !isSystem(each)) : found.masked
  return {...found, masked, ignored: SYSTEM_MEMBERS.filter(name => body[name] !== undefined)}
}

function textIn(endpoint: EndpointName, body: JsonBodyOf, mark: string): SemanticText | null {
  switch (endpoint) {
    case 'chatComplete':
    case 'messages':
      return lastOf(body.messages, 'messages', mark, isPlainMessage)
    case 'createModelResponse':
      // one that is stored can be read and continued by its id, and both show the words of the first asker
      if (body.store !== false) return null
      return typeof body.input === 'string'
        ? whole(body.input, 'input', mark)
        : lastOf(body.input, 'input', mark, message => isItem(message) && isPlainMessage(message))
    case 'complete':
      // with `echo` the answer repeats the prompt
      return typeof body.prompt === 'string' && isOff(body.echo) ? whole(body.prompt, 'prompt', mark) : null
    default:
      return null
  }
}

/** The system prompt of `/messages` and of `/responses`. */
const SYSTEM_MEMBERS = ['system', 'instructions'] as const
const isSystem = (message: JsonBodyOf) => message.role === 'system' || message.role === 'developer'

const isOff = (value: unknown) => value === undefined || value === null || value === false

function whole(text: string, member: 'input' | 'prompt', mark: string): SemanticText | null {
  return text.trim() === '' ? null : {text, member, masked: mark, ignored: []}
}

function lastOf(
  messages: unknown,
  member: 'messages' | 'input',
  mark: string,
  isPlain: (message: JsonBodyOf) => boolean,
): SemanticText | null {
  if (!Array.isArray(messages) || messages.length > MAX_MESSAGES) return null
  if (!messages.every(message => isObject(message) && isPlain(message))) return null
  const at = messages.findLastIndex((message: JsonBodyOf) => message.role === 'user')
  const message = messages[at] as JsonBodyOf | undefined
  if (!message) return null
  const text = textOf(message.content)
  if (text.trim() === '') return null
  const masked = messages.with(at, {...message, content: maskedContent(message.content, mark)})
  return {text, member, masked, ignored: []}
}

/** Of a conversation: no tools in it, and nothing but text. */
function isPlainMessage(message: JsonBodyOf): boolean {
  const {role, content} = message
  if (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'developer') return false
  if (NO_TEXT.some(name => !isNothing(message[name]))) return false
  if (typeof content === 'string') return true
  return Array.isArray(content) && content.length <= MAX_PARTS && content.every(isTextPart)
}

const NO_TEXT = ['tool_calls', 'function_call', 'audio', 'tool_call_id', 'attachments', 'images']
const isNothing = (value: unknown) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

/** An item of the Responses API that is a message. */
const isItem = ({type}: JsonBodyOf) => type === undefined || type === 'message'

const TEXT_PARTS: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text'])

function isTextPart(part: unknown): boolean {
  return isObject(part) && TEXT_PARTS.has(part.type) && typeof part.text === 'string'
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return (content as readonly {readonly text: string}[]).map(({text}) => text).join('\n\n')
}

function maskedContent(content: unknown, mark: string): unknown {
  if (typeof content === 'string') return mark
  return (content as readonly object[]).map(part => ({...part, text: mark}))
}
