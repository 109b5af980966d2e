import type {Socket} from 'node:net'
import {readPlainHead} from './head.ts'
import {PlainRequest} from './request.ts'
import {type ClientResponse, PlainResponse} from './response.ts'

/** What a front does with a connection. */
export interface Ingress {
  /** True for a path whose plain POSTs are taken here. */
  takes(path: string): boolean
  handle(request: PlainRequest, response: ClientResponse): void
  /** Gives the connection away, with what came of the request that is not plain. */
  handOver(connection: Connection, socket: Socket, came: Buffer): void
  closed(connection: Connection): void
  /** Whether a connection may be kept when its answer is written. */
  readonly keeps: boolean
  readonly keep_alive: string
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const POST = 'POST '
const VERSION = ' HTTP/1.1\r\n'
const MOST_HEAD_BYTES = 64 << 10
/** Larger bodies may be refused for their length, or kept from coming faster than they are read. */
const MOST_BODY_BYTES = 1 << 20
/** What a client may send ahead while an answer is under way. */
const MOST_AHEAD_BYTES = 64 << 10

/**
 * A client's connection as long as all it sends are plain requests whose head comes in one piece: one call at a time, without the objects and
 * the checks that everything else in HTTP needs. The first other byte gives it to node:http for good.
 */
export class Connection {
  readonly #socket: Socket
  readonly #ingress: Ingress
  #request: PlainRequest | undefined
  #response: PlainResponse | undefined
  /** The answer is written; of the request some may be yet to come. */
  #is_answered = false
  #is_closing = false
  /** What came behind the request that is being answered. */
  #ahead: Buffer[] = []
  #ahead_bytes = 0
  /** When the last answer was written, or the connection began. */
  idle_since_ms: number

  constructor(socket: Socket, ingress: Ingress, now_ms: number) {
    this.#socket = socket
    this.#ingress = ingress
    this.idle_since_ms = now_ms
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('close', this.#onClose)
    socket.on('drain', this.#onDrain)
    socket.on('error', ignore)
  }

  /** No call is under way; of one that is answered some may be yet to come. */
  get isIdle(): boolean {
    return this.#request === undefined || this.#is_answered
  }

  /** Ends it once what was written has left. */
  close(): void {
    if (this.#is_closing) return
    this.#is_closing = true
    this.#socket.destroySoon()
  }

  destroy(): void {
    this.#is_closing = true
    this.#socket.destroy()
  }

  readonly #onData = (bytes: Buffer) => {
    if (this.#is_closing) return
    if (!this.#request) return this.#begin(bytes)
    const rest = this.#request.take(bytes)
    if (rest) this.#keepForLater(rest)
    if (this.#is_answered && this.#request.complete) this.#next()
  }

  /** A client that sends no more wants no answer, as node:http has it. */
  readonly #onEnd = () => {
    this.#socket.destroySoon()
    this.#lose()
  }

  readonly #onClose = () => {
    this.#lose()
    this.#ingress.closed(this)
  }

  readonly #onDrain = () => {
    if (this.#response) this.#response.drained()
    else this.#socket.resume()
  }

  #lose() {
    this.#is_closing = true
    this.#request?.lost()
    if (!this.#is_answered) this.#response?.closed()
    this.#response = undefined
  }

  #begin(bytes: Buffer) {
    const found = this.#read(bytes)
    if (!found) return this.#handOver(bytes)
    const {request, rest} = found
    this.#request = request
    this.#is_answered = false
    const behind = rest && request.take(rest)
    if (behind) this.#keepForLater(behind)
    this.#response = new PlainResponse(this.#socket, this.#ingress.keep_alive, this.#ended)
    this.#ingress.handle(request, this.#response)
  }

  #read(bytes: Buffer): {readonly request: PlainRequest; readonly rest: Buffer | undefined} | undefined {
    const end = bytes.indexOf(END_OF_HEAD)
    if (end < 0 || end > MOST_HEAD_BYTES) return undefined
    const text = bytes.toString('latin1', 0, end + 2)
    const line = text.indexOf('\r\n')
    if (!text.startsWith(POST) || !text.startsWith(VERSION, line + 2 - VERSION.length)) return undefined
    const path = text.slice(POST.length, line + 2 - VERSION.length)
    if (!this.#ingress.takes(path)) return undefined
    const head = readPlainHead(text.slice(line + 2))
    if (!head || head.body_bytes > MOST_BODY_BYTES) return undefined
    const from = end + END_OF_HEAD.length
    return {request: new PlainRequest('POST', path, head), rest: from < bytes.length ? bytes.subarray(from) : undefined}
  }

  #keepForLater(bytes: Buffer) {
    this.#ahead.push(bytes)
    this.#ahead_bytes += bytes.length
    if (this.#ahead_bytes > MOST_AHEAD_BYTES) this.#socket.pause()
  }

  readonly #ended = (keeps: boolean) => {
    const response = this.#response
    this.#is_answered = true
    this.idle_since_ms = Date.now()
    this.#response = undefined
    if (!keeps || !this.#ingress.keeps || this.#is_closing) this.close()
    else if (this.#request?.complete) this.#next()
    else this.#request?.drop()
    response?.closed()
  }

  #next() {
    this.#request = undefined
    if (this.#ahead.length > 0) this.#handOver(Buffer.concat(this.#ahead))
    else if (this.#socket.writableNeedDrain) this.#socket.pause() // who does not read its answers asks no more
  }

  #handOver(bytes: Buffer) {
    const socket = this.#socket
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('close', this.#onClose)
    socket.off('drain', this.#onDrain)
    socket.off('error', ignore)
    this.#is_closing = true
    this.#ingress.handOver(this, socket, bytes)
  }
}

const ignore = () => undefined
