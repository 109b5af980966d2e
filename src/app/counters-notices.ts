import type {Log} from '../base/log.ts'
import {StoreSilentFault} from '../base/store-fault.ts'

export interface CountersNotices {
  readonly log: Pick<Log, 'warn' | 'error'>
  readonly now: () => number
  /** The setting that names the store of the counters. */
  readonly setting: 'REDIS_URL' | 'DATABASE_URL'
}

const REPORT_EVERY_MS = 60_000

/**
 * Writes faults of the shared counters to the log. A store out of reach is a warning that names its setting, once a
 * minute at most, with how many faults there were: nothing of ours is broken, so there is no stack.
 */
export function countersNotices({log, now, setting}: CountersNotices): (fault: unknown) => void {
  let reported_at_ms = Number.NEGATIVE_INFINITY
  let times = 0
  return fault => {
    const reason = silenceOf(fault)
    if (reason === undefined) return log.error({fault}, 'the shared counters failed')
    times++
    if (now() - reported_at_ms < REPORT_EVERY_MS) return
    log.warn({reason, times}, `the shared counters do not answer: ${reason}; strict limits refuse calls (${setting})`)
    reported_at_ms = now()
    times = 0
  }
}

/** Codes of the system, and words of the client and the server, that are no answer to a command. */
const SILENCES: readonly (readonly [RegExp, string])[] = [
  [/WRONGPASS|NOAUTH/, 'the user or the password is refused'],
  [/ECONNREFUSED/, 'nothing listens at the address'],
  [/ENOTFOUND|EAI_AGAIN/, 'the host name is not known'],
  [/ENETUNREACH|EHOSTUNREACH/, 'no network leads to the address'],
  [/ECONNRESET|EPIPE|Connection is closed|isn't writeable/i, 'the connection was cut'],
  [/ETIMEDOUT|did not answer within|timed out|timeout/i, 'no answer came in time'],
]

function silenceOf(fault: unknown): string | undefined {
  if (fault instanceof StoreSilentFault) return fault.reason
  if (!(fault instanceof Error)) return undefined
  const text = `${'code' in fault ? String(fault.code) : ''} ${fault.message}`
  return SILENCES.find(([pattern]) => pattern.test(text))?.[1]
}
