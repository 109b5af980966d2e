import {readdirSync, readFileSync} from 'node:fs'
import {join, relative, resolve} from 'node:path'
import {describe, expect, test} from 'vitest'
import {parseAst} from 'vitest/node'

/**
 * What work cost is written by one folder, `src/charge`: settlements and rows of the log are made there alone, with one
 * default for each of their fields. An object made elsewhere with a member of this name would be another. Each
 * exception stands here with its reason.
 */
const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')

const ROWS = 'sums of rows that the store read back'
const MADE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cost_nanousd: {
    'src/charge/': 'settlements, and what /metrics count of them',
    'src/schema/spent.ts': 'what counts against limits, with one constructor',
    'src/pricing/cost.ts': 'what usage costs',
    'src/proxy/records/metrics-page.ts': 'the sum of one set of labels',
    'src/store/': 'columns, and rows that are read back',
    'src/admin/logs.ts': 'a range that rows are filtered by',
    'src/admin/analytics/sums.ts': ROWS,
    'src/admin/usage.ts': ROWS,
  },
  'counter_keys, settled_at': {
    'src/charge/': 'settlements',
    'src/store/': 'columns, and rows that are read back',
  },
  'auth_ms, overhead_ms': {
    'src/charge/': 'rows of the log',
    'src/store/': 'columns, and rows that are read back',
  },
}

interface Node {
  readonly type: string
  readonly [member: string]: unknown
}

/** What a row is made of, given to its constructor. */
const CONSTRUCTOR = 'logRow'

/** How many objects of a file are made with all these members. Patterns and types are none. */
function literalsWith(names: readonly string[], text: string): number {
  if (!names.every(name => text.includes(name))) return 0
  let found = 0
  const visit = (node: unknown, is_given = false): void => {
    if (Array.isArray(node)) {
      for (const each of node) visit(each, is_given)
      return
    }
    if (typeof node !== 'object' || node === null) return
    const {type, properties, arguments: given, ...rest} = node as Node
    const members = (properties ?? []) as readonly Node[]
    const has = (name: string) => members.some(({key}) => nameOf(key) === name)
    if (type === 'ObjectExpression' && !is_given && names.every(has)) found++
    visit(members)
    visit(given, nameOf(rest.callee) === CONSTRUCTOR)
    for (const value of Object.values(rest)) visit(value)
  }
  visit(parseAst(text, {lang: 'ts'}))
  return found
}

function nameOf(key: unknown): string | undefined {
  const {name, value} = (key ?? {}) as {readonly name?: string; readonly value?: string}
  return name ?? value
}

const code = readdirSync(src, {recursive: true, encoding: 'utf8'})
  .filter(name => name.endsWith('.ts'))
  .map(name => ({file: relative(root, join(src, name)), text: readFileSync(join(src, name), 'utf8')}))

describe.each(Object.entries(MADE))('an object with %s', (names, places) => {
  const making = code.filter(({text}) => literalsWith(names.split(', '), text) > 0).map(({file}) => file)
  const isOf = (file: string, place: string) => file === place || (place.endsWith('/') && file.startsWith(place))

  test('is made by the folder that charges, and where a reason stands', () => {
    expect(making.filter(file => !Object.keys(places).some(place => isOf(file, place)))).toEqual([])
  })

  test('is made in each place that has a reason', () => {
    expect(Object.keys(places).filter(place => !making.some(file => isOf(file, place)))).toEqual([])
  })
})

test.each([
  ['({cost_nanousd: 0})', 1],
  ['const a = {tokens, cost_nanousd}', 1],
  ["const a = {...b, 'cost_nanousd': 1}", 1],
  ['call([{of: {cost_nanousd}}])', 1],
  ['const {cost_nanousd} = a', 0],
  ['function f({cost_nanousd}: {cost_nanousd: number}) {}', 0],
  ['logRow({cost_nanousd})', 0],
  ['logRow({of: {cost_nanousd}})', 1],
  ['interface A {readonly cost_nanousd: number}', 0],
])('%s is %i', (text, count) => {
  expect(literalsWith(['cost_nanousd'], text)).toBe(count)
})
