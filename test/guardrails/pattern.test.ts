import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {budget, type CheckBudget, MAX_UNITS, readPattern} from '../../src/guardrails/pattern.ts'
import {replacingAll, replacingFirst} from '../../src/guardrails/replace.ts'
import {atOnce} from '../../src/guardrails/time-slices.ts'

const replaceAll = (...asked: Parameters<typeof replacingAll>) => atOnce(replacingAll(...asked))
const replaceFirst = (...asked: Parameters<typeof replacingFirst>) => atOnce(replacingFirst(...asked))

const PLAIN = [
  '\\d+',
  '[ab]+c?',
  'a|ab',
  '(a|ab)(c|bcd)',
  '\\bab\\b',
  '^a',
  'b$',
  '[^a\\n]+',
  'a{2,3}',
  'a.b',
  'x?y?b',
  '\\w+@\\w+',
  'a+?b',
  '(?:ab)+',
  '\\Bb',
]
const text = fc.string({unit: fc.constantFrom('a', 'b', 'c', 'd', '1', '2', ' ', '\n', '@', 'é', '_'), maxLength: 40})

describe('all matches are those of JavaScript', () => {
  test.each(PLAIN)('%s', source => {
    const pattern = readPattern(`/${source}/g`, {slashes: true})
    fc.assert(
      fc.property(text, said => {
        expect(replaceAll(pattern, said, '#').text).toBe(said.replace(new RegExp(source, 'g'), '#'))
        expect(replaceFirst(pattern, said, '#').text).toBe(said.replace(new RegExp(source), '#'))
      }),
    )
  })

  test('across windows, in a long run of one pattern', () => {
    const long = fc
      .array(fc.constantFrom('ab', 'abc', 'b', 'aab', 'bc'), {minLength: 200, maxLength: 600})
      .map(parts => parts.join(''))
    for (const source of ['a{1,3}b', 'abc|ab', '\\bab', 'c(?:ab){1,3}', 'b$'])
      fc.assert(
        fc.property(long, said => {
          expect(replaceAll(readPattern(source), said, '#').text).toBe(said.replace(new RegExp(source, 'g'), '#'))
        }),
        {numRuns: 20},
      )
  })
})

test('a match of nothing replaces nothing', () => {
  expect(replaceAll(readPattern('\\d*'), 'ab12', '#')).toEqual({text: 'ab#', count: 1})
  expect(replaceAll(readPattern('\\b'), 'ab', '#')).toEqual({text: 'ab', count: 0})
})

describe('the flag i means what it means in JavaScript', () => {
  const sources = [
    'straße',
    '[a-fX]+',
    '[^a-c]',
    '\\x41',
    '\\u0062',
    '(?<name>ab)',
    'k',
    '[à-ý]',
    'a\\.b',
    '[\\w-]+',
    's',
    'σ',
    '[\\]b]',
    '\\D',
    '[^]',
    'ab{2}',
  ]
  const signs = fc.string({unit: fc.constantFrom(...'aAbBcCkKsSxXßẞéÉσΣςſK.-]b2{} straßeSTRAE'), maxLength: 12})
  test.each(sources)('%s', source => {
    const {regex} = readPattern(`/${source}/i`, {slashes: true})
    fc.assert(
      fc.property(signs, said => {
        expect(regex.test(said)).toBe(new RegExp(source, 'i').test(said))
      }),
    )
  })

  test('and s lets the dot take line breaks', () => {
    expect(readPattern('/a.b/s', {slashes: true}).regex.test('a\nb')).toBe(true)
    expect(readPattern('/a[.]b/s', {slashes: true}).regex.test('a\nb')).toBe(false)
    expect(readPattern('/a.b/', {slashes: true}).regex.test('a\nb')).toBe(false)
  })
})

/** A budget that counts what is spent. */
function counting(most = MAX_UNITS) {
  const seen = {units: 0}
  const {spend} = budget(most)
  const by: CheckBudget = {
    spend(units) {
      spend(units)
      seen.units += units
    },
  }
  return {seen, by}
}

describe('work on a megabyte', () => {
  const MB = 1024 * 1024
  const fill = (unit: string) => unit.repeat(MB / unit.length)

  test.each([
    ['many matches', '\\d{3}', fill('123 ')],
    ['a run without matches', 'a{1,20}b', fill('a')],
    ['matches end to end', 'ab', fill('ab')],
    ['words', '\\w+@\\w+', fill('abcdefg ')],
    ['lines', 'x.*y', fill(`${'x'.repeat(31)}\n`)],
  ])('%s grows with the length alone', (_, source, said) => {
    const {seen, by} = counting()
    replaceAll(readPattern(source), said, '#', by)
    expect(seen.units).toBeLessThan(60 * MB)
    const half = counting()
    replaceAll(readPattern(source), said.slice(0, MB / 2), '#', half.by)
    expect(seen.units).toBeLessThanOrEqual(half.seen.units * 2 + 10_000)
  })

  test('what would take the square of the length is given up', () => {
    const {seen, by} = counting(20 * MB)
    expect(() => replaceAll(readPattern('a.*b|a'), fill('a'), '#', by)).toThrow('too long for this pattern')
    expect(seen.units).toBeGreaterThan(19 * MB)
  })

  test('a budget is for all texts together', () => {
    const spent = budget(1000)
    const pattern = readPattern('ab')
    const work = () => replaceAll(pattern, 'ab'.repeat(40), '#', spent)
    expect(() => Array.from({length: 50}, work)).toThrow('too long')
  })
})
