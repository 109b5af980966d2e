import fc from 'fast-check'
import {expect, test} from 'vitest'
import {Needles} from '../../src/base/needles.ts'

/** Few letters, so that needles overlap, begin alike and stand within each other. */
const text = (minLength: number, maxLength: number) =>
  fc.string({unit: fc.constantFrom('a', 'b', '\n'), minLength, maxLength})

test('a search finds what a plain one finds', () => {
  fc.assert(
    fc.property(fc.array(text(2, 12), {minLength: 1, maxLength: 6}), text(0, 200), (needles, hay) => {
      const search = new Needles(needles.map(needle => Buffer.from(needle)))
      expect(search.isIn(Buffer.from(hay))).toBe(needles.some(needle => hay.includes(needle)))
    }),
    {numRuns: 3000},
  )
})

test('needles longer than a table can skip, and bytes above 127, are found', () => {
  const long = Buffer.alloc(700, 0xe9)
  const search = new Needles([long, Buffer.concat([long, Buffer.from('x')])])
  expect(search.isIn(Buffer.concat([Buffer.from('abc'), long]))).toBe(true)
  expect(search.isIn(long.subarray(1))).toBe(false)
})
