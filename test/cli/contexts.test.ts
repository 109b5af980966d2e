import {chmodSync, existsSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {ADMIN_KEY, startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type Home, home} from './terminal.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({})
})
afterAll(() => gateway.close())

const login = (at: Home, name: string, key = ADMIN_KEY) =>
  at.run(['login', gateway.url, '--key-stdin', '--name', name], {stdin: key})
const self = async (at: Home, argv: readonly string[] = [], env: Record<string, string> = {}) => {
  const {code, stdout, stderr} = await at.run([...argv, 'keys', 'self', '--json'], {env})
  return code === 0 ? (JSON.parse(stdout).key as string).slice(-4) : stderr
}
const [ADMIN, WORKSPACE] = [ADMIN_KEY.slice(-4), WORKSPACE_KEY.slice(-4)]
/** A home with contexts of these lines. */
function written(text: string, mode = 0o600) {
  const at = home()
  mkdirSync(at.root)
  writeFileSync(at.path('contexts.yaml'), text)
  chmodSync(at.path('contexts.yaml'), mode)
  return at
}
const one = (more: string) => `current: a\ncontexts:\n  - name: a\n    ${more}\n`

describe('the context of a command', () => {
  test('is the one of a flag, else of GATEWAY_CONTEXT, else what is nearer than the current one', async () => {
    const at = home()
    await login(at, 'admin')
    await login(at, 'work', WORKSPACE_KEY)
    expect(await self(at)).toBe(WORKSPACE)
    expect(await self(at, ['--context', 'admin'])).toBe(ADMIN)
    expect(await self(at, [], {GATEWAY_CONTEXT: 'admin'})).toBe(ADMIN)
    expect(await self(at, ['--context', 'work'], {GATEWAY_CONTEXT: 'admin'})).toBe(WORKSPACE)
    const place = {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY}
    expect(await self(at, [], place)).toBe(ADMIN)
    expect(await self(at, ['--context', 'work'], place)).toBe(WORKSPACE)
    expect(await self(at, ['--url', gateway.url, '--api-key', ADMIN_KEY], {GATEWAY_CONTEXT: 'work'})).toBe(ADMIN)
    expect(await self(at, ['--data-dir', join(at.folder, 'none')], {GATEWAY_CONTEXT: 'work'})).toContain(
      'There is no data directory',
    )
    expect(await self(at, [], {GATEWAY_DATA_DIR: join(at.folder, 'none')})).toContain('There is no data directory')
    expect(await self(at, ['--context', 'work', '--api-key', ADMIN_KEY])).toBe(ADMIN)
  })

  test('is not the current one beside ./.gateway', async () => {
    const at = home()
    await login(at, 'admin')
    const cwd = join(at.folder, 'here')
    mkdirSync(join(cwd, '.gateway'), {recursive: true})
    const {stderr} = await at.run(['keys', 'list'], {cwd})
    expect(stderr).toContain('There is no data directory')
    expect(await at.run(['--context', 'admin', 'keys', 'list'], {cwd})).toMatchObject({code: 0})
    const again = ['login', gateway.url, '--key-stdin', '--name', 'admin']
    expect((await at.run(again, {cwd, stdin: ADMIN_KEY})).stderr).toBe(
      'Commands here work on ./.gateway all the same; with --context admin on this gateway.\n',
    )
  })

  test('A8: is named first on a terminal, and in no script', async () => {
    const at = home()
    await login(at, 'prod')
    const argv = ['--context', 'prod', 'keys', 'list']
    expect((await at.run(argv, {is_terminal: true})).stderr).toMatch(
      new RegExp(`^prod \\(${gateway.url.replaceAll('.', '\\.')}\\):\n`),
    )
    expect((await at.run(argv)).stderr).toBe('')
    const made = await at.run(['--context', 'prod', 'keys', 'create', 'blue'])
    expect(made).toMatchObject({code: 0})
    expect((await gateway.admin<{data: {name: string}[]}>('GET', '/api-keys')).data.map(each => each.name)).toContain(
      'blue',
    )
  })

  test('may be a data directory, to which no key belongs', async () => {
    const at = written(one(`data_dir: ${gateway.folder}`))
    expect(await at.run(['keys', 'list', '--json'])).toMatchObject({code: 0})
    expect(await at.run(['contexts', 'list'])).toMatchObject({code: 0, stdout: expect.stringContaining(gateway.folder)})
  })

  test('may have its key of a command', async () => {
    expect(await self(written(one(`url: ${gateway.url}\n    key_command: echo ${ADMIN_KEY}`)))).toBe(ADMIN)
    expect(await self(written(one(`url: ${gateway.url}\n    key_command: exit 3`)))).toContain('failed with 3')
    expect(await self(written(one(`url: ${gateway.url}\n    key_command: echo a b`)))).toContain('gives no key')
  })

  test('is refused where another place is given too, and where a command has none', async () => {
    const at = home()
    await login(at, 'prod')
    for (const place of ['--url', '--data-dir'])
      expect(await at.run(['--context', 'prod', place, gateway.url, 'keys', 'list'])).toMatchObject({
        code: 2,
        stderr: `gateway: --context and ${place} are both given; keep one.\n`,
      })
    for (const command of ['migrate', 'ledger verify', 'certs list', 'config show'])
      expect(await at.run(['--context', 'prod', ...command.split(' ')])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('works on a data directory, and in no context'),
      })
    expect(await at.run(['--context', 'prod', '--organisation', 'x', 'keys', 'list'])).toMatchObject({code: 2})
    expect(await self(at, ['--context', 'nowhere'])).toContain('There is no context nowhere.')
    expect(await self(at, [], {GATEWAY_CONTEXT: 'nowhere'})).toContain('gateway contexts list shows them')
  })
})

describe('the files', () => {
  test.each([[0o644], [0o640], [0o620], [0o604]])('A6: contexts of mode %o are refused with the chmod', async mode => {
    const at = written(one(`url: ${gateway.url}`), mode)
    const path = at.path('contexts.yaml')
    for (const argv of [['keys', 'list'], ['contexts', 'list'], ['login', gateway.url], ['logout']])
      expect(await at.run(argv)).toEqual({
        code: 1,
        stdout: '',
        stderr: `gateway: ${path} is open to others (mode 0${mode.toString(8)}). Close it: chmod 600 ${path}\n`,
      })
  })

  test('A6: so is a key that others may read', async () => {
    const at = home()
    await login(at, 'prod')
    chmodSync(at.path('keys', 'prod'), 0o640)
    expect(await self(at)).toContain(`chmod 600 ${at.path('keys', 'prod')}`)
  })

  test.each([
    ['no YAML', 'a: [', 'it is no YAML'],
    ['a list', '- a', 'it should hold current and contexts'],
    ['aliases', 'x: &x [1]\ny: *x', 'it is no YAML'],
    ['a number for a context', 'contexts: [7]', 'contexts[0] is no context'],
    ['a name that is a path', 'contexts: [{name: ../x, url: "https://x.example"}]', 'contexts[0].name'],
    ['a name twice', `contexts: [${'{name: a, url: "https://x.example"}, '.repeat(2)}]`, 'a name comes twice'],
    ['no place', 'contexts: [{name: a}]', 'url, or data_dir, and not both'],
    ['two places', 'contexts: [{name: a, url: "https://x.example", data_dir: /x}]', 'url, or data_dir, and not both'],
    ['a number for a file', 'contexts: [{name: a, url: "https://x.example", key_file: 7}]', 'contexts[0].key_file'],
  ])('contexts with %s are refused by the place, and stay', async (_, text, reason) => {
    const at = written(text)
    expect(await at.run(['contexts', 'list'])).toMatchObject({code: 2, stderr: expect.stringContaining(reason)})
    expect(at.text('contexts.yaml')).toBe(text)
  })

  test('a plain address that was written by hand gets no key', async () => {
    const at = written(one('url: http://gateway.example.com\n    key_command: exit 9'))
    expect(await self(at)).toContain('plain http')
  })

  test('members of others stay, a link stays a link, and nothing half written is left', async () => {
    const at = written(one('url: https://x.example\n    colour: red'))
    renameSync(at.path('contexts.yaml'), join(at.folder, 'dotfiles.yaml'))
    symlinkSync(join(at.folder, 'dotfiles.yaml'), at.path('contexts.yaml'))
    await login(at, 'prod')
    expect(at.text('contexts.yaml')).toContain('colour: red')
    expect(lstatSync(at.path('contexts.yaml')).isSymbolicLink()).toBe(true)
    expect(at.files().filter(path => path.endsWith('.new'))).toEqual([])
    expect(lstatSync(join(at.folder, 'dotfiles.yaml')).mode & 0o777).toBe(0o600)
  })

  test('without a home there is none, and login says so', async () => {
    const at = home()
    const env = {XDG_CONFIG_HOME: '', HOME: ''}
    expect(await at.run(['contexts', 'list'], {env})).toMatchObject({code: 0, stdout: ''})
    const outcome = await at.run(['login', gateway.url, '--key-stdin'], {env, stdin: ADMIN_KEY})
    expect(outcome).toMatchObject({code: 1, stderr: expect.stringContaining('neither XDG_CONFIG_HOME nor HOME is set')})
  })

  test('HOME is for where XDG_CONFIG_HOME is not, or is no whole path', async () => {
    const at = home()
    const env = {XDG_CONFIG_HOME: 'relative', HOME: at.folder}
    await at.run(['login', gateway.url, '--key-stdin', '--name', 'a'], {env, stdin: ADMIN_KEY})
    expect(existsSync(join(at.folder, '.config', 'gateway', 'keys', 'a'))).toBe(true)
  })
})

describe('gateway contexts', () => {
  test('list marks the current one, use changes it, delete takes it away with its key', async () => {
    const at = home()
    await login(at, 'prod')
    await login(at, 'ci', WORKSPACE_KEY)
    const {data, total} = JSON.parse((await at.run(['contexts', 'list', '--json'])).stdout)
    expect([total, data.map((each: {name: string; current: boolean}) => [each.name, each.current])]).toEqual([
      2,
      [
        ['ci', true],
        ['prod', false],
      ],
    ])
    expect(await at.run(['contexts', 'use', 'prod'])).toEqual({
      code: 0,
      stdout: `Commands work on prod (${gateway.url}) from now on.\n`,
      stderr: '',
    })
    expect((await at.run(['contexts', 'list'])).stdout).toMatch(/^\* +prod /m)
    expect((await at.run(['contexts', 'list', '-q'])).stdout).toBe('ci\nprod\n')
    expect(await at.run(['contexts', 'delete', 'prod'])).toMatchObject({code: 0})
    expect(at.modes()).toEqual(['contexts.yaml 600', 'keys/ci 600'])
    expect(at.text('contexts.yaml')).not.toContain('current')
    for (const argv of [['use', 'prod'], ['show', 'prod'], ['delete', 'prod'], ['show']])
      expect(await at.run(['contexts', ...argv])).toMatchObject({code: 3})
  })

  test('no output has a key', async () => {
    const at = home()
    const outcome = [await login(at, 'prod')]
    for (const argv of [['contexts', 'list'], ['contexts', 'show'], ['contexts', 'use', 'prod'], ['logout']])
      outcome.push(await at.run([...argv, '--json']))
    expect(outcome.map(({code}) => code)).toEqual([0, 0, 0, 0, 0])
    expect(JSON.stringify(outcome)).not.toContain(ADMIN_KEY)
    expect(JSON.parse(outcome.at(-1)!.stdout)).toEqual({name: 'prod', revoked: null})
  })

  test('a key file that is not ours is left where it is', async () => {
    const at = written(one(`url: ${gateway.url}\n    key_file: ../mine`))
    writeFileSync(join(at.folder, 'mine'), ADMIN_KEY, {mode: 0o600})
    expect(await self(at)).toBe(ADMIN)
    await at.run(['contexts', 'delete', 'a'])
    expect(existsSync(join(at.folder, 'mine'))).toBe(true)
  })
})

describe('the gateway of gateway login', () => {
  test('is that of the context where none is named, and a name leads to one gateway', async () => {
    const at = home()
    await login(at, 'prod')
    expect(await at.run(['login', '--key-stdin', '-q'], {stdin: WORKSPACE_KEY})).toMatchObject({stdout: 'prod\n'})
    expect(await self(at)).toBe(WORKSPACE)
    const other = ['login', 'https://other.example', '--key-stdin', '--name', 'prod']
    expect(await at.run(other, {stdin: ADMIN_KEY})).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('gateway contexts delete prod'),
    })
    expect(await home().run(['login'])).toMatchObject({code: 2, stderr: expect.stringContaining('is missing')})
    expect(await home().run(['login', gateway.url, '--name', 'Prod'])).toMatchObject({code: 2})
  })

  test('has its host and port for a name, and no /v1', async () => {
    const at = home()
    const outcome = await at.run(['login', `${gateway.url.replace('http://', '')}/v1/`, '--key-stdin', '--json'], {
      stdin: ADMIN_KEY,
    })
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      name: new URL(gateway.url).host.replace(':', '-'),
      url: gateway.url,
    })
  })

  test('may be that of the environment', async () => {
    const at = home()
    const env = {GATEWAY_URL: gateway.url}
    const outcome = await at.run(['login', '--key-stdin', '--name', 'a'], {env, stdin: ADMIN_KEY})
    expect(outcome).toMatchObject({code: 0, stderr: expect.stringContaining('work on GATEWAY_URL all the same')})
  })
})
