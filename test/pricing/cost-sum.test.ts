import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {cost} from '../../src/pricing/cost.ts'
import {CostSum} from '../../src/pricing/cost-sum.ts'
import type {Price} from '../../src/pricing/price.ts'
import {addUsage, emptyUsage, mergeUsage} from '../../src/schema/usage.ts'

const at = Date.parse('2026-11-21T12:00:00Z')
const price = (terms: object): Price => ({
  provider: 'p',
  model: 'm',
  source: 'test',
  periods: [terms as Price['periods'][number]],
  aliases: [],
})
const tokens = (input_uncached_tokens: number, output_text_tokens = 0) =>
  mergeUsage({input_uncached_tokens, output_text_tokens})

function tallied(requests: readonly (readonly [ReturnType<typeof tokens>, Price | undefined])[], batch: boolean) {
  const tally = new CostSum()
  for (const [usage, of] of requests) tally.add(usage, of, {at, batch})
  return tally
}

describe('several requests that are charged as one', () => {
  test('are rounded once, at half the price: 3 of 500 pico-dollars are 750, not three times 0', () => {
    const of = price({rates: {input: 500}})
    expect(
      tallied(
        [tokens(1), tokens(1), tokens(1)].map(usage => [usage, of] as const),
        true,
      ).cost_nanousd,
    ).toBe(1)
  })

  test('have each the tier of its own length', () => {
    const of = price({rates: {input: 1_000_000}, tiers: [{above: 10, rates: {input: 9_000_000}}]})
    const {cost_nanousd, usage} = tallied(
      [
        [tokens(10), of],
        [tokens(11), of],
      ],
      false,
    )
    expect(cost_nanousd).toBe(10_000 + 99_000)
    expect(usage).toEqual(tokens(21))
  })

  test('have a batch price where there is one, and tell of those that have none', () => {
    const of = price({rates: {input: 1_000_000}, batch: {rates: {input: 300_000}}})
    const tally = tallied(
      [
        [tokens(10), of],
        [tokens(10), undefined],
      ],
      true,
    )
    expect([tally.cost_nanousd, tally.unpriced, tally.requests]).toEqual([3_000, true, 2])
  })

  test('of one price without tiers cost what their sum does', () => {
    const count = fc.nat(10_000)
    const of = price({rates: {input: 333, output: 77_777}, units: {web_search: [1_000_000_007, 7]}})
    const one = fc
      .tuple(count, count, fc.nat(5))
      .map(([input, output, web_search]) => ({...tokens(input, output), units: {web_search}}))
    fc.assert(
      fc.property(fc.array(one, {maxLength: 20}), fc.boolean(), (usages, batch) => {
        const sum = usages.reduce((whole, usage) => addUsage(whole, usage), emptyUsage())
        expect(
          tallied(
            usages.map(usage => [usage, of] as const),
            batch,
          ).cost_nanousd,
        ).toBe(cost(sum, of, {at, batch}).cost_nanousd)
      }),
    )
  })
})
