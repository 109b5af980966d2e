import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {bundledCatalogue, type CatalogueFile, openCatalogue} from '../../src/pricing/catalogue.ts'
import {cost} from '../../src/pricing/cost.ts'
import {effectiveRates, RATE_NAMES} from '../../src/pricing/price.ts'

const catalogue = bundledCatalogue()
const prices = catalogue.list()
const at = Date.parse('2026-11-21T12:00:00Z')

describe('the bundled catalogue', () => {
  test('prices at least 2300 models of at least 40 providers, aliases not counted', () => {
    const pairs = new Set(prices.map(({provider, model}) => `${provider}\n${model.toLowerCase()}`))
    expect(pairs.size).toBe(prices.length)
    expect(pairs.size).toBeGreaterThanOrEqual(2300)
    expect(catalogue.providers().length).toBeGreaterThanOrEqual(40)
  })

  test('names the source of every price, and its package, version and licence', () => {
    expect(prices.filter(({source}) => !Object.hasOwn(catalogue.sources, source))).toEqual([])
    expect(Object.values(catalogue.sources).every(source => source.package && source.version && source.license)).toBe(
      true,
    )
  })

  test('gives every model a price that is not null, in whole pico-dollars', () => {
    const bad = prices.filter(({periods}) => {
      const numbers = periods.flatMap(({rates, tiers = [], units = {}}) =>
        [rates, ...tiers.map(tier => tier.rates), units].flatMap(Object.values).flat(),
      )
      const first = periods[0]!
      const priced = Object.keys(first.rates).length > 0 || Object.keys(first.units ?? {}).length > 0
      return !priced || !numbers.every(number => Number.isSafeInteger(number) && number >= 0)
    })
    expect(bad).toEqual([])
  })

  test('uses no rate and no key but those it knows', () => {
    const known = new Set<string>([...RATE_NAMES])
    const rates = prices.flatMap(({periods}) =>
      periods.flatMap(({rates, tiers = []}) => [rates, ...tiers.map(tier => tier.rates)]).flatMap(Object.keys),
    )
    expect(rates.filter(name => !known.has(name))).toEqual([])
    const keys = new Set(prices.flatMap(({periods}) => periods.flatMap(Object.keys)))
    expect([...keys].filter(key => !['rates', 'tiers', 'units', 'from', 'hours'].includes(key))).toEqual([])
  })

  test('keeps a price of 0 only for what its source gives away', () => {
    const free = prices.filter(({periods}) =>
      periods.every(({rates, units}) => !units && Object.values(rates).every(rate => rate === 0)),
    )
    const named = /:free$|-free$|\/free$/i
    const others = free.filter(({model}) => !named.test(model)).map(({provider, model}) => `${provider}/${model}`)
    expect(others).toEqual([
      'github-copilot/gpt-3.5-turbo',
      'github-copilot/gpt-4.1',
      'github-copilot/gpt-4o',
      'github-copilot/gpt-4o-mini',
      'google/gemma-3',
      'google/gemma-3n',
      'google/gemma-4-26b-a4b-it',
      'google/gemma-4-31b-it',
    ])
  })

  test('has tiers that ascend, and an alias for one model only', () => {
    for (const {periods} of prices) {
      for (const {tiers = []} of periods)
        expect(tiers.map(tier => tier.above)).toEqual(tiers.map(tier => tier.above).toSorted((a, b) => a - b))
    }
    const names = prices.flatMap(({provider, model, aliases}) =>
      [model, ...aliases].map(name => `${provider}\n${name.toLowerCase()}`),
    )
    expect(new Set(names).size).toBe(names.length)
  })

  test('is found by its own ids and aliases, each time the same object', () => {
    const lost = prices.flatMap(price =>
      [price.model, ...price.aliases].filter(name => catalogue.lookup(price.provider, name) !== price),
    )
    expect(lost).toEqual([])
  })

  test('stays small enough for the executable', () => {
    const file = readFileSync(join(import.meta.dirname, '../../src/pricing/data/catalogue.json'), 'utf8')
    expect(file.length).toBeLessThan(2 * 1024 * 1024)
  })

  // Well-known list prices, in dollars a million tokens: input, cached input, output.
  test.each([
    ['openai', 'gpt-4o', 2.5, 1.25, 10],
    ['openai', 'gpt-4o-mini', 0.15, 0.075, 0.6],
    ['openai', 'o3', 2, 0.5, 8],
    ['anthropic', 'claude-3-5-haiku-20241022', 0.8, 0.08, 4],
    ['anthropic', 'claude-opus-4-1', 15, 1.5, 75],
    ['google', 'gemini-2.5-flash', 0.3, 0.03, 2.5],
  ])('%s %s costs what the vendor lists', (provider, model, input, cached, output) => {
    const million = {input_uncached_tokens: 1_000_000, cache_read_tokens: 0, output_text_tokens: 0}
    const of = (usage: Record<string, number>) =>
      cost(usage, catalogue.lookup(provider, model), {at}).cost_nanousd / 1e9
    expect(of(million)).toBeCloseTo(input, 9)
    expect(of({cache_read_tokens: 1_000_000})).toBeCloseTo(cached, 9)
    expect(of({output_text_tokens: 1_000_000})).toBeCloseTo(output, 9)
  })

  test('charges a long Gemini prompt by its tier', () => {
    const price = catalogue.lookup('google', 'gemini-2.5-pro')
    expect(cost({input_uncached_tokens: 200_000}, price, {at}).cost_nanousd).toBe(250_000_000)
    expect(cost({input_uncached_tokens: 200_001}, price, {at}).cost_nanousd).toBe(500_002_500)
  })

  test('prices an hour of speech', () => {
    expect(cost({units: {audio_seconds: 3600}}, catalogue.lookup('groq', 'whisper-large-v3'), {at}).cost_nanousd).toBe(
      111_000_000,
    )
  })
})

describe('finding a price', () => {
  const found = (provider: string, model: string) => {
    const price = catalogue.lookup(provider, model)
    return price && `${price.provider} ${price.model}`
  }

  test.each([
    ['openai', 'GPT-4o', 'openai gpt-4o'],
    ['openai', 'gpt-4o-2024-08-06', 'openai gpt-4o'],
    ['openai', 'openai/gpt-4o', 'openai gpt-4o'],
    ['openai', 'ft:gpt-4o-2024-08-06:acme:name:id', 'openai ft:gpt-4o-2024-08-06'],
    ['google', 'models/gemini-2.5-flash', 'google gemini-2.5-flash'],
    ['vertex-ai', 'google.gemini-2.5-flash', 'vertex-ai gemini-2.5-flash'],
    ['vertex-ai', 'publishers/google/models/gemini-2.5-flash', 'vertex-ai gemini-2.5-flash'],
    ['vertex-ai', 'anthropic.claude-sonnet-4-5@20250929', 'vertex-ai claude-sonnet-4-5'],
    ['vertex-ai', 'meta.llama-3.1-405b-instruct-maas', 'vertex-ai meta/llama-3.1-405b-instruct-maas'],
    ['bedrock', 'us.anthropic.claude-3-haiku-20240307-v1:0', 'bedrock anthropic.claude-3-haiku-20240307-v1:0'],
    ['bedrock', 'anthropic.claude-3-haiku-20240307-v1:0:48k', 'bedrock anthropic.claude-3-haiku-20240307-v1:0'],
    [
      'bedrock',
      'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-3-haiku-20240307-v1:0',
      'bedrock anthropic.claude-3-haiku-20240307-v1:0',
    ],
    ['bedrock', 'arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0', 'bedrock amazon.nova-pro-v1:0'],
    ['bedrock-mantle', 'openai.gpt-oss-20b-1:0', 'bedrock openai.gpt-oss-20b-1:0'],
    ['fireworks-ai', 'gpt-oss-120b', 'fireworks-ai accounts/fireworks/models/gpt-oss-120b'],
    ['azure-openai', 'gpt-4.1-mini', 'azure-openai gpt-4.1-mini'],
    ['azure-openai', 'whisper-1', 'openai whisper-1'],
  ])('%s %s is %s', (provider, model, price) => {
    expect(found(provider, model)).toBe(price)
  })

  test('a region with a price of its own has it, the others share one', () => {
    const input = (model: string) => effectiveRates(catalogue.lookup('bedrock', model)!.periods[0]!.rates).input
    const model = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
    expect([`global.${model}`, `us.${model}`, `eu.${model}`, model].map(input)).toEqual([
      3_000_000, 3_300_000, 3_300_000, 3_300_000,
    ])
  })

  test.each([
    ['openai', 'gpt-4o-1999-01-01'],
    ['openai', 'gpt-4o-nope'],
    ['openai', 'constructor'],
    ['nobody', 'gpt-4o'],
    ['__proto__', 'toString'],
    ['openai', ''],
    ['bedrock', 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abcdef'],
  ])('%s %s has no price', (provider, model) => {
    expect(found(provider, model)).toBeUndefined()
  })

  test('a date that nobody listed is taken off only where the source prices every date', () => {
    const row = {source: 'test', rates: {input: 1}}
    const file: CatalogueFile = {
      as_of: '2026-01-01',
      sources: {},
      models: {p: {family: {...row, dated: true}, single: row}},
    }
    const opened = openCatalogue(file)
    const ids = ['family-2026-05-01', 'family-20260501', 'family@20260501', 'family-preview', 'single-2026-05-01']
    expect(ids.map(id => opened.lookup('p', id)?.model)).toEqual(['family', 'family', 'family', undefined, undefined])
  })
})
