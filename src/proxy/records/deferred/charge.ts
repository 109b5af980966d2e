import {newSpanId, newTimeId} from '../../../base/ids.ts'
import {storedMetadata} from '../../../base/stored-text.ts'
import type {Deferred} from '../../../schema/deferred.ts'
import type {LogRecord, Settlement} from '../../../schema/records.ts'
import {NOTHING_SPENT} from '../../../schema/spent.ts'
import {totals} from '../../../schema/usage.ts'
import {keptMetadata} from '../../call/call.ts'
import type {ProxyServices} from '../../services.ts'
import {chargedIn} from '../price.ts'
import {leftInBackground, toldOfResponses} from './background-responses.ts'
import {toldOfBatches} from './batches.ts'
import type {CompletedAttempt, DeferredUsage, DeferredWork} from './types.ts'
import {givesResults, toldOfVendorBatches} from './vendor-batches.ts'

/** An answer waits for so long until what it tells of is charged; reading on goes on behind it. */
const MAX_WAIT_MS = 60_000

/**
 * Charges for work that goes on behind the call that began it: batches, and responses that are made in the background. What was begun is
 * remembered; what an answer shows to have ended is charged, once, to the call that began it, before the client can know (core rule 6).
 * Null where the answer tells of no such work; never rejects: what goes wrong is tried again with the next such answer.
 */
export function chargeDeferred(answered: CompletedAttempt, services: ProxyServices): Promise<void> | null {
  const {call, result} = answered
  const is_told = result.outcome === 'ok' || givesResults(answered) || leftInBackground(result.source) !== null
  if (!is_told || (result.statuses.provider ?? 500) >= 300) return null
  const statuses = toldOf(answered, services)
  if (!statuses) return null
  const work = statuses.begun ? remember(answered, statuses.begun, services) : chargeTold(answered.intent, statuses.ended, services)
  const noted = work.catch(fault => services.log.warn({fault, call_id: call.id}, 'what ended could not be charged yet'))
  let stop = () => {}
  const late = new Promise<void>(resolve => {
    stop = services.after(MAX_WAIT_MS, resolve)
  })
  return Promise.race([noted, late]).finally(() => stop())
}

export function toldOf(answered: CompletedAttempt, services: ProxyServices): DeferredWork | null {
  return toldOfVendorBatches(answered, services) ?? toldOfBatches(answered, services) ?? toldOfResponses(answered, services)
}

async function remember(
  {call, intent}: CompletedAttempt,
  {id, endpoint, words}: NonNullable<DeferredWork['begun']>,
  services: ProxyServices,
): Promise<void> {
  const charge = {
    intent: {...intent, hold_nanousd: 0},
    endpoint,
    ...(words && {words}),
    span_id: call.incoming.trace.span_id,
    metadata: storedMetadata(keptMetadata(call)),
  }
  const call_id = newTimeId(services.now())
  await services.deferred.open({call_id, id, charge, has_entry: false}, new Date(services.now()).toISOString())
  // one that was late has given it back
  call.reservation?.keep()
}

/** Charges work that has ended, as far as its usage is known and was not charged before. */
export async function chargeTold(intent: CompletedAttempt['intent'], ended: DeferredWork['ended'], services: ProxyServices): Promise<void> {
  const {under_way} = services.deferred
  if (ended.size === 0) return
  for (const work of await services.deferred.unsettled(intent, [...ended.keys()])) {
    const {call_id, id} = work
    let charging = under_way.get(call_id)
    if (!charging) {
      charging = chargeOne(work, ended.get(id)!, services).finally(() => under_way.delete(call_id))
      under_way.set(call_id, charging)
    }
    await charging
  }
}

async function chargeOne(
  work: Deferred,
  cameTo: (work: Deferred) => Promise<DeferredUsage | null>,
  services: ProxyServices,
): Promise<void> {
  const {call_id, charge, has_entry} = work
  const now = () => new Date(services.now()).toISOString()
  if (has_entry) {
    // its entry is what it used
    if (await services.deferred.settle(call_id, now())) await services.limits.recover(charge.intent, NOTHING_SPENT)
    return
  }
  const started = performance.now()
  const came = await cameTo(work)
  if (came) {
    const settlement = settlementOf(work, came, performance.now() - started, services)
    const actual = {tokens: totals(settlement.usage).total_tokens, cost_nanousd: settlement.cost_nanousd}
    await written(settlement, services)
    // the ledger has it from here on: what comes between is to be shorter than the reconciler's `settles_ms`
    if (await services.deferred.settle(call_id, now())) await services.limits.recover(charge.intent, actual)
  } else if (await services.deferred.settle(call_id, now())) await services.limits.recover(charge.intent, NOTHING_SPENT)
}

function settlementOf({call_id, charge}: Deferred, came: DeferredUsage, took_ms: number, services: ProxyServices): Settlement {
  const settled_at = new Date(services.now()).toISOString()
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
    warning: came.warning ?? null,
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
    // what the request calls its model need not be what ran
    model: came.model ?? intent.model,
    settled_at,
    outcome: 'ok',
    status: 200,
    usage: {...used, ...(Object.keys(units).length > 0 && {units})},
    usage_source: came.source ?? 'provider',
    hold_nanousd: came.charged.cost_nanousd,
    ...chargedIn(came.charged),
    delivered: true,
    log,
  }
}

/** Intent and settlement leave in one write: were it cut in two, the intent says what it cost. */
function written(settlement: Settlement, services: ProxyServices): Promise<void> {
  const {log: _, usage: _usage, settled_at: _at, outcome: _outcome, ...intent} = settlement
  return new Promise((resolve, reject) => {
    services.recorder.begin(intent, fault => {
      if (fault) reject(fault)
    })
    services.recorder.settle({...settlement, hold_nanousd: 0}, null, fault => (fault ? reject(fault) : resolve()))
  })
}
