import {isUtf8} from 'node:buffer'
import {Refusal} from '../../../base/errors.ts'
import {topLevel} from '../../../base/json.ts'
import {parsedObject} from '../../../base/json-object.ts'
import {isBase64} from '../../../base/json-strings.ts'
import {frame, OPCODE, type WirePiece} from '../../../base/websocket/index.ts'
import {withoutExcerpts} from '../../../guardrails/answer.ts'
import {inTimeSlices} from '../../../guardrails/time-slices.ts'
import type {HookResult, HookResults} from '../../../schema/guardrails.ts'
import type {Call} from '../../call/call.ts'
import {hasLists} from '../../call/model-access.ts'
import {evaluateRequest} from '../../guardrails/evaluate.ts'
import {WHOLE_BODY} from '../../guardrails/request-strings.ts'
import {isProtective, unreadHooks, withUnread} from '../../guardrails/unread.ts'
import {readJson} from '../../inbound/body.ts'
import {GuardrailDenial} from '../../inbound/denial.ts'
import {asRefusal} from '../../inbound/error-response.ts'
import type {Uses} from '../../services.ts'
import type {Target} from '../../targets/target.ts'
import {eventIn, text, typeOf} from '../events.ts'
import type {Pass} from '../pipe.ts'
import {innerCall, type SessionInfo, type SessionRecordServices} from '../records.ts'
import {type Message, MessageFrames} from './message-frames.ts'
import {checkEventModels, mayNameModel} from './models.ts'

type Services = SessionRecordServices & Uses<'guardrails'>

export interface ClientLaneParts {
  readonly facts: SessionInfo
  readonly services: Services
  /** Takes a message that may leave: `put` in its place, where guardrails changed it. */
  go(type: string | null, message: Omit<Message, 'wire'>, pass: Pass, put: Buffer): void
  /** Tells the client that an event of its does not leave, and why; then `done`. */
  refuse(fault: Refusal, event_id: string | null, call: Call, results: readonly HookResult[], done: () => void): void
}

/** The results of hooks, the current ones and, later, those of hooks that the call does not wait for. */
export interface HeardResults {
  results(): readonly HookResult[]
  readonly late: Promise<void> | null
}

/** The most results that a lane notes of events until a turn takes them. */
const MAX_RESULTS = 64

/** True where a client's events have to be looked at before they leave. */
export function judgesEvents({target, call}: SessionInfo): boolean {
  return (target.guards?.input.length ?? 0) > 0 || hasLists(target.managed, call.caller)
}

/**
 * The events of a client in a session, held until lists of models and the guardrails of the input have judged them:
 * event by event, each before it leaves, in their order. A denied one does not leave, and the client learns the reason;
 * the session continues.
 */
export class ClientLane {
  readonly #parts: ClientLaneParts
  readonly #frames: MessageFrames
  readonly #has_lists: boolean
  /** True when hooks want parts that cannot be read, sound for one; and whether such an event is then denied. */
  readonly #unread: ReturnType<typeof unreadHooks>
  readonly #denies_unread: boolean
  #visits: Call[] = []
  #skipped: readonly HookResult[] = []
  #is_rest_dropped = false
  /** Since when a verdict is awaited, on the clock of durations; 0 while none is. */
  waits_since = 0

  constructor(parts: ClientLaneParts) {
    this.#parts = parts
    const {facts, services} = parts
    const {guards, managed} = facts.target
    this.#has_lists = hasLists(managed, facts.call.caller)
    this.#unread = guards ? unreadHooks(guards.input, 'realtime') : []
    const denies = (guards?.unreadable_bodies ?? services.settings.unreadable_bodies) === 'deny'
    this.#denies_unread = denies && this.#unread.some(isProtective)
    this.#frames = new MessageFrames(services.settings.guardrail_max_body_mb * 2 ** 20)
  }

  /** The next piece that is no control frame. */
  take(piece: WirePiece, pass: Pass): void {
    const got = this.#frames.take(piece)
    switch (got.kind) {
      case 'part':
        return pass(NOTHING)
      case 'message':
        return this.#message(got.message, pass)
      case 'long': {
        this.#is_rest_dropped = this.#has_lists || this.#denies_unread
        if (this.#is_rest_dropped)
          return this.#refuse(this.#tooLong(), null, innerCall(this.#parts.facts, this.#parts.services), pass)
        this.#noteUnread(WHOLE_BODY)
        return got.is_end ? this.#go(null, unreadOf(piece), pass, got.wire, true) : pass(got.wire, true)
      }
      case 'rest':
        if (this.#is_rest_dropped) return pass(NOTHING)
        return got.is_end ? this.#go(null, unreadOf(piece), pass, piece.bytes, true) : pass()
    }
  }

  /** The results of the events since it was taken last. */
  takeResults(): HeardResults {
    const visits = this.#visits
    const skipped = this.#skipped
    this.#visits = []
    this.#skipped = []
    const late = visits.flatMap(({guardrails}) => guardrails?.late ?? [])
    return {
      results: () =>
        [...skipped, ...visits.flatMap(({guardrails}) => guardrails?.logged.before_request_hooks ?? [])].slice(
          0,
          MAX_RESULTS,
        ),
      late: late.length ? Promise.all(late).then(() => undefined) : null,
    }
  }

  #message(message: Message, pass: Pass) {
    const {payload, is_text, wire} = message
    const type = payload && is_text ? typeOf(payload) : null
    const call = innerCall(this.#parts.facts, this.#parts.services)
    let judged: Buffer | null | Promise<Buffer | null>
    try {
      judged = this.#judge(message, type, call)
    } catch (fault) {
      return this.#refuse(asRefusal(fault), idOf(payload), call, pass)
    }
    const heard = (put: Buffer | null) =>
      this.#go(type, put ? {...message, payload: put} : message, pass, put ? frame('client', OPCODE.text, put) : wire)
    if (!(judged instanceof Promise)) return heard(judged)
    this.waits_since = this.#parts.services.steady()
    judged
      .finally(() => {
        this.waits_since = 0
      })
      .then(heard, fault => this.#refuse(asRefusal(fault), idOf(payload), call, pass))
  }

  /** Null: it leaves as it came; else what leaves in its place. Throws a Refusal where it does not leave. */
  #judge({payload, is_text}: Message, type: string | null, call: Call): Buffer | null | Promise<Buffer | null> {
    if (!payload || !is_text) {
      if (this.#has_lists || this.#denies_unread) throw this.#unreadable(WHOLE_BODY)
      this.#noteUnread(WHOLE_BODY)
      return null
    }
    if (type === APPEND) {
      const is_sound = isSoundAlone(payload)
      if (is_sound instanceof Promise)
        return is_sound.then(is_so => (is_so ? this.#sound() : this.#read(payload, type, call)))
      if (is_sound) return this.#sound()
    }
    return this.#read(payload, type, call)
  }

  #sound(): null {
    if (this.#denies_unread) throw this.#unreadable(SOUND_PART)
    this.#noteUnread(SOUND_PART)
    return null
  }

  #read(payload: Buffer, type: string | null, call: Call): null | Promise<Buffer | null> {
    const {facts, services} = this.#parts
    if (!isUtf8(payload)) throw new Refusal('body.not_json', {reason: 'it is not UTF-8'})
    call.body = readJson(payload, undefined)
    if (this.#has_lists && mayNameModel(type)) checkEventModels(facts, payload)
    const {guards, model, strict, provider} = facts.target
    if (!guards?.input.length) return null
    const place: Pick<Target, 'params' | 'model' | 'strict' | 'provider'> = {params: {}, model, strict, provider}
    if (this.#visits.length < MAX_RESULTS) this.#visits.push(call)
    return evaluateRequest(guards, call, place, services).then(left => (left && 'bytes' in left ? left.bytes : null))
  }

  #go(type: string | null, message: Omit<Message, 'wire'>, pass: Pass, put: Buffer, is_part = false) {
    this.#parts.go(type, message, is_part ? () => pass(put, true) : pass, put)
  }

  #refuse(fault: Refusal, event_id: string | null, call: Call, pass: Pass) {
    call.body = {kind: 'none'} // what was denied is kept nowhere
    this.#visits = this.#visits.filter(each => each !== call)
    const results = fault instanceof GuardrailDenial ? beforeIn(fault).map(withoutExcerpts) : []
    this.#parts.refuse(fault, event_id, call, results, () => pass(NOTHING))
  }

  #tooLong(): Refusal {
    return this.#denies_unread
      ? this.#unreadable(WHOLE_BODY)
      : unjudged(`is longer than ${this.#parts.services.settings.guardrail_max_body_mb} MB`)
  }

  #unreadable(part: string): Refusal {
    if (!this.#denies_unread) return unjudged('is no text')
    return new GuardrailDenial('realtime', {
      before_request_hooks: withUnread([], this.#unread, [part]),
      after_request_hooks: [],
    })
  }

  /** Once for a turn. */
  #noteUnread(part: string) {
    if (this.#unread.length === 0 || this.#skipped.some(each => 'part' in each && each.part === part)) return
    this.#skipped = withUnread(this.#skipped, this.#unread, [part])
  }
}

const NOTHING = Buffer.alloc(0)
const APPEND = 'input_audio_buffer.append'
const SOUND_PART = 'audio'
const APPEND_KEYS: ReadonlySet<string> = new Set(['type', 'audio', 'event_id'])
const EVENT_ID = /^"[\w.:/+=|-]{1,512}"$/

/** True for an event that brings sound and nothing else. Its like comes many times a second. */
function isSoundAlone(payload: Buffer): boolean | Promise<boolean> {
  const members = topLevel(payload, APPEND_KEYS)
  const audio = members.get('audio')
  const id = members.get('event_id')
  for (const key of members.keys()) if (!APPEND_KEYS.has(key)) return false
  if (!audio || payload[audio.start] !== QUOTE) return false
  if (id && (id.end - id.start > 514 || !EVENT_ID.test(payload.toString('latin1', id.start, id.end)))) return false
  return inTimeSlices(isBase64(payload, audio.start, audio.end))
}

const QUOTE = 0x22

function idOf(payload: Buffer | null): string | null {
  return payload ? (text(eventIn(payload).event_id)?.slice(0, 512) ?? null) : null
}

function unreadOf({bytes, ended}: WirePiece): Omit<Message, 'wire'> {
  return {payload: null, is_text: false, bytes: ended?.kind === 'message' ? ended.bytes : bytes.length}
}

function beforeIn({body}: GuardrailDenial): readonly HookResult[] {
  return (parsedObject(body)?.hook_results as HookResults | undefined)?.before_request_hooks ?? []
}

function unjudged(what: string): Refusal {
  return new Refusal('body.invalid', {
    issues: `The event ${what}, so that the list of models that covers this session cannot judge it.`,
  })
}
