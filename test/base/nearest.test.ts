import fc from 'fast-check'
import {expect, test} from 'vitest'
import {nearest} from '../../src/base/nearest.ts'

const WORDS = ['fallback', 'loadbalance', 'single', 'conditional'] as const

test.each([
  ['fallbck', 'fallback', 'a missing letter'],
  ['falllback', 'fallback', 'an extra letter'],
  ['fallbakc', 'fallback', 'two letters swapped'],
  ['SINGLE', 'single', 'another case'],
  ['load-balance', 'loadbalance', 'a hyphen too many'],
])('%s is nearest to %s: %s', (word, expected) => {
  expect(nearest(word, WORDS)).toBe(expected)
})

test.each(['', 'x', 'retry', 'xyzzyxyzzy', 's'.repeat(101)])('%j resembles none of the words', word => {
  expect(nearest(word, WORDS)).toBeUndefined()
})

test('hyphens and underscores are one', () => {
  expect(nearest('log-levle', ['log_level'])).toBe('log_level')
})

test('the first of equally near words wins', () => {
  expect(nearest('bat', ['cat', 'hat'])).toBe('cat')
})

test('a word is nearest to itself, and to itself with one letter left out', () => {
  const words = fc.uniqueArray(fc.stringMatching(/^[a-z]{4,20}$/), {minLength: 1, maxLength: 8})
  fc.assert(
    fc.property(words, fc.nat(), (list, at) => {
      const word = list[at % list.length]!
      const cut = at % word.length
      const shorter = word.slice(0, cut) + word.slice(cut + 1)
      const near = nearest(shorter, [word])
      return nearest(word, list) === word && near === word
    }),
  )
})
