import type {Refusal} from '../../base/errors.ts'
import type {Hook} from '../../guardrails/hook.ts'
import type {JsonValue} from '../../guardrails/json.ts'
import type {Restore} from '../../guardrails/pii/restore.ts'
import type {PhaseOutcome} from '../../guardrails/run.ts'
import type {View} from '../../guardrails/view.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {HookResult, HookResults} from '../../schema/guardrails.ts'
import type {GuardrailDenial} from '../inbound/denial.ts'
import type {TargetGuardrails} from '../targets/guardrails.ts'

/** A whole answer as a client reads it. */
export interface Whole {
  readonly bytes: Buffer
  readonly content_type: string
}

/** An error that a stream tells. */
export interface ProviderFailure {
  readonly type: string
  readonly code?: string | null
  readonly message: string
  readonly status?: number | null
}

/** The result of its guardrails. */
export interface Judged {
  /** The client's status. */
  readonly status: number
  /** The answer as it may be kept for others, the results of this call apart; null: not at all. */
  readonly kept: Buffer | null
  /** The logged bytes: without the values that were restored for the client. */
  readonly logged: Buffer
}

/** A request that is a row of a file: the route that it is for, and its model. */
export interface RowRoute {
  readonly endpoint: EndpointName
  readonly model: string | null
}

/** The guardrails of a call at one target: their results so far, and the body they leave. */
export interface CallGuardrails {
  readonly guards: TargetGuardrails
  readonly endpoint: EndpointName
  /** True once the request was judged: its body is as the guardrails left it. */
  readonly has_judged: boolean
  /** Headers that checks add for the provider. */
  readonly headers: Readonly<Record<string, string>>
  /** True when the answer came as a stream, so that the log says how it was judged. */
  is_stream: boolean
  /** True when an answer has to be read whole: to be judged, or to carry the results of the request. */
  readonly reads_answers: boolean
  /**
   * The same of an answer as its head describes it: one of an operation in an unknown format is read when it is text.
   * Any other is noted as skipped.
   */
  readsAnswer(content_type: string | undefined, content_length: number | null): boolean
  /** True when streamed answers are judged. */
  readonly judges_answers: boolean
  /**
   * True when a stream that has left may be cached for others: every check had passed it before, and it is as it was
   * judged.
   */
  readonly keeps_streams: boolean
  /** The results of hooks that clients are shown; null when none ran. */
  readonly shown: HookResults | null
  /** The log's current results of the hooks. */
  readonly logged: HookResults
  /** Resolves when the checks that the call does not wait for have ended; null when there are none. */
  readonly late: Promise<void> | null
  /** Puts back in the answer what was taken out of the request; null: nothing was. */
  readonly restore: Restore | null
  /**
   * True when hook results are sent in streams, beside the provider's events (docs/guardrails.md, Streams, cache and
   * placeholders).
   */
  readonly tells_in_streams: boolean
  /** An answer begins: results of one before it no longer count. */
  begin(): void
  /** The client's status in place of a good one. */
  statusOf(upstream_status: number): number
  /** The refusal that a denial comes to; `line`: of the file that was denied. */
  denied(line?: number): GuardrailDenial
  /** Why an answer that cannot be judged is refused. */
  unreadable(reason: string): Refusal
  /** Judges a whole answer. In the words of a route what is no JSON cannot be judged, and is refused. */
  evaluateResponse<R extends Whole>(reply: R, upstream_status: number): Promise<R & Judged>
  /** True when an error of a provider has to be read whole, to be judged. */
  readonly judges_errors: boolean
  /**
   * Judges the body of an error: its strings, by checks that forbid. It stays as it is where none of them finds
   * anything.
   */
  evaluateError<R extends Whole>(reply: R, upstream_status: number): Promise<R & Judged>
  /** Judges an error inside a stream by some of the output's hooks; returns the rest of it, null when it is denied. */
  judgeFailure(
    hooks: readonly Hook[],
    failed: ProviderFailure,
    upstream_status: number,
  ): Promise<ProviderFailure | null>
  /**
   * Judges an answer, or a part of it, with some of the output's hooks; the results replace earlier ones of the answer.
   */
  judge(hooks: readonly Hook[], json: JsonValue, upstream_status: number): Promise<PhaseOutcome>
  /**
   * Judges a row of a file, or what else comes while a request leaves, as a request in the words of `of`. Its results
   * are for `noteRow`.
   */
  judgeRow(view: View, of: RowRoute): Promise<PhaseOutcome>
  /** Adds the results at `line` of the file. */
  noteRow(results: readonly HookResult[], line: number): void
  /** Notes the unreadable parts of a request that leaves already. Throws the denial when such bodies are denied. */
  noteUnread(parts: readonly string[]): void
  /** All rows of the file were judged, and none was denied: a later upload or run need not judge them. */
  rows_passed: boolean
  /** Judges an answer that is gone already; the results are added to the earlier ones. Never rejects. */
  evaluateInBackground(hooks: readonly Hook[], json: JsonValue, upstream_status: number): Promise<void>
}
