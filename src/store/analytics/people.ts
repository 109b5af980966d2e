import {sql} from 'kysely'
import type {Page, Paged} from '../../schema/paging.ts'
import type {LogFilter} from '../log-filter.ts'
import {filteredRows} from '../log-rows.ts'
import {byDay} from './days.ts'
import {BUCKETS, type Bucket, type Dimension, nameOf} from './facts.ts'
import {type AnalyticsReader, fromMetadata, summed} from './reader.ts'

const USER = '_user'

export interface Users {
  readonly bucket: string
  readonly users: number
  /** Of calls that name a user. */
  readonly requests: number
}

/**
 * How many users calls name, in the metadata `_user`. Of the whole nothing is known from its days: a user may call in
 * several.
 */
export async function usersOf({kind, db}: AnalyticsReader, filter: LogFilter, bucket: Bucket): Promise<Users[]> {
  const user = fromMetadata(kind, USER)
  const found: Users[] = []
  for (const part of bucket === 'all' ? [filter] : byDay(filter)) {
    const rows = await filteredRows(db, part)
      .select([
        sql<string>`substr(created_at, 1, ${sql.lit(BUCKETS[bucket])})`.as('bucket'),
        sql<number>`count(distinct ${user})`.as('users'),
        sql<number>`count(${user})`.as('requests'),
      ])
      .groupBy(sql`1`)
      .execute()
    for (const row of rows) found.push({bucket: row.bucket, users: Number(row.users), requests: Number(row.requests)})
  }
  return found
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
export async function metadataGroups(
  {kind, db}: AnalyticsReader,
  filter: LogFilter,
  key: string,
  page: Page,
): Promise<Paged<MetadataGroup>> {
  const value = fromMetadata(kind, key)
  const rows = await filteredRows(db, filter)
    .where(sql<boolean>`${value} is not null`)
    .select([
      value.as('value'),
      sql<number>`count(*)`.as('requests'),
      summed(sql`cost_nanousd`).as('cost_nanousd'),
      summed(sql`prompt_tokens + completion_tokens`).as('tokens'),
      sql<string>`max(created_at)`.as('last_seen'),
      sql<number>`count(*) over ()`.as('total'),
    ])
    .groupBy(sql`1`)
    .orderBy('requests', 'desc')
    .orderBy('value')
    .limit(page.page_size)
    .offset(page.current_page * page.page_size)
    .execute()
  const values = rows.map(row => String(row.value))
  const thoughts = values.length === 0 ? new Map() : await thoughtsOf({kind, db}, filter, key, values)
  return {
    total: Number(rows[0]?.total ?? (page.current_page === 0 ? 0 : await valuesOf({kind, db}, filter, key))),
    rows: rows.map(row => ({
      value: String(row.value),
      requests: Number(row.requests),
      cost_nanousd: Number(row.cost_nanousd),
      tokens: Number(row.tokens),
      last_seen: row.last_seen,
      ...(thoughts.get(String(row.value)) ?? {feedback: null, with_feedback: 0}),
    })),
  }
}
/** How many values rows have of a key of their metadata. */
async function valuesOf({kind, db}: AnalyticsReader, filter: LogFilter, key: string): Promise<number> {
  const values = filteredRows(db, filter).select(sql<number>`count(distinct ${fromMetadata(kind, key)})`.as('values'))
  return Number((await values.executeTakeFirstOrThrow()).values)
}

/** Feedback on calls by the value of their metadata: from the few traces that have any. */
async function thoughtsOf({kind, db}: AnalyticsReader, filter: LogFilter, key: string, values: readonly string[]) {
  const value = fromMetadata(kind, key)
  const thoughts = db
    .selectFrom('traffic.feedback')
    .where('organisation_id', '=', filter.organisation_id)
    .groupBy('trace_id')
    .select([sql<string>`trace_id`.as('thought_of'), sql<number>`avg(value * weight)`.as('mean')])
  const rows = await filteredRows(db, filter, 'trace')
    .innerJoin(thoughts.as('thoughts'), 'thoughts.thought_of', 'traffic.logs.trace_id')
    .where(sql<boolean>`${value} in (${sql.join(values)})`)
    .select([value.as('value'), sql<number>`avg(mean)`.as('feedback'), sql<number>`count(mean)`.as('with_feedback')])
    .groupBy(sql`1`)
    .execute()
  return new Map(
    rows.map(
      row => [String(row.value), {feedback: Number(row.feedback), with_feedback: Number(row.with_feedback)}] as const,
    ),
  )
}

export interface Seen {
  readonly name: string
  readonly first_seen: string
  readonly last_seen: string
}

/** When calls of each group came, the first and the last. */
export async function seenOf({kind, db}: AnalyticsReader, filter: LogFilter, by: Dimension): Promise<Seen[]> {
  const all = new Map<string, Seen>()
  for (const part of byDay(filter)) {
    const rows = await filteredRows(db, part)
      .select([
        nameOf(kind, by).as('name'),
        sql<string>`min(created_at)`.as('first_seen'),
        sql<string>`max(created_at)`.as('last_seen'),
      ])
      .groupBy(sql`1`)
      .execute()
    for (const row of rows) all.set(row.name, {...row, first_seen: all.get(row.name)?.first_seen ?? row.first_seen})
  }
  return [...all.values()]
}

export interface RecoveredByRetry {
  readonly bucket: string
  /** 0 where another target answered at its first try. */
  readonly retry_count: number
  readonly requests: number
}

/** Calls that went well after a retry or at another target. */
export async function rescuedOf({db}: AnalyticsReader, filter: LogFilter, bucket: Bucket): Promise<RecoveredByRetry[]> {
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
