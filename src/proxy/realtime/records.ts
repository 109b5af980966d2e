import {isoTime} from '../../base/clock.ts'
import {newSpanId, newTimeId} from '../../base/ids.ts'
import type {HookResults} from '../../schema/guardrails.ts'
import type {Intent, LogBodies, LogRecord, Outcome, Settlement} from '../../schema/records.ts'
import {NOTHING_SPENT, type Spent, spent} from '../../schema/spent.ts'
import {TOKEN_CLASSES, totals, type Usage, type UsageSource} from '../../schema/usage.ts'
import {bodiesOf, type Call, chargeOf, DIRECT_ROUTE, logOf} from '../call/call.ts'
import {loggedResults} from '../guardrails/hook-results.ts'
import {chargedIn, costOf, NOTHING_OWED, priceOf} from '../records/price.ts'
import type {ProxyServices} from '../services.ts'
import type {Target} from '../targets/target.ts'

/** A session as its records know it. */
export interface SessionInfo {
  /** The call that opened it; turns are calls of their own, in the same trace, below its span. */
  readonly call: Call
  readonly target: Target
  /** The requested model; else the one that the provider names. */
  model: string | null
  said_model: string | null
  readonly upstream_url: string
}

/** How a session or a turn ended. Times are of the clock of durations; 0 where it did not get so far. */
export interface TurnEnd {
  readonly outcome: Outcome
  /** What the provider answered; null when it never did. */
  readonly status: number | null
  /** What the log shows; null: no row. */
  readonly shown_status: number | null
  readonly error: string | null
  readonly usage: Usage | null
  readonly source: UsageSource
  readonly delivered: boolean
  readonly request_bytes: number
  readonly response_bytes: number
  readonly times: {readonly queued_at: number; readonly sent_at: number; readonly first_byte_at: number}
  readonly bodies: {readonly headers: Record<string, string>; readonly body: Buffer | null; readonly cut: boolean}
  /** What guardrails made of it; `late`: those that are not waited for speak then. */
  readonly hooks?: {results(): HookResults; readonly late: Promise<unknown> | null} | null
}

/** A call of its own within a session: a turn, or an error in it. */
export function innerCall({call}: SessionInfo, services: ProxyServices): Call {
  const at_ms = services.now()
  const id = newTimeId(at_ms)
  const {trace} = call.incoming
  return {
    ...call,
    id,
    kind: 'realtime_turn',
    log_id: id,
    incoming: {
      ...call.incoming,
      at_ms,
      started: performance.now(),
      trace: {...trace, span_id: newSpanId(), parent_span_id: trace.span_id, span_name: null},
    },
    body: {kind: 'none'},
    admissions: [],
    target_admissions: [],
    reservation: null,
    used: NOTHING_SPENT,
    used_here: NOTHING_SPENT,
    auth_ms: 0,
    plan_ms: 0,
    attempts: 1,
  }
}

/** The intent of a session or a turn. `least` is what has gone to the provider for it so far. */
export function intentOf(call: Call, facts: SessionInfo, least: Usage | null, services: ProxyServices): Intent {
  const price = least && priceOf(facts.target, facts.model, facts.said_model, call.incoming.at_ms, services)
  const hold = least && price ? services.prices.cost(least, price, call.incoming.at_ms).cost_nanousd : 0
  return chargeOf(call, facts.target, facts.model ?? facts.said_model, hold)
}

/** Writes what a session or a turn used and cost, and its row of the log; `done` runs once that is safe, or cannot be had. Gives what it came to. */
export function settle(call: Call, facts: SessionInfo, intent: Intent, end: TurnEnd, services: ProxyServices, done: () => void): Spent {
  const {settlement, tokens} = settlementOf(call, facts, intent, end, services)
  const actual = spent(tokens, settlement.cost_nanousd)
  call.reservation?.settle(actual)
  for (const admission of [...call.admissions, ...call.target_admissions]) {
    if (end.shown_status === null) admission.release()
    else admission.settle(actual)
  }
  services.recorder.settle(settlement, end.shown_status === null ? null : bodies(call, end, services), fault => {
    if (fault) services.log.error({fault, call_id: call.id, trace_id: settlement.trace_id}, 'a settlement could not be written')
    done()
  })
  if (settlement.log) {
    count(call, facts, settlement, settlement.log, tokens, services)
    amend(settlement, settlement.log, end, services)
  }
  return actual
}

/** Writes a row again when guardrails that nobody waited for have spoken. */
function amend(settlement: Settlement, log: LogRecord, {hooks}: TurnEnd, services: ProxyServices) {
  if (!hooks?.late) return
  const again = () =>
    services.recorder.note(
      {...settlement, attempt: 0, counter_keys: [], log: {...log, hook_results: loggedResults(hooks.results(), [])}},
      null,
    )
  hooks.late.then(again, again)
}

/** Writes a row of the log for what cost nothing and was not a call: an error in a session. */
export function note(call: Call, facts: SessionInfo, end: TurnEnd, services: ProxyServices): void {
  const charge = {...chargeOf(call, facts.target, facts.model ?? facts.said_model, 0), attempt: 0, counter_keys: []}
  const {settlement} = settlementOf(call, facts, charge, end, services)
  services.recorder.note(settlement, bodies(call, end, services))
}

function settlementOf(call: Call, facts: SessionInfo, intent: Intent, end: TurnEnd, services: ProxyServices) {
  const {usage, source} = end
  const {at_ms} = call.incoming
  const charged = usage
    ? costOf(facts.target, usage, priceOf(facts.target, facts.model, facts.said_model, at_ms, services), at_ms, services)
    : NOTHING_OWED
  const counted = usage ? totals(usage) : null
  const settlement: Settlement = {
    ...intent,
    model: facts.model ?? facts.said_model,
    hold_nanousd: 0,
    settled_at: isoTime(services.now()),
    outcome: end.outcome,
    status: end.status,
    usage: usage ? used(usage) : {},
    usage_source: source,
    ...chargedIn(charged),
    delivered: end.delivered,
    log: end.shown_status === null ? null : rowOf(call, facts, end, end.shown_status),
  }
  return {settlement, tokens: counted ? counted.total_tokens : 0}
}

function rowOf(call: Call, {target, upstream_url}: SessionInfo, end: TurnEnd, response_status: number): LogRecord {
  const {started} = call.incoming
  const {queued_at, sent_at, first_byte_at} = end.times
  const now = performance.now()
  const row = logOf(
    call,
    {...DIRECT_ROUTE, option_path: target.option_path, warning: target.warning},
    {
      response_status,
      is_stream: true,
      upstream_url,
      response_bytes: end.response_bytes,
      error: end.error,
      connect_ms: sent_at && queued_at ? sent_at - queued_at : null,
      first_byte_ms: first_byte_at ? first_byte_at - started : null,
      last_byte_ms: now - started,
      overhead_ms: queued_at ? queued_at - started : 0,
    },
  )
  const judged = end.hooks ? {hook_results: loggedResults(end.hooks.results(), [])} : {}
  return {...row, request_bytes: end.request_bytes, ...judged}
}

function bodies(call: Call, {bodies}: TurnEnd, services: ProxyServices): LogBodies | null {
  const most = services.settings.log_body_max_bytes
  const {headers, body, cut} = bodies
  const kept = body && body.length > most ? body.subarray(0, most) : body
  return bodiesOf(call, {headers, body: kept, encoding: null, cut: cut || kept !== body}, services)
}

function count(call: Call, {target}: SessionInfo, settlement: Settlement, log: LogRecord, tokens: number, services: ProxyServices) {
  services.metrics.ended({
    method: call.incoming.method,
    endpoint: call.endpoint,
    provider: target.provider.slug,
    model: settlement.model,
    status: log.response_status,
    is_stream: true,
    total_ms: log.last_byte_ms,
    upstream_ms: log.last_byte_ms - log.overhead_ms,
    overhead_ms: log.overhead_ms,
    tokens,
    cost_nanousd: settlement.cost_nanousd,
    unpriced: settlement.unpriced,
    unpriced_units: settlement.unpriced_units,
    mode_unpriced: settlement.mode_unpriced,
    cache_status: 'DISABLED',
  })
}

/** Usage without the classes that were not used. */
function used(usage: Usage): Partial<Usage> {
  const nonzero: Partial<Usage> = {}
  for (const name of TOKEN_CLASSES) if (usage[name] > 0) nonzero[name] = usage[name]
  if (Object.keys(usage.units).length > 0) nonzero.units = usage.units
  return nonzero
}
