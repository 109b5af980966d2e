import {Socket} from 'node:net'
import {Refusal} from '../errors.ts'
import {type Coming, type ConnectionState, Governed, Queue, STATES} from './governed.ts'
import {refusalText} from './refusal-text.ts'
import {RefusedConnections, sendRefusal} from './refused.ts'
import {isFlushed, leftOf} from './sent-bytes.ts'

export interface GovernorOptions {
  /** From the first byte of a request to the end of its head. */
  readonly head_timeout_ms: number
  /** Longest silence in a body; of a caller who is not known, the longest time for all of it. */
  readonly body_idle_timeout_ms: number
  /** How long a connection may lie idle. */
  readonly keep_alive_ms: number
  /** How long a client may take none of its last bytes; counts from the last that left. */
  readonly write_timeout_ms: number
  readonly connections: number
  readonly connections_per_address?: number | undefined
  readonly requests_per_connection?: number | undefined
  /** Called when a connection had to be refused, or had to give way, and of the limit that was reached. */
  readonly onFull?: (why: EndCause, most: number) => void
  /** The clock that durations are taken with. */
  readonly now?: () => number
}

/** Why a connection was ended by us; `closed`: because the gateway ends. */
export const ENDED = [
  'head_timeout',
  'body_timeout',
  'idle',
  'left_over',
  'gave_way',
  'full',
  'address_full',
  'closed',
] as const
export type EndCause = (typeof ENDED)[number]

const SWEEP_MS = 250
/** Clients use a connection a moment longer than the time they were given. */
const KEEP_ALIVE_GRACE_MS = 1000
/**
 * How long the rest of a request that has its answer may come, and a client has for the last bytes of an answer to one
 * that was given up.
 */
const LAST_BYTES_MS = 5000
/** A request has this long to come, and an answer to be taken, before its connection gives way first. */
const FAIR_MS = 1000
/** The most bytes of a request that may still come when its client had a fair time to read its answer. */
const LEFT_OVER_BYTES = 64 << 20
/** Connections of one state that are looked at for one that gives way. */
const MAX_SEARCHED = 64

/**
 * Every connection of clients, on either way in: how many there are, and how long each may stay in its state. One timer
 * looks at all of them, by bytes that have come, so that neither a request nor a connection costs a timer. When there
 * are as many as there may be, one without a call gives way to the one that comes: half a request, or none, is cheap to
 * send.
 */
export class Governor {
  options: GovernorOptions
  readonly #queues: Readonly<Record<ConnectionState, Queue>>
  readonly #by_address = new Map<string, number>()
  readonly #ended: Record<EndCause, number>
  readonly #refused = new RefusedConnections()
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined
  #looked_ms = 0
  /** The time that was served: no client counts as slow while the process was stopped. */
  #clock_ms = 0
  #turns = 0
  size = 0
  /** No connection is kept when its answer is written. */
  is_closing = false

  constructor(options: GovernorOptions) {
    this.options = options
    this.#now = options.now ?? (() => performance.now())
    this.#queues = Object.fromEntries(STATES.map(state => [state, new Queue()])) as unknown as Record<
      ConnectionState,
      Queue
    >
    this.#ended = Object.fromEntries(ENDED.map(why => [why, 0])) as Record<EndCause, number>
  }

  /** Holds connections to other limits from now on. */
  adjust(limits: Partial<GovernorOptions>): void {
    this.options = {...this.options, ...limits}
  }

  /** The server listens, perhaps again. */
  open(): void {
    this.is_closing = false
  }

  /** Takes a connection, or refuses it: null. With TLS, the refusal for behind its handshake. */
  admit(socket: Socket, is_tls: boolean): Governed | Refusal | null {
    const {connections, connections_per_address: most} = this.options
    const address = most === undefined ? '' : (socket.remoteAddress ?? '')
    if (most !== undefined && (this.#by_address.get(address) ?? 0) >= most)
      return this.#refuse(socket, 'address_full', most, is_tls)
    if (this.size >= connections && !this.#makeRoom()) return this.#refuse(socket, 'full', connections, is_tls)
    if (!this.#timer) this.#begin()
    const one = new Governed(socket, address, is_tls, this.#clock_ms + SWEEP_MS)
    this.#enter(one, 'new')
    this.size++
    if (address) this.#by_address.set(address, (this.#by_address.get(address) ?? 0) + 1)
    socket.once('close', () => this.#forget(one))
    return one
  }

  /** Its handshake is done: `socket` is what requests come from. */
  secured(one: Governed, socket: Socket): void {
    one.socket = socket
    one.is_readable = true
    one.bytes = one.raw.bytesRead
    this.#move(one, 'new')
  }

  /** A first byte of a request has come. */
  head(one: Governed): void {
    if (one.state === 'new' || one.state === 'idle') this.#move(one, 'head')
  }

  /**
   * The head of a request is whole; `coming` is its body where that is not. False: its answer is the last on this
   * connection.
   */
  begin(one: Governed, coming: Coming | null): boolean {
    one.under_way++
    one.requests++
    one.coming = coming
    one.is_answered = one.is_given_up = false
    if (coming) one.bytes = one.raw.bytesRead
    if (one.state !== 'closing') this.#move(one, coming ? 'body' : 'call')
    return one.requests < (this.options.requests_per_connection ?? Number.POSITIVE_INFINITY) && !this.is_closing
  }

  /** The rest of the body has come. */
  whole(one: Governed): void {
    if (one.state !== 'body') return
    one.coming = null
    if (one.is_answered) this.#rest(one)
    else this.#move(one, 'call')
  }

  /** The answer is written. */
  answered(one: Governed): void {
    one.under_way--
    if (one.under_way > 0 || one.state === 'closing' || one.state === 'session') return
    if (one.coming && !one.coming.complete) {
      one.is_answered = true
      one.since_ms = this.#clock_ms + SWEEP_MS
      one.bytes = one.raw.bytesRead
    } else this.#rest(one)
  }

  /** The connection is no longer HTTP. */
  session(one: Governed): void {
    this.#move(one, 'session')
  }

  /**
   * Ends it when what was written has left. The rest of its request is read for a moment: of bytes that find no reader
   * the client learns as a reset, and loses its answer by it (RFC 9112, section 9.6).
   */
  end(one: Governed): void {
    if (one.state === 'closing') return
    one.front?.stop()
    this.#move(one, 'closing')
    if (!isComing(one)) return destroySoon(one.socket)
    one.coming!.drop()
    one.socket.end()
    one.socket.resume()
  }

  /** As `end`, of one whose server has written its last answer. */
  endSoon(one: Governed): void {
    if (isComing(one)) this.end(one)
    else destroySoon(one.socket)
  }

  /** Ends connections without a call, and has the rest end with their answers. */
  closeIdle(): void {
    if (!this.is_closing) this.#queues.closing.each(one => this.#restart(one))
    this.is_closing = true
    for (const state of ['new', 'head'] as const) this.#queues[state].each(one => void one.raw.destroy())
    this.#queues.idle.each(one => this.end(one))
    this.#queues.body.each(one => {
      if (one.coming!.complete) this.whole(one)
      else if (one.is_answered) this.end(one)
      else this.#giveUp(one, 'closed', new Refusal('draining'))
    })
  }

  /** Ends all of them now. */
  destroyAll(): void {
    this.is_closing = true
    for (const state of STATES) this.#queues[state].each(one => void one.raw.destroy())
    this.#refused.destroyAll()
  }

  count(state: ConnectionState): number {
    return this.#queues[state].size
  }

  ended(why: EndCause): number {
    return this.#ended[why]
  }

  /** Looks at the deadlines of all; the timer's. */
  sweep(): void {
    const now_ms = this.#now()
    this.#clock_ms += Math.min(now_ms - this.#looked_ms, 2 * SWEEP_MS)
    this.#looked_ms = now_ms
    const {head_timeout_ms, keep_alive_ms} = this.options
    const {head, body, idle, closing, new: fresh} = this.#queues
    const overdue = (one: Governed, limit_ms: number) => this.#clock_ms - one.since_ms >= limit_ms
    fresh.each(one => {
      if (one.raw.bytesRead > one.bytes) this.#move(one, 'head')
      else if (overdue(one, head_timeout_ms)) this.#drop(one, 'head_timeout')
    })
    head.each(one => overdue(one, head_timeout_ms) && this.#end(one, 'head_timeout', slow('head', head_timeout_ms)))
    body.each(one => this.#lookAtBody(one))
    idle.each(one => {
      this.#follow(one)
      if (!one.front && one.raw.bytesRead !== one.bytes) this.#move(one, 'head')
      else if (overdue(one, keep_alive_ms + KEEP_ALIVE_GRACE_MS)) this.#end(one, 'idle')
    })
    closing.each(one => this.#lookAtLastBytes(one))
    this.#refused.sweep(this.#clock_ms)
    if (this.size > 0 || this.#refused.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #begin() {
    this.#looked_ms = this.#now()
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS).unref()
  }

  /**
   * A client that still takes an answer may take the time of one between its bytes; while the process ends none has
   * that long.
   */
  #lookAtLastBytes(one: Governed) {
    this.#follow(one)
    if (one.coming?.complete && isFlushed(one)) return void one.raw.destroy()
    const [since_ms, limit_ms] = this.is_closing
      ? [one.since_ms, LAST_BYTES_MS]
      : [one.moved_ms, isFlushed(one) ? LAST_BYTES_MS : this.options.write_timeout_ms]
    if (this.#clock_ms - since_ms >= limit_ms) one.raw.destroy()
  }

  /** Notes when the last bytes of an answer left. */
  #follow(one: Governed) {
    if (isFlushed(one)) return
    const left_bytes = leftOf(one.raw)
    if (left_bytes === one.left_bytes) return
    one.left_bytes = left_bytes
    one.moved_ms = this.#clock_ms
  }

  #lookAtBody(one: Governed) {
    const coming = one.coming!
    if (coming.complete) return this.whole(one)
    const clock_ms = this.#clock_ms
    const bytes = one.raw.bytesRead
    if (one.is_answered || one.is_given_up) {
      const since_ms = clock_ms - one.since_ms
      const is_late = since_ms >= LAST_BYTES_MS || (since_ms >= FAIR_MS && bytes - one.bytes > LEFT_OVER_BYTES)
      return is_late ? this.#drop(one, 'left_over') : undefined
    }
    if (bytes !== one.bytes || coming.is_behind) {
      one.bytes = bytes
      one.moved_ms = clock_ms
    }
    const {body_idle_timeout_ms} = this.options
    if (clock_ms - (coming.is_known ? one.moved_ms : one.since_ms) < body_idle_timeout_ms) return
    this.#giveUp(one, 'body_timeout', slow('body', body_idle_timeout_ms))
  }

  /** Has who reads the request answer it, or answers it here. */
  #giveUp(one: Governed, why: EndCause, refusal: Refusal) {
    if (!one.coming?.fail(refusal)) return this.#end(one, why, refusal)
    this.#ended[why]++
    one.is_given_up = true
    one.since_ms = this.#clock_ms + SWEEP_MS
  }

  #end(one: Governed, why: EndCause, refusal?: Refusal) {
    this.#ended[why]++
    if (refusal) this.#tell(one, refusal)
    this.end(one)
  }

  #drop(one: Governed, why: EndCause) {
    this.#ended[why]++
    one.raw.destroy()
    this.#forget(one)
  }

  #rest(one: Governed) {
    one.coming = null
    if (this.is_closing) return this.end(one)
    one.bytes = one.front ? 0 : one.raw.bytesRead
    this.#move(one, 'idle')
  }

  /** Sends the reason why it ends, unless that would be in the middle of another answer. */
  #tell({socket, is_readable, under_way}: Governed, refusal: Refusal) {
    if (is_readable && under_way <= 1 && socket.writable) socket.write(refusalText(refusal), 'latin1')
  }

  /** Ends a connection that is of no call, if there is one: an answer that still leaves is cut last. */
  #makeRoom(): boolean {
    const {head, idle, closing, new: fresh} = this.#queues
    const isStuck = (one: Governed) => this.#clock_ms - one.moved_ms >= FAIR_MS
    const begun = older(head.oldest, fresh.oldest)
    const stale = begun && this.#clock_ms - begun.since_ms >= FAIR_MS ? begun : null
    const spare =
      stale ?? idle.find(MAX_SEARCHED, isFlushed) ?? this.#unknown() ?? closing.find(MAX_SEARCHED, isFlushed)
    const stuck = spare ?? idle.find(MAX_SEARCHED, isStuck) ?? closing.find(MAX_SEARCHED, isStuck)
    const one = stuck ?? begun ?? idle.oldest ?? closing.oldest
    if (!one) return false
    this.options.onFull?.('gave_way', this.options.connections)
    if (one.state === 'head') this.#tell(one, full(this.options.connections))
    this.#drop(one, 'gave_way')
    return true
  }

  /** The oldest connection with a body that is neither authenticated nor waited for. */
  #unknown(): Governed | null {
    for (let one = this.#queues.body.oldest; one; ) {
      const {newer} = one
      if (one.coming!.complete) this.whole(one)
      else if (one.under_way <= 1 && (one.is_answered || !one.coming!.is_known)) return one
      one = newer
    }
    return null
  }

  #refuse(socket: Socket, why: 'full' | 'address_full', most: number, is_tls: boolean): Refusal | null {
    this.#ended[why]++
    this.options.onFull?.(why, most)
    if (!this.#timer) this.#begin()
    this.#refused.add(socket, this.#clock_ms + SWEEP_MS)
    const refusal = why === 'full' ? full(most) : new Refusal('connections.address_full', {limit: most})
    if (is_tls) return refusal
    sendRefusal(socket, refusal)
    return null
  }

  #forget(one: Governed) {
    if (one.is_gone) return
    one.is_gone = true
    this.#queues[one.state].delete(one)
    this.size--
    if (!one.address) return
    const others = this.#by_address.get(one.address)! - 1
    if (others > 0) this.#by_address.set(one.address, others)
    else this.#by_address.delete(one.address)
  }

  #move(one: Governed, state: ConnectionState) {
    if (one.is_gone) return
    this.#queues[one.state].delete(one)
    this.#restart(one)
    this.#enter(one, state)
  }

  #enter(one: Governed, state: ConnectionState) {
    one.state = state
    one.turn = ++this.#turns
    this.#queues[state].add(one)
  }

  /** Its time counts from now. */
  #restart(one: Governed) {
    one.since_ms = one.moved_ms = this.#clock_ms + SWEEP_MS
  }
}

const isComing = ({coming}: Governed) => coming !== null && !coming.complete
/** The governor's own is in its place on a socket. */
const destroySoon = (socket: Socket) => Socket.prototype.destroySoon.call(socket)

/** The one that reached its state first: by turns, because all that come between two looks come at the same time. */
function older(one: Governed | null, other: Governed | null): Governed | null {
  return one && other ? (one.turn < other.turn ? one : other) : (one ?? other)
}

function slow(part: 'head' | 'body', limit_ms: number): Refusal {
  const variable = part === 'head' ? 'CLIENT_HEAD_TIMEOUT_MS' : 'CLIENT_BODY_IDLE_TIMEOUT_MS'
  return new Refusal('client.slow', {part, limit_ms, variable})
}

function full(limit: number): Refusal {
  return new Refusal('connections.full', {limit})
}
