import type {Socket} from 'node:net'
import {errors} from 'undici'
import type {ConnectionTarget, HttpExchange} from './call.ts'
import {Chunks} from './chunks.ts'
import {broken, ReplyHead} from './reply-head.ts'
import {sendBytes, sendStream, TAKES_BODY} from './send.ts'
import {readFrom} from './shared-read-buffer.ts'

/** The owner of the lines, which a line reports to. */
export interface ConnectionOwner {
  /** `line` takes another call. */
  rests(line: HttpConnection): void
  /** Its socket is closed, or another's. */
  gone(line: HttpConnection): void
  /** Its socket closed before a byte of the reply: `call` is to be sent over another. */
  again(call: HttpExchange): void
}

const HEAD = 0
const COUNTED = 1
const CHUNKED = 2
const UNTIL_CLOSE = 3
/** Heads of status 1xx before the reply; none means more than one or two. */
const MAX_NEWS = 16
/** Smaller pieces are not timed. */
const HEAVY_BYTES = 8 * 1024
/** The bytes of one answer are processed for so long at a time; then other calls have their turn. */
const TURN_MS = 8

/** One head is read at a time, and is of no use when its call has it. */
const head = new ReplyHead()

/** One connection, for one call at a time. */
export class HttpConnection implements ConnectionTarget {
  /** When it is to be closed unless a call comes, on the clock of `performance.now`. */
  rests_until = 0
  /** How long the server says that it keeps it; null where it does not. */
  keeps_s: number | null = null
  readonly #socket: Socket
  readonly #owner: ConnectionOwner
  readonly #chunks = new Chunks()
  readonly #stopReading: () => void
  readonly #onEnd = () => this.#atEnd()
  readonly #onError = (fault: Error) => this.fail(fault)
  readonly #onClose = () => {
    this.#is_shut = true
    if (this.#call?.paused)
      this.#has_ended = true // what is held comes first
    else this.fail(new errors.SocketError('closed'))
  }
  #call: HttpExchange | null = null
  #stage = HEAD
  /** Bytes of a counted body yet to come. */
  #left = 0
  /** Heads of status 1xx that came for this call. */
  #news = 0
  /** The part of a head that has arrived. */
  #begun: Buffer | null = null
  /** Bytes that arrived after a call was paused. */
  #held: Buffer | null = null
  #is_reading = false
  #is_sending = false
  /** Milliseconds that were worked on what came in this turn of the event loop. */
  #worked_ms = 0
  /** It reads nothing until others had their turn. */
  #is_resting = false
  #has_ended = false
  #is_closed = false
  /** The socket has emitted `close`. */
  #is_shut = false
  #keeps = true
  /** Calls that it had, this one included. */
  #calls = 0

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket
    this.#owner = owner
    this.#stopReading = readFrom(socket, (bytes, length, is_lent) => this.#take(bytes, length, is_lent))
    socket.on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onClose)
  }

  get is_open(): boolean {
    return !this.#is_closed
  }

  /** Sends `call`; true when it does not, as its handler wants no more of it. */
  send(call: HttpExchange): boolean {
    if (!call.begin()) return true
    if (this.#is_closed) {
      call.fail(new errors.SocketError('closed'))
      return false
    }
    call.goes(this)
    this.#call = call
    this.#calls++
    this.#stage = HEAD
    this.#news = 0
    this.#keeps = !call.closes && (TAKES_BODY.has(call.method) || (call.bytes === null && call.stream === null))
    try {
      if (call.stream) this.#sendStream(call, call.stream)
      else sendBytes(this.#socket, call)
    } catch (fault) {
      this.fail(fault as Error)
    }
    return false
  }

  /** Ends its call with `fault`, if it has one, and its socket. */
  fail(fault: Error): void {
    const call = this.#call
    const is_unread = this.#stage === HEAD && this.#news === 0 && this.#begun === null
    this.#call = null
    this.#close()
    if (!call) return
    // a server that closes a kept line may do so as a call leaves for it: it never saw that one
    if (this.#calls > 1 && is_unread && GONE.has(codeOf(fault)) && call.repeats()) this.#owner.again(call)
    else call.fail(fault)
  }

  ref(): void {
    this.#socket.ref()
  }

  unref(): void {
    this.#socket.unref()
  }

  pause(): void {
    this.#socket.pause()
  }

  /**
   * A socket is read many times in one turn of the event loop, where much has come: between two of them others have
   * theirs.
   */
  #rest() {
    this.#is_resting = true
    this.#socket.pause()
    setImmediate(() => {
      this.#worked_ms = 0
      this.#is_resting = false
      if (!this.#is_closed && !this.#call?.paused) this.#socket.resume()
    })
  }

  #timed(began_at: number) {
    if (this.#worked_ms === 0) setImmediate(() => this.#endTurn())
    this.#worked_ms += Math.max(performance.now() - began_at, Number.MIN_VALUE)
    if (this.#worked_ms >= TURN_MS && !this.#is_closed) this.#rest()
  }

  #endTurn() {
    if (!this.#is_resting) this.#worked_ms = 0
  }

  /** Continues with the held bytes, then with new ones. */
  resume(call: HttpExchange): void {
    if (this.#is_reading) {
      if (!this.#is_resting) this.#socket.resume()
      return
    }
    const held = this.#held ?? NOTHING
    this.#held = null
    this.#read(call, held, 0, held.length, false)
    if (this.#is_closed || this.#call?.paused) return
    if (this.#has_ended) this.#atEnd()
    else if (!this.#is_resting) this.#socket.resume()
  }

  #sendStream(call: HttpExchange, stream: NonNullable<HttpExchange['stream']>) {
    this.#is_sending = true
    sendStream(this.#socket, call, stream).then(
      () => {
        this.#is_sending = false
      },
      fault => call.abort(fault),
    )
  }

  #close() {
    this.#is_closed = true
    this.#held = null
    this.#begun = null
    this.#socket.destroy()
    if (this.#is_shut) this.#owner.gone(this)
  }

  #take(bytes: Buffer, length: number, is_lent: boolean) {
    const call = this.#call
    if (!call) return this.#close() // unsolicited
    const began_at = length < HEAVY_BYTES ? 0 : performance.now()
    this.#takeOf(call, bytes, length, is_lent)
    if (began_at > 0) this.#timed(began_at)
  }

  #takeOf(call: HttpExchange, bytes: Buffer, length: number, is_lent: boolean) {
    if (this.#begun) {
      const whole = Buffer.concat([this.#begun, bytes.subarray(0, length)])
      this.#begun = null
      return this.#read(call, whole, 0, whole.length, false)
    }
    this.#read(call, bytes, 0, length, is_lent)
  }

  #read(call: HttpExchange, bytes: Buffer, at: number, to: number, is_lent: boolean) {
    this.#is_reading = true
    try {
      this.#readAll(call, bytes, at, to, is_lent)
    } catch (fault) {
      if (this.#call === call) this.fail(fault as Error) // else the handler has it already
    } finally {
      this.#is_reading = false
    }
  }

  #readAll(call: HttpExchange, bytes: Buffer, from: number, to: number, is_lent: boolean) {
    let at = from
    while (this.#call === call) {
      if (call.paused) return this.#hold(bytes, at, to)
      if (this.#stage === HEAD) {
        if (at === to) return
        const end = head.read(bytes, at, to)
        if (end < 0) {
          this.#begun = copied(bytes, at, to)
          return
        }
        at = end
        if (head.status === 101) return this.#upgrade(call, copied(bytes, at, to))
        this.#begin(call)
      } else {
        if (this.#stage === CHUNKED) {
          at = this.#chunks.read(bytes, at, to)
          if (this.#chunks.is_over) return this.#end(call, at < to)
          this.#left = this.#chunks.left
        } else if (this.#stage === COUNTED && this.#left === 0) return this.#end(call, at < to)
        if (at === to) return
        const end = this.#stage === UNTIL_CLOSE ? to : Math.min(to, at + this.#left)
        this.#left -= end - at
        this.#chunks.left = this.#left
        const piece = is_lent
          ? copied(bytes, at, end)
          : at === 0 && end === bytes.length
            ? bytes
            : bytes.subarray(at, end)
        at = end
        call.handler.onResponseData?.(call, piece)
      }
    }
  }

  #hold(bytes: Buffer, at: number, to: number) {
    const rest = copied(bytes, at, to)
    this.#held = this.#held ? Buffer.concat([this.#held, rest]) : rest
  }

  #begin(call: HttpExchange) {
    const {status, headers, reason, length, is_chunked} = head
    if (!head.keeps) this.#keeps = false
    if (status < 200 && ++this.#news > MAX_NEWS) throw broken('TOO_MUCH_NEWS', 'Too many informational replies')
    // some servers send it unasked; it says that the body may come, and that has left (RFC 9110, 15.2)
    if (status === 100) return
    if (status >= 200) {
      if (call.method === 'HEAD' || status === 204 || status === 304) {
        // what may follow would be the next reply
        if (call.method !== 'HEAD' && (is_chunked || length)) this.#keeps = false
        this.#stage = COUNTED
        this.#left = 0
      } else if (is_chunked) {
        this.#stage = CHUNKED
        this.#chunks.start()
      } else if (length !== null) {
        this.#stage = COUNTED
        this.#left = length
      } else {
        this.#stage = UNTIL_CLOSE
        this.#keeps = false
      }
      this.keeps_s = head.keeps_s
    }
    call.handler.onResponseStart?.(call, status, headers as Record<string, string>, reason)
  }

  #upgrade(call: HttpExchange, rest: Buffer) {
    if (!call.upgrade || !head.is_upgrade)
      throw broken('UNASKED_UPGRADE', 'It changes to a protocol that nobody asked for')
    const {status, headers} = head
    this.#call = null
    this.#is_closed = true
    this.#owner.gone(this)
    call.leave()
    this.#stopReading()
    this.#socket.off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose)
    if (rest.length > 0) this.#socket.unshift(rest)
    const socket = this.#socket
    try {
      call.handler.onRequestUpgrade?.(call, status, headers, socket)
    } catch (fault) {
      socket.destroy()
      call.handler.onResponseError?.(call, fault as Error)
    }
  }

  #end(call: HttpExchange, has_more: boolean) {
    this.#call = null
    if (this.#keeps && !has_more && !this.#is_sending && !this.#has_ended) this.#owner.rests(this)
    else this.#close()
    call.end()
  }

  #atEnd() {
    const call = this.#call
    if (!call) return this.#close()
    if (call.paused) {
      this.#has_ended = true
      return
    }
    if (this.#stage === UNTIL_CLOSE) return this.#end(call, false)
    const is_cut = !this.#keeps && this.#stage !== HEAD
    if (is_cut && this.#stage === COUNTED) this.fail(new errors.ResponseContentLengthMismatchError())
    else if (is_cut) this.fail(broken('INVALID_EOF_STATE', 'Stream ended unexpectedly'))
    else this.fail(new errors.SocketError('other side closed'))
  }
}

const NOTHING = Buffer.alloc(0)
/** Codes of a socket that the other side closed. */
const GONE: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

function codeOf(fault: Error): string {
  return 'code' in fault ? String(fault.code) : ''
}

function copied(bytes: Buffer, at: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - at)
  bytes.copy(copy, 0, at, to)
  return copy
}
