import {isObject, list, object} from '../../base/json-object.ts'
import {emptyUsage, totals, UNIT, type Usage} from '../../schema/usage.ts'
import {count, isImpossible} from '../openai/usage.ts'
import {tierWord} from '../service-tiers.ts'
import type {Json} from '../translation.ts'
import {knownMembers, withTotal, withUnknown} from '../unknown-members.ts'
import {generationOf} from './endpoint.ts'

/**
 * `usageMetadata` in disjoint classes; null when it counts nothing. The prompt includes its cached part, thoughts are
 * beside the candidates, and what Google's own tools put into the prompt beside the prompt
 * (ai.google.dev/api/generate-content#UsageMetadata). The Live API calls candidates the response (@google/genai,
 * UsageMetadata). A part never counts for more than the whole it is part of. Video and documents cost what text does.
 */
export function readUsage(metadata: unknown, searches = 0): Usage | null {
  return isObject(metadata) ? usageIn(inOneWording(metadata), searches) : null
}

function inOneWording(metadata: Json): Json {
  const {responseTokenCount, responseTokensDetails, ...rest} = metadata
  if (metadata.candidatesTokenCount !== undefined || responseTokenCount === undefined) return metadata
  return {...rest, candidatesTokenCount: responseTokenCount, candidatesTokensDetails: responseTokensDetails}
}

function usageIn(metadata: Json, searches: number): Usage | null {
  const {promptTokenCount, candidatesTokenCount, totalTokenCount} = metadata
  if ([promptTokenCount, candidatesTokenCount, totalTokenCount].every(each => count(each) === null)) return null
  if ([promptTokenCount, candidatesTokenCount, metadata.thoughtsTokenCount].some(isImpossible)) return null
  const usage = emptyUsage()
  readInput(metadata, usage)
  readOutput(metadata, usage)
  if (searches > 0) usage.units[UNIT.web_search] = searches
  // Vertex AI tells its type of traffic, the Live API its tier.
  const tier = tierWord(metadata.trafficType) ?? tierWord(metadata.serviceTier)
  if (tier !== undefined) usage.tier = tier
  const total = count(promptTokenCount) === null ? null : count(totalTokenCount)
  return withTotal(withUnknown(usage, metadata, KNOWN), 'totalTokenCount', total, totals(usage).total_tokens)
}

/** All that is read below. */
const KNOWN = knownMembers(`
  promptTokenCount candidatesTokenCount totalTokenCount thoughtsTokenCount cachedContentTokenCount toolUsePromptTokenCount
  promptTokensDetails.tokenCount candidatesTokensDetails.tokenCount cacheTokensDetails.tokenCount toolUsePromptTokensDetails.tokenCount`)

function readInput(metadata: Json, usage: Usage) {
  const parts = modalities(metadata.promptTokensDetails)
  const tools = modalities(metadata.toolUsePromptTokensDetails)
  const cached = modalities(metadata.cacheTokensDetails)
  const take = taker(inputOf(metadata))
  const takeCached = taker(count(metadata.cachedContentTokenCount) ?? 0)
  usage.audio_cache_read_tokens = take(takeCached(cached.AUDIO))
  usage.image_cache_read_tokens = take(takeCached(cached.IMAGE))
  usage.cache_read_tokens = take(takeCached(Infinity))
  usage.audio_in_tokens = take(parts.AUDIO + tools.AUDIO - usage.audio_cache_read_tokens)
  usage.image_in_tokens = take(parts.IMAGE + tools.IMAGE - usage.image_cache_read_tokens)
  usage.input_uncached_tokens = take(Infinity)
}

/** When only the total is a number, all of it counts as input. */
function inputOf(metadata: Json): number {
  const prompt = count(metadata.promptTokenCount)
  const rest = prompt === null && count(metadata.candidatesTokenCount) === null ? count(metadata.totalTokenCount) : 0
  return (prompt ?? rest ?? 0) + (count(metadata.toolUsePromptTokenCount) ?? 0)
}

function readOutput(metadata: Json, usage: Usage) {
  const parts = modalities(metadata.candidatesTokensDetails)
  const thoughts = count(metadata.thoughtsTokenCount) ?? 0
  const candidates = count(metadata.candidatesTokenCount) ?? 0
  const input = inputOf(metadata)
  // Some models count their thoughts among the candidates; the total tells.
  const is_within = thoughts > 0 && thoughts <= candidates && count(metadata.totalTokenCount) === input + candidates
  const take = taker(is_within ? candidates - thoughts : candidates)
  usage.output_reasoning_tokens = thoughts
  usage.audio_out_tokens = take(parts.AUDIO)
  usage.image_out_tokens = take(parts.IMAGE)
  usage.output_text_tokens = take(Infinity)
}

/** `[{modality, tokenCount}]`: the kinds that cost otherwise than text. */
function modalities(details: unknown): {AUDIO: number; IMAGE: number} {
  const sums = {AUDIO: 0, IMAGE: 0}
  for (const each of list(details)) {
    const {modality, tokenCount} = object(each)
    if (modality === 'AUDIO' || modality === 'IMAGE') sums[modality] += count(tokenCount) ?? 0
  }
  return sums
}

/**
 * Searches that are paid for: from its third generation on each query of Gemini's, before it each answer that searched
 * (ai.google.dev/gemini-api/docs/pricing, grounding with Google Search).
 */
export function searchesIn(grounding: unknown, model: string): number {
  const queries = list(object(grounding).webSearchQueries).filter(
    query => typeof query === 'string' && query !== '',
  ).length
  return (generationOf(model) ?? 0) >= 3 ? queries : Math.min(1, queries)
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
