import {expect, test} from 'vitest'
import {bundledCatalogue} from '../../src/pricing/catalogue.ts'
import {readPricingConfig} from '../../src/pricing/config.ts'
import {cost} from '../../src/pricing/cost.ts'
import {readPriceFile} from '../../src/pricing/file.ts'
import {dearestGeography, type Price} from '../../src/pricing/price.ts'
import {Tally} from '../../src/pricing/tally.ts'
import {toPublicPricing} from '../../src/pricing/view.ts'
import {factsOf} from '../../src/providers/openai/reply.ts'
import {usageOfKind} from '../../src/providers/service-tiers.ts'

const at = Date.parse('2026-11-21T12:00:00Z')
const counts = {
  input_tokens: 3121,
  cache_creation_input_tokens: 512,
  cache_read_input_tokens: 9000,
  output_tokens: 777,
  server_tool_use: {web_search_requests: 2},
}
const SEARCHES = 20_000_000
const TOKENS = 3121 * 5000 + 9000 * 500 + 512 * 6250 + 777 * 25_000

function charged(price: Price | undefined, more: object) {
  const {usage: read, hops} = factsOf('messages', {model: 'm', usage: {...counts, ...more}})
  const usage = read && usageOfKind('anthropic', read)
  if (!hops) return cost(usage!, price, {at})
  const tally = new Tally()
  tally.addHops({usage: usage!, hops}, () => price, {at})
  return tally
}

test.each<[provider: string, model: string, more: object, nanousd: number, flags: string[]]>([
  ['anthropic', 'claude-opus-4-6', {inference_geo: 'us'}, (TOKENS * 11) / 10 + SEARCHES, []],
  ['anthropic', 'claude-opus-4-6', {inference_geo: 'us', service_tier: 'batch'}, ((TOKENS * 11) / 10 + SEARCHES) / 2, []],
  ['anthropic', 'claude-opus-4-6', {inference_geo: 'us', iterations: [{type: 'message', ...counts}]}, (TOKENS * 11) / 10 + SEARCHES, []],
  ['anthropic', 'claude-opus-4-6', {inference_geo: 'global'}, TOKENS + SEARCHES, []],
  ['anthropic', 'claude-opus-4-6', {inference_geo: 'not_available'}, TOKENS + SEARCHES, []],
  ['anthropic', 'claude-opus-4-6', {inference_geo: null}, TOKENS + SEARCHES, []],
  ['anthropic', 'claude-opus-4-6', {inference_geo: 'eu'}, TOKENS + SEARCHES, ['inference_geo:eu']],
  ['anthropic', 'claude-opus-4-6', {inference_geo: '__proto__'}, TOKENS + SEARCHES, ['inference_geo:other']],
  ['anthropic', 'claude-opus-4-5', {inference_geo: 'us'}, TOKENS + SEARCHES, ['inference_geo:us']],
])('doors 14: %s %s %o', (provider, model, more, nanousd, flags) => {
  const {cost_nanousd, unpriced_units} = charged(bundledCatalogue().lookup(provider, model), more)
  expect([cost_nanousd, unpriced_units]).toEqual([nanousd, flags])
})

test('doors 14: the multiplier is of rows of Anthropic’s own alone, from Opus 4.6 on', () => {
  const multiplied = bundledCatalogue()
    .list()
    .filter(({geographies}) => geographies)
  expect(new Set(multiplied.map(({provider}) => provider))).toEqual(new Set(['anthropic']))
  expect(multiplied.map(({model}) => model)).toEqual(expect.arrayContaining(['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-opus-5']))
  expect(multiplied.filter(({model}) => /claude-(?:[1-3]|v1|(?:opus|sonnet|haiku)-4-[0-5])/.test(model))).toEqual([])
})

const ROW = {rates: {input: 5_000_000, output: 25_000_000}, geographies: {us: 1.1, eu: 1.25}}
const CONFIG = {
  pay_as_you_go: {request_token: {price: 0.0005}, response_token: {price: 0.0025}},
  geographies: {us: 1.1, eu: 1.25},
}

test('doors 14: operators name it in either form of their price files, and the public shape shows it', () => {
  const {models} = readPriceFile({row: ROW, config: {pricing_config: CONFIG}}, 'anthropic', 'local')
  const prices = [...models.values()]
  const again = readPricingConfig(toPublicPricing(prices[0]!, at), {provider: 'anthropic', model: 'row', source: 'local'})
  for (const price of [...prices, again]) {
    expect(price.geographies).toEqual(ROW.geographies)
    expect(dearestGeography(price)).toBe('eu')
    expect(cost({input_uncached_tokens: 1000, units: {'inference_geo:eu': 1}}, price, {at}).cost_nanousd).toBe(6_250_000)
  }
  for (const geographies of [{usa: 1.1}, {us: -1}, {us: '1.1'}, {us: 1000}])
    expect(() => readPriceFile({row: {...ROW, geographies}}, 'anthropic', 'local')).toThrow('row')
})
