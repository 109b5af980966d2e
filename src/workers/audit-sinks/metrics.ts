import {Counter, Gauge, type Registry} from 'prom-client'
import type {SinkCounts} from './job.ts'

/** Counts what this process sent to places for the audit log, and how far each place is behind. */
export function auditSinkMetrics(
  registry: Registry,
  counts: readonly SinkCounts[],
  behind: (sink: string) => Promise<number>,
): void {
  const counter = (name: string, help: string, key: 'rows' | 'failures') =>
    new Counter({
      name,
      help,
      labelNames: ['sink'],
      registers: [registry],
      collect() {
        this.reset()
        for (const each of counts) this.inc({sink: each.name}, each[key])
      },
    })
  counter('gateway_audit_sink_rows_total', 'Rows of the audit log that a place took from this process.', 'rows')
  counter('gateway_audit_sink_failures_total', 'Deliveries of the audit log that a place did not take.', 'failures')
  new Gauge({
    name: 'gateway_audit_sink_behind_rows',
    help: 'Rows of the audit log that a place does not have yet.',
    labelNames: ['sink'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const {name} of counts) {
        // without its store the page has the rest
        const rows = await behind(name).catch(() => undefined)
        if (rows !== undefined) this.set({sink: name}, rows)
      }
    },
  })
}
