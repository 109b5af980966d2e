import type {Dispatcher} from 'undici'
import {refusalOf} from '../../base/egress/faults.ts'
import {Refusal} from '../../base/errors.ts'
import {NOTHING_SPENT} from '../../schema/spent.ts'
import type {StateOwner} from '../call/state.ts'
import type {AttemptOutcome} from '../records/attempt-result.ts'
import {dispatcherOf, dispatchOf} from '../upstream/build-request.ts'
import {decodeWhole} from '../upstream/decode.ts'
import {maskOf} from '../upstream/sent-secrets.ts'
import type {AttemptParts} from './attempt-owner.ts'
import {AttemptRecorder} from './attempt-recorder.ts'
import {beginsAsEvents, HeldResponse, type UnlabelledResponse, waitsForStart} from './first-bytes.ts'
import type {ResponseHead} from './open-response.ts'
import {outcomeOf} from './outcome.ts'
import {ReadOn} from './read-on.ts'
import {type AttemptTransport, ResponseGate} from './response-gate.ts'
import {encodingIn, ResponseMask} from './response-mask.ts'
import {expiredDeadline, newTimes, type Phase, timeout} from './timeouts.ts'

/** An encoded error is no longer. */
const MAX_AWAITED_BYTES = 1 << 20

interface AwaitedError {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  readonly parts: Buffer[]
  length: number
}

/**
 * One request to a provider, from its intent to its settlement (core rules 2 and 16): sends it, hears the dispatcher,
 * keeps its time. What the client sees of the response is for the gate, what is written of it for the recorder.
 */
export class Attempt implements Dispatcher.DispatchHandler, StateOwner, AttemptTransport {
  readonly #parts: AttemptParts
  readonly #recorder: AttemptRecorder
  readonly #gate: ResponseGate
  readonly #times = newTimes()
  readonly #mask: ResponseMask | null
  /** An error that has to be whole before any of it is sent. */
  #awaited: AwaitedError | null = null
  /** A refusal of credentials, while others are read from a manager of secrets. */
  #held: HeldResponse | null = null
  /** A response that has to show its first bytes before it is known what it is. */
  #unlabelled: UnlabelledResponse | null = null
  #controller: Dispatcher.DispatchController | undefined
  /** Calls off the target's own timeout; undefined where it has none. */
  #callOffTimeout: (() => void) | undefined
  #outcome: AttemptOutcome | undefined
  /** The client is gone, and only the usage is waited for. */
  #read_on: ReadOn | null = null

  constructor(parts: AttemptParts) {
    this.#parts = parts
    const mask = maskOf(parts.request, parts.target)
    this.#mask = mask && new ResponseMask(mask)
    this.#recorder = new AttemptRecorder(parts, this.#times, this.#mask)
    this.#gate = new ResponseGate(parts, this, this.#recorder, this.#times, this.#mask)
  }

  /** How far it is: the call's state while that is its own. */
  get phase(): Phase {
    const {state} = this.#parts
    return state.isOwnedBy(this) ? (state.name as Phase) : 'over'
  }

  get #is_over(): boolean {
    return this.phase === 'over'
  }

  /** Writes the intent, then sends. A journal that takes no intent refuses the call. */
  begin(): void {
    const {state, host} = this.#parts
    state.enter('recording', this)
    this.#recorder.begin(fault => {
      if (this.phase !== 'recording') return
      if (fault) return this.#refuse(new Refusal('journal.full', {}, {cause: fault}))
      const {called_off} = host
      if (called_off) this.settle(outcomeOf(called_off, false))
      else this.#dispatch()
    })
  }

  check(now: number): void {
    const {call, target, services} = this.#parts
    const {decision, response} = this.#gate
    if (this.#read_on && this.#parts.host.is_draining) return this.end(new Refusal('client.gone'))
    // Time that guardrails take over a row of a file, under a deadline of their own, is no silence of the provider's.
    if (call.body.kind === 'stream' && call.body.judged?.is_waiting) this.#times.moved_at = now
    const late = expiredDeadline(this.phase, this.#times, now, services.settings, decision, response.guarded)
    if (late === 'client') call.relay.cut()
    else if (late === 'dropped') this.end(this.#gate.notPassed)
    else if (late !== null) this.end(timeout(target, late))
  }

  clientGone(): void {
    if (this.#parts.host.cache?.leave()) return // others wait for the response
    if (!this.#readOn()) this.end(new Refusal('client.gone'))
  }

  /** All of the answer has come but its usage: that is worth a moment. */
  #readOn(): boolean {
    const {host, request, services} = this.#parts
    const {source} = this.#gate.response
    if (this.phase !== 'receiving' || !source?.awaits_usage || host.is_draining) return false
    this.#read_on ??= ReadOn.begin(request.provider.slug, host.live_calls, services.after, () =>
      this.end(new Refusal('client.gone')),
    )
    if (!this.#read_on) return false
    this.#times.paused_at = 0
    this.resume()
    return true
  }

  clientReady(): void {
    this.#gate.clientReady()
  }

  #dispatch() {
    const {call, state, target, request, services} = this.#parts
    const {request_timeout_ms} = request
    state.enter('queued', this)
    this.#times.queued_at = services.steady()
    if (request_timeout_ms !== null)
      this.#callOffTimeout = services.after(request_timeout_ms, () => this.end(timeout(target, request_timeout_ms)))
    try {
      dispatcherOf(request, call, services).dispatch(dispatchOf(request), this)
    } catch (fault) {
      this.onResponseError(this.#controller, fault as Error)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // given up while it waited for a connection
    if (this.phase !== 'queued') return controller.abort(new Refusal('client.gone'))
    this.#parts.state.enter('sent', this)
    this.#times.sent_at = this.#parts.services.steady()
  }

  onRequestSent(): void {
    this.#times.written_at = this.#parts.services.steady()
  }

  onBodySent(): void {
    this.#times.moved_at = this.#parts.services.steady()
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[]>,
  ): void {
    if (status < 200 || this.phase !== 'sent') return
    this.#controller = controller
    this.#parts.state.enter('receiving', this)
    this.#times.first_byte_at = this.#times.last_byte_at = this.#times.event_at = this.#parts.services.steady()
    const renewing = status === 401 || status === 403 ? this.#parts.host.renewed() : null
    if (!renewing) return this.#start(status, headers)
    this.#held = new HeldResponse(status, headers)
    void renewing.then(() => this.#resumeHeld())
  }

  /** It is known whether there are others: the response continues as if it came now. */
  #resumeHeld() {
    const held = this.#held
    this.#held = null
    if (!held || this.phase !== 'receiving') return
    this.#times.last_byte_at = this.#parts.services.steady()
    this.#start(held.status, held.headers)
    for (const part of held.parts) this.onResponseData(this.#controller!, part)
    if (held.has_ended) this.onResponseEnd()
    else this.resume()
  }

  #start(status: number, headers: Record<string, string | string[]>) {
    if (this.#mask && ResponseMask.waits(status, headers)) this.#awaited = {status, headers, parts: [], length: 0}
    else if (waitsForStart(this.#parts, status, headers)) this.#unlabelled = {status, headers, parts: []}
    else this.#open({status, headers, is_event_stream: false})
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.phase === 'over') return
    this.#controller = controller
    this.#times.last_byte_at = this.#parts.services.steady()
    if (this.#held) return this.#held.takes(chunk) ? undefined : this.pause()
    if (this.#read_on?.takes(chunk) === false) return this.end(new Refusal('client.gone'))
    if (this.#awaited) return this.#await(this.#awaited, chunk)
    if (!this.#unlabelled) return this.#write(chunk)
    const first = Buffer.concat([...this.#unlabelled.parts, chunk])
    const is_event_stream = beginsAsEvents(first)
    if (is_event_stream === null) this.#unlabelled.parts.push(chunk)
    else this.#label(is_event_stream)
    if (is_event_stream !== null && !this.#is_over) this.#write(first)
  }

  #write(chunk: Buffer) {
    const bytes = this.#mask?.take(chunk) ?? chunk
    if (bytes.length > 0) this.#gate.write(bytes)
  }

  /** The kind of an unlabelled response is known: it is handled as any other. */
  #label(is_event_stream: boolean) {
    const {status, headers} = this.#unlabelled!
    this.#unlabelled = null
    this.#open({status, headers, is_event_stream})
  }

  /** It ends before it is known what it is: it is no stream. */
  #endUnlabelled() {
    if (!this.#unlabelled) return
    const first = Buffer.concat(this.#unlabelled.parts)
    this.#label(false)
    if (first.length > 0 && !this.#is_over) this.#write(first)
  }

  onResponseEnd(): void {
    if (this.#held) return this.#held.end()
    if (this.#awaited) return this.#release(this.#awaited)
    this.#endUnlabelled()
    const rest = this.#mask?.end()
    if (rest && this.phase !== 'over') this.#gate.write(rest)
    this.#gate.end()
  }

  #open(head: ResponseHead) {
    this.#mask?.open(head.status, head.headers)
    this.#gate.open(head)
  }

  #await(awaited: AwaitedError, chunk: Buffer) {
    awaited.parts.push(chunk)
    awaited.length += chunk.length
    if (awaited.length <= MAX_AWAITED_BYTES) return
    this.end(
      new Refusal('upstream.bad_reply', {provider: this.#parts.request.provider.slug, reason: 'its error is too long'}),
    )
  }

  /** An encoded error is whole: it is sent as it came, or decoded when it held a secret. */
  #release({status, headers, parts}: AwaitedError) {
    this.#awaited = null
    const body = Buffer.concat(parts)
    decodeWhole(encodingIn(headers), body, plain => {
      if (this.phase !== 'receiving') return
      const kept = plain && this.#mask!.kept(plain)
      const is_masked = kept !== null && kept !== plain
      if (is_masked) {
        delete headers['content-encoding']
        headers['content-length'] = String(kept.length)
      }
      this.#open({status, headers, is_event_stream: false})
      if (!this.#is_over) this.#gate.write(is_masked ? kept : body)
      this.#gate.end()
    })
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#held = null
    if (this.phase === 'receiving') this.#endUnlabelled()
    this.#gate.onDisconnect(refusalOf(error, this.#parts.target.provider.slug, this.#gate.response.status !== 0))
  }

  get has_timer(): boolean {
    return this.#callOffTimeout !== undefined
  }

  stopTimer(): void {
    this.#callOffTimeout?.()
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  /** Ends the attempt from our side: the request is aborted, and the bookkeeping does not wait for the provider. */
  end(fault: Refusal): void {
    const {phase} = this
    if (phase === 'recording' || phase === 'over') return
    this.#gate.fail(fault)
    this.#controller?.abort(fault)
  }

  settle(outcome: AttemptOutcome): void {
    this.#parts.state.enter('settling', this)
    this.#outcome = outcome
    this.stopTimer()
    this.#gate.hold()
    this.#recorder.settle(outcome, this.#gate, () => {
      this.#parts.state.enter('finishing', this)
      if (outcome.fault) this.finish()
      else this.#gate.release()
    })
  }

  finish(): void {
    const {state, host} = this.#parts
    const {decision, response} = this.#gate
    state.release(this)
    this.#read_on?.end()
    this.#read_on = null
    response.stream?.close()
    this.#recorder.close()
    if (decision?.passes === false) return host.continueRouting()
    host.endCall()
    this.#gate.close(this.#outcome?.fault ?? null)
  }

  /** Nothing was sent, and no intent is written: the claim of the call is released. */
  #refuse(fault: Refusal) {
    const {call, state, host, services} = this.#parts
    state.release(this)
    host.spend(NOTHING_SPENT, {is_retried: false, is_last: true})
    services.log.error({fault: fault.cause, trace_id: call.trace.trace_id}, 'the journal took no intent')
    this.#gate.refuse(fault)
    host.endCall()
  }
}
