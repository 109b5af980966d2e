import {
  geographyOf,
  geographyUnit,
  INPUT_CLASSES,
  isCharged,
  isEmptyUsage,
  modeOf,
  type TokenClass,
  UNIT,
  type Usage,
} from '../schema/usage.ts'
import {roundHalfEven, scaleDecimal} from './decimal.ts'
import {
  CLASS_OF_RATE,
  effectiveRates,
  type Geographies,
  type Price,
  type PricePeriod,
  periodAt,
  RATE_NAMES,
  type Terms,
  type UnitRate,
  unitRate,
} from './price.ts'

/** The cost of an attempt. */
export interface Cost {
  /** The whole, rounded once, half to even. A safe integer: a claim beyond 9 million dollars is cut there. */
  readonly cost_nanousd: number
  /**
   * True when anything was used that has no price: the model, or a class of tokens or a unit of it. Its share is
   * counted as 0.
   */
  readonly unpriced: boolean
  /** The names of those classes and units; of a model without any price its units alone, as all of its tokens are. */
  readonly unpriced_units: readonly string[]
  /** How it was served, where that is charged at the standard price because its own is not known. */
  readonly mode_unpriced: string | null
  /**
   * Shares by token class or unit, for showing; each is rounded by itself, so that they may differ from the whole by
   * some nano-dollars.
   */
  readonly parts: Readonly<Record<string, number>>
}

export interface CostOptions {
  /**
   * A row of a batch job: its own price where the provider names one, else half. Without a statement of the provider,
   * the usage decides (`UNIT`).
   */
  readonly batch?: boolean
  /** When the call was admitted, in epoch milliseconds: prices change with date and hour. */
  readonly at: number
}

/** The same for most: nothing is made for them. */
const NONE: readonly string[] = []
const UNPRICED: Cost = {cost_nanousd: 0, unpriced: true, unpriced_units: NONE, mode_unpriced: null, parts: {}}
const CLASSES = RATE_NAMES.map(name => CLASS_OF_RATE[name])
const PICO_PER_NANO = 1000
/** Below 2⁵³ every product and sum of non-negative integers is exact in a double. */
const EXACT = 2 ** 53

/**
 * The cost of `usage` at `price`: exact pico-dollars, all classes added, rounded half to even once to nano-dollars
 * (core rule 13). Counts must be non-negative safe integers, as `mergeUsage` makes them; others throw a RangeError.
 */
export function cost(usage: Partial<Usage>, price: Price | undefined, options: CostOptions): Cost {
  if (!price) return usage.units ? {...UNPRICED, unpriced_units: unpricedUnits(usage.units, undefined)} : UNPRICED
  const period = periodAt(price, options.at)
  const batch = options.batch ?? Boolean(usage.units?.[UNIT.batch_requests])
  // most calls are served anywhere, and use tokens alone
  const is_placed = price.served_in !== undefined || (price.geographies !== undefined && hasUnits(usage.units))
  const terms = is_placed ? chargedTerms(price, period, batch) : termsOf(period, batch)
  const found = costInNumbers(usage, terms) ?? costInBigInts(usage, terms)
  return price.mode === undefined || found.mode_unpriced !== null ? found : {...found, mode_unpriced: price.mode}
}

/** The terms of a charge, and the part of them that is charged (a batch without a price of its own: half). */
export interface ChargedTerms {
  readonly terms: Terms
  readonly halved: boolean
  readonly geographies?: Geographies | undefined
  readonly served_in?: string | undefined
}

export function chargedTerms({geographies, served_in}: Price, period: PricePeriod, batch: boolean): ChargedTerms {
  const terms = termsOf(period, batch)
  return geographies || served_in ? {...terms, geographies, served_in} : terms
}

export function termsOf(period: PricePeriod, batch: boolean): ChargedTerms {
  if (!batch) return {terms: period, halved: false}
  return period.batch ? {terms: period.batch, halved: false} : {terms: period, halved: true}
}

/**
 * The cost in plain numbers; undefined when a product might not be exact, or when units are charged. Equal to
 * `costInBigInts`.
 */
export function costInNumbers(
  usage: Partial<Usage>,
  {terms, halved, geographies, served_in}: ChargedTerms,
): Cost | undefined {
  if (served_in !== undefined) return undefined
  if (geographies && hasUnits(usage.units)) return undefined
  if (terms.units && (hasUnits(usage.units) || terms.units[UNIT.requests] !== undefined)) return undefined
  const values = vectorFor(terms, usage)
  const divisor = halved ? 2 * PICO_PER_NANO : PICO_PER_NANO
  const parts: Record<string, number> = {}
  let pico = 0
  let counted = 0
  let most = 0
  let unpriced_units = NONE
  for (let index = 0; index < CLASSES.length; index++) {
    const name = CLASSES[index]!
    const count = countOf(usage, name)
    if (count === 0) continue
    counted += count
    const rate = values[index]
    if (rate === undefined) {
      unpriced_units = [...unpriced_units, name]
      continue
    }
    pico += count * rate
    if (rate > most) most = rate
    parts[name] = toNano(count * rate, divisor)
  }
  if (counted * (most + 1) >= EXACT) return undefined
  if (usage.units && !terms.units) unpriced_units = [...unpriced_units, ...unpricedUnits(usage.units, undefined)]
  return {
    cost_nanousd: toNano(pico, divisor),
    unpriced: unpriced_units.length > 0,
    unpriced_units,
    mode_unpriced: modeOf(usage),
    parts,
  }
}

/**
 * The cost in BigInt: the definition. Units may be priced per several, so sums are kept over a common denominator until
 * the end.
 */
export function costInBigInts(usage: Partial<Usage>, charged: ChargedTerms): Cost {
  const {shares, unpriced_units} = sharesOf(usage, charged)
  const parts = Object.fromEntries(shares.map(({name, ...share}) => [name, nanoOf([share])]))
  return {
    cost_nanousd: nanoOf(shares),
    unpriced: unpriced_units.length > 0,
    unpriced_units,
    mode_unpriced: modeOf(usage),
    parts,
  }
}

/** So many pico-dollars, divided by `per`. */
export interface Share {
  readonly pico: bigint
  readonly per: bigint
}

/** Shares added exactly and rounded once, half to even, to nano-dollars. */
export function nanoOf(shares: readonly Share[]): number {
  const common = [...new Set(shares.map(share => share.per))].reduce((product, per) => product * per, 1n)
  const whole = shares.reduce((sum, {pico, per}) => sum + pico * (common / per), 0n)
  return safe(roundHalfEven(whole, common * BigInt(PICO_PER_NANO)))
}

/** The exact cost of each class of tokens and each unit of `usage`, and those without a price. */
export function sharesOf(
  usage: Partial<Usage>,
  {terms, halved, geographies, served_in}: ChargedTerms,
): {readonly shares: readonly (Share & {readonly name: string})[]; readonly unpriced_units: readonly string[]} {
  const values = vectorFor(terms, usage)
  const whole = halved ? 2n : 1n
  const {numerator, denominator} = multiplierOf(usage, geographies, served_in)
  const shares: {name: string; pico: bigint; per: bigint}[] = []
  const unpriced_units: string[] = []
  CLASSES.forEach((name, index) => {
    const count = countOf(usage, name)
    if (count === 0) return
    const rate = values[index]
    if (rate === undefined) unpriced_units.push(name)
    else shares.push({name, pico: BigInt(count) * BigInt(rate) * numerator, per: whole * denominator})
  })
  const units = unitsOf(usage, terms)
  for (const [name, count] of Object.entries(units)) {
    if (checked(count, name) === 0) continue
    const rate = terms.units ? unitRate(terms.units, name) : undefined
    if (rate === undefined) continue
    const [pico, per] = unitParts(rate)
    shares.push({name, pico: BigInt(count) * pico, per: per * whole})
  }
  unpriced_units.push(...unpricedUnits(units, terms.units, geographies))
  if (served_in !== undefined && !Object.hasOwn(geographies ?? {}, served_in) && !isEmptyUsage(usage))
    unpriced_units.push(geographyUnit(served_in))
  return {shares, unpriced_units}
}

const ONCE = {numerator: 1n, denominator: 1n}

/** The factor of tokens that were served in one geography. */
function multiplierOf({units}: Partial<Usage>, geographies: Geographies | undefined, served_in: string | undefined) {
  if (served_in !== undefined && geographies && Object.hasOwn(geographies, served_in))
    return scaleDecimal(String(geographies[served_in]), 0) ?? ONCE
  for (const unit in geographies && units) {
    const name = units![unit] ? geographyOf(unit) : null
    const by =
      name !== null && Object.hasOwn(geographies!, name) ? scaleDecimal(String(geographies![name]), 0) : undefined
    if (by) return by
  }
  return ONCE
}

/** Perplexity's requests, by how much of the web they saw: where each request has a price, that is theirs. */
const BY_CONTEXT = /^web_search_(?:low|medium|high)_context$/

/** The units that were used and have no price. */
export function unpricedUnits(
  used: Readonly<Record<string, number>>,
  rates: Terms['units'],
  geographies: Geographies = {},
): readonly string[] {
  let found = NONE
  for (const [name, count] of Object.entries(used)) {
    if (count === 0 || !isCharged(name) || (rates && unitRate(rates, name) !== undefined)) continue
    if (rates?.[UNIT.requests] !== undefined && BY_CONTEXT.test(name)) continue
    const geography = geographyOf(name)
    if (geography !== null && Object.hasOwn(geographies, geography)) continue
    found = [...found, name]
  }
  return found
}

/** Rates in the order of `CLASSES`, gaps filled. */
type Vector = readonly (number | undefined)[]

const vectors = new WeakMap<Terms, {base: Vector; tiers: {above: number; vector: Vector}[]}>()

function vectorFor(terms: Terms, usage: Partial<Usage>): Vector {
  let known = vectors.get(terms)
  if (!known) {
    known = {
      base: toVector(terms.rates),
      tiers: (terms.tiers ?? []).map(({above, rates}) => ({above, vector: toVector(rates)})),
    }
    vectors.set(terms, known)
  }
  if (known.tiers.length === 0) return known.base
  let prompt_tokens = 0
  for (const name of INPUT_CLASSES) prompt_tokens += countOf(usage, name)
  return known.tiers.findLast(tier => prompt_tokens > tier.above)?.vector ?? known.base
}

function toVector(rates: Terms['rates']): Vector {
  const effective = effectiveRates(rates)
  return RATE_NAMES.map(name => effective[name])
}

function unitParts(rate: UnitRate): readonly [pico: bigint, per: bigint] {
  return typeof rate === 'number' ? [BigInt(rate), 1n] : [BigInt(rate[0]), BigInt(rate[1])]
}

/** The units used. An attempt that used anything is one request, without a count. */
function unitsOf(usage: Partial<Usage>, terms: Terms): Readonly<Record<string, number>> {
  const {units = {}} = usage
  if (terms.units?.[UNIT.requests] === undefined || units[UNIT.requests] !== undefined || isEmptyUsage(usage))
    return units
  return {...units, [UNIT.requests]: 1}
}

function hasUnits(units: Readonly<Record<string, number>> | undefined): boolean {
  for (const name in units) if (units[name] !== 0) return true
  return false
}

function countOf(usage: Partial<Usage>, name: TokenClass): number {
  return checked(usage[name] ?? 0, name)
}

function checked(count: number, name: string): number {
  if (!Number.isSafeInteger(count) || count < 0)
    throw new RangeError(`usage.${name} is ${count}; expected a non-negative safe integer`)
  return count
}

/** Exact below 2⁵³: the remainder is, and so is a quotient without one. */
function toNano(pico: number, divisor: number): number {
  const rest = pico % divisor
  const nano = (pico - rest) / divisor
  const twice = rest * 2
  return twice > divisor || (twice === divisor && nano % 2 === 1) ? nano + 1 : nano
}

function safe(nano: bigint): number {
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano)
}
