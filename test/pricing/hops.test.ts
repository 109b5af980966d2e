import {describe, expect, test} from 'vitest'
import {CostSum} from '../../src/pricing/cost-sum.ts'
import {isSameModel} from '../../src/pricing/names.ts'
import type {Price, PricePeriod} from '../../src/pricing/price.ts'
import {usageOfRow} from '../../src/providers/vendor-batches/row-usage.ts'
import type {Hop} from '../../src/schema/hops.ts'
import {addUsage, emptyUsage, mergeUsage} from '../../src/schema/usage.ts'

const at = Date.parse('2026-11-21T12:00:00Z')
const price = (terms: PricePeriod): Price => ({
  provider: 'p',
  model: 'm',
  source: 'test',
  periods: [terms],
  aliases: [],
})
const CHEAP = price({rates: {input: 1_000_000}})
const DEAR = price({rates: {input: 7_000_000}})
const hop = (model: string | null, input_uncached_tokens: number, is_billed = true): Hop => ({
  model,
  type: 'message',
  usage: mergeUsage({input_uncached_tokens}),
  is_billed,
})

function charged(hops: readonly Hop[], units: Record<string, number>, own: Price | undefined, batch = false) {
  const usage = {...hops.reduce((sum, {usage}) => addUsage(sum, usage), emptyUsage()), units}
  const tally = new CostSum()
  tally.addHops({usage, hops}, model => (model === null ? own : model === 'dear' ? DEAR : undefined), {at, batch})
  const {cost_nanousd, unpriced, unpriced_units, requests, usage: all} = tally
  return {cost_nanousd, unpriced, unpriced_units, requests, input: all.input_uncached_tokens}
}

describe('doors 13: parts of one request', () => {
  const priced = {unpriced: false, unpriced_units: [], requests: 1}

  test('each has the price of its model, and the sum is rounded once', () => {
    const half = price({rates: {input: 500}})
    expect(charged([hop(null, 1), hop(null, 1), hop(null, 1)], {}, half)).toEqual({
      ...priced,
      cost_nanousd: 2,
      input: 3,
    })
    expect(charged([hop(null, 10), hop('dear', 10)], {}, CHEAP)).toEqual({...priced, cost_nanousd: 80_000, input: 20})
  })

  test('half of it in a batch', () => {
    expect(charged([hop(null, 10), hop('dear', 10)], {}, CHEAP, true)).toEqual({
      ...priced,
      cost_nanousd: 40_000,
      input: 20,
    })
  })

  test('one that is not billed is counted, and costs nothing', () => {
    expect(charged([hop('dear', 10, false), hop(null, 10)], {}, CHEAP)).toEqual({
      ...priced,
      cost_nanousd: 10_000,
      input: 20,
    })
  })

  test('a price by the request is charged once, at the call’s own model', () => {
    const each = price({rates: {input: 1_000_000}, units: {requests: 5_000_000_000}})
    expect(charged([hop(null, 10), hop('dear', 10)], {}, each)).toEqual({...priced, cost_nanousd: 5_080_000, input: 20})
    expect(charged([hop('dear', 10, false)], {}, each)).toEqual({...priced, cost_nanousd: 0, input: 10})
  })

  test('what is no token is charged once', () => {
    const searched = price({rates: {input: 1_000_000}, units: {web_search: 10_000_000_000}})
    expect(charged([hop(null, 1), hop('dear', 1)], {web_search: 2}, searched)).toEqual({
      ...priced,
      cost_nanousd: 20_008_000,
      input: 2,
    })
    const flagged = {unpriced: true, unpriced_units: ['web_search'], requests: 1}
    expect(charged([hop(null, 1)], {web_search: 2}, CHEAP)).toEqual({...flagged, cost_nanousd: 1000, input: 1})
  })

  test('a model without a price is named', () => {
    const flagged = {unpriced: true, unpriced_units: ['model other'], requests: 1}
    expect(charged([hop(null, 1), hop('other', 9)], {}, CHEAP)).toEqual({...flagged, cost_nanousd: 1000, input: 10})
    expect(charged([hop('dear', 1)], {}, undefined)).toEqual({...priced, cost_nanousd: 7000, input: 1})
  })
})

test.each([
  ['anthropic', 'claude-opus-4-6', 'claude-opus-4-6', true],
  ['anthropic', 'claude-opus-4-6', 'claude-opus-4-6-20260205', true],
  ['anthropic', 'claude-opus-4', 'claude-opus-4-6', false],
  ['anthropic', 'claude-opus-4-6', 'claude-opus-4', false],
  ['bedrock', 'us.anthropic.claude-opus-4-6-v1:0', 'claude-opus-4-6', true],
  ['bedrock', 'us.anthropic.claude-opus-4-6-v1:0', 'claude-haiku-4-5', false],
  [
    'bedrock',
    'arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'claude-sonnet-4-5',
    true,
  ],
  ['vertex-ai', 'anthropic.claude-sonnet-4-5@20250929', 'claude-sonnet-4-5-20250929', true],
  ['anthropic', '', '', true],
])('of %s, %s and %s are one model: %s', (provider, one, other, same) => {
  expect([isSameModel(provider, one, other), isSameModel(provider, other, one)]).toEqual([same, same])
})

test('doors 13: a row of a batch has its parts', () => {
  const counts = (input_tokens: number, output_tokens: number) => ({input_tokens, output_tokens})
  const iterations = [
    {type: 'compaction', ...counts(180_000, 3500)},
    {type: 'message', ...counts(23_000, 1000)},
  ]
  const read = usageOfRow({
    type: 'message',
    model: 'claude-opus-4-6',
    content: [],
    usage: {...counts(23_000, 1000), iterations},
  })!
  expect(read.usage).toMatchObject({input_uncached_tokens: 203_000, output_text_tokens: 4500, units: {}})
  expect(read.hops).toMatchObject([{type: 'compaction', usage: {output_text_tokens: 3500}}, {type: 'message'}])
})
