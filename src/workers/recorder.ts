import type {Log} from '../base/log.ts'
import type {Intent, LogBodies, Settlement} from '../schema/records.ts'
import {encodeSettlement} from '../store/flush/index.ts'
import type {Journal} from '../store/journal/index.ts'
import type {BodyQueue} from './bodies.ts'
import {encodeIntent} from './intent-record.ts'

/** `fault`: the record was not written. */
type RecordCallback = (fault?: Error) => void

/** How the recorder is, for /metrics and /readyz. */
export interface RecorderCounts {
  /** Settlements that were written without their row of the log, for want of room. */
  readonly rows_dropped: number
  /** Attempts whose settlement could not be written at all: the next start counts them as recovered. */
  readonly settlements_failed: number
}

export interface RecorderParts {
  readonly journal: Pick<Journal, 'append' | 'appendIntent' | 'appendSettlement'>
  readonly bodies: BodyQueue
  readonly log: Log
  /** Bodies wait. */
  readonly onBodies: () => void
}

/**
 * Writes what the data plane says of its calls into the journal. Never throws; `done` is called at the end of the turn,
 * once the record outlives the process, or with the fault that kept it from it.
 */
export function createRecorder({journal, bodies, log, onBodies}: RecorderParts) {
  const counts = {rows_dropped: 0, settlements_failed: 0}
  const keep = (kept: LogBodies | null, settlement: Settlement) => {
    if (!kept) return
    bodies.add(kept, settlement.log?.created_at ?? settlement.admitted_at)
    onBodies()
  }
  return {
    counts: counts as RecorderCounts,

    /** An attempt is about to leave: refused (the fault) while the journal cannot also take its settlement. */
    begin(intent: Intent, done: RecordCallback): void {
      const text = written(() => encodeIntent(intent), done)
      if (text !== undefined) journal.appendIntent(idOf(intent), text, done)
    },

    /** An attempt has ended: that of `intent`. Where its log row has no room, the money is written without it. */
    settle(settlement: Settlement, kept: LogBodies | null, done: RecordCallback, intent: Intent = settlement): void {
      const text = written(() => encodeSettlement(settlement), done)
      if (text === undefined) return
      const failed: RecordCallback = fault => {
        counts.settlements_failed++
        done(fault)
      }
      journal.appendSettlement(idOf(intent), text, fault => {
        if (!fault) {
          keep(kept, settlement)
          done()
        } else if (settlement.log === null || fault.reason === 'closed') failed(fault)
        else
          journal.appendSettlement(idOf(intent), encodeSettlement({...settlement, log: null}), again => {
            if (again) return failed(again)
            counts.rows_dropped++
            done()
          })
      })
    },

    /**
     * A row of the log that is no entry of the ledger. With `done` its fault is the caller's to report; else the row
     * counts as dropped.
     */
    note(settlement: Settlement, kept: LogBodies | null, done?: RecordCallback): void {
      const callback: RecordCallback = fault => {
        if (!fault) keep(kept, settlement)
        if (done) return done(fault)
        if (!fault) return
        counts.rows_dropped++
        log.warn({fault, call_id: settlement.call_id}, 'a log row could not be written')
      }
      const text = written(() => encodeSettlement(settlement), callback)
      if (text !== undefined) journal.append('log_row', text, callback)
    },
  }
}

const idOf = ({call_id, attempt}: Intent) => `${call_id}:${attempt}`

function written(encode: () => string, done: RecordCallback): string | undefined {
  try {
    return encode()
  } catch (cause) {
    setImmediate(() => done(new Error('The record of a call cannot be written as JSON.', {cause})))
    return undefined
  }
}
