import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {edited, topLevel} from '../../src/base/json.ts'

const once = new Set(['model', 'stream'])
const read = (text: string) => topLevel(Buffer.from(text), once)
const parsed = (text: string) =>
  Object.fromEntries(
    [...read(text)].map(([key, {start, end}]) => [key, JSON.parse(Buffer.from(text).toString('utf8', start, end))]),
  )

describe('the top-level scanner', () => {
  test('finds what JSON.parse finds, whatever the values and the white space', () => {
    const bodies = fc
      .dictionary(fc.string(), fc.jsonValue(), {noNullPrototype: true})
      .chain(object => fc.tuple(fc.constant(object), fc.constantFrom(undefined, 1, '\t')))
    fc.assert(
      fc.property(bodies, ([object, indent]) => {
        const text = JSON.stringify(object, null, indent)
        expect(parsed(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('refuses what JSON.parse refuses at the top level', () => {
    for (const text of [
      '',
      ' ',
      '[]',
      '1',
      '{',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,}',
      '{"a" 1}',
      '{a:1}',
      '{"a":1}x',
      '{"a":"b}',
      '{"a":[1}',
      '{,}',
    ]) {
      expect(() => read(text), text).toThrow('not valid JSON')
    }
  })

  test('refuses a policy key that stands twice, also when one of them is written with escapes', () => {
    expect(() => read('{"model":"a","x":1,"model":"b"}')).toThrow('"model" more than once')
    expect(() => read('{"model":"a","mod\\u0065l":"b"}')).toThrow('"model" more than once')
    expect(read('{"x":1,"x":2}').size).toBe(1)
    expect(read('{"a":{"model":1},"model":2}').has('model')).toBe(true)
  })

  test('is not misled by quotes, braces and backslashes inside strings', () => {
    const text = JSON.stringify({a: 'x"}]\\', model: '\\"', b: ['{"model":1}', '\\\\'], 'k"\\': 1})
    expect(parsed(text)).toEqual(JSON.parse(text))
  })
})

describe('edits', () => {
  const edit = (text: string, edits: Record<string, string | undefined>) =>
    edited(Buffer.from(text), read(text), new Map(Object.entries(edits))).toString()

  test('set, add and leave out members and keep every other byte', () => {
    const text = '{ "model" : "@a/b", "seed": 12345678901234567890, "n":1.0 }'
    expect(edit(text, {model: '"b"'})).toBe('{ "model" : "b", "seed": 12345678901234567890, "n":1.0 }')
    expect(edit(text, {n: undefined})).toBe('{ "model" : "@a/b", "seed": 12345678901234567890 }')
    expect(edit(text, {seed: undefined, z: '{"y":1}'})).toBe('{ "model" : "@a/b", "n":1.0 ,"z":{"y":1}}')
    expect(edit('{"a":1,"b":2,"c":3}', {b: undefined, c: undefined})).toBe('{"a":1}')
    expect(edit('{"a":1,"b":2,"c":3}', {a: undefined, b: undefined})).toBe('{"c":3}')
    expect(edit('{"a":1, "b":2 }', {a: undefined, b: undefined})).toBe('{ }')
    expect(edit('{"a":1,"b":2}', {a: undefined, b: undefined, c: '3'})).toBe('{"c":3}')
    expect(edit('{}', {a: '1'})).toBe('{"a":1}')
    expect(edit('{"a":1}', {a: undefined, b: '2'})).toBe('{"b":2}')
  })

  test('agree with the same edits made on the parsed object', () => {
    const json = fc.jsonValue().map(value => JSON.stringify(value))
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), {noNullPrototype: true}),
        fc.dictionary(fc.string(), fc.option(json, {nil: undefined})),
        (object, edits) => {
          const keys = Object.keys(object)
          const mixed = Object.fromEntries(Object.entries(edits).map(([key, value], at) => [keys[at] ?? key, value]))
          const wanted: Record<string, unknown> = JSON.parse(JSON.stringify(object))
          for (const [key, value] of Object.entries(mixed)) {
            if (value === undefined) delete wanted[key]
            else
              Object.defineProperty(wanted, key, {
                value: JSON.parse(value),
                enumerable: true,
                configurable: true,
                writable: true,
              })
          }
          expect(JSON.parse(edit(JSON.stringify(object), mixed))).toEqual(wanted)
        },
      ),
    )
  })
})
