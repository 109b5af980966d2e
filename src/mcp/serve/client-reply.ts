import type {After} from '../../base/delay.ts'

/** A stream has a sign of life at least so often; a reply that is not ready by then becomes a stream. */
export const QUIET_MS = 15_000
/** A client that takes nothing holds back so much, and then its stream ends. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024
// Made once: without a reason each abort would make a DOMException and its stack, a twentieth of a call.
const LEFT = Object.assign(new Error('The client left before the end of its reply.'), {name: 'AbortError'})
const OVER = Object.assign(new Error('The reply is over.'), {name: 'AbortError'})

export type ReplyFields = Readonly<Record<string, string>>

/** The object that a reply is written to: that of node:http, or one that stays in the process. */
export interface ReplyTarget {
  readonly writableFinished: boolean
  readonly writableNeedDrain: boolean
  readonly writableLength: number
  on(event: 'close' | 'error' | 'drain', listener: () => void): unknown
  once(event: 'close', listener: () => void): unknown
  off(event: 'close' | 'drain', listener: () => void): unknown
  writeHead(status: number, headers: ReplyFields): unknown
  write(text: string): unknown
  end(body?: Buffer): unknown
  destroy(): unknown
}

/**
 * The reply to one POST or GET of a client: JSON with a status, or a stream of events that begins with its first
 * message, or when the reply takes long. It ends once; what comes later is dropped.
 */
export class ClientReply {
  readonly #response: ReplyTarget
  readonly #after: After
  readonly #may_stream: boolean
  readonly #headers: ReplyFields
  readonly #gone = new AbortController()
  #over: AbortController | undefined
  #is_stream = false
  #is_over = false
  #sent_bytes = 0
  #callOff: () => void

  constructor(
    response: ReplyTarget,
    {after, may_stream, headers}: {readonly after: After; readonly may_stream: boolean; readonly headers: ReplyFields},
  ) {
    this.#response = response
    this.#after = after
    this.#may_stream = may_stream
    this.#headers = headers
    this.#callOff = may_stream ? after(QUIET_MS, () => this.#quiet()) : () => undefined
    response.once('close', () => {
      this.#callOff()
      if (!response.writableFinished) this.#gone.abort(LEFT)
      this.#is_over = true
      this.#over?.abort(OVER)
    })
    // a client that left is known by `close`
    response.on('error', () => undefined)
  }

  /** Aborted when the client leaves before the end. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** Aborted at the end of the reply, of either side. Streams alone ask for it, so it is made for them. */
  get over(): AbortSignal {
    if (!this.#over) {
      this.#over = new AbortController()
      if (this.#is_over) this.#over.abort(OVER)
    }
    return this.#over.signal
  }

  get is_stream(): boolean {
    return this.#is_stream
  }

  get is_over(): boolean {
    return this.#is_over
  }

  /** The client takes a stream. */
  get may_stream(): boolean {
    return this.#may_stream
  }

  get sent_bytes(): number {
    return this.#sent_bytes
  }

  /** Begins the stream where it has not begun: headers and a first byte go at once. `retry_ms`: for its end. */
  open(retry_ms?: number): void {
    if (this.#is_over || this.#is_stream) return
    this.#is_stream = true
    this.#response.writeHead(200, {
      ...this.#headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    this.#write(retry_ms === undefined ? ': open\n\n' : `retry: ${retry_ms}\n\n`)
  }

  /** One message as an event. False where the client does not take it any more. */
  event(text: string, id?: string): boolean {
    if (this.#is_over) return false
    this.open()
    const id_line = id === undefined ? '' : `id: ${id}\n`
    this.#write(`${id_line}event: message\ndata: ${oneLine(text)}\n\n`)
    return !this.#is_over
  }

  /** Resolves when the client has taken what was written; at once where it has, or has left. */
  async taken(): Promise<void> {
    if (this.#is_over || !this.#response.writableNeedDrain) return
    await new Promise<void>(resolve => {
      const done = () => {
        this.#response.off('drain', done)
        this.#response.off('close', done)
        resolve()
      }
      this.#response.on('drain', done)
      this.#response.on('close', done)
    })
  }

  /** Ends with a message: as JSON with the status, or as the last event of a stream. */
  end(status: number, text: string, headers: ReplyFields = {}, id?: string): void {
    if (this.#is_over) return
    if (this.#is_stream) {
      this.event(text, id)
      return this.close()
    }
    this.#finish(status, {...headers, 'content-type': 'application/json'}, text)
  }

  /** Ends without a body. */
  empty(status: number, headers: ReplyFields = {}): void {
    if (this.#is_over) return
    if (this.#is_stream) return this.close()
    this.#finish(status, headers, '')
  }

  /** Ends a stream; one that has not begun is begun first. */
  close(): void {
    if (this.#is_over) return
    this.open()
    this.#callOff()
    this.#is_over = true
    this.#response.end()
    this.#over?.abort(OVER)
  }

  #finish(status: number, headers: ReplyFields, text: string) {
    this.#callOff()
    this.#is_over = true
    const bytes = Buffer.from(text)
    this.#sent_bytes += bytes.length
    this.#response.writeHead(status, {...this.#headers, ...headers, 'content-length': String(bytes.length)})
    this.#response.end(bytes)
    this.#over?.abort(OVER)
  }

  #write(text: string) {
    this.#callOff()
    this.#sent_bytes += Buffer.byteLength(text)
    this.#response.write(text)
    if (this.#response.writableLength > MOST_WAITING_BYTES) {
      this.#is_over = true
      this.#gone.abort(LEFT)
      this.#response.destroy()
      return
    }
    this.#callOff = this.#after(QUIET_MS, () => this.#quiet())
  }

  #quiet() {
    if (this.#is_over) return
    if (this.#is_stream) this.#write(': quiet\n\n')
    else this.open()
  }
}

/** JSON has a line break between its parts alone, where a blank does as well. */
function oneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text
}
