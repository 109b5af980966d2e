import type {Fact} from '../../store/analytics/facts.ts'
import {NANOUSD_A_CENT} from '../logs.ts'

/** The sum of facts. */
export interface Sum {
  requests: number
  successes: number
  prompt_tokens: number
  completion_tokens: number
  cost_nanousd: number
  duration_ms: number
  simple_hits: number
  semantic_hits: number
  hit_ms: number
  /** Calls that the cache missed. */
  misses: number
  miss_ms: number
  miss_nanousd: number
}

const SEMANTIC_HIT = 'SEMANTIC HIT'
const UNCACHED = 'DISABLED'

export function sumOf(facts: readonly Fact[]): Sum {
  const sum: Sum = {
    requests: 0,
    successes: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    cost_nanousd: 0,
    duration_ms: 0,
    simple_hits: 0,
    semantic_hits: 0,
    hit_ms: 0,
    misses: 0,
    miss_ms: 0,
    miss_nanousd: 0,
  }
  for (const fact of facts) add(sum, fact)
  return sum
}

function add(sum: Sum, fact: Fact): void {
  const {requests, cache_status, duration_ms} = fact
  sum.requests += requests
  sum.successes += fact.successes
  sum.prompt_tokens += fact.prompt_tokens
  sum.completion_tokens += fact.completion_tokens
  sum.cost_nanousd += fact.cost_nanousd
  sum.duration_ms += duration_ms
  if (cache_status === 'HIT') sum.simple_hits += requests
  if (cache_status === SEMANTIC_HIT) sum.semantic_hits += requests
  if (cache_status === 'HIT' || cache_status === SEMANTIC_HIT) sum.hit_ms += duration_ms
  else if (cache_status !== UNCACHED) {
    sum.misses += requests
    sum.miss_ms += duration_ms
    sum.miss_nanousd += fact.cost_nanousd
  }
}

/** Facts by one of their members, in the order in which they come. */
export function parted<T extends object, K extends keyof T>(facts: readonly T[], by: K): Map<T[K], T[]> {
  const parts = new Map<T[K], T[]>()
  for (const fact of facts) {
    const part = parts.get(fact[by])
    if (part) part.push(fact)
    else parts.set(fact[by], [fact])
  }
  return parts
}

export const cents = (nanousd: number) => nanousd / NANOUSD_A_CENT
/** To three decimals; 0 of nothing. */
export const mean = (sum: number, count: number) => (count === 0 ? 0 : Math.round((sum / count) * 1000) / 1000)
export const percent = (part: number, whole: number) => mean(part * 100, whole)
/** The mean cost in cents, to the nano-dollar. */
export const meanCents = (nanousd: number, count: number) => (count === 0 ? 0 : cents(Math.round(nanousd / count)))
export const hitsOf = ({simple_hits, semantic_hits}: Sum) => simple_hits + semantic_hits
export const tokensOf = ({prompt_tokens, completion_tokens}: Sum) => prompt_tokens + completion_tokens
export const failuresOf = ({requests, successes}: Sum) => requests - successes
