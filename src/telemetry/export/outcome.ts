/** The result of a request to a receiver. */
export type SendOutcome =
  /** Taken, but for `rejected` of it, which are never sent again. */
  | {readonly kind: 'taken'; readonly rejected: number; readonly reason: string | null}
  /** Not now: again, not before `after_ms` where it names a time. */
  | {readonly kind: 'later'; readonly after_ms: number | null; readonly reason: string}
  /** Less of it may be taken. */
  | {readonly kind: 'too_large'; readonly reason: string}
  /** Never. */
  | {readonly kind: 'refused'; readonly reason: string}

export interface ReceivedAnswer {
  readonly status: number
  readonly retry_after: string | null
  readonly text: string
}

/** The meaning of a status of failure. */
export type FailureMeaning = 'later' | 'too_large' | 'refused'

const LATER: ReadonlySet<number> = new Set([429, 502, 503, 504])
const ABOUT_SIZE = /too large|larger than|exceed/i
const MAX_AFTER_MS = 3_600_000

/** That of a collector. */
export function collectorMeaning(status: number, text: string): FailureMeaning {
  if (LATER.has(status)) return 'later'
  return status === 413 || (status === 400 && ABOUT_SIZE.test(text)) ? 'too_large' : 'refused'
}

/** The meaning of an answer; `rejectedOf` reads how much of a request that succeeded was rejected. */
export function outcomeOf(
  {status, retry_after, text}: ReceivedAnswer,
  now_ms: number,
  rejectedOf: (text: string) => {readonly rejected: number; readonly reason: string | null},
  meaningOf = collectorMeaning,
): SendOutcome {
  if (status >= 200 && status < 300) return {kind: 'taken', ...rejectedOf(text)}
  const reason = `status ${status}`
  const meaning = meaningOf(status, text)
  return meaning === 'later' ? {kind: meaning, after_ms: afterMs(retry_after, now_ms), reason} : {kind: meaning, reason}
}

/** Seconds, or a date (RFC 9110, 10.2.3). */
function afterMs(header: string | null, now_ms: number): number | null {
  if (header === null) return null
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now_ms
  return Number.isNaN(ms) ? null : Math.min(MAX_AFTER_MS, Math.max(0, ms))
}
