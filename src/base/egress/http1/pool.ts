import type {Socket} from 'node:net'
import {Dispatcher, errors} from 'undici'
import {atTurnEnd} from '../../turn-end.ts'
import {EgressFault} from '../faults.ts'
import {type ExchangeOwner, HttpExchange} from './call.ts'
import {type ConnectionOwner, HttpConnection} from './connection.ts'

export interface PoolOptions {
  /** Opens a socket; its errors pass as they are. */
  readonly dial: () => Promise<Socket>
  /** The host of requests that name none. */
  readonly host: string
  /** Most sockets. */
  readonly connections: number
  /** Most calls that wait for a socket. */
  readonly waiting_calls: number
}

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

const RESTS_MS = 60_000
const MAX_RESTS_MS = 600_000
/** A line is closed this much before the server would close it. */
const BEFORE_THEM_MS = 2000

/** The pools that have something to send at the end of the turn. */
let due: ConnectionPool[] = []

/**
 * Calls of one origin over HTTP/1.1, each on a line (connection) of its own, with the callbacks of undici's handlers.
 * Lines are kept for further calls, the one used last first. Calls leave at the end of the turn, those of a turn
 * together: by then a line that the server closed, or sent something unsolicited, is known to be of no use. A call is
 * never sent twice, but for one that only reads, whose kept line closed before a byte of the reply: it is sent once
 * more, over a new line.
 */
export class ConnectionPool extends Dispatcher implements ExchangeOwner, ConnectionOwner {
  /** Calls that were dispatched and have not come to their end: waiting, sent, or answering. */
  live = 0
  /** When it was last used, on its owner's own count. */
  used = 0
  closed = false
  destroyed = false
  readonly #options: PoolOptions
  readonly #queue: HttpExchange[] = []
  readonly #dialling = new Set<HttpExchange>()
  readonly #open = new Set<HttpConnection>()
  readonly #resting: HttpConnection[] = []
  readonly #emptied = Promise.withResolvers<void>()
  readonly #shut = Promise.withResolvers<void>()
  #timer: NodeJS.Timeout | undefined
  #timer_at = 0
  #is_due = false
  #is_sending = false

  constructor(options: PoolOptions) {
    super()
    this.#options = options
  }

  /** A call that cannot be taken fails at once through `onResponseError`, without a controller. */
  override dispatch(options: Dispatcher.DispatchOptions, handler: Handler): boolean {
    const {connections, waiting_calls, host} = this.#options
    try {
      if (this.live >= connections + waiting_calls) throw new EgressFault('queue_full', 'too many calls wait for it')
      if (this.closed) throw new errors.ClientClosedError()
      if (this.destroyed) throw new errors.ClientDestroyedError()
      const call = new HttpExchange(this, options, handler, host)
      this.live++
      this.#queue.push(call)
      this.#soon()
      if (this.#queue.length <= this.#resting.length) call.begin() // there is a line for it
    } catch (fault) {
      handler.onResponseError?.(null as unknown as Controller, fault as Error)
      return false
    }
    return true
  }

  /** Takes no new calls and resolves when the live ones have come to their end. */
  override async close(): Promise<void> {
    this.closed = true
    if (this.live > 0) await this.#emptied.promise
    await this.destroy()
  }

  /** Ends every call and every line; resolves when the sockets are closed. */
  override async destroy(): Promise<void> {
    this.destroyed = true
    clearTimeout(this.#timer)
    const fault = new errors.ClientDestroyedError()
    for (const call of [...this.#queue.splice(0), ...this.#dialling]) call.fail(fault)
    for (const line of this.#open) line.fail(fault)
    if (this.#open.size > 0) await this.#shut.promise
  }

  left(): void {
    this.live--
    if (this.closed && this.live === 0) this.#emptied.resolve()
  }

  rests(line: HttpConnection): void {
    const {keeps_s} = line
    const rests_ms = keeps_s === null ? RESTS_MS : Math.min(keeps_s * 1000 - BEFORE_THEM_MS, MAX_RESTS_MS)
    if (this.destroyed || rests_ms <= 0) return line.fail(new errors.InformationalError('reset'))
    line.rests_until = performance.now() + rests_ms
    line.unref()
    this.#resting.push(line)
    if (!this.#timer || line.rests_until < this.#timer_at) this.#wake(line.rests_until)
    if (this.#queue.length > 0) this.#soon()
  }

  gone(line: HttpConnection): void {
    this.#open.delete(line)
    const place = this.#resting.indexOf(line)
    if (place >= 0) this.#resting.splice(place, 1)
    if (this.#queue.length > 0) this.#soon()
    if (this.destroyed && this.#open.size === 0) this.#shut.resolve()
  }

  again(call: HttpExchange): void {
    if (this.destroyed) return call.fail(new errors.ClientDestroyedError())
    // other kept lines may be closed as well
    if (this.#open.size + this.#dialling.size < this.#options.connections) return void this.#dial(call)
    this.#queue.unshift(call)
    this.#soon()
  }

  #soon() {
    if (this.#is_due) return
    this.#is_due = true
    if (due.push(this) === 1) atTurnEnd(sendDue)
  }

  /** Sends what there is a line for; the rest waits for one. */
  send(): void {
    if (this.#is_sending) return
    const queue = this.#queue
    this.#is_due = false
    this.#is_sending = true
    let sent = 0
    try {
      while (sent < queue.length && this.#place(queue[sent]!)) sent++
    } catch (fault) {
      sent++
      this.#soon()
      throw fault
    } finally {
      this.#is_sending = false
      if (sent >= queue.length) queue.length = 0
      else queue.splice(0, sent)
    }
  }

  #place(call: HttpExchange): boolean {
    if (call.is_over) return true
    const line = this.#resting.length > 0 ? this.#freshest() : undefined
    if (line) {
      line.ref()
      if (line.send(call)) this.rests(line)
    } else if (this.#open.size + this.#dialling.size < this.#options.connections) void this.#dial(call)
    else return false
    return true
  }

  #freshest(): HttpConnection | undefined {
    const now = performance.now()
    for (let line = this.#resting.pop(); line; line = this.#resting.pop()) {
      if (line.rests_until > now && line.is_open) return line
      line.fail(IDLE)
    }
  }

  async #dial(call: HttpExchange) {
    this.#dialling.add(call)
    try {
      const socket = await this.#options.dial()
      if (this.destroyed) return void socket.destroy()
      if (socket.destroyed || socket.readableLength > 0) {
        socket.destroy()
        throw new errors.SocketError('bad response')
      }
      const line = new HttpConnection(socket, this)
      this.#open.add(line)
      this.#dialling.delete(call)
      if (line.send(call)) this.rests(line)
    } catch (fault) {
      call.fail(fault as Error)
    } finally {
      if (this.#dialling.delete(call) && this.#queue.length > 0) this.#soon()
    }
  }

  #wake(at: number) {
    clearTimeout(this.#timer)
    this.#timer_at = at
    this.#timer = setTimeout(() => this.#rouse(), Math.max(1, at - performance.now())).unref()
  }

  /** Closes the lines that rested long enough. */
  #rouse() {
    this.#timer = undefined
    const now = performance.now()
    for (const line of this.#resting.filter(({rests_until}) => rests_until <= now)) line.fail(IDLE)
    const next = Math.min(
      ...this.#resting.filter(({rests_until}) => rests_until > now).map(({rests_until}) => rests_until),
    )
    if (next < Infinity) this.#wake(next)
  }
}

const IDLE = new errors.InformationalError('socket idle timeout')

function sendDue() {
  const pools = due
  due = []
  for (const pool of pools) pool.send()
}
