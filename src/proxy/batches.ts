import {newSpanId, newTimeId} from '../base/ids.ts'
import {UpstreamFault} from '../providers/errand.ts'
import {parsed} from '../providers/openai/scan.ts'
import {isObject} from '../providers/openai/usage.ts'
import type {OpenBatch} from '../schema/batches.ts'
import {ENDPOINTS} from '../schema/endpoints.ts'
import type {Intent, LogRecord, Settlement} from '../schema/records.ts'
import {totals, UNIT} from '../schema/usage.ts'
import {type BatchTerms, type BatchUsage, usageOfBatch, usageOfRows} from './batch-usage.ts'
import type {Call} from './call.ts'
import {idIn, plainId} from './errand-run.ts'
import type {Outgoing} from './outgoing.ts'
import {priceOf} from './pricing.ts'
import type {ProxyServices} from './services.ts'
import type {Target} from './target.ts'

/** An attempt that was answered, before that is written down. */
export interface Answered {
  readonly call: Call
  readonly target: Target
  readonly outgoing: Pick<Outgoing, 'output'>
  readonly intent: Intent
  readonly reply: {readonly status: number | null; readonly outcome: string}
  readonly plain: Buffer | null
}

type Batch = Readonly<Record<string, unknown>> & {readonly id: string}

/** An answer waits for so long until what it tells of is charged; reading on goes on behind it. */
const MOST_WAIT_MS = 60_000
const MOST_READ_MS = 600_000
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])

/**
 * Charges for batches. One that was made is remembered; one that an answer shows to have ended is charged to the call that made it, by the
 * usage in the rows of its output and at the rate of batches, before the client can know (core rule 6). Null where the answer tells of
 * no batch; never rejects: what goes wrong is tried again with the next such answer.
 */
export function chargeBatches(answered: Answered, on: ProxyServices): Promise<void> | null {
  const {call, outgoing, reply, plain} = answered
  const is_new = call.endpoint === 'createBatch' && !call.is_passthrough
  if ((!is_new && !outgoing.output) || reply.outcome !== 'ok' || (reply.status ?? 500) >= 300) return null
  const told = call.endpoint === 'getBatchOutput' ? [{id: idIn(call.incoming.route.path), status: 'completed'}] : batchesIn(plain)
  const work = is_new ? remember(answered, told[0], on) : chargeEnded(answered, told, on)
  const noted = work.catch(fault => on.log.warn({fault, call_id: call.id}, 'a batch could not be charged yet'))
  let stop = () => {}
  const late = new Promise<void>(resolve => {
    stop = on.after(MOST_WAIT_MS, resolve)
  })
  return Promise.race([noted, late]).finally(() => stop())
}

async function remember({call, intent}: Answered, batch: Batch | undefined, on: ProxyServices): Promise<void> {
  if (!batch) return
  const path = typeof batch.endpoint === 'string' ? batch.endpoint.replace(/^\/v1(?=\/)/, '') : ''
  const endpoint = ENDPOINTS.find(each => each.method === 'POST' && each.path === path)?.name ?? 'chatComplete'
  const charge = {intent: {...intent, hold_nanousd: 0}, endpoint, span_id: call.incoming.trace.span_id, metadata: call.metadata}
  const call_id = newTimeId(on.now())
  await on.batches.open({call_id, batch_id: batch.id, charge, has_entry: false}, new Date(on.now()).toISOString())
}

async function chargeEnded(answered: Answered, told: readonly Batch[], on: ProxyServices): Promise<void> {
  const {under_way} = on.batches
  const ended = new Map(told.filter(({status}) => ENDED.has(status)).map(batch => [batch.id, batch]))
  if (ended.size === 0) return
  for (const open of await on.batches.unsettled(answered.intent, [...ended.keys()])) {
    const {call_id, batch_id} = open
    let work = under_way.get(call_id)
    if (!work) {
      work = chargeOne(answered, open, ended.get(batch_id)!, on).finally(() => under_way.delete(call_id))
      under_way.set(call_id, work)
    }
    await work
  }
}

async function chargeOne({target, outgoing}: Answered, open: OpenBatch, batch: Batch, on: ProxyServices): Promise<void> {
  const {call_id, charge, has_entry} = open
  const now = () => new Date(on.now()).toISOString()
  if (has_entry) return void (await on.batches.settle(call_id, now()))
  const at_ms = Date.parse(charge.intent.admitted_at)
  const terms: BatchTerms = {endpoint: charge.endpoint, at_ms, priceOf: model => priceOf(target, charge.intent.model, model, at_ms, on)}
  const started = performance.now()
  const used = await usageOf(outgoing, batch, terms)
  if (used && used.tally.requests > 0) {
    const settlement = settlementOf(open, used, {upstream_url: outgoing.output!.url, took_ms: performance.now() - started}, on)
    await written(settlement, on)
    if (!(await on.batches.settle(call_id, now()))) return
    const actual = {tokens: totals(settlement.usage).total_tokens, cost_nanousd: settlement.cost_nanousd}
    await on.limits.add(charge.intent.counter_keys, actual)
  } else await on.batches.settle(call_id, now())
}

/** Null for a batch that ended without an answer. What it tells of itself counts where its output cannot be had, or says nothing. */
async function usageOf({output}: Pick<Outgoing, 'output'>, batch: Batch, terms: BatchTerms): Promise<BatchUsage | null> {
  const told = usageOfBatch(batch, terms)
  if (batch.output_file_id === null) return told
  try {
    const used = await usageOfRows(await output!.output(batch.id, AbortSignal.timeout(MOST_READ_MS)), terms)
    return used.tally.requests > 0 ? used : told
  } catch (fault) {
    if (told && fault instanceof UpstreamFault) return told
    throw fault
  }
}

function settlementOf(
  {call_id, batch_id, charge}: OpenBatch,
  {tally, requests, model, bytes}: BatchUsage,
  {upstream_url, took_ms}: {readonly upstream_url: string | null; readonly took_ms: number},
  on: ProxyServices,
): Settlement {
  const settled_at = new Date(on.now()).toISOString()
  const {held_keys: _, ...intent} = charge.intent
  const {units, ...classes} = tally.usage
  const used = Object.fromEntries(Object.entries(classes).filter(([, count]) => count > 0))
  const log: LogRecord = {
    id: call_id,
    created_at: settled_at,
    span_id: newSpanId(),
    parent_span_id: charge.span_id,
    span_name: null,
    method: 'GET',
    url: `/v1/batches/${encodeURIComponent(batch_id)}/output`,
    upstream_url,
    response_status: 200,
    is_stream: false,
    is_passthrough: false,
    cache_status: 'DISABLED',
    retry_count: 0,
    mode: 'single',
    option_path: '',
    request_bytes: 0,
    response_bytes: bytes,
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
    model: intent.model ?? model,
    settled_at,
    outcome: 'ok',
    status: 200,
    usage: {...used, units: {...units, [UNIT.batch_requests]: requests}},
    usage_source: 'provider',
    hold_nanousd: tally.cost_nanousd,
    cost_nanousd: tally.cost_nanousd,
    unpriced: tally.unpriced,
    delivered: true,
    log,
  }
}

/** Intent and settlement leave in one write: were it cut in two, the intent says what the batch cost. */
function written(settlement: Settlement, on: ProxyServices): Promise<void> {
  const {log: _, usage: _usage, settled_at: _at, outcome: _outcome, ...intent} = settlement
  return new Promise((resolve, reject) => {
    on.recorder.begin(intent, fault => {
      if (fault) reject(fault)
    })
    on.recorder.settle({...settlement, hold_nanousd: 0}, null, fault => (fault ? reject(fault) : resolve()))
  })
}

function batchesIn(plain: Buffer | null): readonly Batch[] {
  const said = plain ? parsed(plain.toString()) : null
  if (!isObject(said)) return []
  const listed: readonly unknown[] = Array.isArray(said.data) ? said.data : [said]
  return listed.flatMap(each => (isObject(each) && typeof each.id === 'string' && each.id !== '' ? [{...each, id: plainId(each.id)}] : []))
}
