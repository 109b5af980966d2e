import {isObject, object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'
import {count, isImpossible} from '../openai/usage.ts'
import {InvalidResponseFault, type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'

/** Readers for the client's request in OpenAI's dialect: nothing in a body is trusted before it is checked. */

/** A message and its path, for error messages: `messages[3]`. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly raw: Json
  readonly field: string
}

/** The messages, `developer` as `system`: no provider but OpenAI knows it. */
export function messagesIn(request: Json): readonly ChatMessage[] {
  if (!Array.isArray(request.messages)) throw new UnsupportedInputFault('messages', 'expected an array of messages')
  return request.messages.map((message: unknown, at) => {
    const field = `messages[${at}]`
    if (!isObject(message)) throw new UnsupportedInputFault(field, 'expected an object')
    const role = message.role === 'developer' ? 'system' : message.role === 'function' ? 'tool' : message.role
    if (role !== 'system' && role !== 'user' && role !== 'assistant' && role !== 'tool') {
      throw new UnsupportedInputFault(`${field}.role`, 'expected system, developer, user, assistant or tool')
    }
    return {role, raw: message, field}
  })
}

/** One part of a message's content and its path. */
export interface Part {
  readonly type: string
  readonly raw: Json
  readonly field: string
}

/**
 * A content's parts: a string is one text part, nothing is none. OpenAI's spellings of text are one (`input_text`,
 * `output_text`, `refusal`).
 */
export function partsIn(content: unknown, field: string): readonly Part[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return content === '' ? [] : [text(content, field)]
  if (!Array.isArray(content)) throw new UnsupportedInputFault(field, 'expected a string or an array of parts')
  return content.map((part: unknown, at) => {
    const place = `${field}[${at}]`
    if (typeof part === 'string') return text(part, place)
    if (!isObject(part) || typeof part.type !== 'string')
      throw new UnsupportedInputFault(place, 'expected a part with a type')
    if (part.type === 'refusal') return text(String(part.refusal ?? ''), place)
    if (!TEXTS.has(part.type)) return {type: part.type, raw: part, field: place}
    if (typeof part.text !== 'string') throw new UnsupportedInputFault(`${place}.text`, 'expected a string')
    return {type: 'text', raw: part, field: place}
  })
}

const TEXTS = new Set(['text', 'input_text', 'output_text'])

function text(content: string, field: string): Part {
  return {type: 'text', raw: {type: 'text', text: content}, field}
}

/** The text of a content that may hold nothing but text; thinking, which no provider asks back as text, is left out. */
export function textIn(content: unknown, field: string): string {
  let all = ''
  for (const part of partsIn(content, field)) {
    if (isThought(part)) continue
    if (part.type !== 'text') throw unsupportedPart(part)
    all += part.raw.text
  }
  return all
}

export function isThought({type}: Part): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** The refusal of a part that a provider has no words for. */
export function unsupportedPart({type, field}: Part): UnsupportedInputFault {
  return new UnsupportedInputFault(`${field}.type`, `the provider takes no ${type} parts here`)
}

/**
 * The thinking that a client sends back with an assistant's message, in order: parts of its content, or its
 * `content_blocks`.
 */
export function thoughtsIn({raw, field}: ChatMessage): readonly string[] {
  const blocks = Array.isArray(raw.content_blocks) ? raw.content_blocks : Array.isArray(raw.content) ? raw.content : []
  return partsIn(blocks, `${field}.content_blocks`).flatMap(part => {
    const {thinking} = part.raw
    return part.type === 'thinking' && typeof thinking === 'string' && thinking !== '' ? [thinking] : []
  })
}

/** The URL of an `image_url` part, and how closely to look. */
export function imageIn({raw, field}: Part): {readonly url: string; readonly detail?: unknown} {
  const image = typeof raw.image_url === 'string' ? {url: raw.image_url} : object(raw.image_url)
  const {url, detail} = image as Json
  if (typeof url !== 'string' || url === '') throw new UnsupportedInputFault(`${field}.image_url.url`, 'expected a URL')
  return detail === undefined ? {url} : {url, detail}
}

/**
 * The members of `asked` that `names` lists and that are not null, each under its name there (`ours`, or
 * `ours>theirs`).
 */
export function pick(request: Json, names: string): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const name of names.split(/\s+/)) {
    const [ours, theirs = ours] = name.split('>')
    const value = Object.hasOwn(request, ours!) ? request[ours!] : undefined
    if (value !== undefined && value !== null) picked[theirs!] = value
  }
  return picked
}

/** The members of a request that `known` does not list and that are not null: they pass unchanged. */
export function others(request: Json, known: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(request).filter(([name, value]) => !known.has(name) && value !== null))
}

/** `stop` as a list, or nothing. */
export function stopsIn(request: Json, field = 'stop'): readonly string[] | undefined {
  const stop = request[field]
  if (stop === undefined || stop === null) return undefined
  const all: unknown = typeof stop === 'string' ? [stop] : stop
  if (!Array.isArray(all) || all.some(one => typeof one !== 'string'))
    throw new UnsupportedInputFault(field, 'expected a string or an array of strings')
  return all
}

/** The most tokens to write, under either of OpenAI's names. */
export function mostTokens(request: Json): unknown {
  return request.max_completion_tokens ?? request.max_tokens ?? undefined
}

/** Refuses more than one answer where a provider gives one. */
export function oneChoice(request: Json, field = 'n') {
  const many = request[field]
  if (many !== undefined && many !== null && many !== 1)
    throw new UnsupportedInputFault(field, 'the provider gives one choice; expected 1')
}

/**
 * A model as part of a path: its segments percent-encoded (`@` stays, Cloudflare's models begin with it). Refuses what
 * would climb.
 */
export function modelPath({model, provider}: TranslationContext): string {
  const segments = model.split('/')
  if (segments.some(segment => segment === '' || segment === '.' || segment === '..')) {
    throw new UnsupportedInputFault('model', `expected the name of a model of ${provider}`)
  }
  return segments.map(segment => uriPart(segment, 'The model').replaceAll('%40', '@')).join('/')
}

/** A provider's answer, which must be a JSON object. */
export function objectIn(value: unknown, what = 'a JSON object'): Json {
  if (!isObject(value)) throw new InvalidResponseFault(`expected ${what}`)
  return value
}

export function arrayIn(value: unknown, field: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidResponseFault(`${field}: expected an array`)
  return value
}

export function stringIn(value: unknown, field: string): string {
  if (typeof value !== 'string') throw new InvalidResponseFault(`${field}: expected a string`)
  return value
}

/** A word that may be missing. */
export function word(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * Token counts in disjoint classes, from a whole input that includes `cached` and a whole output that includes
 * `reasoning`. Null: none.
 */
export function usageOf(counts: {
  readonly input?: unknown
  readonly output?: unknown
  readonly cached?: unknown
  readonly reasoning?: unknown
}): Usage | null {
  const input = count(counts.input)
  const output = count(counts.output)
  if ((input === null && output === null) || isImpossible(counts.input) || isImpossible(counts.output)) return null
  const usage = emptyUsage()
  usage.cache_read_tokens = Math.min(count(counts.cached) ?? 0, input ?? 0)
  usage.input_uncached_tokens = (input ?? 0) - usage.cache_read_tokens
  usage.output_reasoning_tokens = Math.min(count(counts.reasoning) ?? 0, output ?? 0)
  usage.output_text_tokens = (output ?? 0) - usage.output_reasoning_tokens
  return usage
}
