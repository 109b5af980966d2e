import type {Usage} from '../../schema/usage.ts'
import {count, mergeSaid, object, readUsage, type Said} from '../openai/usage.ts'

/** A Messages `usage` object, or those of a stream's events merged, in disjoint classes; null when it tells nothing. */
export function usageOf(said: Said | null): Usage | null {
  const usage = said && readUsage(said, 'messages')
  if (!usage) return null
  // A part of `output_tokens`, which stays the whole (platform.claude.com/docs, Messages, usage).
  const thought = count(object(said.output_tokens_details).thinking_tokens) ?? 0
  usage.output_reasoning_tokens = Math.min(thought, usage.output_text_tokens)
  usage.output_text_tokens -= usage.output_reasoning_tokens
  return usage
}

/** `later` over `earlier`: a stream tells its input first and its output last, and each count as the sum so far. */
export const mergedUsage: (earlier: Said | null, later: unknown) => Said | null = mergeSaid
