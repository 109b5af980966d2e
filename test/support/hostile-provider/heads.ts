import {type Asked, type CaseTable, head, raw, whole} from './reply.ts'
import {usualJson} from './usual.ts'

/** Headers that are too long, too many, malformed, or that pretend to be ours. */
const withLines = (...lines: readonly string[]) => {
  return (asked: Asked) => whole(usualJson(asked), {lines})
}
const numbered = (count: number) => Array.from({length: count}, (_, at) => `X-Many-${at}: ${at}`)

export const HEADS: CaseTable = {
  'header-of-60-kb': withLines(`X-Long: ${'a'.repeat(60_000)}`),
  'header-of-1-mb': withLines(`X-Long: ${'a'.repeat(1_000_000)}`),
  'headers-900': withLines(...numbered(900)),
  'headers-5000': withLines(...numbered(5000)),
  'header-folded': withLines('X-Folded: one\r\n two'),
  'header-with-nul': withLines('X-Nul: a\0b'),
  'header-with-controls': withLines('X-Controls: a\x01\x7fb'),
  'header-in-latin-1': withLines('X-Latin: caf\xe9 \xff'),
  'header-name-with-space': withLines('Two Words: x'),
  'header-name-empty': withLines(': x'),
  'header-without-colon': withLines('nothing here'),
  'header-with-bare-return': withLines('X-Return: a\rb'),
  'header-of-proto': withLines('__proto__: x', 'constructor: y'),
  'headers-as-ours': withLines(
    'x-gateway-trace-id: forged',
    'x-gateway-cache-status: HIT',
    'x-gateway-last-used-option-index: 9',
    'x-gateway-retry-attempt-count: -1',
    'Server: forged',
    'Date: yesterday',
    'Strict-Transport-Security: max-age=1',
    'Access-Control-Allow-Origin: *',
  ),
  'header-set-cookie': withLines('Set-Cookie: id=forged; Path=/', 'Set-Cookie: gateway_session=forged; Path=/'),
  'header-connection-names': withLines(
    'Connection: close, content-type, x-secret',
    'X-Secret: 1',
    'Keep-Alive: timeout=-1',
  ),
  'header-alt-svc': withLines('Alt-Svc: h3=":443"; ma=2592000', 'Refresh: 0; url=http://127.0.0.1:1/'),
  'header-rate-limits-odd': withLines(
    'x-ratelimit-remaining-requests: -1',
    'x-ratelimit-remaining-tokens: 1e999',
    'x-ratelimit-reset-tokens: never',
  ),
  'type-missing': asked => whole(usualJson(asked), {type: null}),
  'type-image': asked => whole(usualJson(asked), {type: 'image/png'}),
  'type-of-a-page': () => whole('<!doctype html><title>502</title><p>Bad gateway', {type: 'text/html'}),
  'type-odd': asked => whole(usualJson(asked), {type: 'application/json; charset="\xff"; charset=utf-7'}),
  'type-twice': asked => whole(usualJson(asked), {lines: ['Content-Type: text/event-stream']}),
  'type-of-10-kb': asked => whole(usualJson(asked), {type: `application/json; note="${'x'.repeat(10_000)}"`}),
  'reason-of-20-kb': asked => whole(usualJson(asked), {status: `200 ${'x'.repeat(20_000)}`}),
  'head-with-bare-line-feeds': asked => {
    const json = usualJson(asked)
    const text = head({lines: [`Content-Length: ${Buffer.byteLength(json)}`]}).toString('latin1')
    return raw([text.replaceAll('\r\n', '\n'), json])
  },
}
