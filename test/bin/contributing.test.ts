import {accessSync, constants, existsSync, readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {describe, expect, test} from 'vitest'
import {runNew} from '../../bin/new/run.ts'
import {readOptions} from '../bench/options.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
const {scripts, version} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
  version: string
}
const there = (path: string) => existsSync(join(ROOT, path))

/** Folders and files of the project, as the page names them; those with a hole (`<slug>`, NNNN) are nobody's. */
const PATHS = [...PAGE.matchAll(/(?<![\w/.<>-])((?:bin|cli|docs|migrations|src|test|\.ci)\/[\w./<>-]+|[A-Z]+\.md)/g)]
  .map(([, path]) => path!.replace(/\.$/, ''))
  .filter(path => !/<|NNNN/.test(path))

test('every path that the page names is there', () => {
  expect(PATHS.length).toBeGreaterThan(60)
  expect([...new Set(PATHS)].filter(path => !there(path))).toEqual([])
})

/** Each recipe with the tests that it quotes. */
const RECIPES = PAGE.split(/^### /m)
  .slice(1)
  .map(text => ({title: text.slice(0, text.indexOf('\n')), text}))

test.each(RECIPES.filter(({text}) => text.includes('| | Touch |')))(
  '$title: the tests that it quotes are there',
  ({text}) => {
    const quoted = text
      .split('\n')
      .flatMap(line => [...(line.split('|').at(-2) ?? '').matchAll(/"([^"]+)"/g)].map(([, name]) => name!))
    const named = [...text.matchAll(/test\/[\w/-]+\.test\.ts/g)].map(([path]) => readFileSync(join(ROOT, path), 'utf8'))
    expect(
      quoted.filter(name => !named.some(source => source.includes(name.replace(/ \.\.\.$/, '').replace(' N ', ' ')))),
    ).toEqual([])
  },
)

/** Every line of a block and every piece of code in a sentence that is a command. */
const COMMANDS = [...PAGE.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)]
  .flatMap(([, block]) => block!.split('\n'))
  .concat([...PAGE.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!))
  .flatMap(line => line.replace(/ +# .*$/, '').split(' && '))
  .filter(line => /^(npm|\.ci\/)/.test(line) && !/NAME|VERB|FILE/.test(line))

describe('every command of the page runs', () => {
  test.each([...new Set(COMMANDS)])('%s', command => {
    const [tool, ...words] = command.split(/\s+/)
    if (tool !== 'npm') return accessSync(join(ROOT, command), constants.X_OK)
    const script = words[0] === 'run' ? words[1]! : words[0]!
    const given = words.slice(words.indexOf('--') < 0 ? words.length : words.indexOf('--') + 1)
    expect(scripts).toHaveProperty(script)
    const [, ...told] = scripts[script]!.split(' ')
    if (script === 'new' && given.length > 0) expect(runNew(given, ROOT)).toMatchObject({code: 0, written: []})
    else if (script === 'mutants')
      expect(given.filter(name => name !== '--list' && !there(`test/mutants/${name}.patch`))).toEqual([])
    else if (script === 'simulate')
      expect(
        given.every((word, at) => /^--(?:lives|seed|world|json)$/.test(word) || /^--/.test(given[at - 1] ?? '')),
      ).toBe(true)
    else if (script === 'bench')
      expect(readOptions(given.map(word => (word.startsWith('/tmp/') ? import.meta.filename : word)))).toBeDefined()
    else if (script === 'test') expect(given.filter(word => word !== '-u' && !there(word))).toEqual([])
    else expect([given, there(told[0]!)]).toEqual([[], true])
  })

  test('there are some of each kind', () => {
    for (const start of [
      'npm start',
      'npm test',
      '.ci/run',
      '.ci/full',
      'npm run check',
      'npm run new --',
      'npm run mutants --',
      'npm run bench --',
    ])
      expect(COMMANDS.filter(command => command.startsWith(start)).length, start).toBeGreaterThan(0)
  })
})

test('the changelog has what is to come, and this version with its date', () => {
  const heads = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').match(/^## .*$/gm)!
  expect(heads[0]).toBe('## [Unreleased]')
  expect(heads[1]).toMatch(new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`))
})
