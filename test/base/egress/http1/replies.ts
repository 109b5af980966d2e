import fc from 'fast-check'
import {LATIN1} from './dispatched.ts'

/** Replies as servers send them: heads of any case and spacing, each kind of body, and news (1xx) before. */
export interface Reply {
  readonly bytes: Buffer
  /** The server closes the connection behind it. */
  readonly closes: boolean
}

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)
const name = fc.oneof(
  fc.constantFrom('Content-Type', 'x-request-id', 'SERVER', 'set-cookie', 'Date', '__proto__', 'constructor'),
  token,
)
const value = fc.stringMatching(/^[!-~\u0080-\u00ff]{1,12}([ \t][!-~\u0080-\u00ff]{1,8})?$/)
const MEANT = /^(content-length|transfer-encoding|connection|proxy-connection|keep-alive|upgrade)$/i
const header = fc.tuple(
  name.filter(text => !MEANT.test(text)),
  fc.constantFrom(':', ': ', ':\t '),
  fc.oneof(value, fc.constant('')),
)
const headers = fc.array(header, {maxLength: 6}).map(all => all.map(parts => `${parts.join('')}\r\n`).join(''))
const text = fc.uint8Array({maxLength: 200}).map(bytes => Buffer.from(bytes).toString(LATIN1))
const keeping = fc.constantFrom(
  '',
  'Connection: keep-alive\r\n',
  'connection: close\r\n',
  'Connection: Keep-Alive, x\r\nkeep-alive: timeout=5\r\n',
)
const extension = fc.constantFrom('', ';a', ';a=b', ';a="b c"')

const chunked = fc
  .record({
    parts: fc.array(fc.tuple(text, extension), {maxLength: 5}),
    trailers: fc.constantFrom('', 'x-sum: 1\r\n', 'A: b\r\nC:\r\n'),
  })
  .map(({parts, trailers}) => {
    const full = parts.filter(([part]) => part.length > 0)
    const chunks = full.map(([part, beside], place) => `${size(part.length, place)}${beside}\r\n${part}\r\n`)
    return `${chunks.join('')}0\r\n${trailers}\r\n`
  })

function size(length: number, place: number): string {
  const hex = length.toString(16)
  return place % 2 ? hex.toUpperCase().padStart(4, '0') : hex
}

const framed = fc.oneof(
  fc
    .tuple(text, fc.constantFrom('content-length', 'Content-Length'))
    .map(([body, said]) => ({said: `${said}: ${body.length}\r\n`, body, closes: false})),
  chunked.map(body => ({said: 'Transfer-Encoding: Chunked\r\n', body, closes: false})),
  text.map(body => ({said: '', body, closes: true})),
)
const status = fc.constantFrom('200 OK', '201', '400 Bad Request', '404 Not Found', '503 ', '299 x')
const news = fc.constantFrom(
  '',
  '',
  '',
  'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n',
  'HTTP/1.1 102 Processing\r\n\r\n',
)

const bodied = fc
  .record({news, version: fc.constantFrom('1.1', '1.1', '1.0'), status, headers, keeping, framed, more: headers})
  .map(of => {
    const head = `HTTP/${of.version} ${of.status}\r\n${of.headers}${of.keeping}${of.framed.said}${of.more}\r\n`
    return {bytes: Buffer.from(of.news + head + of.framed.body, LATIN1), closes: of.framed.closes}
  })
const bodiless = fc
  .record({status: fc.constantFrom('204 No Content', '304 Not Modified'), headers, keeping})
  .map(of => ({
    bytes: Buffer.from(`HTTP/1.1 ${of.status}\r\n${of.headers}${of.keeping}\r\n`, LATIN1),
    closes: false,
  }))

export const reply: fc.Arbitrary<Reply> = fc.oneof({weight: 6, arbitrary: bodied}, {weight: 1, arbitrary: bodiless})

const odd = fc.constantFrom(
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  '0',
  'f',
  '\x7f',
  'HTTP/1.1 200 OK\r\n',
  'content-length: 3\r\n',
  'transfer-encoding: chunked\r\n',
)

/** A reply with a few bytes struck out and odd ones put in, mostly in its head. */
export const bent: fc.Arbitrary<Reply> = fc
  .record({
    of: reply,
    edits: fc.array(fc.record({at: fc.nat(), strikes: fc.nat({max: 3}), puts: fc.oneof(odd, fc.constant(''))}), {
      minLength: 1,
      maxLength: 2,
    }),
  })
  .map(({of, edits}) => {
    let bent = of.bytes.toString(LATIN1)
    for (const {at, strikes, puts} of edits) {
      const place = at % Math.min(bent.length + 1, 260)
      bent = bent.slice(0, place) + puts + bent.slice(place + strikes)
    }
    return {bytes: Buffer.from(bent, LATIN1), closes: true}
  })
