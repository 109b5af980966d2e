import {maxHeaderSize} from 'node:http'
import {errors} from 'undici'
import {COLON, CR, IN_TOKEN, IN_VALUE, LF, PLACES, SPACE, TAB} from './bytes.ts'

export type ReplyHeaders = Record<string, string | string[]>

/** Most bytes of a head, the separators of its lines included. */
const MAX_BYTES = 4 * maxHeaderSize
const MAX_LEARNED_NAMES = 1000
const LONGEST_LEARNED_NAME = 64
const HTTP_1 = Buffer.from('HTTP/1.')

/** Headers inherit nothing, so that any name is a name like others. */
function Bare() {}
Bare.prototype = Object.create(null)
const Empty = Bare as unknown as new () => ReplyHeaders

/**
 * The head of one reply, read strictly (RFC 9112): what two readers could take for two things is an `HTTPParserError`.
 */
export class ReplyHead {
  status = 0
  reason = ''
  headers: ReplyHeaders = new Empty()
  /** Null where it is absent. */
  length: number | null = null
  is_chunked = false
  /** True when the server takes further requests on the line. */
  keeps = false
  /** The seconds to keep the connection, when the header has them. */
  keeps_s: number | null = null
  /** True when it speaks of an upgrade, and its `connection` does, too. */
  is_upgrade = false
  /** The indexes at which names and values begin and end, four numbers for each header. */
  readonly #marks: number[] = []
  #minor = 0

  /**
   * The end of the head that begins at `from`; -1 while it is incomplete. Too long a one is a `HeadersOverflowError`.
   */
  read(bytes: Buffer, from: number, to: number): number {
    const end = this.#scan(bytes, from, to)
    if (end < 0) {
      if (to - from >= MAX_BYTES) throw new errors.HeadersOverflowError()
      return end
    }
    this.#readHeaders(bytes, from, end)
    return end
  }

  #scan(bytes: Buffer, from: number, to: number): number {
    const marks = this.#marks
    let at = from
    let size = 0
    marks.length = 0
    while (at < to && (bytes[at] === CR || bytes[at] === LF)) at++
    for (let place = 0; place < HTTP_1.length; place++, at++) {
      if (at >= to) return -1
      if (bytes[at] !== HTTP_1[place]) throw broken('INVALID_CONSTANT', 'Expected HTTP/1')
    }
    if (at >= to) return -1
    this.#minor = bytes[at++]! - 48
    if (this.#minor !== 0 && this.#minor !== 1) throw broken('INVALID_VERSION', 'Invalid HTTP version')
    if (at >= to) return -1
    if (bytes[at++] !== SPACE) throw broken('INVALID_VERSION', 'Expected space after version')
    let status = 0
    for (let digit = 0; digit < 3; digit++, at++) {
      if (at >= to) return -1
      const value = bytes[at]! - 48
      if (value < 0 || value > 9) throw broken('INVALID_STATUS', 'Invalid status code')
      status = status * 10 + value
    }
    if (status < 100) throw broken('INVALID_STATUS', 'Invalid status code')
    this.status = status
    if (at >= to) return -1
    const reason_at = at
    if (bytes[at] === SPACE) while (at < to && bytes[at] !== CR && bytes[at] !== LF) at++
    if (at >= to) return -1
    if (bytes[at] !== CR) throw broken('INVALID_STATUS', 'Invalid response status')
    marks.push(reason_at, at)
    if (++at >= to) return -1
    if (bytes[at++] !== LF) throw broken('LF_EXPECTED', 'Expected LF after status line')
    for (;;) {
      if (at >= to) return -1
      if (bytes[at] === CR) break
      const name_at = at
      while (at < to && PLACES[bytes[at]!]! & IN_TOKEN) at++
      if (at >= to) return -1
      if (bytes[at] !== COLON || at === name_at) throw broken('INVALID_HEADER_TOKEN', 'Invalid header token')
      const name_end = at++
      while (at < to && (bytes[at] === SPACE || bytes[at] === TAB)) at++
      const value_at = at
      while (at < to && PLACES[bytes[at]!]! & IN_VALUE) at++
      if (at >= to) return -1
      if (bytes[at] !== CR) throw broken('INVALID_HEADER_TOKEN', 'Invalid header value char')
      let value_end = at
      while (value_end > value_at && (bytes[value_end - 1] === SPACE || bytes[value_end - 1] === TAB)) value_end--
      if (++at >= to) return -1
      if (bytes[at++] !== LF) throw broken('LF_EXPECTED', 'Expected LF after header value')
      size += name_end - name_at + value_end - value_at
      if (size >= maxHeaderSize) throw new errors.HeadersOverflowError()
      marks.push(name_at, name_end, value_at, value_end)
    }
    if (++at >= to) return -1
    if (bytes[at++] !== LF) throw broken('LF_EXPECTED', 'Expected LF after headers')
    return at
  }

  #readHeaders(bytes: Buffer, from: number, end: number): void {
    const marks = this.#marks
    const text = bytes.toString('latin1', from, end)
    const headers = new Empty()
    this.headers = headers
    this.reason = text.slice(marks[0]! + 1 - from, marks[1]! - from)
    this.length = null
    this.is_chunked = false
    this.keeps_s = null
    let connection = 0
    let upgrades = false
    for (let mark = 2; mark < marks.length; mark += 4) {
      const raw = text.slice(marks[mark]! - from, marks[mark + 1]! - from)
      const value = text.slice(marks[mark + 2]! - from, marks[mark + 3]! - from)
      const name = NAMES.get(raw) ?? nameOf(raw)
      const known = headers[name]
      if (known === undefined) headers[name] = value
      else if (typeof known === 'string') headers[name] = [known, value]
      else known.push(value)
      switch (name) {
        case 'content-length':
          if (this.length !== null) throw broken('UNEXPECTED_CONTENT_LENGTH', 'Content-Length already present')
          this.length = lengthOf(value)
          break
        case 'transfer-encoding':
          if (this.is_chunked || value.toLowerCase() !== 'chunked')
            throw broken('INVALID_TRANSFER_ENCODING', 'Unknown transfer encoding')
          this.is_chunked = true
          break
        case 'connection':
        case 'proxy-connection':
          connection |= optionsOf(value)
          break
        case 'keep-alive':
          this.keeps_s ??= secondsOf(value)
          break
        case 'upgrade':
          upgrades = true
      }
    }
    if (this.is_chunked && this.length !== null)
      throw broken('INVALID_TRANSFER_ENCODING', "Transfer-Encoding can't be present with Content-Length")
    this.keeps = this.#minor === 1 ? !(connection & CLOSES) : (connection & (KEEPS | CLOSES)) === KEEPS
    this.is_upgrade = upgrades && (connection & UPGRADES) !== 0
  }
}

const ParserError = errors.HTTPParserError as unknown as new (message: string, code: string) => Error

/** A breach of HTTP/1.1, with the code that the parser of Node.js has for it (`HPE_`). */
export function broken(code: string, what: string): Error {
  return new ParserError(`Response does not match the HTTP/1.1 protocol (${what})`, code)
}

function lengthOf(value: string): number {
  if (value.length === 0 || value.length > 15) throw broken('INVALID_CONTENT_LENGTH', 'Invalid Content-Length')
  let length = 0
  for (let at = 0; at < value.length; at++) {
    const digit = value.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) throw broken('INVALID_CONTENT_LENGTH', 'Invalid character in Content-Length')
    length = length * 10 + digit
  }
  return length
}

const CLOSES = 1
const KEEPS = 2
const UPGRADES = 4
const OPTIONS: ReadonlyMap<string, number> = new Map([
  ['close', CLOSES],
  ['keep-alive', KEEPS],
  ['upgrade', UPGRADES],
])

function optionsOf(value: string): number {
  let options = OPTIONS.get(value)
  if (options === undefined) {
    options = 0
    for (const option of value.toLowerCase().split(',')) options |= OPTIONS.get(option.trim()) ?? 0
  }
  return options
}

function secondsOf(value: string): number | null {
  const match = /(?:^|,)[\t ]*timeout=(\d{1,9})/i.exec(value)
  return match ? Number(match[1]) : null
}

const USUAL = [
  ...[
    'Access-Control-Allow-Origin',
    'Alt-Svc',
    'CF-Cache-Status',
    'CF-RAY',
    'Cache-Control',
    'Connection',
    'Content-Encoding',
  ],
  ...[
    'Content-Length',
    'Content-Type',
    'Date',
    'ETag',
    'Keep-Alive',
    'Retry-After',
    'Server',
    'Set-Cookie',
    'Strict-Transport-Security',
  ],
  ...['Transfer-Encoding', 'Vary', 'Via', 'X-Request-Id', 'X-Content-Type-Options'],
]
/** Names as they were sent, each with the same in lower case. */
const NAMES = new Map<string, string>(
  USUAL.flatMap(name => [name, name.toLowerCase()].map(raw => [raw, name.toLowerCase()] as const)),
)

function nameOf(raw: string): string {
  const name = raw.toLowerCase()
  // `raw` would hold all of its head
  if (NAMES.size < MAX_LEARNED_NAMES && raw.length <= LONGEST_LEARNED_NAME) NAMES.set(Buffer.from(raw).toString(), name)
  return name
}
