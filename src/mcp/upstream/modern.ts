import {parsed} from '../../base/json-object.ts'
import {memberText} from '../../base/json-splice.ts'
import {edited, type TextEdit} from '../wire/edits.ts'
import {envelopeEdits} from '../wire/envelope.ts'
import {notificationText, type RpcAnswer, type RpcNotification, requestText} from '../wire/messages.ts'
import {nameMemberOf} from '../wire/methods.ts'
import {standardHeaders} from '../wire/standard-headers.ts'
import {answerOnStream} from './answer-stream.ts'
import {CallDeadlines} from './deadlines.ts'
import {cancelled, nonsense, shuttingDown} from './faults.ts'
import type {IncomingReply, UpstreamHttp} from './http.ts'
import {listenModern} from './modern-listen.ts'
import {OpenCall} from './open-call.ts'
import {answerIn, faultOfStatus, formOf, refusalText, refusedAnswer} from './replies.ts'
import type {
  ClientTexts,
  Hello,
  ListenFilter,
  Listening,
  McpUpstream,
  McpUpstreamRequest,
  RequestOptions,
  RequestSink,
  StandingSink,
} from './upstream.ts'
import {EITHER_TYPE, JSON_TYPE} from './wire-parts.ts'

/** A conversation of 2026-07-28, which is none: each request describes itself. */
export class ModernUpstream implements McpUpstream {
  readonly hello: Hello
  readonly session = null
  readonly asks_outside = false
  readonly #http: UpstreamHttp
  readonly #client: ClientTexts
  readonly #timeout_ms: number
  readonly #open = new Set<OpenCall>()
  readonly #listening = new Set<Listening>()
  #last_id = 0
  #is_closed = false

  constructor(http: UpstreamHttp, hello: Hello, client: ClientTexts, timeout_ms: number) {
    this.#http = http
    this.hello = hello
    this.#client = client
    this.#timeout_ms = timeout_ms
  }

  get url(): string {
    return this.#http.url.href
  }

  get open_calls(): number {
    return this.#open.size
  }

  get is_lost(): boolean {
    return this.#is_closed
  }

  async request(request: McpUpstreamRequest, sink: RequestSink, options: RequestOptions): Promise<RpcAnswer> {
    const {signal} = options
    if (signal.aborted || this.#is_closed) throw cancelled(signal.reason)
    const {server} = this.#http.place
    const deadlines = new CallDeadlines(this.#http.services, options, server)
    const {method, params} = request
    const call = new OpenCall({id: ++this.#last_id, method, params, sink, deadlines, server})
    const abort = () => deadlines.end(cancelled(signal.reason))
    signal.addEventListener('abort', abort, {once: true})
    this.#open.add(call)
    try {
      return await this.#exchange(call, request)
    } finally {
      signal.removeEventListener('abort', abort)
      deadlines.clear()
      this.#open.delete(call)
    }
  }

  async notify(method: string, params: string | undefined): Promise<void> {
    const {server} = this.#http.place
    const times = {total_ms: this.#timeout_ms, idle_ms: this.#timeout_ms}
    const deadlines = new CallDeadlines(this.#http.services, times, server)
    const headers = {...this.#headers(method, params), accept: EITHER_TYPE}
    try {
      const body = notificationText(method, params)
      const reply = await this.#http.send({method: 'POST', headers, body, signal: deadlines.signal})
      if (reply.status < 300) return reply.settle()
      throw faultOfStatus(reply, await refusalText(reply, server), server)
    } finally {
      deadlines.clear()
    }
  }

  /** Questions of these revisions are results. */
  async answer(): Promise<void> {}

  async listen(filter: ListenFilter, sink: StandingSink): Promise<Listening> {
    if (this.#is_closed) throw cancelled()
    const send = (params: string, signal: AbortSignal): Promise<IncomingReply> => {
      const id = ++this.#last_id
      const sent = this.#described(params, {client: this.#client})
      return this.#post(id, {method: 'subscriptions/listen', params: sent}, signal, true)
    }
    let open: Listening | undefined
    let is_over = false
    const ended = (fault: Error | null) => {
      is_over = true
      if (open) this.#listening.delete(open)
      sink.ended(fault)
    }
    open = await listenModern(filter, {
      http: this.#http,
      hello: this.hello,
      timeout_ms: this.#timeout_ms,
      send,
      sink: {notification: message => sink.notification(message), ended},
    })
    if (!is_over) this.#listening.add(open)
    if (this.#is_closed) open.close()
    return open
  }

  async close(): Promise<void> {
    this.#is_closed = true
    for (const {deadlines} of this.#open) deadlines.end(shuttingDown(this.#http.place.server))
    for (const each of this.#listening) each.close()
    this.#http.close()
  }

  async #exchange(call: OpenCall, request: McpUpstreamRequest): Promise<RpcAnswer> {
    const {server} = this.#http.place
    const {deadlines, id, method} = call
    const {params, client = this.#client, log_level, param_headers} = request
    const sent = this.#described(params, {client, log_level, edits: call.edits})
    const reply = await this.#post(id, {method, params: sent, param_headers}, deadlines.signal)
    deadlines.begun()
    if (reply.status < 200 || reply.status >= 300) return refusedAnswer(reply, {id, server, session: 'modern'})
    const form = formOf(reply)
    if (form === 'html') {
      reply.destroy()
      throw nonsense(server, 'it answered with a page of HTML')
    }
    if (form !== 'events') return answerIn(reply, id, server, nothing)
    // requests of a server are no part of these revisions: they get no answer
    const take = async (message: {readonly kind: string}) => {
      if (message.kind === 'notification') await call.notified(message as RpcNotification)
    }
    return answerOnStream(call, reply, {server, clock: this.#http.services, take})
  }

  #post(
    id: number,
    {method, params, param_headers}: McpUpstreamRequest,
    signal: AbortSignal,
    is_standing = false,
  ): Promise<IncomingReply> {
    const headers = {...param_headers, ...this.#headers(method, params), accept: EITHER_TYPE}
    const body = requestText(String(id), method, params)
    return this.#http.send({method: 'POST', headers, body, signal, is_standing})
  }

  #headers(method: string, params: string | undefined): Record<string, string> {
    const member = nameMemberOf(method)
    const name = member && params !== undefined ? parsed(memberText(params, member) ?? '') : undefined
    const named = member && typeof name === 'string' ? {[member]: name} : undefined
    const {protocol_version: version} = this.hello
    return {...standardHeaders({version, method, params: named}), 'content-type': JSON_TYPE}
  }

  #described(
    params: string | undefined,
    {client, log_level, edits = []}: Pick<McpUpstreamRequest, 'log_level'> & Described,
  ): string {
    const {protocol_version: version} = this.hello
    return edited(params ?? '{}', [...envelopeEdits({version, ...client, log_level: log_level ?? null}, []), ...edits])
  }
}

interface Described {
  readonly client: ClientTexts
  readonly edits?: readonly TextEdit[]
}

function nothing() {}
