import type {Refusal} from '../../../base/errors.ts'
import type {Hook} from '../../../guardrails/hook.ts'
import type {PhaseOutcome} from '../../../guardrails/run.ts'
import type {CallGuardrails} from '../../call/call-guardrails.ts'
import {type QueuedEvent, StreamRewriter} from '../../guardrails/stream-rewriter.ts'
import {StreamText} from '../../guardrails/stream-text.ts'
import {isProtective} from '../../guardrails/unread.ts'
import {partOf} from '../../targets/guardrails.ts'

/**
 * How the hooks of a session's output judge: what they hold back, and which of them judge a part, or when all has left.
 */
export interface OutputHooks {
  readonly all: readonly Hook[]
  readonly deciding: readonly Hook[]
  readonly partial: readonly Hook[]
  readonly after: readonly Hook[]
  /** Those of the deciding that keep something from leaving. */
  readonly protective: readonly Hook[]
  readonly holds: 'nothing' | 'window' | 'all'
  readonly step_chars: number
}

export function outputHooks(all: readonly Hook[]): OutputHooks {
  const deciding = all.filter(hook => hook.stream_mode !== 'after' && !hook.async)
  return {
    all,
    deciding,
    partial: deciding.filter(hook => hook.stream_mode === 'window').flatMap(partOf),
    after: all.filter(hook => !deciding.includes(hook)),
    protective: deciding.filter(isProtective),
    holds: deciding.some(hook => hook.stream_mode === 'buffer') ? 'all' : deciding.length ? 'window' : 'nothing',
    step_chars: Math.ceil(Math.min(...deciding.map(hook => hook.stream_window_chars)) / 2),
  }
}

/** The reports of an answer while it is judged. */
export interface AnswerListener {
  /** More of it may leave now, or it is denied. */
  heard(): void
  /** It does not leave: a denial, or a fault of its judgement. */
  refused(fault: Refusal): void
}

/** Only a whole answer of this status is judged as one. */
const OK = 200

/**
 * One answer of a session while it is judged: a response of the model, or what is written down of what a client spoke.
 * Its texts are joined over its events, as those of a stream are: in a window, or held until it is whole.
 */
export class JudgedAnswer {
  readonly guarded: CallGuardrails
  /** Its events that have not left, in their order. */
  readonly events: QueuedEvent[] = []
  readonly #text = new StreamText('realtime')
  readonly #rewriter = new StreamRewriter('realtime')
  readonly #hooks: OutputHooks
  readonly #ears: AnswerListener
  #cleared: ReadonlyMap<string, number> | 'all' = new Map()
  readonly #steady: () => number
  #judged_chars = 0
  #has_news = false
  #is_waiting = false
  /** The provider has sent all of it. */
  is_over = false
  /** The verdict on the whole was heard. */
  is_judged = false
  fault: Refusal | null = null
  /** Since when a verdict is awaited, on the clock of durations; 0 while none is. */
  waits_since = 0
  late: Promise<void> | undefined

  constructor(guarded: CallGuardrails, hooks: OutputHooks, ears: AnswerListener, steady: () => number) {
    this.#steady = steady
    this.guarded = guarded
    this.#hooks = hooks
    this.#ears = ears
    guarded.is_stream = true
    guarded.begin()
  }

  /** The next event of it. */
  add(event: NonNullable<QueuedEvent['event']>, bytes: Buffer): QueuedEvent {
    const queued = {bytes, event, name: null, deltas: this.#text.add(event), is_last: false}
    this.events.push(queued)
    return queued
  }

  /** Nothing more comes. */
  end(): void {
    this.is_over = true
  }

  refuse(fault: Refusal): void {
    if (this.fault) return
    this.fault = fault
    this.#ears.refused(fault)
  }

  /** Judges what has to be judged next. */
  advance(): void {
    if (this.fault) return
    if (this.#is_waiting) {
      this.#has_news = true
      return
    }
    const {holds, deciding, partial, step_chars, after} = this.#hooks
    if (holds === 'nothing') {
      this.#cleared = 'all'
      if (this.is_over && !this.is_judged) this.late = this.guarded.evaluateInBackground(after, this.#text.whole(), OK)
      this.is_judged ||= this.is_over
      return
    }
    if (this.is_over && !this.is_judged) return this.#judge(deciding, true)
    if (holds === 'all') return
    if (partial.length === 0) this.#cleared = this.#text.behind(2 * step_chars)
    else if (this.#text.chars - this.#judged_chars >= step_chars) this.#judge(partial, false)
  }

  /** How many of the first `most` events may leave. */
  clearedOf(most: number): number {
    if (this.#hooks.holds === 'all' && !this.is_judged) return 0
    const cleared = this.#cleared
    let count = 0
    while (
      count < most &&
      (cleared === 'all' || this.events[count]!.deltas.every(each => each.end_chars <= (cleared.get(each.slot) ?? 0)))
    )
      count++
    return count
  }

  /**
   * Takes up to `count` events out as they may leave; null: what has left does not agree with the text as it is now.
   */
  take(count: number): ReturnType<StreamRewriter['take']> {
    return this.#rewriter.take(this.events, count, this.#text.texts, this.is_judged && count === this.events.length)
  }

  #judge(hooks: readonly Hook[], is_whole: boolean) {
    const {step_chars, after} = this.#hooks
    const at = this.#text.chars
    const behind = is_whole ? 'all' : this.#text.behind(step_chars)
    const answer = is_whole ? this.#text.whole() : this.#text.soFar(step_chars)
    this.#is_waiting = true
    this.#has_news = false
    this.waits_since = this.#steady()
    const heard = (outcome: PhaseOutcome) => {
      this.#settle()
      if (this.fault) return
      if (outcome.is_denied) return this.refuse(this.guarded.denied())
      this.#judged_chars = at
      this.is_judged = is_whole
      this.#cleared = behind
      this.#rewriter.heard(outcome)
      if (is_whole && after.length) this.late = this.guarded.evaluateInBackground(after, answer, OK)
      if (this.#has_news) this.advance()
      this.#ears.heard()
    }
    this.guarded.judge(hooks, answer, OK).then(heard, () => {
      this.#settle()
      this.refuse(this.guarded.unreadable('its guardrails could not judge it'))
    })
  }

  #settle() {
    this.#is_waiting = false
    this.waits_since = 0
  }
}
