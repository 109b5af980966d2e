import type {Refusal} from '../../base/errors.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {Spent} from '../../schema/spent.ts'
import type {Usage} from '../../schema/usage.ts'

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
