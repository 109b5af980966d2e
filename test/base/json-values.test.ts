import fc from 'fast-check'
import {expect, test} from 'vitest'
import {JsonValueFramer} from '../../src/base/json-values.ts'

interface Told {
  readonly values: unknown[]
  readonly fault: string | null
  readonly is_whole: boolean
}

function framed(chunks: readonly Buffer[], most_bytes?: number): Told {
  const values: unknown[] = []
  const framer = new JsonValueFramer(raw => values.push(raw === null ? 'too long' : parsed(raw)), most_bytes)
  for (const chunk of chunks) framer.push(chunk)
  framer.end()
  return {values, fault: framer.fault, is_whole: framer.is_whole}
}

function parsed(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString())
  } catch {
    return `not JSON: ${raw}`
  }
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const edges = [0, ...at.map(each => each % (bytes.length + 1)).sort((one, other) => one - other), bytes.length]
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index]!, edge))
}

function everywhere(text: string): Told {
  const bytes = Buffer.from(text)
  const whole = framed([bytes])
  for (let at = 0; at <= bytes.length; at++)
    expect(framed([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole)
  expect(framed([...bytes].map(byte => Buffer.from([byte])))).toEqual(whole)
  return whole
}

const space = fc.constantFrom('', ' ', '\n', '\r\n', '\t \n')
const values = fc.array(fc.jsonValue({maxDepth: 3}), {maxLength: 6})

test('the elements of an array are those that JSON.parse finds, whatever the white space and the cuts', () => {
  fc.assert(
    fc.property(
      values,
      fc.infiniteStream(space),
      fc.nat(4),
      fc.array(fc.nat(), {maxLength: 12}),
      (said, spaces, indent, cuts) => {
        const gap = () => spaces.next().value!
        const text = `${gap()}[${said.map(each => gap() + JSON.stringify(each, null, indent) + gap()).join(',')}${gap()}]${gap()}`
        expect(framed(cut(Buffer.from(text), cuts))).toEqual({values: JSON.parse(text), fault: null, is_whole: true})
      },
    ),
    {numRuns: 300},
  )
})

test('values on lines are told one by one, whatever the cuts', () => {
  const line = fc.jsonValue({maxDepth: 2}).filter(value => !Array.isArray(value))
  fc.assert(
    fc.property(fc.array(line, {minLength: 1, maxLength: 6}), fc.array(fc.nat(), {maxLength: 12}), (said, cuts) => {
      const text = said.map(each => JSON.stringify(each)).join('\n')
      const {values: told, fault} = framed(cut(Buffer.from(text), cuts))
      expect(told).toEqual(text.split('\n').map(each => JSON.parse(each)))
      expect(fault).toBeNull()
    }),
    {numRuns: 200},
  )
})

test.each([
  [
    'strings with marks of their own',
    '[{"a":"]}\\"[{,"},"\\\\","\\u005d","é𝄞",[["]"]]]',
    [{a: ']}"[{,'}, '\\', ']', 'é𝄞', [[']']]],
    true,
  ],
  ['words of every kind', '[1,-2.5e3 ,true\n,false,null]', [1, -2500, true, false, null], true],
  ['an empty array', ' [ ] ', [], true],
  ['a byte order mark', '\ufeff[1]', [1], true],
  ['values with nothing between them', '{"a":1}{"b":[2]}"c"', [{a: 1}, {b: [2]}, 'c'], true],
  ['a word at the end of a line', '{"a":1}\n12', [{a: 1}, 12], true],
  ['a later array on a line', '{"a":1}\n[2]', [{a: 1}, [2]], true],
  ['a cut array', '[{"a":1},{"b":', [{a: 1}], false],
  ['an array that promises more', '[1,', [1], false],
  ['a word that is cut', '[1,tr', [1], false],
  ['nothing', '', [], false],
])('%s: every cut tells the same', (_, text, told, is_whole) => {
  expect(everywhere(text)).toEqual({values: told, fault: null, is_whole})
})

test.each([
  ['[1 2]', [1], 'a comma or ] was expected at byte 3'],
  ['[,1]', [], 'a value was expected at byte 1'],
  ['[1,]', [1], 'a value was expected at byte 3'],
  ['[1}', [1], 'a comma or ] was expected at byte 2'],
  ['[1] x', [1], 'something follows the array at byte 4'],
  ['{"a":1},{"b":2}', [{a: 1}], 'a value was expected at byte 7'],
])('%s is told as far as it is right', (text, told, fault) => {
  expect(everywhere(text)).toEqual({values: told, fault, is_whole: false})
})

test('what is no JSON inside a value ends where its brackets end', () => {
  expect(everywhere('[{]},<html>,2]').values).toEqual(['not JSON: {]'])
  expect(everywhere('[<html>,{"a"},2]').values).toEqual(['not JSON: <html>', 'not JSON: {"a"}', 2])
})

test('a value beyond the bound passes unread, and the next is read', () => {
  const bytes = Buffer.from(`[{"a":"${'x'.repeat(40)}"},1,"${'y'.repeat(19)}"]`)
  for (let at = 0; at <= bytes.length; at++) {
    expect(framed([bytes.subarray(0, at), bytes.subarray(at)], 20).values, `cut at ${at}`).toEqual([
      'too long',
      1,
      'too long',
    ])
  }
})

test('nesting of any depth is counted, not descended', () => {
  const depth = 200_000
  const lengths: number[] = []
  const framer = new JsonValueFramer(raw => lengths.push(raw!.length))
  framer.push(Buffer.from(`[${'['.repeat(depth)}${']'.repeat(depth)},1]`))
  expect(lengths).toEqual([2 * depth, 1])
  expect(framer.is_whole).toBe(true)
})

test('any bytes at all are told the same whatever the cuts, and nothing throws', () => {
  const mark = fc.constantFrom(...'[]{}",:\\ \n1atru'.split(''))
  fc.assert(
    fc.property(fc.array(mark, {maxLength: 40}), fc.array(fc.nat(), {maxLength: 8}), (marks, cuts) => {
      const bytes = Buffer.from(marks.join(''))
      expect(framed(cut(bytes, cuts))).toEqual(framed([bytes]))
    }),
    {numRuns: 500},
  )
})

test('a last word longer than the bound passes unread like any other value', () => {
  expect(framed([Buffer.from('12 123'), Buffer.from('456')], 4).values).toEqual([12, 'too long'])
})
