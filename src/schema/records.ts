import type {ClientTrace} from '../base/trace-context.ts'
import type {EndpointName} from './endpoints.ts'
import type {HookResults} from './guardrails.ts'
import type {Hop} from './hops.ts'
import type {CallKind, Principal} from './principal.ts'
import type {ReceivedSpanDetail} from './received-spans.ts'
import type {Usage, UsageSource} from './usage.ts'

/**
 * The charged entity of a call, and its request: known before it leaves, written into the intent and repeated in the
 * settlement.
 */
export interface Charge {
  readonly kind: CallKind
  /** Made by the server, one a call; with `attempt` the key of the ledger (core rule 2). */
  readonly call_id: string
  /** Upstream attempts of one call, counted from 1 over all its targets. */
  readonly attempt: number
  readonly trace_id: string
  readonly organisation_id: string
  readonly workspace_id: string
  readonly principal: Principal
  readonly user_id: string | null
  /** The managed provider (virtual key) and its integration; null when the client brought its own credentials. */
  readonly provider_id: string | null
  readonly provider_slug: string | null
  readonly integration_id: string | null
  readonly config_id: string | null
  /** The kind of provider, as the catalogue names it. */
  readonly provider: string
  readonly model: string | null
  readonly endpoint: EndpointName
  /** ISO 8601 UTC, when the call was admitted. */
  readonly admitted_at: string
  /** The counters that were claimed; settlement and replay use exactly these (core rule 11). */
  readonly counter_keys: readonly string[]
  /** Those of them that a hold of this attempt took from in advance; absent where none is strict. */
  readonly held_keys?: readonly string[]
  /** Of a client that sent a `traceparent`. */
  readonly w3c?: ClientTrace
  /** The least cost of the call, should nothing more ever be known of it: its prompt, estimated. */
  readonly hold_nanousd: number
}

/** Written before a call leaves. An intent without a settlement was cut off by the end of the process. */
export interface Intent extends Charge {}

export type Outcome = 'ok' | 'failed' | 'aborted' | 'timeout' | 'recovered'

/**
 * The end of one upstream attempt: what it used and what it cost. Written before the client can know that it ended
 * (core rule 6).
 */
export interface Settlement extends Charge {
  readonly settled_at: string
  readonly outcome: Outcome
  /** The provider's status; null when it never answered. */
  readonly status: number | null
  readonly usage: Partial<Usage>
  readonly usage_source: UsageSource
  readonly cost_nanousd: number
  readonly unpriced: boolean
  /** The classes of tokens and units in it that have no price; absent where all have, or the model has none. */
  readonly unpriced_units?: readonly string[]
  /** Served in a mode whose price is not known, and charged as any other: its word, at most 64 bytes. */
  readonly mode_unpriced?: string
  /**
   * Paths of numbers in the provider's report that no reader knows; absent where there are none. They flag the entry at
   * kinds that charge.
   */
  readonly usage_unknown?: readonly string[]
  /** The request was written whole and no answer began: it is charged the estimate of its prompt. */
  readonly unanswered?: true
  /** The parts of the usage that were charged by themselves; absent where it was charged as a whole. */
  readonly hops?: readonly Hop[]
  /** False when the client had left before the end. */
  readonly delivered: boolean
  /** The row of the log, present on the last attempt at a target. */
  readonly log: LogRecord | null
  /** Of a row that is no attempt's own: the attempts whose usage and cost it tells, first and last. */
  readonly covers?: readonly [first: number, last: number]
  /**
   * The row is a `part` of its call, which another target follows, or it is written already and comes `again`. Absent:
   * its call ends with it.
   */
  readonly ending?: 'part' | 'again'
}

/** One target called, its retries inside: a row of the log. All times in milliseconds since the call came in. */
export interface LogRecord {
  readonly id: string
  readonly created_at: string
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly span_name: string | null
  readonly method: string
  /** Path and query as the client sent them, secrets masked. */
  readonly url: string
  readonly upstream_url: string | null
  /** The client's status. */
  readonly response_status: number
  readonly is_stream: boolean
  readonly is_passthrough: boolean
  readonly cache_status: string
  readonly retry_count: number
  readonly mode: string
  readonly option_path: string
  readonly request_bytes: number
  readonly response_bytes: number
  readonly metadata: Readonly<Record<string, string>>
  readonly error: string | null
  readonly warning: string | null
  readonly auth_ms: number
  readonly plan_ms: number
  readonly connect_ms: number | null
  readonly first_byte_ms: number | null
  readonly last_byte_ms: number
  readonly overhead_ms: number
  /** False when the client wants no bodies kept (`debug: false`). */
  readonly keeps_bodies: boolean
  /** The `content-encoding` of a request that was decoded, and left without one. */
  readonly request_encoding?: string
  /** The prompt that was called. */
  readonly prompt?: CalledPrompt
  /** The results of guardrails, where there were any. */
  readonly hook_results?: HookResults
  /** Of a message to an MCP server. */
  readonly mcp?: McpLogDetail
  /** The answer to the same in other words that was found in the cache. */
  readonly similar?: SimilarAnswer
  /** Of a client that sent a `traceparent`. */
  readonly w3c?: ClientTrace
  /** Of a span that an application sent. */
  readonly span?: ReceivedSpanDetail
  /** Of work elsewhere, which ended at another time: when it came here, and its bodies were kept (ISO 8601). */
  readonly received_at?: string
}

/** An answer in the cache to a request that means the same. */
export interface SimilarAnswer {
  /** The cosine of the two prompts, to four decimals. */
  readonly similarity: number
  /** The row of the log of the call that it came from. */
  readonly log_id: string
  /** False where it was only counted: `SEMANTIC_CACHE_MODE=shadow`. */
  readonly served: boolean
  /** Of one that was only counted and the provider's answer; absent where that was not whole. */
  readonly agreement?: 'equal' | 'unknown'
}

/** The facts of a message to an MCP server that no column has. */
export interface McpLogDetail {
  readonly server_id: string
  readonly method: string
  /** The tool, the prompt or the address. */
  readonly name: string | null
  readonly client_protocol: string
  readonly client_name: string | null
  readonly auth: 'api_key' | 'jwt' | 'oauth'
  /** The slug of the virtual server that it came by, where it came by one. */
  readonly virtual_server?: string
  /** JSON text of the id of the request, cut at 64 bytes; absent from older records. */
  readonly rpc_id?: string
  /** SHA-256 of the client's session, cut at 32 hex digits: the id itself opens the session. Of the old era only. */
  readonly session_digest?: string
  readonly outcome: 'ok' | 'tool_error' | 'rpc_error' | 'refused' | 'input_required' | 'abandoned'
  readonly rpc_code: number | null
  /** Round trips with questions, the first included. */
  readonly rounds: number
  /** Null where the upstream was not reached. */
  readonly upstream_protocol: string | null
  readonly upstream_transport: 'http' | 'sse' | null
}

/** A version of a saved prompt. */
export interface CalledPrompt {
  readonly slug: string
  readonly id: string
  readonly version: number
  readonly version_id: string
}

/** The bodies and headers of one log row, kept apart from it and for a shorter time; secrets are masked already. */
export interface LogBodies {
  readonly log_id: string
  readonly request_headers: Readonly<Record<string, string>>
  readonly request_body: Uint8Array | null
  readonly response_headers: Readonly<Record<string, string>>
  readonly response_body: Uint8Array | null
  readonly response_encoding: string | null
  readonly cut: boolean
}
