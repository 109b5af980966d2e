import {RECEIVED_ENDPOINT} from '../schema/received-spans.ts'
import type {LogRecord} from '../schema/records.ts'
import type {Db} from './database.ts'
import type {LogsTable} from './tables/traffic.ts'

/** A row of the log, as far as a replay reads it. */
export type ReplayedRow = Pick<
  LogsTable,
  | 'id'
  | 'call_id'
  | 'created_at'
  | 'provider_slug'
  | 'provider'
  | 'model'
  | 'status'
  | 'outcome'
  | 'metadata'
  | 'endpoint'
  | 'cost_nanousd'
  | 'cache_status'
> &
  Pick<LogRecord, 'method' | 'url' | 'upstream_url' | 'is_stream' | 'error' | 'last_byte_ms'>

export interface ReplayedRange {
  readonly workspace_id: string
  /** Only rows of this user's keys. */
  readonly user_id?: string | undefined
  /** ISO 8601 UTC, included. */
  readonly since: string
  /** Not included. */
  readonly before: string
}

const COLUMNS = [
  'id',
  'call_id',
  'created_at',
  'provider_slug',
  'provider',
  'model',
  'status',
  'outcome',
  'metadata',
  'endpoint',
  'cost_nanousd',
  'cache_status',
  'detail',
] as const

/**
 * Rows of calls in a workspace, newest first: `limit` of them, and all that share the moment of the last one, so that
 * no call is cut in two: its rows have one moment, when it came in.
 */
export async function replayedRows(
  db: Db,
  {workspace_id, user_id, since, before}: ReplayedRange,
  limit: number,
): Promise<ReplayedRow[]> {
  const rows = () => {
    const all = db
      .selectFrom('traffic.logs')
      .select(COLUMNS)
      .where('workspace_id', '=', workspace_id)
      .where('endpoint', '<>', RECEIVED_ENDPOINT)
    return user_id === undefined ? all : all.where('user_id', '=', user_id)
  }
  const found = await rows()
    .where('created_at', '>=', since)
    .where('created_at', '<', before)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  const last = found.at(-1)
  const rest =
    last && found.length === limit
      ? await rows().where('created_at', '=', last.created_at).where('id', '<', last.id).orderBy('id', 'desc').execute()
      : []
  return [...found, ...rest].map(({detail, ...row}) => {
    const {method, url, upstream_url, is_stream, error, last_byte_ms} = JSON.parse(detail) as LogRecord
    return {...row, method, url, upstream_url, is_stream, error, last_byte_ms}
  })
}
