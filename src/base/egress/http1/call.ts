import {Readable} from 'node:stream'
import {type Dispatcher, errors} from 'undici'
import {readHead} from './request-head.ts'

/** The part of a pool that counts its calls. */
export interface ExchangeOwner {
  /** Sends now what leaves at the end of the turn. */
  send(): void
  /** A call has come to its end. */
  left(): void
}

/** The connection that a call is sent over. */
export interface ConnectionTarget {
  fail(fault: Error): void
  pause(): void
  resume(call: HttpExchange): void
}

/** Methods that only read (RFC 9110, section 9.2.1). */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export type Streamed = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>

/** One request and its handler, from when it is dispatched to its one end: the reply's, an error or an upgrade. */
export class HttpExchange implements Dispatcher.DispatchController {
  readonly handler: Dispatcher.DispatchHandler
  readonly method: string
  readonly upgrade: string | null
  /** See `RequestHead.text`. */
  readonly head: string
  readonly length: number | null
  readonly closes: boolean
  readonly bytes: Buffer | null
  readonly stream: Streamed | null
  readonly #owner: ExchangeOwner
  #way: ConnectionTarget | null = null
  #is_begun = false
  #is_repeated = false
  is_over = false
  aborted = false
  paused = false
  reason: Error | null = null

  /** `host` is what calls that name none are for. */
  constructor(
    owner: ExchangeOwner,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    host: string,
  ) {
    const {text, length, closes} = readHead(options, host)
    const {body} = options
    this.#owner = owner
    this.handler = handler
    this.method = options.method
    this.upgrade = typeof options.upgrade === 'string' ? options.upgrade : null
    this.head = text
    this.length = length
    this.closes = closes
    this.bytes = bytesOf(body)
    this.stream =
      this.bytes === null && body != null && body !== '' && !(body instanceof Uint8Array) ? streamOf(body) : null
    if (this.bytes && length !== null && length !== this.bytes.length)
      throw new errors.RequestContentLengthMismatchError()
    if (this.stream instanceof Readable) this.stream.on('error', nothing) // it comes when the stream is read
  }

  /** Tells the handler, once, that it leaves now; false when that was the end of it. */
  begin(): boolean {
    if (this.#is_begun) return !this.is_over
    try {
      this.handler.onRequestStart?.(this, null)
    } catch (fault) {
      this.fail(fault as Error)
    }
    this.#is_begun = true
    return !this.is_over
  }

  /**
   * Its line is gone, and no byte of a reply came. True, once, for a call that changes nothing at the server and has no
   * body: it can be sent over another line.
   */
  repeats(): boolean {
    const is_safe = SAFE.has(this.method) && this.bytes === null && this.stream === null && this.upgrade === null
    if (!is_safe || this.#is_repeated || this.is_over || this.aborted) return false
    this.#is_repeated = true
    this.#way = null
    return true
  }

  /** It is sent over `way`. */
  goes(way: ConnectionTarget): void {
    this.#way = way
  }

  abort(reason: Error): void {
    if (this.is_over) return
    this.aborted = true
    this.reason = reason
    // given up before its turn ended it counts as sent all the same: the provider received what the ledger has
    if (this.#is_begun && !this.#way) this.#owner.send()
    if (this.#way) this.#way.fail(reason)
    else this.fail(reason)
  }

  pause(): void {
    this.paused = true
    this.#way?.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (!this.is_over) this.#way?.resume(this)
  }

  fail(fault: Error): void {
    if (this.is_over) return
    this.leave()
    this.handler.onResponseError?.(this, fault)
  }

  end(): void {
    this.leave()
    try {
      this.handler.onResponseEnd?.(this, {})
    } catch (fault) {
      this.handler.onResponseError?.(this, fault as Error)
    }
  }

  /** Counts it out. */
  leave(): void {
    this.is_over = true
    this.#way = null
    if (this.stream instanceof Readable) this.stream.destroy()
    this.#owner.left()
  }
}

function bytesOf(body: Dispatcher.DispatchOptions['body']): Buffer | null {
  if (typeof body === 'string') return body === '' ? null : Buffer.from(body)
  if (!(body instanceof Uint8Array) || body.length === 0) return null
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

function streamOf(body: NonNullable<Dispatcher.DispatchOptions['body']>): Streamed {
  if (typeof body === 'object' && (Symbol.asyncIterator in body || (Symbol.iterator in body && !('append' in body))))
    return body as Streamed
  throw new errors.InvalidArgumentError(
    'body must be a string, a Buffer, a Readable stream, an iterable, or an async iterable',
  )
}

function nothing() {}
