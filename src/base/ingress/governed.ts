import type {Socket} from 'node:net'
import type {Refusal} from '../errors.ts'

/**
 * The state of a connection. `new`: nothing has come; `head`: a request's head is arriving; `body`: the head is whole,
 * the body is not; `call`: all of a request is here and its answer is not yet written; `idle`: between two requests;
 * `session`: it is no longer HTTP; `closing`: it ends once all written bytes have left.
 */
export const STATES = ['new', 'head', 'body', 'call', 'idle', 'session', 'closing'] as const
export type ConnectionState = (typeof STATES)[number]

/** A request whose body is yet to come. */
export interface Coming {
  /** All of it has come. */
  readonly complete: boolean
  /** Its caller is known: who sends it may take the time that the bytes take. */
  readonly is_known: boolean
  /** True when its bytes wait for us: the client is not the slow side. */
  readonly is_behind: boolean
  /** Tells its reader that it is given up, so that it is answered; false when it has no reader. */
  fail(refusal: Refusal): boolean
  /** It has no reader: bytes that still come of it are ignored. */
  drop(): void
}

/** A client's connection as its governor sees it. Only the governor writes to it. */
export class Governed {
  state: ConnectionState = 'new'
  /** When it came to this state, and when a byte of its body came last, or one of its answer left. */
  since_ms: number
  moved_ms = 0
  /** Its place among all, in the order in which they came to their states. */
  turn = 0
  /** Bytes that had come when it was looked at last. */
  bytes = 0
  /** Bytes of answers that had left then. */
  left_bytes = 0
  coming: Coming | null = null
  /** The request whose body is yet to come has its answer. */
  is_answered = false
  /** Its request was given up: its response is being sent. */
  is_given_up = false
  /** Requests whose answers are not yet written, and all there ever were. */
  under_way = 0
  requests = 0
  /** The fast path that still reads from it; null when the server does. */
  front: {stop(): void} | null = null
  /** The socket that is read and written. */
  socket: Socket
  /** The client would understand what is written now: a handshake, if there is one, is done. */
  is_readable: boolean
  is_gone = false
  /** The connection itself: the same but for TLS. */
  readonly raw: Socket
  /** The client's address; empty when connections are not counted by address. */
  readonly address: string
  older: Governed | null = null
  newer: Governed | null = null

  constructor(socket: Socket, address: string, is_tls: boolean, now_ms: number) {
    this.socket = this.raw = socket
    this.is_readable = !is_tls
    this.address = address
    this.since_ms = now_ms
  }
}

/**
 * Connections in one state, in the order in which they came to it. A call passes through two, so it is linked by the
 * connections themselves.
 */
export class Queue {
  oldest: Governed | null = null
  newest: Governed | null = null
  size = 0

  add(one: Governed): void {
    one.older = this.newest
    one.newer = null
    if (this.newest) this.newest.newer = one
    else this.oldest = one
    this.newest = one
    this.size++
  }

  delete(one: Governed): void {
    const {older, newer} = one
    if (older) older.newer = newer
    else this.oldest = newer
    if (newer) newer.older = older
    else this.newest = older
    this.size--
  }

  /** The oldest that `fits`, of so many. */
  find(most: number, fits: (one: Governed) => boolean): Governed | null {
    let one = this.oldest
    for (let looked = 1; one && !fits(one); looked++) one = looked < most ? one.newer : null
    return one
  }

  /** Shows each, the oldest first, to `look`, which may move it, until that says false. */
  each(look: (one: Governed) => unknown): void {
    for (let one = this.oldest; one; ) {
      const {newer} = one
      if (look(one) === false) return
      one = newer
    }
  }
}
