import {Counter, Gauge, type Registry} from 'prom-client'
import type {RecordsStatus} from './records.ts'

/** Tells how the journal is, from which the ledger and the log are made. */
export function journalMetrics(registry: Registry, status: () => RecordsStatus): void {
  const gauge = (name: string, help: string, value: (of: RecordsStatus) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value(status()))
      },
    })
  gauge('gateway_journal_accepting', '1 while the journal takes calls; at 0 they are refused.', each =>
    each.accepting ? 1 : 0,
  )
  gauge(
    'gateway_journal_lag_seconds',
    'How long something has been waiting for the database.',
    each => each.lag_ms / 1000,
  )
  gauge(
    'gateway_ledger_up_to_date',
    '1 while the database takes what the journal has; at 0 what shows calls is refused with 503.',
    each => (each.behind === null ? 1 : 0),
  )
  gauge(
    'gateway_journal_free_bytes',
    'Reserved bytes of the journal that are not yet written.',
    each => each.free_bytes,
  )
  gauge(
    'gateway_journal_waiting_bytes',
    'Bytes of the journal that the database does not have.',
    each => each.waiting_bytes,
  )
  gauge('gateway_journal_segments', 'Files of the journal that are not yet removed.', each => each.segments)
  gauge('gateway_journal_open_attempts', 'Attempts that were begun and not settled.', each => each.open_intents)
  const counter = (name: string, help: string, value: (of: RecordsStatus) => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(value(status()))
      },
    })
  counter(
    'gateway_journal_files_removed_total',
    'How often the file of the journal that is being written was found removed from outside.',
    each => each.files_removed,
  )
  counter(
    'gateway_log_rows_dropped_total',
    'Calls that were settled without a row of the log, for want of room.',
    each => each.rows_dropped,
  )
  counter(
    'gateway_journal_records_set_aside_total',
    'Records that the database did not take as they are; gateway ledger verify counts them.',
    each => each.records_set_aside,
  )
  counter(
    'gateway_settlements_failed_total',
    'Attempts whose settlement could not be written; the next start counts them as recovered.',
    each => each.settlements_failed,
  )
}
