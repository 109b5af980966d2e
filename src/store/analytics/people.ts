import {sql} from 'kysely'
import {filteredRows, type LogFilter} from '../logs.ts'
import {BUCKETS, type Bucket, type Dimension, nameOf} from './facts.ts'
import {durationIn, fromMetadata, type Reader, summed} from './reader.ts'

const USER = '_user'

export interface Users {
  readonly bucket: string
  readonly users: number
  /** Of calls that name a user. */
  readonly requests: number
}

/** How many users calls name, in the metadata `_user`. */
export async function usersOf({kind, db}: Reader, filter: LogFilter, bucket: Bucket): Promise<Users[]> {
  const user = fromMetadata(kind, USER)
  const rows = await filteredRows(db, filter)
    .select([
      sql<string>`substr(created_at, 1, ${sql.lit(BUCKETS[bucket])})`.as('bucket'),
      sql<number>`count(distinct ${user})`.as('users'),
      sql<number>`count(${user})`.as('requests'),
    ])
    .groupBy(sql`1`)
    .execute()
  return rows.map(row => ({bucket: row.bucket, users: Number(row.users), requests: Number(row.requests)}))
}

export interface MetadataGroup {
  readonly value: string
  readonly requests: number
  readonly cost_nanousd: number
  readonly tokens: number
  readonly last_seen: string
  readonly feedback: number | null
  readonly with_feedback: number
}

/** Calls by what their metadata says of `key`, the most first; those that say nothing of it are left out. */
export async function metadataGroups({kind, db}: Reader, filter: LogFilter, key: string): Promise<MetadataGroup[]> {
  const thoughts = db
    .selectFrom('traffic.feedback')
    .where('organisation_id', '=', filter.organisation_id)
    .groupBy('trace_id')
    .select([sql<string>`trace_id`.as('thought_of'), sql<number>`avg(value * weight)`.as('mean')])
  const rows = await filteredRows(db, filter)
    .leftJoin(thoughts.as('thoughts'), 'thoughts.thought_of', 'traffic.logs.trace_id')
    .where(sql<boolean>`${fromMetadata(kind, key)} is not null`)
    .select([
      fromMetadata(kind, key).as('value'),
      sql<number>`count(*)`.as('requests'),
      summed(sql`cost_nanousd`).as('cost_nanousd'),
      summed(sql`prompt_tokens + completion_tokens`).as('tokens'),
      sql<string>`max(created_at)`.as('last_seen'),
      sql<number | null>`avg(mean)`.as('feedback'),
      sql<number>`count(mean)`.as('with_feedback'),
    ])
    .groupBy(sql`1`)
    .orderBy('requests', 'desc')
    .orderBy('value')
    .execute()
  return rows.map(row => ({
    value: String(row.value),
    requests: Number(row.requests),
    cost_nanousd: Number(row.cost_nanousd),
    tokens: Number(row.tokens),
    last_seen: row.last_seen,
    feedback: row.feedback === null ? null : Number(row.feedback),
    with_feedback: Number(row.with_feedback),
  }))
}

export interface Seen {
  readonly name: string
  readonly first_seen: string
  readonly last_seen: string
}

/** When calls of each group came, the first and the last. */
export async function seenOf({kind, db}: Reader, filter: LogFilter, by: Dimension): Promise<Seen[]> {
  const rows = await filteredRows(db, filter)
    .select([nameOf(kind, by).as('name'), sql<string>`min(created_at)`.as('first_seen'), sql<string>`max(created_at)`.as('last_seen')])
    .groupBy(sql`1`)
    .execute()
  return rows
}

export interface Rescued {
  readonly bucket: string
  /** 0 where another target answered at its first try. */
  readonly retry_count: number
  readonly requests: number
}

/** Calls that went well after a retry or at another target. */
export async function rescuedOf({db}: Reader, filter: LogFilter, bucket: Bucket): Promise<Rescued[]> {
  const rows = await filteredRows(db, filter)
    .where(sql<boolean>`is_rescued = 1`)
    .select([
      sql<string>`substr(created_at, 1, ${sql.lit(BUCKETS[bucket])})`.as('bucket'),
      sql<number>`coalesce(retry_count, 0)`.as('retry_count'),
      sql<number>`count(*)`.as('requests'),
    ])
    .groupBy(sql`1, 2`)
    .orderBy('retry_count')
    .execute()
  return rows.map(row => ({bucket: row.bucket, retry_count: Number(row.retry_count), requests: Number(row.requests)}))
}

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
export async function tracesOf(
  {kind, db}: Reader,
  filter: LogFilter,
  page: {readonly current_page: number; readonly page_size: number},
): Promise<{total: number; rows: TraceRow[]}> {
  const {total} = await filteredRows(db, filter).select(sql<number>`count(distinct trace_id)`.as('total')).executeTakeFirstOrThrow()
  const rows = await filteredRows(db, filter)
    .select([
      'trace_id',
      sql<number>`count(*)`.as('requests'),
      summed(sql`case when ((status = 101 or status between 200 and 299) and outcome not in ('failed', 'timeout')) then 0 else 1 end`).as(
        'failures',
      ),
      summed(sql`cost_nanousd`).as('cost_nanousd'),
      summed(sql`prompt_tokens + completion_tokens`).as('total_tokens'),
      summed(durationIn(kind)).as('duration_ms'),
      sql<string>`min(created_at)`.as('first_at'),
      sql<string>`max(created_at)`.as('last_at'),
    ])
    .groupBy('trace_id')
    .orderBy('last_at', 'desc')
    .orderBy('trace_id')
    .limit(page.page_size)
    .offset(page.current_page * page.page_size)
    .execute()
  return {
    total: Number(total),
    rows: rows.map(row => ({
      ...row,
      requests: Number(row.requests),
      failures: Number(row.failures),
      cost_nanousd: Number(row.cost_nanousd),
      total_tokens: Number(row.total_tokens),
      duration_ms: Number(row.duration_ms),
    })),
  }
}
