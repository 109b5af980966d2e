import type {Refusal} from '../../base/errors.ts'
import type {TryResult} from '../../routing/retry.ts'
import type {Outcome} from '../../schema/records.ts'
import type {Copy} from '../upstream/body-copy.ts'
import type {ProviderStream, Stream} from '../upstream/stream.ts'
import type {TranslatedReply} from '../upstream/translate.ts'

/** How an attempt ended. */
export interface AttemptOutcome {
  /** As it is stored. */
  readonly outcome: Outcome
  /** As routing reads it. */
  readonly kind: TryResult['kind']
  readonly fault: Refusal | null
}

/** The statuses of one response. */
export interface Statuses {
  /** Null: no response came. */
  readonly provider: number | null
  /** Routing decided by this one; of an error inside a stream it is the error's own. Null: routing did not decide. */
  readonly routing: number | null
  /** Null: the provider's. */
  readonly client: number | null
}

/** A whole response as the client is sent it, translated and checked. */
export interface RewrittenResponse extends TranslatedReply {
  readonly status: number
  /** As it may be stored for others; null: not at all. */
  readonly kept: Buffer | null
  /** The logged bytes of it. */
  readonly logged: Buffer
}

/**
 * How an attempt ended, with all that its records need. Times are of the clock that durations are taken with; 0 where
 * it did not get so far.
 */
export interface AttemptResult extends AttemptOutcome {
  readonly statuses: Statuses
  readonly headers: Record<string, string>
  readonly encoding: string | null
  readonly received_bytes: number
  readonly stream: Stream | null
  /** The same as its provider sent it. */
  readonly source: ProviderStream | null
  readonly copy: Copy
  /** Null where the response itself is read. */
  readonly rewritten: RewrittenResponse | null
  readonly times: {
    readonly queued_at: number
    readonly sent_at: number
    readonly written_at: number
    readonly first_byte_at: number
    readonly last_byte_at: number
  }
}
