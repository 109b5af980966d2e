import {isoTime} from '../base/clock.ts'
import type {HookResults} from '../schema/guardrails.ts'
import type {Intent, LogBodies, LogRecord, Settlement} from '../schema/records.ts'
import type {Spent} from '../schema/spent.ts'
import {endedCall} from './ended-call.ts'
import type {ChargeServices} from './ports.ts'
import {amended, settlement, spentIn, type WorkEnd} from './settlement.ts'

/** Guardrails that the call does not wait for: they have results when `late` is over. */
export interface LateHooks {
  readonly late: Promise<unknown>
  results(): HookResults | undefined
}

/** How /metrics count an end. `part`: another attempt follows, so that what it used counts and the call does not. */
export type CountedAs = 'call' | 'part' | 'nothing'

/** The row at the end of work beside its settlement. */
export interface WorkRow {
  /** Null: there is none to write or to count by. */
  readonly log: LogRecord | null
  /** False where the row is written by an attempt that follows: it covers this one. */
  readonly has_row?: boolean
  readonly bodies: LogBodies | null
  /** Takes what counts against limits, before it is written. */
  readonly spend?: ((actual: Spent) => void) | undefined
  readonly counted_as: CountedAs
  readonly hooks?: LateHooks | null | undefined
}

/**
 * One life of what is charged: an attempt, a session, a turn, a job. It is opened with its intent, begun when that is
 * to be written, and ends once: settled, or noted where nothing of it left. An end that follows another is not written
 * (core rule 2).
 */
export class ChargedWork {
  readonly intent: Intent
  readonly #services: ChargeServices
  #has_ended = false

  constructor(intent: Intent, services: ChargeServices) {
    this.intent = intent
    this.#services = services
  }

  /** Writes the intent; `done` with a fault when the journal takes none. */
  begin(done: (fault?: Error) => void): void {
    this.#services.recorder.begin(this.intent, done)
  }

  /**
   * Writes its usage and cost; `done` runs once that is safe, or has failed, then with the fault. Returns the amounts
   * that count against limits.
   */
  settle(end: WorkEnd, row: WorkRow, done: (fault?: Error) => void): Spent | null {
    if (!this.#ends()) {
      done()
      return null
    }
    const {recorder, log} = this.#services
    const settled = settlement(this.intent, end, row.has_row === false ? null : row.log, isoTime(this.#services.now()))
    const actual = spentIn(settled)
    row.spend?.(actual)
    const {call_id, trace_id} = settled
    const written = (fault?: Error) => {
      if (fault) log.error({fault, call_id, trace_id}, 'a settlement could not be written')
      done(fault)
    }
    recorder.settle(settled, row.bodies, written, this.intent)
    this.#tell(settled, row, actual)
    return actual
  }

  /** Writes the row of what cost nothing: nothing of it left. */
  note(end: Omit<WorkEnd, 'has_entry'>, row: WorkRow): void {
    if (!this.#ends()) return
    const settled = settlement(this.intent, {...end, has_entry: false}, row.log, isoTime(this.#services.now()))
    this.#services.recorder.note(settled, row.bodies)
    this.#tell(settled, row, spentIn(settled))
  }

  #ends(): boolean {
    const is_first = !this.#has_ended
    this.#has_ended = true
    const {call_id, attempt, trace_id} = this.intent
    if (!is_first) this.#services.log.error({call_id, attempt, trace_id}, 'an attempt ended twice; it is charged once')
    return is_first
  }

  #tell(settled: Settlement, {log, hooks, counted_as}: WorkRow, actual: Spent) {
    if (!log) return
    const is_part = counted_as === 'part'
    const has_figures = !is_part || actual.tokens > 0 || actual.cost_nanousd > 0 || settled.unpriced
    if (counted_as !== 'nothing' && has_figures) this.#services.metrics.ended(endedCall(settled, log, actual, is_part))
    if (!hooks || !settled.log) return
    const again = () => this.#services.recorder.note(amended(settled, log, hooks.results()), null)
    hooks.late.then(again, again)
  }
}
