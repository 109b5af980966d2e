import {McpFault} from '../wire/faults.ts'
import {headerValue} from '../wire/header-values.ts'
import type {RpcAnswer} from '../wire/messages.ts'
import {SESSION_HEADER, VERSION_HEADER} from '../wire/standard-headers.ts'
import {answerOnStream} from './answer-stream.ts'
import {nonsense, SessionLostFault, UnauthorisedFault, unreachable} from './faults.ts'
import type {IncomingReply, UpstreamHttp} from './http.ts'
import type {OpenCall} from './open-call.ts'
import {answerIn, faultOfStatus, formOf, refusalText, refusedAnswer} from './replies.ts'
import {EITHER_TYPE, EVENTS_TYPE, JSON_TYPE, type LegacyWire, type MessageTaker} from './wire-parts.ts'

/** Streamable HTTP of the legacy revisions, from the answer to `initialize` on. */
export class StreamableWire implements LegacyWire {
  readonly transport = 'http'
  readonly session_id: string | null
  readonly #http: UpstreamHttp
  readonly #version: string
  readonly #taker: MessageTaker
  is_lost = false

  constructor(
    http: UpstreamHttp,
    {session_id, version, taker}: {session_id: string | null; version: string; taker: MessageTaker},
  ) {
    this.session_id = session_id
    this.#http = http
    this.#version = version
    this.#taker = taker
  }

  async exchange(call: OpenCall, text: string): Promise<RpcAnswer> {
    const {server} = this.#http.place
    const {deadlines} = call
    const reply = await this.#post(text, deadlines.signal)
    deadlines.begun()
    if (!isSuccess(reply)) return this.#refused(reply, call.id)
    const form = formOf(reply)
    if (form === 'html') {
      reply.destroy()
      throw nonsense(server, 'it answered with a page of HTML')
    }
    const take = (message: Parameters<MessageTaker['onCall']>[1]) => this.#taker.onCall(call, message)
    if (form !== 'events') return answerIn(reply, call.id, server, take)
    const resume = (last_id: string) => this.#resume(last_id, deadlines.signal)
    return answerOnStream(call, reply, {server, clock: this.#http.services, take, resume})
  }

  async post(text: string, signal: AbortSignal): Promise<void> {
    const {server} = this.#http.place
    const reply = await this.#post(text, signal)
    if (isSuccess(reply)) return reply.settle()
    const {status, headers} = reply
    if (status === 401 || status === 403) {
      reply.settle()
      throw new UnauthorisedFault(status, headerValue(headers, 'www-authenticate') ?? null)
    }
    const body = await refusalText(reply, server)
    if (status === 404 && this.session_id !== null) throw this.#lost(status)
    throw faultOfStatus(reply, body, server)
  }

  /** A GET: of the standing stream, or of the rest of a stream. */
  get(last_event_id: string | null, signal: AbortSignal, is_standing: boolean): Promise<IncomingReply> {
    const behind = last_event_id !== null && {'last-event-id': last_event_id}
    const headers = {...this.#headers(), ...behind, accept: EVENTS_TYPE}
    return this.#http.send({method: 'GET', headers, signal, is_standing})
  }

  async end(signal: AbortSignal): Promise<void> {
    if (this.session_id === null || this.is_lost) return
    const reply = await this.#http.send({method: 'DELETE', headers: {...this.#headers(), accept: EITHER_TYPE}, signal})
    reply.destroy()
  }

  #headers(): Record<string, string> {
    const version = {[VERSION_HEADER]: this.#version}
    return this.session_id === null ? version : {...version, [SESSION_HEADER]: this.session_id}
  }

  #post(text: string, signal: AbortSignal): Promise<IncomingReply> {
    const headers = {...this.#headers(), 'content-type': JSON_TYPE, accept: EITHER_TYPE}
    return this.#http.send({method: 'POST', headers, body: text, signal})
  }

  async #refused(reply: IncomingReply, id: number): Promise<RpcAnswer> {
    const session = this.session_id === null ? 'none' : 'has'
    try {
      return await refusedAnswer(reply, {id, server: this.#http.place.server, session})
    } catch (fault) {
      if (fault instanceof SessionLostFault) this.is_lost = true
      throw fault
    }
  }

  async #resume(last_id: string, signal: AbortSignal): Promise<IncomingReply | null> {
    const {server} = this.#http.place
    let reply: IncomingReply
    try {
      reply = await this.get(last_id, signal, false)
    } catch (fault) {
      if (fault instanceof McpFault && fault.reason === 'upstream_unreachable') return null
      throw fault
    }
    const {status} = reply
    if (status === 200 && formOf(reply) === 'events') return reply
    reply.settle()
    if (status === 409 || status === 429 || status >= 500) return null
    if (status === 404) this.is_lost = true
    throw unreachable(server, `the stream of its reply ended before the answer, and it does not resume it (${status})`)
  }

  #lost(status: number): SessionLostFault {
    this.is_lost = true
    return new SessionLostFault(status)
  }
}

function isSuccess({status}: IncomingReply): boolean {
  return status >= 200 && status < 300
}
