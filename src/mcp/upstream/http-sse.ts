import {joinPath} from '../../base/egress/path.ts'
import {headerValue} from '../wire/header-values.ts'
import type {RpcAnswer} from '../wire/messages.ts'
import {VERSION_HEADER} from '../wire/standard-headers.ts'
import {Countdown} from './deadlines.ts'
import {nonsense, SessionLostFault, UnauthorisedFault, unreachable} from './faults.ts'
import type {IncomingReply, UpstreamHttp} from './http.ts'
import type {OpenCall} from './open-call.ts'
import {eventsOf, faultOfStatus, formOf, messagesIn, refusalText} from './replies.ts'
import {EVENTS_TYPE, JSON_TYPE, type LegacyWire, type MessageTaker} from './wire-parts.ts'

/** The address for messages has to come within this time. */
export const ENDPOINT_MS = 5_000

/** HTTP+SSE of 2024-11-05: one stream for all that the upstream sends; the stream is the session. */
export class SseWire implements LegacyWire {
  readonly transport = 'sse'
  readonly #http: UpstreamHttp
  readonly #taker: MessageTaker
  readonly #abort = new AbortController()
  readonly #endpoint = Promise.withResolvers<URL>()
  readonly #waiting = new Map<number, PromiseWithResolvers<RpcAnswer>>()
  /** Hears once that the stream has ended. */
  readonly #ended: () => void
  /** Sent once it was agreed on. */
  version: string | null = null
  is_lost = false

  private constructor(http: UpstreamHttp, taker: MessageTaker, ended: () => void) {
    this.#http = http
    this.#taker = taker
    this.#ended = ended
    this.#endpoint.promise.catch(nothing)
  }

  /** Opens the stream. Rejects with the fault of the place, or when no address comes in time. */
  static async open(http: UpstreamHttp, taker: MessageTaker, ended: () => void, signal: AbortSignal): Promise<SseWire> {
    const wire = new SseWire(http, taker, ended)
    const end = (reason: Error) => wire.#abort.abort(reason)
    const late = () => end(nonsense(http.place.server, `no event "endpoint" came within ${ENDPOINT_MS} ms`))
    const patience = new Countdown(http.services, ENDPOINT_MS, late)
    const abort = () => end(signal.reason)
    signal.addEventListener('abort', abort, {once: true})
    patience.start()
    try {
      signal.throwIfAborted()
      void wire.#run()
      await wire.#endpoint.promise
      return wire
    } catch (fault) {
      wire.#abort.abort(fault)
      throw fault
    } finally {
      patience.clear()
      signal.removeEventListener('abort', abort)
    }
  }

  async exchange(call: OpenCall, text: string): Promise<RpcAnswer> {
    const {signal} = call.deadlines
    const open = Promise.withResolvers<RpcAnswer>()
    const abort = () => open.reject(signal.reason)
    this.#waiting.set(call.id, open)
    open.promise.catch(nothing)
    signal.addEventListener('abort', abort, {once: true})
    // its answer may come before the receipt
    this.post(text, signal).then(() => call.deadlines.begun(), open.reject)
    try {
      return await open.promise
    } finally {
      this.#waiting.delete(call.id)
      signal.removeEventListener('abort', abort)
    }
  }

  async post(text: string, signal: AbortSignal): Promise<void> {
    const {server} = this.#http.place
    if (this.is_lost) throw new SessionLostFault(null)
    const url = await this.#endpoint.promise
    const headers = {
      ...(this.version && {[VERSION_HEADER]: this.version}),
      'content-type': JSON_TYPE,
      accept: `${JSON_TYPE}, ${EVENTS_TYPE}`,
    }
    const reply = await this.#http.send({method: 'POST', headers, body: text, signal, url})
    const {status} = reply
    if (status >= 200 && status < 300) return reply.settle()
    if (status === 401 || status === 403) {
      reply.settle()
      throw new UnauthorisedFault(status, headerValue(reply.headers, 'www-authenticate') ?? null)
    }
    const body = await refusalText(reply, server)
    if (status !== 404 && status !== 400) throw faultOfStatus(reply, body, server)
    this.#close(new SessionLostFault(status))
    throw new SessionLostFault(status)
  }

  async end(): Promise<void> {
    this.#close(new SessionLostFault(null))
  }

  async #run() {
    const {server} = this.#http.place
    try {
      const reply = await this.#open()
      for await (const event of eventsOf(reply, server)) {
        if (event.event === 'endpoint') this.#endpoint.resolve(this.#address(event.data))
        for (const message of messagesIn(event, server)) {
          if (message.kind !== 'answer') await this.#taker.outside(message)
          else if (typeof message.id === 'number') this.#waiting.get(message.id)?.resolve(message)
        }
      }
      this.#close(unreachable(server, 'its stream ended before the answer'))
    } catch (fault) {
      const {signal} = this.#abort
      this.#close(signal.aborted && signal.reason instanceof Error ? signal.reason : (fault as Error))
    }
  }

  async #open(): Promise<IncomingReply> {
    const {server} = this.#http.place
    const {signal} = this.#abort
    const reply = await this.#http.send({method: 'GET', headers: {accept: EVENTS_TYPE}, signal, is_standing: true})
    const {status, headers} = reply
    if (status === 200 && formOf(reply) === 'events') return reply
    reply.settle()
    if (status === 401 || status === 403)
      throw new UnauthorisedFault(status, headerValue(headers, 'www-authenticate') ?? null)
    throw faultOfStatus(reply, status === 200 ? 'it is no stream of events' : '', server)
  }

  /** The address for messages: of the same origin, so that no credential goes elsewhere. */
  #address(data: string): URL {
    const {place, url: base} = this.#http
    const url = URL.parse(data.trim(), base.href)
    if (url?.origin !== base.origin || url.username !== '' || url.password !== '')
      throw nonsense(place.server, 'its event "endpoint" names another origin')
    url.hash = ''
    joinPath('', url.pathname)
    return url
  }

  #close(reason: Error) {
    if (this.is_lost) return
    this.is_lost = true
    this.#endpoint.reject(reason)
    for (const open of this.#waiting.values()) open.reject(reason)
    this.#abort.abort(reason)
    this.#ended()
  }
}

function nothing() {}
