import {list, object} from '../../base/json-object.ts'
import {emptyUsage, totals, UNIT, type Usage} from '../../schema/usage.ts'
import {count, type RawObject} from '../openai/usage.ts'
import {tierWord} from '../service-tiers.ts'
import {knownMembers, withTotal, withUnknown} from '../unknown-members.ts'

/**
 * Usage of Gemini's Interactions in disjoint classes; null when it counts nothing. Source: @google/genai, Usage: the
 * input includes its cached part, tool use and thoughts are beside it; Vertex AI writes the same in camel case.
 */
export function readInteraction(raw: RawObject, tier: unknown): Usage | null {
  const member = (name: string) => raw[name] ?? raw[inCamelCase(name)]
  const number = (name: string) => count(member(name)) ?? 0
  if (count(member('total_input_tokens')) === null && count(member('total_output_tokens')) === null) return null
  const usage = emptyUsage()
  const cached = Math.min(number('total_cached_tokens'), number('total_input_tokens'))
  const input = number('total_input_tokens') + number('total_tool_use_tokens') - cached
  const given = modalities(member('input_tokens_by_modality'))
  const by_tools = modalities(member('tool_use_tokens_by_modality'))
  const kept = modalities(member('cached_tokens_by_modality'))
  const made = modalities(member('output_tokens_by_modality'))
  usage.audio_cache_read_tokens = Math.min(kept.audio, cached)
  usage.image_cache_read_tokens = Math.min(kept.image, cached - usage.audio_cache_read_tokens)
  usage.cache_read_tokens = cached - usage.audio_cache_read_tokens - usage.image_cache_read_tokens
  usage.audio_in_tokens = Math.min(Math.max(0, given.audio + by_tools.audio - usage.audio_cache_read_tokens), input)
  usage.image_in_tokens = Math.min(
    Math.max(0, given.image + by_tools.image - usage.image_cache_read_tokens),
    input - usage.audio_in_tokens,
  )
  usage.input_uncached_tokens = input - usage.audio_in_tokens - usage.image_in_tokens
  const output = number('total_output_tokens')
  usage.audio_out_tokens = Math.min(made.audio, output)
  usage.image_out_tokens = Math.min(made.image, output - usage.audio_out_tokens)
  usage.output_text_tokens = output - usage.audio_out_tokens - usage.image_out_tokens
  usage.output_reasoning_tokens = number('total_thought_tokens')
  const searches = list(member('grounding_tool_count')).reduce<number>(
    (sum, each) => sum + (count(object(each).count) ?? 0),
    0,
  )
  if (searches > 0) usage.units[UNIT.web_search] = searches
  const word = tierWord(tier)
  if (word !== undefined) usage.tier = word
  return withTotal(
    withUnknown(usage, raw, KNOWN),
    'total_tokens',
    count(member('total_tokens')),
    totals(usage).total_tokens,
  )
}

const MEMBERS = `
  total_input_tokens total_output_tokens total_tokens total_cached_tokens total_thought_tokens total_tool_use_tokens
  input_tokens_by_modality.tokens tool_use_tokens_by_modality.tokens cached_tokens_by_modality.tokens output_tokens_by_modality.tokens
  grounding_tool_count.count`
const KNOWN = knownMembers(`${MEMBERS} ${inCamelCase(MEMBERS)}`)

function inCamelCase(text: string): string {
  return text.replace(/_[a-z]/g, pair => pair[1]!.toUpperCase())
}

function modalities(value: unknown): {audio: number; image: number} {
  const sums = {audio: 0, image: 0}
  for (const each of list(value)) {
    const {modality, tokens, token_count, tokenCount} = object(each)
    const name = String(modality).toLowerCase()
    if (name === 'audio' || name === 'image') sums[name] += count(tokens ?? token_count ?? tokenCount) ?? 0
  }
  return sums
}
