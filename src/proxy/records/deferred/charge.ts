import {isoTime} from '../../../base/clock.ts'
import {newTimeId} from '../../../base/ids.ts'
import {storedMetadata} from '../../../base/stored-text.ts'
import {deferredIntent} from '../../../charge/intent.ts'
import {logRow} from '../../../charge/log-row.ts'
import type {WorkEnd} from '../../../charge/settlement.ts'
import {ChargedWork} from '../../../charge/work.ts'
import type {Deferred} from '../../../schema/deferred.ts'
import {NOTHING_SPENT, type Spent} from '../../../schema/spent.ts'
import {keptMetadata} from '../../call/call.ts'
import type {Uses} from '../../services.ts'
import {leftInBackground, toldOfResponses} from './background-responses.ts'
import {toldOfBatches} from './batches.ts'
import type {CompletedAttempt, DeferredUsage, DeferredWork} from './types.ts'
import {givesResults, toldOfVendorBatches} from './vendor-batches.ts'

type Services = Uses<'after' | 'deferred' | 'limits' | 'log' | 'metrics' | 'now' | 'prices' | 'recorder' | 'steady'>

/** The longest wait of an answer until the work it reports is charged; reading on continues behind it. */
const MAX_WAIT_MS = 60_000

/**
 * Charges for work that continues behind the call that began it: batches, and responses that are made in the
 * background. What was begun is remembered; what an answer shows to have ended is charged, once, to the call that began
 * it, before the client can know (core rule 6). Null when the answer has no such work; never rejects: a failure is
 * tried again with the next such answer.
 */
export function chargeDeferred(answered: CompletedAttempt, services: Services): Promise<void> | null {
  const {call, result} = answered
  const is_told = result.outcome === 'ok' || givesResults(answered) || leftInBackground(result.source) !== null
  if (!is_told || (result.statuses.provider ?? 500) >= 300) return null
  const statuses = toldOf(answered, services)
  if (!statuses) return null
  const work = statuses.begun
    ? remember(answered, statuses.begun, services)
    : chargeTold(answered.intent, statuses.ended, services)
  const noted = work.catch(fault => services.log.warn({fault, call_id: call.id}, 'what ended could not be charged yet'))
  let stop = () => {}
  const late = new Promise<void>(resolve => {
    stop = services.after(MAX_WAIT_MS, resolve)
  })
  return Promise.race([noted, late]).finally(() => stop())
}

export function toldOf(answered: CompletedAttempt, services: Services): DeferredWork | null {
  return (
    toldOfVendorBatches(answered, services) ?? toldOfBatches(answered, services) ?? toldOfResponses(answered, services)
  )
}

async function remember(
  {call, intent}: CompletedAttempt,
  {id, endpoint, words}: NonNullable<DeferredWork['begun']>,
  services: Services,
): Promise<void> {
  const charge = {
    intent: {...intent, hold_nanousd: 0},
    endpoint,
    ...(words && {words}),
    span_id: call.trace.span_id,
    metadata: storedMetadata(keptMetadata(call)),
    ...(call.reservation && {held: call.reservation.held}),
  }
  const call_id = newTimeId(services.now())
  await services.deferred.open({call_id, id, charge, has_entry: false}, isoTime(services.now()))
  // one that was late has given it back
  call.reservation?.keep()
}

/** Charges work that has ended, as far as its usage is known and was not charged before. */
export async function chargeTold(
  intent: CompletedAttempt['intent'],
  ended: DeferredWork['ended'],
  services: Services,
): Promise<void> {
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
  services: Services,
): Promise<void> {
  const {call_id, charge, has_entry} = work
  const now = () => isoTime(services.now())
  if (has_entry) {
    // its entry is what it used
    if (await services.deferred.settle(call_id, now())) await services.limits.recover(charge.intent, NOTHING_SPENT)
    return
  }
  const started = services.steady()
  const came = await cameTo(work)
  if (came) {
    const actual = await settled(work, came, services.steady() - started, services)
    // the ledger has it from here on: what comes between is to be shorter than the reconciler's `settles_ms`
    if (await services.deferred.settle(call_id, now())) await services.limits.recover(charge.intent, actual)
  } else if (await services.deferred.settle(call_id, now())) await services.limits.recover(charge.intent, NOTHING_SPENT)
}

/**
 * Intent and settlement leave in one write: were it cut in two, the intent says what it cost. Rejects when either
 * cannot be written; limits are put right by the caller, once the ledger has it.
 */
function settled(
  {call_id, charge}: Deferred,
  came: DeferredUsage,
  took_ms: number,
  services: Services,
): Promise<Spent> {
  const {charged, usage} = came
  // what the request calls its model need not be what ran
  const model = came.model ?? charge.intent.model
  const job = new ChargedWork(
    deferredIntent(charge.intent, {call_id, model, hold_nanousd: charged.cost_nanousd}),
    services,
  )
  const end: WorkEnd = {
    outcome: 'ok',
    status: 200,
    model,
    usage,
    usage_source: came.source ?? 'provider',
    charged,
    delivered: true,
  }
  const log = logRow({
    id: call_id,
    created_at: isoTime(services.now()),
    parent_span_id: charge.span_id,
    method: 'GET',
    url: came.url,
    upstream_url: came.upstream_url,
    response_status: 200,
    response_bytes: came.bytes,
    metadata: charge.metadata,
    warning: came.warning ?? null,
    last_byte_ms: took_ms,
  })
  return new Promise((resolve, reject) => {
    job.begin(fault => {
      if (fault) reject(fault)
    })
    const actual = job.settle(end, {log, bodies: null, counted_as: 'call'}, fault =>
      fault ? reject(fault) : resolve(actual ?? NOTHING_SPENT),
    )
  })
}
