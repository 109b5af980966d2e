import {isSuccess} from '../../schema/success.ts'
import {type OtlpSpan, SPAN_KINDS, STATUS_CODES} from '../otlp/model.ts'
import {METADATA_PREFIX} from '../semconv.ts'
import {AttributeList} from './attributes.ts'
import {answerFacts, type CallBodies, readBodies, requestFacts} from './body-facts.ts'
import {boundedJson} from './bounded.ts'
import {guardrailSpans} from './guardrail-spans.ts'
import {attemptSpanId, derivedSpanId, spanIdOf, traceIdOf} from './ids.ts'
import {mcpSpans} from './mcp-spans.ts'
import {contentOf} from './messages.ts'
import {operationOf, providerName, routeOf} from './operations.ts'
import {type ExportedRecord, type ExportedRow, timesOf} from './record.ts'
import {fallbackIndex, metadataOf, placeOf, type SpanServices} from './span-services.ts'
import {attemptFault, isCharged, usageFacts} from './usage-facts.ts'

/** The id of the span of a call, known before its row is. */
const serverId = (call_id: string): string => derivedSpanId('call', call_id)

/**
 * The spans that a record of the journal makes: CLIENT for each attempt, SERVER for the call that ends with it, and one
 * for each guardrail. Their ids follow from call and attempt.
 */
export async function callSpans(record: ExportedRecord, services: SpanServices): Promise<readonly OtlpSpan[]> {
  const {entry, row} = record
  if (row?.detail.mcp) return mcpSpans(record, row, services)
  const spans: OtlpSpan[] = []
  if (row?.ending === 'again') return guardrailSpans(record, row, serverId(entry.call_id), services)
  const needs_bodies = entry.attempt > 0 && record.bodies !== null
  const bodies = await readBodies(entry.endpoint, needs_bodies ? record.bodies : null)
  if (entry.attempt > 0) spans.push(clientSpan(record, bodies, services))
  if (row?.ending === 'call') {
    spans.push(serverSpan(record, row, services))
    spans.push(...guardrailSpans(record, row, serverId(entry.call_id), services))
  }
  return spans
}

function clientSpan(record: ExportedRecord, bodies: CallBodies, services: SpanServices): OtlpSpan {
  const {entry, row} = record
  const {call_id, attempt, endpoint, model} = entry
  const operation = operationOf(endpoint)
  const fault = attemptFault(entry)
  const {end_us, start_us} = timesOf(record)
  const upstream_us = row ? Math.max(0, row.detail.last_byte_ms - row.detail.overhead_ms) * 1000 : end_us - start_us
  return {
    trace_id: traceIdOf(entry.trace_id),
    span_id: attemptSpanId(call_id, attempt),
    parent_span_id: serverId(call_id),
    name: model === null ? operation : `${operation} ${model}`,
    kind: SPAN_KINDS.client,
    start_us: Math.max(start_us, Math.round(end_us - upstream_us)),
    end_us,
    attributes: clientAttributes(record, bodies, fault, services),
    status: fault === null ? {code: STATUS_CODES.ok, message: String(entry.status)} : {code: 2, message: fault},
  }
}

function clientAttributes(
  {entry, row}: ExportedRecord,
  {request, answer}: CallBodies,
  fault: string | null,
  {names, content, generation}: SpanServices,
) {
  const {address, port} = placeOf(row?.detail.upstream_url ?? null)
  const parameters = requestFacts(request, entry.endpoint)
  const of = new AttributeList(names)
    .add('operation', operationOf(entry.endpoint))
    .add('provider', providerName(entry.provider))
    .add('request_model', entry.model)
    .add('server_address', address)
    .add('server_port', port)
    .add('http_status', entry.status)
    .add('resend_count', row && row.retry_count > 0 ? row.retry_count : undefined)
    .add('error_type', fault)
    .add('call_id', entry.call_id)
    .add('attempt', entry.attempt)
    .add('provider_slug', entry.provider_slug)
    .add('organisation_id', entry.organisation_id)
    .add('workspace_id', entry.workspace_id)
    .add('fallback_index', row?.detail.mode === 'fallback' ? fallbackIndex(row.detail.option_path) : undefined)
    .add('max_tokens', parameters.max_tokens)
    .add('temperature', parameters.temperature)
    .add('top_p', parameters.top_p)
    .add('top_k', parameters.top_k)
    .add('stop_sequences', content === 'full' ? parameters.stop_sequences : undefined)
    .add('frequency_penalty', parameters.frequency_penalty)
    .add('presence_penalty', parameters.presence_penalty)
    .add('seed', parameters.seed)
    .add('choice_count', parameters.choice_count)
    .add('encoding_formats', parameters.encoding_formats)
    .add('dimensions', parameters.dimensions)
    .add('output_type', parameters.output_type)
    .add('conversation', parameters.conversation)
  if (!isCharged(entry)) return of.list
  const reply = answerFacts(answer)
  const used = usageFacts(entry)
  of.add('response_id', reply.response_id)
    .add('response_model', reply.response_model)
    .add('finish_reasons', reply.finish_reasons)
    .add('cost', entry.cost_nanousd)
    .add('unpriced', entry.unpriced === 1 ? true : undefined)
  if (entry.usage_source !== 'none' && entry.usage_source !== 'unmetered')
    of.add('input_tokens', used.input_tokens)
      .add('output_tokens', used.output_tokens)
      .add('cache_read_tokens', used.cache_read_tokens || undefined)
      .add('cache_write_tokens', used.cache_write_tokens || undefined)
      .add('reasoning_tokens', used.reasoning_tokens || undefined)
      .add('usage_source', entry.usage_source)
  if (content === 'full') addContent(of, contentOf(request, answer, generation === '1.40'))
  return of.list
}

function addContent(of: AttributeList, {input, output, system, tools}: ReturnType<typeof contentOf>): void {
  of.add('input_messages', input && boundedJson(input))
    .add('output_messages', output && boundedJson(output))
    .add('system_instructions', system && boundedJson(system))
    .add('tool_definitions', tools && boundedJson(tools))
}

function serverSpan(record: ExportedRecord, row: ExportedRow, services: SpanServices): OtlpSpan {
  const {entry} = record
  const {detail, status} = row
  const route = routeOf(entry.endpoint)
  const is_good = isSuccess(status, entry.outcome)
  return {
    trace_id: traceIdOf(entry.trace_id),
    span_id: serverId(entry.call_id),
    parent_span_id: spanIdOf(detail.parent_span_id),
    name: `${detail.method} ${route ?? entry.endpoint}`,
    kind: SPAN_KINDS.server,
    ...timesOf(record),
    attributes: serverAttributes(record, row, services).list,
    status: {code: is_good ? STATUS_CODES.ok : STATUS_CODES.error, message: String(status)},
  }
}

/** The facts of a call as a whole: no tokens and no cost, which its answered attempt has. */
export function serverAttributes({entry}: ExportedRecord, row: ExportedRow, {names, content}: SpanServices) {
  const {detail, status} = row
  const is_good = isSuccess(status, entry.outcome)
  const of = new AttributeList(names)
    .add('http_method', detail.method)
    .add('http_route', routeOf(entry.endpoint))
    .add('http_status', status)
    .add('operation', operationOf(entry.endpoint))
    .add('provider', providerName(entry.provider))
    .add('request_model', entry.model)
    .add('error_type', is_good ? undefined : status >= 400 ? String(status) : entry.outcome)
    .add('call_id', entry.call_id)
    .add('key_id', entry.api_key_id || undefined)
    .add('workspace_id', entry.workspace_id)
    .add('organisation_id', entry.organisation_id)
    .add('config_id', entry.config_id)
    .add('cache_status', row.cache_status)
    .add('policy_ids', policyIds(entry.counter_keys))
  if (content !== 'none') for (const [key, value] of metadataOf(row.metadata)) of.named(METADATA_PREFIX + key, value)
  // it may quote the prompt
  if (content === 'full' && detail.keeps_bodies) of.add('error_message', detail.error)
  return of
}

/** The policies whose counters the call claimed. */
function policyIds(counter_keys: string): readonly string[] | undefined {
  if (!counter_keys.includes('/policy/')) return undefined
  const found = [...counter_keys.matchAll(/\/policy\/([^/"]+)\//g)].map(match => match[1]!)
  return [...new Set(found)]
}
