import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, onTestFinished, test} from 'vitest'
import {main} from '../../cli/index.ts'
import {run, worldOf} from './support.ts'

const SECRET = 'sk-canary-of-a-secret-0123456789'
const SEALING_KEY = Buffer.alloc(32, 7).toString('base64')

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-running-'))
  file = join(folder, 'settings.yaml')
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

interface Shown {
  readonly pid: number
  readonly file_faults: readonly string[]
  readonly reread: {readonly taken: string[]; readonly need_restart: string[]; readonly refused: string | null} | null
  readonly settings: readonly {name: string; value: string; origin: string; file: string | null}[]
}

/** A gateway that serves from the folder in this process, as a service: a hang-up has it read its settings again. */
async function serving(env: Record<string, string> = {}) {
  const handlers: ((name: string) => void)[] = []
  const {world, said} = worldOf({env, stdin: '', onListening: raise => void handlers.push(raise)})
  const ended = main(['serve', '--data-dir', folder, '--port', '0'], world)
  const stop = async () => {
    for (const raise of handlers.splice(0)) raise('SIGTERM')
    return ended
  }
  onTestFinished(async () => void (await stop()))
  await expect.poll(() => said().stderr, {timeout: 20_000}).toContain('"listening"')
  const reread = async () => {
    const before = times(said().stderr)
    for (const raise of handlers) raise('SIGHUP')
    await expect.poll(() => times(said().stderr), {timeout: 20_000}).toBe(before + 1)
  }
  return {stop, reread}
}

const times = (log: string) => log.split('read again').length - 1
const show = (...argv: string[]) => run(['config', 'show', '--running', '--data-dir', folder, ...argv], {env: {}})
const shown = async (): Promise<Shown> => JSON.parse((await show('--json')).stdout)
const named = ({settings}: Shown, name: string) => settings.find(row => row.name === name)!

test('settings in force are shown beside the file, through reloads that are taken and refused', async () => {
  writeFileSync(file, 'drain_timeout_ms: 700\nservice_name: first\n')
  const env = {GATEWAY_SEALING_KEY: SEALING_KEY, GATEWAY_BOOTSTRAP_ADMIN_KEY: SECRET}
  const {reread, stop} = await serving({...env, LOG_LEVEL: 'info'})
  const first = await shown()
  expect([first.pid, first.reread, first.file_faults]).toEqual([process.pid, null, []])
  expect(named(first, 'DRAIN_TIMEOUT_MS')).toMatchObject({value: '700', origin: `file:${file}`, file: null})
  expect(named(first, 'LOG_LEVEL')).toMatchObject({value: 'info', origin: 'environment', file: null})
  expect(named(first, 'GATEWAY_BOOTSTRAP_ADMIN_KEY')).toMatchObject({value: 'set', file: null})
  const note = join(folder, 'run', 'settings.json')
  expect((statSync(note).mode & 0o777).toString(8)).toBe('600')
  for (const secret of [SECRET, SEALING_KEY]) expect(readFileSync(note, 'utf8')).not.toContain(secret)

  writeFileSync(file, 'drain_timeout_ms: 900\nservice_name: second\n')
  const edited = await shown()
  expect(named(edited, 'DRAIN_TIMEOUT_MS')).toMatchObject({value: '700', file: '900'})
  await reread()
  const taken = await shown()
  expect(named(taken, 'DRAIN_TIMEOUT_MS')).toMatchObject({value: '900', file: null})
  expect(named(taken, 'SERVICE_NAME')).toMatchObject({value: 'first', file: 'second'})
  expect(taken.reread).toMatchObject({taken: ['DRAIN_TIMEOUT_MS'], need_restart: ['SERVICE_NAME'], refused: null})
  const text = await show('--changed')
  expect(text.stdout).toMatch(/SERVICE_NAME +first +second/)
  expect(text.stderr).toMatch(/Settings were read again at \S+; these need a restart: SERVICE_NAME\./)

  writeFileSync(file, 'drain_timeout_ms: soon\n')
  await reread()
  const refused = await shown()
  expect(named(refused, 'DRAIN_TIMEOUT_MS')).toMatchObject({value: '900', file: null})
  expect(refused.reread).toMatchObject({taken: [], refused: expect.stringContaining('"soon"')})
  expect(refused.file_faults).toEqual([expect.stringContaining('"soon"')])
  expect((await show()).stderr).toMatch(/read again at \S+ and refused, so all stayed as they were: .*"soon"/)

  await stop()
  expect(await show()).toMatchObject({code: 1, stderr: expect.stringContaining(`No gateway serves from ${folder}.`)})
}, 60_000)

test('settings that all are their defaults are said to be', async () => {
  const printed = await run(['config', 'show', '--changed'], {env: {}})
  expect([printed.code, printed.stdout, printed.stderr]).toEqual([0, '', 'Every setting has its default.\n'])
})
