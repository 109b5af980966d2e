import {totals, type Usage} from '../schema/usage.ts'
import type {Json, ProviderFault, TranslationContext} from './translation.ts'

/** OpenAI's finish reasons. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** A provider's finish reason in OpenAI's words; with `strict` off it is shown as it is. Missing or unknown: `stop`. */
export function finishReason(reason: unknown, map: Readonly<Record<string, FinishReason>>, strict: boolean): string {
  const word = typeof reason === 'string' ? reason : ''
  if (!strict && word) return word
  return Object.hasOwn(map, word) ? map[word]! : 'stop'
}

/** The provider's id of its answer and its model; ours replace missing ones. */
export interface Named {
  readonly id?: string | null
  readonly model?: string | null
}

const ID_PREFIX = {'chat.completion': 'chatcmpl-', 'chat.completion.chunk': 'chatcmpl-', text_completion: 'cmpl-'}

/** The members that each of OpenAI's completions begins with. */
export function envelope(context: TranslationContext, identity: Named, object: keyof typeof ID_PREFIX): Json {
  return {
    id: identity.id || `${ID_PREFIX[object]}${context.call_id}`,
    object,
    created: context.created_s,
    model: identity.model || context.model,
    provider: context.provider,
  }
}

/** A `chat.completion` (OpenAI API reference, the chat completion object) with one choice or several. */
export function completion(
  context: TranslationContext,
  result: Named & {readonly choices: readonly Json[]; readonly usage: Usage | null},
  more: Json = {},
): Json {
  return {
    ...envelope(context, result, 'chat.completion'),
    choices: result.choices,
    ...(result.usage ? {usage: usageIn(result.usage)} : {}),
    ...more,
  }
}

/** A `chat.completion.chunk` with one choice. */
export function chunk(
  context: TranslationContext,
  identity: Named,
  delta: Json,
  finish_reason: string | null = null,
  index = 0,
): Json {
  // Written out, not spread: it is made for each event of a stream.
  const {created_s: created, provider} = context
  const id = identity.id || `${ID_PREFIX['chat.completion.chunk']}${context.call_id}`
  const model = identity.model || context.model
  return {
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    provider,
    choices: [{index, delta, logprobs: null, finish_reason}],
  }
}

/** The chunk with usage and no choices, as OpenAI ends a stream with `include_usage`. */
export function usageChunk(context: TranslationContext, identity: Named, usage: Usage): Json {
  return {...chunk(context, identity, {}), choices: [], usage: usageIn(usage)}
}

/** Usage as OpenAI tells it: the prompt with its cached part, the completion with its reasoning. */
export function usageIn(usage: Usage): Json {
  const {prompt_tokens, completion_tokens, total_tokens} = totals(usage)
  const written = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_tokens_details: {
      cached_tokens: usage.cache_read_tokens + usage.audio_cache_read_tokens + usage.image_cache_read_tokens,
      ...(usage.audio_in_tokens ? {audio_tokens: usage.audio_in_tokens} : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.output_reasoning_tokens,
      ...(usage.audio_out_tokens ? {audio_tokens: usage.audio_out_tokens} : {}),
    },
    ...(written ? {cache_read_input_tokens: usage.cache_read_tokens, cache_creation_input_tokens: written} : {}),
  }
}

/** The body of an error, OpenAI-shaped, as it leaves for the client. */
export function errorBody(context: Pick<TranslationContext, 'provider'>, fault: ProviderFault): Json {
  return {
    error: {message: fault.message, type: fault.type, param: fault.param, code: fault.code},
    provider: context.provider,
  }
}

/** True when the client requested usage in the stream; only those clients get the usage chunk. */
export function asksUsage(request: Json): boolean {
  const options = request.stream_options
  return typeof options === 'object' && options !== null && (options as Json).include_usage === true
}
