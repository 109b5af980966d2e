import fc from 'fast-check'
import {expect, test} from 'vitest'
import {keyFault} from '../../src/base/json-keys.ts'

test.each<[string, string | null]>([
  ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', null],
  ['{"messages":[{"role":"user","content":"x"},{"content":"x","content":"y"}]}', 'messages[1].content'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{"a":{"b":[[1,{"c":1,"c":2}]]}}', 'a.b[0][1].c'],
  ['{"a":"\\"","a":1}', 'a'],
  ['{"a":"{\\"b\\":1,\\"b\\":2}"}', null],
  ['["a","a",{"a":"a"}]', null],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  [`{${Array.from({length: 40}, (_, at) => `"k${at}":1`).join()},"k7":2}`, 'k7'],
])('%s', (text, path) => {
  expect(keyFault(text, 500)?.path ?? null).toBe(path)
})

test('a nesting is as deep as it may be, and no deeper', () => {
  const nested = (depth: number) => '{"a":['.repeat(depth / 2) + ']}'.repeat(depth / 2)
  expect(keyFault(nested(500), 500)).toBeNull()
  expect(keyFault(nested(502), 500)).toMatchObject({kind: 'deep'})
  expect(keyFault(nested(200_000), 500)).toMatchObject({kind: 'deep'})
})

test('what JSON.stringify writes repeats no key; the same with one more member does', () => {
  fc.assert(
    fc.property(fc.jsonValue({maxDepth: 4}), fc.string(), (value, key) => {
      const text = JSON.stringify({[key]: value, x: [value]})
      expect(keyFault(text, 500)).toBeNull()
      expect(keyFault(`${text.slice(0, -1)},${JSON.stringify(key)}:0}`, 500)?.kind).toBe('repeated')
    }),
  )
})
