import type {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {PricingConfigFault} from '../../pricing/config.ts'
import {
  changesOf,
  keptText,
  type PriceChange,
  type PriceList,
  type ReadList,
  readPriceList,
} from '../../pricing/list.ts'
import {pricesInForce} from '../../pricing/open.ts'
import type {Price} from '../../pricing/price.ts'
import {toPublicPricing, toPublicTiers} from '../../pricing/view.ts'
import type {PriceDiff, PriceInstalled} from '../../schema/price-lists.ts'
import type {Db} from '../../store/database.ts'
import {organisations} from '../../store/organisations.ts'
import {insertPriceRevision} from '../../store/prices.ts'
import type {PriceRevisionsTable} from '../../store/tables/prices.ts'
import type {OperationCall} from '../operation.ts'
import {type CallerScope, invalid} from '../tenancy.ts'

/**
 * Prices are everybody's: where several organisations share a gateway, none of them changes the prices of the others.
 */
export async function mayChangePrices({actor, db}: CallerScope): Promise<void> {
  if (actor.subject.kind === 'operator') return
  if ((await organisations(db)).length > 1) throw new Refusal('pricing.shared')
}

/** A list's prices, or the refusal that names the field under `field`. */
export function readList(list: Pick<PriceList, 'providers'>, source: string, field: string): ReadList {
  try {
    return readPriceList(list, source)
  } catch (error) {
    if (!(error instanceof PricingConfigFault)) throw error
    throw invalid(error.path ? `${field}.${error.path}` : field, error.reason)
  }
}

/** When prices begin: now, or a later moment. What began before would price calls a second time. */
export function beginning(effective_at: string | undefined, now: string): string {
  if (effective_at === undefined || effective_at === now) return now
  if (effective_at < now)
    throw invalid(
      'effective_at',
      `is in the past; prices hold from now (${now}) or later, as calls are never priced twice`,
    )
  return effective_at
}

/** The changes that `list` would make from `effective_at` on. */
export async function changesBy(db: Db, list: ReadList, effective_at: string): Promise<readonly PriceChange[]> {
  return changesOf(list, await pricesInForce(db, Date.parse(effective_at)))
}

export function diffView(list: ReadList, changes: readonly PriceChange[], at: string): z.input<typeof PriceDiff> {
  return {
    ...counted(list, changes),
    changes: changes.map(change => changeView(change, Date.parse(at))),
    object: 'price-diff',
  }
}

type Revision = Pick<PriceRevisionsTable, 'kind' | 'origin' | 'key_id' | 'serial' | 'effective_at'>

/**
 * Writes `changes` as a revision, in the call's transaction: all of it is written, or nothing. Without changes only a
 * bundle is noted.
 */
export async function install(
  {db, actor, now, auditTarget: about}: Pick<OperationCall, 'db' | 'actor' | 'now' | 'auditTarget'>,
  revision: Revision,
  list: ReadList,
  changes: readonly PriceChange[],
): Promise<z.input<typeof PriceInstalled>> {
  const {total, ...counts} = counted(list, changes)
  let number: number | null = null
  if (changes.length || revision.kind === 'bundle') {
    const rows = changes.map(({provider, model, after}) => ({provider, model, price: after && keptText(after)}))
    number = await insertPriceRevision(
      db,
      {...revision, digest: list.digest, withdrawn_at: null, ...counts, created_by: actor.subject.id, created_at: now},
      rows,
    )
    about(String(number))
  }
  const at_ms = Date.parse(revision.effective_at)
  const {effective_at} = revision
  return {
    revision: number,
    effective_at,
    total,
    ...counts,
    changes: changes.map(each => changeView(each, at_ms)),
    object: 'price-installation',
  }
}

function counted({prices}: ReadList, changes: readonly PriceChange[]) {
  const of = (kind: PriceChange['change']) => changes.filter(({change}) => change === kind).length
  return {total: prices.length, added: of('added'), changed: of('changed'), removed: of('removed')}
}

function changeView({provider, model, change, before, after}: PriceChange, at_ms: number) {
  return {provider, model, change, before: before && sideOf(before, at_ms), after: after && sideOf(after, at_ms)}
}

function sideOf(price: Price, at_ms: number) {
  const {pay_as_you_go, batch_config} = toPublicPricing(price, at_ms)
  return {pay_as_you_go, ...(batch_config && {batch_config}), tiers: toPublicTiers(price, at_ms)}
}
