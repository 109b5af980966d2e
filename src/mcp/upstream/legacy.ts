import {McpFault} from '../wire/faults.ts'
import {answerText, notificationText, type RpcAnswer, type RpcId} from '../wire/messages.ts'
import {changesOf, urisOf} from './agreed.ts'
import {CallDeadlines, pause, type WaitClock} from './deadlines.ts'
import {cancelled, SessionLostFault, shuttingDown} from './faults.ts'
import {FIRST_ID} from './first-reply.ts'
import type {UpstreamHttp} from './http.ts'
import type {MessageRouter} from './message-router.ts'
import {OpenCall} from './open-call.ts'
import type {CallTable} from './questions.ts'
import type {StandingStream} from './standing-stream.ts'
import type {
  Hello,
  LegacySession,
  ListenFilter,
  Listening,
  McpUpstream,
  McpUpstreamRequest,
  RequestOptions,
  RequestSink,
  StandingSink,
} from './upstream.ts'
import type {LegacyWire} from './wire-parts.ts'

/** A server may answer the GET of its stream with its first event only: a call does not wait longer. */
const STREAM_PATIENCE_MS = 2_000
/** The end of a session is not waited for longer. */
export const CLOSE_MS = 800
/** Most messages that leave beside the calls (answers of ours, cancellations). */
const MOST_ASIDE = 64

export interface LegacyParts {
  readonly http: UpstreamHttp
  readonly wire: LegacyWire
  readonly router: MessageRouter
  readonly hello: Hello
  /** Null of HTTP+SSE. */
  readonly standing: StandingStream | null
  /** True where the stream has to be there before a call goes up: the client declared that it answers questions. */
  readonly needs_stream: boolean
  /** For notifications, answers and subscriptions. */
  readonly timeout_ms: number
  readonly session_id: string | null
  /** The id before that of the first request. @default that of `initialize` */
  readonly last_id?: number
}

/** A conversation of the legacy revisions: after `initialize`, over either transport. */
export class LegacyUpstream implements McpUpstream {
  readonly hello: Hello
  readonly #parts: LegacyParts
  readonly #clock: WaitClock
  readonly #table: CallTable
  /** By its URI: how many listeners a subscription has. */
  readonly #subscriptions = new Map<string, number>()
  readonly #aside = new Set<CallDeadlines>()
  #last_id: number
  #is_closed = false

  constructor(parts: LegacyParts) {
    this.#parts = parts
    this.hello = parts.hello
    this.#last_id = parts.last_id ?? FIRST_ID
    this.#clock = parts.http.services
    this.#table = parts.router.table
    parts.router.reply = text => this.#postAside(text)
  }

  /** After `notifications/initialized`: opens the stream where the client answers questions. */
  begin(): void {
    if (this.#parts.needs_stream) this.#parts.standing?.open()
  }

  get url(): string {
    return this.#parts.http.url.href
  }

  get session(): LegacySession | null {
    const {wire, session_id} = this.#parts
    return wire.transport === 'sse' ? null : {id: session_id, url: this.url, hello: this.hello}
  }

  get asks_outside(): boolean {
    return this.#table.asks_outside
  }

  get open_calls(): number {
    return this.#table.size
  }

  get is_lost(): boolean {
    return this.#is_closed || this.#parts.wire.is_lost
  }

  async request(request: McpUpstreamRequest, sink: RequestSink, options: RequestOptions): Promise<RpcAnswer> {
    const {signal} = options
    if (signal.aborted || this.#is_closed) throw cancelled(signal.reason)
    if (this.is_lost) throw new SessionLostFault(null)
    const {server} = this.#parts.http.place
    const deadlines = new CallDeadlines(this.#clock, options, server)
    const {method, params} = request
    const call = new OpenCall({id: ++this.#last_id, method, params, sink, deadlines, server})
    const abort = () => deadlines.end(cancelled(signal.reason))
    signal.addEventListener('abort', abort, {once: true})
    let is_sent = false
    try {
      if (call.may_ask) await this.#streamIsThere(deadlines.signal)
      this.#table.add(call)
      is_sent = true
      return await this.#parts.wire.exchange(call, call.text(params))
    } catch (fault) {
      const is_unread = fault instanceof McpFault && fault.reason === 'result_too_large'
      if (is_sent && (deadlines.signal.aborted || is_unread)) this.#cancel(call)
      throw fault
    } finally {
      signal.removeEventListener('abort', abort)
      deadlines.clear()
      this.#table.delete(call)
    }
  }

  async notify(method: string, params: string | undefined): Promise<void> {
    await this.#post(notificationText(method, params))
  }

  async answer(id: RpcId, answer: {readonly result: string} | {readonly error: string}): Promise<void> {
    const id_text = this.#table.answered(id)
    if (id_text !== null) await this.#post(answerText(id_text, answer))
  }

  async listen(filter: ListenFilter, sink: StandingSink): Promise<Listening> {
    if (this.is_lost) throw new SessionLostFault(null)
    const {standing, router} = this.#parts
    const {capabilities} = this.hello
    standing?.open()
    const uris: string[] = []
    // listened to before it is subscribed to, so that nothing is missed
    const served = filter === 'all' ? filter : {...changesOf(filter, capabilities), resourceSubscriptions: uris}
    const listener = {filter: served, sink}
    router.listeners.add(listener)
    const close = () => {
      if (!router.listeners.delete(listener)) return
      for (const uri of uris) this.#unsubscribe(uri)
      sink.ended(null)
    }
    await this.#streamIsThere(NEVER)
    if (standing?.is_refused) return {agreed: {}, close}
    for (const uri of urisOf(filter, capabilities)) if (await this.#subscribe(uri)) uris.push(uri)
    const changes = changesOf(filter, capabilities)
    return {agreed: uris.length > 0 ? {...changes, resourceSubscriptions: uris} : changes, close}
  }

  async close(): Promise<void> {
    if (this.#is_closed) return
    const {standing, router, wire, http} = this.#parts
    this.#is_closed = true
    standing?.close()
    for (const {deadlines} of this.#table.all) deadlines.end(shuttingDown(http.place.server))
    router.end(null)
    const late = new AbortController()
    const callOff = this.#clock.after(CLOSE_MS, () => late.abort(cancelled()))
    await wire.end(late.signal).catch(nothing)
    callOff()
    for (const each of this.#aside) each.end(cancelled())
    http.close()
  }

  /** A question that has no stream of its own comes on the GET stream, and is lost where there is none. */
  async #streamIsThere(signal: AbortSignal) {
    const {standing} = this.#parts
    if (!standing?.is_begun) return
    const patience = new AbortController()
    await Promise.race([
      standing.settled,
      pause(this.#clock, STREAM_PATIENCE_MS, AbortSignal.any([signal, patience.signal])).catch(nothing),
    ])
    patience.abort()
    if (signal.aborted) throw signal.reason
  }

  /** The upstream hears that no one waits for its answer any more; this waits for no one. */
  #cancel({id}: OpenCall) {
    if (this.is_lost) return
    const params = JSON.stringify({requestId: id, reason: 'The client does not wait any more.'})
    void this.#postAside(notificationText('notifications/cancelled', params))
  }

  async #postAside(text: string) {
    if (this.#aside.size < MOST_ASIDE) await this.#post(text).catch(nothing)
  }

  async #post(text: string) {
    const {timeout_ms, http, wire} = this.#parts
    const deadlines = new CallDeadlines(this.#clock, {total_ms: timeout_ms, idle_ms: timeout_ms}, http.place.server)
    this.#aside.add(deadlines)
    try {
      await wire.post(text, deadlines.signal)
    } finally {
      deadlines.clear()
      this.#aside.delete(deadlines)
    }
  }

  async #subscribe(uri: string): Promise<boolean> {
    const count = this.#subscriptions.get(uri) ?? 0
    this.#subscriptions.set(uri, count + 1)
    if (count > 0 || (await this.#ours('resources/subscribe', uri))) return true
    this.#forget(uri)
    return false
  }

  #unsubscribe(uri: string) {
    if (this.#forget(uri) && !this.is_lost) void this.#ours('resources/unsubscribe', uri)
  }

  /** One listener less; true when it was the last. */
  #forget(uri: string): boolean {
    const count = (this.#subscriptions.get(uri) ?? 1) - 1
    if (count > 0) this.#subscriptions.set(uri, count)
    else this.#subscriptions.delete(uri)
    return count === 0
  }

  /** A request of ours about a resource: true when the upstream took it. */
  async #ours(method: string, uri: string): Promise<boolean> {
    const {timeout_ms} = this.#parts
    const options = {signal: NEVER, total_ms: timeout_ms, idle_ms: timeout_ms}
    const request = {method, params: JSON.stringify({uri})}
    try {
      return (await this.request(request, NO_SINK, options)).result !== undefined
    } catch {
      return false
    }
  }
}

const NEVER = new AbortController().signal
const NO_SINK: RequestSink = {notification: nothing, question: nothing}

function nothing() {}
