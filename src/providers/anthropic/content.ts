import {isObject, object} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'

/** The consecutive messages of one side. */
export interface ConversationTurn {
  readonly role: 'user' | 'assistant'
  readonly content: Json[]
}

/** A part as a block; null for one that says nothing, since Anthropic refuses empty text. */
export type ReadPart = (part: Json, at: string) => Json | null

const PDF = 'application/pdf'
/** Blocks of Anthropic's own that a caller may put among the parts of a user's message. */
const OWN_INPUT: ReadonlySet<unknown> = new Set(['document', 'image', 'search_result', 'container_upload'])
const THINKING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking'])

/** Reads the content of a message as blocks. */
export function blocksOf(content: unknown, at: string, read: ReadPart): Json[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return isBlank(content) ? [] : [{type: 'text', text: content}]
  if (!Array.isArray(content)) throw new UnsupportedInputFault(at, 'expected a string or an array of parts')
  const blocks: Json[] = []
  content.forEach((part: unknown, index) => {
    const place = `${at}[${index}]`
    if (!isObject(part)) throw new UnsupportedInputFault(place, 'expected an object with a type')
    const block = read(part, place)
    if (block) blocks.push(block)
  })
  return blocks
}

/** `block` with the prompt-cache mark of `part` (`{"type": "ephemeral", "ttl"?: "5m" | "1h"}`), if it has one. */
export function cached(block: Json, part: Json): Json {
  return isObject(part.cache_control) ? {...block, cache_control: part.cache_control} : block
}

export const textPart: ReadPart = (part, at) => {
  if (part.type !== 'text') throw new UnsupportedInputFault(`${at}.type`, 'expected text')
  if (typeof part.text !== 'string') throw new UnsupportedInputFault(`${at}.text`, 'expected a string')
  return isBlank(part.text) ? null : cached({type: 'text', text: part.text}, part)
}

export const userPart: ReadPart = (part, at) => {
  if (part.type === 'text') return textPart(part, at)
  if (part.type === 'image_url') return cached(imageBlock(part.image_url, `${at}.image_url`), part)
  if (part.type === 'file') return cached(described(fileBlock(object(part.file), `${at}.file`), part), part)
  if (OWN_INPUT.has(part.type)) return part
  throw new UnsupportedInputFault(`${at}.type`, 'expected text, image_url or file; this provider takes no other parts')
}

/**
 * An earlier message of the model. With `strict` off, the blocks of an earlier answer return as they were sent, in
 * `content_blocks` or as parts, signatures included; otherwise only their text is a part of the conversation.
 */
export function assistantBlocks(message: Json, at: string, strict: boolean): Json[] {
  const ownPart: ReadPart = (part, place) => {
    if (part.type === 'text' && part.citations === undefined) return textPart(part, place)
    if (part.type === 'refusal') {
      if (typeof part.refusal !== 'string') throw new UnsupportedInputFault(`${place}.refusal`, 'expected a string')
      return isBlank(part.refusal) ? null : {type: 'text', text: part.refusal}
    }
    if (typeof part.type !== 'string') throw new UnsupportedInputFault(`${place}.type`, 'expected the type of a block')
    if (strict) return part.type === 'text' ? textPart(part, place) : null
    // Another provider's thinking has no signature, and Anthropic refuses it without one.
    return part.type === 'thinking' && (typeof part.signature !== 'string' || part.signature === '') ? null : part
  }
  const has_content = message.content !== undefined && message.content !== null
  if (Array.isArray(message.content_blocks) && message.content_blocks.length > 0 && !(strict && has_content)) {
    return blocksOf(message.content_blocks, `${at}.content_blocks`, ownPart)
  }
  const blocks = blocksOf(message.content, `${at}.content`, ownPart)
  if (
    blocks.every(block => THINKING.has(block.type)) &&
    typeof message.refusal === 'string' &&
    !isBlank(message.refusal)
  ) {
    blocks.push({type: 'text', text: message.refusal})
  }
  return blocks
}

function imageBlock(image: unknown, at: string): Json {
  const url = typeof image === 'string' ? image : object(image).url
  if (typeof url !== 'string') throw new UnsupportedInputFault(`${at}.url`, 'expected an https URL or a data URI')
  if (!url.startsWith('data:')) return urlBlock(url, `${at}.url`)
  const {media_type, data} = dataUri(url, `${at}.url`)
  return base64Block(media_type, data, `${at}.url`)
}

/** OpenAI's `file` part: its bytes as a data URI or as base64 (a PDF then), or a file that was uploaded before. */
function fileBlock(file: Json, at: string): Json {
  const {file_data, file_id, file_url, filename} = file
  const title = typeof filename === 'string' && filename !== '' ? {title: filename} : {}
  if (typeof file_id === 'string' && file_id !== '')
    return {type: 'document', source: {type: 'file', file_id}, ...title}
  if (typeof file_url === 'string') return {...urlBlock(file_url, `${at}.file_url`), type: 'document', ...title}
  if (typeof file_data !== 'string' || file_data === '')
    throw new UnsupportedInputFault(at, 'expected file_data or file_id')
  if (!file_data.startsWith('data:'))
    return {type: 'document', source: {type: 'base64', media_type: PDF, data: file_data}, ...title}
  const {media_type, data} = dataUri(file_data, `${at}.file_data`)
  if (media_type.startsWith('image/')) return base64Block(media_type, data, `${at}.file_data`)
  if (!media_type.startsWith('text/')) return {...base64Block(media_type, data, `${at}.file_data`), ...title}
  const text = Buffer.from(data, 'base64').toString('utf8')
  return {type: 'document', source: {type: 'text', media_type: 'text/plain', data: text}, ...title}
}

/** Copies a document's other members: whether to cite it, and its context. */
function described(block: Json, part: Json): Json {
  if (block.type !== 'document') return block
  return {
    ...block,
    ...(isObject(part.citations) ? {citations: part.citations} : {}),
    ...(typeof part.context === 'string' ? {context: part.context} : {}),
    ...(typeof part.title === 'string' ? {title: part.title} : {}),
  }
}

function base64Block(media_type: string, data: string, at: string): Json {
  if (media_type === PDF) return {type: 'document', source: {type: 'base64', media_type, data}}
  if (!media_type.startsWith('image/'))
    throw new UnsupportedInputFault(at, 'expected a picture, a PDF or text; this provider takes no other files')
  return {
    type: 'image',
    source: {type: 'base64', media_type: media_type === 'image/jpg' ? 'image/jpeg' : media_type, data},
  }
}

function urlBlock(url: string, at: string): Json {
  if (!URL.canParse(url)) throw new UnsupportedInputFault(at, 'expected an https URL or a data URI')
  const {protocol, pathname} = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new UnsupportedInputFault(at, 'expected an https URL or a data URI')
  return {type: pathname.toLowerCase().endsWith('.pdf') ? 'document' : 'image', source: {type: 'url', url}}
}

/** `data:<type>;base64,<data>` (RFC 2397). Sliced, not matched: the data is megabytes. */
function dataUri(uri: string, at: string): {readonly media_type: string; readonly data: string} {
  const comma = uri.indexOf(',')
  const [media_type, ...rest] = uri.slice('data:'.length, Math.max(0, comma)).split(';')
  if (comma < 0 || !media_type || rest.at(-1)?.trim() !== 'base64')
    throw new UnsupportedInputFault(at, 'expected data:<media type>;base64,<data>')
  return {media_type: media_type.trim().toLowerCase(), data: uri.slice(comma + 1)}
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}
