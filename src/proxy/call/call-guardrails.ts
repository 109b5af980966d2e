import type {Refusal} from '../../base/errors.ts'
import type {Hook} from '../../guardrails/hook.ts'
import type {JsonValue} from '../../guardrails/json.ts'
import type {Restore} from '../../guardrails/pii/restore.ts'
import type {PhaseOutcome} from '../../guardrails/run.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {HookResults} from '../../schema/guardrails.ts'
import type {GuardrailDenial} from '../inbound/denial.ts'
import type {TargetGuardrails} from '../targets/guardrails.ts'

/** A whole answer as a client reads it. */
export interface Whole {
  readonly bytes: Buffer
  readonly content_type: string
}

/** What its guardrails made of it. */
export interface Judged {
  /** What the client is answered. */
  readonly status: number
  /** The answer as it may be kept for others, the results of this call apart; null: not at all. */
  readonly kept: Buffer | null
  /** What the log keeps: without what was put back for the client. */
  readonly logged: Buffer
}

/** The guardrails of a call at one target: what they said so far, and what they made of it. */
export interface CallGuardrails {
  readonly guards: TargetGuardrails
  readonly endpoint: EndpointName
  /** Headers that checks add for the provider. */
  readonly headers: Readonly<Record<string, string>>
  /** True when the answer came as a stream, so that the log says how it was judged. */
  is_stream: boolean
  /** True when an answer has to be read whole: to be judged, or to carry what was said of the request. */
  readonly reads_answers: boolean
  /** True when streamed answers are judged. */
  readonly judges_answers: boolean
  /** True when a stream that has left may be kept for others: all that was to be said of it was said before, and it is as it was judged. */
  readonly keeps_streams: boolean
  /** What clients are shown of the hooks that ran; null when none did. */
  readonly shown: HookResults | null
  /** What the log says of the hooks by now. */
  readonly logged: HookResults
  /** Resolves when what nobody waited for has been said too; null when there is nothing of the kind. */
  readonly late: Promise<void> | null
  /** Puts back in the answer what was taken out of the request; null: nothing was. */
  readonly restore: Restore | null
  /** True when hook results are told in streams, beside what providers say (reference: guardrails, streaming). */
  readonly tells_in_streams: boolean
  /** An answer begins: what was said of one before it no longer counts. */
  begin(): void
  /** What the client is told in place of a good status. */
  statusOf(upstream_status: number): number
  /** The refusal that a denial comes to. */
  denied(): GuardrailDenial
  /** Why an answer that cannot be judged is refused. */
  unreadable(reason: string): Refusal
  /** Judges a whole answer. What is no JSON cannot be judged, and is refused. */
  evaluateResponse<R extends Whole>(reply: R, upstream_status: number): Promise<R & Judged>
  /** Judges an answer, or what there is of it, with some of the output's hooks; what they say replaces what was said of it before. */
  judge(hooks: readonly Hook[], json: JsonValue, upstream_status: number): Promise<PhaseOutcome>
  /** Judges an answer that is gone already; what is said is added to what was said before. Never rejects. */
  evaluateInBackground(hooks: readonly Hook[], json: JsonValue, upstream_status: number): Promise<void>
}
