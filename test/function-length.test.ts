import {readdirSync, readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {expect, test} from 'vitest'
import {functionsIn} from './support/functions.ts'

/** A function fits on two screens, so that it can be read at once. */
const MAX_LINES = 100

const root = resolve(import.meta.dirname, '..')
const files = ['src', 'cli'].flatMap(folder =>
  readdirSync(resolve(root, folder), {encoding: 'utf8', recursive: true})
    .filter(file => file.endsWith('.ts'))
    .map(file => join(folder, file)),
)

test(`no function is longer than ${MAX_LINES} lines`, () => {
  const all = files.flatMap(file =>
    functionsIn(readFileSync(resolve(root, file), 'utf8')).map(each => ({file, ...each})),
  )
  expect(all.length).toBeGreaterThan(5000)
  const long = all
    .filter(({lines}) => lines > MAX_LINES)
    .map(({file, name, lines}) => [`${file} ${name}`, lines] as const)
  expect(long).toEqual([])
})

test('a function has its own lines; members of a class and operations of a returned object are not part of it', () => {
  const text = [
    'class A {',
    '  b() {',
    '    return 1',
    '  }',
    '}',
    'const t = {',
    '  c: () => 1,',
    '}',
    'function d() {',
    '  const e = {',
    '    f() {},',
    '  }',
    '  return {',
    '    e,',
    '    g() {',
    '      return 2',
    '    },',
    '  }',
    '}',
  ].join('\n')
  expect(functionsIn(text)).toEqual([
    {name: 'b', lines: 3},
    {name: 'c', lines: 1},
    {name: 'd', lines: 8},
    {name: 'f', lines: 1},
    {name: 'g', lines: 3},
  ])
})
