import type {LogRecord, Settlement} from '../schema/records.ts'
import type {Spent} from '../schema/spent.ts'
import {totals} from '../schema/usage.ts'
import {DIRECT} from './log-row.ts'

const NO_METADATA = {}

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
  /** Null where it was not measured. */
  readonly auth_ms: number | null
  readonly plan_ms: number | null
  readonly last_byte_diff_ms: number | null
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cost_nanousd: number
  readonly unpriced: boolean
  readonly unpriced_units?: readonly string[] | undefined
  readonly mode_unpriced?: string | undefined
  readonly usage_unknown?: readonly string[] | undefined
  readonly cache_status: string
  /** Of the body, as it came; null where it was not read. */
  readonly request_bytes: number | null
  readonly config_id: string | null
  /** The API key that it came with. */
  readonly key_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** True of an attempt that another one follows: what it used counts, and the call at its end. */
  readonly is_part: boolean
}

/** The same as ledger and log have it. A provider that was not waited for took no time. */
export function endedCall(settled: Settlement, log: LogRecord, {cost_nanousd}: Spent, is_part: boolean): EndedCall {
  const {last_byte_ms: total_ms, overhead_ms, first_byte_ms} = log
  const {prompt_tokens, completion_tokens} = totals(settled.usage)
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
    auth_ms: log.auth_ms,
    plan_ms: log.plan_ms,
    last_byte_diff_ms: first_byte_ms === null ? null : Math.max(0, total_ms - first_byte_ms),
    input_tokens: prompt_tokens,
    output_tokens: completion_tokens,
    cost_nanousd,
    unpriced: settled.unpriced,
    unpriced_units: settled.unpriced_units,
    mode_unpriced: settled.mode_unpriced,
    usage_unknown: settled.usage_unknown,
    cache_status: log.cache_status,
    request_bytes: log.request_bytes,
    config_id: settled.config_id,
    key_id: settled.principal.kind === 'api_key' ? settled.principal.id : null,
    metadata: log.metadata,
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
    auth_ms: null,
    plan_ms: null,
    last_byte_diff_ms: null,
    input_tokens: 0,
    output_tokens: 0,
    cost_nanousd: 0,
    unpriced: false,
    unpriced_units: undefined,
    mode_unpriced: undefined,
    usage_unknown: undefined,
    cache_status: DIRECT.cache_status,
    request_bytes: null,
    config_id: null,
    key_id: null,
    metadata: NO_METADATA,
    is_part: false,
  }
}
