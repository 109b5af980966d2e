import {withPrincipal} from '../../schema/principal.ts'
import {isReceived} from '../../schema/received-spans.ts'
import type {Settlement} from '../../schema/records.ts'
import type {LogsTable} from '../tables/traffic.ts'
import {encodeSettlement} from './encode.ts'
import {ENTRY_COLUMNS, type EntryColumn, type EntryValues, type LedgerLine, type RowValues} from './lines.ts'

export type SqlValue = string | number | null

export interface FlushedRow {
  readonly values: RowValues
  /** JSON: a `Detail`. */
  readonly detail: string
}

/** A settlement as the journal held it, ready to be written. */
export interface FlushRecord {
  readonly entry: LedgerLine
  readonly values: EntryValues
  /** JSON of the values: what the hash covers. */
  readonly text: string
  readonly row: FlushedRow | null
}

/** The amounts of a log row: its own entry's, or the sum over the attempts at its target. */
export type RowCost = Pick<LedgerLine, 'prompt_tokens' | 'completion_tokens' | 'usage' | 'cost_nanousd' | 'unpriced'>

export const LOG_COLUMNS = [
  'id',
  'call_id',
  'trace_id',
  'span_id',
  'created_at',
  'organisation_id',
  'workspace_id',
  'api_key_id',
  'user_id',
  'provider_id',
  'provider_slug',
  'integration_id',
  'config_id',
  'provider',
  'model',
  'endpoint',
  'status',
  'prompt_tokens',
  'completion_tokens',
  'usage',
  'usage_source',
  'cost_nanousd',
  'unpriced',
  'outcome',
  'delivered',
  'metadata',
  'detail',
  'duration_ms',
  'cache_status',
  'retry_count',
  'is_rescued',
] as const satisfies readonly (keyof LogsTable)[]

/** `<call id>:<attempt>`, to be named in reports. */
export const nameOf = ({entry}: FlushRecord): string => `${entry.call_id}:${entry.attempt}`

/** A span of an application: one that comes again, by its ids in its workspace, changes nothing. */
export const isSpan = ({entry}: FlushRecord): boolean => isReceived(entry.endpoint) && !isEntry({entry})

/** A call that never left has a row of the log and no entry of the ledger. */
export const isEntry = ({entry}: Pick<FlushRecord, 'entry'>): boolean => entry.attempt !== 0

/**
 * Reads a record of the journal (`encodeSettlement`). Throws with a sentence when no entry can be made of it; it never
 * says what the record held. What is wrong with a log row the database finds: the money counts without it.
 */
export function decodeRecord(payload: Buffer): FlushRecord {
  const text = linesOf(payload)
  const entry_end = text.indexOf('\n')
  if (entry_end < 0) return recordOf(text, null)
  const row_end = text.indexOf('\n', entry_end + 1)
  if (row_end < 0) return recordOf(text.slice(0, entry_end), null)
  const values = JSON.parse(text.slice(entry_end + 1, row_end)) as RowValues
  return recordOf(text.slice(0, entry_end), {values, detail: text.slice(row_end + 1)})
}

function recordOf(text: string, row: FlushedRow | null): FlushRecord {
  const values = JSON.parse(text) as EntryValues
  // a value that the database would convert would not have the hash of what it stores
  for (let at = 0; at < ENTRY_COLUMNS.length; at++) {
    const value = values[at]
    if (value === null && MAY_BE_NULL[at]) continue
    if (IS_NUMBER[at] ? !isCount(value) : typeof value !== 'string')
      throw new Error(`${ENTRY_COLUMNS[at]} is not ${IS_NUMBER[at] ? 'a non-negative safe integer' : 'a text'}`)
  }
  return {entry: named(values), values, text, row}
}

/** The values by their names. Written by hand, as this is done for every call. */
function named(values: EntryValues): LedgerLine {
  return {
    call_id: values[0],
    attempt: values[1],
    trace_id: values[2],
    organisation_id: values[3],
    workspace_id: values[4],
    api_key_id: values[5],
    user_id: values[6],
    provider_id: values[7],
    provider_slug: values[8],
    integration_id: values[9],
    config_id: values[10],
    provider: values[11],
    model: values[12],
    endpoint: values[13],
    admitted_at: values[14],
    settled_at: values[15],
    outcome: values[16],
    status: values[17],
    usage: values[18],
    usage_source: values[19],
    prompt_tokens: values[20],
    completion_tokens: values[21],
    cost_nanousd: values[22],
    unpriced: values[23],
    delivered: values[24],
    counter_keys: values[25],
  }
}

/** The line behind the entry of a record without a row: the client's trace. Undefined where there is none. */
export function traceLine(payload: Buffer): string | undefined {
  const end = payload.indexOf(LINE_END)
  return end < 0 ? undefined : payload.toString('utf8', end + 1)
}

const LINE_END = 0x0a

/** The values of `LOG_COLUMNS`. */
export function logValues(entry: LedgerLine, {values, detail}: FlushedRow, spent: RowCost): SqlValue[] {
  const [id, span_id, created_at, status, metadata, duration_ms, cache_status, retry_count, is_rescued] = values
  return [
    id,
    entry.call_id,
    entry.trace_id,
    span_id,
    created_at,
    entry.organisation_id,
    entry.workspace_id,
    entry.api_key_id,
    entry.user_id,
    entry.provider_id,
    entry.provider_slug,
    entry.integration_id,
    entry.config_id,
    entry.provider,
    entry.model,
    entry.endpoint,
    status,
    spent.prompt_tokens,
    spent.completion_tokens,
    spent.usage,
    entry.usage_source,
    spent.cost_nanousd,
    spent.unpriced,
    entry.outcome,
    entry.delivered,
    metadata,
    detail,
    duration_ms,
    cache_status,
    retry_count,
    is_rescued,
  ]
}

const NUMBERS: ReadonlySet<string> = new Set([
  'attempt',
  'status',
  'prompt_tokens',
  'completion_tokens',
  'cost_nanousd',
  'unpriced',
  'delivered',
] satisfies EntryColumn[])
const NULLABLE: ReadonlySet<string> = new Set([
  'user_id',
  'provider_id',
  'provider_slug',
  'integration_id',
  'config_id',
  'model',
  'status',
] satisfies EntryColumn[])
const IS_NUMBER = ENTRY_COLUMNS.map(column => NUMBERS.has(column))
const MAY_BE_NULL = ENTRY_COLUMNS.map(column => NULLABLE.has(column))

export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** The lines of a record. Earlier versions wrote the settlement itself. */
function linesOf(payload: Buffer): string {
  const text = payload.toString('utf8')
  if (text.startsWith('[')) return text
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed !== 'object' || parsed === null) throw new Error('the record is not a JSON object')
  return encodeSettlement(withPrincipal(parsed as Settlement))
}
