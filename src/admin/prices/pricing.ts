import type {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {openPricing, type Pricing} from '../../pricing/open.ts'
import {CLASS_OF_RATE, effectiveRates, type Price, periodAt, RATE_NAMES, unitRate} from '../../pricing/price.ts'
import {toPublicPricing, toPublicTiers} from '../../pricing/view.ts'
import {find as findKind} from '../../providers/registry.ts'
import {list, listOf} from '../../schema/paging.ts'
import {General, GeneralPath} from '../../schema/price-lists.ts'
import {PricingPath, PricingQuery, PricingRow, PricingView, UnpricedQuery, UnpricedRow} from '../../schema/pricing.ts'
import {type UnpricedModel, unpricedModels} from '../../store/logs.ts'
import {logScope} from '../logs.ts'
import {type OperationCall, operation} from '../operation.ts'
import type {AdminServices} from '../services.ts'

const tag = 'Model Pricing'

/** The prices of calls. Prices are the same for everyone, so they are open to everyone. */
export const pricing = [
  operation({
    id: 'pricing.get',
    tag,
    method: 'GET',
    path: '/model-configs/pricing/:provider/:model',
    summary: 'Show the price of a model, in US cents a token or unit',
    scopes: null,
    compatibility: {at_root: true, bare_404: true},
    takes_rest: true,
    takes_nul: true,
    params: PricingPath,
    reply: PricingView,
    handle: shown,
  }),
  operation({
    id: 'pricing.list',
    tag,
    method: 'GET',
    path: '/model-configs/pricing',
    always_paged: true,
    summary: 'List the models that have a price, in US cents a token or unit',
    scopes: null,
    compatibility: {at_root: true},
    query: PricingQuery,
    reply: listOf(PricingRow),
    handle: listed,
  }),
  operation({
    id: 'pricing.capabilities',
    tag,
    method: 'GET',
    path: '/model-configs/general/:provider',
    summary: 'Show what the models of a provider can do, as the sources of capabilities say it',
    scopes: null,
    compatibility: {at_root: true, bare_404: true},
    params: GeneralPath,
    reply: General,
    handle: capabilities,
  }),
  operation({
    id: 'pricing.unpriced',
    tag,
    method: 'GET',
    path: '/model-configs/unpriced',
    always_paged: true,
    summary: 'List the models that were called without a known price, or used what has none of theirs: that costs 0',
    scopes: ['logs.list'],
    query: UnpricedQuery,
    reply: listOf(UnpricedRow),
    handle: unpriced,
  }),
] as const

async function shown({app, params}: OperationCall<typeof PricingPath>): Promise<z.input<typeof PricingView>> {
  const pricing = await freshPricing(app)
  const provider = slugOf(params.provider)
  await pricing.ready(provider)
  const price = pricing.lookup(provider, params.model)
  if (!price) throw new Refusal('pricing.unknown')
  return toPublicPricing(price, app.now().getTime())
}

async function listed({app, query}: OperationCall<undefined, typeof PricingQuery>) {
  const provider = query.provider === undefined ? undefined : slugOf(query.provider)
  const search = query.search?.toLowerCase()
  const isAsked = (price: Price) =>
    (provider === undefined || price.provider === provider) &&
    (search === undefined || [price.model, ...price.aliases].some(name => name.toLowerCase().includes(search)))
  const found = (await freshPricing(app)).list().filter(isAsked)
  const first = query.current_page * query.page_size
  const at_ms = app.now().getTime()
  return list({total: found.length, rows: found.slice(first, first + query.page_size)}, price => rowOf(price, at_ms))
}

async function capabilities({app, params}: OperationCall<typeof GeneralPath>) {
  const found = await (await freshPricing(app)).capabilities(slugOf(params.provider))
  if (!found) throw new Refusal('pricing.no_capabilities')
  return {...found}
}

function rowOf(price: Price, at_ms: number): z.input<typeof PricingRow> {
  const {provider, model, aliases, source} = price
  const {calculate: _, ...terms} = toPublicPricing(price, at_ms)
  return {provider, model, aliases, source, ...terms, tiers: toPublicTiers(price, at_ms), object: 'model-price'}
}

const DAY_MS = 86_400_000

async function unpriced(call: OperationCall<undefined, typeof UnpricedQuery>) {
  const {app, db, query} = call
  const scope = await logScope(call, query)
  await app.settled?.()
  const pricing = await freshPricing(app)
  const since_at = new Date(app.now().getTime() - query.days * DAY_MS).toISOString()
  return list(await unpricedModels(db, scope, since_at, query), ({model, ...row}) => ({
    ...row,
    model: model === '' ? null : model,
    command: commandFor(slugOf(row.provider), model, row),
    priced_now:
      row.parts.every(({kind}) => kind === 'unit') &&
      isPriced(pricing.lookup(slugOf(row.provider), model), row.units, app.now().getTime()),
    object: 'unpriced-model' as const,
  }))
}

/** Words of a shell as they are, or quoted. */
const quoted = (text: string) => (/^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/**
 * Classes of tokens are in the price of the model; a mode, an unknown number and an endpoint have no rate of their own.
 */
function commandFor(
  provider: string,
  model: string,
  {units, parts}: Pick<UnpricedModel, 'units' | 'parts'>,
): string | null {
  if (model === '') return null
  const command = `gateway pricing set ${quoted(model)} --provider ${quoted(provider)}`
  if (parts.length === 0) return `${command} --input USD --output USD`
  if (units.length === 0) return null
  const tokens = RATE_NAMES.filter(name => units.includes(CLASS_OF_RATE[name]))
  const others = units.filter(unit => !RATE_NAMES.some(name => CLASS_OF_RATE[name] === unit))
  const rates = tokens.length > 0 || others.length === 0 ? ' --input USD --output USD' : ''
  return `${command}${rates}${others.map(unit => ` --unit ${quoted(unit === 'image' ? 'image:default:default' : unit)}=USD`).join('')}`
}

/** True when usage without a price has one by now. */
function isPriced(price: Price | undefined, units: readonly string[], at_ms: number): boolean {
  if (!price) return false
  const {rates, units: rates_of_units = {}} = periodAt(price, at_ms)
  const effective = effectiveRates(rates)
  return units.every(unit => {
    const rate = RATE_NAMES.find(name => CLASS_OF_RATE[name] === unit)
    return rate
      ? effective[rate] !== undefined
      : unitRate(rates_of_units, unit === 'image' ? 'image:default:default' : unit) !== undefined
  })
}

/** Providers have other names too; prices go by the one that is listed. */
function slugOf(provider: string): string {
  return findKind(provider)?.slug ?? provider
}

const opened = new WeakMap<AdminServices, Pricing>()

/**
 * The prices that calls find, but for those that an integration gives models of its own; as the database has them now.
 */
export async function freshPricing(app: AdminServices): Promise<Pricing> {
  const pricing = app.pricing ?? opened.get(app) ?? open(app)
  await pricing.refresh()
  return pricing
}

function open(app: AdminServices): Pricing {
  const {settings, store} = app
  const pricing = openPricing({
    settings,
    db: store.db,
    isProvider: slug => findKind(slug) !== undefined,
    warn: () => undefined, // calls that are charged by the file report its faults
    now_ms: () => app.now().getTime(),
  })
  opened.set(app, pricing)
  return pricing
}
