import {storedWord} from '../base/stored-text.ts'

/**
 * Members of usage that no reader needs, for nothing is charged by them: totals, durations, parts of other counts,
 * money that the vendor tells. By kind of provider; `all` for OpenAI's and Anthropic's words, which many kinds speak. A
 * path that ends in `*` stands for all that is inside it. Every other number that no reader knows is one that may cost.
 */
const INFORMATIVE: Readonly<Record<string, string>> = {
  // Remainders of a whole, and parts of the completion. Source: OpenAI API reference, usage; @openai types:
  // CompletionUsage. Fetches cost their tokens alone. Source: Anthropic, web fetch tool, usage and pricing.
  all: `
    prompt_tokens_details.text_tokens prompt_tokens_details.cached_tokens_details.text_tokens
    input_tokens_details.text_tokens input_tokens_details.cached_tokens_details.text_tokens
    input_token_details.text_tokens input_token_details.cached_tokens_details.text_tokens
    completion_tokens_details.text_tokens output_tokens_details.text_tokens output_token_details.text_tokens
    completion_tokens_details.accepted_prediction_tokens completion_tokens_details.rejected_prediction_tokens
    server_tool_use.web_fetch_requests`,
  // Searches are charged by the items of the answer. Source: openai, Response.ToolUsage; OpenAI API pricing, web
  // search.
  openai: 'tool_usage.web_search.num_requests',
  'azure-openai': 'tool_usage.web_search.num_requests',
  // How long it took, in seconds. Source: Groq API reference, chat completions.
  groq: 'queue_time prompt_time completion_time total_time',
  // Money. Source: openrouter.ai/docs, usage accounting.
  openrouter: 'cost cost_details.*',
  // Money. Source: docs.perplexity.ai, pricing, "cost" of usage.
  'perplexity-ai': 'cost.*',
  // Money, in 10^-10 dollars; the sum of the tools beside it. Source: docs.x.ai/developers/cost-tracking; docs.x.ai,
  // tools, usage.
  'x-ai': 'cost_in_usd_ticks num_server_side_tools_used',
  // Money. Source: deepinfra.com/docs, OpenAI-compatible API, usage.
  deepinfra: 'estimated_cost',
  // The tokens of the prompt that were not in the cache. Source: api-docs.deepseek.com, context caching.
  deepseek: 'prompt_cache_miss_tokens',
  // The size of a document, and its cached part beside the counted one. Source: docs.mistral.ai, OCR and chat
  // completion, UsageInfo.
  'mistral-ai': 'doc_size_bytes num_cached_tokens',
  // A part of the prompt: what was written into it, without the history. Source: @google/genai, UsageMetadata.
  google: 'initialPromptTokenCount initial_input_tokens initialInputTokens',
  'vertex-ai': 'initialPromptTokenCount initial_input_tokens initialInputTokens',
}

/** Those of every kind: readers of OpenAI's and Anthropic's words pass over them. */
export const INFORM_EVERYWHERE = INFORMATIVE.all!
const ALL = pathsOf(INFORM_EVERYWHERE)
const BY_KIND: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(INFORMATIVE).map(([kind, paths]) => [kind, pathsOf(paths)]),
)

/** Of one entry, and the bytes of a path. */
const MAX_NAMED = 8
const MAX_PATH_BYTES = 64
const NONE: readonly string[] = []

/** Those of `paths` that may cost at a kind of provider, as an entry names them: at most 8, of 64 bytes each. */
export function membersThatMayCost(kind: string, paths: readonly string[]): readonly string[] {
  const rest = paths.filter(path => !isInformative(kind, path))
  return rest.length === 0 ? NONE : [...new Set(rest.slice(0, MAX_NAMED).map(path => storedWord(path, MAX_PATH_BYTES)))]
}

/** True when the table has a member. */
export function isInformative(kind: string, path: string): boolean {
  const own = BY_KIND.get(kind)
  return informs(ALL, path) || (own !== undefined && informs(own, path))
}

function informs(paths: ReadonlySet<string>, path: string): boolean {
  if (paths.has(path)) return true
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1))
    if (paths.has(`${path.slice(0, dot)}.*`)) return true
  return false
}

function pathsOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}
