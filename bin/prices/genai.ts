import {z} from 'zod'
import {type PricePeriod, type RateName, type Rates, SPEECH, type Tier, type UnitRate} from '../../src/pricing/price.ts'
import {UNIT} from '../../src/schema/usage.ts'
import {readLiteralAfter} from './literal.ts'
import {type Offer, picoOf, type Reading, type Refused, saysFree, tokenPico} from './offer.ts'
import {GENAI_ROUTED, GENAI_SLUGS, slugOf} from './providers.ts'

const SOURCE = 'genai-prices'
const DATES = ['-2029-12-31', '-20291231', '@20291231'] as const
const DATED = /[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$/

type Match =
  | {or: Match[]}
  | {and: Match[]}
  | {equals: string}
  | {starts_with: string}
  | {ends_with: string}
  | {contains: string}
  | {regex: string}
const match: z.ZodType<Match> = z.lazy(() =>
  z.union([
    z.strictObject({or: z.array(match)}),
    z.strictObject({and: z.array(match)}),
    z.strictObject({equals: z.string()}),
    z.strictObject({starts_with: z.string()}),
    z.strictObject({ends_with: z.string()}),
    z.strictObject({contains: z.string()}),
    z.strictObject({regex: z.string()}),
  ]),
)
const amount = z.number().nonnegative()
const tiered = z.strictObject({
  base: amount,
  tiers: z.array(z.strictObject({start: z.int().positive(), price: amount})),
})
const prices = z.record(z.string(), z.union([amount, tiered]))
const constraint = z.discriminatedUnion('type', [
  z.strictObject({type: z.literal('start_date'), start_date: z.iso.date()}),
  z.strictObject({type: z.literal('time_of_date'), start_time: z.string(), end_time: z.string()}),
])
const model = z.object({
  id: z.string().min(1),
  name: z.string().optional(),
  price_comments: z.string().optional(),
  match,
  prices: z.union([z.array(z.strictObject({constraint: constraint.optional(), prices})), prices]),
})
const providers = z.array(z.object({id: z.string(), models: z.array(model)}))
type Model = z.infer<typeof model>
type Prices = z.infer<typeof prices>

// biome-ignore format: a table is read by its lines
const RATES: Readonly<Record<string, RateName>> = {
  input_mtok: 'input', output_mtok: 'output', cache_read_mtok: 'cache_read', cache_write_mtok: 'cache_write_5m',
  cache_write_1h_mtok: 'cache_write_1h', input_audio_mtok: 'audio_in', output_audio_mtok: 'audio_out', cache_audio_read_mtok: 'audio_cache_read',
  input_image_mtok: 'image_in', output_image_mtok: 'image_out', cache_image_read_mtok: 'image_cache_read', output_reasoning_mtok: 'reasoning',
}
// biome-ignore format: a table is read by its lines
const UNITS: Readonly<Record<string, {name: string; unit: 'dollars_per_thousand' | 'dollars_per_million' | 'dollars'; per?: number} | null>> = {
  web_searches_kcount: {name: UNIT.web_search, unit: 'dollars_per_thousand'},
  storage_searches_kcount: {name: UNIT.file_search, unit: 'dollars_per_thousand'},
  requests_kcount: {name: UNIT.requests, unit: 'dollars_per_thousand'},
  input_document_kpages: {name: UNIT.pages, unit: 'dollars_per_thousand'},
  input_annotated_document_kpages: {name: UNIT.annotated_pages, unit: 'dollars_per_thousand'},
  input_text_messages_kcount: {name: UNIT.text_messages, unit: 'dollars_per_thousand'},
  input_video_mtok: {name: UNIT.video_in_tokens, unit: 'dollars_per_million'},
  output_video_mtok: {name: UNIT.video_out_tokens, unit: 'dollars_per_million'},
  output_citation_mtok: {name: UNIT.citation_tokens, unit: 'dollars_per_million'},
  audio_hours: {name: SPEECH.unit, unit: 'dollars', per: SPEECH.per},
  // The same hours again, by direction.
  input_audio_hours: null,
}

/** The offers of `@pydantic/genai-prices`, read from the text of its `dist/index.js`. */
export function readGenaiPrices([text = '']: readonly string[]): Reading {
  const refused: Refused[] = []
  const offers = providers
    .parse(readLiteralAfter(text, /^(?:const|var|let) \w+ = (?=\[\s*\{\s*id:)/m))
    .flatMap(({id: provider, models}) =>
      models.flatMap(entry => {
        const periods = readPeriods(entry, (what, why) =>
          refused.push({source: SOURCE, provider, model: entry.id, what, why}),
        )
        return periods ? placesOf(provider, entry).map(place => toOffer(place, entry, periods)) : []
      }),
    )
  return {offers, refused}
}

interface Place {
  readonly provider: string
  /** Goes behind every id. */
  readonly suffix: string
}

/** Our slugs under which a model of the source's provider is sold. */
function placesOf(provider: string, {id}: Model): readonly Place[] {
  const routed = GENAI_ROUTED.exec(provider)?.[1]
  if (routed) return [{provider: 'huggingface', suffix: `:${routed}`}]
  // OpenRouter's ids begin with an author; the source keeps the bare names too, often beside them, and those cannot be
  // called.
  if (provider === 'openrouter' && !id.includes('/')) return []
  if (provider === 'azure' && /^(?:phi|mai|wizardlm)-/.test(id)) return [{provider: 'azure-ai', suffix: ''}]
  if (provider === 'google') {
    // One list for all of googleapis.com: Claude and model-as-a-service are Vertex AI, open Gemma the Gemini API, the
    // rest is on both.
    const vertex_only = id.startsWith('claude-') || id.endsWith('-maas')
    const slugs = vertex_only ? ['vertex-ai'] : id.startsWith('gemma-') ? ['google'] : ['google', 'vertex-ai']
    return slugs.map(slug => ({provider: slug, suffix: ''}))
  }
  const slug = slugOf(GENAI_SLUGS, provider, SOURCE)
  return slug === null ? [] : [{provider: slug, suffix: ''}]
}

function toOffer({provider, suffix}: Place, entry: Model, periods: readonly PricePeriod[]): Offer {
  const matches = (id: string) => id.endsWith(suffix) && accepts(entry.match, suffix ? id.slice(0, -suffix.length) : id)
  const equal = equalsOf(entry.match)
  // "regional.anthropic..." is how the source names every Bedrock region but the global one: the id itself has no such
  // word.
  const named = entry.id.replace(/^regional\./, '')
  const usable = !named.endsWith('-') && (provider === 'bedrock' || accepts(entry.match, named))
  const id = usable ? named : equal[0]
  return {
    source: SOURCE,
    provider,
    model: id === undefined ? null : id + suffix,
    aliases: id === undefined ? [] : [...equal, ...(usable ? [] : [named])].map(name => name + suffix),
    matches,
    dated: id !== undefined && !DATED.test(id) && DATES.some(date => accepts(entry.match, id + date)),
    periods,
  }
}

function equalsOf(rule: Match): string[] {
  if ('or' in rule) return rule.or.flatMap(equalsOf)
  return 'equals' in rule ? [rule.equals] : []
}

/** As the source itself reads its rules: without regard to case, but for expressions. */
function accepts(rule: Match, id: string): boolean {
  const name = id.toLowerCase()
  if ('or' in rule) return rule.or.some(one => accepts(one, id))
  if ('and' in rule) return rule.and.every(one => accepts(one, id))
  if ('equals' in rule) return name === rule.equals.toLowerCase()
  if ('starts_with' in rule) return name.startsWith(rule.starts_with.toLowerCase())
  if ('ends_with' in rule) return name.endsWith(rule.ends_with.toLowerCase())
  if ('contains' in rule) return name.includes(rule.contains.toLowerCase())
  return new RegExp(rule.regex).test(id)
}

function readPeriods(entry: Model, refuse: (what: string, why: string) => void): PricePeriod[] | undefined {
  const dated = Array.isArray(entry.prices) ? entry.prices : [{prices: entry.prices}]
  const free = saysFree(entry.id, entry.name, entry.price_comments)
  const periods = dated.map(({constraint: when, prices: terms}) => ({
    ...readWhen(when),
    ...readTerms(terms, free, refuse),
  }))
  return periods.every(({rates, units}) => Object.keys(rates).length === 0 && !units) ? undefined : periods
}

function readWhen(when: z.infer<typeof constraint> | undefined): Pick<PricePeriod, 'from' | 'hours'> {
  if (!when) return {}
  return when.type === 'start_date'
    ? {from: when.start_date}
    : {hours: [minuteOf(when.start_time), minuteOf(when.end_time)]}
}

function minuteOf(time: string): number {
  const [, hour, minute] = /^(\d\d):(\d\d):00Z$/.exec(time) ?? []
  if (hour === undefined || minute === undefined)
    throw new Error(`${SOURCE}: the time ${time} is not a whole minute in UTC`)
  return Number(hour) * 60 + Number(minute)
}

function readTerms(
  terms: Prices,
  free: boolean,
  refuse: (what: string, why: string) => void,
): Omit<PricePeriod, 'from' | 'hours'> {
  if (Object.keys(terms).length === 0) return {rates: free ? {input: 0, output: 0} : {}}
  const rates: Partial<Record<RateName, number>> = {}
  const units: Record<string, UnitRate> = {}
  const steps = new Map<number, Partial<Record<RateName, number>>>()
  for (const [key, price] of Object.entries(terms)) {
    const name = RATES[key]
    const take = (value: number, into: Partial<Record<RateName, number>>) => {
      const pico = tokenPico(value, 'dollars_per_million')
      if (typeof pico === 'number') into[name!] = pico
      else refuse(key, pico.why)
    }
    if (name !== undefined) {
      take(typeof price === 'number' ? price : price.base, rates)
      if (typeof price !== 'number') {
        for (const {start, price: value} of price.tiers) {
          const step = steps.get(start) ?? {}
          steps.set(start, step)
          take(value, step)
        }
      }
      continue
    }
    const unit = UNITS[key]
    if (unit === null) continue
    if (unit === undefined || typeof price !== 'number')
      throw new Error(`${SOURCE} prices ${key}, which bin/prices/genai.ts does not know`)
    const pico = picoOf(price, unit.unit)
    if (typeof pico === 'number') units[unit.name] = unit.per ? [pico, unit.per] : pico
    else refuse(key, pico.why)
  }
  const tiers = toTiers(rates, steps)
  return {rates, ...(tiers.length > 0 && {tiers}), ...(Object.keys(units).length > 0 && {units})}
}

/** Steps name only the classes that change; a tier names all. */
function toTiers(base: Rates, steps: ReadonlyMap<number, Rates>): Tier[] {
  let rates = base
  return [...steps]
    .sort(([one], [other]) => one - other)
    .map(([above, changed]) => {
      rates = {...rates, ...changed}
      return {above, rates}
    })
}
