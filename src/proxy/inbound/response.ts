import type {Socket} from 'node:net'
import type {Refusal} from '../../base/errors.ts'
import type {ClientResponse} from '../../base/ingress/response.ts'
import type {ErrorResponse} from './error-response.ts'

const ONE_PIECE_BYTES = 8 << 10
/** Sockets whose answers leave at the end of this turn. */
const corked: Socket[] = []

function uncorkAll() {
  for (const socket of corked) socket.uncork()
  corked.length = 0
}

/** The events of an answer's client. */
export interface ClientEvents {
  /** The client left before its answer was whole; called once. */
  clientGone(): void
  /** A socket that was full takes bytes again. */
  clientReady(): void
  /** Ends it with a refusal. */
  refuse?(fault: Refusal): void
}

/**
 * Owns the answer to one client: every way out of a call goes through it, and it never throws. The head waits for the
 * first bytes, so that a short answer leaves in one piece with its length.
 */
export class ResponseWriter {
  readonly #response: ClientResponse
  readonly #gateway: {readonly draining: boolean}
  #head: {readonly status: number; readonly headers: string[]; readonly says_length: boolean} | undefined
  #over = false
  #source: ClientEvents | null = null

  constructor(response: ClientResponse, gateway: {readonly draining: boolean}) {
    this.#response = response
    this.#gateway = gateway
    response.on('error', () => undefined) // 'close' follows
    response.on('close', () => {
      if (!response.writableFinished) this.#leave()
    })
    response.on('drain', () => this.#source?.clientReady())
  }

  /** From now on (null: no more) `source` hears of the client's events. */
  setListener(source: ClientEvents | null): void {
    this.#source = source
  }

  /** The rest of the request is not waited for. */
  giveUp(fault: Refusal): void {
    this.#source?.refuse?.(fault)
  }

  /** True when the client has left. */
  gone = false

  /** True once bytes may have reached the client: nothing but this answer's rest can follow. */
  get started(): boolean {
    return this.#response.headersSent
  }

  /** Sets status and headers (name, value, name, value). `says_length`: they hold the body's length. */
  head(status: number, headers: string[], says_length: boolean): void {
    this.#head = {status, headers, says_length}
  }

  /** Sends the head by itself, for a stream whose first event is not there yet. */
  flushHead(): void {
    if (this.#over || this.gone || !this.#head) return
    this.#writeHead()
    this.#response.flushHeaders()
  }

  /** Sends bytes of the body; false when the socket is full. */
  write(chunk: Buffer): boolean {
    if (this.#over || this.gone || chunk.length === 0) return true
    this.#writeHead()
    return this.#response.write(chunk)
  }

  /** Sends the last bytes and ends the answer, behind what is still to come when there is a `trailer`. */
  end(parts: readonly Buffer[], trailer?: Promise<Buffer> | null): void {
    if (this.#over || this.gone) return
    if (trailer) {
      for (const part of parts) this.write(part)
      const last = (more: Buffer[]) => this.end(more)
      return void trailer.then(
        more => last([more]),
        () => last([]),
      )
    }
    this.#over = true
    const last = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    if (this.#head && !this.#head.says_length) this.#head.headers.push('content-length', String(last.length))
    this.#withOthers()
    const whole = this.#head !== undefined && last.length <= ONE_PIECE_BYTES
    this.#writeHead()
    // a Latin-1 string carries any bytes, and leaves with the head in one piece
    if (whole) this.#response.end(last.toString('latin1'), 'latin1')
    else this.#response.end(last, 'latin1')
  }

  /** Answers in our own name; cuts the connection when another answer has begun. */
  refuse(
    {status, body, headers: of_body, retry_after_s, closes}: ErrorResponse,
    headers: readonly string[],
    close: boolean,
  ): void {
    if (this.#over || this.gone) return
    if (this.started) return this.cut()
    this.#over = true
    const all = [
      'content-type',
      'application/json; charset=utf-8',
      'content-length',
      String(Buffer.byteLength(body)),
      ...headers,
      ...of_body,
    ]
    if (retry_after_s !== null) all.push('retry-after', String(retry_after_s))
    if (close || closes || this.#gateway.draining) all.push('connection', 'close')
    this.#response.writeHead(status, all)
    // node:http writes a head in the encoding of a text that follows it
    this.#response.end(Buffer.from(body).toString('latin1'), 'latin1')
  }

  /** Ends the connection without the answer's end, so that the client cannot take what it has for the whole. */
  cut(): void {
    if (this.#over) return
    this.#over = true
    this.#response.destroy()
  }

  /**
   * The journal reports many settlements in one turn: the answers they release leave one behind the other at its end.
   */
  #withOthers() {
    const {socket} = this.#response
    if (!socket) return
    socket.cork()
    if (corked.push(socket) === 1) process.nextTick(uncorkAll)
  }

  #writeHead() {
    if (!this.#head) return
    // else it would stay open, and be waited for
    if (this.#gateway.draining) this.#head.headers.push('connection', 'close')
    this.#response.writeHead(this.#head.status, this.#head.headers)
    this.#head = undefined
  }

  #leave() {
    if (this.gone) return
    this.gone = true
    this.#source?.clientGone()
  }
}
