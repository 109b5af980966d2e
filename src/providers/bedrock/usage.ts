import {isObject} from '../../base/json-object.ts'
import {emptyUsage, totals, type Usage} from '../../schema/usage.ts'
import {count, isImpossible} from '../openai/usage.ts'
import {tierWord} from '../service-tiers.ts'
import {knownMembers, withTotal, withUnknown} from '../unknown-members.ts'

/**
 * `TokenUsage` in disjoint classes; null when it says no number. `inputTokens` leaves out what was read from and
 * written to the cache; `cacheDetails` splits the writes by lifetime; `tier` is how it was served. Source: Bedrock API
 * reference, TokenUsage, ServiceTier.
 */
export function readUsage(raw_usage: unknown, tier?: unknown): Usage | null {
  if (!isObject(raw_usage)) return null
  const input = count(raw_usage.inputTokens)
  const output = count(raw_usage.outputTokens)
  if (input === null && output === null) return null
  if (isImpossible(raw_usage.inputTokens) || isImpossible(raw_usage.outputTokens)) return null
  const usage = emptyUsage()
  usage.input_uncached_tokens = input ?? 0
  usage.output_text_tokens = output ?? 0
  usage.cache_read_tokens = count(raw_usage.cacheReadInputTokens) ?? count(raw_usage.cacheReadInputTokenCount) ?? 0
  const written = count(raw_usage.cacheWriteInputTokens) ?? count(raw_usage.cacheWriteInputTokenCount) ?? 0
  let hour = 0
  let minutes = 0
  for (const detail of Array.isArray(raw_usage.cacheDetails) ? raw_usage.cacheDetails : []) {
    if (!isObject(detail)) continue
    const tokens = count(detail.inputTokens) ?? 0
    if (detail.ttl === '1h') hour += tokens
    else minutes += tokens
  }
  usage.cache_write_1h_tokens = hour
  usage.cache_write_5m_tokens = Math.max(written - hour, minutes)
  const word = isObject(tier) ? tierWord(tier.type) : undefined
  if (word !== undefined) usage.tier = word
  const total = input === null || output === null ? null : count(raw_usage.totalTokens)
  return withTotal(withUnknown(usage, raw_usage, KNOWN), 'totalTokens', total, totals(usage).total_tokens)
}

const KNOWN = knownMembers(`
  inputTokens outputTokens totalTokens cacheReadInputTokens cacheReadInputTokenCount cacheWriteInputTokens cacheWriteInputTokenCount
  cacheDetails.inputTokens`)
