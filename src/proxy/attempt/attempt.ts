import type {Dispatcher} from 'undici'
import {encodingOf} from '../../base/content-encoding.ts'
import {refusalOf} from '../../base/egress/faults.ts'
import {Refusal} from '../../base/errors.ts'
import type {Intent, Outcome} from '../../schema/records.ts'
import type {Call} from '../call/call.ts'
import {answerHeaders, type How, withoutBody} from '../call/response-headers.ts'
import type {CallState, StateOwner} from '../call/state.ts'
import {errorResponse} from '../inbound/error-response.ts'
import {type AttemptResult, intentOf, settle} from '../records/settle.ts'
import type {ProxyServices} from '../services.ts'
import type {Target} from '../targets/target.ts'
import {Copy} from '../upstream/body-copy.ts'
import {dispatcherOf, dispatchOf, type UpstreamRequest} from '../upstream/build-request.ts'
import {type Stream, statusOf} from '../upstream/stream.ts'
import {type AttemptHost, NOTHING_USED, type RoutingDecision} from './host.ts'
import {EVENT_STREAM, inTexts, MOST_HELD_BYTES, NOT_OPEN, type OpenReply, openReply, shownStatus} from './open-response.ts'
import {notPassed, outcomeOf} from './outcome.ts'
import {ReservedStream} from './reserved-stream.ts'
import {notYet, overdue, type Phase, timeout, timingOf} from './timeouts.ts'
import {type Rewritten, rewrite} from './whole-response.ts'

/**
 * One call to a provider, from its intent to its settlement (core rules 2, 6, 16-18). Bytes pass through as they come, except the
 * ones that tell a client that the answer is whole: those wait until the settlement is written.
 */
export class Attempt implements Dispatcher.DispatchHandler, StateOwner {
  readonly #call: Call
  readonly #state: CallState
  readonly #target: Target
  readonly #outgoing: UpstreamRequest
  readonly #on: ProxyServices
  readonly #host: AttemptHost
  #intent!: Intent
  #controller: Dispatcher.DispatchController | undefined
  #timer: NodeJS.Timeout | undefined
  #status = 0
  #headers: Record<string, string> = {}
  #encoding: string | null = null
  #expected: number | null = null
  #received = 0
  #stream: Stream | undefined
  #opened: OpenReply = NOT_OPEN
  #held: ReservedStream | undefined
  readonly #copy: Copy
  #verdict: RoutingDecision | undefined
  /** The status that it was judged by; of an error told in a stream its own. */
  #judged: number | null = null
  /** What a translation, or guardrails, made of a whole answer. */
  #said: Rewritten | null = null
  /** Bytes not handed to the client yet. */
  #pending: Buffer[] = []
  #flush: NodeJS.Immediate | undefined
  /** The provider's answer has ended. */
  #ended = false
  #fault: Refusal | null = null
  readonly #times = notYet()

  constructor(call: Call, state: CallState, target: Target, outgoing: UpstreamRequest, host: AttemptHost, on: ProxyServices) {
    this.#call = call
    this.#state = state
    this.#target = target
    this.#outgoing = outgoing
    this.#host = host
    this.#on = on
    this.#copy = new Copy(on.settings.log_body_max_bytes)
  }

  /** How far it is: the call's state while that is its own. */
  get #phase(): Phase {
    return this.#state.isOwnedBy(this) ? (this.#state.name as Phase) : 'over'
  }

  /** Writes the intent, then sends. A journal that takes no intent refuses the call. */
  begin(): void {
    this.#state.enter('recording', this)
    this.#call.attempts++
    this.#intent = intentOf(this.#call, this.#target, this.#outgoing.model, this.#on)
    this.#on.recorder.begin(this.#intent, fault => {
      if (this.#phase !== 'recording') return
      if (fault) return this.#refuse(new Refusal('journal.full', {}, {cause: fault}))
      const {called_off} = this.#host
      if (called_off) this.#settle('aborted', called_off)
      else this.#dispatch()
    })
  }

  check(now: number): void {
    const late = overdue(this.#phase, this.#times, now, this.#on.settings, this.#verdict, this.#opened.judged)
    if (late === 'client') this.#call.relay.cut()
    else if (late === 'dropped') this.end(notPassed(this.#stream, this.#target, this.#status))
    else if (late !== null) this.end(timeout(this.#target, late))
  }

  clientGone(): void {
    if (!this.#host.cached?.leave()) this.end(new Refusal('client.gone')) // else others wait for the answer
  }

  clientReady(): void {
    if (!this.#times.paused_at) return
    this.#times.paused_at = 0
    this.#times.last_byte_at = performance.now()
    if (!this.#held?.waits) this.#controller?.resume()
  }

  #dispatch() {
    const {request_timeout_ms} = this.#outgoing
    this.#state.enter('queued', this)
    this.#times.queued_at = performance.now()
    if (request_timeout_ms !== null) this.#timer = setTimeout(() => this.end(timeout(this.#target, request_timeout_ms)), request_timeout_ms)
    try {
      dispatcherOf(this.#outgoing, this.#call, this.#on).dispatch(dispatchOf(this.#outgoing), this)
    } catch (fault) {
      this.onResponseError(this.#controller, fault as Error)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#phase !== 'queued') return controller.abort(new Refusal('client.gone')) // given up while it waited for a connection
    this.#state.enter('sent', this)
    this.#times.sent_at = performance.now()
  }

  onBodySent(): void {
    this.#times.moved_at = performance.now()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[]>): void {
    if (status < 200 || this.#phase !== 'sent') return
    this.#controller = controller
    this.#state.enter('answering', this)
    this.#status = status
    this.#times.first_byte_at = this.#times.last_byte_at = this.#times.event_at = performance.now()
    this.#headers = inTexts(headers)
    this.#encoding = encodingOf(this.#headers['content-encoding'])
    this.#expected = this.#headers['content-length'] === undefined ? null : Number(this.#headers['content-length'])
    const of = {call: this.#call, outgoing: this.#outgoing, status, encoding: this.#encoding, headers: this.#headers}
    this.#opened = openReply(of, this, this.#on.log)
    const {stream, source, rewrites, begins, fault} = this.#opened
    this.#stream = stream ?? undefined
    this.#times.source = source
    if (fault) return this.end(fault)
    if (!stream && !rewrites && status < 300) this.#copy.readOn(this.#headers['content-type'], this.#encoding)
    const {reservation: holding} = this.#call
    if (stream && holding) this.#held = new ReservedStream(holding, stream, controller, this.#times, this)
    // While another target may be asked, a stream's first event is waited for, which may tell of an overload; a whole answer is judged by what it holds, or by its coming at all.
    if (status < 300 && ((stream ? stream.is_held : rewrites || begins) || !this.#host.is_final)) return
    this.#judge(stream ? shownStatus(this.#call, status) : status)
    if (stream && this.#verdict?.passes)
      setImmediate(() => this.#call.relay.started || this.#phase === 'over' || this.#call.relay.flushHead())
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase === 'over') return
    this.#controller = controller
    this.#times.last_byte_at = performance.now()
    this.#received += chunk.length
    if (!this.#opened.judged) {
      this.#copy.add(chunk)
      if (!this.#outgoing.translating) this.#host.cached?.observe(chunk)
    }
    if (this.#stream) return this.#stream.take(chunk, (send, hold) => (this.#held ? this.#held.take(send, hold) : this.pass(send, hold)))
    if (this.#opened.rewrites) return
    if (!this.#verdict) this.#judgeWhole(chunk)
    if (!this.#verdict?.passes)
      return this.#received > MOST_HELD_BYTES ? this.end(notPassed(this.#stream, this.#target, this.#status)) : undefined
    this.#pending.push(chunk)
    if (this.#expected === null || this.#received < this.#expected) this.#flush ??= setImmediate(() => this.#flushPending())
  }

  onResponseEnd(): void {
    if (this.#held?.waits) return this.#held.end(() => this.onResponseEnd())
    if (!this.#stream) {
      if (this.#opened.rewrites) return this.#rewrite()
      if (this.#phase === 'answering' && !this.#verdict) this.#judgeWhole(null)
      return this.#end()
    }
    this.#stream.end(rest => (this.#held ? this.#held.end(() => this.#endStream(rest)) : this.#endStream(rest)))
  }

  #endStream(rest: Buffer) {
    this.#ended = true
    if (rest.length) this.#pending.push(rest)
    if (this.#outgoing.translating && !this.#opened.judged) this.#host.cached?.observe(rest)
    const fault = this.#stream?.fault
    if (this.#phase === 'answering' && !this.#verdict && !(fault && !this.#stream?.has_begun)) this.#judgeStream()
    if (fault && this.#phase === 'answering') this.#fail(fault)
    else this.#end()
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const fault = refusalOf(error, this.#target.provider.slug, this.#status !== 0)
    if (this.#phase === 'answering' && this.#opened.judged?.breakOff(fault)) this.onResponseEnd()
    else this.#fail(fault)
  }

  /** Bytes of a stream, in order; `hold` would tell the client that the answer is whole. */
  pass(send: Buffer, hold: Buffer | null): void {
    if (this.#phase === 'answering') {
      const stream = this.#stream!
      if (this.#outgoing.translating && !this.#opened.judged) this.#host.cached?.observe(send)
      if (this.#timer && stream.is_answering) clearTimeout(this.#timer)
      if (!this.#verdict) {
        this.#pending.push(send)
        if (!stream.has_begun && hold === null && (stream.is_held || this.#received <= MOST_HELD_BYTES)) return
        this.#judgeStream()
        if (this.#phase !== 'answering') return // it did not pass, and is given up
        this.#flushPending()
      } else this.#write(send)
      if (stream.ends_on_fault && stream.failed) return this.end(stream.fault!)
      if (hold === null) return
      this.#pending.push(hold)
      this.#settle('ok', null)
    } else {
      this.#pending.push(send)
      if (hold !== null) this.#pending.push(hold)
      if (this.#phase === 'responding') this.#flushPending()
    }
  }

  /** The first event of a stream, or its end, tells what it is worth (core rule 20). */
  #judgeStream() {
    const failed = this.#stream?.failed ?? null
    this.#judge(failed ? statusOf(failed) : shownStatus(this.#call, this.#status))
    if (this.#verdict && !this.#verdict.passes) this.end(notPassed(this.#stream, this.#target, this.#status))
  }

  /** What is no stream is worth something by its coming, if it is what was asked for; null: nothing came. */
  #judgeWhole(first: Buffer | null) {
    const fault = this.#opened.begins?.(first)
    if (fault) this.end(fault)
    else this.#judge(this.#status)
  }

  /** What becomes of this answer; one that passes begins to leave. */
  #judge(status: number) {
    this.#verdict = this.#host.decide({status, kind: 'answer', headers: this.#headers, is_committed: false})
    this.#judged = status
    if (this.#verdict.passes && !this.#opened.rewrites) this.#sendHead(this.#verdict.retry_attempt_count)
  }

  #sendHead(retry_attempt_count: number) {
    const {translating, is_metered} = this.#outgoing
    const is_stream = this.#stream !== undefined
    const rewrites = translating !== null || (is_stream && this.#status < 300 && (is_metered || this.#opened.judged !== null))
    const theirs = translating ? EVENT_STREAM : this.#headers
    this.#call.relay.head(
      shownStatus(this.#call, this.#status),
      this.#headersOf(theirs, {is_stream, rewrites, retry_attempt_count}),
      is_stream || (this.#expected !== null && !rewrites),
    )
  }

  #headersOf(theirs: Record<string, string>, how: Pick<How, 'is_stream' | 'rewrites' | 'retry_attempt_count'>): string[] {
    const timing = this.#times.first_byte_at ? timingOf(this.#times) : null
    return answerHeaders(this.#call, this.#target, theirs, {...how, passage: this.#host.passage, timing, on: this.#on})
  }

  /** Bytes that leave a stream that is judged: what is logged and kept of it. */
  sent(bytes: Buffer): void {
    this.#copy.add(bytes)
    this.#host.cached?.observe(bytes)
  }

  /** A whole answer, or an error, in the client's words and as its guardrails leave it. */
  #rewrite() {
    if (this.#phase !== 'answering') return this.#end()
    clearTimeout(this.#timer)
    const of = {call: this.#call, outgoing: this.#outgoing, status: this.#status, headers: this.#headers, encoding: this.#encoding}
    rewrite(of, this.#copy, (fault, reply) => {
      if (this.#phase !== 'answering') return
      if (fault) this.#fail(fault)
      else this.#answer(reply!)
    })
  }

  #answer(reply: Rewritten) {
    if (!this.#verdict) this.#judge(reply.status)
    this.#said = reply
    this.#copy.replace(reply.logged)
    this.#encoding = null
    if (this.#verdict?.passes) {
      const headers = {...withoutBody(this.#headers), 'content-type': reply.content_type}
      const {retry_attempt_count} = this.#verdict
      this.#call.relay.head(reply.status, this.#headersOf(headers, {is_stream: false, rewrites: true, retry_attempt_count}), false)
      this.#pending = [reply.bytes]
    }
    this.#end()
  }

  #end() {
    this.#ended = true
    if (this.#phase === 'answering') this.#settle('ok', null)
    else if (this.#phase === 'responding') this.#finish()
  }

  /** Ends the attempt from our side; the provider is told, and the bookkeeping does not wait for it. */
  end(fault: Refusal): void {
    if (this.#phase === 'recording' || this.#phase === 'over') return
    this.#fail(fault)
    this.#controller?.abort(fault)
  }

  #fail(fault: Refusal) {
    this.#ended ||= this.#phase === 'settling' // it ends as soon as it is settled, and waits for nobody
    if (this.#phase === 'responding') this.#finish()
    if (this.#phase === 'settling' || this.#phase === 'over') return
    if (this.#opened.rewrites && this.#call.guardrails?.judges_answers) this.#copy.replace(Buffer.alloc(0)) // nobody judged it
    const {outcome, kind} = outcomeOf(fault, this.#ended)
    const is_committed = this.#call.relay.started
    this.#verdict ??= is_committed ? undefined : this.#host.decide({status: fault.status, kind, headers: null, is_committed})
    this.#settle(outcome, fault)
  }

  /** Nothing left, and no intent stands: the call is given back. */
  #refuse(fault: Refusal) {
    this.#state.release(this)
    this.#host.spend(NOTHING_USED, {is_retried: false, is_last: true})
    this.#on.log.error({fault: fault.cause, trace_id: this.#call.incoming.trace.trace_id}, 'the journal took no intent')
    this.#call.relay.refuse(errorResponse(fault, this.#call.incoming.route.path), this.#ownHeaders(), false)
    this.#host.over()
  }

  /** The attempt's one terminal transition: reads the usage and writes the settlement; only then the answer may end. */
  #settle(outcome: Outcome, fault: Refusal | null) {
    this.#state.enter('settling', this)
    this.#fault = fault
    clearTimeout(this.#timer)
    clearImmediate(this.#flush)
    const reply: AttemptResult = {
      status: this.#status || null,
      headers: this.#headers,
      encoding: this.#encoding,
      received_bytes: this.#received,
      stream: this.#stream ?? null,
      copy: this.#copy,
      outcome,
      fault,
      said: this.#said,
      routing_status: this.#judged,
      client_status: this.#said ? this.#said.status : this.#stream ? shownStatus(this.#call, this.#status) : null,
      times: this.#times,
    }
    const is_whole = !this.#stream && outcome === 'ok'
    const is_retried = this.#verdict?.passes === false && this.#verdict.is_retried
    const is_last = this.#verdict?.passes !== false
    const {passage, cached} = this.#host
    const spend = (actual: Parameters<AttemptHost['spend']>[0]) => this.#host.spend(actual, {is_retried, is_last})
    const of = {call: this.#call, target: this.#target, outgoing: this.#outgoing, intent: this.#intent, reply, passage, is_last, spend}
    this.#opened.judged?.settled(fault)
    const write = (plain: Buffer | null) => {
      if (is_last && outcome === 'ok' && !fault) cached?.storeResponse(reply, this.#copy.isCut ? null : plain, this.#said)
      settle({...of, plain, has_row: !is_retried}, this.#on, () => this.#settled())
    }
    if (is_whole) this.#copy.plain(this.#encoding, write)
    else write(null)
  }

  #settled() {
    this.#state.enter('responding', this)
    if (this.#ended || this.#fault) this.#finish()
    else this.#flushPending()
  }

  #finish() {
    this.#state.release(this)
    this.#stream?.close()
    this.#copy.close()
    const {relay, incoming} = this.#call
    if (this.#verdict?.passes === false) return this.#host.resume()
    this.#host.over()
    const fault = this.#fault
    if (!fault) relay.end(this.#pending, this.#opened.judged?.trailer())
    else if (!relay.started) relay.refuse(errorResponse(fault, incoming.route.path), this.#ownHeaders(), false)
    else if (this.#stream && (!this.#encoding || this.#outgoing.translating)) relay.end([...this.#pending, this.#stream.faultEvent(fault)])
    else relay.cut()
  }

  #flushPending() {
    this.#flush = undefined
    if (this.#phase === 'settling' || this.#phase === 'over' || this.#pending.length === 0 || !this.#verdict?.passes) return
    const bytes = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
    this.#pending = []
    this.#write(bytes)
  }

  #write(bytes: Buffer) {
    if (this.#call.relay.write(bytes) || this.#call.relay.gone || this.#host.cached?.followed) return
    this.#times.paused_at = performance.now()
    this.#controller?.pause()
  }

  #ownHeaders(): string[] {
    const retry_attempt_count = this.#verdict?.passes ? this.#verdict.retry_attempt_count : 0
    return this.#headersOf({}, {is_stream: false, rewrites: false, retry_attempt_count})
  }
}
