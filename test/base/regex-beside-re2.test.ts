import fc from 'fast-check'
import {RE2JS, RE2JSException} from 're2js'
import {expect, test} from 'vitest'
import {compileRegex, RegexFault} from '../../src/base/regex.ts'
import {seed} from '../support/ring.ts'

const TIMES = ['', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{1,}']
const ATOMS = ['a', 'b', 'c', '-', '1', '\\.', '\\d', '\\w', '\\W', '[ab]', '[^a]', '[a-c1]', '\\x61', '\\n', '[\\d-]']

/** Patterns that JavaScript and RE2 read alike. What is repeated is never empty: there the two choose differently. */
const {choice} = fc.letrec<Record<'choice' | 'sequence' | 'repeated' | 'atom', string>>(tie => ({
  choice: fc.array(tie('sequence'), {minLength: 1, maxLength: 3}).map(parts => parts.join('|')),
  sequence: fc
    .tuple(
      fc.constantFrom('', '', '^', '\\b'),
      fc.array(tie('repeated'), {minLength: 1, maxLength: 4}),
      fc.constantFrom('', '', '\\B', '\\b'),
    )
    .map(([start, parts, end]) => start + parts.join('') + end),
  repeated: fc.oneof(
    {maxDepth: 2},
    fc.tuple(fc.constantFrom(...ATOMS), fc.constantFrom(...TIMES)).map(([atom, times]) => atom + times),
    tie('choice').map(inner => `(?:${inner})`),
    tie('choice').map(inner => `(${inner})`),
  ),
  atom: fc.constantFrom(...ATOMS),
}))
const text = fc.string({unit: fc.constantFrom('a', 'b', 'c', '1', '-', '_', ' ', '.', '\n'), maxLength: 12})

test('a match is found where RE2 finds it, and has its length', () => {
  fc.assert(
    fc.property(choice, text, (source, within) => {
      const matcher = RE2JS.compile(source).matcher(within)
      const theirs = matcher.find() ? {start: matcher.start(), end: matcher.end()} : null
      expect(compileRegex(source).find(within)).toEqual(theirs)
      expect(compileRegex(source).test(within)).toBe(theirs !== null)
    }),
    {seed: seed(), numRuns: 2000},
  )
})

test.each(['(a)\\1', '(?=a)b', '(?!a)b', '(?<=a)b', '(?<!a)b', '(a', 'a)', '[b-a]', '*a', 'a{2,1}', '\\'])(
  '%s needs backtracking or is malformed: both refuse it',
  source => {
    expect(() => compileRegex(source)).toThrow(RegexFault)
    expect(() => RE2JS.compile(source)).toThrow(RE2JSException)
  },
)
