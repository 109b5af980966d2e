import type {Refusal} from '../../base/errors.ts'
import type {TryResult} from '../../routing/retry.ts'
import type {Spent} from '../../schema/spent.ts'
import type {ClientCall, RouteInfo} from '../call/call.ts'
import type {CallState} from '../call/state.ts'
import type {AttemptResult} from '../records/attempt-result.ts'
import type {SettleServices} from '../records/settle.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'

type Services = SettleServices & Uses<'cors' | 'dispatcher' | 'seal' | 'soon'>

/**
 * The decision of routing on a result. `passes`: the client gets it; else there is another try, at the same target or
 * another.
 */
export type RoutingDecision =
  | {readonly passes: true; readonly retry_attempt_count: number}
  | {readonly passes: false; readonly is_retried: boolean}

/** A second destination of a response beside its client: the cache, and the callers that follow this call. */
export interface ResponseSink {
  /** An answer begins: nothing of an attempt before it is part of it. */
  restart(): void
  /** Others wait for this response: it is read at the provider's pace. */
  readonly is_followed: boolean
  /** The next bytes of a stream, as a client reads them. */
  observe(bytes: Buffer): void
  /**
   * The response has ended well; `plain` null: it was a stream, or is too long to be stored. `masked` makes of it what
   * may be kept.
   */
  storeResponse(result: AttemptResult, plain: Buffer | null, masked?: (bytes: Buffer) => Buffer): void
  /** The client is gone; true when the response is wanted all the same. */
  leave(): boolean
}

/** The runner of attempts, as one of them sees it. */
export interface AttemptOwner {
  readonly route: RouteInfo
  /** Nothing can be tried after it: its response need not wait for anything. */
  readonly is_final: boolean
  /** The gateway stops. */
  readonly is_draining: boolean
  /** The number of calls in progress, this one included. */
  readonly live_calls: number
  /** Why nothing may be sent any more, if so: the client is gone, or the gateway stops. */
  readonly called_off: Refusal | null
  /** The store for its response, if any. */
  readonly cache: ResponseSink | null
  /**
   * The provider refused the credentials of the target. Where they come from a manager of secrets, resolves when it is
   * known whether that has others by now, which `decide` then tries; null where there is nothing to wait for.
   */
  renewed(): Promise<void> | null
  /** Decides what to do with a result; called at most once. */
  decide(result: TryResult): RoutingDecision
  /** Counts what was used against limits; `is_retried`: the same target is tried again. */
  spend(actual: Spent, after: {readonly is_retried: boolean; readonly is_last: boolean}): void
  /** An attempt that did not pass is settled: the next step of routing follows. */
  continueRouting(): void
  /** An attempt that passed has ended, and so has the call. */
  endCall(): void
}

/** The parts of an attempt. */
export interface AttemptParts {
  readonly call: ClientCall
  readonly state: CallState
  readonly target: Target
  readonly request: UpstreamRequest
  readonly host: AttemptOwner
  readonly services: Services
}
