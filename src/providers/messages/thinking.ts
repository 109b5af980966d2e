import {object} from '../../base/json-object.ts'
import type {Json} from '../translation.ts'

/** Up to so many tokens of thinking an effort is `low`, then `medium`, then `high`. */
const LOW_TOKENS = 4096
const MEDIUM_TOKENS = 16_384
/** Models of OpenAI that take no effort: the client's is dropped. */
const WITHOUT_EFFORT = /(?:^|\/)(?:gpt-3\.5|gpt-4|chatgpt-)/

/**
 * An effort for a budget of Anthropic's `thinking`; undefined where it leaves the amount to the model, or wants none.
 */
export function effortOf(thinking: Json): 'low' | 'medium' | 'high' | undefined {
  const {type, budget_tokens} = thinking
  if (type !== 'enabled' || typeof budget_tokens !== 'number') return undefined
  return budget_tokens <= LOW_TOKENS ? 'low' : budget_tokens <= MEDIUM_TOKENS ? 'medium' : 'high'
}

/**
 * A chat request of a Messages client for providers that know OpenAI's `reasoning_effort` and not Anthropic's
 * `thinking`.
 */
export function withEffort({thinking, ...chat}: Json): Json {
  if (thinking === undefined) return chat
  const effort =
    typeof chat.model === 'string' && WITHOUT_EFFORT.test(chat.model) ? undefined : effortOf(object(thinking))
  return effort === undefined || chat.reasoning_effort !== undefined ? chat : {...chat, reasoning_effort: effort}
}
