import type {Usage} from '../../schema/usage.ts'
import {mergeRawUsage, type RawObject, readUsage} from '../openai/usage.ts'
import {type UsageByHop, usageByHop} from './hops.ts'
import type {Refusals} from './refusals.ts'

/** A Messages `usage` object, or those of a stream's events merged, in disjoint classes; null when it tells nothing. */
export function usageOf(raw_usage: RawObject | null): Usage | null {
  return raw_usage && readUsage(raw_usage, 'messages')
}

/** The same as it is billed, by the parts of the call. */
export function billedUsage(raw_usage: RawObject | null, refusals: Refusals | null): UsageByHop {
  return usageByHop(raw_usage, usageOf(raw_usage), refusals)
}

/** `later` over `earlier`: a stream tells its input first and its output last, and each count as the sum so far. */
export const mergedUsage: (earlier: RawObject | null, later: unknown) => RawObject | null = mergeRawUsage
