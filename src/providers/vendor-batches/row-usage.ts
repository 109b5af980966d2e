import {isObject} from '../../base/json-object.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'
import {withTools} from '../openai/reply.ts'
import type {Json} from '../translation.ts'
import {vendorModel} from '../vendor-operations/facts.ts'
import {rawUsageOf, usageOf} from '../vendor-operations/raw-usage.ts'
import {amount} from './words.ts'

/** What the reply in a row used, in the vendor's words. */
export interface RowUsage {
  readonly usage: Usage
  readonly model: string | null
}

/**
 * The usage of a reply that a row holds; null where it tells none that can be read. A number in it that no reader knows is a unit of its own,
 * `usage.name`: it has no price until an operator gives it one, and so it is flagged.
 */
export function usageOfRow(reply: Json): RowUsage | null {
  const report = rawUsageOf(reply)
  const usage = report ? usageOf(report) : vectorUsage(reply)
  if (!usage) return null
  const used = withTools(usage, reply)
  const members = report && (report.words === 'openai' ? report.raw : report.words === 'gemini' ? report.raw.metadata : report.raw.usage)
  for (const [path, count] of unknownMembers(members)) used.units[path] = count
  return {usage: used, model: vendorModel(reply)}
}

/** Gemini tells the tokens of a vector beside it. */
function vectorUsage({embedding, tokenCount}: Json): Usage | null {
  const tokens = amount(tokenCount)
  return isObject(embedding) && tokens !== null ? {...emptyUsage(), input_uncached_tokens: tokens} : null
}

/** Numbers that a reader counts, or that repeat or explain those (the vendors' API references: usage objects). */
const KNOWN: ReadonlySet<string> = new Set(
  `input_tokens output_tokens prompt_tokens completion_tokens total_tokens cache_creation_input_tokens cache_read_input_tokens
  ephemeral_5m_input_tokens ephemeral_1h_input_tokens web_search_requests web_fetch_requests thinking_tokens cached_tokens audio_tokens
  text_tokens image_tokens reasoning_tokens accepted_prediction_tokens rejected_prediction_tokens cache_write_tokens cache_creation_tokens
  prompt_cache_hit_tokens prompt_cache_miss_tokens prompt_audio_seconds seconds pages_processed doc_size_bytes search_units citation_tokens
  num_search_queries num_cached_tokens video_tokens
  promptTokenCount candidatesTokenCount totalTokenCount initialPromptTokenCount thoughtsTokenCount cachedContentTokenCount toolUsePromptTokenCount tokenCount
  inputTokens outputTokens totalTokens cacheReadInputTokens cacheWriteInputTokens cacheReadInputTokenCount cacheWriteInputTokenCount`.split(
    /\s+/,
  ),
)
/** How long it took, and money that the vendor tells. */
const INFORMATIVE = /(?:_time|_ms|duration|cost|_cost)$/i
const UNIT_NAME = /^[\w.-]{1,64}$/
const MAX_UNKNOWN = 8
const MAX_NODES = 256
const MAX_DEPTH = 4

function unknownMembers(usage: unknown): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const open = [{value: usage, path: 'usage', depth: 0}]
  for (let nodes = 0; open.length > 0 && nodes < MAX_NODES; nodes++) {
    const {value, path, depth} = open.pop()!
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) continue
    for (const [name, member] of Object.entries(value).slice(0, MAX_NODES)) {
      const at = Array.isArray(value) ? path : `${path}.${name}`
      if (typeof member === 'object') open.push({value: member, path: at, depth: depth + 1})
      if (typeof member !== 'number' || member === 0 || KNOWN.has(name) || INFORMATIVE.test(name)) continue
      const count = Math.ceil(Math.abs(member))
      if (found.size < MAX_UNKNOWN && UNIT_NAME.test(at) && Number.isSafeInteger(count) && count <= MOST) found.set(at, count)
    }
  }
  return found
}

/** As `count` of the readers: sums of such counts stay exact. */
const MOST = 1e12
