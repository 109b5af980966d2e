import type {Generated} from 'kysely'

/** Rows of traffic.db: the ledger, the log and their sums. One flush writes this file and no other (core rule 1). */
export interface LedgerEntriesTable {
  /** Counts up as entries arrive, per writer in the order of its hash chain; gaps mean nothing. */
  sequence: Generated<number>
  call_id: string
  attempt: number
  trace_id: string
  organisation_id: string
  workspace_id: string
  api_key_id: string
  user_id: string | null
  provider_id: string | null
  provider_slug: string | null
  integration_id: string | null
  config_id: string | null
  provider: string
  model: string | null
  endpoint: string
  admitted_at: string
  settled_at: string
  outcome: string
  status: number | null
  /** JSON object: the non-zero classes of the canonical usage record. */
  usage: string
  usage_source: string
  prompt_tokens: number
  completion_tokens: number
  cost_nanousd: number
  unpriced: number
  delivered: number
  counter_keys: string
  /** Hash chain of the writer: SHA-256 over the previous hash and this entry (core rule 14). */
  writer: string
  chain: string
}

export interface LogsTable {
  id: string
  call_id: string
  trace_id: string
  span_id: string
  created_at: string
  organisation_id: string
  workspace_id: string
  api_key_id: string
  user_id: string | null
  provider_id: string | null
  provider_slug: string | null
  integration_id: string | null
  config_id: string | null
  provider: string
  model: string | null
  endpoint: string
  status: number
  prompt_tokens: number
  completion_tokens: number
  usage: string
  usage_source: string
  cost_nanousd: number
  unpriced: number
  outcome: string
  delivered: number
  metadata: string
  /** JSON object: the `LogRecord` as it was recorded. What rows are chosen or summed by stands in columns. */
  detail: string
}

export interface LogBodiesTable {
  log_id: string
  created_at: string
  request_headers: string
  request_body: Uint8Array | null
  response_headers: string
  response_body: Uint8Array | null
  response_encoding: string | null
  cut: number
}

/** Sums by hour, workspace, key, provider and model: kept as entries arrive, so that no report reads every row. */
export interface UsageHourlyTable {
  hour: string
  organisation_id: string
  workspace_id: string
  api_key_id: string
  provider_slug: string
  provider: string
  model: string
  requests: number
  failures: number
  unpriced: number
  prompt_tokens: number
  completion_tokens: number
  cost_nanousd: number
}

/** How far the journal has been applied; moves in the transaction that applies it (core rule 2). */
export interface JournalMarksTable {
  writer: string
  epoch: number
  segment: number
  position: number
  chain: string
}
