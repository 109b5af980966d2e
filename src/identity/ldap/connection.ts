import type {Socket} from 'node:net'
import {after} from '../../base/delay.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {messageLength} from './ber.ts'
import {type LdapEntry, type LdapReply, type LdapResult, readReply} from './replies.ts'

/** The whole answer to one request. */
export interface LdapAnswered {
  readonly result: LdapResult
  /** At most as many as were wanted. */
  readonly entries: readonly LdapEntry[]
  /** There are more entries than were wanted: by result 4 of the server, or by what it sent. */
  readonly has_more: boolean
}

export interface LdapExchange {
  readonly kind: 'bind' | 'search' | 'extended'
  /** The bytes of the request that has the number `id`. */
  readonly write: (id: number) => Buffer
  readonly most_entries?: number
}

interface Waiting {
  readonly id: number
  readonly exchange: LdapExchange
  readonly entries: LdapEntry[]
  has_more: boolean
  bytes: number
  readonly resolve: (answered: LdapAnswered) => void
  readonly reject: (fault: SignInFault) => void
}

/** Entries of one answer together. */
const MAX_ANSWER_BYTES = 8_388_608
const SIZE_LIMIT_EXCEEDED = 4

/**
 * LDAP over one open socket, a request at a time. It never opens the socket again: a password must not follow to a
 * server whose certificate was not checked. Every fault ends it.
 */
export class LdapConnection {
  readonly #socket: Socket
  readonly #answer_ms: number
  #received: Buffer = Buffer.alloc(0)
  #id = 0
  #waiting: Waiting | undefined
  #fault: SignInFault | undefined

  constructor(socket: Socket, answer_ms: number) {
    this.#socket = socket
    this.#answer_ms = answer_ms
    socket.on('data', this.#read)
    socket.on('error', this.#closed)
    socket.on('close', this.#closed)
  }

  /** False once it ended: the next request would fail. */
  get is_open(): boolean {
    return this.#fault === undefined
  }

  /** Throws SignInFault: `provider_unreachable` where no answer comes in time, `provider_invalid` for a wrong one. */
  async ask(exchange: LdapExchange): Promise<LdapAnswered> {
    if (this.#waiting) throw new Error('a connection carries one request at a time')
    if (this.#received.length > 0) this.#end('provider_invalid', 'an answer came before its request')
    if (this.#fault) throw this.#fault
    const id = ++this.#id
    const bytes = exchange.write(id)
    const {promise, resolve, reject} = Promise.withResolvers<LdapAnswered>()
    this.#waiting = {id, exchange, entries: [], has_more: false, bytes: 0, resolve, reject}
    const silent = () => this.#end('provider_unreachable', `no answer within ${this.#answer_ms} ms`)
    const cancel = after(this.#answer_ms, silent)
    this.#socket.write(bytes)
    return promise.finally(cancel)
  }

  /** The socket for TLS, which must be silent: throws SignInFault `provider_invalid` where bytes came before it. */
  release(): Socket {
    const {length} = this.#received
    if (length > 0) throw this.#end('provider_invalid', `${length} bytes came in clear before TLS`)
    if (this.#fault) throw this.#fault
    this.#fault = new SignInFault('provider_unreachable', 'the connection was replaced by TLS')
    this.#socket.pause()
    this.#socket.off('data', this.#read)
    this.#socket.off('close', this.#closed)
    return this.#socket
  }

  /** Ends it, with `farewell` (an unbind request) where it is open. */
  close(farewell?: (id: number) => Buffer): void {
    if (this.is_open && farewell) this.#socket.end(farewell(++this.#id))
    this.#end('provider_unreachable', 'the connection was closed here')
  }

  readonly #read = (chunk: Buffer): void => {
    if (this.#fault) return
    try {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
      if (this.#waiting) this.#count(chunk.length)
      let length = messageLength(this.#received)
      while (length !== undefined && length <= this.#received.length) {
        const reply = readReply(this.#received.subarray(0, length))
        this.#received = this.#received.subarray(length)
        this.#take(reply)
        // one that comes with no request before it is never read as an answer
        length = this.#waiting ? messageLength(this.#received) : undefined
      }
    } catch (fault) {
      if (fault instanceof SignInFault) this.#end(fault.reason, fault.detail)
      else this.#end('provider_invalid', fault instanceof Error ? fault.message : String(fault))
    }
  }

  #count(bytes: number): void {
    const waiting = this.#waiting!
    waiting.bytes += bytes
    if (waiting.bytes > MAX_ANSWER_BYTES) throw invalid(`an answer of more than ${MAX_ANSWER_BYTES} bytes`)
  }

  #take(reply: LdapReply): void {
    if (reply.id === 0 && reply.kind === 'extended')
      throw new SignInFault('provider_unreachable', `the server ended the connection: ${noted(reply.result)}`)
    const waiting = this.#waiting
    if (!waiting || reply.id !== waiting.id) throw invalid('an answer to no request')
    if (reply.kind === 'reference' || reply.kind === 'entry') {
      if (waiting.exchange.kind !== 'search') throw invalid('an entry where none was searched')
      if (reply.kind === 'reference') return // referrals are not followed
      if (waiting.entries.length < (waiting.exchange.most_entries ?? 0)) waiting.entries.push(reply.entry)
      else waiting.has_more = true
      return
    }
    if (reply.kind !== waiting.exchange.kind) throw invalid(`an answer to ${reply.kind}, not ${waiting.exchange.kind}`)
    this.#waiting = undefined
    const {entries} = waiting
    const has_more = waiting.has_more || reply.result.code === SIZE_LIMIT_EXCEEDED
    waiting.resolve({result: reply.result, entries, has_more})
  }

  readonly #closed = (fault?: unknown): void => {
    const why = fault instanceof Error ? (fault as NodeJS.ErrnoException).code : undefined
    this.#end('provider_unreachable', `the connection ended${why ? ` (${why})` : ''}`)
  }

  #end(reason: SignInFault['reason'], detail: string): SignInFault {
    this.#fault ??= new SignInFault(reason, detail)
    this.#received = Buffer.alloc(0)
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(this.#fault)
    if (this.#socket.writableEnded) this.#socket.destroySoon()
    else this.#socket.destroy()
    return this.#fault
  }
}

function invalid(detail: string): SignInFault {
  return new SignInFault('provider_invalid', detail)
}

/** A result for administrators: on one line, at most 200 characters, without `secret`, which servers may repeat. */
export function noted({code, diagnostic}: LdapResult, secret?: string): string {
  const redacted = secret ? diagnostic.replaceAll(secret, '***') : diagnostic
  const text = redacted.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ').trim()
  return `result ${code}${text ? ` (${text.slice(0, 200)})` : ''}`
}
