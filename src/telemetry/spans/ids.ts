import {hash} from 'node:crypto'

const TRACE = /^[\da-f]{32}$/
const SPAN = /^[\da-f]{16}$/

/** A trace id in 32 hexadecimal digits: a client may have sent any text. One text gives one id, in every export. */
export function traceIdOf(text: string): string {
  const plain = text.length === 36 ? text.replaceAll('-', '') : text
  return TRACE.test(plain) && plain !== NO_TRACE ? plain : hash('sha256', text, 'hex').slice(0, 32)
}

/** A span id of a client's in 16 hexadecimal digits; null where it sent none. */
export function spanIdOf(text: string | null): string | null {
  if (text === null || text === '') return null
  return SPAN.test(text) && text !== NO_SPAN ? text : hash('sha256', text, 'hex').slice(0, 16)
}

export {attemptSpanId, derivedSpanId} from '../../base/ids.ts'

const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)
