import {type Asked, type CaseTable, type HostileReply, head, raw, whole} from './reply.ts'
import {SSE, usualEvents, usualJson} from './usual.ts'

/** Statuses that few expect, bodies where there may be none, ways to elsewhere, and words of errors that are nested. */
const CODES = [0, 99, 199, 201, 226, 300, 399, 400, 404, 408, 418, 451, 499, 500, 529, 599, 600, 999]
const with3Digits = (code: number) => String(code).padStart(3, '0')
const answered = (status: string) => {
  return (asked: Asked) => whole(usualJson(asked), {status})
}
const fault = (status: string, body: string, ...lines: readonly string[]) => {
  return (): HostileReply => whole(body, {status, lines})
}
const nested = (levels: number) => `{"error":{"message":${'{"msg":'.repeat(levels)}"x"${'}'.repeat(levels)}}}`
const toElsewhere = (status: string, location: string) => {
  return (asked: Asked) => whole(usualJson(asked), {status, lines: [`Location: ${location}`]})
}
const LEVELS = [22, 1000, 10_000]

export const STATUSES: CaseTable = {
  ...Object.fromEntries(CODES.map(code => [`code-${with3Digits(code)}`, answered(`${with3Digits(code)} Odd`)])),
  'code-of-two-digits': answered('20 Odd'),
  'code-of-four-digits': answered('2000 Odd'),
  'code-of-letters': answered('OK 200'),
  'no-content-with-body': answered('204 No Content'),
  'reset-content-with-body': answered('205 Reset Content'),
  'not-modified-with-body': answered('304 Not Modified'),
  'partial-content': asked =>
    whole(usualJson(asked), {status: '206 Partial Content', lines: ['Content-Range: bytes 0-1/99']}),
  'redirect-to-a-closed-port': toElsewhere('301 Moved Permanently', 'http://127.0.0.1:1/elsewhere'),
  'redirect-to-itself': toElsewhere('302 Found', '/v1/elsewhere'),
  'redirect-with-method': toElsewhere('307 Temporary Redirect', 'http://localhost:1/v1/elsewhere'),
  'redirect-to-a-file': toElsewhere('308 Permanent Redirect', 'file:///etc/passwd'),
  'redirect-to-nothing': answered('303 See Other'),
  'login-basic': fault('401 Unauthorized', '{"error":{"message":"bad key"}}', 'WWW-Authenticate: Basic realm="x"'),
  'login-proxy': fault('407 Proxy Authentication Required', '{}', 'Proxy-Authenticate: Basic'),
  'retry-after-ages': fault('429 Too Many Requests', '{"error":{"message":"slow"}}', 'Retry-After: 99999999999999'),
  'retry-after-date': fault('429 Too Many Requests', '{"error":null}', 'Retry-After: Fri, 31 Dec 9999 23:59:59 GMT'),
  'retry-after-negative': fault('503 Unavailable', '{"error":"x"}', 'Retry-After: -1', 'retry-after-ms: NaN'),
  'error-of-odd-kinds': fault('400 Bad Request', '{"error":{"message":{"__proto__":1},"type":5,"code":[]}}'),
  'error-of-bytes': () =>
    whole(Buffer.of(0xff, 0xfe, 0), {status: '400 Bad Request', type: 'application/octet-stream'}),
  'error-null': fault('400 Bad Request', 'null'),
  'error-list': fault('400 Bad Request', '[{"error":{"code":400,"message":"x","details":[null]}},null]'),
  'error-of-1-mb': fault('400 Bad Request', JSON.stringify({error: {message: 'word '.repeat(200_000)}})),
  'error-without-length': () => raw([head({status: '503 Unavailable'}), '{"error":{"message":"x"}}']),
  'error-as-stream': asked => whole(usualEvents(asked).join(''), {status: '500 Odd', type: SSE}),
  'error-500-null': fault('500 Internal Server Error', 'null'),
  'error-500-words': () => whole('oops', {status: '500 Internal Server Error', type: 'text/plain'}),
  ...Object.fromEntries(LEVELS.map(levels => [`error-nested-${levels}`, fault('400 Bad Request', nested(levels))])),
  ...Object.fromEntries(LEVELS.map(levels => [`error-nested-${levels}-in-200`, fault('200 OK', nested(levels))])),
  ...Object.fromEntries(
    LEVELS.map(levels => [
      `error-nested-${levels}-in-stream`,
      (asked: Asked) => whole(`${usualEvents(asked)[0]}event: error\ndata: ${nested(levels)}\n\n`, {type: SSE}),
    ]),
  ),
}
