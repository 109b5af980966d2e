import {isBusy} from '../store/busy.ts'
import type {FlushTarget} from '../store/flush/index.ts'
import {deleteOlder} from '../store/retention.ts'
import {keepFrom} from '../store/retention-start.ts'

/** How long things are kept, in days. Bodies never stay longer than their rows. */
export interface RetentionDays {
  readonly log_retention_days: number
  readonly log_body_retention_days: number
  readonly metrics_retention_days: number
}

export interface RetainLogs extends RetentionDays {
  readonly target: Pick<FlushTarget, 'db' | 'dropBodies'>
  readonly now_ms: number
  /** Steadily rising milliseconds, of any origin; read after each slice. */
  readonly clock: () => number
  /** No slice is begun once this much time has passed. */
  readonly budget_ms: number
  /** Lets others at the database between two slices. */
  readonly rest: () => Promise<void>
}

const DAY_MS = 86_400_000

/** How long bodies are kept. */
export function bodyDays({
  log_body_retention_days,
  log_retention_days,
}: Omit<RetentionDays, 'metrics_retention_days'>): number {
  return Math.min(log_body_retention_days, log_retention_days)
}

/**
 * Deletes bodies, log rows and hourly sums past their time, in slices. False when the budget ended first. The ledger
 * stays for ever.
 */
export async function retainLogs({target, now_ms, clock, budget_ms, rest, ...days}: RetainLogs): Promise<boolean> {
  const drop = (kept: 'logs' | 'hours') => async (before_ms: number) => {
    await keepFrom(target.db, kept, new Date(before_ms).toISOString())
    return deleteOlder(target.db, kept, before_ms)
  }
  const rules: readonly (readonly [days: number, drop: (before_ms: number) => Promise<boolean>])[] = [
    [bodyDays(days), before_ms => target.dropBodies(before_ms)],
    [days.log_retention_days, drop('logs')],
    [days.log_retention_days, before_ms => deleteOlder(target.db, 'feedback', before_ms)],
    [days.metrics_retention_days, drop('hours')],
  ]
  const until = clock() + budget_ms
  for (const [most_days, drop] of rules) {
    while (await whenFree(() => drop(now_ms - most_days * DAY_MS))) {
      if (clock() >= until) return false
      await rest()
    }
  }
  return true

  /** Another connection may hold the lock of the file for a moment: the server writes there too. */
  async function whenFree(work: () => Promise<boolean>): Promise<boolean> {
    for (;;) {
      try {
        return await work()
      } catch (fault) {
        if (!isBusy(fault) || clock() >= until) throw fault
        await rest()
      }
    }
  }
}
