import {STATUS_CODES} from 'node:http'
import type {Socket} from 'node:net'
import {NOT_IN_HEADER_VALUES} from '../header-values.ts'

/** The object that an answer is written to: node:http's `ServerResponse`, or that of a plain request. */
export interface ClientResponse {
  readonly headersSent: boolean
  /** Nothing of it is yet to come from us. */
  readonly writableFinished: boolean
  readonly socket: Socket | null
  /** `close` is emitted at the end of the answer or of the connection, whichever comes first. */
  on(event: 'error' | 'close' | 'drain', listener: () => void): unknown
  /** `headers`: name, value, name, value. */
  writeHead(status: number, headers: string[]): unknown
  flushHeaders(): void
  /** False when the socket is full. */
  write(chunk: Buffer): boolean
  /** `encoding` is that of a string. */
  end(last: Buffer | string, encoding: 'latin1' | 'utf8'): unknown
  destroy(): unknown
}

/** Called when the answer is written; `keeps`: the connection may be kept. */
type Ended = (keeps: boolean) => void

const ONE_PIECE_BYTES = 8 << 10

/** The answer to a plain request, HTTP/1.1 (RFC 9112): with its length where the head says it, else in chunks. */
export class FastResponse implements ClientResponse {
  readonly socket: Socket
  readonly #ended: Ended
  readonly #keep_alive: string
  #head = ''
  #has_body = true
  #is_chunked = false
  #keeps: boolean
  #over = false
  headersSent = false
  #onClose: (() => void) | undefined
  #onDrain: (() => void) | undefined

  /** `keep_alive`: the lines that say how long the connection is kept; null where this is the last answer on it. */
  constructor(socket: Socket, keep_alive: string | null, ended: Ended) {
    this.socket = socket
    this.#keep_alive = keep_alive ?? ''
    this.#keeps = keep_alive !== null
    this.#ended = ended
  }

  get writableFinished(): boolean {
    return this.#over
  }

  on(event: 'error' | 'close' | 'drain', listener: () => void): void {
    if (event === 'close') this.#onClose = listener
    else if (event === 'drain') this.#onDrain = listener
  }

  writeHead(status: number, headers: string[]): void {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`
    let has_date = false
    let has_length = false
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at]!
      const value = headers[at + 1]!
      if (NOT_IN_HEADER_VALUES.test(value)) throw new TypeError(`The value of the header ${name} cannot be sent.`)
      if (name === 'connection') {
        if (value === 'close') this.#keeps = false
        continue
      }
      if (name === 'date') has_date = true
      else if (name === 'content-length') has_length = true
      head += `${name}: ${value}\r\n`
    }
    this.#has_body = status !== 204 && status !== 304
    this.#is_chunked = this.#has_body && !has_length
    if (!has_date) head += `Date: ${httpDate()}\r\n`
    head += this.#keeps ? this.#keep_alive : 'Connection: close\r\n'
    this.#head = `${head}${this.#is_chunked ? 'Transfer-Encoding: chunked\r\n' : ''}\r\n`
    this.headersSent = true
  }

  flushHeaders(): void {
    if (this.#head) this.socket.write(this.#taken(), 'latin1')
  }

  write(chunk: Buffer): boolean {
    if (!this.#has_body) return true
    const {socket} = this
    if (!this.#is_chunked) return this.#send(chunk)
    const size = `${this.#taken()}${chunk.length.toString(16)}\r\n`
    // a Latin-1 string carries any bytes, and leaves in one piece
    if (chunk.length <= ONE_PIECE_BYTES) return socket.write(`${size}${chunk.toString('latin1')}\r\n`, 'latin1')
    socket.cork()
    socket.write(size, 'latin1')
    socket.write(chunk)
    const takes_more = socket.write('\r\n', 'latin1')
    socket.uncork()
    return takes_more
  }

  end(last: Buffer | string, encoding: 'latin1' | 'utf8'): void {
    if (this.#over) return
    this.#over = true
    if (this.#is_chunked) this.#endChunks(typeof last === 'string' ? Buffer.from(last, encoding) : last)
    else if (!this.#has_body || last.length === 0) this.flushHeaders()
    else if (typeof last === 'string' && encoding === 'latin1') this.socket.write(this.#taken() + last, 'latin1')
    else this.#send(typeof last === 'string' ? Buffer.from(last) : last)
    this.#ended(this.#keeps)
  }

  /** The last chunk and the end are one write: those of a stream wait for the settlement, and go together. */
  #endChunks(last: Buffer): void {
    const is_short = last.length <= ONE_PIECE_BYTES
    if (!is_short) this.write(last)
    const chunk = is_short && last.length > 0 ? `${last.length.toString(16)}\r\n${last.toString('latin1')}\r\n` : ''
    this.socket.write(`${this.#taken()}${chunk}0\r\n\r\n`, 'latin1')
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** The connection has ended, or continues with the next request. */
  closed(): void {
    this.#onClose?.()
  }

  drained(): void {
    this.#onDrain?.()
  }

  #send(bytes: Buffer): boolean {
    const {socket} = this
    if (!this.#head) return socket.write(bytes)
    socket.cork()
    socket.write(this.#taken(), 'latin1')
    const takes_more = socket.write(bytes)
    socket.uncork()
    return takes_more
  }

  #taken(): string {
    const head = this.#head
    this.#head = ''
    return head
  }
}

let date = ''
let date_until_ms = 0

/** The time as HTTP says it, to the second (RFC 9110, section 5.6.7). */
function httpDate(): string {
  const now_ms = Date.now()
  if (now_ms >= date_until_ms || now_ms < date_until_ms - 1000) {
    date_until_ms = now_ms - (now_ms % 1000) + 1000
    date = new Date(now_ms).toUTCString()
  }
  return date
}
