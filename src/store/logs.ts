import {type Selectable, sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {LogRecord} from '../schema/records.ts'
import {isSummed} from './analytics/hours.ts'
import type {Db} from './database.ts'
import {OTHER_PARTS} from './flush/unpriced.ts'
import {countLogs} from './log-counts.ts'
import type {LogFilter, LogScope} from './log-filter.ts'
import {filteredRows, listedRows, type Rows, rowsOf} from './log-rows.ts'
import {anyOf} from './rows.ts'
import type {LogObjectsTable, LogsTable} from './tables/traffic.ts'

export type {LogFilter, LogScope, ValueRange} from './log-filter.ts'

/** Columns that older rows do not have: their detail says it. */
type SummedBy = 'duration_ms' | 'cache_status' | 'retry_count' | 'is_rescued'

/**
 * A row of the log: its columns, what else was recorded, and the names of what it speaks of; null where there is no
 * such thing any more.
 */
export interface LogRow
  extends Omit<Selectable<LogsTable>, 'detail' | SummedBy>,
    Omit<LogRecord, Exclude<keyof LogsTable, SummedBy> | 'response_status'> {
  readonly organisation_name: string | null
  readonly workspace_slug: string | null
  readonly config_slug: string | null
  readonly api_key_name: string | null
  /** How the key of its object was made; null when its bodies are in no store of objects. */
  readonly log_format: LogObjectsTable['format'] | null
}

/**
 * Newest first: by the moment of the call, then by id. Ids are UUIDs of version 7 made of that moment, so that their
 * order is the same one; across workspaces it is the order that has an index. Where the sums cannot count, a page that
 * is the last tells how many there are.
 */
export async function listLogs(db: Db, filter: LogFilter, {current_page, page_size}: Page): Promise<Paged<LogRow>> {
  const offset = current_page * page_size
  if (filter.workspace_id !== undefined && !isSummed(filter)) {
    const found = await listedPage(db, filter, {limit: page_size + 1, offset})
    const is_last = found.length <= page_size && (found.length > 0 || offset === 0)
    return {total: is_last ? offset + found.length : await countLogs(db, filter), rows: found.slice(0, page_size)}
  }
  const total = await countLogs(db, filter)
  if (offset >= total) return {total, rows: []}
  const limit = Math.min(page_size, total - offset) // so that none is looked for behind the last
  const rows = filter.workspace_id === undefined && total <= FEW ? filteredRows : listedRows
  return {total, rows: await listedPage(db, filter, {limit, offset}, rows)}
}

/** So many are sorted sooner than found among all rows of an organisation, whose index knows time alone. */
const FEW = 1000

async function listedPage(
  db: Db,
  filter: LogFilter,
  {limit, offset}: {readonly limit: number; readonly offset: number},
  of: typeof listedRows = listedRows,
): Promise<LogRow[]> {
  const rows = named(of(db, filter))
  const in_time = of === listedRows && filter.workspace_id === undefined ? rows : rows.orderBy('created_at', 'desc')
  return (await in_time.orderBy('id', 'desc').limit(limit).offset(offset).execute()).map(whole)
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

/** The time and the number of an id, and as much more of it as there is. */
const BEGINNING_OF_ID = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}(?:-[\da-f-]{0,16})?$/

/** The row of an id, or of the beginning of one that no other row has, as narrow terminals show it. */
export async function findLog(db: Db, scope: LogScope, id: string): Promise<LogRow | undefined> {
  const all = rowsOf(db, scope, 'time')
  const meant = BEGINNING_OF_ID.test(id)
    ? all.where('id', '>=', id).where('id', '<', `${id}g`)
    : all.where('id', '=', id)
  const [found, other] = await named(meant).limit(2).execute()
  return found && !other ? whole(found) : undefined
}

export interface UnpricedModel {
  readonly provider: string
  /** Empty where the call named none. */
  readonly model: string
  readonly requests: number
  /** The hour of the last of them, by its beginning. */
  readonly last_seen: string
  /**
   * The parts of the model's usage that have no price, the most used first; none when all of it has one, or an earlier
   * version counted.
   */
  readonly units: readonly string[]
  /** The same with how often, and with modes, unknown numbers and unmetered endpoints. */
  readonly parts: readonly UnpricedPart[]
}

export interface UnpricedPart {
  readonly kind: 'unit' | keyof typeof OTHER_PARTS
  readonly name: string
  readonly requests: number
}

/**
 * The usage without a price in the hours since `since_at`, the most used first. From the hourly sums, which are kept
 * longer than rows.
 */
export async function unpricedModels(
  db: Db,
  scope: LogScope,
  since_at: string,
  page: Page,
): Promise<Paged<UnpricedModel>> {
  const whole = db
    .selectFrom('traffic.usage_hourly')
    .where(within(db, scope, since_at))
    .where('unpriced', '>', 0)
    .select(['provider', 'model', 'hour', 'unpriced as requests'])
  // Modes are charged: no sum of what is unpriced has them.
  const parts = db
    .selectFrom('traffic.unpriced_hourly')
    .where(within(db, scope, since_at))
    .select(e => ['provider', 'model', 'hour', e.val(0).as('requests')])
  const models = db
    .selectFrom(whole.unionAll(parts).as('seen'))
    .groupBy(['provider', 'model'])
    .select(e => ['provider', 'model', e.fn.sum<number>('requests').as('requests'), e.fn.max('hour').as('last_seen')])
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
  const found = await partsOf(db, scope, since_at, rows)
  const viewed = (row: (typeof rows)[number]): UnpricedModel => {
    const own = found.filter(({provider, model}) => provider === row.provider && model === row.model).map(partOf)
    const requests = Math.max(Number(row.requests), ...own.map(part => part.requests))
    return {...row, requests, units: own.filter(({kind}) => kind === 'unit').map(({name}) => name), parts: own}
  }
  return {total: Number(n), rows: rows.map(viewed)}
}

function partOf({unit, requests}: {readonly unit: string; readonly requests: number}): UnpricedPart {
  for (const [kind, prefix] of Object.entries(OTHER_PARTS))
    if (unit.startsWith(prefix))
      return {kind: kind as keyof typeof OTHER_PARTS, name: unit.slice(prefix.length), requests: Number(requests)}
  return {kind: 'unit', name: unit, requests: Number(requests)}
}

/** The parts of these models' usage that have no price, the most used first. */
async function partsOf(db: Db, scope: LogScope, since_at: string, models: readonly {readonly model: string}[]) {
  if (models.length === 0) return []
  const of = anyOf(models.map(({model}) => model))
  return await db
    .selectFrom('traffic.unpriced_hourly')
    .where(within(db, scope, since_at))
    .where('model', 'in', of)
    .groupBy(['provider', 'model', 'unit'])
    .select(e => ['provider', 'model', 'unit', e.fn.sum<number>('requests').as('requests')])
    .orderBy(e => e.fn.sum('requests'), 'desc')
    .orderBy('unit')
    .execute()
}

/** Hours of the scope since then. */
function within(db: Db, {organisation_id, workspace_id, user_ids}: LogScope, since_at: string) {
  const conditions = [sql`organisation_id = ${organisation_id}`, sql`hour >= ${`${since_at.slice(0, 13)}:00:00.000Z`}`]
  if (workspace_id !== undefined) conditions.push(sql`workspace_id = ${workspace_id}`)
  if (user_ids !== undefined)
    conditions.push(
      sql`api_key_id in ${db.selectFrom('api_keys').select('id').where('user_id', 'in', anyOf(user_ids))}`,
    )
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
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
      e
        .selectFrom('workspaces')
        .select('workspaces.slug')
        .whereRef('workspaces.id', '=', 'traffic.logs.workspace_id')
        .as('workspace_slug'),
      e
        .selectFrom('api_keys')
        .select('api_keys.name')
        .whereRef('api_keys.id', '=', 'traffic.logs.api_key_id')
        .as('api_key_name'),
      e
        .selectFrom('configs')
        .select('configs.slug')
        .whereRef('configs.id', '=', 'traffic.logs.config_id')
        .as('config_slug'),
      e.selectFrom('traffic.log_objects').select('format').whereRef('log_id', '=', 'traffic.logs.id').as('log_format'),
    ])
}

/** A row as it is stored, its detail unfolded; where both say a thing the column counts, if it has it. */
function whole<T extends Pick<LogsTable, 'detail' | SummedBy>>({
  detail,
  duration_ms,
  cache_status,
  retry_count,
  is_rescued,
  ...row
}: T) {
  const {response_status, ...recorded} = JSON.parse(detail) as LogRecord
  return {
    ...recorded,
    cache_status: cache_status ?? recorded.cache_status,
    retry_count: retry_count ?? recorded.retry_count,
    ...row,
  }
}
