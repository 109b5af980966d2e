import type {FinishReason} from '../chat.ts'

/**
 * Finish reasons of every provider, lower case, in OpenAI's words (data-plane digest 17). A word that is not here is a
 * `stop`.
 */
const FINISH: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
  refusal: 'content_filter',
  safety: 'content_filter',
  blocklist: 'content_filter',
  prohibited_content: 'content_filter',
  spii: 'content_filter',
  language: 'content_filter',
  image_safety: 'content_filter',
}

/** A finish reason, OpenAI's or a provider's own (`strict_openai_compliance` off), in OpenAI's words. */
export function finishOf(reason: string): FinishReason {
  const word = reason.toLowerCase()
  return Object.hasOwn(FINISH, word) ? FINISH[word]! : 'stop'
}
