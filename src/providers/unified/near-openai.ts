import {isObject, object} from '../../base/json-object.ts'
import {changed, changedEach, changeOf} from '../as-came.ts'
import {envelope, type FinishReason, finishReason} from '../chat.ts'
import {readUsage} from '../openai/usage.ts'
import {failureOfChat} from '../reported-failure.ts'
import {InvalidResponseFault, type Json, type TranslatedResponse, type TranslationContext} from '../translation.ts'
import {anyError, faultOf} from './fault.ts'
import {blocksOf, type MessagePiece} from './message.ts'
import {word} from './read.ts'
import {saidCall} from './tools.ts'

/** Differences of answers that are nearly OpenAI's. */
export interface AlmostOpenAi {
  /** Finish reasons that are not OpenAI's own. */
  readonly finish: Readonly<Record<string, FinishReason>>
}

export const OPENAI_FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}

/**
 * A whole chat completion that is OpenAI's but for its members' kinds. It is left as it came, what we do not know of it
 * included. Changed are: content in pieces (text; thinking as `content_blocks` where `strict` is off, else left out,
 * `reasoning_content` too), finish reasons that are not OpenAI's (`strict`), arguments that are no JSON text, and what
 * a client must find and is missing.
 */
export function nearReply(response: unknown, context: TranslationContext, {finish}: AlmostOpenAi): TranslatedResponse {
  const reply = object(response)
  const failure = failureOfChat(reply, context)
  if (failure) throw failure
  if (!Array.isArray(reply.choices) || reply.choices.length === 0) throw notAnswer(response, context)
  const usage = isObject(reply.usage) ? readUsage(reply.usage, 'chatComplete') : null
  const model = word(reply.model)
  const reasons = {...OPENAI_FINISH, ...finish}
  const choices = changedEach(reply.choices, (value, at) => {
    const choice = object(value)
    if (!isObject(choice.message)) throw new InvalidResponseFault(`choices[${at}].message: expected an object`)
    return changed(choice, {
      index: indexIn(choice.index) ?? at,
      message: messageIn(choice.message, `call_${context.call_id}_${at}`, context.strict),
      finish_reason: finishReason(choice.finish_reason, reasons, context.strict),
    })
  })
  return {
    body: changeOf(reply, changed(reply, {...missingIn(reply, context, 'chat.completion'), choices})),
    usage,
    model,
  }
}

function messageIn(message: Json, id: string, strict: boolean): Json {
  const {role, content, tool_calls} = message
  const thoughts = thoughtIn(message)
  const pieces = [...thoughts, ...piecesIn(content)]
  return changed(message, {
    role: word(role) ?? 'assistant',
    content: Array.isArray(content) ? textOf(pieces) : (content ?? null),
    tool_calls: nearCalls(tool_calls, id),
    ...(thoughts.length > 0 && strict ? {reasoning_content: undefined} : {}),
    ...blocksOf(pieces, strict),
  })
}

/** The members of each completion that `reply` lacks. */
export function missingIn(reply: Json, context: TranslationContext, object: Parameters<typeof envelope>[2]): Json {
  const {id, created, model, object: kind} = reply
  if (word(id) && word(kind) && word(model) && typeof created === 'number') return NOTHING
  const whole = envelope(context, {}, object)
  return {
    id: word(id) ?? whole.id,
    object: word(kind) ?? whole.object,
    created: typeof created === 'number' ? created : whole.created,
    model: word(model) ?? whole.model,
  }
}

const NOTHING: Json = {}

/** The failure of an answer that is none: its own words, where it says that it failed. */
export function notAnswer(response: unknown, context: TranslationContext): InvalidResponseFault {
  if (!isObject(response)) return new InvalidResponseFault('expected a JSON object')
  return new InvalidResponseFault(faultOf(context, anyError(response), 'choices: expected some').message)
}

/**
 * Content as text or in parts: Mistral's `thinking` is text or parts itself. Parts of kinds that are not known yet say
 * nothing.
 */
export function piecesIn(content: unknown): readonly MessagePiece[] {
  return partsIn(content).flatMap((part: unknown): readonly MessagePiece[] => {
    const {type, text, thinking} = object(part)
    if (type === 'text') return [{type, text: textIn(text)}]
    return type === 'thinking' ? [{type, thinking: thoughtOf(thinking)}] : []
  })
}

/** The text in pieces, without their thinking. */
export function textOf(pieces: readonly MessagePiece[]): string {
  return pieces.map(piece => (piece.type === 'text' ? piece.text : '')).join('')
}

/** Thinking has no thinking in it. */
function thoughtOf(thinking: unknown): string {
  const texts = partsIn(thinking).map(part => {
    const {type, text} = object(part)
    return type === 'text' ? textIn(text) : ''
  })
  return texts.join('')
}

function partsIn(content: unknown): readonly unknown[] {
  if (content === null || content === undefined || content === '') return []
  if (typeof content === 'string') return [{type: 'text', text: content}]
  if (!Array.isArray(content)) throw new InvalidResponseFault('content: expected a string or an array')
  return content
}

function textIn(text: unknown): string {
  if (typeof text !== 'string') throw new InvalidResponseFault('content.text: expected a string')
  return text
}

/** Thinking beside the content, as DeepSeek began to say it and many engines do. */
export function thoughtIn({reasoning_content: thinking}: Json): readonly MessagePiece[] {
  return typeof thinking === 'string' && thinking !== '' ? [{type: 'thinking', thinking}] : []
}

/**
 * The calls of a message, each with an id, a type, and arguments as text; ids are made up from `id` where there are
 * none.
 */
function nearCalls(tool_calls: unknown, id: string): unknown {
  if (tool_calls === null || tool_calls === undefined) return tool_calls
  if (!Array.isArray(tool_calls)) throw new InvalidResponseFault('tool_calls: expected an array')
  return changedEach(tool_calls, (value, at) => {
    const call = object(value)
    const plain = saidCall(value, `${id}_${at}`)
    const parts = {name: plain.name, arguments: plain.arguments}
    const type = word(call.type) ?? 'function'
    if (isObject(call.function)) return changed(call, {id: plain.id, type, function: changed(call.function, parts)})
    return changed(call, {id: plain.id, type, function: parts, name: undefined, arguments: undefined})
  })
}

/** An index among choices or calls. Real requests have at most 128. */
export function indexIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 128 ? value : null
}
