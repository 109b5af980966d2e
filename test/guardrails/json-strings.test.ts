import fc from 'fast-check'
import {expect, test} from 'vitest'
import {mapJsonStrings} from '../../src/guardrails/json-strings.ts'

const marked = (json: string) => {
  const seen: string[] = []
  const made = mapJsonStrings(json, (text, called) => {
    seen.push(called ? `${called}=${text}` : text)
    return text.replaceAll('S', '<1>')
  })
  return {seen, made}
}

test.each<[string, string, readonly string[]]>([
  ['{"to":"S","n":1}', '{"to":"<1>","n":1}', ['to=S']],
  [
    '{"big":12345678901234567890,"to":"S"}',
    '{"big":12345678901234567890,"to":"<1>"}',
    ['big=12345678901234567890', 'to=S'],
  ],
  [
    '{"list":["a",{"b":"S"},"c"],"d":"e"}',
    '{"list":["a",{"b":"<1>"},"c"],"d":"e"}',
    ['list=a', 'b=S', 'list=c', 'd=e'],
  ],
  ['{"a b":"x"}', '{"a b":"x"}', ['a b', 'a b=x']],
  ['{"a S":"x"}', '{"a <1>":"x"}', ['a S', 'a S=x']],
  ['{"a":"caf\\u00e9 \\"S\\" \\u00e9"}', '{"a":"caf\\u00e9 \\"<1>\\" é"}', ['a=café "S" é']],
  ['"S"', '"<1>"', ['S']],
  ['{"a":"x","b":"S', '{"a":"x","b":"<1>', ['a=x', 'b=S']],
  ['{"a":"S\\u00', '{"a":"<1>\\u00', ['a=S']],
  ['{"a":"S\\', '{"a":"<1>\\', ['a=S']],
  ['{"a S', '{"a <1>', ['a S']],
  ['{"a":tr', '{"a":tr', []],
  ['plain S', 'plain <1>', ['plain S']],
  ['{not S}', '{not <1>}', ['{not S}']],
  ['', '', ['']],
])('%s', (json, made, seen) => {
  expect(marked(json)).toEqual({made, seen})
})

test('every string of any JSON is told, and what is made of it is JSON', () => {
  const strings = (value: unknown): string[] => {
    if (typeof value === 'string') return value ? [value] : []
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
  }
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const seen: string[] = []
      const json = JSON.stringify({v: value})
      const made = mapJsonStrings(json, text => {
        seen.push(text)
        return `"${text}\\`
      })
      for (const text of strings(value)) expect(seen).toContain(text)
      JSON.parse(made)
      expect(mapJsonStrings(json, text => text)).toBe(json)
    }),
    {numRuns: 300},
  )
})

test('of the beginning of JSON the beginning of the same is made, wherever it is cut', () => {
  const json = '{"to":["S one","two"],"caf\\u00e9":"x \\u0053 y \\"S\\" S","n":[12345678,true],"S S":{"deep":"S"}}'
  const whole = marked(json).made
  JSON.parse(whole)
  let told = ''
  for (let cut = 1; cut <= json.length; cut++) {
    const {made} = marked(json.slice(0, cut))
    if (!whole.startsWith(made)) continue
    expect(made.startsWith(told)).toBe(true)
    told = made
  }
  expect(told).toBe(whole)
})

test.each<[string, string]>([
  ['cut', ''],
  ['whole', '"}'],
])('a long run of backslashes is read in one pass, %s', (_, end) => {
  const json = `{"a":"${'\\'.repeat(400_000)}x${end}`
  expect(marked(json).seen).toEqual([`a=${'\\'.repeat(200_000)}x`])
})

test.each([
  ['\\u0', '\\u0'],
  ['\\\\u00', ''],
  ['\\u0041', ''],
  ['\\\\\\u004', '\\u004'],
])('what of %s cannot be read yet stays behind what is made of it', (raw, rest) => {
  const made = marked(`{"a":"S${raw}`).made
  expect([made.startsWith('{"a":"<1>'), made.endsWith(rest)]).toEqual([true, true])
})
