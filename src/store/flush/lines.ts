import type {LogRecord} from '../../schema/records.ts'
import type {LedgerEntriesTable} from '../tables/traffic.ts'

/** The columns of an entry that its hash covers, in this order. Writer and hash are beside them. */
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

export type EntryColumn = (typeof ENTRY_COLUMNS)[number]

/** A ledger entry by the names of its columns. */
export type LedgerLine = Readonly<Pick<LedgerEntriesTable, EntryColumn>>

type ValuesOf<C extends readonly EntryColumn[]> = {readonly [K in keyof C]: LedgerLine[C[K]]}

/** The values of `ENTRY_COLUMNS`. */
export type EntryValues = ValuesOf<typeof ENTRY_COLUMNS>

/**
 * How a row ends: a `call`; a `part` of one, where another target follows; `again`: a row that is written already, with
 * what guardrails found since.
 */
export type RowEnding = 'call' | 'part' | 'again'

/**
 * The values of a row of the log beside its entry; then the attempts it covers, 1 where guardrails gave results, and
 * how it ends: records of earlier versions do not say it.
 */
export type RowValues = readonly [
  id: string,
  span_id: string,
  created_at: string,
  status: number,
  metadata: string,
  duration_ms: number,
  cache_status: string,
  retry_count: number,
  is_rescued: 0 | 1,
  covers: readonly [first: number, last: number] | null,
  has_hooks: 0 | 1,
  ending: RowEnding,
]

/** A `LogRecord` without what its row says in columns. */
export type Detail = Omit<
  LogRecord,
  | 'id'
  | 'span_id'
  | 'created_at'
  | 'response_status'
  | 'metadata'
  | 'cache_status'
  | 'retry_count'
  | 'request_encoding'
  | 'prompt'
  | 'hook_results'
> & {readonly [K in 'request_encoding' | 'prompt' | 'hook_results']: LogRecord[K] | undefined}
