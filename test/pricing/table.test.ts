import {describe, expect, test} from 'vitest'
import {bundledCatalogue} from '../../src/pricing/catalogue.ts'
import {cost} from '../../src/pricing/cost.ts'
import {toPico} from '../../src/pricing/decimal.ts'
import {
  effectiveRates,
  type Price,
  periodAt,
  type Rates,
  SPEECH,
  type Terms,
  type UnitRate,
} from '../../src/pricing/price.ts'
import {costOf} from '../../src/proxy/records/price.ts'
import {usedBy} from '../../src/proxy/records/usage.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import {TOKEN_CLASSES, type Usage} from '../../src/schema/usage.ts'
import {ANTHROPIC} from './table/anthropic.ts'
import type {Case, Prices} from './table/case.ts'
import {CHAT} from './table/chat.ts'
import {ENDINGS} from './table/endings.ts'
import {BEDROCK, GOOGLE} from './table/google.ts'
import {readBy} from './table/read.ts'
import {RESPONSES} from './table/responses.ts'
import {UNITS} from './table/units.ts'

const TABLES = {CHAT, ANTHROPIC, RESPONSES, GOOGLE, BEDROCK, UNITS, ENDINGS}
const NOW = '2026-11-21T12:00:00Z'

for (const [name, cases] of Object.entries(TABLES)) {
  describe(name.toLowerCase(), () => {
    test.each(cases.map(each => [`${each.provider}, ${each.endpoint}: ${each.name}`, each] as const))(
      '%s',
      (_, said) => {
        expect(roundHalfEven(sumOf(said.sum)), 'the sum that was written out').toBe(BigInt(said.cost_nanousd))
        const at = Date.parse(said.at ?? NOW)
        const price = priceOf(said)
        if (said.bundled) expectFigures(said, at)
        const read = readBy(said)
        const asked = said.asked ? Buffer.from(JSON.stringify(said.asked)) : null
        const plain = said.reply ? Buffer.from(JSON.stringify(said.reply)) : null
        const used = usedBy({
          kind: said.provider,
          operation: null,
          model: null,
          reply_headers: {},
          endpoint: said.endpoint,
          method: 'POST',
          path: '',
          request_body: asked,
          mode_in: asked,
          asked_bytes: asked?.length ?? null,
          status: said.status ?? 200,
          outcome: said.outcome ?? 'ok',
          reply_facts: read,
          plain,
          text_bytes: read?.text_bytes ?? plain?.length ?? 0,
          text_pieces: read?.pieces ?? 0,
          is_cut_stream: said.stream !== undefined && said.outcome !== undefined && said.outcome !== 'ok',
        })
        expect({usage: counted(used.usage), source: used.source}).toEqual({
          usage: said.usage,
          source: said.source ?? 'provider',
        })
        const options: Record<string, string> = said.skips_ptu ? {vertex_skip_ptu_cost_attribution: 'true'} : {}
        const on = {
          prices: {
            cost: (usage: Partial<Usage>, priced: Price | undefined) =>
              cost(usage, priced, {at, ...(said.batch && {batch: true})}),
            charges: () => true,
          },
        }
        const charged = costOf(
          {provider: {slug: said.provider}, options} as never,
          used.usage,
          used.source === 'none' ? FREE : price,
          at,
          on as unknown as ProxyServices,
        )
        expect({
          cost: charged.cost_nanousd,
          unpriced: charged.unpriced,
          unpriced_units: charged.unpriced_units,
          mode_unpriced: charged.mode_unpriced,
        }).toEqual({
          cost: said.cost_nanousd,
          unpriced: said.unpriced ?? said.unpriced_units !== undefined,
          unpriced_units: said.unpriced_units ?? [],
          mode_unpriced: said.mode_unpriced ?? null,
        })
        expect(JSON.stringify(charged)).not.toContain('NaN')
      },
    )
  })
}

test('the table has sixty cases and more, of every kind of endpoint that is charged', () => {
  const all = Object.values(TABLES).flat()
  expect(all.length).toBeGreaterThanOrEqual(60)
  expect([...new Set(all.map(each => each.endpoint))].sort()).toEqual([
    'chatComplete',
    'complete',
    'createModelResponse',
    'createSpeech',
    'createTranscription',
    'embed',
    'imageEdit',
    'imageGenerate',
    'messages',
    'messagesCountTokens',
    'moderate',
    'ocr',
    'rerank',
  ])
})

const FREE: Price = {provider: 'p', model: 'm', source: 'case', aliases: [], periods: [{rates: {}}]}

function priceOf({provider, model, prices}: Case): Price {
  return {
    provider,
    model,
    source: 'case',
    aliases: [],
    periods: [{...termsOf(prices), ...(prices.batch && {batch: {rates: ratesOf(prices.batch)}})}],
  }
}

function termsOf({rates = {}, tiers, units = {}, hour}: Prices): Terms {
  const named: Record<string, UnitRate> = Object.fromEntries(
    Object.entries(units).map(([unit, usd]) => [unit, toPico(usd, 'dollars')!]),
  )
  if (hour) named[SPEECH.unit] = [toPico(hour, 'dollars')!, SPEECH.per]
  return {
    rates: ratesOf(rates),
    ...(tiers && {tiers: tiers.map(({above, rates}) => ({above, rates: ratesOf(rates)}))}),
    ...(Object.keys(named).length > 0 && {units: named}),
  }
}

function ratesOf(rates: object): Rates {
  return Object.fromEntries(
    Object.entries(rates).map(([rate, usd]) => [rate, toPico(usd as string, 'dollars_per_million')!]),
  )
}

/** The figures of the case are those of the catalogue: its rates, tiers, and the units it names. */
function expectFigures({provider, model, prices}: Case, at: number) {
  const bundled = bundledCatalogue().lookup(provider, model)
  if (!bundled) throw new Error(`the catalogue has no ${provider}/${model}`)
  const {rates, tiers = [], units = {}} = periodAt(bundled, at)
  const said = termsOf(prices)
  expect(effectiveRates(said.rates)).toEqual(effectiveRates(rates))
  if (prices.tiers) expect(said.tiers).toEqual(tiers)
  expect(units).toMatchObject(said.units ?? {})
}

function counted(usage: Usage): Partial<Usage> {
  const tokens = Object.fromEntries(TOKEN_CLASSES.filter(name => usage[name] > 0).map(name => [name, usage[name]]))
  const units = Object.entries(usage.units).filter(([, count]) => count > 0)
  return {...tokens, ...(units.length > 0 && {units: Object.fromEntries(units)})}
}

interface Fraction {
  readonly over: bigint
  readonly under: bigint
}

/** `3 × 0.5 + 10 × 111000000 / 3600`, exactly: written apart from the code under test. */
function sumOf(text: string): Fraction {
  return text
    .split(' + ')
    .map(termOf)
    .reduce((one, other) => ({over: one.over * other.under + other.over * one.under, under: one.under * other.under}))
}

function termOf(text: string): Fraction {
  const [product = '', divisor = '1'] = text.split(' / ')
  const factors = product.split(' × ').map(factor => {
    const [whole = '', fraction = ''] = factor.split('.')
    if (!/^\d+$/.test(whole + fraction)) throw new Error(`${factor} is no number`)
    return {over: BigInt(whole + fraction), under: 10n ** BigInt(fraction.length)}
  })
  return factors.reduce((one, other) => ({over: one.over * other.over, under: one.under * other.under}), {
    over: 1n,
    under: BigInt(divisor),
  })
}

function roundHalfEven({over, under}: Fraction): bigint {
  const whole = over / under
  const twice = (over % under) * 2n
  return twice > under || (twice === under && whole % 2n === 1n) ? whole + 1n : whole
}
