import type {After} from '../base/delay.ts'
import type {Store} from '../store/database.ts'
import {forgetProcesses} from '../store/workers.ts'
import type {Records} from './records.ts'
import type {Job} from './schedule.ts'

const FLUSH_MOST_MS = 30_000
const REMEMBER_MS = 7 * 86_400_000

/** Makes the counters of budgets equal the ledger again, where a lost store or a lost settlement let them differ. */
export function reconcileJob(reconciler: {run(lost: AbortSignal): Promise<void>}): Job {
  return {name: 'reconcile', every_ms: 300_000, run: ({lost}) => reconciler.run(lost)}
}

/** Deletes bodies, rows and sums past their time, turn by turn until all of them are gone. */
export function retentionJob(records: Pick<Records, 'retain'>): Job {
  return {
    name: 'log-retention',
    every_ms: 3_600_000,
    async run({lost}) {
      while (!lost.aborted && !(await records.retain()));
    },
  }
}

/**
 * Brings the prices that this process charges up to date, from each source in turn; one that fails does not keep the
 * others from it.
 */
export function priceJob(refreshes: readonly (() => Promise<void>)[]): Job {
  return {
    name: 'price-refresh',
    every_ms: 3_600_000,
    each_process: true,
    async run() {
      const faults: unknown[] = []
      for (const refresh of refreshes) await refresh().catch(fault => void faults.push(fault))
      if (faults.length > 0) throw faults[0]
    },
  }
}

/**
 * Every process has its own journal, which is flushed as it is written; this asks that the database holds all of it,
 * and fails when it does not take it in time. What processes that are gone left here is forgotten after a week.
 */
export function flushJob({
  records,
  store,
  after,
}: {
  records: Pick<Records, 'flushed'>
  store: Store
  after: After
}): Job {
  return {
    name: 'journal-flush',
    every_ms: 60_000,
    each_process: true,
    async run({now_ms}) {
      let cancel = () => {}
      const late = new Promise<never>((_, reject) => {
        const why = `The database has not taken what the journal holds for ${FLUSH_MOST_MS / 1000} s; nothing is lost, it is tried again.`
        cancel = after(FLUSH_MOST_MS, () => reject(new Error(why)))
      })
      try {
        await Promise.race([records.flushed(), late])
      } finally {
        cancel()
      }
      await forgetProcesses(store.db, new Date(now_ms - REMEMBER_MS).toISOString())
    },
  }
}
