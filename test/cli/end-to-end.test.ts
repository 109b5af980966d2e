import {spawn, spawnSync} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync} from 'node:fs'
import type {AddressInfo} from 'node:net'
import {createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {createInterface} from 'node:readline'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {run} from './support.ts'

const root = resolve(import.meta.dirname, '../..')
const CANARY = 'sk-canary-0123456789abcdef'

let folder: string
let data: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-cli-'))
  data = join(folder, 'data')
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

/** A command on the data directory, in this process. */
const here = (...argv: string[]) => run([...argv, '--data-dir', data])
const json = async (...argv: string[]) => JSON.parse((await here(...argv, '--json')).stdout)

describe('on a data directory, with no server', () => {
  test('every command that works on one says that there is none, and makes none', async () => {
    for (const argv of [
      ['keys', 'list'],
      ['migrate', '--status'],
    ]) {
      expect(await here(...argv)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(`There is no data directory at ${data}.`),
      })
    }
    expect(existsSync(data)).toBe(false)
  })

  test('init makes it with its first keys, once', async () => {
    const first = await here('init')
    expect(first).toMatchObject({code: 0, stderr: ''})
    expect(first.stdout).toBe(
      `The data directory ${data} is ready.\nThe first keys are in ${join(data, 'first-run.txt')}.\n`,
    )
    expect((statSync(data).mode & 0o777).toString(8)).toBe('700')
    expect(readFileSync(join(data, 'first-run.txt'), 'utf8')).toMatch(/^admin key {6}gk-/m)
    expect((await here('init')).stdout).toBe(`The data directory ${data} is up to date.\n`)
    expect(((await json('migrate', '--status')) as {state: string}[]).every(({state}) => state === 'applied')).toBe(
      true,
    )
  })

  test('a workspace, a provider with a key, a config and keys are made, shown, changed and deleted', async () => {
    expect(await here('workspaces', 'create', 'research', '--budget', '500', '--reset', 'monthly')).toMatchObject({
      code: 0,
    })
    const files = {k: `${CANARY}\n`, 'main.json': '{"provider": "@my-openai"}'}
    const made = await run(
      ['providers', 'create', 'my-openai', '--kind', 'openai', '--key-file', 'k', '-w', 'research', '--data-dir', data],
      {files},
    )
    expect(made).toMatchObject({code: 0, stderr: ''})
    expect(await json('providers', 'list', '-w', 'research')).toMatchObject({
      total: 1,
      data: [{slug: 'my-openai', ai_provider_id: 'openai'}],
    })
    expect((await here('integrations', 'show', 'my-openai')).stdout).toMatch(/^masked_key +sk-•••••cdef$/m)
    expect((await here('integrations', 'workspaces', 'my-openai')).stdout).toMatch(/research +yes/)
    expect(
      await run(['configs', 'create', 'main', '--config', 'main.json', '-w', 'research', '--data-dir', data], {files}),
    ).toMatchObject({
      code: 0,
    })
    const [{slug}] = (await json('configs', 'list', '-w', 'research')).data
    expect((await json('configs', 'versions', slug)).data).toHaveLength(1)
    const {id} = await json('keys', 'create', 'blue', '-w', 'research', '--expires', '2100-01-01', '--config', slug)
    expect(await json('keys', 'show', 'blue')).toMatchObject({
      id,
      expires_at: '2100-01-01T00:00:00.000Z',
      scopes: ['completions.write'],
      defaults: {config_id: slug},
    })
    expect(await here('keys', 'update', 'blue', '--rate', '60rpm', '--expires', 'never')).toMatchObject({code: 0})
    expect(await json('keys', 'show', id)).toMatchObject({
      expires_at: null,
      rate_limits: [{type: 'requests', unit: 'rpm', value: 60}],
    })
    expect(await here('workspaces', 'delete', 'research')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('This workspace still has'),
    })
    for (const argv of [
      ['keys', 'delete', 'blue'],
      ['configs', 'delete', slug],
      ['providers', 'delete', 'my-openai'],
      ['integrations', 'delete', 'my-openai'],
    ])
      expect(await here(...argv)).toMatchObject({code: 0})
    expect(await here('workspaces', 'delete', 'research')).toMatchObject({code: 0})
  })

  test('refusals end with their codes', async () => {
    expect(await here('configs', 'show', 'nope')).toMatchObject({code: 3})
    expect(await here('providers', 'create', 'x', '--kind', 'openia')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean openai?'),
    })
    expect(await here('api', 'api_keys.create', 'workspace', 'service', '--name', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('scopes'),
    })
    expect((await json('integrations', 'list')).data).toEqual([])
  })

  test('a virtual key and a local model are made without a key', async () => {
    expect(await here('virtual-keys', 'create', 'old', '--kind', 'openai')).toMatchObject({
      code: 0,
      stdout: 'Created the virtual key old.\n',
    })
    expect(await here('virtual-keys', 'show', 'old')).toMatchObject({code: 0})
    expect(
      await here('providers', 'create', 'local', '--kind', 'ollama', '--custom-host', 'http://10.0.0.5:11434/v1'),
    ).toMatchObject({
      code: 0,
    })
    expect(await json('integrations', 'show', 'local')).toMatchObject({
      configurations: {custom_host: 'http://10.0.0.5:11434/v1'},
    })
  })

  test('prices are known, and those that are not are not', async () => {
    expect((await json('pricing', 'show', '--provider', 'openai', '--search', 'gpt-4o')).total).toBeGreaterThan(0)
    expect(await here('pricing', 'show', 'gpt-4o', '--provider', 'openai')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('$2.5 a million'),
    })
    expect(await here('pricing', 'show', 'nope', '--provider', 'openai')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('No price is known of nope at openai.'),
    })
    expect(await json('pricing', 'unpriced')).toMatchObject({total: 0})
  })

  test('settings are shown with their origin, secrets never', async () => {
    const {code, stdout, stderr} = await run(
      ['config', 'show', '--origin', '--json', '--port', '9000', '--data-dir', data],
      {
        env: {LOG_LEVEL: 'debug', GATEWAY_BOOTSTRAP_ADMIN_KEY: `${CANARY}${CANARY}`},
      },
    )
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
    const rows = JSON.parse(stdout) as {name: string}[]
    const row = (name: string) => rows.find(each => each.name === name)
    expect(row('PORT')).toMatchObject({value: '9000', origin: 'flag'})
    expect(row('LOG_LEVEL')).toMatchObject({value: 'debug', origin: 'environment'})
    expect(row('HOST')).toMatchObject({value: '127.0.0.1', origin: 'default'})
    expect(row('GATEWAY_BOOTSTRAP_ADMIN_KEY')).toMatchObject({value: 'set'})
    expect(stdout).not.toContain(CANARY)
  })

  test('no secret that was given lies in a file of the directory as it is', () => {
    const files = readdirSync(data, {recursive: true, withFileTypes: true}).filter(each => each.isFile())
    expect(files.length).toBeGreaterThan(2)
    for (const file of files) expect(readFileSync(join(file.parentPath, file.name)).includes(CANARY)).toBe(false)
  })
})

describe('beside a server', () => {
  test('keys made by a command work at once, calls are logged, a second server is refused, and SIGTERM ends it with 0', async () => {
    const server = spawn(process.execPath, ['bin/gateway.ts', 'serve', '--demo', '--port', '0', '--data-dir', data], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const lines: string[] = []
    const url = await new Promise<string>((done, failed) => {
      createInterface({input: server.stderr}).on('line', line => {
        lines.push(line)
        const {msg, url} = JSON.parse(line) as {msg: string; url: string}
        if (msg === 'listening') done(url)
      })
      server.once('exit', () => failed(new Error(lines.join('\n'))))
    })
    const {key} = await json('keys', 'create', 'smoke')
    const env = {GATEWAY_URL: url, GATEWAY_API_KEY: key}
    const call = {model: '@demo/echo', messages: [{role: 'user', content: 'Is anybody there?'}]}
    const said = await run(['api', 'POST', '/chat/completions', '--body', '-'], {env, stdin: JSON.stringify(call)})
    expect(said).toMatchObject({code: 0, stdout: expect.stringContaining('Is anybody there?')})
    expect(await run(['keys', 'list'], {env})).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('enough permissions'),
    })
    const {admin} = /admin key\s+(?<admin>\S+)/.exec(readFileSync(join(data, 'first-run.txt'), 'utf8'))!.groups!
    expect(await run(['keys', 'list', '--api-key-file', 'k'], {env: {GATEWAY_URL: url}, files: {}})).toMatchObject({
      code: 2,
    })
    expect(await run(['keys', 'show', 'smoke'], {env: {GATEWAY_URL: url, GATEWAY_API_KEY: admin!}})).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('smoke'),
    })
    expect(await here('serve', '--port', '0')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('another gateway serves from it'),
    })

    server.kill('SIGTERM')
    expect((await once(server, 'exit'))[0]).toBe(0)
    expect(lines.join('\n')).not.toContain(key)
    expect(await json('logs', 'list')).toMatchObject({
      total: 1,
      data: [{ai_org: 'demo', ai_model: 'echo', response_status_code: 200}],
    })
    const [{id}] = (await json('logs', 'list')).data
    expect((await here('logs', 'show', id)).stdout).toContain('Is anybody there?')
  })

  test('a port in use ends with 1 and says what to do', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const {port} = other.address() as AddressInfo
    expect(await here('serve', '--port', String(port))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`The address 127.0.0.1:${port} is in use by another process.`),
    })
    other.close()
  })

  test('the process ends with the exit code of the command, also where its reader goes away', () => {
    const gateway = `${process.execPath} bin/gateway.ts`
    expect(spawnSync('bash', ['-c', `${gateway} keys nope`], {cwd: root}).status).toBe(2)
    const {stderr} = spawnSync('bash', ['-c', `${gateway} config show --json --data-dir ${data} | head -n 1`], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
  })
})

test('prices are known without a data directory; anything else says that there is none', async () => {
  const env = {GATEWAY_DATA_DIR: join(tmpdir(), 'gateway-that-is-not-there')}
  const shown = await run(['pricing', 'show', 'gpt-4o-mini', '--provider', 'openai'], {env})
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('request_token')])
  const listed = await run(['logs', 'list'], {env})
  expect([listed.code, listed.stderr]).toEqual([1, expect.stringContaining('There is no data directory')])
})
