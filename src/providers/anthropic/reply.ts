import {isObject, object} from '../../base/json-object.ts'
import {completion, type FinishReason, finishReason} from '../chat.ts'
import {InvalidResponseFault, type Json, type TranslatedResponse, type TranslationContext} from '../translation.ts'
import {refusalsIn} from './refusals.ts'
import {billedUsage, usageOf} from './usage.ts'

/** Reference: finish reasons; the last two by what Anthropic says of them (handling stop reasons). */
export const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
  model_context_window_exceeded: 'length',
}

/**
 * A Messages answer as a chat completion. Text is joined, calls of the caller's tools become `tool_calls`; with
 * `strict` off all other blocks and the text are shown in `content_blocks`, to be sent back as they are (thinking with
 * its signature, citations, searches).
 */
export function readReply(response: unknown, context: TranslationContext): TranslatedResponse {
  if (!isObject(response)) throw new InvalidResponseFault('the answer is no JSON object')
  if (response.type === 'error')
    throw new InvalidResponseFault(`an error with a status of success: ${messageOf(response)}`)
  if (response.type !== 'message' || !Array.isArray(response.content))
    throw new InvalidResponseFault('the answer is no message with content')
  const blocks = response.content.map(blockIn)
  const text = blocks.filter(({type}) => type === 'text').map(block => block.text as string)
  const tool_calls = blocks.filter(({type}) => type === 'tool_use').map(toolCall)
  const shown = context.strict ? [] : blocks.filter(({type}) => type !== 'tool_use')
  const raw_usage = isObject(response.usage) ? response.usage : null
  // A client is shown what fills its context, which is the top level.
  const shown_usage = usageOf(raw_usage)
  const {usage, hops} = billedUsage(raw_usage, refusalsIn(response))
  const model = typeof response.model === 'string' && response.model !== '' ? response.model : null
  const message: Json = {
    role: 'assistant',
    content: text.length === 0 && tool_calls.length > 0 ? null : text.join(''),
    refusal: refusalIn(response),
    ...(shown.length > 0 ? {content_blocks: shown} : {}),
    ...(tool_calls.length > 0 ? {tool_calls} : {}),
  }
  const finish_reason = finishReason(response.stop_reason, FINISH_REASONS, context.strict)
  const choices = [{index: 0, message, logprobs: null, finish_reason}]
  const id = typeof response.id === 'string' ? response.id : null
  return {body: completion(context, {id, model, choices, usage: shown_usage}), usage, model, hops}
}

/**
 * Why the model refused, in a message or in the `delta` of a `message_delta`; null when it did not, or does not say.
 */
export function refusalIn({stop_reason, stop_details}: Json): string | null {
  const {explanation} = object(stop_details)
  return stop_reason === 'refusal' && typeof explanation === 'string' && explanation !== '' ? explanation : null
}

function blockIn(block: unknown): Json {
  if (!isObject(block) || typeof block.type !== 'string')
    throw new InvalidResponseFault('a block of the answer has no type')
  if (block.type === 'text' && typeof block.text !== 'string')
    throw new InvalidResponseFault('a text block of the answer has no text')
  return block
}

function toolCall({id, name, input}: Json): Json {
  if (typeof id !== 'string' || typeof name !== 'string')
    throw new InvalidResponseFault('a tool_use block of the answer has no id or no name')
  if (input !== undefined && input !== null && !isObject(input))
    throw new InvalidResponseFault('the input of a tool_use block is no object')
  return {id, type: 'function', function: {name, arguments: written(input ?? {})}}
}

/** The arguments of a call as OpenAI has them: JSON in a string. */
export function written(input: Json): string {
  try {
    return JSON.stringify(input)
  } catch {
    // Nested so deep that the stack is too short for it.
    throw new InvalidResponseFault('the input of a tool_use block cannot be written out')
  }
}

function messageOf(response: Json): string {
  const {message} = object(response.error)
  return typeof message === 'string' ? message : 'it does not say which'
}
