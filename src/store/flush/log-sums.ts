import {latencyBucket} from '../../schema/latency.ts'
import {isSuccess} from '../../schema/success.ts'
import type {LogHourlyTable, LogLatenciesTable} from '../tables/traffic.ts'
import type {Entry} from './lines.ts'
import type {FlushedRow, Spent} from './record.ts'
import {hourOf} from './sums.ts'

export const LOG_SUM_KEY = [
  'workspace_id',
  'grain',
  'hour',
  'api_key_id',
  'provider_slug',
  'provider',
  'model',
  'config_id',
  'status',
  'cache_status',
] as const satisfies readonly (keyof LogHourlyTable)[]

export const LOG_SUMMED = [
  'requests',
  'successes',
  'prompt_tokens',
  'completion_tokens',
  'cost_nanousd',
  'duration_ms',
] as const satisfies readonly (keyof LogHourlyTable)[]

export const LOG_SUM_COLUMNS = [...LOG_SUM_KEY, ...LOG_SUMMED] as const

export const LATENCY_KEY = [
  'workspace_id',
  'grain',
  'hour',
  'provider',
  'model',
  'bucket',
] as const satisfies readonly (keyof LogLatenciesTable)[]

export const LATENCY_COLUMNS = [...LATENCY_KEY, 'requests'] as const

/** A row that the log did not have before. */
export interface NewRow {
  readonly entry: Entry
  readonly row: FlushedRow
  readonly spent: Spent
}

/** What rows add to `traffic.log_hourly`: counts that may pass 2^53 are BigInt. */
export type LogSum = Omit<LogHourlyTable, 'prompt_tokens' | 'completion_tokens' | 'cost_nanousd'> & {
  prompt_tokens: bigint
  completion_tokens: bigint
  cost_nanousd: bigint
}

export interface LogSums {
  readonly hours: readonly LogSum[]
  readonly latencies: readonly LogLatenciesTable[]
}

/** Rows that no sum tells apart, and what they come to. */
interface Alike {
  readonly row: NewRow
  readonly hour: string
  readonly bucket: number
  requests: number
  successes: number
  prompt_tokens: bigint
  completion_tokens: bigint
  cost_nanousd: bigint
  duration_ms: number
}

/** The sums of new rows, each once, in the order of their keys: two processes that add to the same rows never wait in a ring. */
export function logSums(rows: readonly NewRow[]): LogSums {
  const hours = new Map<string, LogSum>()
  const latencies = new Map<string, LogLatenciesTable>()
  for (const alike of alikes(rows)) {
    for (const grain of [0, 1]) {
      addHour(hours, alike, grain)
      addLatency(latencies, alike, grain)
    }
  }
  return {hours: inOrder(hours), latencies: inOrder(latencies)}
}

/** Most rows of a slice are alike: what each of them costs here, every call does. */
function alikes(rows: readonly NewRow[]): Iterable<Alike> {
  const found = new Map<string, Alike>()
  for (const row of rows) {
    const {entry, spent} = row
    const {workspace_id, api_key_id, provider_slug, provider, model, config_id} = entry
    const [, , created_at, status, , duration_ms, cache_status] = row.row.values
    const bucket = latencyBucket(duration_ms)
    const hour = hourOf(created_at)
    const names = `${workspace_id}\0${hour}\0${api_key_id}\0${provider_slug ?? ''}\0${provider}\0${model ?? ''}\0${config_id ?? ''}`
    const key = `${names}\0${status}\0${cache_status}\0${bucket}`
    let alike = found.get(key)
    if (!alike) {
      const counts = {requests: 0, successes: 0, prompt_tokens: 0n, completion_tokens: 0n, cost_nanousd: 0n, duration_ms: 0}
      alike = {row, hour, bucket, ...counts}
      found.set(key, alike)
    }
    alike.requests++
    if (isSuccess(status, entry.outcome)) alike.successes++
    alike.prompt_tokens += BigInt(spent.prompt_tokens)
    alike.completion_tokens += BigInt(spent.completion_tokens)
    alike.cost_nanousd += BigInt(spent.cost_nanousd)
    alike.duration_ms += duration_ms
  }
  return found.values()
}

function addHour(sums: Map<string, LogSum>, alike: Alike, grain: number): void {
  const {hour} = alike
  const {entry} = alike.row
  const [, , , status, , , cache_status] = alike.row.row.values
  const named = grain === 1
  const {workspace_id} = entry
  const names = [
    named ? entry.api_key_id : '',
    named ? (entry.provider_slug ?? '') : '',
    named ? entry.provider : '',
    named ? (entry.model ?? '') : '',
    named ? (entry.config_id ?? '') : '',
  ] as const
  const key = `${workspace_id}\0${grain}\0${hour}\0${names.join('\0')}\0${status}\0${cache_status}`
  let sum = sums.get(key)
  if (!sum) {
    const [api_key_id, provider_slug, provider, model, config_id] = names
    const same = {workspace_id, grain, hour, api_key_id, provider_slug, provider, model, config_id}
    const counts = {requests: 0, successes: 0, prompt_tokens: 0n, completion_tokens: 0n, cost_nanousd: 0n, duration_ms: 0}
    sum = {...same, status, cache_status, ...counts}
    sums.set(key, sum)
  }
  sum.requests += alike.requests
  sum.successes += alike.successes
  sum.prompt_tokens += alike.prompt_tokens
  sum.completion_tokens += alike.completion_tokens
  sum.cost_nanousd += alike.cost_nanousd
  sum.duration_ms += alike.duration_ms
}

function addLatency(sums: Map<string, LogLatenciesTable>, {row, hour, bucket, requests}: Alike, grain: number): void {
  const {entry} = row
  const {workspace_id} = entry
  const provider = grain === 1 ? entry.provider : ''
  const model = grain === 1 ? (entry.model ?? '') : ''
  const key = `${workspace_id}\0${grain}\0${hour}\0${provider}\0${model}\0${bucket}`
  const sum = sums.get(key)
  if (sum) sum.requests += requests
  else sums.set(key, {workspace_id, grain, hour, provider, model, bucket, requests})
}

function inOrder<T>(sums: ReadonlyMap<string, T>): T[] {
  return [...sums.keys()].sort().map(key => sums.get(key)!)
}
