import {parsed, parsedObject} from '../../base/json-object.ts'
import {type OtlpSpan, SPAN_KINDS, STATUS_CODES} from '../otlp/model.ts'
import {METADATA_PREFIX} from '../semconv.ts'
import {AttributeList} from './attributes.ts'
import {boundedJson} from './bounded.ts'
import {guardrailSpans} from './guardrail-spans.ts'
import {derivedSpanId, spanIdOf, traceIdOf} from './ids.ts'
import {type ExportedRecord, type ExportedRow, timesOf} from './record.ts'
import {metadataOf, placeOf, type SpanServices} from './span-services.ts'

/**
 * The spans of a message to an MCP server: SERVER for what came in, CLIENT for what went to the upstream. The CLIENT
 * span has the id that the upstream was given as its parent.
 */
export function mcpSpans(record: ExportedRecord, row: ExportedRow, services: SpanServices): readonly OtlpSpan[] {
  const {entry} = record
  const {detail} = row
  const server_id = derivedSpanId('call', entry.call_id)
  const guards = guardrailSpans(record, row, server_id, services)
  if (row.ending === 'again') return guards
  const mcp = detail.mcp!
  const named = mcp.name !== null && mcp.method !== 'resources/read'
  const {start_us, end_us} = timesOf(record)
  const upstream_us = Math.max(0, Math.round((detail.last_byte_ms - detail.overhead_ms) * 1000))
  const fault = faultOf(row)
  const common = {
    trace_id: traceIdOf(entry.trace_id),
    name: named ? `${mcp.method} ${mcp.name}` : mcp.method,
    end_us,
    status: fault === null ? {code: STATUS_CODES.ok} : {code: STATUS_CODES.error, message: fault},
  }
  const server: OtlpSpan = {
    ...common,
    span_id: server_id,
    parent_span_id: spanIdOf(detail.parent_span_id),
    kind: SPAN_KINDS.server,
    start_us,
    attributes: serverAttributes(record, row, fault, services),
  }
  if (mcp.upstream_protocol === null) return [server, ...guards]
  const client: OtlpSpan = {
    ...common,
    span_id: spanIdOf(row.span_id) ?? derivedSpanId('upstream', entry.call_id),
    parent_span_id: server_id,
    kind: SPAN_KINDS.client,
    start_us: Math.max(start_us, end_us - upstream_us),
    attributes: clientAttributes(record, row, fault, services),
  }
  return [server, client, ...guards]
}

/** A tool that says it failed answered with 200. */
function faultOf({detail, status}: ExportedRow): string | null {
  const {outcome, rpc_code} = detail.mcp!
  if (outcome === 'ok' || outcome === 'input_required') return null
  if (outcome === 'tool_error') return 'tool_error'
  if (rpc_code !== null) return String(rpc_code)
  return status >= 400 ? String(status) : outcome
}

function commonAttributes(
  {entry}: ExportedRecord,
  {detail}: ExportedRow,
  fault: string | null,
  services: SpanServices,
) {
  const mcp = detail.mcp!
  return new AttributeList(services.names)
    .add('mcp_method', mcp.method)
    .add('operation', mcp.method === 'tools/call' ? 'execute_tool' : undefined)
    .add('mcp_tool', mcp.method === 'tools/call' ? mcp.name : undefined)
    .add('prompt_name', mcp.method === 'prompts/get' ? mcp.name : undefined)
    .add('mcp_rpc_status', mcp.rpc_code === null ? undefined : String(mcp.rpc_code))
    .add('error_type', fault)
    .add('mcp_server', mcp.server_id)
    .add('call_id', entry.call_id)
    .add('workspace_id', entry.workspace_id)
    .add('organisation_id', entry.organisation_id)
}

function serverAttributes(record: ExportedRecord, row: ExportedRow, fault: string | null, services: SpanServices) {
  const {entry, bodies} = record
  const {detail, status} = row
  const mcp = detail.mcp!
  const {content} = services
  const of = commonAttributes(record, row, fault, services)
    .add('mcp_protocol', mcp.client_protocol)
    .add('mcp_session', mcp.session_digest)
    .add('mcp_rpc_id', requestId(mcp.rpc_id))
    .add('http_status', status)
    .add('key_id', entry.api_key_id || undefined)
    .add('mcp_workspace', entry.workspace_id)
    .add('mcp_client_transport', detail.is_stream ? 'sse' : 'http')
    .add('mcp_upstream_transport', mcp.upstream_transport)
    .add('mcp_success', fault === null)
    .add('mcp_duration_ms', detail.last_byte_ms)
    .add('mcp_auth', mcp.auth)
  if (content !== 'none') for (const [key, value] of metadataOf(row.metadata)) of.named(METADATA_PREFIX + key, value)
  if (content === 'full' && detail.keeps_bodies) {
    of.add('mcp_error', detail.error)
    if (mcp.method === 'tools/call') {
      const params = jsonOf(bodies?.request_body)
      of.add('mcp_params', params && boundedJson(params.arguments ?? params))
      of.add('mcp_result', boundedJsonOf(bodies?.response_body))
    }
  }
  return of.list
}

function clientAttributes(record: ExportedRecord, row: ExportedRow, fault: string | null, services: SpanServices) {
  const {entry} = record
  const {address, port} = placeOf(row.detail.upstream_url)
  return commonAttributes(record, row, fault, services)
    .add('mcp_protocol', row.detail.mcp!.upstream_protocol)
    .add('server_address', address)
    .add('server_port', port)
    .add('cost', entry.attempt > 0 ? entry.cost_nanousd : undefined).list
}

/** The id of a request from its JSON, as the conventions have it: a text without its quotes, and nothing for null. */
function requestId(json: string | undefined): string | undefined {
  if (json === undefined || json === 'null') return undefined
  if (!json.startsWith('"')) return json
  const text = parsed(json)
  // one that was cut has no end
  return typeof text === 'string' ? text : json.slice(1)
}

const jsonOf = (body: Uint8Array | null | undefined) => (body ? parsedObject(Buffer.from(body).toString()) : undefined)
function boundedJsonOf(body: Uint8Array | null | undefined): string | undefined {
  const value = jsonOf(body)
  return value && boundedJson(value)
}
