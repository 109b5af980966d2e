import {newTimeId} from '../../src/base/ids.ts'
import type {LogRecord, Settlement} from '../../src/schema/records.ts'
import {decodeRecord, encodeSettlement, openTarget} from '../../src/store/flush/index.ts'
import {openMark} from '../../src/store/journal-marks.ts'
import {intent, logRecord, settlement, targetOf} from './records.ts'
import type {TestStore} from './stores.ts'

const WRITER = '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3e'

/** Writes settlements into a database as the flusher does: rows, sums and all. */
export async function openFlush(database: Pick<TestStore, 'store' | 'options'>) {
  await openMark(database.store, WRITER, 1)
  const target = await openTarget(targetOf(database), WRITER, 1)
  return {
    /** One slice behind the one before. */
    async apply(...settlements: readonly Settlement[]) {
      const from = await target.readMark()
      const records = settlements.map(said => decodeRecord(Buffer.from(encodeSettlement(said))))
      await target.apply({from, end: () => ({segment: from.segment, position: from.position + 1}), records})
    },
    close: () => target.close(),
  }
}

export interface CallSeed extends Omit<Partial<Settlement>, 'log'> {
  readonly at: string
  readonly api_key_id?: string
  readonly log?: Partial<LogRecord>
}

/** The settlement of a call that came in at `at`. */
export function callAt({at, log, api_key_id, ...said}: CallSeed): Settlement {
  const id = newTimeId(Date.parse(at))
  const of = intent({call_id: id, admitted_at: at, trace_id: `trace-${id}`, ...(api_key_id && {api_key_id})})
  return settlement(of, {...said, log: logRecord({id, created_at: at, ...log})})
}
