import {expect, test} from 'vitest'
import {seeded} from '../../src/base/seeded-random.ts'

const some = (seed: string, count: number) => {
  const random = seeded(seed)
  return Array.from({length: count}, () => random())
}

test('the same seed gives the same numbers, another one others', () => {
  expect(some('7', 20)).toEqual(some('7', 20))
  expect(some('7', 3)).not.toEqual(some('8', 3))
  expect(new Set(some('7', 1000)).size).toBe(1000)
})

test('these are the numbers: what was told once is told again by a later version', () => {
  expect(some('0', 2)).toMatchInlineSnapshot(`
    [
      0.09680359444193076,
      0.3647839329259521,
    ]
  `)
})

test('they lie evenly from 0 to 1', () => {
  const tenths = Array.from({length: 10}, () => 0)
  for (const number of some('evenly', 100_000)) {
    expect(number).toBeGreaterThanOrEqual(0)
    expect(number).toBeLessThan(1)
    tenths[Math.floor(number * 10)]!++
  }
  for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(500)
})

test('the first number of many seeds is even too: calls are drawn for by their ids', () => {
  const below = Array.from({length: 10_000}, (_, index) => some(`call-${index}`, 1)[0]!).filter(number => number < 0.25)
  expect(Math.abs(below.length - 2500)).toBeLessThan(200)
})
