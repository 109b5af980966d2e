import {count} from '../openai/usage.ts'
import type {Upstream} from '../operation.ts'
import type {Json} from '../translation.ts'

/** The endpoint whose requests a counter reads. */
export type CountedEndpoint = 'messages' | 'chatComplete' | 'complete'

/**
 * A route of an engine that counts a prompt with the model's own tokenizer and chat template, and does not run the
 * model.
 */
export interface PromptCounter {
  readonly endpoint: CountedEndpoint
  readonly path: string
  /** Its path is beside `/v1`, whatever the base URL ends in. */
  readonly is_beside_v1?: true
  /** Its body, made of the members that it reads; null for a prompt that it cannot count. */
  body(request: Json): Json | null
  /** The count in its answer; null where the answer has none. */
  count(answer: Json): number | null
}

const MESSAGES: PromptCounter = {
  endpoint: 'messages',
  path: '/messages/count_tokens',
  body: request => members(request, ['messages', 'system', 'tools', 'tool_choice', 'thinking']),
  count: ({input_tokens}) => count(input_tokens),
}
const CHAT_MEMBERS = ['messages', 'tools', 'tool_choice', 'response_format', 'chat_template_kwargs', 'reasoning_effort']

/** llama.cpp's server (its README: POST /v1/messages/count_tokens, /v1/chat/completions/input_tokens, /tokenize). */
export const LLAMA_CPP: readonly PromptCounter[] = [
  MESSAGES,
  {
    endpoint: 'chatComplete',
    path: '/chat/completions/input_tokens',
    body: request => members(request, CHAT_MEMBERS),
    count: MESSAGES.count,
  },
  {
    endpoint: 'complete',
    path: '/tokenize',
    is_beside_v1: true,
    body: ({prompt}) => (typeof prompt === 'string' ? {content: prompt, add_special: true} : null),
    count: ({tokens}) => (Array.isArray(tokens) ? tokens.length : null),
  },
]

/** vLLM (its documentation: Tokenizer API; Anthropic's Messages API). */
export const VLLM: readonly PromptCounter[] = [
  MESSAGES,
  {
    endpoint: 'chatComplete',
    path: '/tokenize',
    is_beside_v1: true,
    body: request => ({
      ...members(request, ['messages', 'tools', 'chat_template_kwargs']),
      add_generation_prompt: true,
    }),
    count: answer => count(answer.count),
  },
  {
    endpoint: 'complete',
    path: '/tokenize',
    is_beside_v1: true,
    body: ({prompt}) => (typeof prompt === 'string' ? {prompt} : null),
    count: answer => count(answer.count),
  },
]

/**
 * How many tokens the prompt of a request comes to, by the first counter for its words that answers within `within_ms`;
 * null where none does. Not every version of an engine has each of them.
 */
export async function countPrompt(
  counters: readonly PromptCounter[],
  {endpoint, request, model, within_ms}: {endpoint: CountedEndpoint; request: Json; model: string; within_ms: number},
  upstream: Upstream,
): Promise<number | null> {
  for (const counter of counters) {
    const body = counter.endpoint === endpoint ? counter.body(request) : null
    if (!body) continue
    const found = await answerOf(counter, {...(model && {model}), ...body}, within_ms, upstream)
    if (found !== null) return found
  }
  return null
}

/**
 * Null where it has no such route, does not count this prompt, is silent or away: what it answers decides nothing but
 * the count.
 */
async function answerOf(
  counter: PromptCounter,
  body: Json,
  within_ms: number,
  upstream: Upstream,
): Promise<number | null> {
  try {
    const {path, endpoint, is_beside_v1} = counter
    const reply = await upstream.ask({method: 'POST', path, ...(!is_beside_v1 && {endpoint}), body, within_ms})
    return counter.count(await reply.json())
  } catch {
    return null
  }
}

function members(request: Json, names: readonly string[]): Json {
  return Object.fromEntries(names.filter(name => request[name] !== undefined).map(name => [name, request[name]]))
}
