import type Sqlite from 'better-sqlite3'
import {ENTRY_COLUMNS} from './lines.ts'
import {type FlushRecord, LOG_COLUMNS} from './record.ts'

/** The columns that only the row of the log has, in the order of `RowValues`, and its detail. */
const OF_ROW = [
  'id',
  'span_id',
  'created_at',
  'status',
  'metadata',
  'duration_ms',
  'cache_status',
  'retry_count',
  'is_rescued',
  'detail',
]
const OF_ENTRY = [...ENTRY_COLUMNS, 'writer', 'chain']
const BOUND = [...OF_ENTRY, ...OF_ROW.map(column => `row_${column}`)]

/**
 * Inserts an entry and its row of the log by one statement, in which what both hold is bound once: binding costs as
 * much as inserting. Throws where one of them is there already, the transaction then being of no use. No log row that
 * sums several attempts.
 */
export function prepareCall(raw: Sqlite.Database, writer: string) {
  const row = LOG_COLUMNS.map(column => (OF_ROW.includes(column) ? `new.row_${column}` : `new.${column}`))
  // "or fail", for a statement that undid its own changes would write each of them down before
  raw.exec(`create temp view calls (${BOUND}) as select ${BOUND.map(() => 'null')};
    create temp trigger call instead of insert on calls begin
      insert or fail into ledger_entries (${OF_ENTRY}) values (${OF_ENTRY.map(column => `new.${column}`)});
      insert or fail into logs (${LOG_COLUMNS}) values (${row});
    end`)
  const insert = raw.prepare(`insert into calls (${BOUND}) values (${BOUND.map(() => '?')})`)
  return ({values, row}: FlushRecord, chain: string): void => {
    const [id, span_id, created_at, status, metadata, duration_ms, cache_status, retry_count, is_rescued] = row!.values
    const fields = [
      id,
      span_id,
      created_at,
      status,
      metadata,
      duration_ms,
      cache_status,
      retry_count,
      is_rescued,
      row!.detail,
    ] as const
    insert.run(...values, writer, chain, ...fields)
  }
}
