import {isObject} from '../../base/json-object.ts'
import {completion, type FinishReason, finishReason} from '../chat.ts'
import {InvalidResponseFault, type Json, type TranslatedResponse, type TranslationContext} from '../translation.ts'
import {defined as kept} from './ask.ts'
import {readUsage} from './usage.ts'

/** Stop reasons of Converse; a full context is no more room. */
export const STOP_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
}

/** The content of an answer as members of an OpenAI message. */
interface Heard {
  readonly texts: string[]
  readonly calls: Json[]
  /** Thinking and text in their order, for clients that want to send them back. */
  readonly blocks: Json[]
}

/** A Converse answer as a chat completion. */
export function converseReply(response: unknown, context: TranslationContext): TranslatedResponse {
  if (!isObject(response)) throw new InvalidResponseFault('expected a JSON object')
  const message = isObject(response.output) ? response.output.message : undefined
  if (!isObject(message) || !Array.isArray(message.content))
    throw new InvalidResponseFault(`expected output.message.content${reasonIn(response)}`)
  if (typeof response.stopReason !== 'string') throw new InvalidResponseFault('expected stopReason')
  const heard: Heard = {texts: [], calls: [], blocks: []}
  for (const block of message.content) hear(block, heard)
  const {texts, calls, blocks} = heard
  const usage = readUsage(response.usage, response.serviceTier)
  const choice = {
    index: 0,
    message: {
      role: 'assistant',
      content: texts.length > 0 || calls.length === 0 ? texts.join('') : null,
      ...(calls.length > 0 ? {tool_calls: calls} : {}),
      ...(context.strict || blocks.length === 0 ? {} : {content_blocks: blocks}),
    },
    logprobs: null,
    finish_reason: finishReason(response.stopReason, STOP_REASONS, context.strict),
  }
  const {trace, additionalModelResponseFields, performanceConfig} = response
  const more = context.strict ? {} : kept({trace, additionalModelResponseFields, performanceConfig})
  return {body: completion(context, {choices: [choice], usage}, more), usage, model: null}
}

function hear(block: unknown, heard: Heard): void {
  if (!isObject(block)) throw new InvalidResponseFault('expected content blocks that are objects')
  if (block.text !== undefined) {
    const text = words(block.text, 'a text')
    heard.texts.push(text)
    heard.blocks.push({type: 'text', text})
  } else if (block.toolUse !== undefined) {
    const use = isObject(block.toolUse) ? block.toolUse : {}
    const call = {name: words(use.name, "a tool's name"), arguments: JSON.stringify(use.input ?? {})}
    heard.calls.push({id: words(use.toolUseId, "a tool call's id"), type: 'function', function: call})
  } else if (block.reasoningContent !== undefined) {
    heard.blocks.push(thinkingPart(block.reasoningContent))
  } else if (isObject(block.citationsContent)) {
    const {content, citations} = block.citationsContent
    const text = (Array.isArray(content) ? content : [])
      .map(part => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
      .join('')
    heard.texts.push(text)
    heard.blocks.push({type: 'text', text, ...(Array.isArray(citations) ? {citations} : {})})
  }
}

function thinkingPart(reasoning: unknown): Json {
  if (!isObject(reasoning)) throw new InvalidResponseFault('expected reasoningContent to be an object')
  if (reasoning.redactedContent !== undefined)
    return {type: 'redacted_thinking', data: words(reasoning.redactedContent, 'redacted thinking')}
  const {text, signature} = isObject(reasoning.reasoningText) ? reasoning.reasoningText : {}
  const signed = signature === undefined || signature === null ? {} : {signature: words(signature, 'a signature')}
  return {type: 'thinking', thinking: words(text, 'a thought'), ...signed}
}

function words(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new InvalidResponseFault(`expected ${what} to be a string`)
  return value
}

/** A 200 with an error body. */
function reasonIn({message}: Json): string {
  return typeof message === 'string' && message !== ''
    ? `, not the message ${JSON.stringify(message.slice(0, 300))}`
    : ''
}
