import {readdirSync, readFileSync} from 'node:fs'
import {join, relative, resolve} from 'node:path'
import {expect, test} from 'vitest'

/**
 * Each numbered fact of MCP servers, case of a fault of others (`MC`) and fact of virtual servers (`V`) has a test that
 * bears its number. A title begins with its numbers: `fact 7: …`, `7, 8: …`, `facts 14 to 17: …`, `MC3: …`.
 */

const FOLDER = resolve(import.meta.dirname, '..')
const NUMBERED: readonly string[] = [
  ...numbers(82).map(each => `fact ${each}`),
  ...numbers(26).map(each => `MC${each}`),
  ...numbers(5).map(each => `V${each}`),
]
const MOST_WITHOUT = Math.floor(NUMBERED.length * 0.05)

/** Numbers that no test can bear, with the reason. */
const WITHOUT: ReadonlyMap<string, string> = new Map([])

const NUMBER = String.raw`(?:(?:facts? )?\d+|MC\d+|V\d+)`
const HEAD = new RegExp(`^${NUMBER}(?:(?:, | and | to )${NUMBER})*$`)

function numbers(last: number): number[] {
  return Array.from({length: last}, (_, at) => at + 1)
}

/** Files of tests of this plane: by their place or name, or by what they use. */
function files(): string[] {
  return readdirSync(FOLDER, {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.test.ts') && !name.startsWith('support'))
    .filter(name => /mcp|oauth/.test(name) || /support\/mcp\/|from '.*\/mcp\//.test(textOf(name)))
}

function textOf(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8')
}

/** The numbers that the titles of a text bear. */
function numbersIn(text: string): string[] {
  const heads = [...text.matchAll(/['"`]([^'"`:\n]{1,80}): /g)].map(found => found[1]!)
  return heads.filter(head => HEAD.test(head)).flatMap(bornBy)
}

function bornBy(head: string): string[] {
  const ranges = head.replaceAll(/(\d+) to (\d+)/g, (_, from: string, to: string) =>
    numbers(Number(to))
      .slice(Number(from) - 1)
      .join(', '),
  )
  return (ranges.match(/(?:MC|V)?\d+/g) ?? []).map(each => (/^\d/.test(each) ? `fact ${each}` : each))
}

test('titles are read as they are written', () => {
  expect(numbersIn("test('facts 14 to 16: x', () => {\n test('MC21, fact 77: y')")).toEqual([
    ...['fact 14', 'fact 15', 'fact 16', 'MC21', 'fact 77'],
  ])
  expect(numbersIn("test('61, 62: x') test('status 7: y') test(`V3: z`)")).toEqual(['fact 61', 'fact 62', 'V3'])
})

test('each number is in the title of a test', () => {
  const own = relative(FOLDER, import.meta.filename)
  const born = new Set(
    files()
      .filter(name => name !== own)
      .flatMap(name => numbersIn(textOf(name))),
  )
  const missing = NUMBERED.filter(each => !born.has(each) && !WITHOUT.has(each))
  expect(missing).toEqual([])
  expect(WITHOUT.size).toBeLessThanOrEqual(MOST_WITHOUT)
  expect([...WITHOUT.keys()].filter(each => born.has(each))).toEqual([])
})
