import type {GraphQuery} from '../../schema/analytics.ts'
import type {Bucket} from '../../store/analytics/facts.ts'
import type {AnalyticsReader} from '../../store/analytics/reader.ts'
import type {LogFilter} from '../../store/logs.ts'
import {filterOf, logScope} from '../logs.ts'
import type {OperationCall} from '../operation.ts'
import {invalid} from '../tenancy.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MAX_DAYS = 1100

const STEP_MS = {minute: 60_000, hour: HOUR_MS, day: DAY_MS} as const
type Step = keyof typeof STEP_MS

/** The facts of a graph, and their source. */
export interface AnalyticsQuery {
  readonly reader: AnalyticsReader
  readonly filter: LogFilter
  readonly bucket: Exclude<Bucket, 'all'>
  /** The beginnings of all buckets of its time, as `Fact.bucket` has them. */
  readonly buckets: readonly string[]
}

/** Reads the question; when this resolves, the log holds every call that had ended. */
export async function readGraphQuery(call: OperationCall<never, typeof GraphQuery>): Promise<AnalyticsQuery> {
  const {app, db, query} = call as unknown as {app: OperationCall['app']; db: OperationCall['db']; query: GraphQuery}
  const {time_of_generation_min: from, time_of_generation_max: to} = query
  if (from > to) throw invalid('time_of_generation_max', 'expected a time that is not before time_of_generation_min')
  const length_ms = Date.parse(to) - Date.parse(from)
  if (length_ms > MAX_DAYS * DAY_MS)
    throw invalid('time_of_generation_max', `expected a time at most ${MAX_DAYS} days after the other`)
  const filter = filterOf(await logScope(call as unknown as OperationCall, query), query)
  await app.settled?.()
  const bucket = length_ms <= 2 * HOUR_MS ? 'minute' : length_ms <= 3 * DAY_MS ? 'hour' : 'day'
  return {reader: {kind: app.store.kind, db: app.reads ?? db}, filter, bucket, buckets: bucketsOf(from, to, bucket)}
}

/** The moment at which a bucket begins, ISO 8601 UTC. */
export function momentOf(bucket: string): string {
  return `${bucket}${'0000-01-01T00:00:00.000Z'.slice(bucket.length)}`
}

function bucketsOf(from: string, to: string, step: Step): string[] {
  const step_ms = STEP_MS[step]
  const length = {minute: 16, hour: 13, day: 10}[step]
  const buckets = []
  for (let at_ms = Math.floor(Date.parse(from) / step_ms) * step_ms; at_ms <= Date.parse(to); at_ms += step_ms)
    buckets.push(new Date(at_ms).toISOString().slice(0, length))
  return buckets
}
