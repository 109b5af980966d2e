import {parseJson} from '../../base/json-object.ts'
import type {ClientTrace} from '../../base/trace-context.ts'
import {isReceived} from '../../schema/received-spans.ts'
import {type Detail, decodeRecord, type LedgerLine, type RowEnding, traceLine} from '../../store/flush/index.ts'
import type {LogBodiesTable} from '../../store/tables/traffic.ts'

/** A row of the log, as the journal has it. */
export interface ExportedRow {
  readonly id: string
  readonly span_id: string
  readonly created_at: string
  readonly status: number
  readonly metadata: string
  readonly cache_status: string
  readonly retry_count: number
  readonly ending: RowEnding
  readonly detail: Detail
}

/** A record of the journal, as it is exported. */
export interface ExportedRecord {
  readonly entry: LedgerLine
  /** Null of an attempt whose row another one writes. */
  readonly row: ExportedRow | null
  /** Of a client that sent a `traceparent`. */
  readonly w3c?: ClientTrace | undefined
  bodies: LogBodiesTable | null
}

/** Undefined for one that is not exported, and for one that cannot be read: the flusher reports it. */
export function exportedRecord(payload: Buffer): ExportedRecord | undefined {
  try {
    const {entry, row} = decodeRecord(payload)
    // a span that came from an application has its own way to collectors
    if (isReceived(entry.endpoint)) return undefined
    if (!row) {
      const line = traceLine(payload)
      return {entry, row: null, w3c: line === undefined ? undefined : (parseJson(line) as ClientTrace), bodies: null}
    }
    const [id, span_id, created_at, status, metadata, , cache_status, retry_count, , , , ending = 'call'] = row.values
    const detail = parseJson(row.detail) as Detail
    return {
      entry,
      row: {id, span_id, created_at, status, metadata, cache_status, retry_count, ending, detail},
      w3c: detail.w3c,
      bodies: null,
    }
  } catch {
    return undefined
  }
}

/** When the call of a record came in, and when that is over, in microseconds. */
export function timesOf({entry, row}: ExportedRecord): {readonly start_us: number; readonly end_us: number} {
  const start_us = Date.parse(row?.created_at ?? entry.admitted_at) * 1000
  const end_us = row ? start_us + Math.round(row.detail.last_byte_ms * 1000) : Date.parse(entry.settled_at) * 1000
  return {start_us, end_us: Math.max(start_us, end_us)}
}
