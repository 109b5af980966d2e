import {isObject, object} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {emptyUsage, UNIT, type Usage} from '../../schema/usage.ts'
import {INFORM_EVERYWHERE} from '../informative-members.ts'
import {tierWord} from '../service-tiers.ts'
import {knownMembers, withUnknown} from '../unknown-members.ts'

/** A usage object as a provider wrote it, or several merged (`mergeSaid`). Nothing in it is trusted. */
export type RawObject = Readonly<Record<string, unknown>>

/** No call uses a trillion of anything; a larger claim is not counted. Sums of such counts stay exact. */
const MOST = 1e12
const MAX_KEYS = 64
const IMAGES: ReadonlySet<EndpointName> = new Set(['imageGenerate', 'imageEdit', 'imageVariation'])

/**
 * Reads usage as disjoint classes; null when it has no number we know. Reads the shapes of OpenAI (chat, responses,
 * images, audio), Anthropic (input apart from cache) and Cohere (`billed_units`), with the members that DeepSeek,
 * Moonshot, xAI, Perplexity, OpenRouter, Mistral and others add. A part never counts for more than the whole it is part
 * of.
 */
export function readUsage(raw: RawObject, endpoint: EndpointName): Usage | null {
  const usage = emptyUsage()
  const billed = object(raw.billed_units)
  if (hasImpossible(raw) || (raw.billed_units !== undefined && hasImpossible(billed))) return null
  const counted = isAnthropic(raw, endpoint)
    ? readAnthropic(raw, usage)
    : readOpenAi(
        raw.prompt_tokens === undefined && raw.input_tokens === undefined ? {...raw, ...billed} : raw,
        endpoint,
        usage,
      )
  const has_units = readUnits(raw, billed, usage)
  if (!counted && !has_units) return null
  readMode(raw, usage)
  return withUnknown(usage, raw, KNOWN)
}

/** All that is read below, and what informs everywhere. */
const KNOWN = knownMembers(`${INFORM_EVERYWHERE}
  prompt_tokens completion_tokens input_tokens output_tokens total_tokens
  cached_tokens prompt_cache_hit_tokens cache_read_input_tokens cache_creation_input_tokens reasoning_tokens
  cache_creation.ephemeral_1h_input_tokens cache_creation.ephemeral_5m_input_tokens output_tokens_details.thinking_tokens
  ${['prompt_tokens_details', 'input_tokens_details', 'input_token_details'].map(inputParts).join(' ')}
  ${['completion_tokens_details', 'output_tokens_details', 'output_token_details'].map(outputParts).join(' ')}
  billed_units.input_tokens billed_units.output_tokens billed_units.search_units tokens.input_tokens tokens.output_tokens search_units rerank_units
  ${['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].map(name => `iterations.${name}`).join(' ')}
  iterations.cache_creation.ephemeral_1h_input_tokens iterations.cache_creation.ephemeral_5m_input_tokens
  server_tool_use.web_search_requests num_search_queries num_sources_used citation_tokens seconds prompt_audio_seconds pages_processed
  server_side_tool_usage_details.web_search_calls server_side_tool_usage_details.file_search_calls
  server_side_tool_usage_details.x_search_calls server_side_tool_usage_details.code_interpreter_calls`)

function inputParts(parts: string): string {
  const names = [
    'cached_tokens',
    'cache_write_tokens',
    'cache_creation_tokens',
    'cache_creation_input_tokens',
    'audio_tokens',
  ]
  const cached = ['audio_tokens', 'image_tokens'].map(name => `cached_tokens_details.${name}`)
  return [...names, 'image_tokens', ...cached].map(name => `${parts}.${name}`).join(' ')
}

function outputParts(parts: string): string {
  return ['reasoning_tokens', 'audio_tokens', 'image_tokens'].map(name => `${parts}.${name}`).join(' ')
}

/** Of a whole input or output. Written out: each is looked for in every report. */
function hasImpossible({prompt_tokens, input_tokens, completion_tokens, output_tokens}: RawObject): boolean {
  return (
    isImpossible(prompt_tokens) ||
    isImpossible(input_tokens) ||
    isImpossible(completion_tokens) ||
    isImpossible(output_tokens)
  )
}

const CONTEXTS: ReadonlySet<string> = new Set(['low', 'medium', 'high'])
/** The mode in which it was served, by the provider's name. */
function readMode({service_tier, speed}: RawObject, usage: Usage) {
  const tier = tierWord(service_tier)
  const pace = tierWord(speed)
  if (tier !== undefined) usage.tier = tier
  if (pace !== undefined) usage.speed = pace
}

/**
 * `later` over `earlier`, by field: what is null or absent stays what it was, and so does a count that is greater,
 * since counts of a stream are cumulative. One level of objects is merged as well. However many events of
 * a stream tell other fields, so many are kept, for each event copies them.
 */
export function mergeRawUsage(earlier: RawObject | null, later: unknown): RawObject | null {
  if (!isObject(later)) return earlier
  if (earlier === null && isWhole(later)) return later
  const before_it =
    earlier !== null && BEGUN in earlier && later.output_tokens === 0 ? {...earlier, output_tokens: null} : earlier
  const all = merged(before_it ?? NOTHING, later, (before, value) =>
    isObject(value) && isObject(before) ? merged(before, value, greater) : greater(before, value),
  )
  return BEGUN in later ? {...all, [BEGUN]: true} : all
}

const BEGUN = Symbol('begun')

/**
 * Usage of a message that has just begun (`message_start`). Its output is a first guess, a token or some: a later
 * report that there was none, as of a refusal, takes its place.
 */
export function begunUsage(usage: unknown): unknown {
  return isObject(usage) ? {...usage, [BEGUN]: true} : usage
}

function merged(earlier: RawObject, later: RawObject, put: (before: unknown, value: unknown) => unknown): RawObject {
  const all: Record<string, unknown> = Object.create(null)
  let keys = 0
  for (const key in earlier) {
    if (++keys > MAX_KEYS) break
    all[key] = earlier[key]
  }
  let looked = 0
  for (const key in later) {
    if (++looked > MAX_KEYS) break
    const value = later[key]
    if (value === null || (!(key in all) && ++keys > MAX_KEYS)) continue
    all[key] = put(all[key], value)
  }
  return all
}

function greater(before: unknown, value: unknown): unknown {
  if (typeof before !== 'number' || typeof value !== 'number' || isImpossible(value)) return value
  return isImpossible(before) ? before : Math.max(before, value)
}

const NOTHING: RawObject = Object.freeze({})

/** True when merging would change nothing: most answers report their usage at once. */
function isWhole(raw: RawObject): boolean {
  let keys = 0
  for (const key in raw) if (raw[key] === null || ++keys > MAX_KEYS) return false
  return true
}

/**
 * A number as a count; null for what cannot be one: negative, not finite, absurdly large, no number. A started unit is
 * a whole one.
 */
export function count(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= MOST ? Math.ceil(value) : null
}

/**
 * True for what is there and is no count: below zero, absurdly large, no number. A report whose whole input or output
 * is such is not believed.
 */
export function isImpossible(value: unknown): boolean {
  return value !== undefined && value !== null && count(value) === null
}

/**
 * Anthropic counts its input without what was read from and written to the cache; OpenAI, in the same words, with it.
 */
function isAnthropic(raw: RawObject, endpoint: EndpointName): boolean {
  if (raw.prompt_tokens !== undefined) return false
  return endpoint === 'messages' || ANTHROPIC_KEYS.some(key => raw[key] !== undefined)
}
const ANTHROPIC_KEYS = ['cache_creation_input_tokens', 'cache_read_input_tokens', 'cache_creation']

/** Source: docs.anthropic.com, Messages, usage; `cache_creation` splits the writes by lifetime. */
function readAnthropic(raw: RawObject, usage: Usage): boolean {
  const input = count(raw.input_tokens)
  const output = count(raw.output_tokens)
  const creation = object(raw.cache_creation)
  const written_1h = count(creation.ephemeral_1h_input_tokens) ?? 0
  const written_5m = count(creation.ephemeral_5m_input_tokens) ?? 0
  const written = Math.max(count(raw.cache_creation_input_tokens) ?? 0, written_1h + written_5m)
  usage.input_uncached_tokens = input ?? 0
  usage.cache_read_tokens = count(raw.cache_read_input_tokens) ?? 0
  usage.cache_write_1h_tokens = written_1h
  usage.cache_write_5m_tokens = written - written_1h
  // Thinking is a part of `output_tokens`, which stays the whole.
  usage.output_reasoning_tokens = Math.min(count(object(raw.output_tokens_details).thinking_tokens) ?? 0, output ?? 0)
  usage.output_text_tokens = (output ?? 0) - usage.output_reasoning_tokens
  return input !== null || output !== null
}

function readOpenAi(raw: RawObject, endpoint: EndpointName, usage: Usage): boolean {
  const input = count(raw.prompt_tokens) ?? count(raw.input_tokens)
  const output = count(raw.completion_tokens) ?? count(raw.output_tokens)
  const total = count(raw.total_tokens)
  // Embedders and rerankers (Voyage, Jina) tell the total alone: there is nothing but input.
  if (input === null && output === null && total === null) return false
  const rest = input === null || output === null || total === null ? 0 : Math.max(0, total - input - output)
  const beside = rest > 0 ? audioBeside(raw, rest) : 0
  readInput(raw, (input ?? (output === null ? total! : 0)) + beside, usage)
  const untold = rest - beside
  const has_rest = readOutput(raw, output ?? 0, untold, endpoint, usage)
  if (untold > 0 && !has_rest) usage.remainder = untold
  return true
}

/**
 * Sound of the input that is beside `prompt_tokens`, as the total shows: Mistral's transcriptions report 3, 375 of
 * audio, 1 of output, and 379 in all (pydantic/genai-prices PR 591, a live answer).
 */
function audioBeside(raw: RawObject, rest: number): number {
  return count(object(raw.prompt_tokens_details).audio_tokens) === rest ? rest : 0
}

/**
 * `whole` includes the cached, audio and image parts. Sources: OpenAI usage objects; DeepSeek, Moonshot, OpenRouter for
 * their own names.
 */
function readInput(raw: RawObject, whole: number, usage: Usage) {
  const parts = object(raw.prompt_tokens_details ?? raw.input_tokens_details ?? raw.input_token_details)
  const cached_parts = object(parts.cached_tokens_details)
  const cached = first(parts.cached_tokens, raw.prompt_cache_hit_tokens, raw.cached_tokens, raw.cache_read_input_tokens)
  const written = first(
    parts.cache_write_tokens,
    parts.cache_creation_tokens,
    parts.cache_creation_input_tokens,
    raw.cache_creation_input_tokens,
  )
  const cached_audio = count(cached_parts.audio_tokens) ?? 0
  const cached_image = count(cached_parts.image_tokens) ?? 0
  const take = taker(whole)
  usage.audio_cache_read_tokens = take(cached_audio)
  usage.image_cache_read_tokens = take(cached_image)
  usage.cache_read_tokens = take(cached - cached_audio - cached_image)
  usage.cache_write_5m_tokens = take(written)
  usage.audio_in_tokens = take((count(parts.audio_tokens) ?? 0) - cached_audio)
  usage.image_in_tokens = take((count(parts.image_tokens) ?? 0) - cached_image)
  usage.input_uncached_tokens = take(Infinity)
}

/**
 * `whole` includes the reasoning, audio and image parts; `untold` is what the total has beyond input and output. True
 * where that is the reasoning which the report names: xAI's completion leaves it out, and its total has it.
 */
function readOutput(raw: RawObject, whole: number, untold: number, endpoint: EndpointName, usage: Usage): boolean {
  const parts = object(raw.completion_tokens_details ?? raw.output_tokens_details ?? raw.output_token_details)
  const reasoning = count(parts.reasoning_tokens)
  // Perplexity's deep research reports reasoning beside the completion and outside the total, and charges it apart.
  const beside = reasoning === null ? (count(raw.reasoning_tokens) ?? 0) : 0
  const is_apart = untold > 0 && reasoning === untold
  const take = taker(is_apart ? whole + untold : whole)
  usage.output_reasoning_tokens = take(is_apart ? untold : (reasoning ?? 0)) + beside
  usage.audio_out_tokens = take(count(parts.audio_tokens) ?? (endpoint === 'createSpeech' ? Infinity : 0))
  usage.image_out_tokens = take(count(parts.image_tokens) ?? (IMAGES.has(endpoint) ? Infinity : 0))
  usage.output_text_tokens = take(Infinity)
  return is_apart
}

/** Units other than tokens. */
function readUnits(raw: RawObject, billed: RawObject, usage: Usage): boolean {
  let has_units = false
  const put = (unit: string, amount: number) => {
    if (amount === 0) return
    usage.units[unit] = amount
    has_units = true
  }
  const tools = object(raw.server_side_tool_usage_details) // xAI
  put(
    UNIT.web_search,
    first(
      object(raw.server_tool_use).web_search_requests,
      tools.web_search_calls,
      raw.num_search_queries,
      raw.num_sources_used,
    ),
  )
  put(UNIT.file_search, first(tools.file_search_calls))
  put(UNIT.x_search, first(tools.x_search_calls))
  put(UNIT.code_execution, first(tools.code_interpreter_calls))
  // Perplexity charges a request by how much of the web it looked at.
  if (typeof raw.search_context_size === 'string' && CONTEXTS.has(raw.search_context_size)) {
    put(`web_search_${raw.search_context_size}_context`, 1)
  }
  put(UNIT.citation_tokens, first(raw.citation_tokens))
  put(UNIT.search_units, first(raw.search_units, billed.search_units, raw.rerank_units))
  put(UNIT.audio_seconds, first(raw.seconds, raw.prompt_audio_seconds))
  put(UNIT.pages, first(raw.pages_processed))
  return has_units
}

/** Hands out shares of `whole`, none below 0 and together never more than it. */
function taker(whole: number): (share: number) => number {
  let left = whole
  return share => {
    const taken = Math.max(0, Math.min(share, left))
    left -= taken
    return taken
  }
}

/** The first of `values` that is a count, else 0. */
function first(...values: readonly unknown[]): number {
  for (const value of values) {
    const found = count(value)
    if (found !== null) return found
  }
  return 0
}
