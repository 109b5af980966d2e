import {isObject, object} from '../../base/json-object.ts'
import type {Usage} from '../../schema/usage.ts'
import {completion, type FinishReason, finishReason} from '../chat.ts'
import {InvalidResponseFault, type Json, type TranslatedResponse, type TranslationContext} from '../translation.ts'
import {anyError, faultOf} from '../unified/fault.ts'
import {choiceOut, type MessagePiece, messageOut} from '../unified/message.ts'
import {indexIn} from '../unified/near-openai.ts'
import {usageOf, word} from '../unified/read.ts'
import {saidCall} from '../unified/tools.ts'
import {knownMembers, withUnknown} from '../unknown-members.ts'

const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
}

/** Models of different makers end in different letters: `stop`, `COMPLETE`, `MAX_TOKENS`. */
export function ended(reason: unknown, context: TranslationContext): string {
  return finishReason(
    context.strict && typeof reason === 'string' ? reason.toLowerCase() : reason,
    FINISH,
    context.strict,
  )
}

/** A whole answer. Source: docs.oracle.com, ChatResult with a GenericChatResponse. */
export function chatReply(response: unknown, context: TranslationContext): TranslatedResponse {
  const {modelId, chatResponse} = object(response)
  const {choices, usage: used} = object(chatResponse)
  if (!Array.isArray(choices) || choices.length === 0) {
    throw new InvalidResponseFault(
      faultOf(context, anyError(object(response)), 'chatResponse.choices: expected some').message,
    )
  }
  const usage = readTokens(used) ?? readTokens(object(choices[0]).usage)
  const given = choices.map((choice: unknown, at) => {
    const {index, message, finishReason: reason} = object(choice)
    if (!isObject(message)) throw new InvalidResponseFault(`chatResponse.choices[${at}].message: expected an object`)
    const calls = Array.isArray(message.toolCalls) ? message.toolCalls : []
    const made = calls.map((call, place) => saidCall(call, `call_${context.call_id}_${at}_${place}`))
    return choiceOut(indexIn(index) ?? at, messageOut(piecesIn(message), made, context.strict), ended(reason, context))
  })
  return {body: completion(context, {model: word(modelId), choices: given, usage}), usage, model: word(modelId)}
}

/** Reads a message, or a piece of one. Content that is not text yields nothing. */
export function piecesIn({content, reasoningContent}: Json): readonly MessagePiece[] {
  const thought = word(reasoningContent)
  const parts = content === null || content === undefined ? [] : content
  if (!Array.isArray(parts)) throw new InvalidResponseFault('message.content: expected an array')
  const texts = parts.flatMap((part): readonly MessagePiece[] => {
    const {type, text} = object(part)
    return type === 'TEXT' && typeof text === 'string' ? [{type: 'text', text}] : []
  })
  return [...(thought ? [{type: 'thinking' as const, thinking: thought}] : []), ...texts]
}

export function readTokens(usage: unknown): Usage | null {
  const {promptTokens, completionTokens, promptTokensDetails, completionTokensDetails} = object(usage)
  const read = usageOf({
    input: promptTokens,
    output: completionTokens,
    cached: object(promptTokensDetails).cachedTokens,
    reasoning: object(completionTokensDetails).reasoningTokens,
  })
  return read && withUnknown(read, object(usage), KNOWN)
}

const KNOWN = knownMembers(
  'promptTokens completionTokens totalTokens promptTokensDetails.cachedTokens completionTokensDetails.reasoningTokens',
)
