import {object} from '../../base/json-object.ts'
import {totals, type Usage} from '../../schema/usage.ts'
import {usageIn} from '../chat.ts'
import {finishOf} from '../messages/finish.ts'
import {ChatFollower, followWhole} from '../messages/follower.ts'
import type {Json, ProviderFault, TranslatedResponse, TranslationContext} from '../translation.ts'
import {Item} from './item.ts'

/**
 * A chat completion as a response object (OpenAI API reference, the response object). Throws `InvalidResponseFault` for
 * what is none.
 */
export function toResponse(completion: Json, context: TranslationContext, request: Json): Json {
  const {follower, steps} = followWhole(completion, context)
  const items: Item[] = []
  for (const step of steps) {
    if (step.does === 'open') items.push(new Item(step.block, items.length, follower))
    else if (step.does === 'more') items.at(-1)?.more(step.text)
    else items.at(-1)?.close(step.signature)
  }
  return endedResponse(follower, context, request, items)
}

/** The response as far as it is: what its events carry before the end. */
export function openResponse(follower: ChatFollower, context: TranslationContext, request: Json): Json {
  return responseOf(
    follower,
    context,
    request,
    {status: 'in_progress', error: null, incomplete_details: null},
    [],
    null,
  )
}

/** The response at its end: whole, or stopped by the limit or a filter. */
export function endedResponse(
  follower: ChatFollower,
  context: TranslationContext,
  request: Json,
  items: readonly Item[],
): Json {
  const reason = incompleteReason(follower)
  const state = {status: reason ? 'incomplete' : 'completed', error: null, incomplete_details: reason ? {reason} : null}
  return responseOf(follower, context, request, state, outputOf(items, reason !== null), follower.usage)
}

export function failedResponse(
  follower: ChatFollower,
  context: TranslationContext,
  request: Json,
  items: readonly Item[],
  error: Json,
): Json {
  const state = {status: 'failed', error, incomplete_details: null}
  return responseOf(follower, context, request, state, outputOf(items, true), follower.usage)
}

/** A response that failed before anything of it was sent. Text that came until then is no output. */
export function unsentFailure(
  fault: ProviderFault,
  context: TranslationContext,
  request: Json,
  {usage, model}: Pick<TranslatedResponse, 'usage' | 'model'>,
): Json {
  const follower = new ChatFollower(context)
  if (model !== null) follower.model = model
  const state = {status: 'failed', error: errorOf(fault), incomplete_details: null}
  return responseOf(follower, context, request, state, [], usage)
}

/** The error of a failed response. */
export function errorOf(fault: ProviderFault): Json {
  return {code: codeOf(fault), message: fault.message}
}

/** Items in the order of the output; of an answer that broke off the last one is the incomplete one. */
function outputOf(items: readonly Item[], is_cut: boolean): readonly Json[] {
  return items.map((item, at) => item.json(is_cut && at === items.length - 1 ? 'incomplete' : 'completed'))
}

export function incompleteReason({finish_reason}: ChatFollower): string | null {
  const finish = finishOf(finish_reason)
  return finish === 'length' ? 'max_output_tokens' : finish === 'content_filter' ? 'content_filter' : null
}

function responseOf(
  follower: ChatFollower,
  context: TranslationContext,
  request: Json,
  state: {readonly status: string; readonly error: Json | null; readonly incomplete_details: Json | null},
  output: readonly Json[],
  usage: Usage | null,
): Json {
  const {effort = null, summary = null} = object(request.reasoning)
  return {
    id: follower.id.startsWith('resp_') ? follower.id : `resp_${follower.id}`,
    object: 'response',
    created_at: context.created_s,
    ...state,
    background: false,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.metadata ?? {},
    model: follower.model,
    output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    provider: context.provider,
    reasoning: {effort, summary},
    store: false,
    temperature: request.temperature ?? null,
    text: request.text ?? {format: {type: 'text'}},
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request.top_p ?? null,
    truncation: 'disabled',
    usage: usage && responseUsage(usage),
    user: request.user ?? null,
  }
}

/** Usage in the Responses API's words. */
function responseUsage(usage: Usage): Json {
  const {prompt_tokens_details, completion_tokens_details, cache_creation_input_tokens = 0} = usageIn(usage)
  const {prompt_tokens, completion_tokens, total_tokens} = totals(usage)
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: {
      cached_tokens: object(prompt_tokens_details).cached_tokens,
      cache_write_tokens: cache_creation_input_tokens,
    },
    output_tokens: completion_tokens,
    output_tokens_details: {reasoning_tokens: object(completion_tokens_details).reasoning_tokens},
    total_tokens,
  }
}

/** The error code of a failed response: the API knows few, of which two are not about the request. */
function codeOf({type, code}: ProviderFault): string {
  return [type, code].some(word => word !== null && /rate_limit|quota|throttl|^429$/i.test(word))
    ? 'rate_limit_exceeded'
    : 'server_error'
}
