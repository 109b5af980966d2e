import {sql} from 'kysely'
import {isReceived} from '../schema/received-spans.ts'
import type {LogRecord} from '../schema/records.ts'
import type {Db} from './database.ts'
import {anyOf} from './rows.ts'

/** A row of a trace, as far as it says what is above what. */
export interface RowOfTrace {
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly call_id: string
  /** Of a span that an application sent; null for a call that went through the gateway. */
  readonly span: {readonly operation: string | null; readonly is_charged: boolean} | null
}

/** So many rows are read of one set of traces; who fills a trace with more loses no more than links. */
const MOST_ROWS = 4096
const TRACES_AT_ONCE = 200

/**
 * The rows of traces in a workspace, but for messages to MCP servers: a span of a model's work around one is no view of
 * it. They are found by the index of traces, as few as they are.
 */
export async function rowsOfTraces(
  db: Db,
  workspace_id: string,
  trace_ids: readonly string[],
): Promise<readonly RowOfTrace[]> {
  const found: RowOfTrace[] = []
  for (let at = 0; at < trace_ids.length; at += TRACES_AT_ONCE) {
    const rows = await db
      .selectFrom('traffic.logs')
      .select(['trace_id', 'span_id', 'call_id', 'endpoint', 'detail'])
      .where('trace_id', 'in', anyOf(trace_ids.slice(at, at + TRACES_AT_ONCE)))
      .where(sql`workspace_id || ''`, '=', workspace_id)
      .limit(MOST_ROWS)
      .execute()
    for (const {detail, endpoint, ...row} of rows) {
      const {parent_span_id, span, mcp} = JSON.parse(detail) as Pick<LogRecord, 'parent_span_id' | 'span' | 'mcp'>
      if (mcp) continue
      found.push({...row, parent_span_id, span: isReceived(endpoint) ? (span ?? NOTHING) : null})
    }
  }
  return found
}

const NOTHING = {operation: null, is_charged: false}
