import {type AliasedRawBuilder, type RawBuilder, sql} from 'kysely'
import {addCount, LATENCY_GROWTH} from '../../schema/latency.ts'
import type {LogFilter} from '../log-filter.ts'
import {filteredRows} from '../log-rows.ts'
import {byDay, dayOf} from './days.ts'
import {eitherModel, type Hours, hourlySums, isSummed, ownWorkspaces, sourcesOf} from './hours.ts'
import {type AnalyticsReader, promptIn, summed, WENT_WELL} from './reader.ts'

/** The sums of calls of one place in time, one status and one state of the cache. */
export interface Fact {
  /** The beginning of an ISO time, as far as `BUCKETS` says. */
  readonly bucket: string
  /** The value they are grouped by; empty when they are not grouped, or it has no name. */
  readonly name: string
  readonly status: number
  readonly cache_status: string
  readonly requests: number
  readonly successes: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cost_nanousd: number
  readonly duration_ms: number
}

/** How many characters of a time name its bucket; `all` makes one of the whole. */
export const BUCKETS = {all: 0, day: 10, hour: 13, minute: 16} as const
export type Bucket = keyof typeof BUCKETS

/** Facts can be grouped by columns, and by values that are made of them or of the detail of rows. */
export type Dimension = Column | 'mcp_server' | OfRows
/** Hourly sums know no endpoint, and no prompt. */
type OfRows = 'prompt' | 'mcp_tool'
const OF_ROWS: ReadonlySet<Dimension> = new Set<OfRows>(['prompt', 'mcp_tool'])
type Column = 'provider' | 'model' | 'status' | 'api_key_id' | 'config_id' | 'workspace_id' | 'provider_slug'

/** A workspace's totals are kept apart from what is named: they are far fewer. */
const OF_TOTALS: ReadonlySet<Dimension> = new Set(['status', 'workspace_id'])

export async function factsOf(
  reader: AnalyticsReader,
  filter: LogFilter,
  bucket: Bucket,
  by?: Dimension,
): Promise<Fact[]> {
  const {rows, hours} = await sourcesOf(
    reader,
    filter,
    bucket !== 'minute' && !(by && OF_ROWS.has(by)) && isSummed(filter),
  )
  const facts = []
  for (const part of rows.flatMap(byDay)) facts.push(...(await fromRows(reader, part, bucket, by)))
  if (hours) facts.push(...(await fromHours(reader, filter, hours, bucket, by)))
  return facts.map(numbered)
}

/** How many calls took how long, by what they are grouped by and by bucket of latency. */
export interface Latencies {
  readonly bucket: string
  readonly name: string
  readonly counts: Map<number, number>
}

export async function latenciesOf(
  reader: AnalyticsReader,
  filter: LogFilter,
  bucket: Bucket,
  by?: Dimension,
): Promise<Latencies[]> {
  const is_kept = by === undefined || by === 'provider' || by === 'model' || by === 'workspace_id'
  const {rows, hours} = await sourcesOf(reader, filter, bucket !== 'minute' && is_kept && isSummed(filter, 'latency'))
  const found: LatencyRow[] = []
  for (const part of rows.flatMap(byDay)) found.push(...(await latencyRows(reader, part, bucket, by)))
  if (hours) found.push(...(await latencyHours(reader, filter, hours, bucket, by)))
  const all = new Map<string, Latencies>()
  for (const row of found) {
    const key = `${row.bucket}\0${row.name}`
    const each = all.get(key) ?? {bucket: row.bucket, name: String(row.name), counts: new Map()}
    all.set(key, each)
    addCount(each.counts, Number(row.latency), Number(row.requests))
  }
  return [...all.values()]
}

interface LatencyRow {
  readonly bucket: string
  readonly name: string
  readonly latency: number
  readonly requests: number
}

type Raw = {readonly [column in keyof Fact]: string | number}

async function fromRows(
  {kind, db}: AnalyticsReader,
  filter: LogFilter,
  bucket: Bucket,
  by: Dimension | undefined,
): Promise<Raw[]> {
  const {keys, same} = keysOf(kind, filter, bucket, by)
  const rows = await filteredRows(db, filter)
    .select([
      ...keys,
      'status',
      sql<string>`cache_status`.as('cache_status'),
      sql<number>`count(*)`.as('requests'),
      summed(sql`case when ${WENT_WELL} then 1 else 0 end`).as('successes'),
      summed(sql`prompt_tokens`).as('prompt_tokens'),
      summed(sql`completion_tokens`).as('completion_tokens'),
      summed(sql`cost_nanousd`).as('cost_nanousd'),
      summed(sql`duration_ms`).as('duration_ms'),
    ])
    .groupBy(first(keys.length + 2))
    .execute()
  return rows.map(row => ({...same, ...row}))
}

function fromHours(
  {kind, db}: AnalyticsReader,
  filter: LogFilter,
  hours: Hours,
  bucket: Bucket,
  by: Dimension | undefined,
): Promise<readonly Raw[]> {
  return hourlySums(db, filter, hours, by !== undefined && !OF_TOTALS.has(by))
    .select([
      place('hour', bucket).as('bucket'),
      nameOf(kind, by).as('name'),
      'status',
      'cache_status',
      summed(sql`requests`).as('requests'),
      summed(sql`successes`).as('successes'),
      summed(sql`prompt_tokens`).as('prompt_tokens'),
      summed(sql`completion_tokens`).as('completion_tokens'),
      summed(sql`cost_nanousd`).as('cost_nanousd'),
      summed(sql`duration_ms`).as('duration_ms'),
    ])
    .groupBy(sql`1, 2, 3, 4`)
    .execute()
}

async function latencyRows(
  {kind, db}: AnalyticsReader,
  filter: LogFilter,
  bucket: Bucket,
  by: Dimension | undefined,
): Promise<LatencyRow[]> {
  const {keys, same} = keysOf(kind, filter, bucket, by)
  const least = kind === 'sqlite' ? sql`max(duration_ms, 1)` : sql`greatest(duration_ms, 1)`
  const rows = await filteredRows(db, filter)
    .select([
      ...keys,
      sql<number>`cast(floor(ln(${least}) / ${sql.lit(LATENCY_GROWTH)}) as integer)`.as('latency'),
      sql<number>`count(*)`.as('requests'),
    ])
    .groupBy(first(keys.length + 1))
    .execute()
  return rows.map(row => ({...same, ...row}))
}

/** By what rows of some days are grouped, and what is the same of all of them: that need not be sorted by. */
function keysOf(kind: AnalyticsReader['kind'], filter: LogFilter, bucket: Bucket, by: Dimension | undefined) {
  const one = bucket === 'all' ? '' : bucket === 'day' ? dayOf(filter) : undefined
  const keys: AliasedRawBuilder<string, 'bucket' | 'name'>[] = []
  if (one === undefined) keys.push(place('created_at', bucket).as('bucket'))
  if (by !== undefined) keys.push(nameOf(kind, by).as('name'))
  return {keys, same: {bucket: one ?? '', name: ''}}
}

/** The first `count` columns, to group by. */
const first = (count: number) => sql`${sql.raw(Array.from({length: count}, (_, at) => at + 1).join(', '))}`

function latencyHours(
  {kind, db}: AnalyticsReader,
  filter: LogFilter,
  hours: Hours,
  bucket: Bucket,
  by: Dimension | undefined,
): Promise<readonly LatencyRow[]> {
  const named =
    filter.models !== undefined || filter.provider_models !== undefined || by === 'provider' || by === 'model'
  let sums = db
    .selectFrom('traffic.log_latencies')
    .where('workspace_id', 'in', ownWorkspaces(filter))
    .where('grain', '=', named ? 1 : 0)
    .where('hour', '>=', hours.from)
    .where('hour', '<', hours.before)
  if (filter.models) sums = sums.where('model', 'in', filter.models)
  if (filter.provider_models) sums = sums.where(eitherModel(filter.provider_models))
  return sums
    .select(e => [
      place('hour', bucket).as('bucket'),
      nameOf(kind, by).as('name'),
      'bucket as latency',
      e.fn.sum<number>('requests').as('requests'),
    ])
    .groupBy(sql`1, 2, 3`)
    .execute()
}

function place(column: 'created_at' | 'hour', bucket: Bucket): RawBuilder<string> {
  return BUCKETS[bucket] === 0 ? sql`''` : sql`substr(${sql.ref(column)}, 1, ${sql.lit(BUCKETS[bucket])})`
}

/** The name of a row in a dimension; empty when it has none. */
export function nameOf(kind: AnalyticsReader['kind'], by: Dimension | undefined): RawBuilder<string> {
  if (by === undefined) return sql`''`
  if (by === 'prompt') return sql`coalesce(${promptIn(kind)}, '')`
  if (by === 'mcp_server') return sql`case when provider = 'mcp' then coalesce(provider_slug, '') else '' end`
  if (by === 'mcp_tool')
    return sql`case when provider = 'mcp' and endpoint = 'tools/call' then coalesce(model, '') else '' end`
  return by === 'status' ? sql`cast(status as text)` : sql`coalesce(${sql.ref(by)}, '')`
}

function numbered(raw: Raw): Fact {
  return {
    bucket: String(raw.bucket),
    name: String(raw.name),
    status: Number(raw.status),
    cache_status: String(raw.cache_status),
    requests: Number(raw.requests),
    successes: Number(raw.successes),
    prompt_tokens: Number(raw.prompt_tokens),
    completion_tokens: Number(raw.completion_tokens),
    cost_nanousd: Number(raw.cost_nanousd),
    duration_ms: Number(raw.duration_ms),
  }
}
