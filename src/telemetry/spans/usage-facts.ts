import {parseJson} from '../../base/json-object.ts'
import type {LedgerLine} from '../../store/flush/index.ts'

/** The usage of an entry as the conventions count it: what was read from a cache is part of the input. */
export interface UsageFacts {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
}

export function usageFacts({prompt_tokens, completion_tokens, usage}: LedgerLine): UsageFacts {
  const counts = parseJson(usage) as Readonly<Record<string, number | undefined>>
  const sum = (...names: readonly string[]) => names.reduce((all, name) => all + (counts[name] ?? 0), 0)
  return {
    input_tokens: prompt_tokens,
    output_tokens: completion_tokens,
    cache_read_tokens: sum('cache_read_tokens', 'audio_cache_read_tokens', 'image_cache_read_tokens'),
    cache_write_tokens: sum('cache_write_5m_tokens', 'cache_write_1h_tokens'),
    reasoning_tokens: sum('output_reasoning_tokens'),
  }
}

/**
 * True of an attempt that has tokens and a cost: one that the provider answered, and one that is charged although no
 * answer came, as after a timeout. Each is in one entry of the ledger, so that the sums of both are equal.
 */
export const isCharged = ({status, cost_nanousd, prompt_tokens, completion_tokens}: LedgerLine): boolean =>
  (status !== null && status < 400) || cost_nanousd > 0 || prompt_tokens + completion_tokens > 0

/** The kind of fault of an attempt, in few words: its status, else how it ended. Null where it went well. */
export function attemptFault({status, outcome}: LedgerLine): string | null {
  if (status !== null && status >= 400) return String(status)
  return outcome === 'ok' ? null : outcome
}
