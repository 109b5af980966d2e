import type {Hook} from '../../guardrails/hook.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import type {Stream} from '../upstream/stream.ts'

/**
 * The progress of a stream whose answer is judged: how far its provider is, and whether a verdict (or a text that is
 * being rewritten) is awaited. `said`: the event came after which a client takes the answer for whole; `ended`: nothing
 * more comes. The last three are never left but for `closed`.
 */
export type Stage =
  | 'speaking'
  | 'speaking_judged'
  | 'said'
  | 'said_judged'
  | 'ended'
  | 'ended_judged'
  /** All has left, and its end was reported: once, here alone. */
  | 'whole'
  /** It is refused: nothing leaves any more. */
  | 'cut'
  /**
   * Its attempt is over: the client is gone, the gateway drains, a deadline is past. A verdict that comes now is
   * ignored.
   */
  | 'closed'

/** The events of its state. */
export type StageEvent =
  /** The event after which a client takes the answer for whole. */
  | 'last_event'
  /** The provider's answer has ended, cleanly or broken off. */
  | 'end'
  /** A verdict or a rewritten text is awaited. */
  | 'ask'
  /** It came. */
  | 'verdict'
  /** All has left of an answer that has ended. */
  | 'left'
  | 'refusal'
  | 'close'

/** The stages that follow. What is not named does not happen, or changes nothing. */
export const STREAM_TRANSITIONS: Readonly<Record<Stage, Readonly<Partial<Record<StageEvent, Stage>>>>> = {
  speaking: {last_event: 'said', end: 'ended', ask: 'speaking_judged', refusal: 'cut', close: 'closed'},
  speaking_judged: {
    last_event: 'said_judged',
    end: 'ended_judged',
    verdict: 'speaking',
    refusal: 'cut',
    close: 'closed',
  },
  said: {end: 'ended', ask: 'said_judged', refusal: 'cut', close: 'closed'},
  said_judged: {end: 'ended_judged', verdict: 'said', refusal: 'cut', close: 'closed'},
  ended: {ask: 'ended_judged', left: 'whole', refusal: 'cut', close: 'closed'},
  ended_judged: {verdict: 'ended', refusal: 'cut', close: 'closed'},
  whole: {close: 'closed'},
  cut: {close: 'closed'},
  closed: {},
}

/** Nothing is done before what is awaited has come. */
export const waits = (stage: Stage): boolean => 'verdict' in STREAM_TRANSITIONS[stage]

/** Nothing of it leaves any more. */
export const isDone = (stage: Stage): boolean => !('refusal' in STREAM_TRANSITIONS[stage])

/** Text that comes now is behind the end: it is part of no answer. */
export const isSaid = (stage: Stage): boolean => !('last_event' in STREAM_TRANSITIONS[stage])

export interface GuardedStreamOptions {
  readonly inner: Stream
  readonly guarded: CallGuardrails
  readonly status: number
  /** The client requested usage in an event of its own. */
  readonly asks_usage: boolean
  /** Called with the bytes that leave, without hook results. */
  readonly onSent: (bytes: Buffer) => void
}

/**
 * The held part of a stream: nothing, events until a placeholder in them is whole, unjudged text, or all until the
 * verdict.
 */
export type HoldMode = 'nothing' | 'events' | 'window' | 'all'

/** `deciding`: the hooks that may hold it back. */
export function holdModeOf(deciding: readonly Hook[], restores: boolean): HoldMode {
  if (deciding.some(hook => hook.stream_mode === 'buffer')) return 'all'
  if (deciding.length) return 'window'
  return restores ? 'events' : 'nothing'
}
