import type {LogRecord, Settlement} from '../schema/records.ts'
import type {Spent} from '../schema/spent.ts'
import {DIRECT} from './log-row.ts'

/** The facts of an ended call that /metrics count. Times in milliseconds. */
export interface EndedCall {
  readonly method: string
  readonly endpoint: string
  readonly provider: string
  readonly model: string | null
  readonly status: number
  readonly is_stream: boolean
  readonly total_ms: number
  readonly upstream_ms: number | null
  readonly overhead_ms: number
  readonly tokens: number
  readonly cost_nanousd: number
  readonly unpriced: boolean
  readonly unpriced_units?: readonly string[] | undefined
  readonly mode_unpriced?: string | undefined
  readonly usage_unknown?: readonly string[] | undefined
  readonly cache_status: string
  /** True of an attempt that another one follows: what it used counts, and the call at its end. */
  readonly is_part: boolean
}

/** The same as ledger and log have it. A provider that was not waited for took no time. */
export function endedCall(
  settled: Settlement,
  log: LogRecord,
  {tokens, cost_nanousd}: Spent,
  is_part: boolean,
): EndedCall {
  const {last_byte_ms: total_ms, overhead_ms} = log
  return {
    method: log.method,
    endpoint: settled.endpoint,
    provider: settled.provider,
    model: settled.model,
    status: log.response_status,
    is_stream: log.is_stream,
    total_ms,
    upstream_ms: overhead_ms < total_ms ? total_ms - overhead_ms : null,
    overhead_ms,
    tokens,
    cost_nanousd,
    unpriced: settled.unpriced,
    unpriced_units: settled.unpriced_units,
    mode_unpriced: settled.mode_unpriced,
    usage_unknown: settled.usage_unknown,
    cache_status: log.cache_status,
    is_part,
  }
}

/** A request that was refused before it was a call: its sender is unknown, and it has no row. */
export function refusedUnknown(
  {method, endpoint, status}: Pick<EndedCall, 'method' | 'endpoint' | 'status'>,
  total_ms: number,
): EndedCall {
  return {
    method,
    endpoint,
    provider: '',
    model: null,
    status,
    is_stream: false,
    total_ms,
    upstream_ms: null,
    overhead_ms: total_ms,
    tokens: 0,
    cost_nanousd: 0,
    unpriced: false,
    unpriced_units: undefined,
    mode_unpriced: undefined,
    usage_unknown: undefined,
    cache_status: DIRECT.cache_status,
    is_part: false,
  }
}
