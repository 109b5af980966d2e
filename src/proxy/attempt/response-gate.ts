import type {Refusal} from '../../base/errors.ts'
import {failureOfWhole, mayTellFailure} from '../../providers/reported-failure.ts'
import type {AttemptOutcome, RewrittenResponse, Statuses} from '../records/attempt-result.ts'
import {decodeWhole} from '../upstream/decode.ts'
import {statusOf} from '../upstream/stream.ts'
import type {AttemptParts, RoutingDecision} from './attempt-owner.ts'
import type {AttemptRecorder, SettledResponse} from './attempt-recorder.ts'
import {refuseClient, sendHead, sendRewrittenHead} from './client-head.ts'
import {
  clientStatus,
  MAX_BUFFERED_BYTES,
  NO_RESPONSE,
  type OpenResponse,
  openResponse,
  type ResponseHead,
} from './open-response.ts'
import {ANSWERED, notPassed, outcomeOf} from './outcome.ts'
import {ReservedStream, type ReservedStreamListener} from './reserved-stream.ts'
import type {ResponseMask} from './response-mask.ts'
import type {Phase, Times} from './timeouts.ts'
import {rewriteResponse} from './whole-response.ts'

/** First members of errors; those of an answer are others. */
const BEGINS = /^\s*\{\s*"(?:error|code|msg|message|detail|status|success|type|base_resp)"/
const ENDS = /\}\s*$/
const LONGEST_BEGIN = 256
const LONGEST_END = 16

/** The transport, as the gate sees it. */
export interface AttemptTransport {
  readonly phase: Phase
  /** True while a timeout of the request's own may end it. */
  readonly has_timer: boolean
  stopTimer(): void
  pause(): void
  resume(): void
  /** Ends the attempt from our side. */
  end(fault: Refusal): void
  /** The one terminal transition: the rest of the response waits until the settlement is written. */
  settle(outcome: AttemptOutcome): void
  /** All has come, and is settled. */
  finish(): void
}

/**
 * Decides what the client sees of a response, and when (core rules 6, 16-18, 20). Bytes pass as they come, except those
 * before the routing decision and those that complete the response: they wait for the settlement.
 */
export class ResponseGate implements ReservedStreamListener, SettledResponse {
  response: OpenResponse = NO_RESPONSE
  /** Undefined: the status is not known yet, or was sent before routing could decide. */
  decision: RoutingDecision | undefined
  /** A whole response after translation and guardrails. */
  rewritten: RewrittenResponse | null = null
  readonly #parts: AttemptParts
  readonly #transport: AttemptTransport
  readonly #recorder: AttemptRecorder
  readonly #times: Times
  readonly #mask: ResponseMask | null
  #reserved: ReservedStream | undefined
  #routing_status: number | null = null
  /** Not written to the client yet. */
  #pending: Buffer[] = []
  /** Calls off the flush of this turn. */
  #callOffFlush: (() => void) | undefined
  /** The provider's response has ended. */
  #has_ended = false

  constructor(
    parts: AttemptParts,
    transport: AttemptTransport,
    recorder: AttemptRecorder,
    times: Times,
    mask: ResponseMask | null,
  ) {
    this.#parts = parts
    this.#transport = transport
    this.#recorder = recorder
    this.#times = times
    this.#mask = mask
  }

  get statuses(): Statuses {
    const {status, stream} = this.response
    const client = this.rewritten ? this.rewritten.status : stream ? clientStatus(this.#parts.call, status) : null
    return {provider: status || null, routing: this.#routing_status, client}
  }

  /** The head has come. */
  open(head: ResponseHead): void {
    const {call, host} = this.#parts
    const response = openResponse(this.#parts, head, this.#recorder)
    const {status, stream, fault} = response
    this.response = response
    this.#recorder.open(response)
    this.#times.source = response.source
    if (fault) return this.#transport.end(fault)
    if (stream && call.reservation)
      this.#reserved = new ReservedStream(call.reservation, stream, this.#transport, this.#times, this)
    // An answer may be a failure with a status of its own. While another try may follow, a stream's first event is
    // waited for, which may report an overload; of a whole response the content, or its coming at all.
    const {is_rewritten, checkStart, may_report_failure} = response
    const waits = stream ? stream.is_held : is_rewritten || checkStart || may_report_failure
    if (status < 300 && (waits || !host.is_final)) return
    this.#decide(stream ? clientStatus(call, status) : status)
    if (stream && this.decision?.passes)
      this.#parts.services.soon(() => call.relay.started || this.#transport.phase === 'over' || call.relay.flushHead())
  }

  /** Bytes of the body. */
  write(chunk: Buffer): void {
    const {stream, is_rewritten, content_length} = this.response
    this.#recorder.received(chunk)
    if (stream)
      return stream.take(chunk, (send, hold) =>
        this.#reserved ? this.#reserved.take(send, hold) : this.pass(send, hold),
      )
    const {received_bytes} = this.#recorder
    if (is_rewritten)
      return this.decision?.passes === false && received_bytes > MAX_BUFFERED_BYTES ? this.#giveUp() : undefined
    if (!this.decision && this.#awaitsAnswer(chunk)) return
    if (!this.decision) this.#decideWhole(this.#pending[0] ?? chunk)
    if (!this.decision?.passes) return received_bytes > MAX_BUFFERED_BYTES ? this.#giveUp() : undefined
    this.#pending.push(chunk)
    if (content_length === null || received_bytes < content_length)
      this.#callOffFlush ??= this.#parts.services.soon(() => this.#flushPending())
  }

  /** The body has ended. */
  end(): void {
    const {stream, is_rewritten} = this.response
    if (this.#reserved?.is_waiting) return this.#reserved.wait(() => this.end())
    if (!stream) {
      if (is_rewritten) return this.#rewrite()
      if (this.#transport.phase === 'receiving' && !this.decision) return this.#decideHeld()
      return this.#complete()
    }
    stream.end(rest =>
      this.#reserved ? this.#reserved.end(rest, last => this.#endStream(last)) : this.#endStream(rest),
    )
  }

  /** The connection broke: what guardrails still hold of the response may end it well. */
  onDisconnect(fault: Refusal): void {
    if (this.#transport.phase === 'receiving' && this.response.guarded?.breakOff(fault)) this.end()
    else this.fail(fault)
  }

  fail(told: Refusal): void {
    const fault = this.#mask?.told(told) ?? told
    const {phase} = this.#transport
    const {call, host} = this.#parts
    if (phase === 'finishing') return this.#transport.finish()
    if (phase === 'settling') this.#has_ended = true // it ends as soon as it is settled, and waits for no one
    if (phase === 'settling' || phase === 'over') return
    // not checked
    if (this.response.is_rewritten && call.guardrails?.judges_answers) this.#recorder.copy.replace(Buffer.alloc(0))
    const outcome = outcomeOf(fault, this.#has_ended)
    if (!call.relay.started)
      this.decision ??= host.decide({status: fault.status, kind: outcome.kind, headers: null, is_committed: false})
    this.#transport.settle(outcome)
  }

  /** Why it is given up if routing has decided against it. */
  get notPassed(): Refusal {
    return notPassed(this.response, this.#parts.target)
  }

  clientReady(): void {
    if (!this.#times.paused_at) return
    this.#times.paused_at = 0
    this.#times.last_byte_at = this.#parts.services.steady()
    if (!this.#reserved?.is_waiting) this.#transport.resume()
  }

  /** Bytes of a stream, in order; `hold` would tell the client that the response is whole. */
  pass(send: Buffer, hold: Buffer | null): void {
    if (this.#transport.phase !== 'receiving') return this.#passLate(send, hold)
    const stream = this.response.stream!
    this.#recorder.translated(send)
    if (this.#transport.has_timer && stream.is_answering) this.#transport.stopTimer()
    if (this.decision?.passes) this.#send(send)
    else if (!this.decision) {
      this.#pending.push(send)
      if (!stream.has_begun && hold === null && (stream.is_held || this.#recorder.received_bytes <= MAX_BUFFERED_BYTES))
        return
      this.#decideStream()
      if (this.#transport.phase !== 'receiving') return // it did not pass, and is given up
      this.#flushPending()
    }
    if (stream.ends_on_fault && stream.failed) return this.#transport.end(stream.fault!)
    if (hold === null) return
    this.#pending.push(hold)
    this.#transport.settle(ANSWERED)
  }

  /** After the settlement: the last bytes go. */
  release(): void {
    if (this.#has_ended) this.#transport.finish()
    else this.#flushPending()
  }

  /** Nothing leaves until `release`. */
  hold(): void {
    this.#callOffFlush?.()
  }

  /** Ends the client's response: with its last bytes, or with what is left to say of `fault`. */
  close(fault: Refusal | null): void {
    const {relay} = this.#parts.call
    const {stream, encoding, guarded} = this.response
    if (!fault) relay.end(this.#pending, guarded?.trailer())
    else if (!relay.started) this.refuse(fault)
    else {
      const event = stream && (!encoding || this.#parts.request.translating) ? stream.faultEvent(fault) : null
      if (event?.length) relay.end([...this.#pending, this.#kept(event)])
      else relay.cut()
    }
  }

  #kept(bytes: Buffer): Buffer {
    return this.#mask?.kept(bytes) ?? bytes
  }

  /** Answers in our own name. */
  refuse(fault: Refusal): void {
    refuseClient(this.#parts, this.#times, fault, this.decision?.passes ? this.decision.retry_attempt_count : 0)
  }

  cutOff(fault: Refusal): void {
    this.#transport.end(fault)
  }

  #passLate(send: Buffer, hold: Buffer | null) {
    this.#pending.push(send)
    if (hold !== null) this.#pending.push(hold)
    if (this.#transport.phase === 'finishing') this.#flushPending()
  }

  #endStream(rest: Buffer) {
    const {stream} = this.response
    const {phase} = this.#transport
    this.#has_ended = true
    if (rest.length) this.#pending.push(rest)
    this.#recorder.translated(rest)
    const fault = stream?.fault
    if (phase === 'receiving' && !this.decision && !(fault && !stream?.has_begun)) this.#decideStream()
    if (fault && this.#transport.phase === 'receiving') this.fail(fault)
    else this.#complete()
  }

  /** All has come. */
  #complete() {
    const {phase} = this.#transport
    this.#has_ended = true
    if (phase === 'receiving') this.#transport.settle(ANSWERED)
    else if (phase === 'finishing') this.#transport.finish()
  }

  /** Translates a whole response, or an error, and has its guardrails check it. */
  #rewrite() {
    if (this.#transport.phase !== 'receiving') return this.#complete()
    this.#transport.stopTimer()
    rewriteResponse(this.#parts, this.response, this.#recorder.copy, (fault, rewritten) => {
      if (this.#transport.phase !== 'receiving') return
      if (fault) this.fail(fault)
      else this.#sendWhole(rewritten!)
    })
  }

  #sendWhole(whole: RewrittenResponse) {
    const rewritten = whole.status >= 300 && this.response.status < 300 ? this.#masked(whole) : whole
    if (!this.decision) this.#decide(rewritten.status)
    this.rewritten = rewritten
    this.#recorder.copy.replace(rewritten.logged)
    if (this.decision?.passes) {
      sendRewrittenHead(this.#parts, this.response, rewritten, this.#times, this.decision.retry_attempt_count)
      this.#pending = [rewritten.bytes]
    }
    this.#complete()
  }

  /** A failure behind a good status may quote what was sent, as an error does. */
  #masked(whole: RewrittenResponse): RewrittenResponse {
    const bytes = this.#kept(whole.bytes)
    return bytes === whole.bytes ? whole : {...whole, bytes, logged: this.#kept(whole.logged)}
  }

  /** By its first event, or its end, a stream passes or not (core rule 20). */
  #decideStream() {
    const failed = this.response.stream?.failed ?? null
    this.#decide(failed ? statusOf(failed) : clientStatus(this.#parts.call, this.response.status))
    if (this.decision && !this.decision.passes) this.#giveUp()
  }

  /**
   * True while an error may come in place of an answer, or in its choices: what began like one, or came at once and has
   * no answer. Such bodies are short; of any other the bytes pass as they come. Encoded ones are read when they are
   * whole.
   */
  #awaitsAnswer(chunk: Buffer): boolean {
    const {may_report_failure, encoding} = this.response
    if (!may_report_failure || this.#recorder.received_bytes > MAX_BUFFERED_BYTES) return false
    if (encoding === null && !this.#mayFail(chunk)) return false
    this.#pending.push(chunk)
    return true
  }

  /** True where bytes that came, with those that are held, may be of a failure. */
  #mayFail(chunk: Buffer): boolean {
    const {endpoint} = this.#parts.call
    const {content_length} = this.response
    const is_first = this.#pending.length === 0
    const is_whole = content_length === null ? ENDS.test(lastOf(chunk)) : content_length === chunk.length
    if (is_first && !is_whole && !BEGINS.test(chunk.toString('latin1', 0, LONGEST_BEGIN))) return false
    return mayTellFailure(endpoint, chunk)
  }

  /** It ended while it was held: a failure that it reports has the status that the body names. */
  #decideHeld() {
    const {call, request} = this.#parts
    const held = this.#pending
    decodeWhole(this.response.encoding, Buffer.concat(held), plain => {
      if (this.#transport.phase !== 'receiving') return
      const failure = plain && failureOfWhole(call.endpoint, plain, {provider: request.provider.slug})
      // An error in choices becomes the answer's own, where clients look for one.
      if (failure?.fault) {
        this.response = {...this.response, is_rewritten: true}
        return this.#rewrite()
      }
      if (failure) this.response = {...this.response, status: failure.status}
      this.#decideWhole(held[0] ?? null)
      this.#complete()
    })
  }

  /** A response that is no stream passes by its coming, if one was requested; null: nothing came. */
  #decideWhole(first: Buffer | null) {
    const fault = this.response.checkStart?.(first)
    if (fault) this.#transport.end(fault)
    else this.#decide(this.response.status)
  }

  #decide(status: number) {
    const {headers, is_rewritten} = this.response
    this.decision = this.#parts.host.decide({status, kind: 'answer', headers, is_committed: false})
    this.#routing_status = status
    if (this.decision.passes && !is_rewritten)
      sendHead(this.#parts, this.response, this.#times, this.decision.retry_attempt_count)
  }

  #giveUp() {
    this.#transport.end(this.notPassed)
  }

  #flushPending() {
    this.#callOffFlush = undefined
    const {phase} = this.#transport
    if (phase === 'settling' || phase === 'over' || this.#pending.length === 0 || !this.decision?.passes) return
    const bytes = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
    this.#pending = []
    this.#send(bytes)
  }

  #send(bytes: Buffer) {
    const {call, host} = this.#parts
    if (call.relay.write(bytes) || call.relay.gone || host.cache?.is_followed) return
    this.#times.paused_at = this.#parts.services.steady()
    this.#transport.pause()
  }
}

function lastOf(chunk: Buffer): string {
  return chunk.toString('latin1', Math.max(0, chunk.length - LONGEST_END))
}
