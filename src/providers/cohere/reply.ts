import {isObject, object} from '../../base/json-object.ts'
import type {Usage} from '../../schema/usage.ts'
import {completion, type FinishReason, finishReason} from '../chat.ts'
import {InvalidResponseFault, type Json, type TranslatedResponse, type TranslationContext} from '../translation.ts'
import {anyError, faultOf} from '../unified/fault.ts'
import {choiceOut, type MessagePiece, messageOut} from '../unified/message.ts'
import {arrayIn, objectIn, stringIn, usageOf, word} from '../unified/read.ts'
import {saidCall} from '../unified/tools.ts'
import {knownMembers, withUnknown} from '../unknown-members.ts'

/** Cohere's finish reasons (the last two are older models'). */
export const FINISH: Readonly<Record<string, FinishReason>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  ERROR: 'stop',
  TIMEOUT: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  ERROR_LIMIT: 'length',
  ERROR_TOXIC: 'content_filter',
}

/** A whole answer. Source: docs.cohere.com, API v2, chat, response. */
export function chatReply(response: unknown, context: TranslationContext): TranslatedResponse {
  const reply = objectIn(response)
  if (!isObject(reply.message))
    throw new InvalidResponseFault(faultOf(context, anyError(reply), 'message: expected an object').message)
  const {content, tool_plan, tool_calls, citations} = reply.message
  const pieces = (content === null || content === undefined ? [] : arrayIn(content, 'message.content')).flatMap(pieceIn)
  const calls = (Array.isArray(tool_calls) ? tool_calls : []).map((call, at) =>
    saidCall(call, `call_${context.call_id}_${at}`),
  )
  const plan: MessagePiece[] =
    typeof tool_plan === 'string' && tool_plan !== '' ? [{type: 'text', text: tool_plan}] : []
  const cited = Array.isArray(citations) && citations.length > 0 && !context.strict ? {citations} : {}
  const message = messageOut([...plan, ...pieces], calls, context.strict, cited)
  const {usage, shown_usage} = readTokens(reply.usage)
  const choice = choiceOut(
    0,
    message,
    finishReason(reply.finish_reason, FINISH, context.strict),
    logprobsOut(reply.logprobs),
  )
  return {body: completion(context, {id: word(reply.id), choices: [choice], usage: shown_usage}), usage, model: null}
}

/** One part of the answer. Parts of unknown kinds are skipped. */
function pieceIn(part: unknown): readonly MessagePiece[] {
  const {type, text, thinking} = object(part)
  if (type === 'text') return [{type, text: stringIn(text, 'message.content.text')}]
  if (type === 'thinking') return [{type, thinking: stringIn(thinking, 'message.content.thinking')}]
  return []
}

/**
 * Cohere counts twice: `billed_units` are what it charges, `tokens` what the model read and wrote, its own frame of the
 * prompt among it (docs.cohere.com, API v2, chat, usage). Each replaces the other when that is missing.
 */
export interface CohereUsage {
  /** The usage that is charged. */
  readonly usage: Usage | null
  /** The usage that fills the model's context, which a client is shown. */
  readonly shown_usage: Usage | null
}

export function readTokens(raw_usage: unknown): CohereUsage {
  const {tokens, billed_units, cached_tokens} = object(raw_usage)
  const read = (from: Json) => {
    const usage = usageOf({input: from.input_tokens, output: from.output_tokens, cached: cached_tokens})
    return usage && withUnknown(usage, object(raw_usage), KNOWN)
  }
  const [billed, held] = [read(object(billed_units)), read(object(tokens))]
  return {usage: billed ?? held, shown_usage: held ?? billed}
}

const KNOWN = knownMembers(
  'tokens.input_tokens tokens.output_tokens billed_units.input_tokens billed_units.output_tokens billed_units.search_units cached_tokens',
)

/** Cohere tells each piece of text with its tokens' likelihoods; OpenAI each token: a piece's likelihoods are added. */
export function logprobsOut(entries: unknown): Json | null {
  if (!Array.isArray(entries)) return null
  const content = entries.flatMap(entry => {
    const {text, logprobs} = object(entry)
    if (typeof text !== 'string' || !Array.isArray(logprobs)) return []
    const logprob = logprobs.reduce<number>((sum, one) => sum + (typeof one === 'number' ? one : 0), 0)
    return [{token: text, logprob, bytes: [...Buffer.from(text)], top_logprobs: []}]
  })
  return {content, refusal: null}
}
