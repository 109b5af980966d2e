import {expect, test} from 'vitest'
import {upperBound} from '../../src/base/upper-bound.ts'

test('none of n is fewer than 3 of n', () => {
  expect([upperBound(0, 3_000), upperBound(0, 2), upperBound(0, 0)]).toEqual([0.001, 1, 1])
})

// one-sided 95 %, as tables of Clopper and Pearson have them
test.each([
  [1, 10, 0.3942],
  [5, 100, 0.1023],
  [50, 100, 0.5864],
  [9, 10, 0.9949],
])('%i of %i is at most %d', (found, all, bound) => {
  expect(upperBound(found, all)).toBeCloseTo(bound, 3)
})

test('all of n has no bound, and many are counted too', () => {
  expect(upperBound(7, 7)).toBe(1)
  expect(upperBound(1_000, 100_000)).toBeGreaterThan(0.01)
  expect(upperBound(1_000, 100_000)).toBeLessThan(0.011)
})
