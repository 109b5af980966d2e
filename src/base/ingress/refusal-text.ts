import {STATUS_CODES} from 'node:http'
import type {Refusal} from '../errors.ts'
import {newTimeId} from '../ids.ts'

/**
 * A whole answer in HTTP/1.1, under an id of its own, to who is refused before there is a request to answer; the
 * connection ends with it.
 */
export function refusalText({status, message, codes}: Refusal): string {
  const id = newTimeId(Date.now())
  const body = JSON.stringify({error: {message, type: codes.type, param: null, code: codes.code}})
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Gateway-Trace-Id: ${id}`,
    `X-Request-Id: ${id}`,
    ...(status === 503 ? ['Retry-After: 1'] : []),
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
