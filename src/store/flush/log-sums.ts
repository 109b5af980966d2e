import {latencyBucket} from '../../schema/latency.ts'
import type {LogRecord} from '../../schema/records.ts'
import {isSuccess} from '../../schema/success.ts'
import type {LogHourlyTable, LogLatenciesTable} from '../tables/traffic.ts'
import {durationOf} from './duration.ts'
import type {FlushRecord, Spent} from './record.ts'
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
  readonly record: FlushRecord
  readonly log: LogRecord
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

/** The sums of new rows, each once, in the order of their keys: two processes that add to the same rows never wait in a ring. */
export function logSums(rows: readonly NewRow[]): LogSums {
  const hours = new Map<string, LogSum>()
  const latencies = new Map<string, LogLatenciesTable>()
  for (const row of rows) {
    for (const grain of [0, 1]) {
      addHour(hours, row, grain)
      addLatency(latencies, row, grain)
    }
  }
  return {hours: inOrder(hours), latencies: inOrder(latencies)}
}

function addHour(sums: Map<string, LogSum>, {record: {settlement}, log, spent}: NewRow, grain: number): void {
  const named = grain === 1
  const {workspace_id} = settlement
  const hour = hourOf(log.created_at)
  const names = [
    named ? settlement.api_key_id : '',
    named ? (settlement.provider_slug ?? '') : '',
    named ? settlement.provider : '',
    named ? (settlement.model ?? '') : '',
    named ? (settlement.config_id ?? '') : '',
  ] as const
  const key = `${workspace_id}\0${grain}\0${hour}\0${names.join('\0')}\0${log.response_status}\0${log.cache_status}`
  let sum = sums.get(key)
  if (!sum) {
    const [api_key_id, provider_slug, provider, model, config_id] = names
    const same = {workspace_id, grain, hour, api_key_id, provider_slug, provider, model, config_id}
    const counts = {requests: 0, successes: 0, prompt_tokens: 0n, completion_tokens: 0n, cost_nanousd: 0n, duration_ms: 0}
    sum = {...same, status: log.response_status, cache_status: log.cache_status, ...counts}
    sums.set(key, sum)
  }
  sum.requests++
  if (isSuccess(log.response_status, settlement.outcome)) sum.successes++
  sum.prompt_tokens += BigInt(spent.prompt_tokens)
  sum.completion_tokens += BigInt(spent.completion_tokens)
  sum.cost_nanousd += BigInt(spent.cost_nanousd)
  sum.duration_ms += durationOf(log)
}

function addLatency(sums: Map<string, LogLatenciesTable>, {record: {settlement}, log}: NewRow, grain: number): void {
  const {workspace_id} = settlement
  const hour = hourOf(log.created_at)
  const provider = grain === 1 ? settlement.provider : ''
  const model = grain === 1 ? (settlement.model ?? '') : ''
  const bucket = latencyBucket(durationOf(log))
  const key = `${workspace_id}\0${grain}\0${hour}\0${provider}\0${model}\0${bucket}`
  const sum = sums.get(key)
  if (sum) sum.requests++
  else sums.set(key, {workspace_id, grain, hour, provider, model, bucket, requests: 1})
}

function inOrder<T>(sums: ReadonlyMap<string, T>): T[] {
  return [...sums.keys()].sort().map(key => sums.get(key)!)
}
