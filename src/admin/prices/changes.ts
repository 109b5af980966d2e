import {Refusal} from '../../base/errors.ts'
import type {PriceChange} from '../../pricing/list.ts'
import {list, listOf} from '../../schema/paging.ts'
import {
  PriceDiff,
  PriceInstalled,
  PriceRevisionView,
  PriceRollback,
  PriceSet,
  PriceSync,
  PricesRolledBack,
  PriceUnset,
  PriceWritePath,
  RevisionsQuery,
} from '../../schema/price-lists.ts'
import {findPriceRevision, lastPriceRevision, priceRevisions, withdrawPriceRevision} from '../../store/prices.ts'
import type {PriceRevisionsTable} from '../../store/tables/prices.ts'
import {kindOf} from '../integrations/credentials.ts'
import {type OperationCall, operation} from '../operation.ts'
import {found} from '../tenancy.ts'
import {beginning, changesBy, diffView, install, mayChangePrices, readList} from './install.ts'

const tag = 'Model Pricing'
const WRITES = ['organisation_settings.update']

/** Changing what calls are charged at: each change is a revision with a date, none touches what was charged before. */
export const priceChanges = [
  operation({
    id: 'pricing.diff',
    tag,
    method: 'POST',
    path: '/model-configs/pricing/diff',
    summary: 'Show what a list of prices would change',
    scopes: WRITES,
    only_reads: true,
    body: PriceSync,
    reply: PriceDiff,
    handle: compared,
  }),
  operation({
    id: 'pricing.sync',
    tag,
    method: 'POST',
    path: '/model-configs/pricing',
    summary: 'Install a list of prices, all of it or nothing',
    scopes: WRITES,
    audit: {resource: 'price', action: 'update'},
    body: PriceSync,
    reply: PriceInstalled,
    handle: synced,
  }),
  operation({
    id: 'pricing.set',
    tag,
    method: 'PUT',
    path: '/model-configs/pricing/:provider/:model',
    summary: 'Set the price of one model, above every other source',
    scopes: WRITES,
    audit: {resource: 'price', action: 'update'},
    takes_rest: true,
    params: PriceWritePath,
    body: PriceSet,
    reply: PriceInstalled,
    handle: priceSet,
  }),
  operation({
    id: 'pricing.unset',
    tag,
    method: 'DELETE',
    path: '/model-configs/pricing/:provider/:model',
    summary: 'Take away a price that was set',
    scopes: WRITES,
    audit: {resource: 'price', action: 'delete'},
    takes_rest: true,
    params: PriceWritePath,
    body: PriceUnset,
    reply: PriceInstalled,
    handle: priceUnset,
  }),
  operation({
    id: 'pricing.revisions',
    tag,
    method: 'GET',
    path: '/model-configs/revisions',
    summary: 'List the installations of prices, the newest first',
    scopes: ['organisation_settings.read'],
    query: RevisionsQuery,
    reply: listOf(PriceRevisionView),
    handle: revisionsListed,
  }),
  operation({
    id: 'pricing.rollback',
    tag,
    method: 'POST',
    path: '/model-configs/rollback',
    summary: 'Withdraw the last installation of prices, or all after one',
    scopes: WRITES,
    audit: {resource: 'price', action: 'update'},
    body: PriceRollback,
    reply: PricesRolledBack,
    handle: rolledBack,
  }),
] as const

async function compared(call: OperationCall<undefined, undefined, typeof PriceSync>) {
  const {db, body, now} = call
  const effective_at = beginning(body.effective_at, now)
  const read = readList(body.prices, 'sync', 'prices')
  return diffView(read, await changesBy(db, read, effective_at), effective_at)
}

async function synced(call: OperationCall<undefined, undefined, typeof PriceSync>) {
  const {db, body, now} = call
  await mayChangePrices(call)
  const effective_at = beginning(body.effective_at, now)
  const read = readList(body.prices, 'sync', 'prices')
  const changes = await changesBy(db, read, effective_at)
  return install(call, {kind: 'sync', origin: body.origin, key_id: null, serial: null, effective_at}, read, changes)
}

async function priceSet(call: OperationCall<typeof PriceWritePath, undefined, typeof PriceSet>) {
  const {params, body, now} = call
  await mayChangePrices(call)
  const effective_at = beginning(body.effective_at, now)
  const {model} = params
  const provider = kindOf(params.provider, 'provider')
  const {prices, digest} = readList(
    {providers: {[provider]: {[model]: {pricing_config: body.pricing_config}}}},
    'set',
    'the price',
  )
  const [after] = prices
  if (!after)
    throw new Refusal('body.invalid', {
      issues:
        'pricing_config: prices nothing; expected a price for the default of a provider, 0 where its calls cost nothing.',
    })
  return one(call, {provider, model, change: 'added', before: null, after}, digest, effective_at)
}

async function priceUnset(call: OperationCall<typeof PriceWritePath, undefined, typeof PriceUnset>) {
  await mayChangePrices(call)
  const {model} = call.params
  const provider = kindOf(call.params.provider, 'provider')
  const change = {provider, model, change: 'removed', before: null, after: null} as const
  return one(call, change, '', beginning(call.body.effective_at, call.now))
}

function one(
  call: OperationCall<typeof PriceWritePath, undefined, typeof PriceUnset>,
  change: PriceChange,
  digest: string,
  effective_at: string,
) {
  const read = {prices: change.after ? [change.after] : [], providers: new Set([change.provider]), digest}
  const origin = `${change.provider}/${change.model}`
  return install(call, {kind: 'set', origin, key_id: null, serial: null, effective_at}, read, [change])
}

async function revisionsListed({db, query}: OperationCall<undefined, typeof RevisionsQuery>) {
  return list(await priceRevisions(db, query), revisionView)
}

async function rolledBack(call: OperationCall<undefined, undefined, typeof PriceRollback>) {
  const {db, body, now} = call
  await mayChangePrices(call)
  const last = await lastPriceRevision(db)
  if (!last)
    throw new Refusal('pricing.no_revision', {
      reason: 'There is no installation of prices to withdraw: the bundled prices hold.',
    })
  const to_revision = body.to_revision ?? last.revision - 1
  if (to_revision > 0 && body.to_revision !== undefined) found(await findPriceRevision(db, to_revision), 'revision')
  const withdrawn: PriceRevisionsTable[] = []
  for (
    let at: PriceRevisionsTable | undefined = last;
    at && at.revision > to_revision;
    at = await lastPriceRevision(db)
  ) {
    await withdrawPriceRevision(db, at.revision, now)
    withdrawn.push({...at, withdrawn_at: now})
  }
  call.auditTarget(withdrawn.map(({revision}) => revision).join(','))
  return {withdrawn: withdrawn.map(revisionView), object: 'price-rollback' as const}
}

/** A revision as it is shown. */
export function revisionView({created_by: _, ...row}: PriceRevisionsTable) {
  return {...row, object: 'price-revision' as const}
}
