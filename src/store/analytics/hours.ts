import {type RawBuilder, sql} from 'kysely'
import type {Db} from '../database.ts'
import type {LogFilter} from '../log-filter.ts'
import {retainedSince} from '../retention-start.ts'
import {isBound} from './days.ts'

const HOUR_MS = 3_600_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/

/** Whole hours, by the beginnings of the first and of the one behind the last. */
export interface Hours {
  readonly from: string
  readonly before: string
}

/** The sources of the answer: whole hours in the sums, the remainders at both ends in rows. */
export interface GraphSources {
  readonly rows: readonly LogFilter[]
  readonly hours: Hours | null
}

/** True when the sums are kept by all dimensions of the filter; `latency` are the sums of durations. */
export function isSummed(filter: LogFilter, sums: 'all' | 'latency' = 'all'): boolean {
  const {
    trace_id,
    span_id,
    metadata,
    user_ids,
    prompt_slug,
    total_tokens,
    prompt_tokens,
    completion_tokens,
    cost_nanousd,
    feedback,
  } = filter
  if ([trace_id, span_id, metadata, user_ids, prompt_slug].some(each => each !== undefined)) return false
  if ([total_tokens, prompt_tokens, completion_tokens, cost_nanousd, feedback].some(isBound)) return false
  if (sums === 'latency' && [filter.api_key_ids, filter.statuses, filter.providers, filter.configs].some(each => each))
    return false
  // sums know a provider by its slug alone
  return !filter.providers?.some(name => UUID.test(name))
}

/** The sources of the facts between two moments, both included. */
export async function sourcesOf({db}: {readonly db: Db}, filter: LogFilter, summed: boolean): Promise<GraphSources> {
  const {least, most} = filter.created_at ?? {}
  if (!summed || least === undefined || most === undefined) return {rows: [filter], hours: null}
  return parted(filter, await summedFrom(db), {least, most})
}

/**
 * The same for the rows that are there now: sums are kept for another time than rows, and count only from where both
 * are whole. A time may be open; the hour that has not ended is summed as far as it is.
 */
export async function sourcesOfKept(db: Db, filter: LogFilter): Promise<GraphSources> {
  if (!isSummed(filter)) return {rows: [filter], hours: null}
  const {least = EVER, most = NEVER} = filter.created_at ?? {}
  return parted(filter, await soundFrom(db), {least, most})
}

/** The first hour from which on all rows are there and in the sums. */
export async function soundFrom(db: Db): Promise<string> {
  const kept = [await retainedSince(db, 'logs'), await retainedSince(db, 'hours')].filter(at => at > EVER).map(nextHour)
  return [await summedFrom(db), ...kept].reduce((one, other) => (one > other ? one : other))
}

const EVER = '0000-01-01T00:00:00.000Z'
const NEVER = '9999-01-01T00:00:00.000Z'

/** The first hour of which all rows are in the sums. */
async function summedFrom(db: Db): Promise<string> {
  const meta = db.selectFrom('traffic.meta').select('value').where('key', '=', 'log_hourly_from')
  return (await meta.executeTakeFirst())?.value ?? ''
}

function parted(filter: LogFilter, begin: string, {least, most}: {least: string; most: string}): GraphSources {
  const whole = nextHour(least)
  const from = whole > begin ? whole : begin
  const before = new Date(Math.floor((Date.parse(most) + 1) / HOUR_MS) * HOUR_MS).toISOString()
  if (from >= before) return {rows: [filter], hours: null}
  const rows = []
  if (least < from) rows.push({...filter, created_at: {least, most: beforeThat(from)}})
  if (most >= before) rows.push({...filter, created_at: {least: before, most}})
  return {rows, hours: {from, before}}
}

/**
 * The sums of these hours that a filter finds: the totals of workspaces where it names nothing that those do not know,
 * and none is requested.
 */
export function hourlySums(db: Db, filter: LogFilter, hours: Hours, by_name: boolean) {
  const named = [filter.api_key_ids, filter.models, filter.provider_models, filter.providers, filter.configs].some(
    each => each,
  )
  let sums = db
    .selectFrom('traffic.log_hourly')
    .where('workspace_id', 'in', ownWorkspaces(filter))
    .where('grain', '=', named || by_name ? 1 : 0)
    .where('hour', '>=', hours.from)
    .where('hour', '<', hours.before)
  if (filter.statuses) sums = sums.where('status', 'in', filter.statuses)
  if (filter.api_key_ids) sums = sums.where('api_key_id', 'in', filter.api_key_ids)
  if (filter.models) sums = sums.where('model', 'in', filter.models)
  if (filter.provider_models) sums = sums.where(eitherModel(filter.provider_models))
  if (filter.providers) sums = sums.where('provider_slug', 'in', filter.providers)
  if (filter.configs) sums = sums.where('config_id', 'in', configIds(filter, filter.configs))
  return sums
}

/** The workspaces of the scope; archived ones have a past too. */
export function ownWorkspaces({organisation_id, workspace_id}: LogFilter): RawBuilder<string> {
  const own = workspace_id === undefined ? sql`` : sql`and id = ${workspace_id}`
  return sql<string>`(select id from workspaces where organisation_id = ${organisation_id} ${own})`
}

export function eitherModel(models: NonNullable<LogFilter['provider_models']>): RawBuilder<boolean> {
  const each = models.map(({provider, model}) => sql`(provider = ${provider} and model = ${model})`)
  return sql<boolean>`(${sql.join(each, sql` or `)})`
}

function configIds({organisation_id}: LogFilter, named: readonly string[]): RawBuilder<string> {
  const names = sql.join(named)
  return sql<string>`(select id from configs where organisation_id = ${organisation_id} and (id in (${names}) or slug in (${names})))`
}

const nextHour = (time: string) => new Date(Math.ceil(Date.parse(time) / HOUR_MS) * HOUR_MS).toISOString()
const beforeThat = (time: string) => new Date(Date.parse(time) - 1).toISOString()
