import type {LogFilter} from '../logs.ts'
import {isBound} from './days.ts'
import type {Reader} from './reader.ts'

const HOUR_MS = 3_600_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/

/** Where the answer stands: whole hours in the sums, what is left at both ends in rows. */
export interface Sources {
  readonly rows: readonly LogFilter[]
  readonly hours: {readonly from: string; readonly before: string} | null
}

/** Whether the sums are kept by all that the filter names; `latency` are those of how long calls took. */
export function isSummed(filter: LogFilter, sums: 'all' | 'latency' = 'all'): boolean {
  const {trace_id, span_id, metadata, user_ids, prompt_slug, total_tokens, prompt_tokens, completion_tokens, cost_nanousd, feedback} =
    filter
  if ([trace_id, span_id, metadata, user_ids, prompt_slug].some(each => each !== undefined)) return false
  if ([total_tokens, prompt_tokens, completion_tokens, cost_nanousd, feedback].some(isBound)) return false
  if (sums === 'latency' && [filter.api_key_ids, filter.statuses, filter.providers, filter.configs].some(each => each)) return false
  // sums know a provider by its slug alone
  return !filter.providers?.some(name => UUID.test(name))
}

/** Where to read what lies between two moments, both included. */
export async function sourcesOf({db}: Reader, filter: LogFilter, summed: boolean): Promise<Sources> {
  const {least, most} = filter.created_at ?? {}
  if (!summed || least === undefined || most === undefined) return {rows: [filter], hours: null}
  const meta = db.selectFrom('traffic.meta').select('value').where('key', '=', 'log_hourly_from')
  const begin = (await meta.executeTakeFirst())?.value ?? ''
  const whole = new Date(Math.ceil(Date.parse(least) / HOUR_MS) * HOUR_MS).toISOString()
  const from = whole > begin ? whole : begin
  const before = new Date(Math.floor((Date.parse(most) + 1) / HOUR_MS) * HOUR_MS).toISOString()
  if (from >= before) return {rows: [filter], hours: null}
  const rows = []
  if (least < from) rows.push({...filter, created_at: {least, most: beforeThat(from)}})
  if (most >= before) rows.push({...filter, created_at: {least: before, most}})
  return {rows, hours: {from, before}}
}

const beforeThat = (time: string) => new Date(Date.parse(time) - 1).toISOString()
