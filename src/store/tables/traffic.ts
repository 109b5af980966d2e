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
  /**
   * JSON object: the non-zero classes of the canonical usage record, and what of it has no price (`unpriced_units`,
   * `mode_unpriced`).
   */
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
  /** JSON object: what of the `LogRecord` no column says; in rows of earlier versions, all of it. */
  detail: string
  /**
   * Until the last byte. This and what follows is null in rows from before there were such columns: their detail has
   * it.
   */
  duration_ms: number | null
  cache_status: string | null
  retry_count: number | null
  /** 1 where a retry or a fallback made good what had failed. */
  is_rescued: number | null
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

/** Bodies in a store of objects; those of a row that is not here are in this database or beside it, or are not kept. */
export interface LogObjectsTable {
  log_id: string
  key: string
  /** How the key was made. */
  format: 'v1' | 'v2'
  bytes: number
  /** When it was put there. */
  created_at: string
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
  /** As the index holds it (`indexedText`). */
  model_key: string
  requests: number
  failures: number
  unpriced: number
  prompt_tokens: number
  completion_tokens: number
  cost_nanousd: number
}

/** Calls that used a class of tokens or a unit without a price, by hour. */
export interface UnpricedHourlyTable {
  hour: string
  organisation_id: string
  workspace_id: string
  api_key_id: string
  provider: string
  model: string
  /** As the index holds it (`indexedText`). */
  model_key: string
  /** Of images `image`, whatever their quality and size. */
  unit: string
  requests: number
}

/**
 * The columns that identify the hour's sum of a row of the log. Of grain 0 are the totals of a workspace, their names
 * empty; of grain 1 all is named.
 */
export interface LogHourlyTable {
  workspace_id: string
  grain: number
  hour: string
  api_key_id: string
  provider_slug: string
  provider: string
  model: string
  /** As the index holds it (`indexedText`). */
  model_key: string
  config_id: string
  status: number
  cache_status: string
  requests: number
  successes: number
  prompt_tokens: number
  completion_tokens: number
  cost_nanousd: number
  duration_ms: number
}

/**
 * How many calls of an hour took how long (`src/schema/latency.ts` has the buckets). Of grain 0 are totals, provider
 * and model empty.
 */
export interface LogLatenciesTable {
  workspace_id: string
  grain: number
  hour: string
  provider: string
  model: string
  /** As the index holds it (`indexedText`). */
  model_key: string
  bucket: number
  requests: number
}

/** Feedback of people, applications and guardrails on a trace. */
export interface FeedbackTable {
  id: string
  organisation_id: string
  workspace_id: string
  trace_id: string
  api_key_id: string | null
  /** The user whose key gave it. */
  user_id: string | null
  source: 'api' | 'guardrail'
  value: number
  weight: number
  metadata: string
  created_at: string
  last_updated_at: string
}

/** How far the journal has been applied; moves in the transaction that applies it (core rule 2). */
export interface JournalMarksTable {
  writer: string
  epoch: number
  segment: number
  position: number
  chain: string
}

/** How far an export of telemetry has read the journal of a writer. */
export interface ExportMarksTable {
  writer: string
  export: string
  epoch: number
  segment: number
  position: number
}

/** A record of the journal that the database did not take as it is. */
export interface SetAsideTable {
  writer: string
  segment: number
  /** The end of the record. */
  position: number
  record: string
  reason: string
  /** 1 when its cost is in the ledger all the same. */
  is_charged: number
  /** 1 where the record itself was kept, beside the journal. */
  is_kept: number
  set_aside_at: string
}

/**
 * One job in the background, as the process that has it last left it. Written by that process alone, while its lease
 * lasts.
 */
export interface WorkersTable {
  name: string
  /** The process, for a job that each does for itself; empty for one that only one of all does. */
  process: string
  holder: string | null
  /** Until then no other process takes it; null while it is not running. */
  lease_until_ms: number | null
  due_at_ms: number
  started_at: string | null
  ended_at: string | null
  duration_ms: number | null
  /** Of the last run; null when it succeeded. */
  error: string | null
  runs: number
  failures: number
}
