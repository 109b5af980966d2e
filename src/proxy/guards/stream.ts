import type {Refusal} from '../../base/errors.ts'
import {SseFramer} from '../../base/sse.ts'
import {replay} from '../../cache/replay.ts'
import {isStreamed} from '../../cache/rules.ts'
import {resultsEvent} from '../../guardrails/answer.ts'
import type {Hook} from '../../guardrails/hook.ts'
import type {Outcome} from '../../guardrails/run.ts'
import type {Usage} from '../../schema/usage.ts'
import type {Stream} from '../stream.ts'
import {partOf} from './attached.ts'
import type {Guarded} from './guarded.ts'
import {Restoring, restored} from './restoring.ts'
import {type Held, Retelling, readEvents} from './retelling.ts'
import {Said} from './said.ts'

/** What may be held back of a stream while it is judged. */
const MOST_HELD_BYTES = 16 << 20
/** Events that wait for the first text: a start, a role, the place where text will come. */
const MOST_PREAMBLE_EVENTS = 6
const NOTHING = Buffer.alloc(0)
const LINE_ENDS = /^[\r\n]+$/

type Then = (send: Buffer, hold: Buffer | null) => void

export interface GuardedStreamOptions {
  readonly inner: Stream
  readonly guarded: Guarded
  readonly status: number
  /** The client asked for usage in an event of its own. */
  readonly asks_usage: boolean
  /** Told of the bytes that leave, without hook results. */
  readonly onSent: (bytes: Buffer) => void
}

/**
 * A stream whose answer guardrails judge (decisions: `stream_mode`). `after`: it passes, and is judged when it has ended. `window`: its
 * text is judged as it comes, and leaves at most `stream_window_chars` behind. `buffer`: nothing leaves before the verdict. Bytes
 * leave as they came unless a guardrail rewrote the text.
 */
export class GuardedStream implements Stream {
  readonly #inner: Stream
  readonly #guarded: Guarded
  readonly #status: number
  readonly #asks_usage: boolean
  readonly #onSent: (bytes: Buffer) => void
  readonly #framer: SseFramer
  readonly #said: Said
  readonly #retelling: Retelling
  /** Those that may hold the stream back; of them those that can judge a part. */
  readonly #deciding: readonly Hook[]
  readonly #partial: readonly Hook[]
  readonly #after: readonly Hook[]
  readonly #restoring: Restoring | null
  readonly #holds: 'nothing' | 'events' | 'window' | 'all'
  /** How much is judged at a time: half of the window, so that what is cut by one piece's end is seen whole in the next. */
  readonly #step_chars: number
  readonly #queue: Held[] = []
  #queued_bytes = 0
  #raw: Buffer = NOTHING
  #raw_from = 0
  #judged_chars = 0
  /** What may leave of each text. */
  #cleared: ReadonlyMap<string, number> | 'all' = new Map()
  #is_in_hold = false
  #is_busy = false
  /** More came while something was waited for. */
  #has_news = false
  /** The provider has said all. */
  #is_over = false
  #is_judged = false
  #has_sent = false
  #fault: Refusal | null = null
  #outcome: Outcome | null = null
  #late: Promise<void> | undefined
  #then: Then = () => undefined
  #ended: ((rest: Buffer) => void) | undefined

  constructor({inner, guarded, status, asks_usage, onSent}: GuardedStreamOptions) {
    const {endpoint, guards} = guarded
    this.#inner = inner
    this.#guarded = guarded
    this.#status = status
    this.#asks_usage = asks_usage
    this.#onSent = onSent
    const hooks = guarded.judges_answers ? guards.output : []
    this.#deciding = hooks.filter(hook => hook.stream_mode !== 'after' && !hook.async)
    this.#after = hooks.filter(hook => !this.#deciding.includes(hook))
    this.#partial = this.#deciding.filter(hook => hook.stream_mode === 'window').flatMap(partOf)
    this.#restoring = guarded.restore && new Restoring(endpoint, guarded.restore)
    this.#holds = this.#deciding.some(hook => hook.stream_mode === 'buffer')
      ? 'all'
      : this.#deciding.length
        ? 'window'
        : this.#restoring
          ? 'events'
          : 'nothing'
    this.#step_chars = Math.ceil(Math.min(...this.#deciding.map(hook => hook.stream_window_chars)) / 2)
    this.#framer = new SseFramer((raw, _start, end) => this.#event(raw, end))
    this.#said = new Said(endpoint)
    this.#retelling = new Retelling(endpoint)
    guarded.is_stream = true
  }

  /** True while nothing may leave before a verdict: the head waits too. */
  get is_held(): boolean {
    return this.#holds === 'window' || this.#holds === 'all'
  }

  take(chunk: Buffer, then: Then): void {
    this.#then = then
    this.#inner.take(chunk, (send, hold) => {
      if (this.#fault) return then(NOTHING, null)
      if (this.#holds === 'nothing') {
        this.#follow(send)
        this.#onSent(send)
        if (hold) {
          this.#follow(hold)
          this.#onSent(hold)
        }
        return this.#pass(send, hold)
      }
      this.#frame(send)
      if (hold) {
        this.#is_in_hold = true
        this.#frame(hold)
        this.#framer.end()
        this.#is_over = true
      }
      this.#advance()
    })
  }

  end(then: (rest: Buffer) => void): void {
    this.#inner.end(rest => {
      if (this.#fault) return then(NOTHING)
      if (this.#holds === 'nothing') {
        this.#follow(rest)
        this.#framer.end()
        this.#onSent(rest)
        return then(Buffer.concat([this.#prefix(), rest]))
      }
      this.#frame(rest)
      this.#framer.end()
      this.#is_over = true
      this.#ended = then
      this.#advance()
    })
  }

  /** The answer is whole: begins what is judged when it is gone. */
  judgeLate(): void {
    if (this.#after.length) this.#late = this.#guarded.judgeLate(this.#after, this.#said.whole(), this.#status)
  }

  /** What follows the answer, where hook results are told in streams; null: nothing does. */
  trailer(): Promise<Buffer> | null {
    const {tells_in_streams, judges_answers, endpoint} = this.#guarded
    if (!tells_in_streams || !judges_answers) return null
    return (this.#late ?? Promise.resolve()).then(() => {
      const {shown} = this.#guarded
      return shown ? Buffer.from(resultsEvent(endpoint, {after_request_hooks: shown.after_request_hooks})) : NOTHING
    })
  }

  faultEvent(fault: Refusal): Buffer {
    return this.#inner.faultEvent(fault)
  }

  close(): void {
    this.#inner.close()
  }

  get usage(): Usage | null {
    return this.#inner.usage
  }

  get model(): string | null {
    return this.#inner.model
  }

  get pieces(): number {
    return this.#inner.pieces
  }

  get text_bytes(): number {
    return this.#inner.text_bytes
  }

  get failed(): Stream['failed'] {
    if (!this.#fault) return this.#inner.failed
    const {message, status, said} = this.#fault
    return {type: said.type, message, status}
  }

  get fault(): Refusal | null {
    return this.#fault ?? this.#inner.fault
  }

  get ends_on_fault(): boolean {
    return this.#fault !== null || this.#inner.ends_on_fault
  }

  get has_begun(): boolean {
    return this.is_held ? this.#has_sent || this.#fault !== null || this.#inner.failed !== null : this.#inner.has_begun
  }

  get is_answering(): boolean {
    return this.#inner.is_answering
  }

  /** Told in front of the first bytes: what was said of the request. */
  #prefix(): Buffer {
    if (this.#has_sent) return NOTHING
    this.#has_sent = true
    const {shown, tells_in_streams, endpoint} = this.#guarded
    if (!tells_in_streams || !shown?.before_request_hooks.length) return NOTHING
    return Buffer.from(resultsEvent(endpoint, {before_request_hooks: shown.before_request_hooks}))
  }

  #pass(send: Buffer, hold: Buffer | null) {
    const first = send.length || hold ? this.#prefix() : NOTHING
    this.#then(first.length ? Buffer.concat([first, send]) : send, hold)
  }

  #follow(bytes: Buffer) {
    if (!this.#after.length) return
    this.#said.push(bytes)
    this.#framer.push(bytes)
  }

  #frame(bytes: Buffer) {
    this.#said.push(bytes)
    this.#raw = this.#raw.length ? Buffer.concat([this.#raw, bytes]) : bytes
    this.#framer.push(bytes)
    this.#queued_bytes += bytes.length
    if (this.#queued_bytes > MOST_HELD_BYTES) this.#fault = this.#guarded.unreadable('it is too long to be held back and judged')
  }

  #event(raw: Buffer | null, end: number) {
    if (raw === null) {
      this.#fault ??= this.#guarded.unreadable('an event is too long to be judged')
      return
    }
    const holds = this.#holds !== 'nothing'
    const bytes = holds ? Buffer.from(this.#raw.subarray(0, end - this.#raw_from)) : raw
    if (holds) this.#cutRaw(end - this.#raw_from)
    const read = readEvents(bytes)
    if (read === null && this.is_held) this.#fault ??= this.#guarded.unreadable('it says what is no JSON')
    for (const each of read ?? [{bytes, event: null, name: null}]) {
      const deltas = each.event ? this.#said.add(each.event) : []
      // Text behind the end was judged by nobody.
      if (holds && !(this.#is_over && deltas.length)) this.#queue.push({...each, deltas, is_last: this.#is_in_hold})
    }
  }

  #cutRaw(length: number) {
    this.#raw = this.#raw.subarray(length)
    this.#raw_from += length
  }

  /** Judges what has to be judged next, and lets go what may leave. */
  #advance() {
    if (this.#is_busy) {
      this.#has_news = true
      return this.#then(NOTHING, null)
    }
    if (this.#fault) return this.#told()
    if (this.#holds === 'events') this.#cleared = 'all'
    if (this.#holds === 'events' && this.#is_over) this.#is_judged = true
    if (this.#is_over && !this.#is_judged) return this.#judge(this.#deciding, true)
    const waits = this.#said.chars - this.#judged_chars
    if (this.#holds === 'window' && this.#partial.length && waits >= this.#step_chars) return this.#judge(this.#partial, false)
    if (this.#holds === 'window' && !this.#partial.length) this.#cleared = this.#said.behind(2 * this.#step_chars)
    this.#release()
  }

  #judge(hooks: readonly Hook[], is_whole: boolean) {
    this.#is_busy = true
    const at = this.#said.chars
    const behind = is_whole ? 'all' : this.#said.behind(this.#step_chars)
    const answer = is_whole ? this.#said.whole() : this.#said.soFar(this.#step_chars)
    this.#then(NOTHING, null)
    this.#guarded
      .judge(hooks, answer, this.#status)
      .then(outcome =>
        this.#next(() => {
          this.#has_news = false
          this.#heard(outcome, at, behind)
          this.#advance()
        }),
      )
      .catch(() => this.#broke())
  }

  #heard(outcome: Outcome, at: number, behind: ReadonlyMap<string, number> | 'all') {
    this.#judged_chars = at
    if (outcome.is_denied) {
      this.#fault = this.#guarded.denied()
      return
    }
    this.#is_judged = behind === 'all'
    this.#cleared = behind
    this.#outcome = outcome
    this.#retelling.heard(outcome)
  }

  #release() {
    if (this.#holds === 'all' && !this.#is_judged) return this.#told()
    if (this.#holds === 'all' && this.#outcome?.is_transformed) return this.#replay()
    // A denial of the first words is an answer of its own, while nothing has left.
    if (
      !this.#has_sent &&
      this.#partial.length &&
      !this.#judged_chars &&
      !this.#is_judged &&
      (this.#said.chars > 0 || this.#queue.length <= MOST_PREAMBLE_EVENTS)
    )
      return this.#told()
    let count = 0
    while (count < this.#queue.length && this.#mayLeave(this.#queue[count]!)) count++
    const leaving = this.#retelling.take(this.#queue, count, this.#said.texts, this.#is_judged)
    if (!(leaving instanceof Promise)) return this.#leave(leaving)
    this.#is_busy = true
    this.#then(NOTHING, null)
    leaving.then(told => this.#next(() => this.#leave(told))).catch(() => this.#broke())
  }

  #mayLeave({deltas}: Held): boolean {
    const cleared = this.#cleared
    return cleared === 'all' || deltas.every(({slot, end_chars}) => end_chars <= (cleared.get(slot) ?? 0))
  }

  #leave(leaving: readonly Held[] | null) {
    if (leaving) return this.#send(leaving)
    this.#fault = this.#guarded.unreadable('its text was rewritten after a part of it had left')
    this.#told()
  }

  /** Goes on when something was waited for, and with what came meanwhile. */
  #next(work: () => void) {
    this.#is_busy = false
    work()
    if (!this.#has_news || this.#is_busy) return
    this.#has_news = false
    this.#advance()
  }

  #broke() {
    this.#is_busy = false
    this.#fault = this.#guarded.unreadable('its guardrails could not judge it')
    this.#told()
  }

  /** A rewritten answer that nothing has left of yet, as the stream it would have been. */
  #replay() {
    const {restore} = this.#guarded
    const left = Buffer.from(JSON.stringify(this.#outcome!.view.body))
    const stream = this.#streamed(left)
    const told = restore ? this.#streamed(restored(restore, left)) : stream
    this.#queue.length = 0
    if (stream && told) return this.#send([{bytes: stream, event: null, name: null, deltas: [], is_last: true}], [told])
    this.#fault = this.#guarded.unreadable('it cannot be streamed as its guardrails left it')
    this.#told()
  }

  #streamed(answer: Buffer): Buffer | null {
    const {endpoint} = this.#guarded
    return isStreamed(endpoint) ? replay(endpoint, answer, {include_usage: this.#asks_usage}) : null
  }

  /** Lets events go; `told` are their bytes as the client reads them. */
  #send(leaving: readonly Held[], told: readonly Buffer[] = this.#tell(leaving)) {
    this.#queued_bytes = this.#raw.length + this.#queue.reduce((sum, {bytes}) => sum + bytes.length, 0)
    const rest = this.#is_judged && this.#queue.length === 0 && LINE_ENDS.test(this.#raw.toString('latin1')) ? [this.#raw] : []
    if (rest.length) this.#cutRaw(this.#raw.length)
    this.#onSent(Buffer.concat([...leaving.map(({bytes}) => bytes), ...rest]))
    const open = Buffer.concat(told.filter((_, place) => !leaving[place]!.is_last))
    const last = [...told.filter((_, place) => leaving[place]!.is_last), ...rest]
    if (!this.#ended) return this.#pass(open, last.length ? Buffer.concat(last) : null)
    const ended = this.#ended
    this.#ended = undefined
    const all = Buffer.concat([open, ...last])
    ended(all.length ? Buffer.concat([this.#prefix(), all]) : all)
  }

  #tell(leaving: readonly Held[]): readonly Buffer[] {
    return leaving.map(held => this.#restoring?.told(held) ?? held.bytes)
  }

  /** Tells the attempt how it stands, without bytes. */
  #told() {
    if (this.#fault) this.#queue.length = 0
    const ended = this.#ended
    if (ended && (this.#fault || this.#is_judged)) {
      this.#ended = undefined
      return ended(NOTHING)
    }
    this.#then(NOTHING, null)
  }
}
