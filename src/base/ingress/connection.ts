import type {Socket} from 'node:net'
import type {Governed} from './governed.ts'
import type {Governor} from './governor.ts'
import {readPlainHead} from './head.ts'
import {FastRequest} from './request.ts'
import {type ClientResponse, FastResponse} from './response.ts'

/** The handling of a client's connection. */
export interface Ingress {
  /** True for a path whose plain POSTs are taken here. */
  takes(path: string): boolean
  handle(request: FastRequest, response: ClientResponse): void
  /** Gives the connection away, with what came of the request that is not plain. */
  handOver(socket: Socket, came: Buffer): void
  /** True when a connection may be kept once its answer is written. */
  readonly keeps: boolean
  readonly keep_alive: string
  readonly governor: Governor
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const POST = 'POST '
const VERSION = ' HTTP/1.1\r\n'
const MAX_HEAD_BYTES = 64 << 10
/** Larger bodies may be refused for their length, or kept from coming faster than they are read. */
const MAX_BODY_BYTES = 1 << 20
/** The most bytes that a client may send ahead during an answer, and of a body that is not read yet. */
const MAX_AHEAD_BYTES = 64 << 10

/**
 * A client's connection as long as all it sends are plain requests whose head comes in one piece: one call at a time,
 * without the objects and the checks that everything else in HTTP needs. The first other byte gives it to node:http
 * permanently.
 */
export class Connection {
  readonly #socket: Socket
  readonly #ingress: Ingress
  readonly #governed: Governed
  #request: FastRequest | undefined
  #response: FastResponse | undefined
  /** The answer is written; of the request some may be yet to come. */
  #is_answered = false
  #is_closing = false
  /** Bytes that came behind the request that is being answered. */
  #ahead: Buffer[] = []
  #ahead_bytes = 0

  constructor(socket: Socket, ingress: Ingress, governed: Governed) {
    this.#socket = socket
    this.#ingress = ingress
    this.#governed = governed
    governed.front = this
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('close', this.#onClose)
    socket.on('drain', this.#onDrain)
    socket.on('error', ignore)
  }

  /** Ignores further bytes: the connection is about to end. */
  stop(): void {
    this.#is_closing = true
  }

  readonly #onData = (bytes: Buffer) => {
    if (this.#is_closing) return
    if (!this.#request) return this.#begin(bytes)
    const request = this.#request
    const was_complete = request.complete
    const rest = request.take(bytes)
    if (rest) this.#keepForLater(rest)
    if (!request.complete)
      return request.is_behind && request.came_bytes > MAX_AHEAD_BYTES ? this.#holdUp(request) : undefined
    if (!was_complete) this.#ingress.governor.whole(this.#governed)
    if (this.#is_answered) this.#next()
  }

  /** It is not read yet, as its caller is not known yet. */
  #holdUp(request: FastRequest) {
    this.#socket.pause()
    request.onRead = () => this.#socket.resume()
  }

  /** A client that sends no more wants no answer, as node:http has it. */
  readonly #onEnd = () => {
    this.#ingress.governor.end(this.#governed)
    this.#lose()
  }

  readonly #onClose = () => this.#lose()

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
    const {governor, keep_alive} = this.#ingress
    const goes_on = governor.begin(this.#governed, request.complete ? null : request)
    this.#response = new FastResponse(this.#socket, goes_on ? keep_alive : null, this.#ended)
    this.#ingress.handle(request, this.#response)
  }

  #read(bytes: Buffer): {readonly request: FastRequest; readonly rest: Buffer | undefined} | undefined {
    const end = bytes.indexOf(END_OF_HEAD)
    if (end < 0 || end > MAX_HEAD_BYTES) return undefined
    const text = bytes.toString('latin1', 0, end + 2)
    const line = text.indexOf('\r\n')
    if (!text.startsWith(POST) || !text.startsWith(VERSION, line + 2 - VERSION.length)) return undefined
    const path = text.slice(POST.length, line + 2 - VERSION.length)
    if (!this.#ingress.takes(path)) return undefined
    const head = readPlainHead(text.slice(line + 2))
    if (!head || head.body_bytes > MAX_BODY_BYTES) return undefined
    const from = end + END_OF_HEAD.length
    const request = new FastRequest('POST', path, head, this.#socket)
    return {request, rest: from < bytes.length ? bytes.subarray(from) : undefined}
  }

  #keepForLater(bytes: Buffer) {
    this.#ahead.push(bytes)
    this.#ahead_bytes += bytes.length
    if (this.#ahead_bytes > MAX_AHEAD_BYTES) this.#socket.pause()
  }

  readonly #ended = (keeps: boolean) => {
    const {governor} = this.#ingress
    const response = this.#response
    this.#is_answered = true
    this.#response = undefined
    governor.answered(this.#governed)
    if (!keeps || !this.#ingress.keeps || this.#is_closing) governor.end(this.#governed)
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
    this.#governed.front = null
    this.#ingress.governor.head(this.#governed)
    this.#ingress.handOver(socket, bytes)
  }
}

const ignore = () => undefined
