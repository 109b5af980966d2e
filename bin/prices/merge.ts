import {BEDROCK_REGION, lookupKeys} from '../../src/pricing/names.ts'
import {periodAt, type RateName, type Rates} from '../../src/pricing/price.ts'
import type {Offer} from './offer.ts'

/** Two prices are the same when every class both name differs by no more than this part. */
const TOLERANCE = 0.01

/** One model of the catalogue: the offer that won, under the id it is listed by. */
export interface Entry {
  readonly model: string
  readonly offer: Offer
  readonly aliases: Set<string>
}

/** A class of one model that two sources price differently. */
export interface Conflict {
  readonly provider: string
  readonly model: string
  readonly rate: RateName
  readonly winner: {readonly source: string; readonly pico: number}
  readonly loser: {readonly source: string; readonly pico: number; readonly id: string}
  /** Kept apart: the loser's id got a row of its own, since the winner means it by a loose rule only. */
  readonly apart: boolean
}

export interface Merged {
  /** Provider slug → rows, by lower-case id. */
  readonly shelves: ReadonlyMap<string, readonly Entry[]>
  readonly conflicts: readonly Conflict[]
  /** Offers of ids already listed, that agreed: how many, by source. */
  readonly repeats: ReadonlyMap<string, number>
}

/**
 * One row for each model of each provider. `offers` come in order of precedence; the first that names an id owns it,
 * the others are compared with it on the day `as_of_ms`.
 *
 * An id that an earlier source means only by a rule ("starts with ...") is an alias of that source's model when it
 * differs from it by a date or a version alone, or when the prices agree; otherwise the rule is too loose and the id
 * keeps the price of the source that spells it.
 */
export function merge(offers: readonly Offer[], as_of_ms: number): Merged {
  const shelves = new Map<string, Shelf>()
  const conflicts: Conflict[] = []
  const repeats = new Map<string, number>()
  for (const offer of offers) {
    const shelf: Shelf = shelves.get(offer.provider) ?? {entries: [], names: new Map(), rules: []}
    shelves.set(offer.provider, shelf)
    if (offer.model === null) shelf.rules.push({offer, entry: undefined})
    else place(shelf, offer.model, offer)
  }
  for (const shelf of shelves.values()) settleAliases(shelf)
  return {shelves: new Map([...shelves].map(([provider, {entries}]) => [provider, entries])), conflicts, repeats}

  function place(shelf: Shelf, model: string, offer: Offer): void {
    const listed = shelf.names.get(model.toLowerCase()) ?? spelledOtherwise(shelf, model, offer)
    const rule = listed
      ? undefined
      : shelf.rules.find(one => one.offer.source !== offer.source && one.offer.matches?.(model))
    if (listed) repeat(listed, model, offer, false)
    else if (!rule) add(shelf, model, offer)
    else if (!rule.entry) {
      rule.entry = add(shelf, model, rule.offer)
      repeat(rule.entry, model, offer, false)
    } else {
      const loose =
        !isVersionOf(model, rule.entry.model) || (isRouted(offer.provider, model) && ignoresRegion(rule.offer, model))
      const apart = loose && differences(rule.offer, offer, as_of_ms).length > 0
      repeat(rule.entry, model, offer, apart)
      if (apart) add(shelf, model, offer)
      else addAlias(shelf, rule.entry, model)
    }
  }

  /** The entry that a call for `model` would find anyway; a region with a price of its own is another model. */
  function spelledOtherwise(shelf: Shelf, model: string, offer: Offer): Entry | undefined {
    const keys = lookupKeys(offer.provider, model)
    const found = keys.map(key => shelf.names.get(key)).find(entry => entry !== undefined)
    return found && isRouted(offer.provider, model) && differences(found.offer, offer, as_of_ms).length > 0
      ? undefined
      : found
  }

  function repeat(entry: Entry, id: string, offer: Offer, apart: boolean): void {
    if (entry.offer.source === offer.source) return
    const found = differences(entry.offer, offer, as_of_ms)
    if (found.length === 0) repeats.set(offer.source, (repeats.get(offer.source) ?? 0) + 1)
    for (const {rate, mine, theirs} of found) {
      const winner = {source: entry.offer.source, pico: mine}
      conflicts.push({
        provider: offer.provider,
        model: entry.model,
        rate,
        winner,
        loser: {source: offer.source, pico: theirs, id},
        apart,
      })
    }
  }
}

interface Shelf {
  readonly entries: Entry[]
  /** Ids and aliases in lower case. */
  readonly names: Map<string, Entry>
  /**
   * The rules of earlier sources, in their order; a rule without an id of its own gets its entry from the first id that
   * it means.
   */
  readonly rules: {readonly offer: Offer; entry: Entry | undefined}[]
}

function add(shelf: Shelf, model: string, offer: Offer): Entry {
  const entry: Entry = {model, offer, aliases: new Set()}
  shelf.entries.push(entry)
  // An id beats an alias that an earlier row claimed.
  shelf.names.set(model.toLowerCase(), entry)
  for (const alias of offer.aliases) addAlias(shelf, entry, alias)
  // A publisher before the name is how Vertex AI routes: the bare name is the same model.
  if (offer.provider === 'vertex-ai' && model.includes('/'))
    addAlias(shelf, entry, model.slice(model.lastIndexOf('/') + 1))
  if (offer.matches && offer.model !== null) shelf.rules.push({offer, entry})
  return entry
}

function addAlias(shelf: Shelf, entry: Entry, alias: string): void {
  const name = alias.toLowerCase()
  if (shelf.names.has(name)) return
  shelf.names.set(name, entry)
  entry.aliases.add(alias)
}

/** An alias stays only where it says something: it is no other row's id, and is not found anyway. */
function settleAliases(shelf: Shelf): void {
  for (const entry of shelf.entries) {
    for (const alias of entry.aliases) if (shelf.names.get(alias.toLowerCase()) !== entry) entry.aliases.delete(alias)
  }
}

/**
 * True for a Bedrock id with a region before it that may have a price of its own: lists are in the prices of the United
 * States.
 */
function isRouted(provider: string, model: string): boolean {
  return provider === 'bedrock' && BEDROCK_REGION.test(model) && !model.startsWith('us.')
}

/** True when a rule would take the model in any region at all: it knows nothing of the one that is named. */
function ignoresRegion(rule: Offer, model: string): boolean {
  return rule.matches?.(model.replace(BEDROCK_REGION, 'nowhere.')) ?? false
}

/** True when the ids differ by region, date (a preview's too), first version, revision or "latest" alone. */
function isVersionOf(one: string, other: string): boolean {
  return stem(one) === stem(other)
}

function stem(id: string): string {
  let name = id.toLowerCase().replace(BEDROCK_REGION, '')
  for (;;) {
    const shorter = name.replace(
      /(?:[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest|default|v1|(?:preview|exp)-\d[\d-]*|00\d)|:\d+)$/,
      '',
    )
    if (shorter === name) return name
    name = shorter
  }
}

function differences(one: Offer, other: Offer, at_ms: number): {rate: RateName; mine: number; theirs: number}[] {
  const mine = ratesAt(one, at_ms)
  const theirs = ratesAt(other, at_ms)
  return (Object.keys(mine) as RateName[]).flatMap(rate => {
    const [a, b] = [mine[rate], theirs[rate]]
    return a === undefined || b === undefined || Math.abs(a - b) <= Math.max(a, b) * TOLERANCE
      ? []
      : [{rate, mine: a, theirs: b}]
  })
}

function ratesAt({source, provider, periods}: Offer, at_ms: number): Rates {
  return periodAt({source, provider, model: '', aliases: [], periods}, at_ms).rates
}
