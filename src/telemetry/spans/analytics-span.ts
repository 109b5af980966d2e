import {isSuccess} from '../../schema/success.ts'
import {type OtlpSpan, SPAN_KINDS, STATUS_CODES} from '../otlp/model.ts'
import {AttributeList} from './attributes.ts'
import {derivedSpanId, spanIdOf, traceIdOf} from './ids.ts'
import {type ExportedRecord, timesOf} from './record.ts'
import {metadataOf, type SpanServices} from './span-services.ts'

const NANOUSD_A_CENT = 10_000_000

/**
 * The span of a row of the log: its attributes are the columns of the analytics by their own names. Its id is another
 * than that of the call's spans, as one collector may get both.
 */
export function analyticsSpan(record: ExportedRecord, {names}: Pick<SpanServices, 'names'>): OtlpSpan | undefined {
  const {entry, row} = record
  if (!row || row.ending === 'again') return undefined
  const {detail, status} = row
  const is_good = isSuccess(status, entry.outcome)
  const upstream_ms = Math.max(0, detail.last_byte_ms - detail.overhead_ms)
  const columns = {
    id: row.id,
    organisation_id: entry.organisation_id,
    user_id: entry.user_id,
    prompt_id: detail.prompt?.id,
    prompt_version_id: detail.prompt?.version_id,
    prompt_slug: detail.prompt?.slug,
    config_id: entry.config_id,
    created_at: row.created_at,
    is_success: is_good,
    ai_org: entry.provider,
    ai_model: entry.model,
    req_units: entry.prompt_tokens,
    res_units: entry.completion_tokens,
    total_units: entry.prompt_tokens + entry.completion_tokens,
    cost: entry.cost_nanousd / NANOUSD_A_CENT,
    cost_currency: 'USD',
    request_url: detail.url.split('?', 1)[0],
    request_method: detail.method,
    response_status_code: status,
    response_time: Math.round(detail.last_byte_ms),
    is_proxy_call: detail.is_passthrough,
    cache_status: row.cache_status,
    stream_mode: detail.is_stream,
    retry_success_count: is_good ? row.retry_count : 0,
    trace_id: entry.trace_id,
    span_id: row.span_id,
    span_name: detail.span_name,
    parent_span_id: detail.parent_span_id,
    mode: detail.mode,
    virtual_key: entry.provider_slug,
    source: entry.endpoint,
    internal_trace_id: entry.call_id,
    last_used_option_index: detail.option_path,
    workspace_id: entry.workspace_id,
    api_key_id: entry.api_key_id || null,
    pre_processing_time: detail.plan_ms,
    gateway_processing_time: detail.overhead_ms,
    upstream_response_time: upstream_ms,
    ttlt: detail.last_byte_ms,
  }
  const of = new AttributeList(names)
  for (const [name, value] of Object.entries(columns)) of.named(name, value)
  for (const [key, value] of metadataOf(row.metadata)) of.named(`metadata.${key}`, value)
  return {
    trace_id: traceIdOf(entry.trace_id),
    span_id: derivedSpanId('analytics', row.id),
    parent_span_id: spanIdOf(detail.parent_span_id),
    name: detail.span_name ?? entry.endpoint,
    kind: SPAN_KINDS.server,
    ...timesOf(record),
    attributes: of.list,
    status: {code: is_good ? STATUS_CODES.ok : STATUS_CODES.error, message: String(status)},
  }
}
