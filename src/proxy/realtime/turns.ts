import {Refusal} from '../../base/errors.ts'
import {object} from '../../base/json-object.ts'
import type {ChargedWork} from '../../charge/work.ts'
import {readUsage} from '../../providers/openai/usage.ts'
import type {Json} from '../../providers/translation.ts'
import type {HookResult, HookResults} from '../../schema/guardrails.ts'
import type {Outcome} from '../../schema/records.ts'
import {NOTHING_SPENT} from '../../schema/spent.ts'
import {addUsage, emptyUsage, isEmptyUsage, type Usage, type UsageSource} from '../../schema/usage.ts'
import type {Call} from '../call/call.ts'
import {asRefusal} from '../inbound/error-response.ts'
import type {GrowingReservation} from '../reservations/growing-reservation.ts'
import type {TurnUsage} from '../reservations/turn-usage.ts'
import type {Admission} from '../services.ts'
import type {Conversation} from './conversation.ts'
import {statusOf, text} from './events.ts'
import {
  innerCall,
  note,
  openWork,
  type SessionInfo,
  type SessionRecordServices,
  settle,
  type TurnEnd,
} from './records.ts'

/**
 * One turn: from what leads to an answer, to the answer's end. A call of its own, with its intent, its limits and its
 * settlement.
 */
interface Turn {
  readonly call: Call
  readonly work: ChargedWork
  /** The client requested a response; else there is only sound that may lead to one. */
  is_asked: boolean
  /** The `event_id` of the request, so that an error can be assigned to it. */
  event_id: string | null
  readonly opened_at: number
  /** The mark of what had been sent when it was admitted. */
  readonly sent: TurnUsage['mark']
  first_byte_at: number
}

/** Limits a turn that uses `most` at most, for its caller: throws a Refusal. */
export type TurnAdmission = (
  call: Call,
  most: Usage,
) => Promise<{
  readonly admissions: Admission[]
  readonly target_admissions: Admission[]
  readonly holding: GrowingReservation | null
}>

export interface TurnParts {
  readonly facts: SessionInfo
  readonly admit: TurnAdmission
  readonly estimate: TurnUsage
  /** Null when no bodies are kept. */
  readonly conversation: Conversation | null
  readonly services: SessionRecordServices
}

/** Turns that were requested and that the provider has not begun; a further request shares the last one's intent. */
const MAX_WAITING = 16
const MAX_RUNNING = 64

/**
 * The turns of one session (core rules 2 and 6). Before a client's message leaves that may lead to a turn, an intent is
 * written for it, and its limits have admitted it; one intent is enough for sound, until an answer begins. An answer
 * that the provider begins by itself gets its intent before the client hears of it. `response.done` is settled before
 * it is passed on.
 */
export class Turns {
  readonly #parts: TurnParts
  readonly #waiting: Turn[] = []
  readonly #running = new Map<string, Turn>()
  /** The last answers that were settled. */
  readonly #settled: string[] = []
  /** The usage of the last answer: all of it is input to the next. */
  #previous_usage: Usage = emptyUsage()
  /** Turns that are being admitted and recorded; the session's end waits for them. */
  #opening = 0
  #after: (() => void) | undefined

  constructor(parts: TurnParts) {
    this.#parts = parts
  }

  /** True when a message of this lead needs no turn of its own. */
  #hasIntentFor(lead: 'heard' | 'asked'): boolean {
    return lead === 'heard' ? this.#waiting.length > 0 : this.#waiting.length >= MAX_WAITING
  }

  /** The counters of the turn that was opened last. */
  counter_keys: readonly string[] = []

  /** True while a response is requested or in progress. */
  get is_busy(): boolean {
    return this.#running.size > 0 || this.#opening > 0 || this.#waiting.some(({is_asked}) => is_asked)
  }

  /**
   * A message is about to leave: strict limits hold what it adds to the turn that waits, and a turn is opened where it
   * may lead to one; `done` with null once that is so.
   */
  lead(lead: 'quiet' | 'heard' | 'asked', event_id: string | null, done: (fault: Refusal | null) => void): void {
    const held = this.#waiting.at(-1)?.call.reservation?.hold(this.#most) ?? null
    const go = (fault: Refusal | null) => (fault || lead === 'quiet' ? done(fault) : this.#lead(lead, event_id, done))
    if (held instanceof Promise) void held.then(go)
    else go(held)
  }

  get #most(): Usage {
    const {facts, estimate} = this.#parts
    return estimate.most(this.#previous_usage, facts.model ?? facts.reported_model)
  }

  #lead(lead: 'heard' | 'asked', event_id: string | null, done: (fault: Refusal | null) => void) {
    const heard = this.#waiting.find(turn => !turn.is_asked)
    if (lead === 'asked' && heard) {
      heard.is_asked = true
      heard.event_id = event_id
      return done(null)
    }
    if (this.#hasIntentFor(lead)) return done(null)
    this.#open(lead === 'asked', event_id, true, (turn, fault) => {
      if (turn) this.#waiting.push(turn)
      done(fault)
    })
  }

  /**
   * `response.created`. A fault: limits refuse a turn that the provider began by itself. It is recorded all the same,
   * for it costs.
   */
  begun(event: Json, done: (fault: Refusal | null) => void): void {
    const id = text(object(event.response).id) ?? ''
    if (this.#running.has(id) || this.#running.size >= MAX_RUNNING) return done(null)
    const turn = this.#waiting.shift()
    if (turn) {
      this.#running.set(id, turn)
      return done(null)
    }
    this.#open(true, null, false, (opened, fault) => {
      if (opened) this.#running.set(id, opened)
      done(fault)
    })
  }

  /** A piece of an answer came. */
  heard(): void {
    for (const turn of this.#running.values()) turn.first_byte_at ||= this.#parts.services.steady()
  }

  /** `response.done`: settles the turn, then `done`. */
  ended(event: Json, raw: Buffer, verdict: TurnVerdict | null, done: () => void): void {
    const response = object(event.response)
    const id = text(response.id) ?? ''
    if (id !== '' && this.#settled.includes(id)) return done() // reported twice, counted once
    this.#settled.push(id)
    if (this.#settled.length > MAX_RUNNING) this.#settled.shift()
    const turn = this.#running.get(id) ?? this.#waiting.shift()
    this.#running.delete(id)
    if (turn) return this.#settle(turn, response, raw, verdict, done)
    this.#open(true, null, false, opened => {
      if (opened) this.#settle(opened, response, raw, verdict, done)
      else done()
    })
  }

  /** An `error` event: a row of the log, and the end of the turn whose request it refuses. */
  failed(event: Json, raw: Buffer, done: () => void): void {
    const {services, facts} = this.#parts
    const error = object(event.error)
    const event_id = text(error.event_id)
    const at = event_id === null ? -1 : this.#waiting.findIndex(turn => turn.event_id === event_id)
    const failure = {outcome: 'failed', error: text(error.message) ?? 'The provider told an error.', body: raw} as const
    if (at < 0) {
      const call = innerCall(facts, services)
      note(call, facts, this.#end({...failure, shown_status: statusOf(error), call, turn: null}), services)
      return done()
    }
    const [turn] = this.#waiting.splice(at, 1)
    const {call, work} = turn!
    settle(call, facts, work, this.#end({...failure, shown_status: statusOf(error), call, turn: turn!}), services, done)
  }

  /** An event of the client's that was refused before it left: a row of the log, with what guardrails found in it. */
  refused({message, status}: Refusal, call: Call, results: readonly HookResult[]): void {
    const {services, facts} = this.#parts
    const end = this.#end({outcome: 'failed', error: message, shown_status: status, call, turn: null})
    const hooks = results.length
      ? {results: () => ({before_request_hooks: results, after_request_hooks: []}), late: null}
      : null
    note(call, facts, {...end, status: null, hooks}, services)
  }

  /** The session ends: answers in progress are settled by their known usage, turns without an answer cost nothing. */
  over(outcome: Outcome, error: string | null, delivered: boolean, done: () => void): void {
    if (this.#opening > 0) {
      this.#after = () => this.over(outcome, error, delivered, done)
      return
    }
    const {facts, estimate, services} = this.#parts
    const open = [...this.#running.values(), ...this.#waiting]
    const running = this.#running.size
    this.#running.clear()
    this.#waiting.length = 0
    if (open.length === 0) return done()
    let left = open.length
    const one = () => {
      if (--left === 0) done()
    }
    const usage = estimate.usage
    estimate.reset()
    open.forEach((turn, at) => {
      const {call, work} = turn
      const cut = at === 0 ? usage : null
      const end =
        at < running
          ? this.#end({
              outcome: outcome === 'ok' ? 'aborted' : outcome,
              error: error ?? 'The session ended before this answer did.',
              shown_status: 200,
              call,
              turn,
              usage: cut,
              source: cut ? 'partial' : 'none',
            })
          : this.#end({outcome: 'ok', error: null, shown_status: null, call, turn})
      settle(call, facts, work, {...end, delivered}, services, one)
    })
  }

  #settle(turn: Turn, response: Json, raw: Buffer, verdict: TurnVerdict | null, done: () => void) {
    const {facts, estimate, conversation, services} = this.#parts
    const {call, work} = turn
    const failure = text(response.status) === 'failed' ? object(object(response.status_details).error) : null
    const reported = readUsage(object(response.usage), 'realtime')
    const guess = estimate.usage
    estimate.reset(turn.sent)
    this.#previous_usage = reported ?? addUsage(this.#previous_usage, guess)
    const usage = reported ?? (failure || isEmptyUsage(guess) ? null : guess)
    const input = conversation?.inputOf(response)
    if (input)
      call.body = {
        kind: 'json',
        bytes: input,
        members: NO_MEMBERS,
        model: null,
        stream: true,
        asks_usage: false,
        user: null,
      }
    const end = this.#end({
      outcome: failure ? 'failed' : 'ok',
      error:
        verdict?.denial ??
        (failure
          ? (text(failure.message) ?? text(failure.code) ?? 'The provider says that the response failed.')
          : null),
      shown_status: failure && !verdict?.denial ? statusOf(failure) : (verdict?.status ?? 200),
      call,
      turn,
      usage,
      source: reported ? 'provider' : usage ? 'estimated' : 'none',
      body: raw,
      cut: conversation?.is_cut ?? false,
    })
    settle(call, facts, work, {...end, request_bytes: input?.length ?? 0, hooks: verdict}, services, done)
  }

  /** Admits and records a turn; without `refuses` it is recorded though limits refuse it. */
  #open(
    is_asked: boolean,
    event_id: string | null,
    refuses: boolean,
    then: (turn: Turn | null, fault: Refusal | null) => void,
  ) {
    const {facts, admit, estimate, services} = this.#parts
    this.#opening++
    let is_done = false
    const done = (turn: Turn | null, fault: Refusal | null) => {
      if (is_done) return
      is_done = true
      this.#opening--
      then(turn, fault)
      if (this.#opening === 0) this.#after?.()
    }
    const call = innerCall(facts, services)
    const sent = estimate.mark
    const record = (refused: Refusal | null) => {
      const work = openWork(call, facts, estimate.usage, services)
      if (refused === null) this.counter_keys = work.intent.counter_keys
      work.begin(fault => {
        if (!fault)
          return done({call, work, is_asked, event_id, opened_at: services.steady(), sent, first_byte_at: 0}, refused)
        for (const admission of [...call.admissions, ...call.target_admissions]) admission.release()
        call.reservation?.settle(NOTHING_SPENT)
        services.log.error({fault, trace_id: call.trace.trace_id}, 'the journal took no intent')
        done(null, new Refusal('journal.full', {}, {cause: fault}))
      })
    }
    admit(call, this.#most)
      .then(
        ({admissions, target_admissions, holding}) => {
          call.admissions = admissions
          call.target_admissions = target_admissions
          call.reservation = holding
          record(null)
        },
        fault => (refuses ? done(null, asRefusal(fault)) : record(asRefusal(fault))),
      )
      .catch(fault => done(null, asRefusal(fault)))
  }

  #end({
    outcome,
    error,
    shown_status,
    call,
    turn,
    usage = null,
    source = 'none',
    body = null,
    cut = false,
  }: TurnFacts): TurnEnd {
    return {
      outcome,
      status: shown_status === null ? null : 200,
      shown_status,
      error,
      usage,
      source,
      delivered: true,
      request_bytes: 0,
      response_bytes: body?.length ?? 0,
      times: {queued_at: call.started, sent_at: turn?.opened_at ?? 0, first_byte_at: turn?.first_byte_at ?? 0},
      bodies: {headers: {}, body, cut},
    }
  }
}

/** The verdict of guardrails on a turn. */
export interface TurnVerdict {
  /** The status in the log: 446, 246, or 200. */
  readonly status: number
  /** Why nothing of its answer was let go; null: it was. */
  readonly denial: string | null
  results(): HookResults
  readonly late: Promise<unknown> | null
}

interface TurnFacts {
  readonly outcome: Outcome
  readonly error: string | null
  readonly shown_status: number | null
  readonly call: Call
  readonly turn: Turn | null
  readonly usage?: Usage | null
  readonly source?: UsageSource
  readonly body?: Buffer | null
  readonly cut?: boolean
}

const NO_MEMBERS = new Map()
