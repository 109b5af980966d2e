import {type SelectQueryBuilder, SqliteAdapter, sql} from 'kysely'
import {ownWorkspaces} from './analytics/hours.ts'
import type {Database, Db} from './database.ts'
import type {LogFilter, LogScope, ValueRange} from './log-filter.ts'
import {firstIdFrom} from './retention.ts'

export type Rows = SelectQueryBuilder<Database, 'traffic.logs', unknown>

export function rowsOf(db: Db, {organisation_id, workspace_id, user_ids}: LogScope, by: 'time' | 'trace'): Rows {
  const all = db.selectFrom('traffic.logs').where('organisation_id', '=', organisation_id)
  const rows = user_ids ? all.where('user_id', 'in', user_ids) : all
  if (workspace_id === undefined) return rows
  // The few rows of a trace have an index of their own, which is taken only where the workspace's cannot be.
  return by === 'time'
    ? rows.where('workspace_id', '=', workspace_id)
    : rows.where(sql`workspace_id || ''`, '=', workspace_id)
}

/**
 * The rows that a filter finds, in no order: by the index of time, which knows workspaces alone and answers most
 * questions without the rows, or by that of traces. A workspace is of one organisation for ever, and archived ones
 * stay.
 */
export function filteredRows(
  db: Db,
  filter: LogFilter,
  by: 'time' | 'trace' = filter.trace_id === undefined ? 'time' : 'trace',
): Rows {
  if (by === 'trace') return narrowed(db, rowsOf(db, filter, by), filter)
  const {user_ids} = filter
  const rows = db.selectFrom('traffic.logs').where('workspace_id', 'in', ownWorkspaces(filter))
  return narrowed(db, user_ids ? rows.where('user_id', 'in', user_ids) : rows, filter)
}

/** The same rows in the order of the log, which an index has: that of an organisation begins where the time ends. */
export function listedRows(db: Db, filter: LogFilter): Rows {
  const rows = narrowed(db, rowsOf(db, filter, filter.trace_id === undefined ? 'time' : 'trace'), filter)
  const most = filter.created_at?.most
  if (filter.workspace_id !== undefined || filter.trace_id !== undefined || most === undefined) return rows
  return rows.where('id', '<', firstIdFrom(Date.parse(most) + LONGEST_CALL_MS))
}

/** A later attempt has the time of its call, and an id of its own moment. */
const LONGEST_CALL_MS = 86_400_000

function narrowed(db: Db, rows: Rows, filter: LogFilter): Rows {
  const {provider_models, providers, configs, organisation_id} = filter
  let left = within(rows, sql.ref('created_at'), filter.created_at)
  left = within(left, sql`prompt_tokens + completion_tokens`, filter.total_tokens)
  left = within(left, sql.ref('prompt_tokens'), filter.prompt_tokens)
  left = within(left, sql.ref('completion_tokens'), filter.completion_tokens)
  left = within(left, sql.ref('cost_nanousd'), filter.cost_nanousd)
  if (filter.trace_id !== undefined) left = left.where('trace_id', 'in', filter.trace_id)
  if (filter.span_id !== undefined) left = left.where('span_id', '=', filter.span_id)
  if (filter.feedback?.least !== undefined || filter.feedback?.most !== undefined)
    left = left.where('trace_id', 'in', thoughtOf(filter))
  if (filter.models) left = left.where('model', 'in', filter.models)
  if (filter.statuses) left = left.where('status', 'in', filter.statuses)
  if (filter.api_key_ids) left = left.where('api_key_id', 'in', filter.api_key_ids)
  if (providers) left = left.where(e => e.or([e('provider_slug', 'in', providers), e('provider_id', 'in', providers)]))
  if (provider_models) {
    left = left.where(e =>
      e.or(provider_models.map(({provider, model}) => e.and([e('provider', '=', provider), e('model', '=', model)]))),
    )
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
    // Metadata is one flat JSON object of texts, and a quote inside a text is escaped: a member is found by how it is
    // written.
    const member = `${JSON.stringify(key)}:${JSON.stringify(value)}`
    left = left.where(sql<boolean>`${sql.raw(isSqlite(db) ? 'instr' : 'strpos')}(metadata, ${member}) > 0`)
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

function within<T extends string | number>(
  rows: Rows,
  value: ReturnType<typeof sql>,
  {least, most}: ValueRange<T> = {},
): Rows {
  const above = least === undefined ? rows : rows.where(sql<boolean>`${value} >= ${least}`)
  return most === undefined ? above : above.where(sql<boolean>`${value} <= ${most}`)
}

const isSqlite = (db: Db) => db.getExecutor().adapter instanceof SqliteAdapter
