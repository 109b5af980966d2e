import type {Usage} from '../../schema/usage.ts'
import {mergeSaid, readUsage, type Said} from '../openai/usage.ts'

/** A Messages `usage` object, or those of a stream's events merged, in disjoint classes; null when it tells nothing. */
export function usageOf(said: Said | null): Usage | null {
  return said && readUsage(said, 'messages')
}

/** `later` over `earlier`: a stream tells its input first and its output last, and each count as the sum so far. */
export const mergedUsage: (earlier: Said | null, later: unknown) => Said | null = mergeSaid
