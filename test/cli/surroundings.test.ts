import {spawn, spawnSync} from 'node:child_process'
import {chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {ended} from '../support/namespace.ts'
import {RING} from '../support/ring.ts'

/** Commands where a process has less than usual: they work, or say in one sentence what is missing. */

const ROOT = resolve(import.meta.dirname, '../..')
const GATEWAY = [process.execPath, '--no-wasm-generic-wrapper', join(ROOT, 'bin/gateway.ts')]
/** A user that the system does not know. */
const STRANGER = 54_321
const NO_TRACE = /inside the gateway|^\s+at .+:\d+/m

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-surroundings-')))
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

/** Runs a line of a shell in `folder`, with nothing in its environment but PATH. */
function line(command: string) {
  const env = {PATH: process.env.PATH ?? '', NODE_NO_WARNINGS: '1'}
  return ended(spawn('sh', ['-c', command, 'sh', ...GATEWAY], {cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe']}))
}

describe('a working directory that was removed', () => {
  const gone = (words: string) => line(`mkdir gone && cd gone && rmdir "$PWD" && exec "$@" ${words}`)
  beforeAll(async () => {
    expect(await line('exec "$@" init --data-dir data')).toMatchObject({code: 0})
  })

  test('a directory that is named in full is found', async () => {
    const {code, stderr} = await gone(`keys list --data-dir ${join(folder, 'data')}`)
    expect([code, stderr]).toEqual([0, expect.not.stringMatching(NO_TRACE)])
  })

  test('one that is named from there is not, and the sentence says why', async () => {
    const {code, stderr} = await gone('keys list --data-dir data')
    const sentence = 'The working directory was removed. Change to another one, and try again.'
    expect([code, stderr]).toEqual([1, `gateway: ${sentence}\n`])
  })

  test('a command for a gateway elsewhere ends at the network', async () => {
    const {code, stderr} = await gone('keys list --url http://127.0.0.1:9 --api-key gk-x')
    expect([code, stderr]).toEqual([1, expect.stringContaining('http://127.0.0.1:9')])
    expect(stderr).not.toMatch(NO_TRACE)
  })
})

/** Whether a command of the system works here; the long ring needs each. */
function works(command: string, ...words: string[]): boolean {
  const is_there = spawnSync(command, words, {stdio: 'ignore'}).status === 0
  if (!is_there && RING === 'full') throw new Error(`${command} ${words.join(' ')} does not work here.`)
  if (!is_there) console.log(`skipped: ${command} ${words.join(' ')} does not work here`)
  return is_there
}

const AS_STRANGER = ['--reuid', String(STRANGER), '--regid', String(STRANGER), '--clear-groups']

/** Node and the sources have to be readable by another user. */
const READABLE = `test -r ${ROOT}/bin/gateway.ts -a -x ${process.execPath}`
const is_other_user = works('setpriv', ...AS_STRANGER, 'sh', '-c', READABLE)
describe.runIf(is_other_user)('a user without an entry', () => {
  const stranger = (words: string, env = '') =>
    line(`exec setpriv ${AS_STRANGER.join(' ')} env -i PATH="$PATH" ${env} "$@" ${words}`)
  beforeAll(() => {
    mkdirSync(join(folder, 'theirs'))
    chownSync(join(folder, 'theirs'), STRANGER, STRANGER)
  })

  test.each([
    ['no HOME', ''],
    ['HOME=/', 'HOME=/'],
    ['an empty HOME', 'HOME='],
  ])('%s: a data directory is made and read', async (_, env) => {
    const data = join(folder, 'theirs', `data-${env.length}`)
    for (const words of [`init --data-dir ${data}`, `keys list --data-dir ${data}`, 'version']) {
      const {code, stderr} = await stranger(words, env)
      expect([words, code, stderr]).toEqual([words, 0, expect.not.stringMatching(NO_TRACE)])
    }
    expect(existsSync(join(data, 'gateway.db'))).toBe(true)
  })

  test('a data directory of another user is refused with its path and what to do', async () => {
    for (const words of ['serve --port 0', 'keys list']) {
      const {code, stderr} = await stranger(`${words} --data-dir ${join(folder, 'data')}`)
      expect([words, code === 0, stderr]).toEqual([words, false, expect.stringContaining(join(folder, 'data'))])
      expect(stderr).not.toMatch(NO_TRACE)
    }
  })
})

const readOnly = (path: string) => `mount --bind ${path} ${path} && mount -o remount,ro,bind ${path}`
const has_mounts = works('unshare', '-rm', 'sh', '-c', readOnly(tmpdir()))
describe.runIf(has_mounts)('a file system that may only be read', () => {
  const inside = (words: string) =>
    line(`exec unshare -rm sh -c '${readOnly(folder)} && cd ${folder} && exec "$@"' sh "$@" ${words}`)

  test.each(['serve --port 0', 'init'])('%s is refused with the directory and the option', async words => {
    for (const data of ['data', 'new']) {
      const {code, stderr} = await inside(`${words} --data-dir ${join(folder, data)}`)
      expect([words, data, code, stderr]).toEqual([words, data, 1, expect.stringMatching(/read-only.*--data-dir/i)])
      expect(stderr).not.toMatch(NO_TRACE)
    }
  })
})
