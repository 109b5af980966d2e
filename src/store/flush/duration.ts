import type {LogRecord} from '../../schema/records.ts'
import {isSuccess} from '../../schema/success.ts'

/** Milliseconds until the last byte, as rows are summed by. */
export const durationOf = (log: LogRecord): number => Math.max(0, Math.round(log.last_byte_ms))

/** 1 where the row went well only after a retry, or at another target than the first of a fallback. */
export function isRescued(log: LogRecord, outcome: string): 0 | 1 {
  const is_fallback = log.mode === 'fallback' && !/\[0\][^[\]]*$/.test(log.option_path) && log.option_path.endsWith(']')
  return isSuccess(log.response_status, outcome) && (log.retry_count > 0 || is_fallback) ? 1 : 0
}
