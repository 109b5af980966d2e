import {newSpanId} from '../base/ids.ts'
import {maskedUrl} from '../base/masked-url.ts'
import type {LogRecord} from '../schema/records.ts'

/** How work comes to its target where no config chooses one. */
export const DIRECT = {
  mode: 'single',
  option_path: 'config',
  retry_count: 0,
  cache_status: 'DISABLED',
  warning: null,
} as const

/** The known facts of work for its row of the log. Unknown ones are left out. */
export type KnownOfRow = Pick<LogRecord, 'id' | 'created_at'> & Partial<LogRecord>

/**
 * A row of the log: the one place of its defaults. URLs and errors from every source are masked here, and times are
 * rounded to microseconds. One literal: this is made for every attempt.
 */
export function logRow(known: KnownOfRow): LogRecord {
  return {
    id: known.id,
    created_at: known.created_at,
    span_id: known.span_id ?? newSpanId(),
    parent_span_id: known.parent_span_id ?? null,
    span_name: known.span_name ?? null,
    method: known.method ?? '',
    url: maskUrl(known.url ?? ''),
    upstream_url: known.upstream_url == null ? null : maskUpstreamUrl(known.upstream_url),
    response_status: known.response_status ?? 0,
    is_stream: known.is_stream ?? false,
    is_passthrough: known.is_passthrough ?? false,
    cache_status: known.cache_status ?? DIRECT.cache_status,
    retry_count: known.retry_count ?? DIRECT.retry_count,
    mode: known.mode ?? DIRECT.mode,
    option_path: known.option_path ?? DIRECT.option_path,
    request_bytes: known.request_bytes ?? 0,
    response_bytes: known.response_bytes ?? 0,
    metadata: known.metadata ?? NO_METADATA,
    error: masked(known.error),
    warning: known.warning ?? DIRECT.warning,
    auth_ms: toMicroseconds(known.auth_ms ?? 0),
    plan_ms: toMicroseconds(known.plan_ms ?? 0),
    connect_ms: known.connect_ms == null ? null : toMicroseconds(known.connect_ms),
    first_byte_ms: known.first_byte_ms == null ? null : toMicroseconds(known.first_byte_ms),
    last_byte_ms: toMicroseconds(known.last_byte_ms ?? 0),
    overhead_ms: toMicroseconds(known.overhead_ms ?? 0),
    keeps_bodies: known.keeps_bodies ?? false,
    request_encoding: known.request_encoding,
    prompt: known.prompt,
    hook_results: known.hook_results,
    mcp: known.mcp,
    similar: known.similar,
    span: known.span,
    received_at: known.received_at,
  }
}

const NO_METADATA = {}
const maskUrl = lastMasked()
const maskUpstreamUrl = lastMasked()

/** Masks URLs. Most calls go where the last one went: a comparison costs less than a search. */
function lastMasked(): (url: string) => string {
  let last = ''
  let kept = ''
  return url => {
    if (url === last) return kept
    kept = maskedUrl(url)
    last = url
    return kept
  }
}

function masked(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : maskedUrl(text)
}

/** The clock's further digits mean nothing, and would be written out and kept for every call. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
