import {Refusal} from '../../../base/errors.ts'
import {keyFault} from '../../../base/json-keys.ts'
import {object} from '../../../base/json-object.ts'
import {textFrame, type WirePiece} from '../../../base/websocket/index.ts'
import {withoutExcerpts} from '../../../guardrails/answer.ts'
import {isSound} from '../../../guardrails/event-texts.ts'
import type {Hook} from '../../../guardrails/hook.ts'
import type {JsonObject} from '../../../guardrails/json.ts'
import {DEEPEST} from '../../../guardrails/strings.ts'
import {viewOf} from '../../../guardrails/view.ts'
import type {Json} from '../../../providers/translation.ts'
import type {HookResult} from '../../../schema/guardrails.ts'
import type {CallGuardrails} from '../../call/call-guardrails.ts'
import {guardAnswer} from '../../guardrails/evaluate.ts'
import type {QueuedEvent} from '../../guardrails/stream-rewriter.ts'
import {withUnread} from '../../guardrails/unread.ts'
import {GuardrailDenial} from '../../inbound/denial.ts'
import type {Uses} from '../../services.ts'
import type {TargetGuardrails} from '../../targets/guardrails.ts'
import {eventIn, text, typeOf} from '../events.ts'
import type {Pass} from '../pipe.ts'
import {innerCall, type SessionInfo, type SessionRecordServices} from '../records.ts'
import {type EventPlace, placeOf} from './answer-ids.ts'
import {JudgedAnswer, type OutputHooks, outputHooks} from './judged-answer.ts'
import {MessageFrames} from './message-frames.ts'
import {wordless} from './without-words.ts'

type Services = SessionRecordServices & Uses<'guardrails'>

/** The parts of an answer that its records keep when it is over. */
export interface AnswerVerdict {
  readonly fault: Refusal | null
  results(): readonly HookResult[]
  readonly late: Promise<void> | null
}

export interface ProviderLaneParts {
  readonly facts: SessionInfo
  readonly guards: TargetGuardrails
  readonly services: Services
  /** Records an event as it may be kept; then `done`. */
  account(type: string | null, payload: Buffer | null, verdict: AnswerVerdict | null, done: () => void): void
  /** Sends to the client. */
  send(wire: Buffer): void
  /** Sends an event of ours to the provider. */
  toProvider(event: string): void
  /** The client's error event. */
  errorOf(fault: Refusal): Buffer
  /** The session cannot continue. */
  fail(fault: Refusal): void
}

/** An event that waits for its turn. */
interface Entry {
  readonly type: string | null
  readonly event: Json | null
  readonly answer: Answer | null
  wire: Buffer
  payload: Buffer | null
  /** Nothing of it leaves, or no word of it. */
  is_withheld: boolean
}

interface Answer {
  readonly place: EventPlace
  readonly judged: JudgedAnswer
  readonly items: Set<string>
  skipped: readonly HookResult[]
  /** Entries of it that wait. */
  count: number
}

/** The most bytes of a session that may be held while it is judged, and the most answers at once. */
const MAX_HELD_BYTES = 16 << 20
const MAX_ANSWERS = 64
const MAX_DENIED = 1024
const SOUND_PART = 'audio'
/** The prefix of our own events' ids, so that an error about one is known. */
const CANCEL = 'gateway_cancel_'

/**
 * The events of a provider in a session, held as far as the guardrails of the output have not judged it. Events leave
 * in the order in which they came; one that waits holds those behind it. A denial ends its response: it is cancelled at
 * the provider, the client gets the error event and no word more of it. What leaves, and what does not, is recorded as
 * it may be kept, with the usage that the provider tells.
 */
export class ProviderLane {
  readonly #parts: ProviderLaneParts
  readonly #hooks: OutputHooks
  readonly #echo_hooks: OutputHooks
  readonly #denies_sound: boolean
  readonly #frames: MessageFrames
  readonly #order: Entry[] = []
  readonly #answers = new Map<string, Answer>()
  readonly #items = new Map<string, Answer>()
  /** Ids of responses and items of which nothing leaves. */
  readonly #denied = new Set<string>()
  #held_bytes = 0
  #is_pumping = false
  #has_news = false
  #is_closed = false
  #finished: (() => void) | undefined

  constructor(parts: ProviderLaneParts) {
    this.#parts = parts
    const {guards, services} = parts
    this.#hooks = outputHooks(guards.output)
    const redacting = this.#hooks.deciding.filter(({checks}) => checks.some(({prepared}) => prepared.redacts))
    this.#echo_hooks = outputHooks(redacting.map((hook): Hook => ({...hook, deny: false})))
    this.#denies_sound =
      (guards.unreadable_bodies ?? services.settings.unreadable_bodies) === 'deny' && this.#hooks.protective.length > 0
    this.#frames = new MessageFrames(services.settings.guardrail_max_body_mb * 2 ** 20)
  }

  /** True while something has not left. */
  get is_busy(): boolean {
    return this.#order.length > 0 || this.#is_pumping
  }

  /** Since when the eldest verdict is awaited, on the clock of durations; 0 while none is. */
  get waits_since(): number {
    let since = 0
    for (const {answer} of this.#order) {
      const waits = answer?.judged.waits_since ?? 0
      if (waits && (since === 0 || waits < since)) since = waits
    }
    return since
  }

  /** The next piece that is no control frame. */
  take(piece: WirePiece, pass: Pass): void {
    const got = this.#frames.take(piece)
    pass(NOTHING)
    if (got.kind === 'part') return
    if (got.kind !== 'message') return this.#parts.fail(this.#unreadable('an event is too long to be judged'))
    const {wire, payload, is_text} = got.message
    if (!is_text || !payload)
      return this.#add({type: null, event: null, answer: null, wire, payload: null, is_withheld: false})
    const type = typeOf(payload)
    if (type === null || keyFault(payload.toString(), DEEPEST))
      return this.#parts.fail(this.#unreadable('it says what is no JSON'))
    this.#event(type, eventIn(payload), payload, wire)
  }

  /** The provider says nothing more: judges what is held as it is; `done` once all of it has left. */
  finish(done: () => void): void {
    this.#finished = done
    for (const {judged} of this.#answers.values()) judged.end()
    for (const {judged} of this.#answers.values()) judged.advance()
    this.#pump()
  }

  /** The session is over: nothing leaves any more; `done` once what was held is recorded, without a word of it. */
  abandon(done: () => void): void {
    this.#is_closed = true
    this.#finished = done
    for (const entry of this.#order) entry.is_withheld = true
    this.#pump()
  }

  #event(type: string, event: Json, payload: Buffer, wire: Buffer) {
    // nothing was left to be cancelled
    if (type === 'error' && text(object(event.error).event_id)?.startsWith(CANCEL)) return
    const place = placeOf(type, event)
    const answer = this.#answerOf(place, event)
    const is_denied = this.#isDenied(place)
    // an event about an item ends no answer
    const is_end = place.answer !== null && place.is_last
    const entry: Entry = {type, event, answer, wire, payload, is_withheld: is_denied || answer?.judged.fault != null}
    if (answer) {
      if (place.item !== null && answer.place.kind === 'response' && answer.items.size < MAX_DENIED) {
        answer.items.add(place.item)
        this.#items.set(place.item, answer)
      }
      if (is_end) this.#close(answer)
      if (!entry.is_withheld) {
        answer.judged.add(event as JsonObject, wire)
        answer.count++
      }
    }
    this.#add(entry, false)
    if (!answer || entry.is_withheld) return this.#pump()
    if (isSound(event as JsonObject)) this.#sound(answer)
    if (is_end) answer.judged.end()
    answer.judged.advance()
    this.#pump()
  }

  #add(entry: Entry, pumps = true) {
    this.#order.push(entry)
    this.#held_bytes += entry.wire.length
    if (this.#held_bytes > MAX_HELD_BYTES) {
      const held = this.#order.find(({answer}) => answer !== null)?.answer
      held?.judged.refuse(this.#unreadable('it is too long to be held back and judged'))
    }
    if (pumps) this.#pump()
  }

  /** The answer that an event belongs to; null: there is nothing in it to be judged. */
  #answerOf(place: EventPlace, event: Json): Answer | null {
    const key = place.answer
    const known =
      key === null ? place.item !== null && !place.is_echo && this.#items.get(place.item) : this.#answers.get(key)
    if (known) return known
    const is_alone = key === null || this.#answers.size >= MAX_ANSWERS
    const hooks = place.is_echo ? this.#echo_hooks : this.#hooks
    if (is_alone && (hooks.holds === 'nothing' || viewOf('realtime', 'output', event as JsonObject).kind === 'none'))
      return null
    const {facts, guards, services} = this.#parts
    const call = innerCall(facts, services)
    const guarded = guardAnswer({...guards, output: hooks.all}, call, {...facts.target, params: {}}, services)
    const answer: Answer = {
      place: is_alone ? {...place, kind: 'other', is_last: true} : place,
      judged: new JudgedAnswer(
        guarded,
        hooks,
        {heard: () => this.#pump(), refused: fault => this.#refused(answer, fault)},
        services.steady,
      ),
      items: new Set(),
      skipped: [],
      count: 0,
    }
    if (is_alone) answer.judged.end()
    else this.#answers.set(key, answer)
    return answer
  }

  /** No event that comes now is of it. */
  #close(answer: Answer) {
    if (answer.place.answer !== null) this.#answers.delete(answer.place.answer)
    for (const item of answer.items) if (this.#items.get(item) === answer) this.#items.delete(item)
  }

  #isDenied({answer, item}: EventPlace): boolean {
    return (answer !== null && this.#denied.has(answer)) || (item !== null && this.#denied.has(item))
  }

  /** Sound is no text: it passes beside its transcript, and is noted once. */
  #sound(answer: Answer) {
    if (this.#hooks.all.length === 0 || answer.skipped.length > 0) return
    answer.skipped = withUnread([], this.#hooks.all, [SOUND_PART])
    if (!this.#denies_sound) return
    answer.judged.refuse(
      new GuardrailDenial('realtime', {before_request_hooks: [], after_request_hooks: answer.skipped}),
    )
  }

  #refused(answer: Answer, fault: Refusal) {
    const {place} = answer
    if (place.kind !== 'other' && place.answer !== null) this.#deny(place.answer)
    for (const item of answer.items) this.#deny(item)
    const first = this.#order.findIndex(entry => entry.answer === answer && !entry.is_withheld)
    for (const entry of this.#order) if (entry.answer === answer) entry.is_withheld = true
    const wire = this.#parts.errorOf(fault)
    const own: Entry = {type: null, event: null, answer: null, wire, payload: null, is_withheld: false}
    this.#order.splice(first < 0 ? this.#order.length : first, 0, own)
    this.#held_bytes += wire.length
    if (place.kind === 'response' && !answer.judged.is_over) this.#cancel(place.answer!.slice('response '.length))
    this.#pump()
  }

  #cancel(response_id: string) {
    this.#parts.toProvider(
      JSON.stringify({type: 'response.cancel', event_id: CANCEL + response_id.slice(0, 200), response_id}),
    )
  }

  #deny(id: string) {
    if (this.#denied.size >= MAX_DENIED) this.#denied.delete(this.#denied.values().next().value!)
    this.#denied.add(id)
  }

  #unreadable(reason: string): Refusal {
    return new Refusal('upstream.bad_reply', {provider: this.#parts.facts.target.provider.slug, reason})
  }

  /** Lets go what may leave, one after the other. */
  #pump() {
    this.#has_news = true
    if (this.#is_pumping) return
    this.#is_pumping = true
    this.#has_news = false
    void this.#run()
      .catch(fault => this.#parts.fail(fault instanceof Refusal ? fault : new Refusal('internal', {}, {cause: fault})))
      .finally(() => {
        this.#is_pumping = false
        if (this.#has_news) return this.#pump()
        if (this.#order.length > 0) return
        const done = this.#finished
        this.#finished = undefined
        done?.()
      })
  }

  async #run() {
    for (let head = this.#order[0]; head; head = this.#order[0]) {
      if (head.answer === null || head.is_withheld) {
        this.#order.shift()
        await this.#leave(head)
        continue
      }
      const {judged} = head.answer
      const run = this.#order.findIndex(entry => entry.answer !== head!.answer || entry.is_withheld)
      const most = judged.clearedOf(run < 0 ? this.#order.length : run)
      if (most === 0) return
      const taken = await judged.take(most)
      if (judged.fault || this.#is_closed) continue // what was taken is withheld
      if (taken === null) {
        judged.refuse(this.#unreadable('its text was rewritten after a part of it had left'))
        continue
      }
      if (taken.length === 0 && !this.#hoist(head.answer)) return
      const leaving = this.#order.splice(0, taken.length)
      for (const [at, queued] of taken.entries()) await this.#leave(leaving[at]!, queued)
    }
  }

  /** Events of a judged answer that can be rewritten together alone are put together; false where they are already. */
  #hoist(answer: Answer): boolean {
    if (!answer.judged.is_judged) return false
    const mine = this.#order.filter(entry => entry.answer === answer)
    if (mine.every((entry, at) => this.#order[at] === entry)) return false
    const others = this.#order.filter(entry => entry.answer !== answer)
    this.#order.splice(0, this.#order.length, ...mine, ...others)
    return true
  }

  #leave(entry: Entry, queued?: QueuedEvent): Promise<void> {
    const {type, event, answer} = entry
    this.#held_bytes -= entry.wire.length
    let {payload, wire} = entry
    let is_sent = !this.#is_closed
    if (event && entry.is_withheld) {
      is_sent &&= type === 'response.done'
      payload = Buffer.from(JSON.stringify(wordless(event)))
      wire = textFrame('server', payload.toString())
    } else if (queued && queued.event !== event) {
      payload = Buffer.from(JSON.stringify(queued.event))
      wire = textFrame('server', payload.toString())
    }
    const verdict = answer && type === 'response.done' ? verdictOf(answer) : null
    return new Promise(resolve =>
      this.#parts.account(type, payload, verdict, () => {
        if (is_sent && !this.#is_closed) this.#parts.send(wire)
        resolve()
      }),
    )
  }
}

function verdictOf({judged, skipped}: Answer): AnswerVerdict {
  const guarded: CallGuardrails = judged.guarded
  return {
    fault: judged.fault,
    results: () => [
      ...(judged.fault ? guarded.logged.after_request_hooks.map(withoutExcerpts) : guarded.logged.after_request_hooks),
      ...skipped,
    ],
    late: guarded.late,
  }
}

const NOTHING = Buffer.alloc(0)
