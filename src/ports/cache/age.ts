import type {FoundEntry} from './index.ts'

/** Clocks of processes that share a store differ by no more. */
const MAX_APART_MS = 60_000

/**
 * False when its time is over, or is not known: what was stored at a time that is to come was stored by a clock that
 * was wrong.
 */
export function isAlive(
  {stored_at_ms, expires_at_ms}: Pick<FoundEntry, 'stored_at_ms' | 'expires_at_ms'>,
  now_ms: number,
): boolean {
  return expires_at_ms > now_ms && stored_at_ms <= now_ms + MAX_APART_MS
}
