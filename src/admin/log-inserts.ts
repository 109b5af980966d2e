import {z} from 'zod'
import {newTimeId} from '../base/ids.ts'
import {charged, NOTHING_OWED} from '../charge/charged.ts'
import {intent} from '../charge/intent.ts'
import {logRow} from '../charge/log-row.ts'
import {settlement, type WorkEnd} from '../charge/settlement.ts'
import {userOf} from '../identity/subject.ts'
import {cost} from '../pricing/cost.ts'
import type {Pricing} from '../pricing/open.ts'
import {membersThatMayCost} from '../providers/informative-members.ts'
import {readReply} from '../providers/openai/reply.ts'
import {usageOfKind} from '../providers/service-tiers.ts'
import {type LogInsert, LogInserts} from '../schema/log-inserts.ts'
import type {LogBodies, LogRecord, Settlement} from '../schema/records.ts'
import {maskedHeaders} from './audit.ts'
import {type OperationCall, operation} from './operation.ts'
import {freshPricing} from './prices/pricing.ts'
import {invalid, workspaceOf} from './tenancy.ts'

const MAX_METADATA = 128
const MAX_KEYS = 50
const PLACE: ReadonlySet<string> = new Set(['trace_id', 'span_id', 'span_name', 'parent_span_id', 'user'])

/**
 * Calls that were made without the gateway, for the log alone: they take nothing from any limit, and the ledger does
 * not know them.
 */
export const logInserts = [
  operation({
    id: 'logs.insert',
    tag: 'Logs',
    method: 'POST',
    path: '/logs',
    summary: 'Put calls that were made elsewhere into the log',
    scopes: ['completions.write', 'logs.write'],
    only_reads: true,
    takes_nul: true,
    body: LogInserts,
    reply: z.literal('ok'),
    handle: inserted,
  }),
] as const

async function inserted(call: OperationCall<undefined, undefined, typeof LogInserts>): Promise<'ok'> {
  const {app, body} = call
  if (!app.insert_log)
    throw invalid('the request', 'rows are put into the log of a gateway that runs: name it with --url')
  const {id: workspace_id} = await workspaceOf(call, undefined)
  const pricing = await freshPricing(app)
  for (const one of Array.isArray(body) ? body : [body]) {
    const row = settlementOf(call, workspace_id, one, pricing)
    app.insert_log(row, bodiesOf(call, row.log!.id, one))
  }
  return 'ok'
}

function settlementOf(
  {actor, now}: Pick<OperationCall, 'actor' | 'now'>,
  workspace_id: string,
  insert: LogInsert,
  pricing: Pricing,
): Settlement {
  const {request, response, metadata} = insert
  const at_ms = Date.parse(now)
  const id = newTimeId(at_ms)
  const {usage, ...read} = readReply('chatComplete', Buffer.from(JSON.stringify(response.body)))
  const requested_model = typeof request.body.model === 'string' ? request.body.model : null
  const model = requested_model ?? read.model ?? null
  const provider = request.provider ?? hostOf(request.url)
  const used = usage && usageOfKind(provider, usage)
  const price = model === null ? undefined : pricing.lookup(provider, model)
  const owed = used ? cost(used, price, {at: at_ms}) : NOTHING_OWED
  const usage_unknown = membersThatMayCost(provider, used?.unknown ?? [])
  const charge = intent({
    kind: 'call',
    call_id: id,
    trace_id: metadata.trace_id ?? id,
    organisation_id: actor.organisation_id,
    workspace_id,
    principal: {kind: 'api_key', id: actor.subject.id ?? 'operator'},
    user_id: userOf(actor.subject),
    managed: null,
    config_id: null,
    provider,
    model,
    endpoint: 'proxy',
    admitted_at: now,
  })
  const end: WorkEnd = {
    outcome: 'ok',
    status: response.status,
    model,
    usage: used ?? {},
    usage_source: used ? 'provider' : 'none',
    charged: charged(owed, usage_unknown, usage_unknown.length > 0 && owed.cost_nanousd > 0),
    delivered: true,
    // no attempt of ours: the ledger has no entry of it
    has_entry: false,
  }
  return settlement(charge, end, rowOf(id, now, insert), now)
}

function rowOf(id: string, created_at: string, {request, response, metadata}: LogInsert): LogRecord {
  return logRow({
    id,
    created_at,
    span_id: metadata.span_id,
    parent_span_id: metadata.parent_span_id,
    span_name: metadata.span_name,
    method: request.method,
    url: request.url,
    upstream_url: request.url,
    response_status: response.status,
    is_stream: response.streamingMode !== undefined && response.streamingMode !== false,
    is_passthrough: true,
    request_bytes: Buffer.byteLength(JSON.stringify(request.body)),
    response_bytes: Buffer.byteLength(JSON.stringify(response.body)),
    metadata: textsOf(metadata),
    last_byte_ms: response.response_time,
    keeps_bodies: true,
    received_at: created_at,
  })
}

/** The members beside the place in a trace, as texts. */
function textsOf(metadata: LogInsert['metadata']): Record<string, string> {
  const user = metadata.user === undefined ? {} : {_user: metadata.user}
  const fields = Object.entries({...user, ...metadata}).filter(([key]) => !PLACE.has(key))
  const text = (value: unknown) =>
    (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, MAX_METADATA)
  return Object.fromEntries(fields.slice(0, MAX_KEYS).map(([key, value]) => [key.slice(0, MAX_METADATA), text(value)]))
}

function bodiesOf({app}: Pick<OperationCall, 'app'>, log_id: string, {request, response}: LogInsert): LogBodies {
  const most = app.settings.log_body_max_bytes
  const [wanted, answered] = [Buffer.from(JSON.stringify(request.body)), Buffer.from(JSON.stringify(response.body))]
  const headers = (given: Record<string, string>) => maskedHeaders(given, app.settings.organisation_headers_to_mask)
  return {
    log_id,
    request_headers: headers(request.headers),
    request_body: wanted.subarray(0, most),
    response_headers: headers(response.headers),
    response_body: answered.subarray(0, most),
    response_encoding: null,
    cut: wanted.length > most || answered.length > most,
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.slice(0, 255) || 'unknown' : 'unknown'
}
