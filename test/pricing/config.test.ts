import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {bundledCatalogue} from '../../src/pricing/catalogue.ts'
import {readCalculate, readPricingConfig} from '../../src/pricing/config.ts'
import {cost} from '../../src/pricing/cost.ts'
import {RATE_NAMES, type Rates} from '../../src/pricing/price.ts'
import {toPublicPricing} from '../../src/pricing/view.ts'
import {TOKEN_CLASSES} from '../../src/schema/usage.ts'

const at = Date.parse('2026-11-21T12:00:00Z')
const read = (config: unknown) => readPricingConfig(config, {provider: 'p', model: 'm', source: 'custom'})
const period = (config: unknown) => read(config).periods[0]!

describe('a pricing config', () => {
  test('is read as whole pico-dollars: the conformance fixture', () => {
    const price = read({
      type: 'static',
      pay_as_you_go: {
        request_token: {price: 0.00025},
        response_token: {price: 0.001},
        cache_read_input_token: {price: 0.000125},
      },
    })
    expect(price).toMatchObject({provider: 'p', model: 'm', source: 'custom'})
    const usage = {input_uncached_tokens: 800, cache_read_tokens: 200, output_text_tokens: 100}
    // 0.325 cents.
    expect(cost(usage, price, {at}).cost_nanousd).toBe(3_250_000)
  })

  test('may price units, images, batches and each request', () => {
    const read = period({
      pay_as_you_go: {
        request_token: {price: 0.0001},
        additional_units: {web_search: {price: 1}, cache_write_1h: {price: 0.0006}, thinking_token: {price: 0.002}},
        image: {hd: {default: {price: 8}}, default: {'512x512': {price: 2}}},
      },
      batch_config: {request_token: {price: 0.00004}},
      fixed_cost: {price: 0.5},
      finetune_config: {pay_per_hour: {price: 200}},
      currency: 'USD',
    })
    expect(read).toEqual({
      rates: {input: 1_000_000, cache_write_1h: 6_000_000, reasoning: 20_000_000},
      units: {
        web_search: 10_000_000_000,
        'image:hd:default': 80_000_000_000,
        'image:default:512x512': 20_000_000_000,
        requests: 5_000_000_000,
      },
      batch: {rates: {input: 400_000}, units: {requests: 5_000_000_000}},
    })
  })

  test('a text price is the price of the text beside a filler of 0', () => {
    expect(period({pay_as_you_go: {request_token: {price: 0}, request_text_token: {price: 0.0005}}}).rates).toEqual({
      input: 5_000_000,
    })
  })

  test.each<[string, unknown, string]>([
    ['nothing', null, 'expected object'],
    ['an unknown key', {pay_as_you_go: {}, discount: 1}, 'Unrecognized key: "discount"'],
    ['a misspelt token', {pay_as_you_go: {request_tokens: {price: 1}}}, 'pay_as_you_go: Unrecognized key'],
    ['a negative price', {pay_as_you_go: {request_token: {price: -1}}}, 'pay_as_you_go.request_token.price: '],
    ['a text', {pay_as_you_go: {request_token: {price: '1'}}}, 'pay_as_you_go.request_token.price: '],
    ['another currency', {currency: 'EUR'}, 'currency: '],
    [
      'too fine',
      {pay_as_you_go: {request_token: {price: 1e-11}}},
      'pay_as_you_go.request_token.price: is 1e-11 cents; expected at most ten decimals',
    ],
    [
      'too dear',
      {pay_as_you_go: {image: {hd: {big: {price: 1e9}}}}},
      'pay_as_you_go.image.hd.big.price: is 1000000000 cents',
    ],
    ['a batch that is wrong', {batch_config: {response_token: {}}}, 'batch_config.response_token.price: '],
    [
      'a unit with a strange name',
      {pay_as_you_go: {additional_units: {'a b': {price: 1}}}},
      'pay_as_you_go.additional_units',
    ],
  ])('is refused, with the field: %s', (_, config, message) => {
    expect(() => read(config)).toThrow(message)
  })
})

describe('the formulas of a config', () => {
  const times = (...values: (string | number)[]) => ({operation: 'multiply', operands: values.map(value => ({value}))})
  const sum = (...operands: unknown[]) => ({operation: 'sum', operands})
  const paid = {request_token: {price: 0.0002}, response_token: {price: 0.001}, cache_read_input_token: {price: 0.0001}}
  const rates = (calculate: unknown) => period({pay_as_you_go: paid, calculate}).rates

  test('say which rate is laid on which tokens', () => {
    const request = sum(
      times('input_tokens', 'rates.request_token'),
      times('cache_read_tokens', 'rates.cache_read_input_token'),
    )
    expect(rates({request, response: times('output_tokens', 'rates.response_token')})).toEqual({
      input: 2e6,
      output: 1e7,
      cache_read: 1e6,
    })
  })

  test('may multiply sums and literals', () => {
    const both = {operation: 'sum', operands: [{value: 'input_tokens'}, {value: 'cache_read_tokens'}]}
    const request = {operation: 'multiply', operands: [both, {value: 'rates.request_token'}, {value: '1.5'}]}
    expect(rates({request})).toEqual({input: 3e6, output: 1e7, cache_read: 3e6})
  })

  test('say nothing of a rate the model does not name', () => {
    expect(rates({request: times('audio_input_tokens', 'rates.request_audio_token')})).toEqual({
      input: 2e6,
      output: 1e7,
      cache_read: 1e6,
    })
  })

  test.each<[string, unknown, string]>([
    [
      'an unknown operation',
      {request: {operation: 'divide', operands: [{value: 1}]}},
      'calculate.request.operation: expected sum or multiply',
    ],
    ['an unknown name', {request: times('input_tokens', 'total')}, 'calculate.request.operands[1].value: is "total"'],
    [
      'two counts',
      {request: times('input_tokens', 'output_tokens', 'rates.request_token')},
      'multiplies input_tokens by output_tokens',
    ],
    [
      'two rates',
      {request: times('input_tokens', 'rates.request_token', 'rates.response_token')},
      'multiplies two rates',
    ],
    [
      'a constant',
      {request: sum(times('input_tokens', 'rates.request_token'), {value: 3})},
      'calculate.request: a term is not a token count times a rate',
    ],
    [
      'a fraction of a pico-dollar',
      {request: times('input_tokens', 'rates.request_token', '0.00000003')},
      'finer than a pico-dollar',
    ],
    [
      'no operands',
      {request: {operation: 'sum', operands: []}},
      'calculate.request.operands: expected 1 to 64 operands',
    ],
    [
      'both kinds at once',
      {response: {value: 1, operation: 'sum'}},
      'calculate.response: has both a value and an operation',
    ],
    ['a stranger', {response: {value: 1, when: 2}}, 'calculate.response.when: is not a key of a formula'],
  ])('are refused: %s', (_, calculate, message) => {
    expect(() => rates(calculate)).toThrow(message)
  })

  test('are refused when they are a bomb: deep, or wide when multiplied out', () => {
    let deep: unknown = {value: 1}
    for (let level = 0; level < 100_000; level++) deep = {operation: 'sum', operands: [deep]}
    expect(() => readCalculate({calculate: {request: deep}})).toThrow('nested deeper than 16')
    const wide = {operation: 'sum', operands: Array.from({length: 60}, () => ({value: 1}))}
    expect(() => rates({request: {operation: 'multiply', operands: [wide, wide, wide]}})).toThrow('more than 256 terms')
  })
})

describe('the public view', () => {
  test('shows cents a token, what is charged where the model names no rate, and the formulas', () => {
    const price = bundledCatalogue().lookup('openai', 'gpt-4o')!
    expect(toPublicPricing(price, at)).toEqual({
      pay_as_you_go: {
        request_token: {price: 0.00025},
        response_token: {price: 0.001},
        cache_write_input_token: {price: 0.00025},
        cache_read_input_token: {price: 0.000125},
        additional_units: {file_search: {price: 0.25}, web_search: {price: 1}},
      },
      calculate: {
        request: {
          operation: 'sum',
          operands: [
            {operation: 'multiply', operands: [{value: 'input_tokens'}, {value: 'rates.request_token'}]},
            {
              operation: 'multiply',
              operands: [{value: 'cache_write_tokens'}, {value: 'rates.cache_write_input_token'}],
            },
            {operation: 'multiply', operands: [{value: 'cache_read_tokens'}, {value: 'rates.cache_read_input_token'}]},
          ],
        },
        response: {
          operation: 'sum',
          operands: [{operation: 'multiply', operands: [{value: 'output_tokens'}, {value: 'rates.response_token'}]}],
        },
      },
      currency: 'USD',
    })
  })

  test('shows images by quality and size, and the price of the day', () => {
    const price = {
      provider: 'p',
      model: 'm',
      source: 'custom',
      aliases: [],
      periods: [{rates: {}}, {from: '2026-01-01', rates: {}, units: {'image:hd:1x1': 5e10}}],
    }
    expect(toPublicPricing(price, at).pay_as_you_go).toMatchObject({image: {hd: {'1x1': {price: 5}}}})
    expect(toPublicPricing(price, 0).pay_as_you_go).not.toHaveProperty('image')
  })

  test('reads back to the same charges, whatever the price', () => {
    const rate = fc.nat(1_000_000_000)
    const rates: fc.Arbitrary<Rates> = fc
      .dictionary(fc.constantFrom(...RATE_NAMES), rate)
      .map(named => ({input: 7, output: 11, ...named}))
    const units = fc.dictionary(fc.constantFrom('web_search', 'image:hd:1x1', 'image:default:default'), rate)
    const usage = fc.dictionary(fc.constantFrom(...TOKEN_CLASSES), fc.nat(1_000_000))
    fc.assert(
      fc.property(rates, units, usage, (named, priced, tokens) => {
        const price = {
          provider: 'p',
          model: 'm',
          source: 'custom',
          aliases: [],
          periods: [{rates: named, units: priced}],
        }
        const again = read(JSON.parse(JSON.stringify(toPublicPricing(price, at))))
        const used = {...tokens, units: {web_search: 1, 'image:hd:1x1': 1}}
        expect(cost(used, again, {at}).cost_nanousd).toBe(cost(used, price, {at}).cost_nanousd)
      }),
    )
  })

  test('is a config that charges the same, for every price of the catalogue', () => {
    const used = {
      input_uncached_tokens: 1000,
      cache_read_tokens: 500,
      cache_write_5m_tokens: 300,
      audio_in_tokens: 7,
      output_text_tokens: 900,
    }
    const differing = bundledCatalogue()
      .list()
      .filter(
        price =>
          cost(used, read(toPublicPricing(price, at)), {at}).cost_nanousd !== cost(used, price, {at}).cost_nanousd,
      )
    expect(differing.map(({provider, model}) => `${provider}/${model}`)).toEqual([])
  })
})
