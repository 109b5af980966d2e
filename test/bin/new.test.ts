import {spawnSync} from 'node:child_process'
import {cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {runNew} from '../../bin/new/run.ts'
import {RING} from '../support/ring.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const COPIED = [
  'bin',
  'cli',
  'docs',
  'migrations',
  'src',
  'test',
  'README.md',
  'biome.json',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
]
/** What is made, and its own tests: those that fail until somebody fills it in. */
const MADE = [
  {words: ['provider', 'acme'], own: ['test/providers/catalog/reach.test.ts']},
  {
    words: ['provider', 'beta-ai', '--own-wire'],
    own: ['test/providers/beta-ai/beta-ai.test.ts', 'test/providers/catalog/reach.test.ts'],
  },
  {words: ['operation', 'widgets.list'], own: ['test/admin/widgets.test.ts']},
  {words: ['operation', 'labels.count'], own: ['test/admin/labels-count.test.ts']},
  {words: ['operation', 'gadgets.update'], own: ['test/admin/gadgets.test.ts']},
  {words: ['check', 'starts-with'], own: ['test/guardrails/checks.test.ts']},
] as const

let copy: string
const told = new Map<string, string>()
const made = new Set<string>()
const typescript = () => [...made].filter(path => path.endsWith('.ts'))

/** It copies the tree and checks it anew. */
describe.runIf(RING !== 'own')('npm run new', () => {
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'gateway-new-'))
    const isWanted = (path: string) =>
      !path.startsWith(join(ROOT, 'test/bench')) && !path.startsWith(join(ROOT, 'test/goldens'))
    for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), {recursive: true, filter: isWanted})
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    for (const {words} of MADE) {
      const {code, output: said, written} = runNew(words, copy)
      expect({words, code, said: code === 0 ? '' : said}).toEqual({words, code: 0, said: ''})
      told.set(words.join(' '), said)
      for (const path of written) made.add(path)
    }
    node(copy, 'node_modules/.bin/biome', 'check', '--write', ...typescript())
  }, 120_000)
  afterAll(() => rmSync(copy, {recursive: true, force: true}))

  test('the files that are named are there, and the next steps end in a check', () => {
    for (const {words} of MADE) {
      const said = told.get(words.join(' '))!
      const paths = [...said.matchAll(/^(?:new|edit) +(\S+)$/gm)].map(([, path]) => path!)
      expect(paths.length).toBeGreaterThanOrEqual(3)
      expect(paths.filter(path => !existsSync(join(copy, path)))).toEqual([])
      expect(said).toMatch(/Next:\n {2}1\. /)
      expect(said).toMatch(/npm run check && npm test -- .*\S$/)
    }
  })

  test('it is formatted', () => {
    const {status, stdout, stderr} = node(copy, 'node_modules/.bin/biome', 'check', ...typescript())
    expect({status, said: status === 0 ? '' : stdout + stderr}).toEqual({status: 0, said: ''})
  }, 120_000)

  test.skipIf(RING === 'own')(
    'it type-checks',
    () => {
      writeFileSync(
        join(copy, 'tsconfig.made.json'),
        JSON.stringify({extends: './tsconfig.json', include: ['src/**/*.d.ts'], files: typescript()}),
      )
      const {status, stdout} = node(copy, 'node_modules/.bin/tsc', '--noEmit', '-p', 'tsconfig.made.json')
      expect({status, said: stdout}).toEqual({status: 0, said: ''})
    },
    300_000,
  )

  test('its own tests fail with what is to be filled in, and with nothing else', () => {
    const own = [...new Set(MADE.flatMap(each => each.own)), 'test/filled-in.test.ts']
    const {stderr} = node(copy, 'node_modules/.bin/vitest', 'run', ...own)
    const failed = failuresIn(stderr)
    expect(failed.filter(said => !/FILL[ -]IN/.test(said))).toEqual([])
    expect(own.filter(path => !failed.some(said => said.includes(path)))).toEqual([])
    const lists = failed.find(said => said.includes('filled-in.test.ts'))!
    for (const path of [
      'src/admin/widgets.ts',
      'src/guardrails/checks/starts-with.ts',
      'src/providers/beta-ai/index.ts',
    ])
      expect(lists).toContain(path)
  }, 120_000)

  describe('it is refused with a sentence', () => {
    test.each([
      ['provider groq', 'The provider groq exists already.'],
      ['provider Acme', '"Acme" is not a slug: use small letters, digits and dashes, for example acme.'],
      ['provider ../acme', '"../acme" is not a slug: use small letters, digits and dashes.'],
      ['check contains', 'The check default.contains exists already.'],
      [
        'check startsWith',
        '"startsWith" is not a slug: use small letters, digits and dashes, for example starts-with.',
      ],
      ['operation labels.list', 'The operation labels.list exists already.'],
      ['operation widgets', '"widgets" is not an operation id: use noun.verb, for example widgets.list.'],
    ])('%s', (words, sentence) => {
      expect(runNew(words.split(' '), ROOT)).toEqual({code: 1, output: `gateway: ${sentence}`, written: []})
    })

    test.each(['', 'provider', 'provider a b', 'thing x', 'check starts-with --own-wire', 'provider acme --nothing'])(
      'usage: %s',
      words => {
        const {code, output: said} = runNew(words.split(' ').filter(Boolean), ROOT)
        expect([code, said.includes('\nusage: npm run new')]).toEqual([2, true])
      },
    )

    test('a file that is there already is kept', () => {
      writeFileSync(join(copy, 'src/guardrails/checks/ends-early.ts'), '')
      const output = 'gateway: src/guardrails/checks/ends-early.ts exists already. Nothing was written.'
      expect(runNew(['check', 'ends-early'], copy)).toEqual({code: 1, output, written: []})
    })
  })

  test('--dry-run names the files and writes none', () => {
    const {status, stdout, stderr} = node(ROOT, 'bin/new.ts', 'check', 'starts-with', '--dry-run')
    expect({status, stderr}).toEqual({status: 0, stderr: ''})
    expect(stdout).toContain('new   src/guardrails/checks/starts-with.ts\nedit  src/guardrails/registry.ts\n')
    expect(stdout).toContain('Nothing was written (--dry-run).')
    expect(existsSync(join(ROOT, 'src/guardrails/checks/starts-with.ts'))).toBe(false)
  }, 120_000)
})

/** What vitest says of each test that failed, as a person reads it; tests that fail alike share what is said. */
function failuresIn(said: string): string[] {
  return said
    .split(/^ FAIL /m)
    .slice(1)
    .flatMap((piece, at, all) => {
      const whole = all.slice(at).find(each => each.trim().includes('\n'))
      return whole === undefined || whole === piece ? [piece] : [piece + whole]
    })
}

function node(root: string, file: string, ...words: string[]) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|FORCE_COLOR)/.test(name)))
  return spawnSync(process.execPath, [join(root, file), ...words], {
    cwd: root,
    encoding: 'utf8',
    env: {...env, NO_COLOR: '1'},
  })
}
