import {isList, isObject, type JsonObject, type JsonValue, own, withAt, withKey} from './json.ts'
import type {View} from './view.ts'

export interface AddPrefix {
  readonly prefix: string
  readonly applyToRole: 'user' | 'system' | 'assistant'
  readonly addToExisting: boolean
  readonly onlyIfEmpty: boolean
}

/** The body with the prefix where its dialect keeps the role; the same body where nothing is to be added. */
export function prefixed({endpoint, body}: View, how: AddPrefix): JsonValue {
  if (!isObject(body)) return body
  if (endpoint === 'createModelResponse') return inResponse(body, how)
  if (endpoint === 'messages' && how.applyToRole === 'system') return beside(body, 'system', how)
  if (isList(own(body, 'messages'))) return inList(body, 'messages', how)
  return typeof own(body, 'prompt') === 'string' || isList(own(body, 'prompt')) ? inPrompt(body, how) : body
}

function inResponse(body: JsonObject, how: AddPrefix): JsonValue {
  if (how.applyToRole === 'system') return beside(body, 'instructions', how)
  const input = own(body, 'input')
  if (isList(input)) return inList(body, 'input', how)
  if (typeof input !== 'string' || how.applyToRole !== 'user') return body
  return how.onlyIfEmpty && input ? body : withKey(body, 'input', how.prefix + input)
}

/** A system text beside the messages: a text, or a list of blocks. */
function beside(body: JsonObject, key: string, how: AddPrefix): JsonValue {
  const held = own(body, key)
  if (!hasText(held)) return withKey(body, key, how.prefix)
  return how.onlyIfEmpty ? body : withKey(body, key, before(held!, how.prefix, 'text'))
}

function inList(body: JsonObject, key: 'messages' | 'input', how: AddPrefix): JsonValue {
  const messages = own(body, key) as readonly JsonValue[]
  const role = how.applyToRole
  const index = messages.findIndex(message => own(message, 'role') === role)
  const first = messages[index]
  if (first === undefined) {
    const made = {role, content: how.prefix}
    return withKey(body, key, role === 'system' ? [made, ...messages] : [...messages, made])
  }
  const content = own(first, 'content')
  if (how.onlyIfEmpty && hasText(content)) return body
  if (!how.addToExisting) return withKey(body, key, messages.toSpliced(index, 0, {role, content: how.prefix}))
  const part = key === 'input' ? (role === 'assistant' ? 'output_text' : 'input_text') : 'text'
  return withKey(
    body,
    key,
    messages.with(index, withKey(first as JsonObject, 'content', before(content, how.prefix, part))),
  )
}

function inPrompt(body: JsonObject, how: AddPrefix): JsonValue {
  const prompt = own(body, 'prompt')!
  if (how.applyToRole !== 'user' || (how.onlyIfEmpty && hasText(prompt))) return body
  if (typeof prompt === 'string') return withKey(body, 'prompt', how.prefix + prompt)
  const texts = prompt as readonly JsonValue[]
  // A list of tokens has no place for a text.
  if (!texts.every(each => typeof each === 'string')) return body
  return withKey(
    body,
    'prompt',
    texts.map(each => how.prefix + each),
  )
}

function before(content: JsonValue | undefined, prefix: string, part: string): JsonValue {
  if (typeof content === 'string') return prefix + content
  if (!isList(content)) return prefix
  const index = content.findIndex(each => typeof own(each, 'text') === 'string')
  if (index < 0) return [{type: part, text: prefix}, ...content]
  return withAt(content, [index, 'text'], prefix + String(own(content[index], 'text')))
}

function hasText(content: JsonValue | undefined): boolean {
  if (typeof content === 'string') return content !== ''
  return (
    isList(content) &&
    content.some(each => (typeof each === 'string' ? each !== '' : hasText(own(each, 'text') ?? null)))
  )
}
