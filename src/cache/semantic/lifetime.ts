const RELATIVE_MS = 15 * 60_000
const DAY_MS = 86_400_000

/**
 * When an entry ends. One whose text speaks of today, or of what is the latest, is true for a quarter of an hour, and
 * not beyond the day (UTC).
 */
export function endOf(now_ms: number, max_age_ms: number, is_relative: boolean): number {
  const end_ms = now_ms + max_age_ms
  if (!is_relative) return end_ms
  const midnight_ms = (Math.floor(now_ms / DAY_MS) + 1) * DAY_MS
  return Math.min(end_ms, now_ms + RELATIVE_MS, midnight_ms)
}
