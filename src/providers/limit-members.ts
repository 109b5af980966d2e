import type {Provider} from './provider.ts'
import type {Json} from './translation.ts'

/**
 * A chat that another client's words came to, with its limit under both of its names: llama-cpp-python and Ollama read
 * `max_tokens` alone, others the newer one.
 */
export function withLimitMembers({is_engine}: Pick<Provider, 'is_engine'>, chat: Json): Json {
  const limit = chat.max_completion_tokens ?? chat.max_tokens
  if (!is_engine || limit === undefined || limit === null) return chat
  return {...chat, max_tokens: limit, max_completion_tokens: limit}
}
