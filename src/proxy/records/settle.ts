import type {Refusal, RefusalCode} from '../../base/errors.ts'
import {parseJson} from '../../base/json-object.ts'
import {NOTHING_OWED} from '../../charge/charged.ts'
import type {WorkEnd} from '../../charge/settlement.ts'
import {ChargedWork, type LateHooks, type WorkRow} from '../../charge/work.ts'
import {mayAskMode} from '../../providers/openai/mode.ts'
import {estimateTokens} from '../../providers/openai/observe.ts'
import {hasParams} from '../../routing/params.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {HookResults} from '../../schema/guardrails.ts'
import type {Intent, LogRecord, Outcome} from '../../schema/records.ts'
import type {Spent} from '../../schema/spent.ts'
import {bodiesOf, type ClientCall, DIRECT_ROUTE, logOf, type RouteInfo} from '../call/call.ts'
import {makes, modelsOfObjects, noteJudged, noteMade} from '../call/indirect.ts'
import {chargeOf} from '../call/work.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import {type UpstreamRequest, upstreamUrl} from '../upstream/build-request.ts'
import type {AttemptResult} from './attempt-result.ts'
import {leftInBackground} from './deferred/background-responses.ts'
import {chargeDeferred} from './deferred/charge.ts'
import {isLeft, leftPrompt} from './left-prompt.ts'
import {costByHops, costOf, priceOf} from './price.ts'
import {type AttemptUsage, speaks, usedBy} from './usage.ts'

/** The services that settle an attempt. */
export type SettleServices = Uses<
  | 'after'
  | 'deferred'
  | 'judged'
  | 'limits'
  | 'log'
  | 'masked'
  | 'metrics'
  | 'now'
  | 'prices'
  | 'recorder'
  | 'seen'
  | 'settings'
  | 'steady'
>

/** The intent of the next attempt, with the least it can come to cost: its prompt. */
export function intentOf(call: ClientCall, target: Target, model: string | null, services: SettleServices): Intent {
  const bytes = speaks(call) && 'bytes' in call.body ? call.body.bytes.length : 0
  const {at_ms} = call
  const price = bytes && model !== null ? priceOf(target, model, null, at_ms, services) : undefined
  const hold = price
    ? services.prices.cost({input_uncached_tokens: estimateTokens(bytes)}, price, at_ms).cost_nanousd
    : 0
  return chargeOf(call, target, model, hold)
}

/** The record of an attempt's end. */
export interface Settling {
  readonly call: ClientCall
  readonly target: Target
  readonly request: UpstreamRequest
  readonly work: ChargedWork
  readonly intent: Intent
  readonly result: AttemptResult
  /** The answer's body, decoded; null where it is not there whole. */
  readonly plain: Buffer | null
  readonly route: RouteInfo
  /** False when the same target is tried again: the row is its last attempt's. */
  readonly has_row: boolean
  /** True when the client is answered with it. */
  readonly is_last: boolean
  /** Called with what counts against limits. */
  readonly spend: (actual: Spent) => void
  /** Takes what was sent as a secret out of what is kept; null where nothing was. */
  readonly mask: {kept(bytes: Buffer): Buffer} | null
}

/** Writes the attempt's usage and cost, and its row of the log; `done` runs once that is safe, or has failed. */
export function settle(settling: Settling, services: SettleServices, done: () => void): void {
  const is_unanswered = isUnanswered(settling, services)
  const waits = chargeDeferred(settling, services) ?? leftPrompt(settling)
  if (!waits) return write(settling, {is_unanswered, prompt_tokens: null}, services, done)
  void waits.then(found => write(settling, {is_unanswered, prompt_tokens: found ?? null}, services, done))
}

/** The facts of a call that was left which only its end has. */
interface LeftCall {
  readonly is_unanswered: boolean
  /** As its engine counted them. */
  readonly prompt_tokens: number | null
}

function write(settling: Settling, left: LeftCall, services: SettleServices, done: () => void): void {
  const {call, target, request, work, result, plain, has_row, is_last, spend} = settling
  const {is_unanswered} = left
  if (is_unanswered) call.unanswered_at = target
  const {usage, source, reported_model, hops} = usageOf(settling, left)
  const {at_ms} = call
  const price = isCounted(source) ? priceOf(target, request.model, reported_model, at_ms, services) : undefined
  const charged = !isCounted(source)
    ? NOTHING_OWED
    : hops
      ? costByHops(target, {usage, hops}, {model: request.model, price, at_ms}, services)
      : costOf(target, usage, price, at_ms, services)
  const has_left = hasLeft(result)
  const end: WorkEnd = {
    outcome: result.outcome,
    status: result.statuses.provider,
    model: request.model ?? reported_model,
    usage,
    usage_source: source,
    charged,
    hops,
    delivered: is_last && !call.relay.gone,
    is_unanswered,
    has_entry: has_left,
    covers: has_left ? undefined : earlierTries(settling),
    is_part: !is_last,
  }
  const row: WorkRow = {
    log: rowOf(settling, services.steady()),
    has_row,
    bodies: has_row
      ? bodiesOf(call, {headers: result.headers, ...loggedBody(call.endpoint, result, plain, services)}, services)
      : null,
    spend,
    counted_as: is_last ? 'call' : 'part',
    hooks: lateHooks(call, settling.mask),
  }
  work.settle(end, row, done)
  if (plain && is_last && result.outcome === 'ok') noteObject(settling, plain, services)
}

/** False where there is nothing to be priced. */
function isCounted(source: AttemptUsage['source']): boolean {
  return source !== 'none' && source !== 'unmetered'
}

/** A later call may run what this one made. */
function noteObject({call, target, request, result}: Settling, plain: Buffer, {seen, judged}: SettleServices) {
  if ((result.statuses.provider ?? 500) < 300) noteJudged(call, target, plain, judged)
  if ((!call.is_passthrough && call.endpoint !== 'uploadFile') || (result.statuses.provider ?? 500) >= 300) return
  if (!makes(call.incoming)) return
  const models = call.row_models ?? (request.model === null ? modelsOfObjects(call, target, seen) : [request.model])
  if (models) noteMade(call, target, models, plain, seen)
}

/**
 * True where the provider may have worked on the request, and may charge for it, although no answer began: it was
 * written whole, and then given up by us, or the connection broke after so long that the model was at work. Of the
 * tries at one target the first alone is charged.
 */
function isUnanswered({call, target, request, result}: Settling, {settings, steady}: SettleServices): boolean {
  const {statuses, fault, times} = result
  if (statuses.provider !== null || !fault || times.written_at === 0 || !settings.charge_unanswered) return false
  if (!speaks(call) || call.unanswered_at === target) return false
  // An engine of the house sends no bill: its count of a call that was left is kept, and nothing is guessed for it.
  if (target.provider.is_engine) return request.countPrompt !== null && isLeft(result)
  return GIVEN_UP.has(fault.code) || (fault.code === 'upstream.broken' && steady() - times.written_at >= AT_WORK_MS)
}

/** Ends that come from our side. */
const GIVEN_UP: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'client.gone',
  'client.slow',
  'draining',
  'upstream.timeout',
])
/** A connection that breaks sooner broke for another reason than the work. */
const AT_WORK_MS = 10_000

/** False when it was called off before any of it was sent: a provider that heard nothing has no place in the ledger. */
function hasLeft({times, fault}: AttemptResult): boolean {
  return times.sent_at > 0 || (fault?.code !== 'client.gone' && fault?.code !== 'draining')
}

/** Of an attempt that never left: those before it that its row covers. */
function earlierTries({intent: {attempt}, route: {retry_count}}: Settling): readonly [number, number] | undefined {
  return retry_count > 0 ? [attempt - retry_count, attempt - 1] : undefined
}

/** Writes the row of a call that was refused before it could leave. */
export function note(
  call: ClientCall,
  target: Target | null,
  fault: Refusal,
  services: SettleServices,
  route: RouteInfo = DIRECT_ROUTE,
  tries = 0,
): void {
  const reply = {headers: {}, body: null, encoding: null, cut: false}
  const outcome = fault.code === 'client.gone' ? 'aborted' : 'failed'
  noteRow(
    call,
    target,
    route,
    {status: fault.status, error: fault.message, outcome, is_stream: false, bytes: 0, reply, tries},
    services,
  )
}

/**
 * Writes the row of a call that was answered here, with what was kept or counted: it costs nothing (decisions:
 * configs).
 */
export function noteServed(
  call: ClientCall,
  target: Target,
  route: RouteInfo,
  answer: {
    readonly status: number
    readonly bytes: Buffer
    readonly headers: Record<string, string>
    readonly is_stream: boolean
  },
  services: SettleServices,
): void {
  const {status, bytes, headers, is_stream} = answer
  const most = services.settings.log_body_max_bytes
  const reply = {
    headers,
    body: bytes.length > most ? bytes.subarray(0, most) : bytes,
    encoding: null,
    cut: bytes.length > most,
  }
  noteRow(call, target, route, {status, error: null, outcome: 'ok', is_stream, bytes: bytes.length, reply}, services)
}

interface Noted {
  readonly status: number
  readonly error: string | null
  readonly outcome: Outcome
  readonly is_stream: boolean
  readonly bytes: number
  readonly reply: Parameters<typeof bodiesOf>[1]
  /** The last attempts of the call that had no row of their own. */
  readonly tries?: number
}

function noteRow(
  call: ClientCall,
  target: Target | null,
  route: RouteInfo,
  fields: Noted,
  services: SettleServices,
): void {
  const last_byte_ms = services.steady() - call.started
  const model = 'model' in call.body ? call.body.model : null
  const log = logOf(call, route, {
    response_status: fields.status,
    is_stream: fields.is_stream,
    upstream_url: null,
    response_bytes: fields.bytes,
    error: fields.error,
    connect_ms: null,
    first_byte_ms: null,
    last_byte_ms,
    overhead_ms: last_byte_ms,
  })
  const end: WorkEnd = {
    outcome: fields.outcome,
    status: null,
    model,
    usage: {},
    usage_source: 'none',
    charged: NOTHING_OWED,
    delivered: !call.relay.gone,
    covers: fields.tries ? [call.attempts - fields.tries + 1, call.attempts] : undefined,
  }
  const row = {log, bodies: bodiesOf(call, fields.reply, services), counted_as: 'call' as const, hooks: lateHooks(call)}
  new ChargedWork(chargeOf(call, target, model, 0), services).note(end, row)
}

/** The log takes what they say of the way in place of what it had. */
function lateHooks({guardrails}: ClientCall, mask: Settling['mask'] = null): LateHooks | null {
  return guardrails?.late ? {late: guardrails.late, results: () => masked(guardrails.logged, mask)} : null
}

/** Guardrails quote what they judged, and an answer may repeat the provider's credential. */
function masked(results: HookResults | undefined, mask: Settling['mask']): HookResults | undefined {
  if (!results || !mask) return results
  const bytes = Buffer.from(JSON.stringify(results))
  const kept = mask.kept(bytes)
  return kept === bytes ? results : (parseJson(kept.toString()) as HookResults)
}

/** The usage that the provider reported, or an estimate where it reported none. */
function usageOf(
  {call, target, request, result, plain}: Settling,
  {is_unanswered, prompt_tokens}: LeftCall,
): AttemptUsage {
  const {endpoint, operation, body, incoming} = call
  const {body: sent} = request
  const {stream, source, statuses, headers, outcome, rewritten, received_bytes, copy} = result
  const may_ask = body.kind === 'json' && (mayAskMode(body.members) || hasParams(target.params))
  return usedBy({
    kind: target.provider.slug,
    endpoint,
    method: incoming.method,
    path: incoming.route.path,
    operation,
    model: request.model,
    request_body: body.kind === 'json' ? body.bytes : null,
    prompt_tokens,
    mode_in: may_ask ? (Buffer.isBuffer(sent) ? sent : body.bytes) : null,
    asked_bytes: 'bytes' in body ? body.bytes.length : null,
    status: statuses.provider,
    outcome,
    reply_facts: stream ?? rewritten,
    plain,
    reply_headers: headers,
    text_pieces: stream ? stream.pieces : 0,
    text_bytes: stream ? stream.text_bytes : copy.isCut ? received_bytes : (plain?.length ?? received_bytes),
    is_skimmed: copy.isCut,
    is_unanswered,
    is_background: leftInBackground(source) !== null,
    is_cut_stream: stream !== null && (outcome !== 'ok' || (source?.is_unfinished ?? false)),
  })
}

function rowOf({call, request, result, route, is_last, mask}: Settling, now: number): LogRecord {
  const {started} = call
  const {queued_at, sent_at, first_byte_at, last_byte_at} = result.times
  const upstream_ms = sent_at && last_byte_at ? last_byte_at - sent_at : 0
  return logOf(call, route, {
    response_status: statusOf(result, is_last, call),
    is_stream: result.stream !== null,
    upstream_url: upstreamUrl(request),
    response_bytes: result.received_bytes,
    error: result.fault?.message ?? result.stream?.failed?.message ?? null,
    connect_ms: sent_at ? sent_at - queued_at : null,
    first_byte_ms: first_byte_at ? first_byte_at - started : null,
    last_byte_ms: now - started,
    overhead_ms: now - started - upstream_ms,
    hook_results: masked(call.guardrails?.logged, mask),
  })
}

/** The client's status; of an answer that did not pass, the status that routing decided by. */
function statusOf({fault, statuses}: AttemptResult, is_last: boolean, {relay}: ClientCall): number {
  if (!is_last) return statuses.routing ?? fault?.status ?? statuses.provider ?? 0
  return fault && !relay.started ? fault.status : (statuses.client ?? statuses.provider ?? 0)
}

/** Vectors and sound are not kept in the log; text is, up to the limit of the settings. */
function loggedBody(
  endpoint: EndpointName,
  result: AttemptResult,
  plain: Buffer | null,
  services: SettleServices,
): {body: Buffer | null; encoding: string | null; cut: boolean} {
  const type = result.headers['content-type'] ?? ''
  if (endpoint === 'embed' || !/json|text|event-stream|xml/.test(type)) return {body: null, encoding: null, cut: false}
  const whole = result.copy.isCut ? null : plain
  const bytes = whole ?? result.copy.bytes()
  const most = services.settings.log_body_max_bytes
  return {
    body: bytes.length > most ? bytes.subarray(0, most) : bytes,
    encoding: whole ? null : result.encoding,
    cut: result.copy.isCut || bytes.length > most,
  }
}
