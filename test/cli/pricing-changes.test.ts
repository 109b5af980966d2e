import {execFile} from 'node:child_process'
import {mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {run} from './support.ts'

const MODELS = 3000
const priced = (cents: number) => ({
  pricing_config: {pay_as_you_go: {request_token: {price: cents}, response_token: {price: cents * 2}}},
})

let folder: string
let data: string
const here = (...argv: string[]) => run([...argv, '--data-dir', data], {now_ms: Date.now})
const file = (name: string) => join(folder, name)
const inputOf = async (model: string, provider = 'openai') => {
  const {code, stdout} = await here('pricing', 'show', model, '--provider', provider, '--json')
  return code === 0 ? JSON.parse(stdout).pay_as_you_go.request_token.price : null
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-cli-prices-'))
  data = file('data')
  await here('init')
  mkdirSync(file('prices'))
  writeFileSync(file('prices/openai.json'), JSON.stringify({'gpt-4o': priced(0.0002), 'a-new-one': priced(0.0001)}))
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))
beforeEach(async () => {
  await here('pricing', 'rollback', '--to', '0')
})

describe('gateway pricing', () => {
  test('shows what a directory would change, installs it, and goes back', async () => {
    const diff = await here('pricing', 'diff', file('prices'))
    expect(diff.code).toBe(0)
    expect(diff.stdout).toContain('openai    gpt-4o     changed    2.5 → 2      10 → 4            3')
    expect(diff.stdout).toContain('2 prices: 1 added, 1 changed, 0 removed. Nothing was installed.')
    expect(await inputOf('gpt-4o')).toBe(0.00025)

    const {code, stdout} = await here('pricing', 'sync', file('prices'))
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/2 prices: 1 added, 1 changed, 0 removed\. Revision \d+ holds from .* UTC\.\n$/),
    ])
    expect(await inputOf('gpt-4o')).toBe(0.0002)
    expect((await here('pricing', 'sync', file('prices'))).stdout).toContain('Nothing changes.')
    expect((await here('pricing', 'rollback')).stdout).toMatch(/^Withdrawn: revision \d+ \(.*prices\)\./)
    expect(await inputOf('gpt-4o')).toBe(0.00025)
  })

  test('tells a program all of it', async () => {
    const {stdout} = await here('pricing', 'sync', file('prices'), '--json')
    expect(JSON.parse(stdout)).toMatchObject({total: 2, added: 1, changed: 1, object: 'price-installation'})
  })

  test('sets the price of one model in dollars a million, exactly, and takes it away', async () => {
    const set = await here(
      'pricing',
      'set',
      'gpt-4o',
      '--provider',
      'openai',
      '--input',
      '0.07',
      '--output',
      '0.3',
      '--unit',
      'web_search=0.015',
    )
    expect(set.code).toBe(0)
    const shown = JSON.parse(
      (await here('pricing', 'show', 'gpt-4o', '--provider', 'openai', '--json')).stdout,
    ).pay_as_you_go
    expect([shown.request_token.price, shown.response_token.price, shown.additional_units.web_search.price]).toEqual([
      0.000007, 0.00003, 1.5,
    ])
    await here('pricing', 'unset', 'gpt-4o', '--provider', 'openai')
    expect(await inputOf('gpt-4o')).toBe(0.00025)
  })

  test('lists what was installed', async () => {
    await here('pricing', 'sync', file('prices'))
    const {stdout} = await here('pricing', 'revisions')
    expect(stdout.split('\n')[1]).toMatch(/^ +\d+ {2}sync .* {2}- +1 +1 +0 {2}.*prices$/)
  })

  test.each<[string, string[], number, string]>([
    [
      'a source that is not there',
      ['pricing', 'sync', '/no/such/place'],
      2,
      '/no/such/place cannot be read: there is no such file.',
    ],
    [
      'a price that is none',
      ['pricing', 'set', 'm', '--provider', 'openai', '--input', '-1'],
      2,
      '--input -1 is no price',
    ],
    ['no price at all', ['pricing', 'set', 'm', '--provider', 'openai'], 2, 'No price is given'],
    [
      'a time that is none',
      ['pricing', 'set', 'm', '--provider', 'openai', '--input', '1', '--from', 'soon'],
      2,
      '--from soon is no time',
    ],
    [
      'a time in the past',
      ['pricing', 'set', 'm', '--provider', 'openai', '--input', '1', '--from', '2020-01-01'],
      2,
      'effective_at: is in the past',
    ],
    [
      'a provider that is none',
      ['pricing', 'set', 'm', '--provider', 'opnai', '--input', '1'],
      2,
      'did you mean openai?',
    ],
    [
      'a revision that is none',
      ['pricing', 'rollback', '--to', '999'],
      4,
      'There is no installation of prices to withdraw',
    ],
  ])('refuses %s', async (_, argv, code, message) => {
    expect(await here(...argv)).toMatchObject({code, stderr: expect.stringContaining(message)})
  })
})

describe('a source at a URL', () => {
  let server: Server
  let url: string
  let held: Record<string, string>
  beforeAll(async () => {
    server = createServer((request, reply) => {
      const said = held[request.url!]
      reply.statusCode = said === undefined ? 404 : 200
      reply.end(said)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test('is a list of prices, or a service that is asked for providers', async () => {
    held = {
      '/list.json?token=hunter2': JSON.stringify({
        format: 'gateway-prices/1',
        providers: {openai: {'gpt-4o': priced(0.0004)}},
      }),
      '/pricing/openai': JSON.stringify({'gpt-4o': priced(0.0005)}),
      '/pricing/groq.json': JSON.stringify({'a-new-one': priced(0.0006)}),
    }
    expect((await here('pricing', 'sync', `${url}/list.json?token=hunter2`)).code).toBe(0)
    expect(await inputOf('gpt-4o')).toBe(0.0004)
    expect((await here('pricing', 'revisions')).stdout).not.toContain('hunter2')
    expect((await here('pricing', 'sync', url, '--provider', 'openai', 'groq')).code).toBe(0)
    expect([await inputOf('gpt-4o'), await inputOf('a-new-one', 'groq')]).toEqual([0.0005, 0.0006])
  })

  test('that fails installs nothing and is told without its secrets', async () => {
    held = {'/pricing/openai': JSON.stringify({'gpt-4o': priced(0.0005)}), '/page': '<html>'}
    for (const [argv, code, message] of [
      [[`${url}/none?token=hunter2`], 1, '/none answered 404.'],
      [[`${url}/page`], 2, '/page holds is not JSON.'],
      [[url, '--provider', 'openai', 'groq'], 1, '/pricing/groq answered 404.'],
      [['http://127.0.0.1:1/x?token=hunter2'], 1, 'http://127.0.0.1:1/x could not be read'],
    ] as const) {
      const {stderr, ...said} = await here('pricing', 'sync', ...argv)
      expect([said.code, stderr]).toEqual([code, expect.stringContaining(message)])
      expect(stderr).not.toContain('hunter2')
    }
    expect(await inputOf('gpt-4o')).toBe(0.00025)
  })
})

describe('gateway bundle', () => {
  const create = (...more: string[]) =>
    here('bundle', 'create', '--key', file('k.key'), '--prices', file('prices'), ...more)
  const key = ['--public-key']

  beforeAll(async () => {
    await here('bundle', 'keygen', '--out', file('k'))
    await here('bundle', 'keygen', '--out', file('other'))
    key.push(file('k.pub'))
    await create('--serial', '1', '--out', file('one.bundle'), '--note', 'January')
  })

  test('makes keys of which the secret one is its owner’s alone, and never writes over one', async () => {
    expect(statSync(file('k.key')).mode & 0o777).toBe(0o600)
    const before = readFileSync(file('k.key'), 'utf8')
    expect(await here('bundle', 'keygen', '--out', file('k'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is there already'),
    })
    expect(readFileSync(file('k.key'), 'utf8')).toBe(before)
  })

  test('is verified without a gateway', async () => {
    const {code, stdout} = await run(['bundle', 'verify', file('one.bundle'), '--offline', ...key])
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^The bundle is whole: serial 1, made on .*, signed with the key [0-9a-f]{16} \(January\)\.\n$/,
      ),
    ])
    expect(
      await run(['bundle', 'verify', file('one.bundle'), '--offline', '--public-key', file('other.pub')]),
    ).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('which is not trusted here'),
    })
  })

  test('is not made of prices that no gateway would take', async () => {
    mkdirSync(file('wrong'), {recursive: true})
    writeFileSync(file('wrong/openai.json'), JSON.stringify({m: priced(-1)}))
    expect(
      await here('bundle', 'create', '--key', file('k.key'), '--prices', file('wrong'), '--out', file('wrong.bundle')),
    ).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('providers.openai.m.pricing_config.pay_as_you_go.request_token.price'),
    })
  })

  test('of the program’s own prices changes nothing at a gateway of the same version', async () => {
    await here('bundle', 'create', '--key', file('k.key'), '--serial', '50', '--out', file('own.bundle'))
    const {stdout} = await here('bundle', 'verify', file('own.bundle'), ...key)
    expect(stdout).toMatch(/ 2\d\d\d prices: 0 added, 0 changed, 0 removed\. Nothing was installed\.\n$/)
  })

  test('killed half-way (SIGKILL) leaves the prices of before; then it is applied whole', async () => {
    const rows = Object.fromEntries(Array.from({length: MODELS}, (_, at) => [`model-${at}`, priced(0.0001)]))
    mkdirSync(file('many'))
    writeFileSync(file('many/openai.json'), JSON.stringify({'gpt-4o': priced(0.0009), ...rows}))
    await here('pricing', 'sync', file('prices'))
    await here(
      'bundle',
      'create',
      '--key',
      file('k.key'),
      '--prices',
      file('many'),
      '--serial',
      '100',
      '--out',
      file('many.bundle'),
    )
    const script = resolve(import.meta.dirname, '../support/killed-command.ts')
    const argv = ['bundle', 'apply', file('many.bundle'), ...key, '--data-dir', data]
    for (const statement of [1, 4, 7]) {
      const killed = await promisify(execFile)(process.execPath, [script, String(statement), ...argv]).catch(
        fault => fault,
      )
      expect(killed).toMatchObject({signal: 'SIGKILL', killed: false})
      expect([
        await inputOf('gpt-4o'),
        await inputOf('a-new-one'),
        await inputOf('model-0'),
        await inputOf('model-2999'),
      ]).toEqual([0.0002, 0.0001, null, null])
      expect((await here('pricing', 'revisions')).stdout).not.toContain('bundle')
    }
    expect((await here(...argv.slice(0, -2))).stdout).toContain(
      `${MODELS + 1} prices: ${MODELS} added, 1 changed, 1 removed.`,
    )
    expect([await inputOf('gpt-4o'), await inputOf('a-new-one'), await inputOf('model-2999')]).toEqual([
      0.0009,
      null,
      0.0001,
    ])
    expect((await here('bundle', 'rollback')).code).toBe(0)
    expect([await inputOf('gpt-4o'), await inputOf('a-new-one'), await inputOf('model-2999')]).toEqual([
      0.0002,
      0.0001,
      null,
    ])
  }, 60_000)
})
