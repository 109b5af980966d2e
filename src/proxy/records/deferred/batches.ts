import {isObject, parsed} from '../../../base/json-object.ts'
import {UpstreamFault} from '../../../providers/operation.ts'
import {chargedBatchDialect} from '../../../providers/vendor-batches/index.ts'
import type {Deferred} from '../../../schema/deferred.ts'
import {ENDPOINTS} from '../../../schema/endpoints.ts'
import {UNIT} from '../../../schema/usage.ts'
import type {Uses} from '../../services.ts'
import {idIn, plainId} from '../../upstream/multi-request.ts'
import {priceOf, withUnknown} from '../price.ts'
import {type BatchTerms, type BatchUsage, usageOfBatch, usageOfRows} from './batch-usage.ts'
import type {CompletedAttempt, DeferredUsage, DeferredWork} from './types.ts'
import {unmetered, whyUnreadable} from './unreadable.ts'
import {cameToOf} from './vendor-batches.ts'

type Services = Uses<'prices'>

type Batch = Readonly<Record<string, unknown>> & {readonly id: string}

const MAX_READ_MS = 600_000
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])

/** Reads the batches in a good answer; null for none. */
export function toldOfBatches(answered: CompletedAttempt, services: Services): DeferredWork | null {
  const {call, request, plain} = answered
  const batches = call.operation?.operation.batches
  if (batches?.role === 'begins' || (call.endpoint === 'createBatch' && !call.is_passthrough)) {
    const [batch] = batchesIn(plain)
    return batch
      ? {begun: {id: batch.id, endpoint: endpointOf(batch), ...(batches && {words: batches.words})}, ended: new Map()}
      : null
  }
  if (!request.output) return null
  const shown =
    call.endpoint === 'getBatchOutput' ? [{id: idIn(call.incoming.route.path), status: 'completed'}] : batchesIn(plain)
  const ended = shown.filter(({status}) => ENDED.has(status))
  return {begun: null, ended: new Map(ended.map(batch => [batch.id, work => cameTo(answered, work, batch, services)]))}
}

/** By the usage in the rows of its output and at the rate of batches; null where nothing in it was answered. */
async function cameTo(
  answered: CompletedAttempt,
  work: Deferred,
  batch: Batch,
  services: Services,
): Promise<DeferredUsage | null> {
  const {target, request} = answered
  const {charge} = work
  const dialect = chargedBatchDialect(target.provider.slug, charge.words)
  if (dialect) return cameToOf(answered, work, dialect, services)
  const at_ms = Date.parse(charge.intent.admitted_at)
  // Rows that pass as they are name their models: what the request that begins the batch calls one runs nothing.
  const job_model = target.provider.operations?.endpoints.createBatch && !charge.words ? charge.intent.model : null
  const terms: BatchTerms = {
    endpoint: charge.endpoint,
    kind: target.provider.slug,
    at_ms,
    priceOf: model => priceOf(target, job_model, model, at_ms, services),
  }
  const url = `/v1/batches/${encodeURIComponent(batch.id)}/output`
  let used: BatchUsage | null
  try {
    used = await usageOf(request, batch, terms)
  } catch (fault) {
    return unmetered(url, whyUnreadable(fault))
  }
  if (!used) return null
  const {tally, requests, model, bytes, unread} = used
  if (tally.requests === 0) return unread.why === null ? null : unmetered(url, unread.why)
  return {
    usage: {...tally.usage, units: {...tally.usage.units, [UNIT.batch_requests]: requests}},
    charged: withUnknown(target.provider, tally.usage, tally, services),
    model: job_model ?? model,
    url,
    upstream_url: request.output!.url,
    bytes,
    ...unread.flags(),
  }
}

/**
 * Null for a batch that ended without an answer. Its own report counts when its output cannot be fetched, or is empty.
 */
async function usageOf(
  {output}: CompletedAttempt['request'],
  batch: Batch,
  terms: BatchTerms,
): Promise<BatchUsage | null> {
  const usage = usageOfBatch(batch, terms)
  if (batch.output_file_id === null) return usage
  try {
    const used = await usageOfRows(await output!.output(batch.id, AbortSignal.timeout(MAX_READ_MS)), terms)
    return used.tally.requests > 0 || !usage ? used : usage
  } catch (fault) {
    if (usage && fault instanceof UpstreamFault) return usage
    throw fault
  }
}

function endpointOf({endpoint}: Batch) {
  const path = typeof endpoint === 'string' ? endpoint.replace(/^\/v1(?=\/)/, '') : ''
  return ENDPOINTS.find(each => each.method === 'POST' && each.path === path)?.name ?? 'chatComplete'
}

function batchesIn(plain: Buffer | null): readonly Batch[] {
  const input = plain ? parsed(plain.toString()) : null
  if (!isObject(input)) return []
  const listed: readonly unknown[] = Array.isArray(input.data) ? input.data : [input]
  return listed.flatMap(each =>
    isObject(each) && typeof each.id === 'string' && each.id !== '' ? [{...each, id: plainId(each.id)}] : [],
  )
}
