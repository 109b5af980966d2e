import type {Duplex} from 'node:stream'
import type {Refusal} from '../../base/errors.ts'
import {CLOSE, type Closing, readClose, textFrame, type WirePiece} from '../../base/websocket/index.ts'
import type {ChargedWork} from '../../charge/work.ts'
import type {HookResult} from '../../schema/guardrails.ts'
import type {Outcome} from '../../schema/records.ts'
import type {Call} from '../call/call.ts'
import type {CallRegistry, LiveCall} from '../call/registry.ts'
import {asRefusal} from '../inbound/error-response.ts'
import {TurnUsage} from '../reservations/turn-usage.ts'
import type {Uses} from '../services.ts'
import {Conversation} from './conversation.ts'
import {eventIn, leadOf, modelOf, text, typeOf} from './events.ts'
import {ClientLane, judgesEvents} from './judging/client-lane.ts'
import {errorEvent} from './judging/error-event.ts'
import {type AnswerVerdict, ProviderLane} from './judging/provider-lane.ts'
import {turnVerdict} from './judging/turn-verdict.ts'
import {type Pass, Pipe} from './pipe.ts'
import {type SessionInfo, type SessionRecordServices, settle} from './records.ts'
import {
  clientBroke,
  clientClosed,
  clientLeft,
  closedByUs,
  providerBroke,
  providerClosed,
  providerLeft,
  refused,
  type SessionEnd,
} from './session-end.ts'
import {Transcripts} from './transcripts.ts'
import {type TurnAdmission, Turns} from './turns.ts'

type Services = SessionRecordServices & Uses<'guardrails' | 'limits'>

/**
 * `closing`: the client's close frame went on, the provider's is awaited. `ending`: all is written, sockets are being
 * closed.
 */
type Phase = 'open' | 'closing' | 'settling' | 'ending' | 'over'

/**
 * How long the other side has to answer a close frame; how long sockets have to end, and how long when the gateway
 * stops.
 */
const CLOSE_MS = 5000
const LINGER_MS = 5000
const STOP_MS = 150
/** How long guardrails may take for one event, or one look at an answer. */
const JUDGE_MS = 60_000

export interface SessionParts {
  readonly client: Duplex
  readonly provider: Duplex
  readonly facts: SessionInfo
  readonly work: ChargedWork
  readonly handshake: Record<string, string>
  readonly times: {readonly queued_at: number; readonly sent_at: number; readonly answered_at: number}
  readonly admit: TurnAdmission
  readonly services: Services
  readonly live: CallRegistry
}

/**
 * One open session: two lanes, its turns, and its one end, which is settled before either side can know of it. Frames
 * go both ways as they came; of our own are only what a close needs, and an `error` event before we close for a limit.
 */
export class RealtimeSession implements LiveCall {
  readonly kind = 'realtime_session'
  slot = -1
  #phase: Phase = 'open'
  readonly #parts: SessionParts
  readonly #turns: Turns
  readonly #estimate = new TurnUsage()
  readonly #conversation: Conversation | null
  readonly #transcripts: Transcripts
  /** The lane that judges the client's events; null for none. */
  readonly #events: ClientLane | null
  readonly #answers: ProviderLane | null
  readonly #fromClient: Pipe
  readonly #fromProvider: Pipe
  /** When the phase must be over, on the clock of durations. */
  #until = 0
  #client_closing: Closing | null = null
  #client_gone = false
  #is_stopping = false

  constructor(parts: SessionParts) {
    this.#parts = parts
    const {client, provider, facts, admit, services} = parts
    this.#conversation = facts.call.keeps_bodies ? new Conversation(services.settings.log_body_max_bytes) : null
    this.#turns = new Turns({facts, admit, estimate: this.#estimate, conversation: this.#conversation, services})
    const {counter_keys} = parts.work.intent
    this.#transcripts = new Transcripts(
      facts,
      () => (this.#turns.counter_keys.length ? this.#turns.counter_keys : counter_keys),
      services,
    )
    const most_bytes = services.settings.guardrail_max_body_mb * 2 ** 20
    const {guards} = facts.target
    this.#events = judgesEvents(facts)
      ? new ClientLane({
          facts,
          services,
          go: (type, message, pass, put) => this.#phase === 'open' && this.#leads(type, message, () => pass(put)),
          refuse: (fault, event_id, call, results, done) => this.#refuseEvent(fault, event_id, call, results, done),
        })
      : null
    this.#answers = guards?.output.length
      ? new ProviderLane({
          facts,
          guards,
          services,
          account: (type, payload, verdict, done) => (payload ? this.#account(type, payload, verdict, done) : done()),
          send: wire => this.#fromProvider.insert(wire),
          toProvider: event => this.#fromClient.insert(textFrame('client', event)),
          errorOf: fault => errorEvent(fault, facts.call.id),
          fail: fault => this.#refuse(fault),
        })
      : null
    this.#fromClient = new Pipe(
      'client',
      client,
      provider,
      {
        judge: (piece, pass) => this.#judgeClient(piece, pass),
        broke: fault => this.#end(clientBroke(fault)),
        failed: fault => this.#failed(fault),
        ended: () => this.#clientLeft(),
      },
      services.steady,
      this.#events ? most_bytes : undefined,
    )
    this.#fromProvider = new Pipe(
      'server',
      provider,
      client,
      {
        judge: (piece, pass) => this.#judgeProvider(piece, pass),
        broke: fault => this.#end(providerBroke(facts.target.provider.slug, fault)),
        failed: fault => this.#failed(fault),
        ended: () => this.#finish(() => this.#providerLeft()),
      },
      services.steady,
      this.#answers ? most_bytes : undefined,
    )
  }

  /** Begins, with what the client sent early. */
  start(early: Buffer): void {
    // an event that is being judged does not leave once the client is gone
    const left = () => this.#events?.waits_since && this.#clientLeft()
    this.#parts.client.on('end', left).on('close', left)
    this.#fromProvider.start(NOTHING)
    this.#fromClient.start(early)
  }

  check(now: number): void {
    const {client_write_timeout_ms, upstream_idle_timeout_ms: idle_ms} = this.#parts.services.settings
    if (this.#phase === 'ending') return void (now > this.#until && this.#destroy())
    if (this.#phase === 'closing' && now > this.#until && !this.#answers?.is_busy) return this.#providerLeft()
    if (this.#phase === 'closing' && now > this.#until + JUDGE_MS) return this.#providerLeft()
    if (this.#phase !== 'open') return
    if (this.#parts.live.draining) this.stop()
    const waits_since = this.#events?.waits_since || this.#answers?.waits_since
    if (waits_since && now - waits_since > JUDGE_MS)
      return this.#ours(
        'timeout',
        CLOSE.internal_error,
        `The guardrails of this session did not answer for ${JUDGE_MS} ms.`,
      )
    const {full_since: client_full} = this.#fromProvider
    const {full_since: provider_full} = this.#fromClient
    if (client_full && now - client_full > client_write_timeout_ms) {
      this.#client_gone = true
      this.#end(clientLeft(`The client took no bytes for ${client_write_timeout_ms} ms.`))
    } else if (provider_full && now - provider_full > idle_ms) {
      this.#ours('timeout', CLOSE.internal_error, `The provider took no bytes for ${idle_ms} ms.`)
    } else if (now - Math.max(this.#fromClient.heard_at, this.#fromProvider.heard_at) > idle_ms) {
      this.#ours('timeout', CLOSE.going_away, `Neither side sent a frame for ${idle_ms} ms (UPSTREAM_IDLE_TIMEOUT_MS).`)
    }
  }

  /** A session has no end of its own to wait for; an answer in progress has. */
  stop(): void {
    if (this.#phase === 'open' && !this.#turns.is_busy && !this.#answers?.is_busy) this.abort()
  }

  abort(): void {
    if (this.#is_stopping) return
    this.#is_stopping = true
    if (this.#phase === 'ending') this.#destroy()
    else this.#ours('aborted', CLOSE.going_away, 'The gateway is shutting down; open the session again.')
  }

  #judgeClient(piece: WirePiece, pass: Pass) {
    const {ended} = piece
    if (ended?.kind === 'close') {
      this.#client_closing = readClose(ended.payload)
      if (this.#phase === 'open') {
        this.#phase = 'closing'
        this.#until = this.#parts.services.steady() + CLOSE_MS
      }
      return pass()
    }
    if (this.#events && (ended === null || ended.kind === 'message')) return this.#events.take(piece, pass)
    if (ended?.kind !== 'message') return pass()
    this.#leads(ended.payload && ended.is_text ? typeOf(ended.payload) : null, ended, pass)
  }

  /** A message leaves for the provider, once the turn that it may lead to has its intent. */
  #leads(
    type: string | null,
    {payload, bytes}: {readonly payload: Buffer | null; readonly bytes: number},
    pass: () => void,
  ) {
    this.#estimate.sent(type, payload, bytes)
    const lead = leadOf(type)
    const event_id = lead === 'asked' && payload ? text(eventIn(payload).event_id) : null
    this.#turns.lead(lead, event_id, fault => (fault ? this.#refuse(fault) : pass()))
  }

  /**
   * An event of the client's does not leave: it learns the reason, and there is a row of the log; the session
   * continues.
   */
  #refuseEvent(fault: Refusal, event_id: string | null, call: Call, results: readonly HookResult[], done: () => void) {
    if (this.#phase !== 'open') return
    const {facts, services} = this.#parts
    this.#turns.refused(fault, call, results)
    services.log.info({refused: fault.code, status: fault.status, trace_id: facts.call.trace.trace_id}, fault.message)
    this.#fromProvider.insert(errorEvent(fault, call.id, event_id), done)
  }

  #judgeProvider(piece: WirePiece, pass: Pass) {
    const {bytes, ended} = piece
    if (ended?.kind === 'close')
      return this.#finish(() => this.#end(providerClosed(bytes, readClose(ended.payload), this.#phase === 'closing')))
    if (this.#answers && (ended === null || ended.kind === 'message')) return this.#answers.take(piece, pass)
    if (ended?.kind !== 'message' || !ended.is_text || !ended.payload) return pass()
    this.#account(typeOf(ended.payload), ended.payload, null, pass)
  }

  /** The held events of the provider are judged as they are, and leave; then `then`. */
  #finish(then: () => void) {
    return this.#answers && this.#phase !== 'settling' ? this.#answers.finish(then) : then()
  }

  /** Records an event of the provider's as it may be kept; then `done`. */
  #account(type: string | null, payload: Buffer, verdict: AnswerVerdict | null, done: () => void) {
    if (type === null) return done()
    if (type.endsWith('.delta')) {
      this.#estimate.received(type, payload)
      this.#turns.heard()
      return done()
    }
    switch (type) {
      case 'response.created':
        return this.#turns.begun(eventIn(payload), fault => (fault && this.#isOpen ? this.#refuse(fault) : done()))
      case 'response.done': {
        const event = eventIn(payload)
        this.#learn(event)
        const before = this.#events?.takeResults() ?? null
        return this.#turns.ended(event, payload, before || verdict ? turnVerdict(before, verdict) : null, done)
      }
      case 'error':
        return this.#turns.failed(eventIn(payload), payload, done)
      case 'session.created':
      case 'session.updated':
      case 'transcription_session.created':
      case 'transcription_session.updated': {
        const event = eventIn(payload)
        this.#learn(event)
        this.#transcripts.learn(event)
        if (type === 'session.created') this.#estimate.addWords(payload)
        return done()
      }
      case 'conversation.item.input_audio_transcription.completed':
        return this.#transcripts.completed(eventIn(payload), payload, done)
      case 'conversation.item.created':
      case 'conversation.item.added':
      case 'conversation.item.done':
      case 'conversation.item.deleted':
        this.#conversation?.take(type, eventIn(payload))
        return done()
      default:
        return done()
    }
  }

  get #isOpen(): boolean {
    return this.#phase === 'open' || this.#phase === 'closing'
  }

  #learn(event: Parameters<typeof modelOf>[0]) {
    const {facts} = this.#parts
    facts.reported_model = modelOf(event) ?? facts.reported_model
  }

  #providerLeft() {
    this.#end(
      this.#client_closing ? clientClosed(this.#client_closing) : providerLeft(this.#parts.facts.target.provider.slug),
    )
  }

  #clientLeft() {
    if (this.#phase === 'closing') return // its close frame went on; the provider's answer is still settled in its order
    this.#client_gone = true
    this.#end(clientLeft('The client ended the connection without closing the session.'))
  }

  /** Our own fault: the client learns no more than that. */
  #failed(cause: unknown) {
    const {services, facts} = this.#parts
    services.log.error({fault: cause, trace_id: facts.call.trace.trace_id}, 'a session failed inside the gateway')
    this.#refuse(asRefusal(cause))
  }

  /** A turn is refused: the client gets an event, and the close code. */
  #refuse(fault: Refusal) {
    this.#end(refused(fault, this.#fromProvider.is_mid_message ? null : this.#parts.facts.call.id))
  }

  /** We close both sides. */
  #ours(outcome: Outcome, code: number, reason: string) {
    this.#end(closedByUs(outcome, code, reason))
  }

  /** The one end: settles the turns and the session, then writes the last frames and closes both sockets. */
  #end({outcome, error, to_client, to_provider, shown_status}: SessionEnd) {
    if (!this.#isOpen) return
    this.#phase = 'settling'
    this.#fromClient.stop()
    this.#fromProvider.stop()
    const {facts, work, handshake, times, services} = this.#parts
    const delivered = !this.#client_gone
    const settled = () =>
      settle(
        facts.call,
        facts,
        work,
        {
          outcome,
          status: 101,
          shown_status,
          error,
          usage: null,
          source: 'none',
          delivered,
          request_bytes: this.#fromClient.received_bytes,
          response_bytes: this.#fromProvider.received_bytes,
          times: {...times, first_byte_at: times.answered_at},
          bodies: {headers: handshake, body: null, cut: false},
        },
        services,
        () => this.#leave(to_client, to_provider),
      )
    const over = () => this.#turns.over(outcome, error, delivered, () => this.#transcripts.over(settled))
    this.#answers ? this.#answers.abandon(over) : over()
  }

  #leave(to_client: Buffer | null, to_provider: Buffer | null) {
    const {client, provider} = this.#parts
    this.#phase = 'ending'
    this.#until = this.#parts.services.steady() + (this.#is_stopping ? STOP_MS : LINGER_MS)
    client.once('close', () => this.#closed())
    provider.once('close', () => this.#closed())
    leave(client, to_client, this.#fromProvider.is_mid_frame || this.#client_gone)
    leave(provider, to_provider, this.#fromClient.is_mid_frame)
    this.#closed()
  }

  #closed() {
    const {client, provider, live} = this.#parts
    if (this.#phase === 'over' || !client.closed || !provider.closed) return
    this.#phase = 'over'
    live.delete(this)
  }

  #destroy() {
    this.#parts.client.destroy()
    this.#parts.provider.destroy()
  }
}

const NOTHING = Buffer.alloc(0)

/** Writes the last frame and ends the connection; cuts it when a frame of another message is half written. */
function leave(socket: Duplex, last: Buffer | null, cut: boolean) {
  if (socket.destroyed) return
  if (cut) return void socket.destroy()
  socket.resume()
  socket.end(last ?? NOTHING)
}
