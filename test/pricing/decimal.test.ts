import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {roundHalfEven, toPico} from '../../src/pricing/decimal.ts'

describe('a price as pico-dollars', () => {
  test.each([
    ['0.00025', 'cents', 2_500_000],
    ['2.5', 'dollars_per_million', 2_500_000],
    ['1.25e-05', 'dollars', 12_500_000],
    ['.1', 'dollars', 100_000_000_000],
    [2e-7, 'dollars', 200_000],
    [0, 'cents', 0],
    ['0.0000000001', 'cents', 1],
  ] as const)('%s %s is %i', (text, unit, pico) => {
    expect(toPico(text, unit)).toBe(pico)
  })

  test.each([
    ['finer than a pico-dollar', '0.0000000000001'],
    ['no number', 'free'],
    ['negative', '-1'],
    ['nothing', ''],
    ['a giant', '1e999'],
    ['longer than any price', '0.'.padEnd(99, '1')],
    ['above a safe integer', '9008'],
  ])('is refused when it is %s', (_, text) => {
    expect(toPico(text, 'dollars')).toBeUndefined()
  })

  test('comes back from its own decimal text, whatever the number', () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), pico => {
        const text = String(pico).padStart(13, '0')
        expect(toPico(`${text.slice(0, -12)}.${text.slice(-12)}`, 'dollars')).toBe(pico)
      }),
    )
  })
})

test('a half is rounded to the even neighbour, anything else to the nearest', () => {
  const rounded = [0n, 499n, 500n, 501n, 1499n, 1500n, 1501n, 2500n, 3500n].map(pico => roundHalfEven(pico, 1000n))
  expect(rounded).toEqual([0n, 0n, 0n, 1n, 1n, 2n, 2n, 2n, 4n])
})
