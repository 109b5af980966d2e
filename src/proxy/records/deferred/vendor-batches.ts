import {isObject} from '../../../base/json-object.ts'
import {CostSum} from '../../../pricing/cost-sum.ts'
import {usageOfKind} from '../../../providers/service-tiers.ts'
import type {BatchDialect, BatchResults} from '../../../providers/vendor-batches/dialect.ts'
import {batchDialect, batchesInReply} from '../../../providers/vendor-batches/index.ts'
import {usageOfRow} from '../../../providers/vendor-batches/row-usage.ts'
import type {Deferred} from '../../../schema/deferred.ts'
import {UNIT} from '../../../schema/usage.ts'
import type {Uses} from '../../services.ts'
import {hopPrices, priceOf, withUnknown} from '../price.ts'
import type {CompletedAttempt, DeferredUsage, DeferredWork} from './types.ts'
import {UnreadRows, unmetered, whyUnreadable} from './unreadable.ts'

type Services = Uses<'prices'>

const MAX_READ_MS = 600_000

/** Reads the batches in a good answer by a vendor's own path; null for none. */
export function toldOfVendorBatches(answered: CompletedAttempt, services: Services): DeferredWork | null {
  const {call, plain} = answered
  const batches = call.operation?.operation.batches
  const dialect = batchDialect(batches?.words)
  if (!batches || !dialect) return null
  const {words, role} = batches
  const {path} = call.incoming.route
  if (role === 'begins') {
    const [batch] = plain ? batchesInReply(words, plain) : []
    return batch ? {begun: {id: batch.id, endpoint: 'proxy', words}, ended: new Map()} : null
  }
  if (role === 'shows') {
    const ended = plain ? batchesInReply(words, plain).filter(({has_ended}) => has_ended) : []
    return {begun: null, ended: new Map(ended.map(({id}) => [id, work => cameToOf(answered, work, dialect, services)]))}
  }
  const id = dialect.idIn(path)
  const cameTo = async (work: Deferred) =>
    role === 'results'
      ? cameToOf(answered, work, dialect, services)
      : unmetered(urlOf(work.id, dialect), 'it was deleted before they were read')
  return {begun: null, ended: new Map(id === null ? [] : [[id, cameTo]])}
}

/**
 * True where to be answered at all shows that a batch has ended: however much of it the client reads, its results are
 * there.
 */
export function givesResults({call}: Pick<CompletedAttempt, 'call'>): boolean {
  return call.operation?.operation.batches?.role === 'results'
}

/**
 * By the usage in the rows of its results, at the rate of batches; null where nothing in it was answered. What cannot
 * be read is flagged, with the reason in the row; rejects where it may be read later.
 */
export async function cameToOf(
  {target, request}: CompletedAttempt,
  {id, charge}: Deferred,
  dialect: BatchDialect,
  services: Services,
): Promise<DeferredUsage | null> {
  const upstream = request.output!.upstream(AbortSignal.timeout(MAX_READ_MS))
  const seen = {bytes: 0}
  let results: BatchResults
  try {
    results = await dialect.resultsOf(id, {upstream, options: target.options, seen})
  } catch (fault) {
    return unmetered(urlOf(id, dialect), whyUnreadable(fault))
  }
  const at_ms = Date.parse(charge.intent.admitted_at)
  const tally = new CostSum()
  let model = results.model
  const unread = new UnreadRows()
  let number = 0
  try {
    for await (const row of results.rows) {
      number++
      const answer = isObject(row) ? dialect.answerIn(row) : 'unread'
      if (answer === 'failed') continue
      const used = answer === 'unread' ? null : usageOfRow(answer.reply)
      if (!used) {
        unread.add(`row ${number} ${answer === 'unread' ? 'is no row of results' : 'has no usage that is known'}`)
        continue
      }
      model ??= used.model
      const price = priceOf(target, results.model, used.model, at_ms, services)
      const options = {at: at_ms, batch: true}
      const {hops} = used
      const usage = usageOfKind(target.provider.slug, used.usage)
      if (hops)
        tally.addHops(
          {usage, hops},
          hopPrices(target, {model: results.model ?? used.model, price, at_ms}, services),
          options,
        )
      else tally.add(usage, price, options)
    }
  } catch (fault) {
    unread.add(whyUnreadable(fault))
  }
  const {succeeded} = results
  if (succeeded !== null && tally.requests + unread.count < succeeded)
    unread.add(
      `${succeeded} requests were answered, and ${tally.requests} are in the results`,
      succeeded - tally.requests - unread.count,
    )
  if (tally.requests === 0)
    return unread.why === null ? null : {...unmetered(urlOf(id, dialect), unread.why), model, bytes: seen.bytes}
  const {usage} = tally
  return {
    usage: {...usage, units: {...usage.units, [UNIT.batch_requests]: tally.requests}},
    charged: withUnknown(target.provider, usage, tally, services),
    model,
    url: urlOf(id, dialect),
    upstream_url: upstream.url,
    bytes: seen.bytes,
    ...unread.flags(),
  }
}

function urlOf(id: string, dialect: BatchDialect): string {
  return `/v1${dialect.pathOf(id)}`
}
