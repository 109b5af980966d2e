import fc from 'fast-check'
import {expect, test} from 'vitest'
import {anyGlob} from '../../src/base/glob.ts'

test.each<[glob: string, yes: readonly string[], no: readonly string[]]>([
  ['gpt-4o', ['gpt-4o'], ['gpt-4o-mini', 'xgpt-4o', '']],
  ['gpt-4o*', ['gpt-4o', 'gpt-4o-mini'], ['gpt-4', 'xgpt-4o']],
  ['*-preview', ['o1-preview', '-preview'], ['o1-preview-2', 'preview']],
  ['a*b*c', ['abc', 'a-b-b-c', 'aXbYc'], ['acb', 'ab', 'ac', 'abcd']],
  ['a*a', ['aa', 'a-a'], ['a']],
  ['*', ['', 'anything/at all'], []],
  ['**x**', ['x', 'axb'], ['', 'ab']],
  ['meta/*-instruct', ['meta/llama/3-instruct'], ['meta/llama']],
  ['a.c[1]?', ['a.c[1]?'], ['abc1x']],
])('%s', (glob, yes, no) => {
  const matches = anyGlob([glob])
  expect(yes.filter(text => !matches(text))).toEqual([])
  expect(no.filter(matches)).toEqual([])
})

test('of several globs one is enough, and none match nothing', () => {
  const matches = anyGlob(['a', 'b*', 'a'])
  expect(['a', 'bc', 'c'].map(matches)).toEqual([true, true, false])
  expect(anyGlob([])('')).toBe(false)
})

test('a glob says what the expression of it says', () => {
  const word = fc.string({unit: fc.constantFrom('a', 'b', '*'), maxLength: 9})
  const text = fc.string({unit: fc.constantFrom('a', 'b'), maxLength: 12})
  fc.assert(
    fc.property(word, text, (glob, text) => {
      expect(anyGlob([glob])(text)).toBe(new RegExp(`^${glob.replaceAll('*', '.*')}$`, 's').test(text))
    }),
    {numRuns: 3000},
  )
})

test('the longest list is held against the longest name in time that grows with their lengths alone', () => {
  const globs = Array.from({length: 500}, (_, at) => `*${'a'.repeat(240)}${at}*b`)
  const matches = anyGlob(globs)
  const text = `${'a'.repeat(1023)}b`
  const begun = process.cpuUsage()
  expect(matches(text)).toBe(false)
  const {user} = process.cpuUsage(begun)
  // 500 globs over 1,024 characters; a search that began anew at each character would need 240 times that
  expect(user / 1000).toBeLessThan(100)
})
