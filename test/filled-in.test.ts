import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {expect, test} from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
/** The folders that `npm run new` writes into. */
const FOLDERS = [
  'src',
  'cli',
  'migrations',
  'docs',
  'test/admin',
  'test/fixtures',
  'test/guardrails',
  'test/providers',
  'README.md',
]
/** In two pieces, so that this file holds none. */
const HOLE = new RegExp('FILL[ -]' + 'IN\\b')

test('every hole that npm run new left is filled in', () => {
  const open = FOLDERS.flatMap(folder => filesIn(folder)).flatMap(path =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, at) => (HOLE.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  )
  expect(open).toEqual([])
})

function filesIn(path: string): string[] {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path]
  return readdirSync(join(ROOT, path), {recursive: true, encoding: 'utf8'})
    .map(name => `${path}/${name}`)
    .filter(each => statSync(join(ROOT, each)).isFile())
}
