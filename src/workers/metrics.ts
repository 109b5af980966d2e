import {Counter, Gauge, type Registry} from 'prom-client'
import type {Schedule} from './schedule.ts'

/** Counts the jobs that this process did, under their names, which are few. */
export function workerMetrics(registry: Registry, {counts}: Pick<Schedule, 'counts'>): void {
  new Counter({
    name: 'gateway_worker_runs_total',
    help: 'Runs of background jobs by this process.',
    labelNames: ['worker', 'outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const {name, runs, failures} of counts()) {
        this.inc({worker: name, outcome: 'ok'}, runs - failures)
        this.inc({worker: name, outcome: 'failed'}, failures)
      }
    },
  })
  const gauge = (name: string, help: string, value: (of: ReturnType<Schedule['counts']>[number]) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['worker'],
      registers: [registry],
      collect() {
        this.reset()
        for (const each of counts()) {
          const amount = value(each)
          if (amount !== null) this.set({worker: each.name}, amount)
        }
      },
    })
  gauge(
    'gateway_worker_last_success_timestamp_seconds',
    'When this process last did a background job without failure.',
    each => (each.succeeded_at_ms === null ? null : each.succeeded_at_ms / 1000),
  )
  gauge('gateway_worker_duration_seconds', 'How long the last run of a background job by this process took.', each =>
    each.duration_ms === null ? null : each.duration_ms / 1000,
  )
}
