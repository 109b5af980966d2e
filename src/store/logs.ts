import {type Selectable, type SelectQueryBuilder, sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {LogRecord} from '../schema/records.ts'
import {hourlySums, ownWorkspaces, sourcesOfKept} from './analytics/hours.ts'
import type {Database, Db} from './database.ts'
import type {LogFilter, LogScope, Range} from './log-filter.ts'
import type {LogObjectsTable, LogsTable} from './tables/traffic.ts'

export type {LogFilter, LogScope, Range} from './log-filter.ts'

/** Columns that only repeat for sums what the detail says. */
type SummedBy = 'duration_ms' | 'cache_status' | 'retry_count' | 'is_rescued'

/** A row of the log: its columns, what else was recorded, and the names of what it speaks of; null where there is no such thing any more. */
export interface LogRow
  extends Omit<Selectable<LogsTable>, 'detail' | SummedBy>,
    Omit<LogRecord, Exclude<keyof LogsTable, SummedBy> | 'response_status'> {
  readonly organisation_name: string | null
  readonly workspace_slug: string | null
  readonly config_slug: string | null
  /** How the key of its object was made; null where its bodies lie in no store of objects. */
  readonly log_format: LogObjectsTable['format'] | null
}

type Rows = SelectQueryBuilder<Database, 'traffic.logs', unknown>

/**
 * Newest first: by the moment of the call, then by id. Ids are UUIDs of version 7 made of that moment, so that their order is the same
 * one; across workspaces it is the order that has an index.
 */
export async function listLogs(db: Db, filter: LogFilter, page: Page): Promise<Paged<LogRow>> {
  const total = await countLogs(db, filter)
  const offset = page.current_page * page.page_size
  if (offset >= total) return {total, rows: []}
  const rows = named(listedRows(db, filter))
  const ordered = filter.workspace_id === undefined ? rows : rows.orderBy('created_at', 'desc')
  const found = await ordered
    .orderBy('id', 'desc')
    .limit(Math.min(page.page_size, total - offset)) // so that none is looked for behind the last
    .offset(offset)
    .execute()
  return {total, rows: found.map(whole)}
}

/** The rows behind `after`, newest first: pages that do not move while rows come in. */
export async function logsBehind(
  db: Db,
  filter: LogFilter,
  after: Pick<LogRow, 'created_at' | 'id'> | undefined,
  {limit, offset = 0}: {readonly limit: number; readonly offset?: number},
): Promise<LogRow[]> {
  let rows = named(listedRows(db, filter))
  if (after) rows = rows.where(sql<boolean>`(created_at, id) < (${after.created_at}, ${after.id})`)
  const found = await rows.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
  return found.map(whole)
}

/** How many rows a filter finds; whole hours are taken from their sums, where these know what it names. */
export async function countLogs(db: Db, filter: LogFilter): Promise<number> {
  const {rows, hours} = await sourcesOfKept(db, filter)
  let count = 0
  for (const part of rows) {
    const counted = filteredRows(db, part).select(e => e.fn.countAll<number>().as('n'))
    count += Number((await counted.executeTakeFirstOrThrow()).n)
  }
  if (!hours) return count
  const summed = hourlySums(db, filter, hours, false).select(e => e.fn.sum<number | null>('requests').as('n'))
  return count + Number((await summed.executeTakeFirstOrThrow()).n ?? 0)
}

export async function findLog(db: Db, scope: LogScope, id: string): Promise<LogRow | undefined> {
  const found = await named(rowsOf(db, scope, 'time').where('id', '=', id)).executeTakeFirst()
  return found && whole(found)
}

export interface UnpricedModel {
  readonly provider: string
  /** Empty where the call named none. */
  readonly model: string
  readonly requests: number
  /** The hour of the last of them, by its beginning. */
  readonly last_seen: string
}

/** What was used without a price in the hours since `since_at`, the most used first. From the hourly sums, which are kept longer than rows. */
export async function unpricedModels(db: Db, scope: LogScope, since_at: string, page: Page): Promise<Paged<UnpricedModel>> {
  let hours = db
    .selectFrom('traffic.usage_hourly')
    .where('organisation_id', '=', scope.organisation_id)
    .where('hour', '>=', `${since_at.slice(0, 13)}:00:00.000Z`)
    .where('unpriced', '>', 0)
    .groupBy(['provider', 'model'])
  if (scope.workspace_id !== undefined) hours = hours.where('workspace_id', '=', scope.workspace_id)
  if (scope.user_ids !== undefined)
    hours = hours.where('api_key_id', 'in', db.selectFrom('api_keys').select('id').where('user_id', 'in', scope.user_ids))
  const models = hours.select(e => ['provider', 'model', e.fn.sum<number>('unpriced').as('requests'), e.fn.max('hour').as('last_seen')])
  const {n} = await db
    .selectFrom(models.as('models'))
    .select(e => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const rows = await models
    .orderBy('requests', 'desc')
    .orderBy('provider')
    .orderBy('model')
    .limit(page.page_size)
    .offset(page.current_page * page.page_size)
    .execute()
  return {total: Number(n), rows: rows.map(row => ({...row, requests: Number(row.requests)}))}
}

function rowsOf(db: Db, {organisation_id, workspace_id, user_ids}: LogScope, by: 'time' | 'trace'): Rows {
  const all = db.selectFrom('traffic.logs').where('organisation_id', '=', organisation_id)
  const rows = user_ids ? all.where('user_id', 'in', user_ids) : all
  if (workspace_id === undefined) return rows
  // The few rows of a trace have an index of their own, which is taken only where the workspace's cannot be.
  return by === 'time' ? rows.where('workspace_id', '=', workspace_id) : rows.where(sql`workspace_id || ''`, '=', workspace_id)
}

/**
 * The rows that a filter finds, in no order: by the index of time, which knows workspaces alone and answers most questions without the
 * rows, or by that of traces. A workspace is of one organisation for ever, and archived ones stay.
 */
export function filteredRows(db: Db, filter: LogFilter, by: 'time' | 'trace' = filter.trace_id === undefined ? 'time' : 'trace'): Rows {
  if (by === 'trace') return narrowed(rowsOf(db, filter, by), filter)
  const {user_ids} = filter
  const rows = db.selectFrom('traffic.logs').where('workspace_id', 'in', ownWorkspaces(filter))
  return narrowed(user_ids ? rows.where('user_id', 'in', user_ids) : rows, filter)
}

/** The same rows in the order of the log, which an index has. */
function listedRows(db: Db, filter: LogFilter): Rows {
  return narrowed(rowsOf(db, filter, filter.trace_id === undefined ? 'time' : 'trace'), filter)
}

function narrowed(rows: Rows, filter: LogFilter): Rows {
  const {provider_models, providers, configs, organisation_id} = filter
  let left = within(rows, sql.ref('created_at'), filter.created_at)
  left = within(left, sql`prompt_tokens + completion_tokens`, filter.total_tokens)
  left = within(left, sql.ref('prompt_tokens'), filter.prompt_tokens)
  left = within(left, sql.ref('completion_tokens'), filter.completion_tokens)
  left = within(left, sql.ref('cost_nanousd'), filter.cost_nanousd)
  if (filter.trace_id !== undefined) left = left.where('trace_id', '=', filter.trace_id)
  if (filter.span_id !== undefined) left = left.where('span_id', '=', filter.span_id)
  if (filter.feedback?.least !== undefined || filter.feedback?.most !== undefined) left = left.where('trace_id', 'in', thoughtOf(filter))
  if (filter.models) left = left.where('model', 'in', filter.models)
  if (filter.statuses) left = left.where('status', 'in', filter.statuses)
  if (filter.api_key_ids) left = left.where('api_key_id', 'in', filter.api_key_ids)
  if (providers) left = left.where(e => e.or([e('provider_slug', 'in', providers), e('provider_id', 'in', providers)]))
  if (provider_models) {
    left = left.where(e => e.or(provider_models.map(({provider, model}) => e.and([e('provider', '=', provider), e('model', '=', model)]))))
  }
  if (configs) {
    left = left.where('config_id', 'in', e =>
      e
        .selectFrom('configs')
        .select('configs.id')
        .where('configs.organisation_id', '=', organisation_id)
        .where(c => c.or([c('configs.id', 'in', configs), c('configs.slug', 'in', configs)])),
    )
  }
  if (filter.prompt_slug !== undefined) {
    const member = `"prompt":{"slug":${JSON.stringify(filter.prompt_slug)},`
    left = left.where(sql<boolean>`replace(detail, ${member}, '') <> detail`)
  }
  for (const [key, value] of Object.entries(filter.metadata ?? {})) {
    // Metadata is one flat JSON object of texts, and a quote inside a text is escaped: a member is found by how it is written.
    const member = `${JSON.stringify(key)}:${JSON.stringify(value)}`
    left = left.where(sql<boolean>`replace(metadata, ${member}, '') <> metadata`)
  }
  return left
}

/** The traces whose mean feedback lies within the bounds. */
function thoughtOf({organisation_id, feedback = {}}: LogFilter) {
  const mean = sql`avg(value * weight)`
  const bounds = [
    ...(feedback.least === undefined ? [] : [sql`${mean} >= ${feedback.least}`]),
    ...(feedback.most === undefined ? [] : [sql`${mean} <= ${feedback.most}`]),
  ]
  return sql<string>`(select trace_id from traffic.feedback where organisation_id = ${organisation_id}
    group by trace_id having ${sql.join(bounds, sql` and `)})`
}

function within<T extends string | number>(rows: Rows, value: ReturnType<typeof sql>, {least, most}: Range<T> = {}): Rows {
  const above = least === undefined ? rows : rows.where(sql<boolean>`${value} >= ${least}`)
  return most === undefined ? above : above.where(sql<boolean>`${value} <= ${most}`)
}

/** The names are looked up for the rows that are given, not for those that are skipped. */
function named(rows: Rows) {
  return rows
    .selectAll()
    .select(e => [
      e
        .selectFrom('organisations')
        .select('organisations.name')
        .whereRef('organisations.id', '=', 'traffic.logs.organisation_id')
        .as('organisation_name'),
      e.selectFrom('workspaces').select('workspaces.slug').whereRef('workspaces.id', '=', 'traffic.logs.workspace_id').as('workspace_slug'),
      e.selectFrom('configs').select('configs.slug').whereRef('configs.id', '=', 'traffic.logs.config_id').as('config_slug'),
      e.selectFrom('traffic.log_objects').select('format').whereRef('log_id', '=', 'traffic.logs.id').as('log_format'),
    ])
}

/** A row as it is stored, its detail unfolded; where both say a thing the column counts. */
function whole<T extends Pick<LogsTable, 'detail' | SummedBy>>({detail, duration_ms, cache_status, retry_count, is_rescued, ...row}: T) {
  const {response_status, ...recorded} = JSON.parse(detail) as LogRecord
  return {...recorded, ...row}
}
