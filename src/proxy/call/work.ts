import {isoTime} from '../../base/clock.ts'
import type {Refusal} from '../../base/errors.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import {intent} from '../../charge/intent.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {CallKind} from '../../schema/principal.ts'
import type {Intent} from '../../schema/records.ts'
import type {Spent} from '../../schema/spent.ts'
import type {Usage} from '../../schema/usage.ts'
import type {Trace} from '../inbound/request.ts'
import type {Admission, Caller} from '../services.ts'
import type {Target} from '../targets/target.ts'

/**
 * A piece of work that is charged, whatever brought it: a request, a session, a turn in one. Limits admit it, and its
 * intent is made of it. It knows of no request and of no client. To add a kind: CONTRIBUTING, "Add a kind of charged
 * work".
 */
export interface Work {
  readonly id: string
  readonly kind: CallKind
  readonly caller: Caller
  readonly trace: Trace
  /** When it began, in milliseconds since the epoch. */
  readonly at_ms: number
  /** The same moment on the clock that durations are taken with. */
  readonly started: number
  /** The endpoint that the client called, by which checks, the log and the counts know it. */
  readonly called_endpoint: EndpointName
  /** Upstream attempts made so far, over all targets. */
  attempts: number
  /** Of the caller's limits, for the whole of it; of the target's, for the visit there. */
  admissions: Admission[]
  target_admissions: Admission[]
  /** The claims of strict limits for the current attempt; null for none. */
  reservation: Reservation | null
}

/** The progress of a stream so far. */
export interface StreamProgress {
  /** Pieces of the answer that have come. */
  readonly pieces: number
  /** The most tokens of its text. */
  readonly most_tokens: number
  /** The last report of usage; null before the first. */
  readonly usage: Usage | null
}

/** Tokens and cost that strict limits set aside for the current attempt. */
export interface Reservation {
  /** The counters that hold it. */
  readonly keys: readonly string[]
  /** How much is held now. */
  readonly held: {readonly tokens: number; readonly cost_nanousd: number}
  /** Grows with a stream. Null when it may continue; a refusal ends it. */
  reach(stream: StreamProgress): MaybePromise<Refusal | null>
  /** Holds at least what `usage` comes to. Null once it does; a refusal where a limit has too little left. */
  hold(usage: Usage): MaybePromise<Refusal | null>
  /** The work continues behind the call: it stays held until that is charged, and `settle` does nothing any more. */
  keep(): void
  /** Ends it with what was used. */
  settle(actual: Spent): void
}

/** The ledger's facts of one attempt before it leaves. */
export function chargeOf(work: Work, target: Target | null, model: string | null, hold_nanousd: number): Intent {
  const {caller, reservation} = work
  return intent({
    kind: work.kind,
    call_id: work.id,
    attempt: work.attempts,
    trace_id: work.trace.trace_id,
    organisation_id: caller.organisation_id,
    workspace_id: caller.workspace_id,
    principal: {kind: caller.kind, id: caller.id},
    user_id: caller.user_id,
    managed: target?.managed ?? null,
    config_id: target?.config_id ?? null,
    provider: target?.provider.slug ?? '',
    model,
    endpoint: work.called_endpoint,
    admitted_at: isoTime(work.at_ms),
    counter_keys: counterKeys(work),
    held_keys: reservation?.keys,
    w3c: work.trace.w3c,
    hold_nanousd,
  })
}

/** Most work has one admission or none. */
function counterKeys({admissions, target_admissions}: Work): readonly string[] {
  if (target_admissions.length === 0 && admissions.length === 1) return admissions[0]!.counter_keys
  return [...admissions, ...target_admissions].flatMap(each => each.counter_keys)
}
