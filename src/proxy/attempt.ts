import type {Dispatcher} from 'undici'
import {refusalOf} from '../base/egress/faults.ts'
import {Refusal} from '../base/errors.ts'
import type {Intent, Outcome} from '../schema/records.ts'
import {answerHeaders} from './answer.ts'
import type {Call} from './call.ts'
import {Copy} from './copy.ts'
import {decodeWhole} from './decode.ts'
import type {Live, LiveCalls} from './live.ts'
import type {Outgoing} from './outgoing.ts'
import {refusalAnswer} from './refuse.ts'
import type {RelaySource} from './relay.ts'
import type {ProxyServices} from './services.ts'
import {intentOf, type Reply, settle} from './settle.ts'
import {openStream, type Stream} from './stream.ts'
import type {Target} from './target.ts'

/**
 * How far an attempt is. `settling` comes once: at the event or the byte that makes the answer whole, an error, an abort or a timeout.
 * `settled`: what is left of the answer goes on to its end. `over` is never left.
 */
type Phase = 'recording' | 'queued' | 'sent' | 'answering' | 'settling' | 'settled' | 'over'

/**
 * One call to a provider, from its intent to its settlement (core rules 2, 6, 16-18). Bytes pass through as they come, except the
 * ones that tell a client that the answer is whole: those wait until the settlement is written.
 */
export class Attempt implements Dispatcher.DispatchHandler, Live, RelaySource {
  readonly #call: Call
  readonly #target: Target
  readonly #outgoing: Outgoing
  readonly #on: ProxyServices
  readonly #live: LiveCalls
  place = -1
  #phase: Phase = 'recording'
  #intent!: Intent
  #controller: Dispatcher.DispatchController | undefined
  #timer: NodeJS.Timeout | undefined
  #status = 0
  #headers: Record<string, string> = {}
  #encoding: string | null = null
  #expected: number | null = null
  #received = 0
  #stream: Stream | undefined
  readonly #copy: Copy
  /** Bytes not handed to the client yet. */
  #pending: Buffer[] = []
  #flush: NodeJS.Immediate | undefined
  /** The provider's answer has ended. */
  #ended = false
  #fault: Refusal | null = null
  #queued_at = 0
  #sent_at = 0
  #first_byte_at = 0
  #last_byte_at = 0
  #paused_at = 0

  constructor(call: Call, target: Target, outgoing: Outgoing, on: ProxyServices, live: LiveCalls) {
    this.#call = call
    this.#target = target
    this.#outgoing = outgoing
    this.#on = on
    this.#live = live
    this.#copy = new Copy(on.settings.log_body_max_bytes)
    call.relay.feedFrom(this)
  }

  /** Writes the intent, then sends. A journal that takes no intent refuses the call. */
  begin(): void {
    this.#live.add(this)
    this.#call.attempts++
    this.#intent = intentOf(this.#call, this.#target, this.#outgoing.model, this.#on)
    this.#on.recorder.begin(this.#intent, fault => {
      if (this.#phase !== 'recording') return
      if (fault) return this.#refuse(new Refusal('journal.full', {}, {cause: fault}))
      if (this.#call.relay.gone) return this.#settle('aborted', new Refusal('client.gone'))
      this.#dispatch()
    })
  }

  check(now: number): void {
    const {settings} = this.#on
    const {request_timeout: total_ms} = settings
    if (total_ms !== undefined && this.#queued_at && now - this.#queued_at > total_ms) return this.#abort(timeout(this.#target, total_ms))
    if (this.#paused_at) {
      if (now - this.#paused_at > settings.client_write_timeout_ms) this.#call.relay.cut()
    } else if (this.#phase === 'queued' || this.#phase === 'sent') {
      const limit_ms = settings.upstream_first_byte_timeout_ms
      if (now - this.#queued_at > limit_ms) this.#abort(timeout(this.#target, limit_ms))
    } else if (this.#phase === 'answering' || this.#phase === 'settled') {
      const limit_ms = settings.upstream_idle_timeout_ms
      if (now - this.#last_byte_at > limit_ms) this.#abort(timeout(this.#target, limit_ms))
    }
  }

  abort(): void {
    this.#abort(new Refusal('draining'))
  }

  clientGone(): void {
    this.#abort(new Refusal('client.gone'))
  }

  clientReady(): void {
    if (!this.#paused_at) return
    this.#paused_at = 0
    this.#last_byte_at = performance.now()
    this.#controller?.resume()
  }

  #dispatch() {
    const {method, path, headers, body, request_timeout_ms} = this.#outgoing
    this.#phase = 'queued'
    this.#queued_at = performance.now()
    if (request_timeout_ms !== null)
      this.#timer = setTimeout(() => this.#abort(timeout(this.#target, request_timeout_ms)), request_timeout_ms)
    try {
      const dispatcher =
        this.#target.provider.transport?.() ?? this.#on.dispatcher(this.#target.destination!, this.#call.caller.workspace_id)
      dispatcher.dispatch({method, path, headers, body, origin: this.#target.destination?.origin ?? ORIGIN_HERE}, this)
    } catch (fault) {
      this.onResponseError(this.#controller, fault as Error)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#phase !== 'queued') return controller.abort(new Refusal('client.gone')) // given up while it waited for a connection
    this.#phase = 'sent'
    this.#sent_at = performance.now()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[]>): void {
    if (status < 200 || this.#phase !== 'sent') return
    this.#controller = controller
    this.#phase = 'answering'
    this.#status = status
    this.#first_byte_at = this.#last_byte_at = performance.now()
    for (const name in headers) this.#headers[name] = String(headers[name])
    this.#encoding = this.#headers['content-encoding'] ?? null
    this.#expected = this.#headers['content-length'] === undefined ? null : Number(this.#headers['content-length'])
    const is_stream = this.#headers['content-type']?.startsWith('text/event-stream') ?? false
    const {relay} = this.#call
    const rewrites = is_stream && this.#outgoing.is_metered && status < 300
    relay.head(
      status,
      answerHeaders(this.#call, this.#target, headers, {is_stream, rewrites, timing: this.#timing(), on: this.#on}),
      is_stream || (this.#expected !== null && !rewrites),
    )
    if (!is_stream) return
    this.#stream = openStream(this.#call.endpoint, {encoding: this.#encoding, is_metered: rewrites})
    setImmediate(() => relay.started || this.#phase === 'over' || relay.flushHead())
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase === 'over') return
    this.#controller = controller
    this.#last_byte_at = performance.now()
    this.#received += chunk.length
    this.#copy.add(chunk)
    if (this.#stream) return this.#stream.take(chunk, (send, hold) => this.#passOn(send, hold))
    this.#pending.push(chunk)
    if (this.#expected === null || this.#received < this.#expected) this.#flush ??= setImmediate(() => this.#flushPending())
  }

  onResponseEnd(): void {
    if (!this.#stream) return this.#end()
    this.#stream.end(rest => {
      if (rest.length) this.#pending.push(rest)
      this.#end()
    })
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#phase === 'settled') this.#finish()
    else this.#fail(refusalOf(error, this.#target.provider.slug))
  }

  /** Bytes of a stream, in order; `hold` would tell the client that the answer is whole. */
  #passOn(send: Buffer, hold: Buffer | null) {
    if (this.#phase === 'answering') {
      if (this.#timer && this.#stream?.has_begun) this.#stopTimer()
      this.#write(send)
      if (hold === null) return
      this.#pending.push(hold)
      this.#settle('ok', null)
    } else {
      this.#pending.push(send)
      if (hold !== null) this.#pending.push(hold)
      if (this.#phase === 'settled') this.#flushPending()
    }
  }

  #end() {
    this.#ended = true
    if (this.#phase === 'answering') this.#settle('ok', null)
    else if (this.#phase === 'settled') this.#finish()
  }

  /** Ends the attempt from our side; the provider is told, and the bookkeeping does not wait for it. */
  #abort(fault: Refusal) {
    if (this.#phase === 'recording' || this.#phase === 'settling' || this.#phase === 'over') return
    if (this.#phase === 'settled') this.#finish()
    else this.#fail(fault)
    this.#controller?.abort(fault)
  }

  #fail(fault: Refusal) {
    if (this.#phase === 'settling' || this.#phase === 'settled' || this.#phase === 'over') return
    const outcome: Outcome =
      fault.code === 'client.gone' || fault.code === 'draining' ? 'aborted' : fault.code === 'upstream.timeout' ? 'timeout' : 'failed'
    this.#settle(outcome, fault)
  }

  /** Nothing left, and no intent stands: the call is given back. */
  #refuse(fault: Refusal) {
    this.#phase = 'over'
    this.#live.delete(this)
    for (const admission of this.#call.admissions) admission.release()
    this.#on.log.error({fault: fault.cause, trace_id: this.#call.incoming.trace.trace_id}, 'the journal took no intent')
    this.#call.relay.refuse(refusalAnswer(fault, this.#call.incoming.route.path), ownHeaders(this.#call, this.#target, this.#on), false)
  }

  /** The attempt's one terminal transition: reads the usage and writes the settlement; only then the answer may end. */
  #settle(outcome: Outcome, fault: Refusal | null) {
    this.#phase = 'settling'
    this.#fault = fault
    this.#stopTimer()
    clearImmediate(this.#flush)
    const reply: Reply = {
      status: this.#status || null,
      headers: this.#headers,
      encoding: this.#encoding,
      received_bytes: this.#received,
      stream: this.#stream ?? null,
      copy: this.#copy,
      outcome,
      fault,
      times: {queued_at: this.#queued_at, sent_at: this.#sent_at, first_byte_at: this.#first_byte_at, last_byte_at: this.#last_byte_at},
    }
    const whole = this.#stream || outcome !== 'ok' || this.#copy.isCut ? null : this.#copy.bytes()
    const write = (plain: Buffer | null) =>
      settle(this.#call, this.#target, this.#outgoing, this.#intent, reply, plain, this.#on, () => this.#settled())
    if (whole === null) write(null)
    else decodeWhole(this.#encoding, whole, write)
  }

  #settled() {
    this.#phase = 'settled'
    if (this.#ended || this.#fault) this.#finish()
    else this.#flushPending()
  }

  #finish() {
    this.#phase = 'over'
    this.#live.delete(this)
    this.#stream?.close()
    const {relay, incoming} = this.#call
    relay.feedFrom(null)
    const fault = this.#fault
    if (!fault) relay.end(this.#pending)
    else if (!relay.started) relay.refuse(refusalAnswer(fault, incoming.route.path), ownHeaders(this.#call, this.#target, this.#on), false)
    else if (this.#stream && !this.#encoding) relay.end([...this.#pending, this.#stream.faultEvent(fault)])
    else relay.cut()
  }

  #flushPending() {
    this.#flush = undefined
    if (this.#phase === 'settling' || this.#phase === 'over' || this.#pending.length === 0) return
    const bytes = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
    this.#pending = []
    this.#write(bytes)
  }

  #write(bytes: Buffer) {
    if (this.#call.relay.write(bytes) || this.#call.relay.gone) return
    this.#paused_at = performance.now()
    this.#controller?.pause()
  }

  #stopTimer() {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #timing() {
    return {connect_ms: this.#sent_at - this.#queued_at, first_byte_ms: this.#first_byte_at - this.#sent_at}
  }
}

/** Dispatchers want an origin, also the one that answers in this process. */
const ORIGIN_HERE = 'http://127.0.0.1'

function timeout(target: Target, limit_ms: number): Refusal {
  return new Refusal('upstream.timeout', {provider: target.provider.slug, limit_ms})
}

function ownHeaders(call: Call, target: Target, on: ProxyServices): string[] {
  return answerHeaders(call, target, {}, {is_stream: false, rewrites: false, timing: null, on})
}
