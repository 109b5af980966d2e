import type {Refusal} from '../../base/errors.ts'
import type {Hook} from '../../guardrails/hook.ts'
import type {PhaseOutcome} from '../../guardrails/run.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import {partOf} from '../targets/guardrails.ts'
import {CountedStream, type Stream} from '../upstream/stream.ts'
import {answerResults, requestResults} from './hook-results.ts'
import {JudgedFailure} from './judged-failure.ts'
import {EventQueue, MAX_PREAMBLE_EVENTS} from './queue.ts'
import {replayed, StreamRestorer} from './stream-restorer.ts'
import {type QueuedEvent, StreamRewriter} from './stream-rewriter.ts'
import {StreamText} from './stream-text.ts'
import {
  type GuardedStreamOptions,
  type HoldMode,
  holdModeOf,
  isDone,
  isSaid,
  STREAM_TRANSITIONS,
  type Stage,
  type StageEvent,
  waits,
} from './stream-transitions.ts'

const NOTHING = Buffer.alloc(0)

type Then = (send: Buffer, hold: Buffer | null) => void

/**
 * A stream whose answer guardrails judge (decisions: `stream_mode`). `after`: it passes, and is judged when it has
 * ended. `window`: its text is judged as it comes, and leaves at most `stream_window_chars` behind. `buffer`: nothing
 * leaves before the verdict. Bytes leave as they came unless a guardrail rewrote the text.
 */
export class GuardedStream extends CountedStream implements Stream {
  readonly #inner: Stream
  readonly #guarded: CallGuardrails
  readonly #status: number
  readonly #asks_usage: boolean
  readonly #onSent: (bytes: Buffer) => void
  readonly #text: StreamText
  readonly #retelling: StreamRewriter
  /** Those that may hold the stream back; of them those that can judge a part. */
  readonly #deciding: readonly Hook[]
  readonly #partial: readonly Hook[]
  readonly #after: readonly Hook[]
  readonly #restoring: StreamRestorer | null
  readonly #holds: HoldMode
  readonly #failure: JudgedFailure
  /**
   * How much is judged at a time: half of the window, so that what is cut by one piece's end is seen whole in the next.
   */
  readonly #step_chars: number
  readonly #queue: EventQueue
  #judged_chars = 0
  /** The cleared length of each text. */
  #cleared: ReadonlyMap<string, number> | 'all' = new Map()
  #stage: Stage = 'speaking'
  /** More came while something was waited for. */
  #has_news = false
  /** The last verdict was heard: all may leave. */
  #is_judged = false
  #has_sent = false
  #fault: Refusal | null = null
  /** Why the provider's answer breaks off; sent behind what came of it. */
  #broken: Refusal | null = null
  #outcome: PhaseOutcome | null = null
  #late: Promise<void> | undefined
  #then: Then = () => undefined
  #ended: ((rest: Buffer) => void) | undefined

  constructor({inner, guarded, status, asks_usage, onSent}: GuardedStreamOptions) {
    super(inner)
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
    this.#restoring = guarded.restore && new StreamRestorer(endpoint, guarded.restore)
    this.#holds = holdModeOf(this.#deciding, this.#restoring !== null)
    this.#failure = new JudgedFailure(inner, guarded, this.#deciding, status)
    this.#step_chars = Math.ceil(Math.min(...this.#deciding.map(hook => hook.stream_window_chars)) / 2)
    this.#text = new StreamText(endpoint)
    this.#queue = new EventQueue(endpoint, this.#text, this.#holds !== 'nothing', {
      onUnreadable: reason => this.#refuse(reason),
      onNoJson: () => this.#unread(),
    })
    this.#retelling = new StreamRewriter(endpoint)
    guarded.is_stream = true
  }

  /** True while nothing may leave before a verdict: the head waits too. */
  get is_held(): boolean {
    return this.#holds === 'window' || this.#holds === 'all'
  }

  /**
   * True when the event came after which a client takes the answer for whole: what the provider does then changes
   * nothing of it.
   */
  get is_complete(): boolean {
    return isSaid(this.#stage)
  }

  take(chunk: Buffer, then: Then): void {
    this.#then = then
    this.#inner.take(chunk, (send, hold) => {
      if (isDone(this.#stage)) return then(NOTHING, null)
      if (this.#holds === 'nothing') {
        this.#follow(send)
        this.#onSent(send)
        if (hold) {
          this.#follow(hold)
          this.#onSent(hold)
        }
        return this.#pass(send, hold)
      }
      this.#queue.push(send)
      if (hold) {
        this.#queue.is_last = true
        this.#queue.push(hold)
      }
      if (hold || this.#hasFailed) {
        if (!this.#queue.has_last) this.#queue.close()
        this.#services('last_event')
      }
      this.#advance()
    })
  }

  end(then: (rest: Buffer) => void): void {
    this.#inner.end(rest => {
      if (isDone(this.#stage)) return then(NOTHING)
      if (this.#holds === 'nothing') {
        this.#follow(rest)
        this.#queue.close()
        this.#onSent(rest)
        return then(Buffer.concat([this.#prefix(), rest]))
      }
      this.#ended = then
      this.#queue.push(rest)
      this.#services('end')
      this.#queue.close()
      if (this.#queue.has_last) this.#broken = null // it broke off behind its end
      this.#advance()
    })
  }

  /** The provider's answer broke off. True when what came of it is judged and sent first: then `end` follows. */
  breakOff(fault: Refusal): boolean {
    if (!this.is_held || isDone(this.#stage)) return false
    if (!this.is_complete) this.#broken = fault
    return this.is_complete || this.#has_sent
  }

  /**
   * Its attempt is settled: an answer that is whole is judged when it is gone, and no verdict changes one that ends
   * with a fault.
   */
  settled(fault: Refusal | null): void {
    if (fault) this.#services('close')
    else if (this.#after.length)
      this.#late = this.#guarded.evaluateInBackground(this.#after, this.#text.whole(), this.#status)
  }

  /** The bytes behind the answer, when hook results are sent in streams; null for none. */
  trailer(): Promise<Buffer> | null {
    return answerResults(this.#guarded, this.#late)
  }

  faultEvent(fault: Refusal): Buffer {
    return this.#inner.faultEvent(fault)
  }

  close(): void {
    this.#services('close')
    this.#inner.close()
  }

  get open_bytes(): number {
    return this.#holds === 'nothing' ? this.#inner.open_bytes : 0
  }

  get failed(): Stream['failed'] {
    if (!this.#fault && !this.is_held) return this.#inner.failed
    if (!this.#fault) return this.#hasFailed && !this.#isAllOut ? null : this.#failure.judged
    const {message, status, codes: definition} = this.#fault
    return {type: definition.type, message, status}
  }

  get fault(): Refusal | null {
    return this.#fault ?? this.#broken ?? (this.is_held ? this.#failure.fault : this.#inner.fault)
  }

  get ends_on_fault(): boolean {
    return this.#fault !== null || this.#inner.ends_on_fault
  }

  /**
   * The provider sent an error that ends the answer, behind a part of it: the error leaves when what came before it has
   * left.
   */
  get #hasFailed(): boolean {
    return this.is_held && this.#has_sent && this.#inner.ends_on_fault && this.#inner.failed !== null
  }

  /** True once all that came was judged, and has left the queue. */
  get #isAllOut(): boolean {
    return this.#is_judged && !waits(this.#stage) && this.#queue.events.length === 0
  }

  get has_begun(): boolean {
    return this.is_held ? this.#has_sent || this.failed !== null : this.#inner.has_begun
  }

  get is_answering(): boolean {
    return this.#inner.is_answering
  }

  /** Sent in front of the first bytes: the results of the request. */
  #prefix(): Buffer {
    if (this.#has_sent) return NOTHING
    this.#has_sent = true
    return requestResults(this.#guarded)
  }

  #pass(send: Buffer, hold: Buffer | null) {
    const first = send.length || hold ? this.#prefix() : NOTHING
    this.#then(first.length ? Buffer.concat([first, send]) : send, hold)
  }

  #follow(bytes: Buffer) {
    if (this.#after.length) this.#queue.push(bytes)
  }

  /**
   * Of an event that breaks off at the end of the stream, what came before it is an answer all the same, where a part
   * of it has left.
   */
  #unread(): boolean {
    if (!this.is_held) return true
    const is_end = this.#stage === 'ended' || this.#stage === 'ended_judged'
    if (is_end && this.#has_sent) this.#broken ??= this.#guarded.unreadable('its last event is cut off')
    else this.#refuse('it says what is no JSON')
    return false
  }

  #services(event: StageEvent) {
    this.#stage = STREAM_TRANSITIONS[this.#stage][event] ?? this.#stage
  }

  #refuse(reason: string) {
    this.#refuseBy(this.#guarded.unreadable(reason))
  }

  #refuseBy(fault: Refusal) {
    this.#fault ??= fault
    this.#services('refusal')
  }

  /** Judges what has to be judged next, and lets go what may leave. */
  #advance() {
    if (waits(this.#stage)) {
      this.#has_news = true
      return this.#then(NOTHING, null)
    }
    if (isDone(this.#stage)) return this.#sendNothing()
    if (this.is_held && this.#failure.is_due)
      return this.#await(this.#failure.judge(), is_kept => {
        this.#has_news = true
        if (!is_kept) this.#refuseBy(this.#guarded.denied())
      })
    if (this.#holds === 'events') this.#cleared = 'all'
    if (this.#holds === 'events' && this.is_complete) this.#is_judged = true
    if (this.is_complete && !this.#is_judged) return this.#judge(this.#deciding, true)
    const unjudged = this.#text.chars - this.#judged_chars
    if (this.#holds === 'window' && this.#partial.length && unjudged >= this.#step_chars)
      return this.#judge(this.#partial, false)
    if (this.#holds === 'window' && !this.#partial.length) this.#cleared = this.#text.behind(2 * this.#step_chars)
    this.#release()
  }

  #judge(hooks: readonly Hook[], is_whole: boolean) {
    const at = this.#text.chars
    const behind = is_whole ? 'all' : this.#text.behind(this.#step_chars)
    const answer = is_whole ? this.#text.whole() : this.#text.soFar(this.#step_chars)
    this.#await(this.#guarded.judge(hooks, answer, this.#status), outcome => {
      this.#has_news = true
      this.#heard(outcome, at, behind)
    })
  }

  /** Waits for `work`, and continues with what came meanwhile. Nothing is done with it once the stream is over. */
  #await<T>(work: Promise<T>, heard: (came: T) => void) {
    this.#services('ask')
    this.#has_news = false
    this.#then(NOTHING, null)
    work
      .then(came => {
        if (!waits(this.#stage)) return
        this.#services('verdict')
        heard(came)
        if (!this.#has_news || waits(this.#stage)) return
        this.#has_news = false
        this.#advance()
      })
      .catch(() => {
        this.#refuse('its guardrails could not judge it')
        this.#sendNothing()
      })
  }

  #heard(outcome: PhaseOutcome, at: number, behind: ReadonlyMap<string, number> | 'all') {
    this.#judged_chars = at
    if (outcome.is_denied) return this.#refuseBy(this.#guarded.denied())
    this.#is_judged = behind === 'all'
    this.#cleared = behind
    this.#outcome = outcome
    this.#retelling.heard(outcome)
  }

  #release() {
    if (this.#holds === 'all' && !this.#is_judged) return this.#sendNothing()
    if (this.#holds === 'all' && this.#outcome?.is_transformed && this.#text.is_assembled)
      return this.#replay(this.#outcome)
    // A denial of the first words is an answer of its own, while nothing has left.
    if (
      !this.#has_sent &&
      this.#partial.length &&
      !this.#judged_chars &&
      !this.#is_judged &&
      (this.#text.chars > 0 || this.#queue.events.length <= MAX_PREAMBLE_EVENTS)
    )
      return this.#sendNothing()
    const {events} = this.#queue
    let count = 0
    while (count < events.length && this.#mayLeave(events[count]!)) count++
    const leaving = this.#retelling.take(events, count, this.#text.texts, this.#is_judged)
    if (leaving instanceof Promise) this.#await(leaving, taken => this.#leave(taken))
    else this.#leave(leaving)
  }

  #mayLeave({deltas}: QueuedEvent): boolean {
    const cleared = this.#cleared
    return cleared === 'all' || deltas.every(({slot, end_chars}) => end_chars <= (cleared.get(slot) ?? 0))
  }

  #leave(leaving: readonly QueuedEvent[] | null) {
    if (leaving) return this.#send(leaving)
    this.#refuse('its text was rewritten after a part of it had left')
    this.#sendNothing()
  }

  /** A rewritten answer as a stream, while nothing of it has left. What comes behind it is dropped. */
  #replay({view}: PhaseOutcome) {
    this.#queue.clear()
    if (this.#has_sent) return this.#send([])
    const again = replayed(this.#guarded, view.body, this.#asks_usage)
    if (again)
      return this.#send([{bytes: again.kept, event: null, name: null, deltas: [], is_last: true}], [again.shown])
    this.#refuse('it cannot be streamed as its guardrails left it')
    this.#sendNothing()
  }

  /** Lets events go; `told` holds their bytes as the client gets them. */
  #send(
    leaving: readonly QueuedEvent[],
    shown = leaving.map(held => this.#restoring?.restoreEvent(held) ?? held.bytes),
  ) {
    this.#queue.counted()
    const rest = this.#is_judged ? this.#queue.takeLineEnds() : []
    this.#onSent(Buffer.concat([...leaving.map(({bytes}) => bytes), ...rest]))
    const open = Buffer.concat(shown.filter((_, place) => !leaving[place]!.is_last))
    const last = [...shown.filter((_, place) => leaving[place]!.is_last), ...rest]
    if (this.#stage === 'ended' && this.#isAllOut) return this.#finish(Buffer.concat([open, ...last]))
    this.#pass(open, last.length ? Buffer.concat(last) : null)
  }

  /** The one place where the attempt hears that the stream is over. */
  #finish(rest: Buffer) {
    this.#services('left')
    const ended = this.#ended
    this.#ended = undefined
    ended?.(rest.length ? Buffer.concat([this.#prefix(), rest]) : rest)
  }

  /** Reports the state to the attempt, without bytes. */
  #sendNothing() {
    if (this.#stage === 'closed' || this.#stage === 'whole') return
    if (this.#fault) this.#queue.clear()
    if (this.#fault && this.#ended) return this.#finish(NOTHING)
    this.#then(NOTHING, null)
  }
}
