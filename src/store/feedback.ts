import {sql} from 'kysely'
import {isObject} from '../base/json-object.ts'
import {BUCKETS, type Bucket} from './analytics/facts.ts'
import type {AnalyticsReader} from './analytics/reader.ts'
import type {Db} from './database.ts'
import type {LogFilter} from './log-filter.ts'
import {filteredRows} from './log-rows.ts'
import type {FeedbackTable} from './tables/traffic.ts'

export async function insertFeedback(db: Db, rows: readonly FeedbackTable[]): Promise<void> {
  await db
    .insertInto('traffic.feedback')
    .values([...rows])
    .execute()
}

export interface FeedbackScope {
  readonly organisation_id: string
  readonly workspace_id: string | undefined
  /** Only feedback of these users, or on their calls. */
  readonly user_ids?: readonly string[] | undefined
}

/** True when this feedback is in the scope. */
export async function updateFeedback(
  db: Db,
  scope: FeedbackScope,
  id: string,
  change: Partial<FeedbackTable>,
): Promise<boolean> {
  const {organisation_id, workspace_id, user_ids} = scope
  let own = db.selectFrom('traffic.feedback').where('id', '=', id).where('organisation_id', '=', organisation_id)
  if (workspace_id !== undefined) own = own.where('workspace_id', '=', workspace_id)
  const row = await own.select(['trace_id', 'user_id']).executeTakeFirst()
  if (!row) return false
  if (user_ids && !user_ids.includes(row.user_id ?? '')) {
    const seen = await filteredRows(db, {...scope, trace_id: [row.trace_id]})
      .select('id')
      .limit(1)
      .executeTakeFirst()
    if (!seen) return false
  }
  await db.updateTable('traffic.feedback').set(change).where('id', '=', id).execute()
  return true
}

/** The feedback on a trace, the oldest first. */
export function feedbackOn(db: Db, organisation_id: string, trace_id: string): Promise<FeedbackTable[]> {
  const of = db.selectFrom('traffic.feedback').selectAll().where('organisation_id', '=', organisation_id)
  return of.where('trace_id', '=', trace_id).orderBy('created_at').orderBy('id').execute()
}

export interface FeedbackSum {
  readonly bucket: string
  readonly value: number
  readonly total: number
  /** Sum of values times weights. */
  readonly weighted: number
}

/** Feedback of a time, by bucket and value. Filters of calls find what was thought of their traces. */
export async function feedbackSums({db}: AnalyticsReader, filter: LogFilter, bucket: Bucket): Promise<FeedbackSum[]> {
  const rows = await matching(db, filter)
    .select([
      sql<string>`substr(created_at, 1, ${sql.lit(BUCKETS[bucket])})`.as('bucket'),
      'value',
      sql<number>`count(*)`.as('total'),
      sql<number>`sum(value * weight)`.as('weighted'),
    ])
    .groupBy(sql`1, 2`)
    .execute()
  return rows.map(row => ({
    bucket: row.bucket,
    value: Number(row.value),
    total: Number(row.total),
    weighted: Number(row.weighted),
  }))
}

export interface ModelFeedback {
  readonly model: string
  readonly total: number
  readonly mean: number
}

/** The same by the models that the traces called, the most first. */
export async function modelFeedback({db}: AnalyticsReader, filter: LogFilter): Promise<ModelFeedback[]> {
  const called = filteredRows(db, {...filter, created_at: {}}, 'trace')
    .where('trace_id', 'in', matching(db, filter).select('trace_id'))
    .where('model', 'is not', null)
    .select([sql<string>`trace_id`.as('called_in'), 'model'])
    .distinct()
  const rows = await matching(db, filter)
    .innerJoin(called.as('called'), 'called.called_in', 'traffic.feedback.trace_id')
    .select(['called.model as model', sql<number>`count(*)`.as('total'), sql<number>`avg(value * weight)`.as('mean')])
    .groupBy('called.model')
    .orderBy('total', 'desc')
    .orderBy('called.model')
    .execute()
  return rows.map(row => ({model: row.model!, total: Number(row.total), mean: Number(row.mean)}))
}

function matching(db: Db, filter: LogFilter) {
  const {organisation_id, workspace_id, created_at, user_ids, ...calls} = filter
  let rows = db.selectFrom('traffic.feedback').where('organisation_id', '=', organisation_id)
  if (workspace_id !== undefined) rows = rows.where('workspace_id', '=', workspace_id)
  if (created_at?.least !== undefined) rows = rows.where('created_at', '>=', created_at.least)
  if (created_at?.most !== undefined) rows = rows.where('created_at', '<=', created_at.most)
  if (user_ids === undefined && !narrows(calls)) return rows
  const called = filteredRows(db, {...filter, created_at: {}}, 'trace')
  return rows.where(e =>
    e.exists(called.where(sql<boolean>`traffic.logs.trace_id = traffic.feedback.trace_id`).select('traffic.logs.id')),
  )
}

function narrows(calls: object): boolean {
  const is_said = (value: unknown): boolean =>
    isObject(value) ? Object.values(value).some(is_said) : value !== undefined && value !== false
  return Object.values(calls).some(is_said)
}
