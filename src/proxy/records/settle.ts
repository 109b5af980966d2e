import {isoTime} from '../../base/clock.ts'
import type {Refusal} from '../../base/errors.ts'
import {mayAskMode} from '../../providers/openai/mode.ts'
import {estimateTokens} from '../../providers/openai/observe.ts'
import {hasParams} from '../../routing/params.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Intent, LogRecord, Outcome, Settlement} from '../../schema/records.ts'
import {TOKEN_CLASSES, totals, type Usage} from '../../schema/usage.ts'
import {bodiesOf, type Call, chargeOf, DIRECT_ROUTE, logOf, type RouteInfo} from '../call/call.ts'
import type {ProxyServices} from '../services.ts'
import type {Target} from '../targets/target.ts'
import type {Copy} from '../upstream/body-copy.ts'
import {type UpstreamRequest, upstreamUrl} from '../upstream/build-request.ts'
import type {Stream} from '../upstream/stream.ts'
import {chargeDeferred} from './deferred/charge.ts'
import {chargedIn, costOf, NOTHING_OWED, priceOf} from './price.ts'
import {SPEAKS, type Used, usedBy} from './usage.ts'

/** What an attempt came to. Times are of the clock that durations are taken with; 0 where it did not get so far. */
export interface AttemptResult {
  readonly status: number | null
  readonly headers: Record<string, string>
  readonly encoding: string | null
  readonly received_bytes: number
  readonly stream: Stream | null
  readonly copy: Copy
  readonly outcome: Outcome
  readonly fault: Refusal | null
  /** The status it was judged by, where that was. */
  readonly routing_status: number | null
  /** What the client is told in place of the provider's status. */
  readonly client_status: number | null
  /** What a translation found in a whole answer; null where the answer itself is read. */
  readonly said: {readonly usage: Usage | null; readonly model: string | null; readonly content_type: string} | null
  readonly times: {readonly queued_at: number; readonly sent_at: number; readonly first_byte_at: number; readonly last_byte_at: number}
}

/** The intent of the next attempt, with the least it can come to cost: its prompt. */
export function intentOf(call: Call, target: Target, model: string | null, on: ProxyServices): Intent {
  const bytes = SPEAKS.has(call.endpoint) && 'bytes' in call.body ? call.body.bytes.length : 0
  const {at_ms} = call.incoming
  const price = bytes && model !== null ? priceOf(target, model, null, at_ms, on) : undefined
  const hold = price ? on.prices.cost({input_uncached_tokens: estimateTokens(bytes)}, price, at_ms).cost_nanousd : 0
  return chargeOf(call, target, model, hold)
}

/** What is written of an attempt's end. */
export interface Settling {
  readonly call: Call
  readonly target: Target
  readonly outgoing: UpstreamRequest
  readonly intent: Intent
  readonly reply: AttemptResult
  /** The answer's body, decoded; null where it is not there whole. */
  readonly plain: Buffer | null
  readonly passage: RouteInfo
  /** False when the same target is asked again: the row is its last attempt's. */
  readonly has_row: boolean
  /** True when the client is answered with it. */
  readonly is_last: boolean
  /** Told what counts against limits. */
  readonly spend: (actual: {readonly tokens: number; readonly cost_nanousd: number}) => void
}

/** Writes what the attempt used and cost, and its row of the log; `done` runs once that is safe, or cannot be had. */
export function settle(said: Settling, on: ProxyServices, done: () => void): void {
  const charged = chargeDeferred(said, on)
  if (charged) void charged.then(() => write(said, on, done))
  else write(said, on, done)
}

function write(said: Settling, on: ProxyServices, done: () => void): void {
  const {call, target, outgoing, intent, reply, plain, passage, has_row, is_last, spend} = said
  const {usage, source, said_model} = usageOf(call, target, outgoing, reply, plain)
  const {at_ms} = call.incoming
  const price = source === 'none' ? undefined : priceOf(target, outgoing.model, said_model, at_ms, on)
  const charged = source === 'none' ? NOTHING_OWED : costOf(target, usage, price, at_ms, on)
  const {cost_nanousd, unpriced} = charged
  const {prompt_tokens, completion_tokens} = totals(usage)
  const now = performance.now()
  const model = outgoing.model ?? said_model
  const log = logRow(said, now)
  const settlement: Settlement = {
    ...intent,
    ...(hasLeft(reply) ? {} : neverMade(intent, passage)),
    model,
    hold_nanousd: 0,
    settled_at: isoTime(on.now()),
    outcome: reply.outcome,
    status: reply.status,
    usage: used(usage),
    usage_source: source,
    ...chargedIn(charged),
    delivered: is_last && !call.relay.gone,
    log: has_row ? log : null,
  }
  spend({tokens: prompt_tokens + completion_tokens, cost_nanousd})
  const bodies = !has_row ? null : bodiesOf(call, {headers: reply.headers, ...loggedBody(call.endpoint, reply, plain, on)}, on)
  const written = (fault?: Error) => {
    if (fault) on.log.error({fault, call_id: call.id, trace_id: settlement.trace_id}, 'a settlement could not be written')
    done()
  }
  on.recorder.settle(settlement, bodies, written, intent)
  amend(call, settlement, on)
  if (!is_last) return
  on.metrics.ended({
    method: call.incoming.method,
    endpoint: call.asked,
    provider: target.provider.slug,
    model,
    status: log.response_status,
    is_stream: log.is_stream,
    total_ms: log.last_byte_ms,
    upstream_ms: reply.times.sent_at && reply.times.last_byte_at ? reply.times.last_byte_at - reply.times.sent_at : null,
    overhead_ms: log.overhead_ms,
    tokens: prompt_tokens + completion_tokens,
    cost_nanousd,
    unpriced,
    unpriced_units: settlement.unpriced_units,
    mode_unpriced: settlement.mode_unpriced,
    cache_status: passage.cache_status,
  })
}

/** False when it was called off before any of it was sent: a provider that heard nothing has no place in the ledger. */
function hasLeft({times, fault}: AttemptResult): boolean {
  return times.sent_at > 0 || (fault?.code !== 'client.gone' && fault?.code !== 'draining')
}

/** The intent ends as that of no attempt: its row covers the ones before it. */
function neverMade({attempt}: Intent, {retry_count}: RouteInfo): Pick<Settlement, 'attempt' | 'counter_keys' | 'covers'> {
  const covers = retry_count > 0 ? {covers: [attempt - retry_count, attempt - 1] as const} : {}
  return {attempt: 0, counter_keys: [], ...covers}
}

/** Writes the row of a call that was refused before it could leave. */
export function note(
  call: Call,
  target: Target | null,
  fault: Refusal,
  on: ProxyServices,
  passage: RouteInfo = DIRECT_ROUTE,
  tries = 0,
): void {
  const reply = {headers: {}, body: null, encoding: null, cut: false}
  const outcome = fault.code === 'client.gone' ? 'aborted' : 'failed'
  noteRow(call, target, passage, {status: fault.status, error: fault.message, outcome, is_stream: false, bytes: 0, reply, tries}, on)
}

/** Writes the row of a call that was answered here, with what was kept or counted: it costs nothing (decisions: configs). */
export function noteServed(
  call: Call,
  target: Target,
  passage: RouteInfo,
  answer: {readonly status: number; readonly bytes: Buffer; readonly headers: Record<string, string>; readonly is_stream: boolean},
  on: ProxyServices,
): void {
  const {status, bytes, headers, is_stream} = answer
  const most = on.settings.log_body_max_bytes
  const reply = {headers, body: bytes.length > most ? bytes.subarray(0, most) : bytes, encoding: null, cut: bytes.length > most}
  noteRow(call, target, passage, {status, error: null, outcome: 'ok', is_stream, bytes: bytes.length, reply}, on)
  on.metrics.ended({
    method: call.incoming.method,
    endpoint: call.asked,
    provider: target.provider.slug,
    model: 'model' in call.body ? call.body.model : null,
    status,
    is_stream,
    total_ms: performance.now() - call.incoming.started,
    upstream_ms: null,
    overhead_ms: performance.now() - call.incoming.started,
    tokens: 0,
    cost_nanousd: 0,
    unpriced: false,
    cache_status: passage.cache_status,
  })
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

function noteRow(call: Call, target: Target | null, passage: RouteInfo, said: Noted, on: ProxyServices): void {
  const last_byte_ms = performance.now() - call.incoming.started
  const model = 'model' in call.body ? call.body.model : null
  const log = logOf(call, passage, {
    response_status: said.status,
    is_stream: said.is_stream,
    upstream_url: null,
    response_bytes: said.bytes,
    error: said.error,
    connect_ms: null,
    first_byte_ms: null,
    last_byte_ms,
    overhead_ms: last_byte_ms,
  })
  const charge = {...chargeOf(call, target, model, 0), attempt: 0, counter_keys: []}
  const settled_at = isoTime(on.now())
  const covers = said.tries ? {covers: [call.attempts - said.tries + 1, call.attempts] as const} : {}
  const nothing = {usage: {}, usage_source: 'none', cost_nanousd: 0, unpriced: false} as const
  const row = {...charge, ...nothing, settled_at, outcome: said.outcome, status: null, delivered: !call.relay.gone, log, ...covers}
  on.recorder.note(row, bodiesOf(call, said.reply, on))
  amend(call, row, on)
}

/** Writes a row again when guardrails that nobody waited for have spoken: the log takes what it says of the way in place of what it had. */
function amend({guardrails: guarded}: Call, row: Settlement, on: ProxyServices): void {
  const late = row.log && guarded?.late
  if (!late) return
  const again = () => on.recorder.note({...row, attempt: 0, counter_keys: [], log: {...row.log!, hook_results: guarded.logged}}, null)
  late.then(again, again)
}

/** What the provider said it used, or what is to be made of its silence. */
function usageOf(
  {endpoint, body, incoming}: Call,
  target: Target,
  {body: sent}: UpstreamRequest,
  {stream, status, outcome, said, received_bytes, copy}: AttemptResult,
  plain: Buffer | null,
): Used {
  const may_ask = body.kind === 'json' && (mayAskMode(body.members) || hasParams(target.params))
  return usedBy({
    endpoint,
    method: incoming.method,
    path: incoming.route.path,
    asked: body.kind === 'json' ? body.bytes : null,
    mode_in: may_ask ? (Buffer.isBuffer(sent) ? sent : body.bytes) : null,
    asked_bytes: 'bytes' in body ? body.bytes.length : null,
    status,
    outcome,
    said: stream ?? said,
    plain,
    text_bytes: stream ? stream.text_bytes : copy.isCut ? received_bytes : (plain?.length ?? received_bytes),
    is_skimmed: copy.isCut,
    is_cut_stream: stream !== null && outcome !== 'ok',
  })
}

/** Usage without the classes that were not used. */
function used(usage: Usage): Partial<Usage> {
  const said: Partial<Usage> = {}
  for (const name of TOKEN_CLASSES) if (usage[name] > 0) said[name] = usage[name]
  if (Object.keys(usage.units).length > 0) said.units = usage.units
  return said
}

function logRow({call, outgoing, reply, passage, is_last}: Settling, now: number): LogRecord {
  const {started} = call.incoming
  const {queued_at, sent_at, first_byte_at, last_byte_at} = reply.times
  const upstream_ms = sent_at && last_byte_at ? last_byte_at - sent_at : 0
  return logOf(call, passage, {
    response_status: statusOf(reply, is_last, call),
    is_stream: reply.stream !== null,
    upstream_url: upstreamUrl(outgoing),
    response_bytes: reply.received_bytes,
    error: reply.fault?.message ?? reply.stream?.failed?.message ?? null,
    connect_ms: sent_at ? sent_at - queued_at : null,
    first_byte_ms: first_byte_at ? first_byte_at - started : null,
    last_byte_ms: now - started,
    overhead_ms: now - started - upstream_ms,
  })
}

/** What the client was answered; of an answer that did not pass, what it was judged by. */
function statusOf({fault, routing_status: judged, client_status: shown, status}: AttemptResult, is_last: boolean, {relay}: Call): number {
  if (!is_last) return judged ?? fault?.status ?? status ?? 0
  return fault && !relay.started ? fault.status : (shown ?? status ?? 0)
}

/** Vectors and sound are not kept in the log; text is, up to the limit of the settings. */
function loggedBody(
  endpoint: EndpointName,
  reply: AttemptResult,
  plain: Buffer | null,
  on: ProxyServices,
): {body: Buffer | null; encoding: string | null; cut: boolean} {
  const type = reply.headers['content-type'] ?? ''
  if (endpoint === 'embed' || !/json|text|event-stream|xml/.test(type)) return {body: null, encoding: null, cut: false}
  const whole = reply.copy.isCut ? null : plain
  const bytes = whole ?? reply.copy.bytes()
  const most = on.settings.log_body_max_bytes
  return {
    body: bytes.length > most ? bytes.subarray(0, most) : bytes,
    encoding: whole ? null : reply.encoding,
    cut: reply.copy.isCut || bytes.length > most,
  }
}
