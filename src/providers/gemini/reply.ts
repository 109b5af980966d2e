import {isObject, list, object} from '../../base/json-object.ts'
import {completion} from '../chat.ts'
import {ReportedFault} from '../reported-failure.ts'
import {InvalidResponseFault, type Json, type TranslatedResponse, type TranslationContext} from '../translation.ts'
import {CandidateReader, extrasOf, logprobsOf} from './candidate.ts'
import {errorIn, faultOf} from './errors.ts'
import {word} from './read.ts'
import {readUsage, searchesIn} from './usage.ts'

/** A `GenerateContentResponse` as a chat completion (ai.google.dev/api/generate-content). */
export function chatReply(response: unknown, context: TranslationContext): TranslatedResponse {
  const reply = replied(response, context)
  const model = word(reply.modelVersion)
  const reason = blockReason(reply)
  const candidates = list(reply.candidates)
  if (candidates.length === 0 && !reason)
    throw new InvalidResponseFault('it has neither candidates nor a reason why the prompt was blocked')
  const choices =
    candidates.length > 0
      ? candidates.map((each, at) => choiceOf(each, at, context))
      : [blockedChoice(reason!, context)]
  const searches = candidates.reduce<number>(
    (sum, each) => sum + searchesIn(object(each).groundingMetadata, model ?? context.model),
    0,
  )
  const usage = readUsage(reply.usageMetadata, searches)
  return {body: completion(context, {id: word(reply.responseId), model, choices, usage}), usage, model}
}

/** `said` as an object without an error; else `InvalidResponseFault`. */
export function replied(response: unknown, context: TranslationContext): Json {
  const error = errorIn(response)
  if (error) {
    const {status, ...fault} = faultOf(error, context)
    throw new ReportedFault(status ?? 502, fault)
  }
  if (!isObject(response)) throw new InvalidResponseFault('it is no JSON object')
  if (response.candidates !== undefined && !Array.isArray(response.candidates))
    throw new InvalidResponseFault('candidates are no list')
  return response
}

/** Why nothing was generated; null when the prompt was not blocked. */
export function blockReason(reply: Json): string | null {
  return word(object(reply.promptFeedback).blockReason)
}

/** A candidate that says something of itself; else `InvalidResponseFault`. */
export function candidateOf(candidate: unknown): Json {
  if (!isObject(candidate)) throw new InvalidResponseFault('a candidate is no object')
  return candidate
}

/** Its index among the choices: the reported one, or its position. */
export function indexOf({index}: Json, at: number): number {
  return Number.isSafeInteger(index) && (index as number) >= 0 ? (index as number) : at
}

function choiceOf(value: unknown, at: number, context: TranslationContext): Json {
  const candidate = candidateOf(value)
  if (candidate.content === undefined && candidate.finishReason === undefined)
    throw new InvalidResponseFault('a candidate is empty')
  const index = indexOf(candidate, at)
  const reader = new CandidateReader(context, index)
  const delta = reader.delta(candidate.content) ?? {}
  return {
    index,
    message: messageOf(delta, context),
    logprobs: logprobsOf(candidate.logprobsResult),
    finish_reason: reader.finish(candidate.finishReason),
    ...extrasOf(candidate, context.strict),
  }
}

/** A message from the one delta that all of it comes to. */
function messageOf({content, tool_calls, content_blocks, images, audio}: Json, context: TranslationContext): Json {
  const calls = list(tool_calls).map(call => {
    const {index: _, ...rest} = object(call)
    return rest
  })
  return {
    role: 'assistant',
    content: content ?? (calls.length > 0 ? null : ''),
    refusal: null,
    ...(calls.length > 0 ? {tool_calls: calls} : {}),
    ...(content_blocks ? {content_blocks: blocksOf(list(content_blocks))} : {}),
    ...(images ? {images} : {}),
    // Nothing of it is kept here: it is over with the answer.
    ...(audio ? {audio: {...object(audio), expires_at: context.created_s}} : {}),
  }
}

/** Deltas of blocks put together again. */
function blocksOf(deltas: readonly unknown[]): readonly Json[] {
  const blocks: Record<string, unknown>[] = []
  for (const each of deltas) {
    const {index, delta} = object(each)
    const [[kind, value]] = Object.entries(object(delta)) as [[string, unknown]]
    const block = blocks[index as number]
    if (!block) blocks[index as number] = {type: kind, [kind]: value}
    else block[kind] = typeof value === 'string' && typeof block[kind] === 'string' ? block[kind] + value : value
  }
  return blocks
}

/** The answer to a prompt that was blocked: no text, and the reason. */
export function blockedChoice(reason: string, {strict}: TranslationContext): Json {
  return {
    index: 0,
    message: {role: 'assistant', content: null, refusal: refusalFor(reason)},
    logprobs: null,
    finish_reason: strict ? 'content_filter' : reason,
  }
}

export function refusalFor(reason: string): string {
  return `The prompt was blocked: ${reason}`
}
