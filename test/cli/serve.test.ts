import {existsSync, mkdtempSync, readFileSync, rmSync, statSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, onTestFinished, test, vi} from 'vitest'
import {main} from '../../cli/index.ts'
import {type CreateApp, checkDirectory, type OpenApp} from '../../cli/open.ts'
import type {FirstRun} from '../../src/admin/first-run.ts'
import {DataDirFault} from '../../src/store/data-dir.ts'
import {worldOf} from './support.ts'

const ADMIN = 'gk-admin-canary-012345'
const WORKSPACE = 'gk-workspace-canary-012345'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-serve-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

function firstRun(given = false): FirstRun {
  const ids = {organisation_id: '1', workspace_id: '2', workspace_slug: 'ws-shared-1a2b3c'}
  return {...ids, admin_key: {key: ADMIN, given}, workspace_key: {key: WORKSPACE, given}}
}

/** Serves with an app that says what is done to it; `raise` signals once it listens. */
async function serve(
  options: {
    argv?: string[]
    app?: Partial<OpenApp>
    fault?: Error
    terminal?: number
    signals?: number
    apart_ms?: number
    hangups?: number
    is_service?: true
    /** Once with the word that it is ready. */
    hangs_up_when_ready?: true
  } = {},
) {
  const done: string[] = []
  let raise: (name: string) => void = () => undefined
  const createApp: CreateApp = async (settings, {role, demo}) => {
    if (options.fault) throw options.fault
    done.push(`create ${role}${demo ? ' demo' : ''}`)
    const app: OpenApp = {
      settings,
      first_run: undefined,
      notes: [],
      reload() {
        done.push('reload')
        return {taken: ['LOG_LEVEL'], need_restart: ['PORT']}
      },
      inject: async () => ({status: 200, body: {}}),
      async listen() {
        done.push('listen')
        for (let count = options.hangups ?? 0; count > 0; count--) setTimeout(() => raise('SIGHUP'), 0)
        setTimeout(() => {
          for (let count = options.signals ?? 1; count > 0; count--, now_ms += options.apart_ms ?? 0) raise('SIGTERM')
        }, 20)
        return {url: 'http://127.0.0.1:8787'}
      },
      async drain() {
        done.push('drain')
      },
      async close() {
        done.push('close')
      },
      ...options.app,
    }
    return app
  }
  if (options.hangs_up_when_ready) {
    let is_ready = false
    vi.doMock('../../src/base/notify.ts', () => ({
      async notifyServiceManager(state: string) {
        done.push(state)
        if (state === 'ready' && !is_ready) raise('SIGHUP')
        is_ready = true
      },
    }))
    onTestFinished(() => void vi.doUnmock('../../src/base/notify.ts'))
  }
  let now_ms = 0
  const {world, said, exits} = worldOf({
    createApp,
    now_ms: () => now_ms,
    ...(options.terminal !== undefined && {terminal: options.terminal}),
    ...(options.is_service && {stdin: ''}),
    onListening(given) {
      raise = given
    },
  })
  const code = await main(['serve', '--data-dir', folder, ...(options.argv ?? [])], world)
  return {code, done, exits, ...said()}
}

describe('gateway serve', () => {
  test('serves until a signal, then drains, closes and ends with 0', async () => {
    const {code, done, exits, stdout, stderr} = await serve({argv: ['--demo']})
    expect({code, done, exits, stdout}).toEqual({
      code: 0,
      done: ['create server demo', 'listen', 'drain', 'close'],
      exits: [],
      stdout: '',
    })
    // biome-ignore format: short
    const lines = stderr.trimEnd().split('\n').map(line => JSON.parse(line) as {msg: string; url?: string})
    expect(lines.map(({msg}) => msg)).toEqual(['listening', 'stopping: running calls may finish', 'stopped'])
    expect(lines[0]!.url).toBe('http://127.0.0.1:8787')
  })

  test('a second signal ends it at once', async () => {
    expect((await serve({signals: 2, apart_ms: 2000})).exits).toEqual([1])
  })

  test('a signal that comes twice, as npm hands it on, counts once', async () => {
    expect((await serve({signals: 2, apart_ms: 5})).exits).toEqual([])
  })

  test('a hang-up has a service read its settings again, and says what needs a restart', async () => {
    const {code, done, stderr} = await serve({hangups: 2, is_service: true})
    expect([code, done]).toEqual([0, ['create server', 'listen', 'reload', 'reload', 'drain', 'close']])
    expect(stderr).toContain('"reloaded":["LOG_LEVEL"],"need_restart":["PORT"],"msg":"settings were read again"')
  })

  test('a hang-up is heard from the moment that it says it is ready', async () => {
    const {done} = await serve({is_service: true, hangs_up_when_ready: true})
    expect(done).toEqual([
      'create server',
      'listen',
      'ready',
      'reloading',
      'reload',
      'ready',
      'stopping',
      'drain',
      'close',
    ])
  })

  test('settings that are wrong by then change nothing, and end nothing', async () => {
    const fault = () => {
      throw new Error('TLS_KEY and TLS_CERT do not go together')
    }
    const {code, done, stderr} = await serve({hangups: 1, is_service: true, app: {reload: fault}})
    expect([code, done]).toEqual([0, ['create server', 'listen', 'drain', 'close']])
    expect(stderr).toContain('TLS_KEY and TLS_CERT do not go together')
    expect(stderr).toContain('settings could not be read again: all stay as they were')
  })

  test('a terminal that closes stops what it began: calls may finish, and it is told once', async () => {
    const {code, done, exits} = await serve({hangups: 3, signals: 0, terminal: 100})
    expect([code, done, exits]).toEqual([0, ['create server', 'listen', 'drain', 'close'], []])
  })

  test('on a terminal it says where it listens, the keys of the first run, and a call that works at once', async () => {
    const {stdout, stderr} = await serve({argv: ['--demo'], app: {first_run: firstRun()}, terminal: 100})
    expect(stdout).toContain('Listening on http://127.0.0.1:8787')
    expect(stdout).toContain(ADMIN)
    expect(stdout).toContain(
      `curl http://127.0.0.1:8787/v1/chat/completions -H "x-gateway-api-key: ${WORKSPACE}" -H "x-gateway-provider: @demo"`,
    )
    expect(stdout).toContain('"model":"echo"')
    expect(stderr).not.toContain('canary')
    expect(existsSync(join(folder, 'first-run.txt'))).toBe(false)
  })

  test('elsewhere the keys go into a file of the data directory, and the log says only where', async () => {
    const {stdout, stderr} = await serve({app: {first_run: firstRun()}})
    const path = join(folder, 'first-run.txt')
    expect(stdout).toBe('')
    expect(stderr).not.toContain('canary')
    expect(stderr).toContain(path)
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
    expect(readFileSync(path, 'utf8')).toContain(
      `admin key      ${ADMIN}\nworkspace key  ${WORKSPACE}\nworkspace      ws-shared-1a2b3c\n`,
    )
  })

  test('keys that the operator gave are shown nowhere', async () => {
    for (const terminal of [undefined, 100]) {
      const {stdout, stderr} = await serve({app: {first_run: firstRun(true)}, ...(terminal && {terminal})})
      expect(stdout + stderr).not.toContain('canary')
      expect(existsSync(join(folder, 'first-run.txt'))).toBe(false)
    }
  })

  test('a port in use does not lose the keys of the first run', async () => {
    const inUse = Object.assign(new Error('listen EADDRINUSE'), {code: 'EADDRINUSE'})
    const {code, done, stderr} = await serve({app: {first_run: firstRun(), listen: () => Promise.reject(inUse)}})
    expect({code, done}).toEqual({code: 1, done: ['create server', 'close']})
    expect(stderr).toContain(
      'gateway: The address 127.0.0.1:8787 is in use by another process. Stop that one, or choose another port with --port',
    )
    expect(readFileSync(join(folder, 'first-run.txt'), 'utf8')).toContain(ADMIN)
  })

  test.each([
    [new DataDirFault('The data directory is taken.'), 'gateway: The data directory is taken.\n'],
    [
      Object.assign(new Error('no space'), {code: 'ENOSPC'}),
      'gateway: The disk is full. Free some space where the data directory is, and try again.\n',
    ],
  ])('%s ends with 1 and a sentence', async (fault, sentence) => {
    expect(await serve({fault})).toMatchObject({code: 1, stdout: '', stderr: sentence})
  })

  test('a fault nobody foresaw is told with its stack', async () => {
    const {code, stderr} = await serve({fault: new TypeError('oops')})
    expect(code).toBe(1)
    expect(stderr).toMatch(/^gateway: Something went wrong inside the gateway: oops\nTypeError: oops\n {4}at /)
  })

  test('a wrong setting ends with 2 before anything is opened', async () => {
    const {code, done, stderr} = await serve({argv: ['--port', 'many']})
    expect({code, done}).toEqual({code: 2, done: []})
    expect(stderr).toContain('--port is "many"')
  })
})

test('a directory that is closed to the user is not taken for a missing one', () => {
  const failing = (code: string) => () => {
    throw Object.assign(new Error(code), {code})
  }
  expect(() => checkDirectory('/srv/gateway', failing('EACCES'))).toThrow(
    'The data directory /srv/gateway is closed to you.',
  )
  expect(() => checkDirectory('/srv/gateway', failing('ENOENT'))).not.toThrow()
})
