import {type Bundle, BundleFault, openBundle, readPublicKeys} from '../../base/bundle.ts'
import {Refusal} from '../../base/errors.ts'
import type {ReadList} from '../../pricing/list.ts'
import {Empty} from '../../schema/paging.ts'
import {
  BundleApply,
  BundleCheck,
  BundleView,
  PriceInstalled,
  PriceListBody,
  PricesRolledBack,
} from '../../schema/price-lists.ts'
import {explain} from '../../schema/validation-message.ts'
import type {Db} from '../../store/database.ts'
import {lastPriceRevision, newestBundle, withdrawPriceRevision} from '../../store/prices.ts'
import {type OperationCall, operation} from '../operation.ts'
import type {AdminServices} from '../services.ts'
import {revisionView} from './changes.ts'
import {beginning, changesBy, diffView, install, mayChangePrices, readList} from './install.ts'

const tag = 'Model Pricing'
const WRITES = ['organisation_settings.update']

/** Signed bundles: what a gateway without a network is brought by hand. */
export const bundles = [
  operation({
    id: 'bundles.verify',
    tag,
    method: 'POST',
    path: '/bundles/verify',
    summary: 'Check a signed bundle and show what it would change',
    scopes: WRITES,
    only_reads: true,
    body: BundleCheck,
    reply: BundleView,
    handle: verified,
  }),
  operation({
    id: 'bundles.apply',
    tag,
    method: 'POST',
    path: '/bundles',
    summary: 'Install what a signed bundle holds, all of it or nothing',
    scopes: WRITES,
    audit: {resource: 'bundle', action: 'update'},
    body: BundleApply,
    reply: PriceInstalled,
    handle: applied,
  }),
  operation({
    id: 'bundles.rollback',
    tag,
    method: 'POST',
    path: '/bundles/rollback',
    summary: 'Withdraw the bundle that was installed last',
    scopes: WRITES,
    audit: {resource: 'bundle', action: 'update'},
    body: Empty,
    reply: PricesRolledBack,
    handle: rolledBack,
  }),
] as const

async function verified(call: OperationCall<undefined, undefined, typeof BundleCheck>) {
  const {app, db, body, now} = call
  const {bundle, key_id} = opened(app, body)
  await checkAge(db, bundle, contentOf(bundle))
  const read = contentOf(bundle)
  const {serial, created_at, note, contents} = bundle
  const prices = diffView(read, await changesBy(db, read, now), now)
  return {serial, created_at, note, key_id, contents: contents.map(({kind}) => kind), prices, object: 'bundle' as const}
}

async function applied(call: OperationCall<undefined, undefined, typeof BundleApply>) {
  const {app, db, body, now} = call
  await mayChangePrices(call)
  const effective_at = beginning(body.effective_at, now)
  const {bundle, key_id} = opened(app, body)
  const read = contentOf(bundle)
  await checkAge(db, bundle, read)
  const changes = await changesBy(db, read, effective_at)
  return install(
    call,
    {kind: 'bundle', origin: body.origin, key_id, serial: bundle.serial, effective_at},
    read,
    changes,
  )
}

async function rolledBack(call: OperationCall<undefined, undefined, typeof Empty>) {
  const {db, now} = call
  await mayChangePrices(call)
  const bundle = await lastPriceRevision(db, 'bundle')
  if (!bundle) throw new Refusal('pricing.no_revision', {reason: 'There is no installed bundle to withdraw.'})
  const over = await lastPriceRevision(db, 'sync')
  if (over && over.revision > bundle.revision) {
    const reason = `The revision ${over.revision} was synced after the bundle and stands on it. Withdraw it first (gateway pricing rollback).`
    throw new Refusal('pricing.no_revision', {reason})
  }
  await withdrawPriceRevision(db, bundle.revision, now)
  call.auditTarget(String(bundle.revision))
  return {withdrawn: [revisionView({...bundle, withdrawn_at: now})], object: 'price-rollback' as const}
}

/**
 * The bundle, once a trusted key has signed it. Where the settings name keys, a caller chooses among them and brings no
 * other.
 */
function opened(
  {settings}: AdminServices,
  {bundle, public_key}: {readonly bundle: unknown; readonly public_key?: string | undefined},
) {
  const trusted = settings.bundle_public_key
  try {
    if (trusted !== undefined && public_key !== undefined) {
      const known = readPublicKeys(trusted)
      const strange = [...readPublicKeys(public_key).keys()].find(id => !known.has(id))
      if (strange) throw new BundleFault(`the key ${strange} is none of those that GATEWAY_BUNDLE_PUBLIC_KEY names`)
    }
    const keys = public_key ?? trusted
    if (keys === undefined)
      throw new BundleFault('no key is trusted: name the public key, or set GATEWAY_BUNDLE_PUBLIC_KEY')
    return openBundle(bundle, keys)
  } catch (error) {
    if (!(error instanceof BundleFault)) throw error
    throw new Refusal('bundle.refused', {reason: error.message})
  }
}

/** The prices of a bundle. Content of a kind that is not known here is a reason to take nothing of it. */
function contentOf({contents}: Bundle): ReadList {
  const strange = contents.find(({kind}) => kind !== 'prices')
  if (strange)
    throw refused(
      `it holds ${JSON.stringify(strange.kind.slice(0, 64))}, which this version cannot take; a newer gateway may`,
    )
  const [content, more] = contents
  if (!content || more) throw refused('it should hold one list of prices')
  const parsed = PriceListBody.safeParse(content.content)
  if (!parsed.success)
    throw refused(
      explain(parsed.error, PriceListBody, content.content, {root: 'its list of prices'}).replace(/\.$/, ''),
    )
  return readList(parsed.data, 'bundle', 'prices')
}

/**
 * Refuses what is older than the newest bundle this gateway has ever taken: an old bundle is a way to bring old prices
 * back.
 */
async function checkAge(db: Db, {serial}: Bundle, {digest}: ReadList) {
  const newest = await newestBundle(db)
  if (!newest?.serial || serial > newest.serial) return
  if (serial < newest.serial) {
    throw older(`its serial ${serial} is older than ${newest.serial}, which was installed on ${newest.created_at}`)
  }
  if (digest !== newest.digest)
    throw older(`its serial ${serial} was installed on ${newest.created_at} with other content`)
  if (newest.withdrawn_at === null) throw older(`its serial ${serial} is installed already, since ${newest.created_at}`)
}

function refused(reason: string): Refusal {
  return new Refusal('bundle.refused', {reason})
}

function older(reason: string): Refusal {
  return new Refusal('bundle.older', {reason})
}
