import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {TooDeepFault} from '../../src/base/json-object.ts'
import {MAX_JSON_DEPTH} from '../../src/base/json-shape.ts'
import type {JsonValue} from '../../src/guardrails/json.ts'
import {jsonText, parsing} from '../../src/guardrails/json-text.ts'
import {atOnce, inTimeSlices, type SlicedWork} from '../../src/guardrails/time-slices.ts'

/** Work of so many pieces; `said` is told of each. */
function* pieces(count: number, name: string, said: (name: string) => void = () => undefined): SlicedWork<string> {
  for (let piece = 0; piece < count; piece++) {
    said(name)
    yield
  }
  return name
}

/** Pieces that are each longer than a turn. */
function* slow(count: number, name: string, said: (name: string) => void): SlicedWork<string> {
  for (const _ of pieces(count, name, said)) {
    const until_ms = performance.now() + 6
    while (performance.now() < until_ms);
    yield
  }
  return name
}

describe('gently', () => {
  test('small work is done at once', () => {
    expect(inTimeSlices(pieces(3, 'a'))).toBe('a')
  })

  test('what it throws is thrown, at once or later', async () => {
    function* failing(is_late: boolean): SlicedWork<never> {
      if (is_late) yield* slow(2, '', () => undefined)
      throw new Error('no')
    }
    expect(() => inTimeSlices(failing(false))).toThrow('no')
    await expect(inTimeSlices(failing(true))).rejects.toThrow('no')
  })

  test('long work lets others in, and takes turns with other long work', async () => {
    const order: string[] = []
    const one = inTimeSlices(slow(3, 'one', name => order.push(name)))
    const two = inTimeSlices(slow(3, 'two', name => order.push(name)))
    setImmediate(() => order.push('other'))
    expect([one, two]).toEqual([expect.any(Promise), expect.any(Promise)])
    expect(await Promise.all([one, two])).toEqual(['one', 'two'])
    expect(order.indexOf('other')).toBeLessThan(order.length - 1)
    expect(order.lastIndexOf('one')).toBeGreaterThan(order.indexOf('two'))
    expect(order.filter(name => name === 'two')).toHaveLength(3)
  })
})

describe('JSON in pieces is that of JSON.stringify', () => {
  test('for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({stringUnit: 'binary', maxDepth: 5}), value => {
        expect(atOnce(jsonText(value as JsonValue))).toBe(JSON.stringify(value))
      }),
    )
  })

  test('for long texts, pairs and halves of pairs included', () => {
    const unit = fc.constantFrom('a', '"', '\n', '😀', '\ud83d', '\udc00', 'é')
    fc.assert(
      fc.property(fc.array(unit, {minLength: 1, maxLength: 7}), units => {
        const text = units.join('').repeat(Math.ceil(40_000 / units.join('').length))
        expect(atOnce(jsonText({text: [text]}))).toBe(JSON.stringify({text: [text]}))
      }),
      {numRuns: 30},
    )
  })
})

describe('JSON read in pieces is that of JSON.parse', () => {
  /** What a text is; white space before it makes it long enough to be read in pieces. */
  const read = (parse: (text: string) => unknown, text: string) => {
    try {
      return {value: parse(text)}
    } catch (error) {
      return (error as Error).name
    }
  }
  const both = (text: string) => {
    const long = ' '.repeat(70_000) + text
    expect(read(said => atOnce(parsing(said)), long)).toEqual(read(JSON.parse, long))
  }

  test('for any value, and any value with a few characters changed', () => {
    const document = fc.jsonValue({stringUnit: 'binary', maxDepth: 4}).map(value => JSON.stringify(value, null, 1))
    const change = fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...'{}[]",:\\0-.e1tn \n', ''))
    fc.assert(
      fc.property(document, fc.array(change, {maxLength: 2}), (text, changes) => {
        const broken = changes.reduce(
          (now, [at, less, put]) =>
            now.slice(0, at % (now.length + 1)) + put + now.slice((at % (now.length + 1)) + less),
          text,
        )
        both(broken)
      }),
      {numRuns: 2000},
    )
  })

  test.each([
    '{"__proto__":1}',
    '{"a":1,"a":2}',
    '{"2":1,"1":2}',
    '[1,]',
    '[,]',
    '{,}',
    '{"a":1,}',
    '01',
    '1 2',
    '',
    '"a',
    '"\\"',
    '"\t"',
    'nulll',
    '-',
    '1.',
    '[1}',
    '{"a"}',
  ])('%j', both)

  test('as deep as anything is read', () => {
    const long = ' '.repeat(100_000)
    const deep = (levels: number) => long + '['.repeat(levels) + ']'.repeat(levels)
    let value = atOnce(parsing(deep(MAX_JSON_DEPTH))) as readonly unknown[]
    let depth = 1
    for (; value.length; depth++) value = value[0] as readonly unknown[]
    expect(depth).toBe(MAX_JSON_DEPTH)
    for (const levels of [MAX_JSON_DEPTH + 1, 100_000]) {
      expect(() => atOnce(parsing(deep(levels)))).toThrow(TooDeepFault)
      expect(() => atOnce(parsing(deep(levels).trim()))).toThrow(TooDeepFault)
    }
  })
})
