import {sql} from 'kysely'
import type {Page, Paged} from '../../schema/paging.ts'
import type {LogFilter} from '../log-filter.ts'
import {filteredRows, listedRows, type Rows} from '../log-rows.ts'
import {type AnalyticsReader, summed, WENT_WELL} from './reader.ts'

export interface TraceRow {
  readonly trace_id: string
  readonly requests: number
  readonly failures: number
  readonly cost_nanousd: number
  readonly total_tokens: number
  readonly duration_ms: number
  readonly first_at: string
  readonly last_at: string
}

/** Traces, the newest first. */
export async function tracesOf(reader: AnalyticsReader, filter: LogFilter, page: Page): Promise<Paged<TraceRow>> {
  const newest = await newestOf(reader, filter, (page.current_page + 1) * page.page_size)
  const rows = newest
    ? await summedUp(filteredRows(reader.db, filter, 'trace').where('trace_id', 'in', newest.traces), page)
    : await summedUp(filteredRows(reader.db, filter), page)
  return {total: newest?.is_all ? newest.traces.length : await countTraces(reader, filter), rows}
}

async function countTraces({db}: AnalyticsReader, filter: LogFilter): Promise<number> {
  const traces = filteredRows(db, filter).select(sql<number>`count(distinct trace_id)`.as('total'))
  return Number((await traces.executeTakeFirstOrThrow()).total)
}

/** Beyond that many rows all are grouped. */
const MAX_ROWS = 16_384

interface Newest {
  readonly traces: readonly string[]
  /** True when no other trace matches. */
  readonly is_all: boolean
}

/**
 * At least so many of the newest traces, from the newest rows of a workspace; undefined where that takes too many rows.
 */
async function newestOf({db}: AnalyticsReader, filter: LogFilter, wanted: number): Promise<Newest | undefined> {
  if (filter.workspace_id === undefined || filter.trace_id !== undefined) return undefined
  for (let limit = 2 * (wanted + 1); limit <= MAX_ROWS; limit *= 4) {
    const rows = await listedRows(db, filter)
      .select(['trace_id', 'created_at'])
      .orderBy('created_at', 'desc')
      .limit(limit)
      .execute()
    const is_all = rows.length < limit
    const last_at = rows.at(-1)?.created_at ?? ''
    // of the last moment there may be more
    const traces = [...new Set(rows.filter(row => is_all || row.created_at > last_at).map(row => row.trace_id))]
    if (traces.length > 0 && (is_all || traces.length >= wanted)) return {traces, is_all}
    if (is_all) return undefined
  }
  return undefined
}

async function summedUp(rows: Rows, page: Page): Promise<TraceRow[]> {
  const found = await rows
    .select([
      'trace_id',
      sql<number>`count(*)`.as('requests'),
      summed(sql`case when ${WENT_WELL} then 0 else 1 end`).as('failures'),
      summed(sql`cost_nanousd`).as('cost_nanousd'),
      summed(sql`prompt_tokens + completion_tokens`).as('total_tokens'),
      summed(sql`duration_ms`).as('duration_ms'),
      sql<string>`min(created_at)`.as('first_at'),
      sql<string>`max(created_at)`.as('last_at'),
    ])
    .groupBy('trace_id')
    .orderBy('last_at', 'desc')
    .orderBy('trace_id')
    .limit(page.page_size)
    .offset(page.current_page * page.page_size)
    .execute()
  return found.map(row => ({
    ...row,
    requests: Number(row.requests),
    failures: Number(row.failures),
    cost_nanousd: Number(row.cost_nanousd),
    total_tokens: Number(row.total_tokens),
    duration_ms: Number(row.duration_ms),
  }))
}
