import {Counter, type Registry} from 'prom-client'
import type {Log} from '../base/log.ts'
import type {Corrected, Limits} from '../limits/index.ts'
import {PATIENT_MS} from '../ports/counters/remote.ts'

/**
 * Counters of this process alone: what an attempt used is counted at once, what was made behind a call when the
 * database knows that it is charged; its own journal is flushed before the ledger is read.
 */
export const OWN_COUNTERS = {settles_ms: 1_000, flushes_ms: 0} as const
/**
 * Counters of several processes. The ledger may have a settlement as long before the store as a busy store is waited
 * for: a look that waited less would add that usage, and the settlement would add it again. The journals of the others
 * are flushed some 100 ms later.
 */
export const SHARED_COUNTERS = {settles_ms: PATIENT_MS + 500, flushes_ms: 2_000} as const

const MAX_NAMED = 20

/**
 * One line, however many counters there are: by how much each was more than the ledger, or less where it is below
 * nothing.
 */
export function tellDrift(log: Log, corrected: readonly Corrected[]): void {
  const differed = corrected.slice(0, MAX_NAMED).map(({key, by}) => ({counter: key, by: String(by)}))
  log.warn({counters: corrected.length, differed}, 'counters of limits differed from the ledger, and were put right')
}

/** Counts the calls of new entities that a policy had no room for. */
export function entitiesMetric(registry: Registry): () => void {
  const refused = new Counter({
    name: 'gateway_policy_entities_refused_total',
    help: 'Calls of new entities that were refused, for their policy counts as many entities as it can.',
    registers: [registry],
  })
  return () => refused.inc()
}

export function driftMetric(registry: Registry, {reconciler}: Pick<Limits, 'reconciler'>): void {
  if (!reconciler) return
  new Counter({
    name: 'gateway_counter_drift_total',
    help: 'Counters of budgets that this process found under or over what the ledger says, and put right.',
    labelNames: ['direction'],
    registers: [registry],
    collect() {
      this.reset()
      this.inc({direction: 'under'}, reconciler.counts.under)
      this.inc({direction: 'over'}, reconciler.counts.over)
    },
  })
}
