import {Refusal} from '../../base/errors.ts'
import type {Settings} from '../../settings/index.ts'
import type {StateName} from '../call/state.ts'
import type {Target} from '../targets/target.ts'
import type {ProviderStream} from '../upstream/stream.ts'
import type {RoutingDecision} from './attempt-owner.ts'

/**
 * How far an attempt is: the states of its call that it owns. `settling` comes once: at the event or the byte that
 * makes the answer whole, an error, an abort or a timeout. `finishing`: the rest of the answer is sent to its end.
 * `over` is never left.
 */
export type Phase =
  | Extract<StateName, 'recording' | 'queued' | 'sent' | 'receiving' | 'settling' | 'finishing'>
  | 'over'

/** When an attempt came how far, on the clock that durations are taken with; 0 where it did not get so far. */
export interface Times {
  queued_at: number
  sent_at: number
  /** When the operating system had taken all of the request. */
  written_at: number
  /** When a piece of the body last left. */
  moved_at: number
  first_byte_at: number
  last_byte_at: number
  /** Since when the client takes no more bytes; 0 while it does. */
  paused_at: number
  /** The stream that comes, how many events of it were seen, and when that was last another number. */
  source: ProviderStream | null
  events: number
  event_at: number
}

/** The times of an attempt that begins. */
export function newTimes(): Times {
  return {
    queued_at: 0,
    sent_at: 0,
    written_at: 0,
    moved_at: 0,
    first_byte_at: 0,
    last_byte_at: 0,
    paused_at: 0,
    source: null,
    events: 0,
    event_at: 0,
  }
}

type Limits = Pick<
  Settings,
  'request_timeout' | 'client_write_timeout_ms' | 'upstream_first_byte_timeout_ms' | 'upstream_idle_timeout_ms'
>

/** A guarded stream: whether its provider has sent all of it. */
interface GuardedProgress {
  readonly is_complete: boolean
}

/** An answer that did not pass is read for the log, not waited for. */
const MAX_DROPPED_MS = 1000

/**
 * The limit in milliseconds that the provider exceeds; `client` when the client takes nothing, `dropped` when an answer
 * that did not pass still comes; null when no one is late.
 */
export function expiredDeadline(
  phase: Phase,
  times: Times,
  now: number,
  limits: Limits,
  decision: RoutingDecision | undefined,
  guarded: GuardedProgress | null = null,
) {
  const {
    request_timeout: total_ms,
    upstream_first_byte_timeout_ms: first_ms,
    upstream_idle_timeout_ms: idle_ms,
  } = limits
  const {queued_at, moved_at, last_byte_at, paused_at, source} = times
  if (source && (source.events !== times.events || paused_at)) {
    times.events = source.events
    times.event_at = now
  }
  if (total_ms !== undefined && queued_at && now - queued_at > total_ms) return total_ms
  if (paused_at) return now - paused_at > limits.client_write_timeout_ms ? 'client' : null
  // A body that is still being sent is no silence of the provider's.
  if (phase === 'queued' || phase === 'sent') return now - Math.max(queued_at, moved_at) > first_ms ? first_ms : null
  if (phase === 'receiving' && decision?.passes === false && now - times.first_byte_at > MAX_DROPPED_MS)
    return 'dropped'
  // Comments keep a stream from being idle; they put off no first event, and no next one beyond the longer of both
  // limits.
  if (
    phase === 'receiving' &&
    (source ? !source.has_begun : !decision) &&
    now - Math.max(queued_at, moved_at) > first_ms
  )
    return first_ms
  // Time that guardrails take over the last of an answer, under deadlines of their own, is no silence of the provider's
  // either.
  if (phase === 'receiving' && guarded?.is_complete) return null
  if (phase === 'receiving' && source?.has_begun && now - times.event_at > Math.max(first_ms, idle_ms))
    return Math.max(first_ms, idle_ms)
  if (phase === 'receiving' || phase === 'finishing') return now - last_byte_at > idle_ms ? idle_ms : null
  return null
}

/** How long an answer took to begin. */
export function timingOf({queued_at, sent_at, first_byte_at}: Times): {connect_ms: number; first_byte_ms: number} {
  return {connect_ms: sent_at - queued_at, first_byte_ms: first_byte_at - sent_at}
}

export function timeout(target: Target, limit_ms: number): Refusal {
  return new Refusal('upstream.timeout', {provider: target.provider.slug, limit_ms})
}
