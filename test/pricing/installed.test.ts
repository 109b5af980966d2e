import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {openCatalogue} from '../../src/pricing/catalogue.ts'
import {InstalledPrices} from '../../src/pricing/installed.ts'
import {PriceCache} from '../../src/pricing/price-cache.ts'
import {openPrices} from '../../src/pricing/prices.ts'
import type {InstalledPrice} from '../../src/store/prices.ts'

const catalogue = openCatalogue({
  as_of: '2026-01-01',
  sources: {},
  models: {openai: {'gpt-4o': {source: 'bundled', aliases: ['gpt-4o-2024-08-06'], rates: {input: 1}}}},
})
const iso = (ms: number) => new Date(ms).toISOString()
interface Said {
  readonly revision: number
  readonly input: number | null
  readonly from_ms?: number
  readonly until_ms?: number
  readonly kind?: InstalledPrice['kind']
  readonly model?: string
  readonly provider?: string
}
const row = ({
  revision,
  input,
  from_ms = 0,
  until_ms,
  kind = 'sync',
  model = 'gpt-4o',
  provider = 'openai',
}: Said): InstalledPrice => ({
  revision,
  provider,
  model,
  kind,
  price: input === null ? null : JSON.stringify({periods: [{rates: {input}}], aliases: []}),
  effective_at: iso(from_ms),
  withdrawn_at: until_ms === undefined ? null : iso(until_ms),
})

function open(...rows: Said[]) {
  const kept = new InstalledPrices(() => 1000)
  kept.replace(rows.map(row))
  const prices = openPrices({layers: [kept.set], synced: kept.synced, catalogue, now_ms: () => 1000})
  const at = (at_ms: number, model = 'gpt-4o', provider = 'openai') =>
    prices.lookup(provider, model, at_ms)?.periods[0]?.rates.input
  return {kept, prices, at}
}

describe('installed prices', () => {
  test('hold from their beginning until they are withdrawn, and not a millisecond else', () => {
    const {at} = open({revision: 1, input: 10, from_ms: 100, until_ms: 300}, {revision: 2, input: 20, from_ms: 200})
    expect([99, 100, 199, 200, 299, 300].map(ms => at(ms))).toEqual([1, 10, 10, 20, 20, 20])
  })

  test('one that was withdrawn gives way to the one before', () => {
    const {at} = open({revision: 1, input: 10, from_ms: 100}, {revision: 2, input: 20, from_ms: 200, until_ms: 300})
    expect([199, 200, 299, 300].map(ms => at(ms))).toEqual([10, 20, 20, 10])
  })

  test('one that was withdrawn before it began never held', () => {
    const {at} = open({revision: 1, input: 10, from_ms: 500, until_ms: 300})
    expect([299, 400, 500, 900].map(ms => at(ms))).toEqual([1, 1, 1, 1])
  })

  test('one that is taken away leaves the catalogue’s', () => {
    const {at} = open({revision: 1, input: 10, from_ms: 100}, {revision: 2, input: null, from_ms: 200})
    expect([150, 200].map(ms => at(ms))).toEqual([10, 1])
  })

  test('the last to begin wins, then the last to be installed', () => {
    const {at} = open(
      {revision: 1, input: 10, from_ms: 500},
      {revision: 2, input: 20, from_ms: 100},
      {revision: 3, input: 30, from_ms: 500},
    )
    expect([100, 499, 500].map(ms => at(ms))).toEqual([20, 20, 30])
  })

  test('what was set goes before what was synced', () => {
    const {at} = open({revision: 1, input: 10, kind: 'set'}, {revision: 2, input: 20, kind: 'bundle', from_ms: 100})
    expect(at(200)).toBe(10)
  })

  test('are found by the names that the catalogue knows a model by, and by those who are priced as another', () => {
    const {at} = open({revision: 1, input: 10, from_ms: 100})
    expect([
      at(200, 'openai/GPT-4o'),
      at(200, 'gpt-4o-2024-08-06'),
      at(200, 'gpt-4o', 'azure-openai'),
      at(200, 'gpt-4o-mini'),
    ]).toEqual([10, 10, 10, undefined])
  })

  test('a default prices what nobody names', () => {
    const {at} = open({revision: 1, input: 7, model: 'default'})
    expect([at(200), at(200, 'unheard-of'), at(200, 'unheard-of', 'groq')]).toEqual([1, 7, undefined])
  })

  test('are listed once, as they are charged', () => {
    const {prices} = open(
      {revision: 1, input: 10},
      {revision: 2, input: 20, kind: 'set', model: 'GPT-4o'},
      {revision: 3, input: 5, model: 'new'},
      {revision: 4, input: 7, model: 'default'},
    )
    expect(prices.list().map(({model, source}) => `${model} ${source}`)).toEqual(['GPT-4o set', 'new sync'])
  })
})

describe('the memory of prices', () => {
  test('answers as the prices themselves, whatever is asked in whatever order', () => {
    const said = fc.record({
      revision: fc.integer({min: 1, max: 9}),
      input: fc.option(fc.nat(50), {nil: null}),
      from_ms: fc.nat(2000),
      until_ms: fc.option(fc.nat(2000), {nil: undefined}),
      kind: fc.constantFrom('sync' as const, 'set' as const),
    })
    fc.assert(
      fc.property(
        fc.array(said, {maxLength: 6}),
        fc.array(fc.tuple(fc.nat(2500), fc.nat(200_000)), {minLength: 1, maxLength: 20}),
        (rows, asked) => {
          const {kept, at} = open(...rows.map(each => ({...each, until_ms: each.until_ms as number})))
          let now_ms = 1000
          const memory = new PriceCache(
            {
              lookup: (provider, model, ms) =>
                openPrices({layers: [kept.set], synced: kept.synced, catalogue, now_ms: () => now_ms}).lookup(
                  provider,
                  model,
                  ms,
                ),
              list: () => [],
              span: ms => kept.span(ms),
            },
            () => now_ms,
          )
          for (const [at_ms, later_ms] of asked) {
            expect(memory.find('openai', 'gpt-4o', at_ms)?.periods[0]?.rates.input).toBe(at(at_ms))
            now_ms += later_ms
          }
        },
      ),
    )
  })
})
