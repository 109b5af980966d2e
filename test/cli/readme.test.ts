import {type ChildProcess, spawn} from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {delimiter, join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {leaveNote} from '../../cli/served.ts'
import {ownDataDir} from '../../src/store/data-dir.ts'
import {readLine} from './examples/shell.ts'
import {run, type Said} from './support.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SERVE = 'gateway serve --data-dir ./data'
/** The lines of the README that run gateway, without the one that serves. */
const LINES = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
  .flatMap(([, block]) => block!.split('\n'))
  .filter(line => /(^|\| )gateway /.test(line))

let home: string
let work: string
const running: ChildProcess[] = []

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'gateway-readme-'))
  work = join(home, 'work')
  for (const folder of ['work', 'other', 'bin', 'runtime']) mkdirSync(join(home, folder))
  writeFileSync(join(home, 'bin/gateway'), `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/bin/gateway.ts" "$@"\n`)
  chmodSync(join(home, 'bin/gateway'), 0o755)
  process.chdir(work)
})
afterAll(async () => {
  process.chdir(ROOT)
  for (const child of running) await ended(child, 'SIGKILL')
  rmSync(home, {recursive: true, force: true})
})

const environment = () => ({
  HOME: home,
  XDG_RUNTIME_DIR: join(home, 'runtime'),
  PATH: [join(home, 'bin'), process.env.PATH].join(delimiter),
  OPENAI_API_KEY: 'sk-of-a-test',
  PORT: '0',
})

/**
 * Runs a line as a shell would, in the folder that the README is read in; one that goes on is ended by Ctrl-C once it
 * has shown what there is.
 */
async function shell(text: string): Promise<Said> {
  const line = readLine(text)!
  let raise: (name: string) => void = () => undefined
  return run(line.argv, {
    env: environment(),
    now_ms: Date.now(),
    ...(line.input && {stdin: 'text' in line.input ? line.input.text : ''}),
    onListening(given) {
      raise = given
    },
    onSleep: () => raise('SIGINT'),
  })
}

/** Serves from a folder of its own, until it is killed; gives its address. */
async function serve(line: string): Promise<{child: ChildProcess; url: string}> {
  const child = spawn('sh', ['-c', `exec ${line}`], {
    cwd: work,
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  running.push(child)
  const url = await new Promise<string>((done, fail) => {
    let said = ''
    child.stderr!.on('data', text => {
      said += text
      const [, url] = /"url":"(http:[^"]+)"/.exec(said) ?? []
      if (url) done(url)
    })
    child.on('close', code => fail(new Error(`${line} ended with ${code}: ${said}`)))
  })
  await expect.poll(() => notes().some(name => name === `${child.pid}.json`)).toBe(true)
  return {child, url}
}

async function ended(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise(done => child.on('close', done))
  child.kill(signal)
  await closed
}

const folder = () => join(home, 'runtime/gateway/served')
const notes = () => (existsSync(folder()) ? readdirSync(folder()) : [])

describe('a newcomer types the README', () => {
  let first: Awaited<ReturnType<typeof serve>>

  test('nothing is served yet: the path that was looked for, and two whole commands', async () => {
    const {code, stderr} = await shell('gateway keys list --limit 5')
    expect(code).toBe(1)
    expect(stderr).toContain(`There is no data directory at ${join(work, '.gateway')}.`)
    expect(stderr).toContain('gateway init --data-dir ./.gateway')
    expect(stderr).toContain('gateway keys list --limit 5 --data-dir DIR')
  })

  test('one that is installed for another user: the whole line to type', async () => {
    const files = {
      '/etc/gateway/client.yaml': 'data_dir: /nowhere/gateway\nuser: gateway\nurl: http://127.0.0.1:8787\n',
    }
    const {code, stderr} = await run(['keys', 'list', '--limit', '5'], {env: environment(), files})
    expect([code, stderr]).toEqual([
      1,
      'gateway: The gateway of this machine keeps its data in /nowhere/gateway, which belongs to the user gateway.\n  sudo -u gateway gateway keys list --limit 5 --data-dir /nowhere/gateway\n',
    ])
  })

  test('each of its lines runs, in order and as it stands, beside its own serve', async () => {
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(SERVE)
    first = await serve(SERVE)
    expect(notes()).toEqual([`${first.child.pid}.json`])
    expect((statSync(join(folder(), notes()[0]!)).mode & 0o777).toString(8)).toBe('600')
    const lines = LINES.filter(line => !line.startsWith('gateway serve'))
    expect(lines.length).toBeGreaterThanOrEqual(8)
    let id = ''
    for (const line of lines) {
      if (line.includes('logs') && !id) id = await refusedCall(first.url)
      const {code, stderr} = await shell(line.replace(/\bID\b/, id))
      expect({line, code, stderr: code === 0 ? '' : stderr}).toEqual({line, code: 0, stderr: ''})
    }
  }, 120_000)

  test('a refused call shows its key and its reason, in the list and alone; -q prints ids', async () => {
    const listed = (await shell('gateway logs list')).stdout
    expect(listed).toMatch(/^TIME .* KEY +REASON$/m)
    expect(listed).toMatch(/asker +The provider openai needs credentials/)
    const [id] = (await shell('gateway logs list -q')).stdout.trim().split('\n')
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    const shown = (await shell(`gateway logs show ${id}`)).stdout
    expect(shown).toMatch(/^reason +The provider openai needs credentials/m)
    expect(shown).toMatch(/^key +asker \([0-9a-f-]{36}\)$/m)
    expect(shown).toMatch(/^cost +\$0\.00$/m)
  })

  test('what deletes does not guess; a hint carries the place that was named', async () => {
    const {code, stderr} = await shell('gateway keys delete my-app --yes')
    const line = `gateway keys delete my-app --yes --data-dir ${join(work, 'data')}`
    expect([code, stderr.includes(`\n  ${line}\n`)]).toEqual([1, true])
    for (const words of ['api DELETE /admin/api-keys/my-app', 'api api_keys.delete my-app', 'apply --prune -f FILE']) {
      const asked = await shell(`gateway ${words}`)
      expect([asked.code, asked.stderr]).toEqual([
        1,
        expect.stringContaining(`gateway ${words} --data-dir ${join(work, 'data')}`),
      ])
    }
    const wrong = await shell('gateway providers show nobody --data-dir ./data')
    expect(wrong.stderr).toContain('gateway providers list --data-dir ./data shows what there is.')
    expect((await shell(line)).code).toBe(0)
  })

  test('of two that are served, both lines are printed and nothing is done', async () => {
    // held by this process, as a second gateway would
    const other = ownDataDir(join(home, 'other/data'))
    const forget = leaveNote(environment(), {
      data_dir: other.folder,
      url: 'http://127.0.0.1:1',
      pid: process.pid,
      started_at: '2026-03-04T05:06:07.000Z',
    })
    const {code, stdout, stderr} = await shell('gateway keys create blue')
    expect([code, stdout]).toEqual([1, ''])
    for (const place of [join(work, 'data'), join(home, 'other/data')])
      expect(stderr).toContain(`\n  gateway keys create blue --data-dir ${place}\n`)
    expect((await shell('gateway keys list --data-dir ./data')).stdout).not.toContain('blue')
    forget()
    other.release()
    expect(notes()).toEqual([`${first.child.pid}.json`])
  }, 60_000)

  test('a note that a killed gateway left is not used, and goes', async () => {
    await ended(first.child, 'SIGKILL')
    expect(notes()).toHaveLength(1)
    const {code, stderr} = await shell('gateway keys list')
    expect([code, stderr.includes('There is no data directory at')]).toEqual([1, true])
    expect(notes()).toEqual([])
  })

  /** A call without a credential of its own at a kind that needs one; gives its id in the log. */
  async function refusedCall(url: string): Promise<string> {
    const key = (await shell('gateway keys create asker --quiet')).stdout.trim()
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {'x-gateway-api-key': key, 'x-gateway-provider': 'openai', 'content-type': 'application/json'},
      body: JSON.stringify({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]}),
    })
    expect(reply.status).toBe(400)
    const listed = async () => (await shell('gateway logs list --json')).stdout
    await expect.poll(listed).toContain('"total": 1')
    return (JSON.parse(await listed()) as {data: {id: string}[]}).data[0]!.id
  }
})
