import {newSpanId, newTimeId} from '../../base/ids.ts'
import {NOTHING_OWED} from '../../charge/charged.ts'
import type {WorkEnd} from '../../charge/settlement.ts'
import {ChargedWork, type WorkRow} from '../../charge/work.ts'
import {loggedResults} from '../../guardrails/logged-results.ts'
import {usageOfKind} from '../../providers/service-tiers.ts'
import type {HookResults} from '../../schema/guardrails.ts'
import type {LogBodies, LogRecord, Outcome} from '../../schema/records.ts'
import {NOTHING_SPENT, type Spent} from '../../schema/spent.ts'
import type {Usage, UsageSource} from '../../schema/usage.ts'
import {bodiesOf, type Call, DIRECT_ROUTE, logOf} from '../call/call.ts'
import {chargeOf} from '../call/work.ts'
import {costOf, priceOf} from '../records/price.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'

/** The services that record a session and its turns. */
export type SessionRecordServices = Uses<
  'log' | 'masked' | 'metrics' | 'now' | 'prices' | 'recorder' | 'settings' | 'steady'
>

/** A session as its records know it. */
export interface SessionInfo {
  /** The call that opened it; turns are calls of their own, in the same trace, below its span. */
  readonly call: Call
  readonly target: Target
  /** The requested model; else the one that the provider names. */
  model: string | null
  reported_model: string | null
  readonly upstream_url: string
}

/** How a session or a turn ended. Times are of the clock of durations; 0 where it did not get so far. */
export interface TurnEnd {
  readonly outcome: Outcome
  /** The provider's status; null when it never answered. */
  readonly status: number | null
  /** The status in the log; null: no row. */
  readonly shown_status: number | null
  readonly error: string | null
  readonly usage: Usage | null
  readonly source: UsageSource
  readonly delivered: boolean
  /** True where it was called off before anything was sent: it has no place in the ledger. */
  readonly never_left?: boolean
  readonly request_bytes: number
  readonly response_bytes: number
  readonly times: {readonly queued_at: number; readonly sent_at: number; readonly first_byte_at: number}
  readonly bodies: {readonly headers: Record<string, string>; readonly body: Buffer | null; readonly cut: boolean}
  /** The results of guardrails; `late`: resolves with those that are not waited for. */
  readonly hooks?: {results(): HookResults; readonly late: Promise<unknown> | null} | null
}

/** A call of its own within a session: a turn, or an error in it. */
export function innerCall({call}: SessionInfo, services: SessionRecordServices): Call {
  const at_ms = services.now()
  const id = newTimeId(at_ms)
  const {trace} = call
  return {
    ...call,
    id,
    kind: 'realtime_turn',
    log_id: id,
    trace: {...trace, span_id: newSpanId(), parent_span_id: trace.span_id, span_name: null},
    at_ms,
    started: services.steady(),
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

/**
 * The work of a session or a turn. `least` is what has gone to the provider for it so far; `counter_keys` are its own
 * call's, unless given.
 */
export function openWork(
  call: Call,
  facts: SessionInfo,
  least: Usage | null,
  services: SessionRecordServices,
  counter_keys?: readonly string[],
): ChargedWork {
  const price = least && priceOf(facts.target, facts.model, facts.reported_model, call.at_ms, services)
  const hold = least && price ? services.prices.cost(least, price, call.at_ms).cost_nanousd : 0
  const charge = chargeOf(call, facts.target, facts.model ?? facts.reported_model, hold)
  return new ChargedWork(counter_keys ? {...charge, counter_keys} : charge, services)
}

/**
 * Writes the usage and cost of a session or a turn, and its row of the log; `done` runs once that is safe, or has
 * failed. Returns the amounts that count against limits.
 */
export function settle(
  call: Call,
  facts: SessionInfo,
  work: ChargedWork,
  end: TurnEnd,
  services: SessionRecordServices,
  done: () => void,
): Spent {
  const spend = (actual: Spent) => {
    call.reservation?.settle(actual)
    for (const admission of [...call.admissions, ...call.target_admissions]) {
      if (end.shown_status === null) admission.release()
      else admission.settle(actual)
    }
  }
  return (
    work.settle(
      endOf(call, facts, end, services),
      {...rowOf(call, facts, end, services), spend, counted_as: 'call'},
      done,
    ) ?? NOTHING_SPENT
  )
}

/** The same of an attempt that another one follows in the call: the row is that one's, and limits stay as they are. */
export function settlePart(
  call: Call,
  facts: SessionInfo,
  work: ChargedWork,
  end: TurnEnd,
  services: SessionRecordServices,
  done: () => void,
): void {
  const {log} = rowOf(call, facts, end, services)
  work.settle(endOf(call, facts, end, services), {log, has_row: false, bodies: null, counted_as: 'part'}, done)
}

/** Writes a row of the log for what cost nothing and was not a call: an error in a session. */
export function note(call: Call, facts: SessionInfo, end: TurnEnd, services: SessionRecordServices): void {
  openWork(call, facts, null, services).note(endOf(call, facts, end, services), {
    ...rowOf(call, facts, end, services),
    counted_as: 'nothing',
  })
}

function endOf(call: Call, facts: SessionInfo, end: TurnEnd, services: SessionRecordServices): WorkEnd {
  const {source, outcome, status, delivered} = end
  const {target, model, reported_model} = facts
  const usage = end.usage && usageOfKind(target.provider.slug, end.usage)
  const {at_ms} = call
  return {
    outcome,
    status,
    model: model ?? reported_model,
    usage: usage ?? {},
    usage_source: source,
    charged: usage
      ? costOf(target, usage, priceOf(target, model, reported_model, at_ms, services), at_ms, services)
      : NOTHING_OWED,
    delivered,
    has_entry: !end.never_left,
  }
}

function rowOf(
  call: Call,
  facts: SessionInfo,
  end: TurnEnd,
  services: SessionRecordServices,
): Pick<WorkRow, 'log' | 'bodies' | 'hooks'> {
  if (end.shown_status === null) return {log: null, bodies: null}
  const {hooks} = end
  const results = () => hooks && loggedResults(hooks.results(), [])
  return {
    log: logRowOf(call, facts, end, end.shown_status, results(), services.steady()),
    bodies: bodies(call, end, services),
    hooks: hooks?.late ? {late: hooks.late, results: () => results() ?? undefined} : null,
  }
}

function logRowOf(
  call: Call,
  {target, upstream_url}: SessionInfo,
  end: TurnEnd,
  response_status: number,
  hook_results: HookResults | null | undefined,
  now: number,
): LogRecord {
  const {started} = call
  const {queued_at, sent_at, first_byte_at} = end.times
  return logOf(
    call,
    {...DIRECT_ROUTE, option_path: target.option_path, warning: target.warning},
    {
      response_status,
      is_stream: true,
      upstream_url,
      request_bytes: end.request_bytes,
      response_bytes: end.response_bytes,
      error: end.error,
      connect_ms: sent_at && queued_at ? sent_at - queued_at : null,
      first_byte_ms: first_byte_at ? first_byte_at - started : null,
      last_byte_ms: now - started,
      // what did not get so far took none of a provider's time
      overhead_ms: (queued_at || now) - started,
      hook_results: hook_results ?? undefined,
    },
  )
}

function bodies(call: Call, {bodies}: TurnEnd, services: SessionRecordServices): LogBodies | null {
  const most = services.settings.log_body_max_bytes
  const {headers, body, cut} = bodies
  const kept = body && body.length > most ? body.subarray(0, most) : body
  return bodiesOf(call, {headers, body: kept, encoding: null, cut: cut || kept !== body}, services)
}
