import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {isObject, list, object, parsed, parsedObject, parseJson, TooDeepFault} from '../../src/base/json-object.ts'

const ROOT = new URL('../..', import.meta.url).pathname

describe('JSON of which nothing is known', () => {
  test('an object is neither null nor a list', () => {
    const values = [{}, {a: 1}, Object.create(null), null, undefined, [], [{}], 'text', '', 0, 1, true]
    expect(values.map(isObject)).toEqual([true, true, true, ...Array(9).fill(false)])
  })

  test('of another kind is empty', () => {
    expect([{a: 1}, null, [1], 'text'].map(object)).toEqual([{a: 1}, {}, {}, {}])
    expect([[1], {a: 1}, null, 'text'].map(list)).toEqual([[1], [], [], []])
  })

  test('what is empty cannot be written to, for all share it', () => {
    expect(() => Object.assign(object(null), {a: 1})).toThrow(TypeError)
  })

  test('text that is not JSON is undefined, and so is an object that is none', () => {
    expect(['{"a":1}', '[1]', 'null', '', '{', '{"a":1}}'].map(parsed)).toEqual([
      {a: 1},
      [1],
      null,
      undefined,
      undefined,
      undefined,
    ])
    expect(['{"a":1}', '[1]', 'null', '"{}"', '{'].map(parsedObject)).toEqual([
      {a: 1},
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('is read in one place', () => {
    const files = ['src', 'cli'].flatMap(folder =>
      readdirSync(join(ROOT, folder), {recursive: true, encoding: 'utf8'}).flatMap(path =>
        path.endsWith('.ts') ? [join(folder, path)] : [],
      ),
    )
    const readers = files.filter(path =>
      /=== 'object' && (\w+ !== null|\w+) && !Array\.isArray/.test(readFileSync(join(ROOT, path), 'utf8')),
    )
    expect(readers).toEqual(['src/base/json-object.ts'])
  })
})

test('what is nested too deep is no JSON to anybody, wherever brackets stand in texts', () => {
  const deep = (levels: number, open = '[', close = ']', within = '') =>
    open.repeat(levels) + within + close.repeat(levels)
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const within = open === '[' ? '' : '1'
    expect(parsed(deep(256, open, close, within))).toBeDefined()
    for (const levels of [257, 10_000]) {
      expect(parsed(deep(levels, open, close, within))).toBeUndefined()
      expect(() => parseJson(deep(levels, open, close, within))).toThrow(TooDeepFault)
    }
  }
  const texts = JSON.stringify({
    a: '[{"'.repeat(10_000),
    b: ['\\', '\\"[', deep(1000)],
    c: Array.from({length: 1000}, () => [{}]),
  })
  expect(parsed(texts)).toEqual(JSON.parse(texts))
  expect(() => parseJson('[')).toThrow(SyntaxError)
})
