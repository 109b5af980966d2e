/** Of a session that was opened (RFC 9110, 15.2.2). */
const SWITCHED = 101

/** True when a call succeeded: its status is one of success, and its stream did not fail behind it. */
export function isSuccess(status: number, outcome: string): boolean {
  const is_good = status === SWITCHED || (status >= 200 && status < 300)
  return is_good && outcome !== 'failed' && outcome !== 'timeout'
}
