import {derivedTimeId} from '../../base/ids.ts'
import {isSecretMember, maskedUrl} from '../../base/masked-url.ts'
import {isShort, MAX_ID_BYTES, MAX_MODEL_BYTES, storedText} from '../../base/stored-text.ts'
import {type Charged, charged, NOTHING_OWED} from '../../charge/charged.ts'
import {intent} from '../../charge/intent.ts'
import {logRow} from '../../charge/log-row.ts'
import {settlement} from '../../charge/settlement.ts'
import {RECEIVED_ENDPOINT, type ReceivedSpanDetail} from '../../schema/received-spans.ts'
import type {LogBodies, LogRecord, Settlement} from '../../schema/records.ts'
import type {Usage, UsageSource} from '../../schema/usage.ts'
import type {PricedUsage, SpanSender} from './ports.ts'
import type {ReceivedSpan, SpanAttributes, SpanValue} from './received.ts'
import {type ReportedWork, reportedWork} from './reported.ts'

/** A span that is taken: its times are there and fit. */
export interface TakenSpan extends ReceivedSpan {
  readonly start_ns: bigint
  readonly end_ns: bigint
  /** Its end was before its beginning, missing or in the future. */
  readonly has_bad_times: boolean
}

export interface RowParts {
  readonly sender: SpanSender
  /** The call through this gateway of which the span is the application's view. */
  readonly own_call_id: string | null
  /** When it came, ISO 8601. */
  readonly now: string
  readonly cost: (provider: string, models: readonly string[], usage: Partial<Usage>, at_ms: number) => PricedUsage
  readonly most_body_bytes: number
  readonly masked: ReadonlySet<string>
}

interface SpanRow {
  readonly row: Settlement
  readonly bodies: LogBodies | null
}

const NS_A_MS = 1_000_000n

/** The row of the log that a span becomes, and its content. No entry of the ledger, and nothing that counters claim. */
export function rowOfSpan(span: TakenSpan, parts: RowParts): SpanRow {
  const {sender, now, own_call_id} = parts
  const at_ms = Number(span.start_ns / NS_A_MS)
  const created_at = new Date(at_ms).toISOString()
  const id = derivedTimeId(at_ms, sender.workspace_id, span.trace_id, span.span_id)
  const reported = reportedWork(span.attributes)
  const work = span.is_record ? {...reported, is_charged: false} : reported
  const shown = shownWork(work, at_ms, parts)
  const model = shown.model === undefined ? null : storedText(shown.model, MAX_MODEL_BYTES)
  const begun = intent({
    kind: 'call',
    call_id: id,
    trace_id: span.trace_id,
    organisation_id: sender.organisation_id,
    workspace_id: sender.workspace_id,
    principal: sender.principal,
    user_id: sender.user_id,
    managed: null,
    config_id: null,
    provider: storedText(work.provider, MAX_ID_BYTES),
    model,
    endpoint: RECEIVED_ENDPOINT,
    admitted_at: created_at,
  })
  const end = {
    outcome: span.status.is_error ? 'failed' : 'ok',
    status: null,
    model,
    usage: shown.usage,
    usage_source: shown.source,
    charged: shown.charged,
    delivered: true,
    has_entry: false,
  } as const
  const bodies = sender.keeps_bodies ? bodiesOf(id, span, parts) : null
  const detail: ReceivedSpanDetail = {
    kind: span.kind,
    start_ns: String(span.start_ns),
    end_ns: String(span.end_ns),
    operation: work.operation === null ? null : storedText(work.operation, MAX_ID_BYTES),
    is_charged: work.is_charged,
    scope: storedText(span.source.scope.name, MAX_ID_BYTES),
    dropped: span.dropped,
    flags: [
      ...(span.has_bad_times ? (['times'] as const) : []),
      ...(work.is_charged && work.is_unfit ? (['tokens'] as const) : []),
      ...(span.is_cut ? (['cut'] as const) : []),
    ],
    own_call_id,
  }
  return {row: settlement(begun, end, logOf(id, created_at, span, detail, parts, bodies), now), bodies}
}

function logOf(
  id: string,
  created_at: string,
  span: TakenSpan,
  detail: ReceivedSpanDetail,
  {sender, now}: RowParts,
  bodies: LogBodies | null,
): LogRecord {
  const service = span.source.resource.get('service.name')
  const named: Record<string, string> = typeof service === 'string' && service !== '' ? {'service.name': service} : {}
  return logRow({
    id,
    created_at,
    span_id: span.span_id,
    parent_span_id: span.parent_span_id,
    span_name: span.name,
    method: 'POST',
    url: span.is_record ? '/v1/otel/v1/logs' : '/v1/otel/v1/traces',
    response_status: statusOf(span),
    metadata: {...sender.metadata, ...named},
    error: span.status.is_error && span.status.message !== '' ? storedText(span.status.message, MAX_ERROR_BYTES) : null,
    request_bytes: bodies?.request_body?.length ?? 0,
    last_byte_ms: Number(span.end_ns - span.start_ns) / Number(NS_A_MS),
    keeps_bodies: sender.keeps_bodies,
    span: detail,
    received_at: now,
  })
}

const MAX_ERROR_BYTES = 1024

/** The status of the answer, where the span has it; else one that says how it ended. */
function statusOf({attributes, status}: ReceivedSpan): number {
  const given = attributes.get('http.response.status_code') ?? attributes.get('http.status_code')
  // an object of the sender's may have members that break `Number`
  const found = typeof given === 'number' || typeof given === 'string' ? Number(given) : Number.NaN
  if (Number.isInteger(found) && found >= 100 && found <= 599 && found >= 400 === status.is_error) return found
  return status.is_error ? 500 : 200
}

interface ShownWork {
  readonly model: string | undefined
  readonly usage: Partial<Usage>
  readonly source: UsageSource
  readonly charged: Charged
}

/**
 * The tokens and the cost that a row shows: those of a model's work that did not pass through this gateway. The sums of
 * agents, and a call that has a row of its own, would count twice over a trace.
 */
function shownWork(work: ReportedWork, at_ms: number, {own_call_id, cost}: RowParts): ShownWork {
  const [model] = work.models
  if (!work.is_charged || own_call_id !== null) return {model, usage: {}, source: 'none', charged: NOTHING_OWED}
  if (work.is_unfit) return {model, usage: {}, source: 'reported', charged: charged(NOTHING_OWED, [], true)}
  if (!work.usage) return {model, usage: {}, source: 'none', charged: NOTHING_OWED}
  // prices are remembered by these names: one that is longer than a call may have is not looked up
  const models = isShort(work.provider, MAX_ID_BYTES) ? work.models.filter(each => isShort(each, MAX_MODEL_BYTES)) : []
  const found = cost(work.provider, models, work.usage, at_ms)
  return {model, usage: work.usage, source: 'reported', charged: charged(found, [], false)}
}

/** The whole content of the span, as the request; it has no response. */
function bodiesOf(log_id: string, span: TakenSpan, {masked, most_body_bytes}: RowParts): LogBodies {
  const {source, events, links, status, tracestate} = span
  const content = {
    attributes: plain(span.attributes, masked),
    ...(events.length > 0 && {
      events: events.map(({time_ns, name, attributes}) => ({
        name,
        time_ns: String(time_ns),
        attributes: plain(attributes, masked),
      })),
    }),
    ...(links.length > 0 && {links}),
    ...(status.message !== '' && {status_message: status.message}),
    ...(tracestate !== '' && {tracestate}),
    resource: plain(source.resource, masked),
    scope: source.scope,
  }
  const bytes = Buffer.from(JSON.stringify(content))
  return {
    log_id,
    request_headers: {'content-type': 'application/json'},
    request_body: bytes.subarray(0, most_body_bytes),
    response_headers: {},
    response_body: null,
    response_encoding: null,
    cut: span.is_cut || bytes.length > most_body_bytes,
  }
}

const MASK = '***'
/** Instrumentation may be set to record headers, and addresses with credentials in their query. */
const HEADER = /^(?:(?:http|messaging|gen_ai)\b.*\.header|rpc\b.*\.(?:header|metadata))\.(.+)$/
const URL_NAME = /(?:^|\.)(?:url|uri|target)(?:\.|$)/

function plain(attributes: SpanAttributes, masked: ReadonlySet<string>): Record<string, SpanValue> {
  return Object.fromEntries([...attributes].map(([name, value]) => [name, maskedAttribute(name, value, masked)]))
}

function maskedAttribute(name: string, value: SpanValue, masked: ReadonlySet<string>): SpanValue {
  const header = HEADER.exec(name)?.[1]?.toLowerCase().replaceAll('_', '-')
  if (header !== undefined && (masked.has(header) || isSecretMember(header))) return MASK
  if (typeof value !== 'string' || !URL_NAME.test(name)) return value
  return name === 'url.query' ? maskedUrl(`?${value}`).slice(1) : maskedUrl(value)
}
