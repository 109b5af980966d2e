import {newSpanId, newTimeId} from '../../../base/ids.ts'
import type {Deferred} from '../../../schema/deferred.ts'
import type {LogRecord, Settlement} from '../../../schema/records.ts'
import {totals} from '../../../schema/usage.ts'
import type {ProxyServices} from '../../services.ts'
import {chargedIn} from '../price.ts'
import {toldOfResponses} from './background-responses.ts'
import {toldOfBatches} from './batches.ts'
import type {CompletedAttempt, DeferredUsage, DeferredWork} from './types.ts'

/** An answer waits for so long until what it tells of is charged; reading on goes on behind it. */
const MOST_WAIT_MS = 60_000

/**
 * Charges for work that goes on behind the call that began it: batches, and responses that are made in the background. What was begun is
 * remembered; what an answer shows to have ended is charged, once, to the call that began it, before the client can know (core rule 6).
 * Null where the answer tells of no such work; never rejects: what goes wrong is tried again with the next such answer.
 */
export function chargeDeferred(answered: CompletedAttempt, on: ProxyServices): Promise<void> | null {
  const {call, reply} = answered
  if (reply.outcome !== 'ok' || (reply.status ?? 500) >= 300) return null
  const told = toldOf(answered, on)
  if (!told) return null
  const work = told.begun ? remember(answered, told.begun, on) : chargeTold(answered.intent, told.ended, on)
  const noted = work.catch(fault => on.log.warn({fault, call_id: call.id}, 'what ended could not be charged yet'))
  let stop = () => {}
  const late = new Promise<void>(resolve => {
    stop = on.after(MOST_WAIT_MS, resolve)
  })
  return Promise.race([noted, late]).finally(() => stop())
}

export function toldOf(answered: CompletedAttempt, on: ProxyServices): DeferredWork | null {
  return toldOfBatches(answered, on) ?? toldOfResponses(answered, on)
}

async function remember(
  {call, intent}: CompletedAttempt,
  {id, endpoint}: NonNullable<DeferredWork['begun']>,
  on: ProxyServices,
): Promise<void> {
  const charge = {intent: {...intent, hold_nanousd: 0}, endpoint, span_id: call.incoming.trace.span_id, metadata: call.metadata}
  const call_id = newTimeId(on.now())
  await on.deferred.open({call_id, id, charge, has_entry: false}, new Date(on.now()).toISOString())
}

/** Charges what was told to have ended, as far as it is known and was not charged. */
export async function chargeTold(intent: CompletedAttempt['intent'], ended: DeferredWork['ended'], on: ProxyServices): Promise<void> {
  const {under_way} = on.deferred
  if (ended.size === 0) return
  for (const work of await on.deferred.unsettled(intent, [...ended.keys()])) {
    const {call_id, id} = work
    let charging = under_way.get(call_id)
    if (!charging) {
      charging = chargeOne(work, ended.get(id)!, on).finally(() => under_way.delete(call_id))
      under_way.set(call_id, charging)
    }
    await charging
  }
}

async function chargeOne(work: Deferred, cameTo: (work: Deferred) => Promise<DeferredUsage | null>, on: ProxyServices): Promise<void> {
  const {call_id, charge, has_entry} = work
  const now = () => new Date(on.now()).toISOString()
  if (has_entry) return void (await on.deferred.settle(call_id, now()))
  const started = performance.now()
  const came = await cameTo(work)
  if (came) {
    const settlement = settlementOf(work, came, performance.now() - started, on)
    const actual = {tokens: totals(settlement.usage).total_tokens, cost_nanousd: settlement.cost_nanousd}
    await written(settlement, on)
    // the ledger has it from here on: what comes between is to be shorter than the reconciler's `settles_ms`
    if (await on.deferred.settle(call_id, now())) await on.limits.add(charge.intent.counter_keys, actual)
  } else await on.deferred.settle(call_id, now())
}

function settlementOf({call_id, charge}: Deferred, came: DeferredUsage, took_ms: number, on: ProxyServices): Settlement {
  const settled_at = new Date(on.now()).toISOString()
  const {held_keys: _, ...intent} = charge.intent
  const {units, ...classes} = came.usage
  const used = Object.fromEntries(Object.entries(classes).filter(([, count]) => count > 0))
  const log: LogRecord = {
    id: call_id,
    created_at: settled_at,
    span_id: newSpanId(),
    parent_span_id: charge.span_id,
    span_name: null,
    method: 'GET',
    url: came.url,
    upstream_url: came.upstream_url,
    response_status: 200,
    is_stream: false,
    is_passthrough: false,
    cache_status: 'DISABLED',
    retry_count: 0,
    mode: 'single',
    option_path: '',
    request_bytes: 0,
    response_bytes: came.bytes,
    metadata: charge.metadata,
    error: null,
    warning: null,
    auth_ms: 0,
    plan_ms: 0,
    connect_ms: null,
    first_byte_ms: null,
    last_byte_ms: Math.round(took_ms),
    overhead_ms: 0,
    keeps_bodies: false,
  }
  return {
    ...intent,
    call_id,
    attempt: 1,
    model: intent.model ?? came.model,
    settled_at,
    outcome: 'ok',
    status: 200,
    usage: {...used, ...(Object.keys(units).length > 0 && {units})},
    usage_source: 'provider',
    hold_nanousd: came.charged.cost_nanousd,
    ...chargedIn(came.charged),
    delivered: true,
    log,
  }
}

/** Intent and settlement leave in one write: were it cut in two, the intent says what it cost. */
function written(settlement: Settlement, on: ProxyServices): Promise<void> {
  const {log: _, usage: _usage, settled_at: _at, outcome: _outcome, ...intent} = settlement
  return new Promise((resolve, reject) => {
    on.recorder.begin(intent, fault => {
      if (fault) reject(fault)
    })
    on.recorder.settle({...settlement, hold_nanousd: 0}, null, fault => (fault ? reject(fault) : resolve()))
  })
}
