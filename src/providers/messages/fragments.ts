import {isObject, object} from '../../base/json-object.ts'
import type {Json} from '../translation.ts'

/**
 * A piece of what a model said in OpenAI chat's words: all of a block (a whole message) or the next part of one (a
 * delta). Pieces of one `key` belong to one block as long as no other block comes between.
 */
export type Fragment =
  | {readonly kind: 'text' | 'refusal'; readonly key: string; readonly text: string}
  | {readonly kind: 'thinking'; readonly key: string; readonly text: string; readonly signature: string}
  /** A picture that the model drew, in base64. */
  | {readonly kind: 'redacted_thinking' | 'picture'; readonly key: string; readonly data: string}
  | CallFragment

export interface CallFragment {
  readonly kind: 'call'
  /** `tool_calls[].index`; where there is none, the place in the array. */
  readonly place: number
  readonly id: string
  readonly name: string
  readonly arguments: string
  readonly extra: Json
}

/** Members of a call that a provider wants back with it, and their place: the call or its function. */
export const CALL_EXTRAS = {extra_content: 'call', thought_signature: 'function'} as const

/**
 * The content of a chat message (`is_whole`) or a delta, in the order in which a model writes it: thinking, text,
 * refusal, calls. Text that `content_blocks` repeats (data-plane digest 7.5) is read once, from the blocks where they
 * have all of it, so that thinking between two texts keeps its place.
 */
export function fragmentsIn(message: Json, ignore_reasoning: boolean): readonly Fragment[] {
  const found: Fragment[] = []
  const text = contentText(message.content)
  const blocks = blocksIn(message.content_blocks)
  const blocks_text = blocks.map(({block}) => textIn(block)).join('')
  const from_blocks = blocks_text !== '' && (text === '' || text === blocks_text)
  let has_thinking = ignore_reasoning
  for (const {key, block} of blocks) {
    const thinking = string(block.thinking)
    const signature = string(block.signature)
    const data = string(block.data)
    const shown = textIn(block)
    if (shown && from_blocks) found.push({kind: 'text', key: `text ${key}`, text: shown})
    // Text may have a signature too (Gemini): it returns as empty thinking.
    if (thinking || signature) found.push({kind: 'thinking', key: `thinking ${key}`, text: thinking, signature})
    if (data) found.push({kind: 'redacted_thinking', key: `redacted ${key}`, data})
    has_thinking ||= Boolean(thinking || signature || data)
  }
  const reasoning = string(message.reasoning_content) || string(message.reasoning)
  if (reasoning && !has_thinking) found.push({kind: 'thinking', key: 'thinking', text: reasoning, signature: ''})
  if (text && !from_blocks) found.push({kind: 'text', key: 'text', text})
  const refusal = string(message.refusal)
  if (refusal) found.push({kind: 'refusal', key: 'refusal', text: refusal})
  for (const data of picturesIn(message.images)) found.push({kind: 'picture', key: 'picture', data})
  return [...found, ...callsIn(message)]
}

const PICTURE = /^data:image\/[\w.+-]{1,64};base64,/

/** Pictures of a message as chat has them: `images`, data URIs (OpenRouter, "Image Generation"; Gemini's here too). */
function picturesIn(images: unknown): readonly string[] {
  if (!Array.isArray(images)) return []
  return images.flatMap(image => {
    const {url} = object(object(image).image_url)
    const head = typeof url === 'string' ? PICTURE.exec(url) : null
    return head ? [(url as string).slice(head[0].length)] : []
  })
}

/** The text of a chat message's content: a string, or parts of which those with text count. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(part => string(object(part).text)).join('')
}

export function string(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Whole blocks, or `{index, delta}` of a stream; other types (a tool's use) come elsewhere in the message. */
function blocksIn(value: unknown): readonly {readonly key: string; readonly block: Json}[] {
  if (!Array.isArray(value)) return []
  return value.filter(isObject).map((block, at) => {
    if (isObject(block.delta)) return {key: String(block.index ?? at), block: block.delta}
    return {key: String(at), block}
  })
}

function textIn(block: Json): string {
  return block.type === undefined || block.type === 'text' ? string(block.text) : ''
}

function callsIn(message: Json): readonly CallFragment[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  // The form before tool calls, which some servers still speak.
  if (calls.length === 0 && isObject(message.function_call)) return [callFragment({function: message.function_call}, 0)]
  return calls.map(callFragment)
}

function callFragment(call: Json, at: number): CallFragment {
  const invocation = object(call.function)
  const {index} = call
  const input = invocation.arguments
  return {
    kind: 'call',
    place: typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : at,
    id: string(call.id),
    name: string(invocation.name),
    arguments: isObject(input) ? JSON.stringify(input) : string(input),
    extra: extrasOf(call, invocation),
  }
}

function extrasOf(call: Json, invocation: Json): Json {
  const extras = Object.entries(CALL_EXTRAS).map(
    ([name, place]) => [name, (place === 'call' ? call : invocation)[name]] as const,
  )
  return Object.fromEntries(extras.filter(([, value]) => value !== undefined && value !== null))
}
