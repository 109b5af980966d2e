import {isObject, object} from '../../base/json-object.ts'
import {completion, type FinishReason, finishReason} from '../chat.ts'
import {readUsage} from '../openai/usage.ts'
import {InvalidResponse, type Json, type TranslatedResponse, type TranslationContext} from '../translation.ts'
import {anyError, faultOf} from './fault.ts'
import {choiceOut, type MessagePiece, messageOut} from './message.ts'
import {word} from './read.ts'
import {type FunctionCall, saidCall} from './tools.ts'

/** What differs in answers that are nearly OpenAI's. */
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

/** A whole chat completion that is OpenAI's but for its members' kinds: content in pieces, arguments as objects, calls without a type. */
export function nearReply(response: unknown, context: TranslationContext, {finish}: AlmostOpenAi): TranslatedResponse {
  const reply = object(response)
  const {choices} = reply
  if (!Array.isArray(choices) || choices.length === 0) throw notAnswer(response, context)
  const usage = isObject(reply.usage) ? readUsage(reply.usage, 'chatComplete') : null
  const model = word(reply.model)
  const given = choices.map((choice: unknown, at) => {
    const {index, message, finish_reason, logprobs} = object(choice)
    if (!isObject(message)) throw new InvalidResponse(`choices[${at}].message: expected an object`)
    const calls = nearCalls(message.tool_calls, `call_${context.call_id}_${at}`)
    const pieces = [...thoughtIn(message), ...piecesIn(message.content)]
    const reason = finishReason(finish_reason, {...OPENAI_FINISH, ...finish}, context.strict)
    return choiceOut(indexIn(index) ?? at, messageOut(pieces, calls, context.strict), reason, isObject(logprobs) ? logprobs : null)
  })
  const body = completion(context, {id: word(reply.id), model, choices: given, usage})
  return {body: withUnknown(body, reply), usage, model}
}

/** `body` with the members that only the provider's answer has, and what it counts beside OpenAI's words: what we do not know of it stays. */
export function withUnknown(body: Json, reply: Json): Json {
  const usage = isObject(body.usage) && {usage: {...body.usage, ...object(reply.usage), ...body.usage}}
  return {...body, ...reply, ...body, ...usage}
}

/** The failure of an answer that is none: its own words, where it says that it failed. */
export function notAnswer(response: unknown, context: TranslationContext): InvalidResponse {
  if (!isObject(response)) return new InvalidResponse('expected a JSON object')
  return new InvalidResponse(faultOf(context, anyError(response), 'choices: expected some').message)
}

/** Content as text or in parts: Mistral's `thinking` is text or parts itself. Parts of kinds that are not known yet say nothing. */
export function piecesIn(content: unknown): readonly MessagePiece[] {
  return partsIn(content).flatMap((part: unknown): readonly MessagePiece[] => {
    const {type, text, thinking} = object(part)
    if (type === 'text') return [{type, text: textIn(text)}]
    return type === 'thinking' ? [{type, thinking: thoughtOf(thinking)}] : []
  })
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
  if (!Array.isArray(content)) throw new InvalidResponse('content: expected a string or an array')
  return content
}

function textIn(text: unknown): string {
  if (typeof text !== 'string') throw new InvalidResponse('content.text: expected a string')
  return text
}

/** Thinking beside the content, as DeepSeek began to say it and many engines do. */
export function thoughtIn({reasoning_content: thinking}: Json): readonly MessagePiece[] {
  return typeof thinking === 'string' && thinking !== '' ? [{type: 'thinking', thinking}] : []
}

/** The calls of a message; a missing list is none, ids are made up from `id` where there are none. */
export function nearCalls(tool_calls: unknown, id: string): readonly FunctionCall[] {
  if (tool_calls === null || tool_calls === undefined) return []
  if (!Array.isArray(tool_calls)) throw new InvalidResponse('tool_calls: expected an array')
  return tool_calls.map((call, at) => saidCall(call, `${id}_${at}`))
}

/** A position among choices or calls. Nobody asks for more than 128. */
export function indexIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 128 ? value : null
}
