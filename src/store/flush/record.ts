import type {LogRecord, Settlement} from '../../schema/records.ts'
import {TOKEN_CLASSES, totals, type Usage} from '../../schema/usage.ts'
import type {LedgerEntriesTable, LogsTable} from '../tables/traffic.ts'
import {durationOf, isRescued} from './duration.ts'

export type SqlValue = string | number | null

/** A settlement as the journal held it, ready to be written. */
export interface FlushRecord {
  /** `<call id>:<attempt>`, to be named in reports. */
  readonly id: string
  readonly settlement: Settlement
  /** The values of `ENTRY_COLUMNS`; null for a call that never left. */
  readonly entry: readonly SqlValue[] | null
  readonly prompt_tokens: number
  readonly completion_tokens: number
  /** JSON: the classes of the usage that are not zero. */
  readonly usage: string
  /** JSON: the settlement's `log`; null when it has none. */
  readonly detail: string | null
}

/** What a log row says of money: its own entry's, or the sum over the attempts at its target. */
export type Spent = Pick<FlushRecord, 'prompt_tokens' | 'completion_tokens' | 'usage'> & {
  readonly cost_nanousd: number
  readonly unpriced: boolean
}

/** The columns of an entry that its hash covers, in this order. Writer and hash stand beside them. */
export const ENTRY_COLUMNS = [
  'call_id',
  'attempt',
  'trace_id',
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
  'admitted_at',
  'settled_at',
  'outcome',
  'status',
  'usage',
  'usage_source',
  'prompt_tokens',
  'completion_tokens',
  'cost_nanousd',
  'unpriced',
  'delivered',
  'counter_keys',
] as const satisfies readonly (keyof LedgerEntriesTable)[]

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

/**
 * Reads a record of the journal. Throws with a sentence when no entry can be made of it; it never says what the record held. What is
 * wrong with a log row the database finds: the money counts without it.
 */
export function decodeRecord(id: string, payload: Buffer): FlushRecord {
  const {settlement, detail} = parse(payload)
  const {prompt_tokens, completion_tokens, usage} = counted(settlement.usage ?? {})
  const values = entryOf(settlement, {prompt_tokens, completion_tokens, usage})
  return {
    id: id || `${settlement.call_id}:${settlement.attempt}`,
    settlement,
    entry: settlement.attempt === 0 ? null : values,
    prompt_tokens,
    completion_tokens,
    usage,
    detail,
  }
}

/** Tokens and classes as the columns hold them. */
export function counted(usage: Partial<Usage>): Pick<FlushRecord, 'prompt_tokens' | 'completion_tokens' | 'usage'> {
  const {prompt_tokens, completion_tokens} = totals(usage)
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) throw new Error('usage is not in non-negative safe integers')
  return {prompt_tokens, completion_tokens, usage: withoutZeros(usage)}
}

function entryOf(said: Settlement, {prompt_tokens, completion_tokens, usage}: ReturnType<typeof counted>): SqlValue[] {
  const values = [
    said.call_id,
    said.attempt,
    said.trace_id,
    said.organisation_id,
    said.workspace_id,
    said.api_key_id,
    said.user_id,
    said.provider_id,
    said.provider_slug,
    said.integration_id,
    said.config_id,
    said.provider,
    said.model,
    said.endpoint,
    said.admitted_at,
    said.settled_at,
    said.outcome,
    said.status,
    usage,
    said.usage_source,
    prompt_tokens,
    completion_tokens,
    said.cost_nanousd,
    said.unpriced ? 1 : 0,
    said.delivered ? 1 : 0,
    JSON.stringify(said.counter_keys),
  ]
  // a value that the database would convert would not have the hash of what it stores
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (value === null && MAY_BE_NULL[at]) continue
    if (IS_NUMBER[at] ? !isCount(value) : typeof value !== 'string')
      throw new Error(`${ENTRY_COLUMNS[at]} is not ${IS_NUMBER[at] ? 'a non-negative safe integer' : 'a text'}`)
  }
  return values
}

/** The values of `LOG_COLUMNS`. */
export function logValues({settlement: said, detail}: FlushRecord, log: LogRecord, spent: Spent): SqlValue[] {
  return [
    log.id,
    said.call_id,
    said.trace_id,
    log.span_id,
    log.created_at,
    said.organisation_id,
    said.workspace_id,
    said.api_key_id,
    said.user_id,
    said.provider_id,
    said.provider_slug,
    said.integration_id,
    said.config_id,
    said.provider,
    said.model,
    said.endpoint,
    log.response_status,
    spent.prompt_tokens,
    spent.completion_tokens,
    spent.usage,
    said.usage_source,
    spent.cost_nanousd,
    spent.unpriced ? 1 : 0,
    said.outcome,
    said.delivered ? 1 : 0,
    JSON.stringify(log.metadata),
    detail,
    durationOf(log),
    log.cache_status,
    log.retry_count,
    isRescued(log, said.outcome),
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
] satisfies (typeof ENTRY_COLUMNS)[number][])
const NULLABLE: ReadonlySet<string> = new Set([
  'user_id',
  'provider_id',
  'provider_slug',
  'integration_id',
  'config_id',
  'model',
  'status',
] satisfies (typeof ENTRY_COLUMNS)[number][])
const IS_NUMBER = ENTRY_COLUMNS.map(column => NUMBERS.has(column))
const MAY_BE_NULL = ENTRY_COLUMNS.map(column => NULLABLE.has(column))

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** A settlement and the JSON of its log row; as this is done for every call, that text is taken from the payload where it can be. */
function parse(payload: Buffer): Pick<FlushRecord, 'settlement' | 'detail'> {
  const text = payload.toString('utf8')
  return text.includes('\\u') ? parseWhole(text, storable) : (parseParted(text) ?? parseWhole(text))
}

const LOG_MEMBER = ',"log":{'

/** Where the log row is the last member, as the recorder writes it; else one of the parts is not JSON, and this gives undefined. */
function parseParted(text: string): Pick<FlushRecord, 'settlement' | 'detail'> | undefined {
  const at = text.indexOf(LOG_MEMBER)
  if (at < 0) return undefined
  const detail = text.slice(at + LOG_MEMBER.length - 1, -1)
  try {
    const settlement = JSON.parse(`${text.slice(0, at)}}`) as Settlement & {log: LogRecord}
    settlement.log = JSON.parse(detail) as LogRecord
    return {settlement, detail}
  } catch {
    return undefined
  }
}

function parseWhole(text: string, revive?: typeof storable): Pick<FlushRecord, 'settlement' | 'detail'> {
  const value: unknown = JSON.parse(text, revive)
  if (typeof value !== 'object' || value === null) throw new Error('the record is not a JSON object')
  const settlement = value as Settlement
  return {settlement, detail: settlement.log ? JSON.stringify(settlement.log) : null}
}

/** NUL and halves of surrogate pairs, which no text column of PostgreSQL holds, become U+FFFD: clients choose metadata and models. */
function storable(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd').toWellFormed() : value
}

/** A JSON object. Written by hand, as this is done for every call. */
function withoutZeros(usage: Partial<Usage>): string {
  let text = ''
  for (const name of TOKEN_CLASSES) if (usage[name]) text += `${text && ','}"${name}":${usage[name]}`
  const units = Object.entries(usage.units ?? {}).filter(([, count]) => count)
  if (units.length > 0) text += `${text && ','}"units":${JSON.stringify(Object.fromEntries(units))}`
  return `{${text}}`
}
