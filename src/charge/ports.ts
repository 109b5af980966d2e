import type {Log} from '../base/log.ts'
import type {Intent, LogBodies, Settlement} from '../schema/records.ts'
import type {EndedCall} from './ended-call.ts'

/**
 * The journal, as charged work sees it. `done` runs once the record outlives the process, or with the fault that kept
 * it from it.
 */
export interface Recorder {
  begin(intent: Intent, done: (fault?: Error) => void): void
  /** `intent` is what it ends, where that is not what it says itself. */
  settle(settlement: Settlement, bodies: LogBodies | null, done: (fault?: Error) => void, intent?: Intent): void
  /**
   * A row of the log, no entry of the ledger: work that never left, or is known from elsewhere. With `done` its fault
   * is the caller's to report.
   */
  note(settlement: Settlement, bodies: LogBodies | null, done?: (fault?: Error) => void): void
}

/** The services that write charged work. `now` is in epoch milliseconds. */
export interface ChargeServices {
  readonly recorder: Recorder
  readonly metrics: {ended(facts: EndedCall): void}
  readonly log: Pick<Log, 'error'>
  now(): number
}
