import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {Readable} from 'node:stream'
import {describe, expect, test} from 'vitest'
import {CostSum} from '../../src/pricing/cost-sum.ts'
import {toPico} from '../../src/pricing/decimal.ts'
import type {Price, PricePeriod, RateName, Terms, UnitRate} from '../../src/pricing/price.ts'
import {usageOfRows} from '../../src/proxy/records/deferred/batch-usage.ts'
import {priceOf} from '../../src/proxy/records/price.ts'
import {usedBy} from '../../src/proxy/records/usage.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import type {Target} from '../../src/proxy/targets/target.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import {UNIT} from '../../src/schema/usage.ts'

interface CostReplies {
  readonly attempts?: readonly {
    readonly provider: string
    readonly model: string
    readonly status: number
    readonly reply: Record<string, unknown>
  }[]
  readonly output_lines?: readonly object[]
  readonly error_lines?: readonly object[]
  readonly events?: readonly Record<string, unknown>[]
}

/** One call: what bears on its price in the request and the reply, rates by name in US dollars, and its cost. */
interface CostCase {
  readonly id: string
  readonly provider: string
  readonly route: string
  readonly dialect: string
  readonly model: string
  readonly request: Readonly<Record<string, unknown>>
  readonly reply: Readonly<Record<string, unknown>> & CostReplies
  readonly rates_usd: Readonly<Record<string, string>>
  /** Null: no cost can be known. */
  readonly cost_nanousd: string | null
}

const CASES = readFileSync(join(import.meta.dirname, 'cost-cases.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => JSON.parse(line) as CostCase)

/** What the gateway makes of a row that it prices otherwise, and why. */
interface Otherwise {
  readonly cost_nanousd: number
  readonly is_unpriced?: true
  readonly mode?: string
  readonly source?: 'unmetered' | 'estimated'
  readonly why: string
}

/** test/admin/integrations.test.ts holds that `pricing_adjustments` are refused, and say so. */
const DISCOUNT =
  'no reply tells of a discount by contract, and an integration with one is refused: nobody takes it for applied'

const OTHERWISE: Readonly<Record<string, Otherwise>> = {
  c014: {
    cost_nanousd: 5_364_000,
    why: 'flex tokens are “priced at Batch API rates” (https://developers.openai.com/api/docs/guides/flex-processing), and batch rates are half',
  },
  c077: {
    cost_nanousd: 0,
    is_unpriced: true,
    why: 'a picture of quality and size auto is the default one, which has no rate: flagged',
  },
  c085: {
    cost_nanousd: 1_300_000,
    why: 'seconds are counted whole, as OpenAI reports them: `{"type":"duration","seconds":6}` of whisper-1 (docs.rs/rig-core, openai/transcription.rs)',
  },
  c086: {cost_nanousd: 0, source: 'unmetered', why: 'video by the second has no unit: flagged'},
  c088: {cost_nanousd: 0, source: 'unmetered', why: 'video by the second has no unit: flagged'},
  c104: {
    cost_nanousd: 752_505,
    source: 'estimated',
    why: 'no call has more than 10^12 tokens: such a report is not believed, and is flagged as estimated',
  },
  c109: {cost_nanousd: 2_870_000, why: DISCOUNT},
  c110: {
    cost_nanousd: 810,
    mode: 'region eu-central-1',
    why: `the price of the region is not known: flagged; ${DISCOUNT}`,
  },
}
const ENDPOINTS: Readonly<Record<string, EndpointName>> = {
  chat: 'chatComplete',
  responses: 'createModelResponse',
  realtime: 'createModelResponse',
  messages: 'messages',
  images: 'imageGenerate',
  speech: 'createSpeech',
  transcription: 'createTranscription',
  embeddings: 'embed',
  batch: 'chatComplete',
}

const RATES: Readonly<Record<string, RateName>> = {
  input_per_mtok: 'input',
  cached_input_per_mtok: 'cache_read',
  cache_write_5m_per_mtok: 'cache_write_5m',
  cache_write_1h_per_mtok: 'cache_write_1h',
  output_per_mtok: 'output',
  reasoning_per_mtok: 'reasoning',
  audio_in_per_mtok: 'audio_in',
  audio_cached_per_mtok: 'audio_cache_read',
  audio_out_per_mtok: 'audio_out',
  image_in_per_mtok: 'image_in',
  image_out_per_mtok: 'image_out',
}
const UNITS: Readonly<Record<string, string>> = {
  character: UNIT.characters,
  file_search_call: UNIT.file_search,
  code_interpreter_session: UNIT.code_execution,
  routing_per_mtok: UNIT.routing_units,
  'call:low': 'web_search_low_context',
  'call:medium': 'web_search_medium_context',
  'call:high': 'web_search_high_context',
}

function termsOf(rates_usd: CostCase['rates_usd'], prefix: string): Terms {
  const rates: Partial<Record<RateName, number>> = {}
  const units: Record<string, UnitRate> = {}
  for (const [name, usd] of Object.entries(rates_usd)) {
    if (!name.startsWith(prefix)) continue
    const bare = name.slice(prefix.length)
    const pico = () => toPico(usd, 'dollars')!
    if (RATES[bare]) rates[RATES[bare]] = toPico(usd, 'dollars_per_million')!
    else if (UNITS[bare]) units[UNITS[bare]] = bare.endsWith('_per_mtok') ? toPico(usd, 'dollars_per_million')! : pico()
    else if (bare === 'search') for (const unit of [UNIT.web_search, UNIT.search_units, 'sources']) units[unit] = pico()
    else if (bare === 'minute') units[UNIT.audio_seconds] = [pico(), 60]
    else if (bare.startsWith('image_per_unit:')) units[`image:${bare.slice('image_per_unit:'.length)}`] = pico()
  }
  return {rates, ...(Object.keys(units).length > 0 && {units})}
}

/** The price that the rates of a case come to, for a model that they name. */
function rowOf({provider, rates_usd}: CostCase, named = ''): Price {
  const base = termsOf(rates_usd, named)
  const above = termsOf(rates_usd, `${named}above_200000_`).rates
  const batch = termsOf(rates_usd, `${named}batch_`).rates
  const period: PricePeriod = {
    ...base,
    ...(Object.keys(above).length > 0 && {tiers: [{above: 200_000, rates: above}]}),
    ...(Object.keys(batch).length > 0 && {batch: {rates: batch}}),
  }
  const by = rates_usd.token_region_multiplier
  const geographies = by && {geographies: {us: Number(by), eu: Number(by)}}
  return {provider, model: named, source: 'case', aliases: [], periods: [period], ...geographies}
}

/** The price list of a case: rates of a model that they name, else those of the model called. */
function listOf(each: CostCase): ProxyServices {
  const names = Object.keys(each.rates_usd)
  const find = (_kind: string, model: string) => {
    if (names.some(name => name.startsWith(`${model}/`))) return rowOf(each, `${model}/`)
    return names.every(name => name.includes('/')) ? undefined : rowOf(each)
  }
  return {prices: {find}} as unknown as ProxyServices
}

function targetOf({provider, request}: CostCase): Target {
  const destination = typeof request.host === 'string' ? {origin: `https://${request.host}`} : null
  const options = typeof request.region === 'string' ? {aws_region: request.region} : {}
  return {provider: {slug: provider}, managed: null, options, destination} as unknown as Target
}

const at = Date.parse('2026-11-21T12:00:00Z')

function charge(tally: CostSum, each: CostCase, reply: Readonly<Record<string, unknown>>, status = 200, named = '') {
  const body = Buffer.from(JSON.stringify({model: each.model, ...each.request}))
  const plain = Buffer.from(JSON.stringify(reply))
  const is_vendors = ['google', 'vertex-ai', 'bedrock', 'cohere'].includes(each.provider)
  const endpoint = is_vendors
    ? 'proxy'
    : each.route.startsWith('/images/edits')
      ? 'imageEdit'
      : (ENDPOINTS[each.dialect] ?? 'proxy')
  const {usage, source, hops, reported_model} = usedBy({
    endpoint,
    method: each.route.startsWith('GET ') ? 'GET' : 'POST',
    path: each.route.replace(/^GET /, ''),
    operation: null,
    model: each.model,
    request_body: body,
    mode_in: body,
    asked_bytes: body.length,
    status,
    outcome: 'ok',
    reply_facts: null,
    plain,
    kind: each.provider,
    reply_headers: {},
    text_bytes: plain.length,
    text_pieces: 0,
    is_cut_stream: false,
  })
  if (source === 'none') return source
  const price =
    named === '' ? priceOf(targetOf(each), each.model, reported_model, at, listOf(each)) : rowOf(each, named)
  const options = {at, batch: Boolean(usage.units[UNIT.batch_requests])}
  if (hops) tally.addHops({usage, hops}, () => price, options)
  else tally.add(usage, price, options)
  return source
}

async function costOf(each: CostCase) {
  const {reply} = each
  const tally = new CostSum()
  if (reply.attempts) {
    let sum = 0
    for (const {provider, model, status, reply: body} of reply.attempts) {
      const one = new CostSum()
      charge(one, each, body, status, `${provider}/${model}/`)
      sum += one.cost_nanousd
    }
    return {cost_nanousd: sum, source: 'provider', unpriced: false}
  }
  if (reply.output_lines) {
    const lines = [...reply.output_lines, ...(reply.error_lines ?? [])].map(line => `${JSON.stringify(line)}\n`)
    const used = await usageOfRows(Readable.from([Buffer.from(lines.join(''))]), {
      kind: each.provider,
      endpoint: 'chatComplete',
      at_ms: at,
      priceOf: () => rowOf(each),
    })
    return {cost_nanousd: used.tally.cost_nanousd, source: 'provider', unpriced: used.tally.unpriced}
  }
  const replies = reply.events ?? [reply]
  const sources = replies.map(one => charge(tally, each, one))
  return {cost_nanousd: tally.cost_nanousd, source: sources[0]!, unpriced: tally.unpriced, mode: tally.mode_unpriced}
}

describe('prices worked out by hand', () => {
  test('there are 74, of every dialect', () =>
    expect([CASES.length, new Set(CASES.map(({id}) => id)).size]).toEqual([74, 74]))

  const named = CASES.map(each => [each.id, each.provider, each.model, each] as const)
  test.each(named.filter(([id]) => !OTHERWISE[id]))('doors 13-14: %s %s %s', async (_id, _provider, _model, each) => {
    const {cost_nanousd, source} = await costOf(each)
    if (each.cost_nanousd === null) expect(source).toBe('estimated')
    else expect(String(cost_nanousd)).toBe(each.cost_nanousd)
  })

  test.each(named.filter(([id]) => OTHERWISE[id]))(
    '%s %s %s is priced otherwise, for a reason',
    async (id, _provider, _model, each) => {
      const {cost_nanousd: cost, is_unpriced = false, mode = null, source = 'provider', why} = OTHERWISE[id]!
      expect(await costOf(each), why).toMatchObject({cost_nanousd: cost, unpriced: is_unpriced, mode, source})
    },
  )
})
