import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {cost, costInBigInts, costInNumbers} from '../../src/pricing/cost.ts'
import {type Price, type PricePeriod, RATE_NAMES, type Rates} from '../../src/pricing/price.ts'
import {addUsage, TOKEN_CLASSES, type Usage} from '../../src/schema/usage.ts'

const at = Date.parse('2026-11-21T12:00:00Z')

function priced(...periods: readonly PricePeriod[]): Price {
  return {provider: 'p', model: 'm', source: 'test', periods, aliases: []}
}

describe('the cost of tokens', () => {
  test('takes cached input out of the input: the conformance fixture, 0.325 cents', () => {
    // 0.00025, 0.001 and 0.000125 cents a token.
    const price = priced({rates: {input: 2_500_000, output: 10_000_000, cache_read: 1_250_000}})
    const usage = {input_uncached_tokens: 800, cache_read_tokens: 200, output_text_tokens: 100}
    expect(cost(usage, price, {at})).toEqual({
      cost_nanousd: 3_250_000,
      unpriced: false,
      unpriced_units: [],
      mode_unpriced: null,
      parts: {input_uncached_tokens: 2_000_000, cache_read_tokens: 250_000, output_text_tokens: 1_000_000},
    })
  })

  test.each([
    [499, 0],
    [500, 0],
    [501, 1],
    [1500, 2],
    [2500, 2],
  ])('%i pico-dollars round to %i nano-dollars, a half to the even one', (pico, nano) => {
    expect(cost({input_uncached_tokens: 1}, priced({rates: {input: pico}}), {at}).cost_nanousd).toBe(nano)
  })

  test('rounds once, after all classes: three halves are one and a half', () => {
    const price = priced({rates: {input: 500, output: 500, cache_read: 500}})
    const {cost_nanousd, parts} = cost({input_uncached_tokens: 1, cache_read_tokens: 1, output_text_tokens: 1}, price, {
      at,
    })
    expect(cost_nanousd).toBe(2)
    expect(parts).toEqual({input_uncached_tokens: 0, cache_read_tokens: 0, output_text_tokens: 0})
  })

  test.each<[string, Partial<Usage>, number]>([
    ['cached input as input', {cache_read_tokens: 1}, 1],
    ['a cache write as input, one of an hour as two', {cache_write_5m_tokens: 1, cache_write_1h_tokens: 1}, 3],
    [
      'audio and images as text',
      {audio_in_tokens: 1, audio_cache_read_tokens: 1, image_in_tokens: 1, image_cache_read_tokens: 1},
      4,
    ],
    ['reasoning as output', {output_reasoning_tokens: 1}, 10],
    ['audio and images out as output', {audio_out_tokens: 1, image_out_tokens: 1}, 20],
  ])('a price that is not named falls back: %s', (_, usage, nano) => {
    expect(cost(usage, priced({rates: {input: 1000, output: 10_000}}), {at})).toMatchObject({
      cost_nanousd: nano,
      unpriced: false,
    })
  })

  test('cached audio costs as audio before it costs as cached text', () => {
    const price = priced({rates: {input: 1000, cache_read: 2000, audio_in: 7000, output: 1000}})
    expect(cost({audio_cache_read_tokens: 1}, price, {at}).cost_nanousd).toBe(7)
    expect(cost({image_cache_read_tokens: 1}, price, {at}).cost_nanousd).toBe(2)
  })

  test('a longer prompt moves the whole call to its tier; the bound itself does not', () => {
    const tiers = [
      {above: 100, rates: {input: 2000, output: 20_000}},
      {above: 1000, rates: {input: 3000, output: 30_000}},
    ]
    const price = priced({rates: {input: 1000, output: 10_000}, tiers})
    const of = (tokens: number) =>
      cost({input_uncached_tokens: tokens - 40, cache_read_tokens: 40, output_text_tokens: 1}, price, {at}).cost_nanousd
    expect([of(100), of(101), of(1000), of(1001)]).toEqual([110, 222, 2020, 3033])
  })
})

describe('what has no price', () => {
  test('a model without a price costs 0 and says so', () => {
    expect(cost({input_uncached_tokens: 5}, undefined, {at})).toEqual({
      cost_nanousd: 0,
      unpriced: true,
      unpriced_units: [],
      mode_unpriced: null,
      parts: {},
    })
  })

  test('a class without a rate is said, the others are charged', () => {
    const price = priced({rates: {input: 1000}})
    expect(cost({input_uncached_tokens: 5, output_text_tokens: 5}, price, {at})).toMatchObject({
      cost_nanousd: 5,
      unpriced: true,
      unpriced_units: ['output_text_tokens'],
    })
  })

  test('units that nobody prices are said by name, alone and beside tokens that are charged', () => {
    const price = priced({rates: {input: 1000}})
    const unpriced = {unpriced: true, unpriced_units: ['pages']}
    expect(cost({units: {pages: 3}}, price, {at})).toMatchObject({cost_nanousd: 0, ...unpriced})
    expect(cost({input_uncached_tokens: 1, units: {pages: 3}}, price, {at})).toMatchObject({
      cost_nanousd: 1,
      ...unpriced,
    })
    expect(cost({input_uncached_tokens: 1, units: {pages: 3}}, undefined, {at})).toMatchObject({
      cost_nanousd: 0,
      ...unpriced,
    })
  })

  test('how a request was served is no unit that is used up', () => {
    const price = priced({rates: {input: 1000}})
    const units = {batch_requests: 1, provisioned_requests: 1, priority_requests: 0}
    expect(cost({input_uncached_tokens: 2, units}, price, {at})).toMatchObject({
      cost_nanousd: 1,
      unpriced: false,
      mode_unpriced: null,
    })
  })

  test('a free model is priced, at 0', () => {
    expect(cost({input_uncached_tokens: 5}, priced({rates: {input: 0, output: 0}}), {at})).toMatchObject({
      cost_nanousd: 0,
      unpriced: false,
    })
  })

  test('nothing used is nothing owed', () => {
    expect(cost({}, priced({rates: {}, units: {requests: 5000}}), {at})).toEqual({
      cost_nanousd: 0,
      unpriced: false,
      unpriced_units: [],
      mode_unpriced: null,
      parts: {},
    })
  })
})

describe('the cost of units', () => {
  test('is added to the tokens before rounding', () => {
    const price = priced({rates: {input: 500}, units: {web_search: 10_000_000_000, file_search: 500}})
    const usage = {input_uncached_tokens: 1, units: {web_search: 2, file_search: 1, unknown: 9}}
    expect(cost(usage, price, {at})).toMatchObject({
      cost_nanousd: 20_000_001,
      unpriced: true,
      unpriced_units: ['unknown'],
    })
  })

  test('may be so much for several: an hour of audio, counted in seconds', () => {
    const price = priced({rates: {}, units: {audio_seconds: [111_000_000_000, 3600]}})
    expect(cost({units: {audio_seconds: 3600}}, price, {at}).cost_nanousd).toBe(111_000_000)
    // 0.111 USD / 3600 is 30833.33 nano-dollars.
    expect(cost({units: {audio_seconds: 1}}, price, {at}).cost_nanousd).toBe(30_833)
  })

  test('counts an attempt as one request where requests are priced, unless the usage says how many', () => {
    const price = priced({rates: {input: 1000}, units: {requests: 12_000_000_000}})
    expect(cost({input_uncached_tokens: 1}, price, {at}).cost_nanousd).toBe(12_000_001)
    expect(cost({input_uncached_tokens: 1, units: {requests: 2}}, price, {at}).cost_nanousd).toBe(24_000_001)
  })

  test('finds an image by quality and size, else by the nearest default', () => {
    const units = {
      'image:hd:1024x1024': 8000,
      'image:hd:default': 7000,
      'image:default:512x512': 3000,
      'image:default:default': 2000,
    }
    const of = (unit: string) => cost({units: {[unit]: 1}}, priced({rates: {}, units}), {at}).cost_nanousd
    const asked = ['image:hd:1024x1024', 'image:hd:1x1', 'image:low:512x512', 'image:low:1x1', 'image:default:default']
    expect(asked.map(of)).toEqual([8, 7, 3, 2, 2])
  })
})

describe('a batch', () => {
  const usage = {input_uncached_tokens: 3}
  test('costs half, rounded once', () => {
    expect(cost(usage, priced({rates: {input: 1000}}), {at, batch: true}).cost_nanousd).toBe(2)
    expect(cost(usage, priced({rates: {input: 1000}, units: {requests: 1000}}), {at, batch: true}).cost_nanousd).toBe(2)
  })

  test('costs its own price where there is one', () => {
    expect(
      cost(usage, priced({rates: {input: 1000}, batch: {rates: {input: 900}}}), {at, batch: true}).cost_nanousd,
    ).toBe(3)
  })
})

describe('a price that changes', () => {
  const on = (time: string, price: Price) =>
    cost({input_uncached_tokens: 1}, price, {at: Date.parse(time)}).cost_nanousd

  test('takes effect on its date, at midnight UTC', () => {
    const price = priced({rates: {input: 1000}}, {from: '2026-08-17', rates: {input: 2000}})
    expect([on('2026-08-16T23:59:59.999Z', price), on('2026-08-17T00:00:00Z', price)]).toEqual([1, 2])
  })

  test('holds within its hours, past midnight too', () => {
    const price = priced(
      {rates: {input: 1000}},
      {hours: [60, 240], rates: {input: 2000}},
      {hours: [1380, 30], rates: {input: 3000}},
    )
    const times = ['00:00', '00:30', '01:00', '03:59', '04:00', '22:59', '23:00']
    expect(times.map(time => on(`2026-01-01T${time}:00Z`, price))).toEqual([3, 1, 2, 2, 1, 1, 3])
  })

  test('is its first when none holds yet', () => {
    expect(on('2020-01-01T00:00:00Z', priced({from: '2026-08-17', rates: {input: 2000}}))).toBe(2)
  })
})

describe('exactness', () => {
  const usageOf = (most: number): fc.Arbitrary<Partial<Usage>> =>
    fc.dictionary(fc.constantFrom(...TOKEN_CLASSES), fc.nat(most))
  const usage = fc.oneof(usageOf(10_000), usageOf(10_000_000), usageOf(Number.MAX_SAFE_INTEGER))
  const rates: fc.Arbitrary<Rates> = fc.dictionary(
    fc.constantFrom(...RATE_NAMES),
    fc.oneof(fc.nat(5_000_000), fc.nat(1_000_000_000)),
  )

  test('plain numbers, where they are used, give what BigInt gives', () => {
    let used = 0
    fc.assert(
      fc.property(usage, rates, fc.boolean(), fc.nat(1), (tokens, named, halved, pages) => {
        const counts = {...tokens, units: {pages}}
        const charged = {terms: {rates: named}, halved}
        const fast = costInNumbers(counts, charged)
        if (!fast) return
        used++
        expect(fast).toEqual(costInBigInts(counts, charged))
      }),
      {numRuns: 3000},
    )
    expect(used).toBeGreaterThan(1000)
  })

  test('plain numbers are refused from the first product that might not be exact', () => {
    const terms = {rates: {input: 1_000_000_000}}
    expect(costInNumbers({input_uncached_tokens: 9_007_199}, {terms, halved: false})?.cost_nanousd).toBe(
      9_007_199_000_000,
    )
    expect(costInNumbers({input_uncached_tokens: 9_007_200}, {terms, halved: false})).toBeUndefined()
    expect(costInBigInts({input_uncached_tokens: 9_007_200}, {terms, halved: false}).cost_nanousd).toBe(
      9_007_200_000_000,
    )
  })

  test('a split call costs what the whole does, but for one rounding each: nothing drifts', () => {
    fc.assert(
      fc.property(fc.array(usageOf(1_000_000), {minLength: 1, maxLength: 20}), rates, (calls, named) => {
        const price = priced({rates: {input: 1, output: 1, ...named}})
        const whole = cost(calls.reduce<Usage>(addUsage, addUsage({}, {})), price, {at}).cost_nanousd
        const split = calls.reduce((sum, call) => sum + cost(call, price, {at}).cost_nanousd, 0)
        expect(Math.abs(whole - split)).toBeLessThanOrEqual((calls.length + 1) / 2)
      }),
    )
  })

  test('prices in whole nano-dollars split without any difference', () => {
    const nano = fc
      .record({input: fc.nat(1000), output: fc.nat(1000)})
      .map(({input, output}) => ({input: input * 1000, output: output * 1000}))
    fc.assert(
      fc.property(fc.array(fc.nat(100_000), {minLength: 1}), nano, (prompts, named) => {
        const price = priced({rates: named})
        const total = prompts.reduce((sum, tokens) => sum + tokens, 0)
        const split = prompts.reduce(
          (sum, tokens) => sum + cost({input_uncached_tokens: tokens}, price, {at}).cost_nanousd,
          0,
        )
        expect(split).toBe(cost({input_uncached_tokens: total}, price, {at}).cost_nanousd)
      }),
    )
  })

  test('a claim beyond all money is cut at a safe integer', () => {
    const absurd = {input_uncached_tokens: Number.MAX_SAFE_INTEGER}
    expect(cost(absurd, priced({rates: {input: 1_000_000_000}}), {at}).cost_nanousd).toBe(Number.MAX_SAFE_INTEGER)
  })

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('a count of %s is a fault of ours', count => {
    expect(() => cost({input_uncached_tokens: count}, priced({rates: {input: 1}}), {at})).toThrow(RangeError)
  })
})
