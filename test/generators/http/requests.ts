import fc from 'fast-check'
import {put, withLine} from './lines.ts'

/** What a client sends on one connection, and in which pieces it comes. */
export interface Sent {
  readonly text: string
  /** Places at which it is cut. */
  readonly cuts: readonly number[]
}

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,10}$/)
const name = fc.oneof(
  fc.constantFrom('Content-Type', 'x-request-id', 'Accept', 'cookie', 'X-Odd', '__proto__', 'constructor', 'Date'),
  token,
)
const value = fc.oneof(fc.stringMatching(/^[!-~\u0080-\u00ff]{1,12}([ \t][!-~\u0080-\u00ff]{1,8})?$/), fc.constant(''))
/** Fields that decide how a request is read or what becomes of its connection: said on purpose, below. */
const MEANT =
  /^(content-length|transfer-encoding|connection|proxy-connection|keep-alive|upgrade|expect|host|trailer|te)$/i
const field = fc
  .tuple(
    name.filter(text => !MEANT.test(text)),
    fc.constantFrom(':', ': ', ':\t '),
    value,
    fc.constantFrom('', '', ' ', '\t'),
  )
  .map(parts => `${parts.join('')}\r\n`)
const fields = fc.uniqueArray(field, {maxLength: 4, selector: text => text.slice(0, 3)}).map(all => all.join(''))
const special = fc.oneof(
  {weight: 4, arbitrary: fc.constantFrom('', '', 'Connection: keep-alive\r\n', 'connection: Keep-Alive\r\n')},
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'Connection: close\r\n',
      'Connection: x, close\r\n',
      'Connection: Upgrade\r\nUpgrade: h2c\r\n',
      'Expect: 100-continue\r\n',
      'TE: trailers\r\n',
    ),
  },
)
const body = fc.oneof(
  fc.uint8Array({minLength: 1, maxLength: 120}).map(bytes => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom('{}', '', 'POST /plain HTTP/1.1\r\nHost: inner\r\nContent-Length: 2\r\n\r\nin', '\r\n', '0\r\n\r\n'),
)
const extension = fc.constantFrom('', '', ';a', ';a=b', ';a="b c"')
const chunked = fc
  .record({
    parts: fc.array(fc.tuple(body, extension), {maxLength: 3}),
    trailers: fc.constantFrom('', '', 'X-Sum: 1\r\n'),
  })
  .map(({parts, trailers}) => {
    const chunks = parts
      .filter(([part]) => part !== '')
      .map(([part, beside]) => `${part.length.toString(16)}${beside}\r\n${part}\r\n`)
    return {said: 'Transfer-Encoding: chunked\r\n', body: `${chunks.join('')}0\r\n${trailers}\r\n`}
  })
const framed = fc.oneof(
  {weight: 12, arbitrary: body.map(text => ({said: `Content-Length: ${text.length}\r\n`, body: text}))},
  {weight: 1, arbitrary: body.map(text => ({said: `content-length: 0${text.length}\r\n`, body: text}))},
  {weight: 2, arbitrary: chunked},
  {weight: 1, arbitrary: fc.constant({said: '', body: ''})},
)
const line = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom('POST /plain HTTP/1.1', 'POST /plain?a=b HTTP/1.1', 'POST /plain/early HTTP/1.1'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'POST /other HTTP/1.1',
      'GET /plain HTTP/1.1',
      'PUT /plain HTTP/1.1',
      'POST /plain HTTP/1.0',
      'HEAD /x HTTP/1.1',
    ),
  },
)

const request = fc
  .record({line, host: fc.constantFrom('Host: here\r\n', 'host:here\r\n'), fields, special, framed, more: fields})
  .map(of => {
    const head = of.line.startsWith('POST') || of.framed.body === '' ? of.framed : {said: '', body: ''}
    return `${of.line}\r\n${of.host}${of.fields}${of.special}${head.said}${of.more}\r\n${head.body}`
  })

const odd = fc.constantFrom(
  ...['\r', '\n', '\r\n', '\0', ' ', '\t', ':', ';', '0', 'f', '+', '-', ',', '\x7f', '\x80', '"'],
  ...[
    'Content-Length: 3\r\n',
    'Content-Length: 3, 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
  ],
  ...[
    'transfer-encoding:identity\r\n',
    'Host: other\r\n',
    ' folded\r\n',
    'POST /plain HTTP/1.1\r\n',
    '\r\n\r\n',
    'HTTP/1.1',
    'Content_Length: 5\r\n',
  ],
)
const edit = fc.record({at: fc.nat(), strikes: fc.nat({max: 3}), puts: fc.oneof(odd, fc.constant(''))})
const edits = fc.oneof(
  {weight: 3, arbitrary: fc.constant([])},
  {weight: 2, arbitrary: fc.array(edit, {minLength: 1, maxLength: 1})},
  {weight: 1, arbitrary: fc.array(edit, {minLength: 2, maxLength: 3})},
)
const cuts = fc.oneof(
  {weight: 3, arbitrary: fc.constant<number[]>([])},
  {weight: 1, arbitrary: fc.array(fc.nat(), {maxLength: 6})},
)

/** One to three requests on a connection, with a few bytes struck out and odd ones put in, mostly in a head. */
export const sent: fc.Arbitrary<Sent> = fc
  .record({
    requests: fc.array(request, {minLength: 1, maxLength: 3}),
    lines: fc.oneof(fc.constant(null), put),
    edits,
    cuts,
  })
  .map(({requests, lines, edits, cuts}) => {
    let text = requests.join('')
    if (lines) text = withLine(text, lines)
    for (const {at, strikes, puts} of edits) {
      const place = at % Math.min(text.length + 1, 300)
      text = text.slice(0, place) + puts + text.slice(place + strikes)
    }
    return {text, cuts: [...new Set(cuts.map(cut => cut % (text.length + 1)))].sort((a, b) => a - b)}
  })
