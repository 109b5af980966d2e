import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {memberText, spliced} from '../../src/base/json-splice.ts'

type Members = Record<string, unknown>

/** What came, what is changed of it, and what leaves. */
const CASES: readonly (readonly [name: string, text: string, change: (from: Members) => unknown, expected: string])[] =
  [
    ['nothing', ' {"a" : 1.0 }\n', from => from, ' {"a" : 1.0 }\n'],
    ['equal values in another object', '{"a":1.0,"b":[1e3]}', from => ({...from}), '{"a":1.0,"b":[1e3]}'],
    [
      'a member',
      '{ "a": 1.0 , "b":"\\u0041", "c":1e3}',
      from => ({...from, b: 'new'}),
      '{ "a": 1.0 , "b":"new", "c":1e3}',
    ],
    ['one that is added', '{"a":1.0 }', from => ({...from, b: [1]}), '{"a":1.0,"b":[1] }'],
    ['one that is added to none', '{ }', () => ({b: 1}), '{ "b":1}'],
    ['the first left out', '{"a":1, "b":2.0}', () => ({b: 2}), '{"b":2.0}'],
    ['one in the middle left out', '{"a":1, "b":2.0 , "c":3}', () => ({a: 1, c: 3}), '{"a":1 , "c":3}'],
    ['all left out', '{"a":1, "b":2.0}', () => ({}), '{}'],
    ['undefined', '{"a":1,"b":2.0}', from => ({...from, a: undefined, c: undefined}), '{"b":2.0}'],
    [
      'deep',
      '{"a":[ {"b":1.0,"c":"}]"} ,{"d":1152921504606846977}],"e":1e3}',
      from => {
        const [first, second] = from.a as [Members, Members]
        return {...from, a: [{...first, b: 2}, second]}
      },
      '{"a":[ {"b":2,"c":"}]"} ,{"d":1152921504606846977}],"e":1e3}',
    ],
    ['an entry more', '{"a":[1.0],"b":1.0}', from => ({...from, a: [1, 2]}), '{"a":[1,2],"b":1.0}'],
    [
      'a member that stands twice, left',
      '{"a":1.0,"a":2.0,"b":1}',
      from => ({...from, b: 2}),
      '{"a":1.0,"a":2.0,"b":2}',
    ],
    ['a member that stands twice, changed', '{"a":"secret","a":2.0,"b":1}', from => ({...from, a: 3}), '{"a":3,"b":1}'],
    ['a key with escapes', '{"\\u0061":1.0,"b\\"":2}', from => ({...from, a: 3}), '{"\\u0061":3,"b\\"":2}'],
    [
      'a member called as prototypes are',
      '{"__proto__":1.0,"constructor":2.0,"a":1}',
      from => ({...from, a: 2}),
      '{"__proto__":1.0,"constructor":2.0,"a":2}',
    ],
    ['of another kind', '{"a":{"b":1.0},"c":1.0}', from => ({...from, a: 'text'}), '{"a":"text","c":1.0}'],
  ]

describe('fact 10: a change leaves the bytes around it as they came', () => {
  test.each(CASES)('%s', (_name, text, change, expected) => {
    const from = JSON.parse(text)
    expect(spliced(text, from, change(from))).toBe(expected)
  })

  test('whatever changes, what leaves says what it is to say', () => {
    const value = fc.jsonValue({maxDepth: 4})
    fc.assert(
      fc.property(value, value, fc.nat(4), (from, to, spaces) => {
        const text = JSON.stringify(from, null, spaces)
        expect(JSON.parse(spliced(text, JSON.parse(text), to))).toEqual(JSON.parse(JSON.stringify(to)))
      }),
      {numRuns: 1000},
    )
  })

  test('whatever stays, stays letter by letter', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(4), (from, spaces) => {
        const text = JSON.stringify(from, null, spaces)
        const read = JSON.parse(text)
        expect(spliced(text, read, {...read})).toBe(text)
        const out = spliced(text, read, {...read, 'a new one': 1})
        for (const key of Object.keys(read).filter(each => each !== 'a new one'))
          expect(memberText(out, key)).toBe(memberText(text, key))
      }),
      {numRuns: 500},
    )
  })

  test('a million brackets and a string of quotes take no time that grows beside them', () => {
    const text = `{"a":${'['.repeat(1000)}${']'.repeat(1000)},"b":"${'\\"'.repeat(500_000)}","c":1}`
    const from = JSON.parse(text)
    const started = performance.now()
    expect(spliced(text, from, {...from, c: 2}).endsWith('"c":2}')).toBe(true)
    expect(performance.now() - started).toBeLessThan(2000)
  })
})

test('an object with more members than are gone through is written anew', () => {
  const members = Array.from({length: 5_001}, (_, at) => `"k${at}":1.0`).join(',')
  const from = JSON.parse(`{${members}}`) as Members
  expect(spliced(`{${members}}`, from, {...from, k1: 2})).toBe(JSON.stringify({...from, k1: 2}))
  expect(spliced(`{${members}}`, from, from)).toBe(`{${members}}`)
})
