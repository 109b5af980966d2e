import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {organisations} from '../../src/store/organisations.ts'
import {insertLog} from '../support/logs.ts'
import {fakeGateway, NOW_MS, ONE_WORKSPACE, run, WORKSPACE} from './support.ts'

const fixtures = resolve(import.meta.dirname, '../fixtures/suites')
const fixture = (name: string) => readFileSync(join(fixtures, name), 'utf8')
const CANARY = 'sk-canary-0123456789abcdef'

let folder: string
let data: string
let workspace: {id: string}

const files = {
  key: `${CANARY}\n`,
  'plans.yaml': fixture('plans.yaml'),
  'suite-config.json': fixture('suite-config.json'),
  'balanced.json': JSON.stringify({
    strategy: {mode: 'loadbalance'},
    targets: [
      {provider: '@main', weight: 3, request_timeout: 9000},
      {provider: '@nobody', weight: 1},
    ],
  }),
  'request.yaml': 'body: {model: gpt-4o-mini, messages: [{role: user, content: Hi}]}\n',
  'request.json':
    '{"headers": {"x-gateway-metadata": "{\\"plan\\": \\"pro\\"}"}, "body": {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hi"}]}}',
}
/** A command on the data directory, in this process, with no server. */
const here = (argv: readonly string[], more: Record<string, string> = {}, stdin?: string) =>
  run([...argv, '--data-dir', data], {files: {...files, ...more}, ...(stdin !== undefined && {stdin})})

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-cli-explain-'))
  data = join(folder, 'data')
  expect(await here(['init'])).toMatchObject({code: 0})
  for (const [slug, kind] of [
    ['main', 'openai'],
    ['spare', 'anthropic'],
  ] as const)
    expect(await here(['providers', 'create', slug, '--kind', kind, '--key-file', 'key'])).toMatchObject({code: 0})
  workspace = JSON.parse((await here(['workspaces', 'list', '--json'])).stdout).data[0]
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

describe('configs explain', () => {
  const explain = (...more: string[]) => ['configs', 'explain', '--request', 'request.yaml', ...more]

  test('prints the tree of the config, with what is asked and why', async () => {
    const {code, stdout, stderr} = await here(explain('--config', 'balanced.json', '--seed', '5'))
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
    expect(
      stdout
        .replace(/gateway\/\S+/, 'gateway/VERSION')
        .replace(/\$[\d.]+ in, \$[\d.]+ out (.*) \(.*\)/, '$$IN in, $$OUT out $1 (SOURCE)'),
    ).toMatchInlineSnapshot(`
      "POST /v1/chat/completions, chatComplete, model gpt-4o-mini
      config as given, seed 5

      config loadbalance
      │     weights targets[0] 3, targets[1] 1
      │     drawn 0.037887, which is targets[0]
      ├─ → 1 targets[0] @main/gpt-4o-mini
      │        POST https://api.openai.com/v1/chat/completions
      │        accept: */*
      │        accept-encoding: identity
      │        authorization: ***
      │        content-type: application/json
      │        user-agent: gateway/VERSION
      │        body as sent, 67 bytes
      │        timeout 9000 ms; no retries
      │        $IN in, $OUT out a million tokens (SOURCE)
      └─ × - targets[1]
               refuses with 400: No provider is called @nobody. List those of this workspace with GET /v1/providers.

      The call: config.targets[0] 200; answered with 200
      "
    `)
  })

  test('prints the same bytes for the same seed, as a tree and as JSON, and never a secret', async () => {
    for (const more of [[], ['--json'], ['--at', '2030-01-01T00:00:00Z', '--json']]) {
      const argv = [
        'configs',
        'explain',
        '--request',
        'request.json',
        '--config',
        'suite-config.json',
        '--seed',
        '7',
        ...more,
      ]
      const first = await here(argv)
      expect(first).toMatchObject({code: 0, stderr: ''})
      expect(first.stdout).toContain('claude-sonnet-4-5')
      expect(first.stdout).not.toContain(CANARY)
      expect(await here(argv)).toEqual(first)
    }
  })

  test('takes the slug of a saved config, and a request from stdin', async () => {
    expect(await here(['configs', 'create', 'main', '--config', 'suite-config.json'])).toMatchObject({code: 0})
    const [{slug}] = JSON.parse((await here(['configs', 'list', '--json'])).stdout).data
    const {code, stdout} = await here(
      ['configs', 'explain', '--config', slug, '--request', '-', '--json'],
      {},
      files['request.json'],
    )
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({config: {slug}, way: {end: {target: 'config.targets[0].targets[0]'}}})
  })

  test.each<[string, string[], Record<string, string>, RegExp]>([
    [
      'a config that is none',
      explain('--config', 'bad.json'),
      {'bad.json': '{"provder": "@main"}'},
      /config\.provder: is not known; did you mean provider\?/,
    ],
    ['a slug that is not there', explain('--config', 'pc-nope'), {}, /no config is called pc-nope/],
    [
      'a file that is not there',
      explain('--config', 'nope.json'),
      {},
      /--config nope\.json cannot be read: there is no such file/,
    ],
    [
      'a request of an unknown word',
      explain('--config', 'balanced.json'),
      {'request.yaml': 'bdy: {}'},
      /the key bdy is not known here: did you mean body\?/,
    ],
    [
      'a file that is neither JSON nor YAML',
      explain('--config', 'bad.yaml'),
      {'bad.yaml': `a: [${CANARY}`},
      /is neither JSON nor YAML: line 1/,
    ],
    ['a seed that is none', explain('--seed', 'x'), {}, /--seed x is not a whole number/],
    ['a time that is none', explain('--config', 'balanced.json', '--at', 'soon'), {}, /at: must be a time/],
  ])('%s is refused', async (_, argv, more, sentence) => {
    const {code, stdout, stderr} = await here(argv, more)
    expect({code, stdout}).toEqual({code: 2, stdout: ''})
    expect(stderr).toMatch(sentence)
    expect(stderr).not.toContain(CANARY)
  })
})

describe('configs test', () => {
  test('a suite that holds', async () => {
    expect(await here(['configs', 'test', 'plans.yaml'])).toEqual({
      code: 0,
      stdout: [
        'ok      paying callers go to the large model',
        'ok      when it is busy twice, it is asked again after one and two seconds',
        'ok      when it stays busy, the other provider is asked',
        'ok      others go to the small model',
        '',
      ].join('\n'),
      stderr: 'All 4 cases hold.\n',
    })
  })

  const REQUEST = '{body: {model: gpt-4o-mini, messages: [{role: user, content: Hi}]}}'
  const suite = (expected: string, more = '') =>
    `config: suite-config.json\ncases: [{name: one, request: ${REQUEST}, ${more} expect: ${expected}}]`

  test.each<[string, string, string, string, string]>([
    ['target', "{target: '@spare'}", '', '@spare', 'config.targets[1] (@main/gpt-4o-mini)'],
    ['order', "{order: ['@main', '@spare']}", '', '@main, then @spare', 'config.targets[1] (@main/gpt-4o-mini)'],
    ['model', '{model: gpt-4o}', '', 'gpt-4o', 'gpt-4o-mini'],
    ['status', '{status: 200}', "when: {'config.targets[1]': 529},", '200', '529'],
    ['refused', '{refused: true}', '', 'true', 'false'],
    ['retries', '{retries: 1}', '', '1', '0'],
    ['waits_ms', '{waits_ms: [1000]}', '', '[1000]', '[]'],
    ['unpriced', '{unpriced: true}', '', 'true', 'false'],
    ['cache', '{cache: MISS}', '', 'MISS', 'DISABLED'],
    ['request_timeout_ms', '{request_timeout_ms: 20000}', '', '20000', 'null'],
  ])('a case fails by its %s, with what was expected and found', async (field, expected, more, wanted, found) => {
    const told = await here(['configs', 'test', 's.yaml'], {'s.yaml': suite(expected, more)})
    const pad = ' '.repeat(field.length)
    expect(told).toEqual({
      code: 1,
      stdout: `failed  one\n        ${field}: expected ${wanted}\n        ${pad}     found ${found}\n`,
      stderr: 'gateway: 1 of 1 cases failed.\n',
    })
    const json = await here(['configs', 'test', 's.yaml', '--json'], {'s.yaml': suite(expected, more)})
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toEqual({
      object: 'suite',
      ok: false,
      cases: [{name: 'one', ok: false, differences: [{field, expected: wanted, found}]}],
    })
  })

  test('a refusal is expected, or found', async () => {
    const config = '{provider: "@nobody"}'
    const of = (expected: string) =>
      `{"config": ${config.replace('provider', '"provider"')}, "cases": [{"name": "one", "request": {"body": {"model": "m", "messages": [{}]}}, "expect": ${expected}}]}`
    expect(await here(['configs', 'test', '-'], {}, of('{"refused": 400}'))).toMatchObject({code: 0})
    expect((await here(['configs', 'test', '-'], {}, of('{"target": "@main"}'))).stdout).toContain(
      'found refused with 400: No provider is called @nobody.',
    )
  })

  test('a config that would be refused fails every case', async () => {
    const told = await here(['configs', 'test', 's.yaml'], {
      's.yaml': suite('{refused: true}'),
      'suite-config.json': '{"provder": "@main"}',
    })
    expect(told.code).toBe(1)
    expect(told.stdout).toContain('found AB01: the config is not valid: config.provder: is not known')
  })

  test.each<[string, string, string]>([
    [
      'of the suite',
      'confg: x\ncases: [{name: a, request: {}, expect: {status: 200}}]',
      'the key confg is not known here: did you mean config?',
    ],
    [
      'of a case',
      'config: x\ncases: [{name: a, request: {}, whne: {}, expect: {status: 200}}]',
      'cases[0]: the key whne is not known here: did you mean when?',
    ],
    [
      'of what is expected',
      'config: x\ncases: [{name: a, request: {}, expect: {taget: b}}]',
      'cases[0].expect: the key taget is not known here: did you mean target?',
    ],
    [
      'of a request',
      'config: x\ncases: [{name: a, request: {header: {}}, expect: {status: 200}}]',
      'cases[0].request: the key header is not known here: did you mean headers?',
    ],
  ])('a key %s that is not known is refused with the nearest', async (_, text, sentence) => {
    const told = await here(['configs', 'test', 's.yaml'], {'s.yaml': text})
    expect(told).toMatchObject({code: 2, stdout: ''})
    expect(told.stderr).toContain(sentence)
  })

  test.each([
    ['nothing expected', 'config: x\ncases: [{name: a, request: {}, expect: {}}]', 'expects nothing'],
    ['no cases', 'config: x\ncases: []', 'at least 1 item'],
    [
      'a path that is none',
      'config: x\ncases: [{name: a, request: {}, when: {first: 429}, expect: {status: 200}}]',
      'expected the path of a target',
    ],
  ])('%s is refused', async (_, text, sentence) => {
    const told = await here(['configs', 'test', 's.yaml'], {'s.yaml': text})
    expect(told).toMatchObject({code: 2, stdout: ''})
    expect(told.stderr).toContain(sentence)
  })
})

describe('replay', () => {
  beforeAll(async () => {
    const store = await openStore({kind: 'sqlite', folder: data, role: 'operator'})
    const [organisation] = await organisations(store.db)
    for (let index = 0; index < 1200; index++) {
      await insertLog(store.db, {
        id: `row-${String(index).padStart(5, '0')}`,
        call_id: `call-${index}`,
        created_at: new Date(NOW_MS - (index + 1) * 60_000).toISOString(),
        organisation_id: organisation!.id,
        workspace_id: workspace.id,
        provider_slug: 'main',
        model: index % 4 ? 'gpt-4o-mini' : 'gpt-4o',
        metadata: JSON.stringify({plan: index % 2 ? 'pro' : 'free'}),
        upstream_url: 'https://api.openai.com/v1/chat/completions',
      })
    }
    await store.close()
  })

  const argv = ['replay', '--since', '2026-03-01', '--config', 'suite-config.json']

  test('says what would go elsewhere, the same every time', async () => {
    const told = await here(argv)
    expect(told).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^CALLS {2}FROM +TO +BY LOT {2}FOR EXAMPLE\n/),
      stderr: '900 of 1200 calls would go elsewhere.\n',
    })
    expect(told.stdout).toMatch(/^ +600 +@main\/gpt-4o-mini +@main\/gpt-4o +0 +row-00001$/m)
    expect(told.stdout).toMatch(/^ +300 +@main\/gpt-4o +@main\/gpt-4o-mini +0 +row-00000$/m)
    expect(await here(argv)).toEqual(told)
    const json = JSON.parse((await here([...argv, '--json'])).stdout)
    expect(json).toEqual({
      calls: 1200,
      changed: 900,
      left_out: 0,
      without_body: 0,
      moves: [
        {
          from: '@main/gpt-4o-mini',
          to: '@main/gpt-4o',
          calls: 600,
          by_lot: 0,
          examples: ['row-00001', 'row-00003', 'row-00005'],
        },
        {
          from: '@main/gpt-4o',
          to: '@main/gpt-4o-mini',
          calls: 300,
          by_lot: 0,
          examples: ['row-00000', 'row-00004', 'row-00008'],
        },
      ],
    })
  })

  test('reads no more rows than it is told, the newest first, and none before the time', async () => {
    expect((await here([...argv, '--limit', '600'])).stderr).toBe('450 of 600 calls would go elsewhere.\n')
    expect((await here(['replay', '--since', '2h', '--config', 'suite-config.json'])).stderr).toBe(
      '90 of 120 calls would go elsewhere.\n',
    )
  })

  test('asks for page after page, each before the last', async () => {
    const page = (calls: number, next: string | null) => ({
      object: 'replay',
      calls,
      changed: 1,
      left_out: 2,
      without_body: 3,
      moves: [{from: 'a', to: 'b', calls: 1, by_lot: 1, examples: [`e${calls}`]}],
      next,
    })
    const {transport, requests} = fakeGateway({
      ...ONE_WORKSPACE,
      'POST /configs/replay': [page(5, '2026-03-02T00:00:00.000Z'), page(6, null)],
    })
    const told = await run(['replay', '--since', '7d', '--config', 'pc-main', '--json'], {transport})
    expect(JSON.parse(told.stdout)).toEqual({
      calls: 11,
      changed: 2,
      left_out: 4,
      without_body: 6,
      moves: [{from: 'a', to: 'b', calls: 2, by_lot: 2, examples: ['e5', 'e6']}],
    })
    const asked = {
      config: 'pc-main',
      since: new Date(NOW_MS - 7 * 86_400_000).toISOString(),
      workspace_id: WORKSPACE.slug,
      limit: 500,
    }
    expect(requests.slice(1).map(({body}) => body)).toEqual([asked, {...asked, before: '2026-03-02T00:00:00.000Z'}])
  })

  test.each([
    ['soon', /--since soon is no time in the past/],
    ['2999-01-01', /--since 2999-01-01 is no time in the past/],
  ])('since %s is refused', async (since, sentence) => {
    const told = await here(['replay', '--since', since, '--config', 'suite-config.json'])
    expect(told).toMatchObject({code: 2, stdout: ''})
    expect(told.stderr).toMatch(sentence)
  })
})
