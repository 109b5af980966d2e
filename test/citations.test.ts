import {readdirSync, readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {expect, test} from 'vitest'

/** What comments cite is in the repository. */
const ROOT = resolve(import.meta.dirname, '..')
const files = ['src', 'cli', 'bin', 'test'].flatMap(folder =>
  readdirSync(join(ROOT, folder), {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name)),
)
const CITED = /core rules? ((?:\d+(?:, | and )?)+)/g

const cited = files.flatMap(file =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(CITED)].flatMap(([, numbers]) =>
    numbers!.match(/\d+/g)!.map(number => ({file, number})),
  ),
)

test('every core rule that a comment cites has a heading in docs/rules.md', () => {
  const page = readFileSync(join(ROOT, 'docs/rules.md'), 'utf8')
  const headings = new Set([...page.matchAll(/^### (\d+)\. /gm)].map(([, number]) => number))
  expect(cited.length).toBeGreaterThan(40)
  expect(cited.filter(({number}) => !headings.has(number))).toEqual([])
})
