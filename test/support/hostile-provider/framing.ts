import {type Asked, type CaseTable, chunk, head, raw, untilClosed, whole} from './reply.ts'
import {usualJson} from './usual.ts'

/** Lengths, chunks and ends of connections that are no HTTP/1.1, or only just. */
const CHUNKED = head({lines: ['Transfer-Encoding: chunked']})
const END = '0\r\n\r\n'
const bytesOf = (asked: Asked) => Buffer.from(usualJson(asked))
const withLength = (length: string, asked: Asked, after: 'ends' | 'waits' = 'ends') =>
  raw([head({lines: [`Content-Length: ${length}`]}), bytesOf(asked)], after)
const sizeLine = (asked: Asked) => bytesOf(asked).length.toString(16)
const half = (asked: Asked) => bytesOf(asked).subarray(0, 30)
const MANY_INFORMATIONAL = 2000

export const FRAMING: CaseTable = {
  'length-too-short': asked => withLength(String(bytesOf(asked).length - 20), asked),
  'length-too-long': asked => withLength(String(bytesOf(asked).length + 50), asked),
  'length-too-long-and-open': asked => withLength(String(bytesOf(asked).length + 50), asked, 'waits'),
  'length-negative': asked => withLength('-1', asked),
  'length-of-letters': asked => withLength('many', asked),
  'length-empty': asked => withLength('', asked),
  'length-hexadecimal': asked => withLength('0x10', asked),
  'length-with-plus': asked => withLength(`+${bytesOf(asked).length}`, asked),
  'length-of-30-digits': asked => withLength('9'.repeat(30), asked),
  'length-list': asked => withLength(`${bytesOf(asked).length}, ${bytesOf(asked).length}`, asked),
  'length-twice-the-same': asked => {
    const line = `Content-Length: ${bytesOf(asked).length}`
    return raw([head({lines: [line, line]}), bytesOf(asked)])
  },
  'length-twice-different': asked =>
    raw([head({lines: [`Content-Length: ${bytesOf(asked).length}`, 'Content-Length: 5']}), bytesOf(asked)]),
  'length-and-chunks': asked =>
    raw([head({lines: ['Content-Length: 5', 'Transfer-Encoding: chunked']}), chunk(bytesOf(asked)), END]),
  'length-missing': asked => untilClosed([bytesOf(asked)]),
  'length-missing-and-open': asked => raw([head(), bytesOf(asked)], 'waits'),
  'chunk-size-of-letters': asked => raw([CHUNKED, 'zz\r\n', bytesOf(asked), `\r\n${END}`]),
  'chunk-size-empty': asked => raw([CHUNKED, '\r\n', bytesOf(asked), `\r\n${END}`]),
  'chunk-size-negative': asked => raw([CHUNKED, '-5\r\n', bytesOf(asked), `\r\n${END}`]),
  'chunk-size-of-20-digits': asked => raw([CHUNKED, `${'f'.repeat(20)}\r\n`, bytesOf(asked)]),
  'chunk-size-too-small': asked => raw([CHUNKED, '3\r\n', bytesOf(asked), `\r\n${END}`]),
  'chunk-with-long-extension': asked =>
    raw([CHUNKED, `${sizeLine(asked)};note="${'x'.repeat(10_000)}"\r\n`, bytesOf(asked), `\r\n${END}`]),
  'chunk-with-bare-line-feeds': asked => raw([CHUNKED, `${sizeLine(asked)}\n`, bytesOf(asked), '\n0\n\n']),
  'chunk-without-last': asked => raw([CHUNKED, chunk(bytesOf(asked))]),
  'chunk-without-last-and-open': asked => raw([CHUNKED, chunk(bytesOf(asked))], 'waits'),
  'chunks-of-one-byte': asked =>
    raw([CHUNKED, ...[...bytesOf(asked)].map(byte => chunk(Buffer.of(byte))), END], 'keeps'),
  'chunked-twice': asked => raw([head({lines: ['Transfer-Encoding: chunked, chunked']}), chunk(bytesOf(asked)), END]),
  'coding-unknown': asked => raw([head({lines: ['Transfer-Encoding: rot13']}), bytesOf(asked)]),
  'trailers-that-lie': asked =>
    raw(
      [CHUNKED, chunk(bytesOf(asked)), '0\r\nContent-Length: 3\r\nSet-Cookie: late=1\r\nX-Note: late\r\n\r\n'],
      'keeps',
    ),
  'cut-in-body': asked => raw([CHUNKED, chunk(half(asked))]),
  'reset-in-body': asked => raw([CHUNKED, chunk(half(asked))], 'resets'),
  'reset-in-head': () => raw(['HTTP/1.1 200 OK\r\nContent-Ty'], 'resets'),
  'cut-in-head': () => raw(['HTTP/1.1 200 OK\r\nContent-Ty']),
  'open-in-head': () => raw(['HTTP/1.1 200 OK\r\nContent-Ty'], 'waits'),
  'closed-at-once': () => raw([]),
  'reset-at-once': () => raw([], 'resets'),
  silent: () => raw([], 'waits'),
  'body-byte-by-byte': asked => {
    const [only] = whole(usualJson(asked)).pieces as readonly [Buffer]
    return raw(
      [...only].map(byte => Buffer.of(byte)),
      'keeps',
    )
  },
  'answer-twice': asked => {
    const once = whole(usualJson(asked)).pieces
    return raw([...once, ...whole('{"is_smuggled":true}').pieces], 'keeps')
  },
  'informational-many': asked =>
    raw([`HTTP/1.1 199 Wait\r\n\r\n`.repeat(MANY_INFORMATIONAL), ...whole(usualJson(asked)).pieces]),
  'informational-continue': asked =>
    raw(['HTTP/1.1 100 Continue\r\n\r\n'.repeat(3), ...whole(usualJson(asked)).pieces], 'keeps'),
  'informational-early-hints': asked =>
    raw(['HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n', ...whole(usualJson(asked)).pieces], 'keeps'),
  'informational-switch': asked =>
    raw(['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', bytesOf(asked)]),
  'version-0-9': asked => raw([bytesOf(asked)]),
  'version-1-0': asked => raw(['HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n', bytesOf(asked)]),
  'version-2-0': () => raw(['HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\n{}']),
  'other-protocol': () => raw(['220 mail.example ESMTP\r\n']),
}
