import type {Log} from '../../base/log.ts'
import type {AuditSink} from '../../settings/index.ts'
import {type AuditMark, moveAuditMarks, rowsForSink, type SinkRow} from '../../store/audit-marks.ts'
import type {Store} from '../../store/database.ts'
import type {Job} from '../schedule.ts'
import {toCef} from './cef.ts'
import {type AuditEvent, eventOf} from './event.ts'
import {toJsonLine} from './json-line.ts'
import {type LineSource, toRfc5424, wrapped} from './rfc5424.ts'
import {SinkFault, type SinkTarget} from './target.ts'

export interface AuditSinkParts {
  readonly sink: AuditSink
  readonly target: SinkTarget
  readonly store: Pick<Store, 'db' | 'write'>
  readonly source: LineSource
  readonly log: Pick<Log, 'warn'>
  readonly now: () => number
}

/** The work of this process for a sink. */
export interface SinkCounts {
  readonly name: string
  rows: number
  failures: number
}

export interface SinkWork {
  readonly job: Job
  readonly counts: SinkCounts
}

const EVERY_MS = 5_000
const MOST_ROWS = 200
const WARN_EVERY_MS = 60_000

/**
 * Sends a sink the rows that it does not have. One process has the lease of a sink; the marks move when the sink has
 * taken what is before them, so that an end at any moment loses no row and at most repeats some. Writers of the audit
 * log wait for nothing of it.
 */
export function auditSinkWork(parts: AuditSinkParts): SinkWork {
  const {sink, target, store, log, now} = parts
  const counts: SinkCounts = {name: sink.name, rows: 0, failures: 0}
  let most = MOST_ROWS
  let warned_at_ms = Number.NEGATIVE_INFINITY
  const deliver = async (rows: readonly SinkRow[], lost: AbortSignal): Promise<boolean> => {
    try {
      await target.deliver(
        rows.map(row => lineOf(eventOf(row), parts)),
        lost,
      )
      return true
    } catch (fault) {
      if (!(fault instanceof SinkFault)) throw fault
      if (lost.aborted) return false
      counts.failures++
      // less at once may pass where a receiver is slow
      most = Math.max(1, most >> 1)
      if (now() - warned_at_ms < WARN_EVERY_MS) return false
      warned_at_ms = now()
      const facts = {sink: sink.name, reason: fault.message}
      log.warn(facts, 'a place for the audit log does not take it; the rows wait and are sent again')
      return false
    }
  }
  const run: Job['run'] = async ({lost}) => {
    while (!lost.aborted) {
      const rows = await rowsForSink(store.db, sink.name, most)
      if (rows.length === 0 || lost.aborted || !(await deliver(rows, lost))) return
      await store.write(db => moveAuditMarks(db, sink.name, marksOf(rows)))
      counts.rows += rows.length
      most = Math.min(MOST_ROWS, most * 2)
    }
  }
  return {job: {name: `audit-sink ${sink.name}`, every_ms: EVERY_MS, run}, counts}
}

/** The last row of each organisation. */
function marksOf(rows: readonly SinkRow[]): AuditMark[] {
  return [...new Map(rows.map(row => [row.organisation_id, row])).values()]
}

function lineOf(event: AuditEvent, {sink, source}: Pick<AuditSinkParts, 'sink' | 'source'>): string {
  if (sink.format === 'rfc5424') return toRfc5424(event, source)
  const line = sink.format === 'cef' ? toCef(event) : toJsonLine(event)
  return sink.kind === 'file' ? line : wrapped(line, event, source)
}
