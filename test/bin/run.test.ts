import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {text} from 'node:stream/consumers'
import {afterEach, beforeEach, expect, test} from 'vitest'

const runner = resolve(import.meta.dirname, '../../bin/run.mjs')
const LOCK = {
  packages: {
    '': {},
    'node_modules/a': {integrity: 'sha512-a'},
    'node_modules/b': {integrity: 'sha512-b', optional: true},
  },
}
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-run-'))
  mkdirSync(join(folder, 'bin'))
  cpSync(runner, join(folder, 'bin/run.mjs'))
  put('package-lock.json', LOCK)
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "$*" >>npm-calls\nexit 1\n')
  chmodSync(join(folder, 'npm'), 0o755)
})

afterEach(() => rmSync(folder, {recursive: true, force: true}))

test('threads that load TypeScript keep their wrappers: in tests, from the sources and in the executable', () => {
  // V8 that replaces one frees what a thread that has ended left behind, and the process dies (bin/run.mjs)
  const flag = '--no-wasm-generic-wrapper'
  expect(process.execArgv).toContain(flag)
  expect(readFileSync(runner, 'utf8')).toContain(`start: args => [['node', KEEPS_WRAPPERS`)
  expect(readFileSync(resolve(import.meta.dirname, '../../bin/build/executable.ts'), 'utf8')).toContain(`'${flag}'`)
})

test('a fresh clone installs first, and a failed install ends with what to do', async () => {
  const {code, stderr} = await run('check')
  expect(readFileSync(join(folder, 'npm-calls'), 'utf8')).toBe('ci --include=dev --include=optional --loglevel=error\n')
  expect(stderr).toContain('The first run needs an npm registry')
  expect(code).toBe(1)
})

test.each([
  ['holds another version of a package', {packages: {'node_modules/a': {integrity: 'sha512-old'}}}],
  ['lacks a package', {packages: {'node_modules/b': {integrity: 'sha512-b'}}}],
])('a folder of packages that %s is installed anew', async (_, found) => {
  installed(found)
  await run('check')
  expect(existsSync(join(folder, 'npm-calls'))).toBe(true)
})

test('nothing is installed when all is there, an optional package of another platform aside, and the exit code is kept', async () => {
  installed({packages: {'node_modules/a': {integrity: 'sha512-a'}}})
  writeFileSync(join(folder, 'bin/gateway.ts'), 'console.log(process.argv.slice(2).join(" ")); process.exitCode = 3')
  expect(await run('start', '--port', '0')).toEqual({code: 3, stdout: 'serve --demo --port 0\n', stderr: ''})
  expect(existsSync(join(folder, 'npm-calls'))).toBe(false)
})

test('a signal reaches the program, and its exit code comes back', async () => {
  installed({packages: {'node_modules/a': {integrity: 'sha512-a'}}})
  const program = `process.on('SIGTERM', () => { console.log('draining'); process.exit(0) }); setInterval(() => {}, 1000); console.log('up')`
  writeFileSync(join(folder, 'bin/gateway.ts'), program)
  const child = start('start')
  const [first] = (await once(child.stdout!, 'data')) as [Buffer]
  expect(first.toString()).toBe('up\n')
  child.kill('SIGTERM')
  expect(await ended(child)).toEqual({code: 0, stdout: 'draining\n', stderr: ''})
})

test('an unknown script is a wrong command line', async () => {
  expect(await run('toString')).toMatchObject({code: 2, stderr: expect.stringContaining('usage:')})
})

function installed(hiddenLock: object): void {
  mkdirSync(join(folder, 'node_modules/.bin'), {recursive: true})
  symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'))
  put('node_modules/.package-lock.json', hiddenLock)
}

function put(name: string, content: object): void {
  writeFileSync(join(folder, name), JSON.stringify(content))
}

function start(...args: string[]): ChildProcess {
  const env = {PATH: `${folder}:/usr/bin:/bin`}
  return spawn(process.execPath, [join(folder, 'bin/run.mjs'), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function ended(child: ChildProcess) {
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout!), text(child.stderr!)])
  return {code, stdout, stderr}
}

function run(...args: string[]) {
  return ended(start(...args))
}
