import type {Refusal} from '../../base/errors.ts'
import type {TryResult} from '../../routing/retry.ts'
import type {RouteInfo} from '../call/call.ts'
import type {AttemptResult} from '../records/settle.ts'
import type {Rewritten} from './whole-response.ts'

/** What comes of an attempt's result. `passes`: the client is answered with it; else something is asked after it, the same target or another. */
export type RoutingDecision =
  | {readonly passes: true; readonly retry_attempt_count: number}
  | {readonly passes: false; readonly is_retried: boolean}

export const NOTHING_USED = {tokens: 0, cost_nanousd: 0}

/** Where an answer goes beside its client: the cache, and the callers that wait for the same. */
export interface ResponseSink {
  /** Others wait for this answer: it is read at the provider's pace. */
  readonly followed: boolean
  /** The next bytes of a stream, as a client reads them. */
  observe(bytes: Buffer): void
  /** The answer has ended well; `plain` null: it was a stream, or is too long to be kept. */
  storeResponse(reply: AttemptResult, plain: Buffer | null, said: Rewritten | null): void
  /** The client is gone; true when the answer is wanted all the same. */
  leave(): boolean
}

/** Where an attempt stands in its call's way through a plan. */
export interface AttemptHost {
  readonly passage: RouteInfo
  /** Nothing can be asked after it: its answer need not wait for anything. */
  readonly is_final: boolean
  /** Why nothing may leave any more, if so: the client is gone, or the gateway stops. */
  readonly called_off: Refusal | null
  /** The cache that its answer may be kept in. */
  readonly cached: ResponseSink | null
  /** Says what comes of a result; asked once. */
  decide(result: TryResult): RoutingDecision
  /** Told what counts against limits; `is_retried`: more of the same visit follows. */
  spend(
    actual: {readonly tokens: number; readonly cost_nanousd: number},
    after: {readonly is_retried: boolean; readonly is_last: boolean},
  ): void
  /** An attempt that did not pass is settled: the way goes on. */
  resume(): void
  /** An attempt that passed has ended: so has the call. */
  over(): void
}
