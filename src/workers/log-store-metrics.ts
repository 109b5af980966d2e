import {Counter, Gauge, type Registry} from 'prom-client'
import type {LogStoreCounts} from './log-store.ts'

/** Tells how the log store and what waits for it are. */
export function logStoreMetrics(registry: Registry, counts: Readonly<LogStoreCounts>, dropped: () => number): void {
  const counter = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  counter('gateway_log_store_put_total', 'Objects that this process put into the log store.', () => counts.put)
  counter('gateway_log_store_put_bytes_total', 'Bytes of these objects.', () => counts.put_bytes)
  counter(
    'gateway_log_store_refused_total',
    'Times that the log store did not take the bodies of a call, though it took others.',
    () => counts.refused,
  )
  counter('gateway_log_store_failures_total', 'Turns that a failure of the log store ended.', () => counts.failures)
  counter(
    'gateway_log_store_removed_total',
    'Objects that this process removed, past their time.',
    () => counts.removed,
  )
  counter(
    'gateway_log_store_dropped_total',
    'Log rows of this process that lost their bodies for want of room.',
    dropped,
  )
  gauge('gateway_log_store_spool_bytes', 'What waits here for the log store.', () => counts.spool_bytes)
  gauge(
    'gateway_log_store_available',
    '1 where the last turn of this process reached the log store, 0 where it did not.',
    () => (counts.is_available ? 1 : 0),
  )
}
