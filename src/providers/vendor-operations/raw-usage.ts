import {isObject, list, object} from '../../base/json-object.ts'
import {emptyUsage, imageUnit, type Usage} from '../../schema/usage.ts'
import {type UsageByHop, usageByHop} from '../anthropic/hops.ts'
import type {Refusals} from '../anthropic/refusals.ts'
import {readUsage as readBedrock} from '../bedrock/usage.ts'
import {readUsage as readGemini, searchesIn} from '../gemini/usage.ts'
import {rawUsageIn} from '../openai/reply.ts'
import {count, isImpossible, mergeRawUsage, type RawObject, readUsage as readOpenAi} from '../openai/usage.ts'
import {readInteraction} from './interactions.ts'

/** A report of usage in the words of one vendor, as a reply or an event holds it. */
export interface RawUsage {
  readonly words: UsageWords
  readonly raw: RawObject
}

export type UsageWords = keyof typeof READERS

/** A picture that a model made is a unit; no request makes more. */
const MAX_PICTURES = 1000

/**
 * The report in a reply or an event, by the member that only its vendor has; null where there is none. Sources: the
 * vendors' API references; Ollama docs/api.md; llama.cpp tools/server/README.md.
 */
export function rawUsageOf(reply: RawObject): RawUsage | null {
  // Cloudflare puts what a model answers into an envelope.
  const {result} = reply
  const json = reply.usage === undefined && isObject(result) && isObject(result.usage) ? result : reply
  const response = object(json.response)
  const metadata = json.usageMetadata ?? response.usageMetadata
  if (isObject(metadata))
    return {words: 'gemini', raw: {metadata, searches: searchesOf(json.usageMetadata ? json : response)}}
  const usage = json.usage ?? object(json.interaction).usage ?? stepUsage(json)
  if (isObject(usage)) {
    if (typeof usage.total_input_tokens === 'number' || typeof usage.totalInputTokens === 'number')
      return {words: 'interactions', raw: {usage, tier: object(json.interaction).service_tier ?? json.service_tier}}
    if (usage.inputTokens !== undefined || usage.outputTokens !== undefined)
      return {words: 'converse', raw: {usage, tier: json.serviceTier}}
  }
  const found = rawUsageIn(json) ?? cohereUsage(json, response)
  if (found) return {words: 'openai', raw: found.tokens ? withTokens(found) : found}
  const metrics = json['amazon-bedrock-invocationMetrics']
  if (isObject(metrics)) return counts(metrics.inputTokenCount, metrics.outputTokenCount, metrics)
  if (json.prompt_eval_count !== undefined || json.eval_count !== undefined)
    return counts(json.prompt_eval_count, json.eval_count)
  if (json.tokens_evaluated !== undefined) return counts(json.tokens_evaluated, json.tokens_predicted)
  if (json.prompt_token_count !== undefined) return counts(json.prompt_token_count, json.generation_token_count)
  if (json.inputTextTokenCount !== undefined) return counts(json.inputTextTokenCount, titanOutput(json))
  const details = object(json.details)
  if (details.generated_tokens !== undefined) return counts(list(details.prefill).length, details.generated_tokens)
  return predictionsOf(json)
}

/** The usage of an interaction so far, from its steps (@google/genai, StepDeltaMetadata, StepStop). */
function stepUsage(json: RawObject): unknown {
  return json.total_usage ?? object(json.metadata).total_usage ?? json.step_usage
}

/** A later report of one stream over the earlier ones. Counts are cumulative: a smaller one replaces nothing. */
export function laterUsage(earlier: RawUsage | null, later: RawUsage | null): RawUsage | null {
  if (!later || !earlier) return later ?? earlier
  if (later.words !== earlier.words) {
    // Bedrock repeats in its own format what the model's vendor counted in more detail.
    return earlier.words === 'openai' ? earlier : later
  }
  if (later.words === 'openai') return {words: 'openai', raw: mergeRawUsage(earlier.raw, later.raw)!}
  return sizeOf(later) >= sizeOf(earlier) ? later : earlier
}

/** The same, with the parts that are charged by themselves. */
export function usageByHopOf(report: RawUsage | null, refusals: Refusals | null): UsageByHop {
  const usage = report && usageOf(report)
  return report?.words === 'openai' ? usageByHop(report.raw, usage, refusals) : {usage, hops: null}
}

/** In disjoint classes; null where it counts nothing. */
export function usageOf({words, raw}: RawUsage): Usage | null {
  return READERS[words](raw)
}

const READERS = {
  gemini: ({metadata, searches}: RawObject) => readGemini(metadata, typeof searches === 'number' ? searches : 0),
  interactions: ({usage, tier}: RawObject) => readInteraction(object(usage), tier),
  converse: ({usage, tier}: RawObject) => readBedrock(usage, tier),
  openai: (raw: RawObject) => readOpenAi(raw, 'proxy'),
  counts: readCounts,
  pictures: ({pictures}: RawObject) => ({...emptyUsage(), units: {[imageUnit()]: Number(pictures)}}),
}

function readCounts({input, output, cache_read, cache_written}: RawObject): Usage | null {
  const [read, wrote] = [count(input), count(output)]
  if ((read === null && wrote === null) || isImpossible(input) || isImpossible(output)) return null
  const usage = emptyUsage()
  usage.input_uncached_tokens = read ?? 0
  usage.output_text_tokens = wrote ?? 0
  usage.cache_read_tokens = count(cache_read) ?? 0
  usage.cache_write_5m_tokens = count(cache_written) ?? 0
  return usage
}

function counts(input: unknown, output: unknown, more: RawObject = {}): RawUsage {
  const {cacheReadInputTokenCount: cache_read, cacheWriteInputTokenCount: cache_written} = more
  return {words: 'counts', raw: {input, output, cache_read, cache_written}}
}

function sizeOf(report: RawUsage): number {
  const usage = usageOf(report)
  if (!usage) return -1
  let sum = 0
  for (const value of Object.values(usage)) if (typeof value === 'number') sum += value
  return sum
}

/** Cohere's second version tells it at the end of its messages, its first in the response that ends the stream. */
function cohereUsage(json: RawObject, response: RawObject): RawObject | null {
  const usage = object(json.delta).usage
  if (isObject(usage)) return withTokens(usage)
  const meta = object(response.meta)
  return isObject(meta.billed_units)
    ? {billed_units: meta.billed_units}
    : isObject(meta.tokens)
      ? withTokens(meta)
      : null
}

function withTokens({billed_units, tokens, ...more}: RawObject): RawObject {
  return {...more, ...(isObject(billed_units) ? {billed_units} : object(tokens))}
}

function searchesOf(reply: RawObject): number {
  const model = typeof reply.modelVersion === 'string' ? reply.modelVersion : ''
  return list(reply.candidates).reduce<number>(
    (sum, each) => sum + searchesIn(object(each).groundingMetadata, model),
    0,
  )
}

function titanOutput({results, totalOutputTextTokenCount}: RawObject): unknown {
  if (totalOutputTextTokenCount !== undefined) return totalOutputTextTokenCount
  return list(results).reduce<number>((sum, each) => sum + (count(object(each).tokenCount) ?? 0), 0)
}

/** Vertex AI's predictions: vectors that say how many tokens they are of, or pictures. */
function predictionsOf({predictions}: RawObject): RawUsage | null {
  const all = list(predictions).slice(0, MAX_PICTURES)
  const tokens = all
    .map(each => count(object(object(object(each).embeddings).statistics).token_count))
    .filter(each => each !== null)
  if (tokens.length > 0)
    return counts(
      tokens.reduce((sum, each) => sum + each, 0),
      0,
    )
  const pictures = all.filter(
    each => typeof object(each).bytesBase64Encoded === 'string' || typeof object(each).gcsUri === 'string',
  ).length
  return pictures > 0 ? {words: 'pictures', raw: {pictures}} : null
}
