import {describe, expect, test} from 'vitest'
import {bundledCatalogue} from '../../src/pricing/catalogue.ts'
import {readPricingConfig} from '../../src/pricing/config.ts'
import {cost} from '../../src/pricing/cost.ts'
import {CostSum} from '../../src/pricing/cost-sum.ts'
import {readPriceFile} from '../../src/pricing/file.ts'
import {dearestGeography, type Price} from '../../src/pricing/price.ts'
import {toPublicPricing} from '../../src/pricing/view.ts'
import {factsOf} from '../../src/providers/openai/reply.ts'
import {usageOfKind} from '../../src/providers/service-tiers.ts'
import {priceOf} from '../../src/proxy/records/price.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import type {Target} from '../../src/proxy/targets/target.ts'
import {emptyUsage} from '../../src/schema/usage.ts'

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
  const tally = new CostSum()
  tally.addHops({usage: usage!, hops}, () => price, {at})
  return tally
}

test.each<[provider: string, model: string, more: object, nanousd: number, flags: string[]]>([
  ['anthropic', 'claude-opus-4-6', {inference_geo: 'us'}, (TOKENS * 11) / 10 + SEARCHES, []],
  [
    'anthropic',
    'claude-opus-4-6',
    {inference_geo: 'us', service_tier: 'batch'},
    ((TOKENS * 11) / 10 + SEARCHES) / 2,
    [],
  ],
  [
    'anthropic',
    'claude-opus-4-6',
    {inference_geo: 'us', iterations: [{type: 'message', ...counts}]},
    (TOKENS * 11) / 10 + SEARCHES,
    [],
  ],
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

test('doors 14: the multiplier is of rows of Anthropic’s own, from Opus 4.6 on, and of makers whose hosts are regional', () => {
  const all = bundledCatalogue()
    .list()
    .filter(({geographies = {}}) => Object.values(geographies).some(by => by !== 1))
  const multiplied = all.filter(({provider}) => provider === 'anthropic')
  expect(new Set(all.map(({provider}) => provider))).toEqual(new Set(['anthropic', 'openai', 'x-ai']))
  expect(multiplied.map(({model}) => model)).toEqual(
    expect.arrayContaining(['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-opus-5']),
  )
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
  const again = readPricingConfig(toPublicPricing(prices[0]!, at), {
    provider: 'anthropic',
    model: 'row',
    source: 'local',
  })
  for (const price of [...prices, again]) {
    expect(price.geographies).toEqual(ROW.geographies)
    expect(dearestGeography(price)).toBe('eu')
    expect(cost({input_uncached_tokens: 1000, units: {'inference_geo:eu': 1}}, price, {at}).cost_nanousd).toBe(
      6_250_000,
    )
  }
  for (const geographies of [{usa: 1.1}, {us: -1}, {us: '1.1'}, {us: 1000}])
    expect(() => readPriceFile({row: {...ROW, geographies}}, 'anthropic', 'local')).toThrow('row')
})

describe('a host that serves in one geography alone', () => {
  const counts = {input_uncached_tokens: 976, cache_read_tokens: 1024, output_text_tokens: 400}
  const services = (more: object = {}) =>
    ({
      prices: {find: (kind: string, model: string) => bundledCatalogue().lookup(kind, model), ...more},
    }) as unknown as ProxyServices
  const target = (kind: string, origin: string | null) =>
    ({
      provider: {slug: kind},
      managed: null,
      options: {},
      destination: origin === null ? null : {origin},
    }) as unknown as Target
  const costAt = (kind: string, origin: string | null, model: string, more: object = {}) => {
    const {cost_nanousd, unpriced_units} = cost(
      counts,
      priceOf(target(kind, origin), model, null, at, services(more)),
      {at},
    )
    return [cost_nanousd, unpriced_units]
  }
  const STANDARD = 976 * 2500 + 1024 * 250 + 400 * 15_000

  test.each<[string, string | null, string, readonly [number, readonly string[]]]>([
    ['openai', 'https://api.openai.com', 'gpt-5.4', [STANDARD, []]],
    ['openai', 'https://eu.api.openai.com', 'gpt-5.4', [(STANDARD * 11) / 10, []]],
    ['openai', 'https://us.api.openai.com', 'gpt-5.4-2026-03-05', [(STANDARD * 11) / 10, []]],
    ['openai', 'https://zz.api.openai.com', 'gpt-5.4', [STANDARD, ['inference_geo:zz']]],
    ['openai', 'https://eu.api.openai.com.example', 'gpt-5.4', [STANDARD, []]],
    ['openai', 'https://openai.example', 'gpt-5.4', [STANDARD, []]],
    ['azure-openai', 'https://eu.api.openai.com', 'gpt-5.4', [STANDARD, []]],
    ['openai', null, 'gpt-5.4', [STANDARD, []]],
    ['openai', 'https://eu.api.openai.com', 'gpt-4.1', [976 * 2000 + 1024 * 500 + 400 * 8000, []]],
    [
      'openai',
      'https://eu.api.openai.com',
      'gpt-chat-latest',
      [976 * 5000 + 1024 * 500 + 400 * 30_000, ['inference_geo:eu']],
    ],
    ['x-ai', 'https://us.api.x.ai', 'grok-4.6', [((976 * 2000 + 1024 * 500 + 400 * 6000) * 11) / 10, []]],
    ['x-ai', 'https://us.api.x.ai', 'grok-4.5', [expect.any(Number) as number, ['inference_geo:us']]],
  ])('costs what it says: %s %s %s', (kind, origin, model, expected) => {
    expect(costAt(kind, origin, model)).toEqual(expected)
  })

  test('a price that an operator wrote for the place is taken as it is, but one with multipliers', () => {
    const own = (source: string, more: object = {}) => ({
      find: () => ({...openPrice(source), ...more}),
    })
    const eu = ['openai', 'https://eu.api.openai.com', 'gpt-5.4'] as const
    for (const source of ['set', 'custom', 'local'])
      expect(costAt(...eu, own(source))).toEqual([976_000 + 1_024_000 + 400_000, []])
    for (const source of ['sync', 'bundle', 'genai-prices'])
      expect(costAt(...eu, own(source))).toEqual([976_000 + 1_024_000 + 400_000, ['inference_geo:eu']])
    expect(costAt(...eu, own('set', {geographies: {eu: 1.25}}))).toEqual([3_000_000, []])
    expect(costAt(...eu, own('set', {geographies: {us: 1.25}}))).toEqual([2_400_000, ['inference_geo:eu']])
  })

  const openPrice = (source: string) => ({
    provider: 'openai',
    model: 'gpt-5.4',
    source,
    aliases: [],
    periods: [{rates: {input: 1_000_000, output: 1_000_000}}],
  })
})

test.each([
  ['bedrock', {aws_region: 'us-east-1'}, 'amazon.nova-micro-v1:0', null],
  ['bedrock', {aws_region: 'us-west-2'}, 'amazon.nova-micro-v1:0', null],
  ['bedrock', {aws_region: 'eu-central-1'}, 'amazon.nova-micro-v1:0', 'region eu-central-1'],
  ['bedrock-mantle', {aws_region: 'ap-southeast-2'}, 'amazon.nova-micro-v1:0', 'region ap-southeast-2'],
  ['bedrock', {aws_region: 'x"y'}, 'amazon.nova-micro-v1:0', null],
  ['bedrock', {}, 'amazon.nova-micro-v1:0', null],
  ['bedrock', {aws_region: 'eu-central-1'}, 'eu.amazon.nova-micro-v1:0', null],
  ['bedrock', {aws_region: 'eu-central-1'}, 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'region eu-central-1'],
  ['openai', {aws_region: 'eu-central-1'}, 'gpt-4o', null],
] as const)('a region of %s whose price is not the listed one is marked: %j %s', (kind, options, model, mode) => {
  const services = {
    prices: {find: (provider: string, id: string) => bundledCatalogue().lookup(provider, id)},
  } as unknown as ProxyServices
  const price = priceOf(
    {provider: {slug: kind}, managed: null, options, destination: null} as unknown as Target,
    model,
    null,
    at,
    services,
  )
  expect(price).toBeDefined()
  const usage = {input_uncached_tokens: 10}
  const tally = new CostSum()
  tally.add({...emptyUsage(), ...usage}, price, {at})
  expect([cost(usage, price, {at}).mode_unpriced, tally.mode_unpriced, cost(usage, price, {at}).unpriced]).toEqual([
    mode,
    mode,
    false,
  ])
})
