import {readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import {describe, expect, test} from 'vitest'
import {lint} from '../../src/routing/lint.ts'
import {KNOWN, STRATEGY_KEYS} from '../../src/schema/config-keys.ts'
import {readConfig} from '../../src/schema/configs.ts'
import {run} from '../cli/support.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/configs.md'), 'utf8')
const EXAMPLES = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)

describe('docs/configs.md', () => {
  test('has an example of every mode, and of cache, retry, breaker and sticky', () => {
    const all = EXAMPLES.join()
    for (const word of ['single', 'fallback', 'loadbalance', 'conditional', 'cache', 'retry', 'cb_config', 'sticky'])
      expect(all).toContain(`"${word}"`)
  })

  test.each(EXAMPLES.map(text => ({text})))('example %# is a good config', ({text}) => {
    const config = JSON.parse(text) as unknown
    expect(readConfig(config, {saved: true})).toEqual({config, warnings: []})
    expect(lint(config)).toMatchObject({ok: true})
  })

  test('names every key', () => {
    const keys = [...KNOWN, ...Object.keys(STRATEGY_KEYS), 'conditions']
    expect(keys.filter(key => !new RegExp(`[\`.]${key}\``).test(page))).toEqual([])
  })
})

describe('lint', () => {
  test('counts the targets of a good config', () => {
    const config = {strategy: {mode: 'fallback'}, targets: [{provider: '@a'}, {targets: [{provider: '@b'}]}]}
    expect(lint(config)).toEqual({ok: true, issues: [], targets: 2})
  })

  test('refuses what is wrong, and what has no effect', () => {
    expect(lint({provder: '@a'})).toEqual({
      ok: false,
      issues: [{path: 'config.provder', message: 'is not known; did you mean provider?'}],
      targets: 0,
    })
    expect(lint({provider: '@a', weight: 1}).issues).toEqual([
      {path: 'config.weight', message: 'has no effect here: it counts under the mode loadbalance alone'},
    ])
  })

  test('judges kinds of providers by what it is told, and hosts by their form', () => {
    const unknownKind = (kind: string) => (kind === 'known' ? undefined : 'is no kind of provider')
    const config = {
      strategy: {mode: 'fallback'},
      custom_host: 'http://0x7f.1/v1',
      targets: [
        {provider: 'known'},
        {provider: 'unknown', custom_host: 'https://user:pass@a.example.com'},
        {provider: '@slug'},
      ],
    }
    expect(lint(config, {unknownKind}).issues).toEqual([
      {
        path: 'config.custom_host',
        message:
          'is not a base URL that can be called: an IPv4 address is four decimal numbers from 0 to 255, without leading zeros',
      },
      {path: 'config.targets[1].provider', message: 'is no kind of provider'},
      {
        path: 'config.targets[1].custom_host',
        message: 'is not a base URL that can be called: a user, a password or an @ is not allowed',
      },
    ])
  })

  test('takes the limits it is given', () => {
    const config = {strategy: {mode: 'loadbalance'}, targets: [{provider: '@a'}, {provider: '@b'}]}
    expect(lint(config, {limits: {root: 1, conditional_root: 1, nested: 1}}).issues).toEqual([
      {path: 'config.targets', message: 'has 2 targets; expected at most 1'},
    ])
  })
})

describe('gateway configs lint', () => {
  const files = {
    'good.json': '{"strategy":{"mode":"fallback"},"targets":[{"provider":"openai"},{"provider":"@b"}]}',
    'bad.json': '{"strategy":{"mode":"fallback"},"targets":[{"provider":"opnai"},{"provider":"@b","weight":1}]}',
    'text.json': 'provider: openai',
  }

  test('says OK and how many targets there are', async () => {
    expect(await run(['configs', 'lint', 'good.json'], {files})).toEqual({
      code: 0,
      stdout: 'OK: 2 targets.\n',
      stderr: '',
    })
    expect(await run(['configs', 'lint', '-'], {stdin: '{"provider":"@a"}'})).toEqual({
      code: 0,
      stdout: 'OK: 1 target.\n',
      stderr: '',
    })
    const {code, stdout, stderr} = await run(['configs', 'lint', 'good.json', '--json'], {files})
    expect([code, JSON.parse(stdout), stderr]).toEqual([0, {ok: true, issues: [], targets: 2}, ''])
  })

  test('says what is wrong where, and fails', async () => {
    expect(await run(['configs', 'lint', 'bad.json'], {files})).toEqual({
      code: 1,
      stdout:
        'config.targets[1].weight: has no effect here: it counts under the mode loadbalance alone\n' +
        'config.targets[0].provider: is no kind of provider; did you mean openai?\n',
      stderr: 'gateway: The config would not be saved: 2 things are wrong with it.\n',
    })
    const {code, stdout} = await run(['configs', 'lint', 'bad.json', '--json'], {files})
    expect([code, JSON.parse(stdout)]).toMatchObject([1, {ok: false, targets: 0}])
  })

  test('takes JSON alone', async () => {
    expect(await run(['configs', 'lint', 'text.json'], {files})).toMatchObject({code: 2, stdout: ''})
    expect(await run(['configs', 'lint', 'none.json'], {files})).toMatchObject({code: 2, stdout: ''})
  })
})
