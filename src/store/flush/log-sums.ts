import {indexedText} from '../../base/stored-text.ts'
import {addCount, latencyBucket} from '../../schema/latency.ts'
import {isSuccess} from '../../schema/success.ts'
import type {LogHourlyTable, LogLatenciesTable} from '../tables/traffic.ts'
import type {LedgerLine} from './lines.ts'
import type {FlushedRow, RowCost} from './record.ts'
import {getOrAdd, hourOf, inOrder, isWithin, withBounds} from './sums.ts'

export const LOG_SUM_KEY = [
  'workspace_id',
  'grain',
  'hour',
  'api_key_id',
  'provider_slug',
  'provider',
  'model_key',
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

export const LOG_SUM_COLUMNS = [...LOG_SUM_KEY, 'model', ...LOG_SUMMED] as const

export const LATENCY_KEY = [
  'workspace_id',
  'grain',
  'hour',
  'provider',
  'model_key',
  'bucket',
] as const satisfies readonly (keyof LogLatenciesTable)[]

export const LATENCY_COLUMNS = [...LATENCY_KEY, 'model', 'requests'] as const

/** A row that the log did not have before. */
export interface NewRow {
  readonly entry: LedgerLine
  readonly row: FlushedRow
  readonly spent: RowCost
}

/** The amounts that rows add to `traffic.log_hourly`: counts that may pass 2^53 are BigInt. */
export type LogSum = Omit<LogHourlyTable, 'prompt_tokens' | 'completion_tokens' | 'cost_nanousd'> & {
  prompt_tokens: bigint
  completion_tokens: bigint
  cost_nanousd: bigint
}

export interface LogSums {
  readonly hours: readonly LogSum[]
  readonly latencies: readonly LogLatenciesTable[]
}

/** Rows that no sum of hours tells apart, and what they come to. */
interface Alike {
  readonly row: NewRow
  readonly hour: string
  /** How many of them are in each bucket of latencies. */
  readonly buckets: Map<number, number>
  requests: number
  successes: number
  prompt_tokens: bigint
  completion_tokens: bigint
  cost_nanousd: bigint
  duration_ms: number
}

/**
 * The sums of new rows, added one by one. Most rows of a slice are alike: what each of them costs here, every call
 * does.
 */
export class LogRowSums {
  readonly #alikes = new Map<string, Alike>()
  #last: Alike | undefined

  add(row: NewRow): void {
    if (!this.#last || !isOf(this.#last, row)) this.#last = this.#of(row)
    const alike = this.#last
    const {entry, spent} = row
    const [, , , status, , duration_ms] = row.row.values
    addCount(alike.buckets, latencyBucket(duration_ms), 1)
    alike.requests++
    if (isSuccess(status, entry.outcome)) alike.successes++
    alike.prompt_tokens += BigInt(spent.prompt_tokens)
    alike.completion_tokens += BigInt(spent.completion_tokens)
    alike.cost_nanousd += BigInt(spent.cost_nanousd)
    alike.duration_ms += duration_ms
  }

  /** Each once, in the order of their keys: two processes that add to the same rows never wait in a ring. */
  get rows(): LogSums {
    const hours = new Map<string, LogSum>()
    const latencies = new Map<string, LogLatenciesTable>()
    for (const alike of this.#alikes.values()) {
      for (const grain of [0, 1]) {
        addHour(hours, alike, grain)
        for (const [bucket, requests] of alike.buckets) addLatency(latencies, alike, grain, bucket, requests)
      }
    }
    return {hours: inOrder(hours).map(withBounds), latencies: inOrder(latencies)}
  }

  #of(row: NewRow): Alike {
    const {workspace_id, api_key_id, provider_slug, provider, model, config_id} = row.entry
    const [, , created_at, status, , , cache_status] = row.row.values
    const hour = hourOf(created_at)
    const names = `${workspace_id}\0${hour}\0${api_key_id}\0${provider_slug ?? ''}\0${provider}\0${model ?? ''}\0${config_id ?? ''}`
    const counts = {
      requests: 0,
      successes: 0,
      prompt_tokens: 0n,
      completion_tokens: 0n,
      cost_nanousd: 0n,
      duration_ms: 0,
    }
    return getOrAdd(this.#alikes, `${names}\0${status}\0${cache_status}`, () => ({
      row,
      hour,
      buckets: new Map(),
      ...counts,
    }))
  }
}

function isOf({row: one, hour}: Alike, other: NewRow): boolean {
  const [, , , one_status, , , one_cached] = one.row.values
  const [, , created_at, status, , , cache_status] = other.row.values
  return (
    isWithin(hour, created_at) &&
    one_status === status &&
    one_cached === cache_status &&
    one.entry.workspace_id === other.entry.workspace_id &&
    one.entry.api_key_id === other.entry.api_key_id &&
    one.entry.provider_slug === other.entry.provider_slug &&
    one.entry.provider === other.entry.provider &&
    one.entry.model === other.entry.model &&
    one.entry.config_id === other.entry.config_id
  )
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
    const same = {
      workspace_id,
      grain,
      hour,
      api_key_id,
      provider_slug,
      provider,
      model,
      model_key: indexedText(model),
      config_id,
    }
    const counts = {
      requests: 0,
      successes: 0,
      prompt_tokens: 0n,
      completion_tokens: 0n,
      cost_nanousd: 0n,
      duration_ms: 0,
    }
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

function addLatency(
  sums: Map<string, LogLatenciesTable>,
  {row, hour}: Alike,
  grain: number,
  bucket: number,
  requests: number,
): void {
  const {entry} = row
  const {workspace_id} = entry
  const provider = grain === 1 ? entry.provider : ''
  const model = grain === 1 ? (entry.model ?? '') : ''
  const key = `${workspace_id}\0${grain}\0${hour}\0${provider}\0${model}\0${bucket}`
  const sum = sums.get(key)
  if (sum) sum.requests += requests
  else sums.set(key, {workspace_id, grain, hour, provider, model, model_key: indexedText(model), bucket, requests})
}
