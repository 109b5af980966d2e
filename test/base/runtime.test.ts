import {spawnSync} from 'node:child_process'
import {readFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {resolve} from 'node:path'
import {expect, test} from 'vitest'
import {isExecutable, libraryFolders, sqliteBinding, version} from '../../src/base/runtime.ts'

const root = resolve(import.meta.dirname, '../..')

test('the sources have the version of package.json, and leave SQLite to better-sqlite3', () => {
  expect(version).toBe(JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')).version)
  expect(isExecutable).toBe(false)
  expect(sqliteBinding()).toBeUndefined()
})

test('the library is loaded from any folder that there is, without a home and a working directory, too', () => {
  const none = (syscall: string) => () => {
    throw Object.assign(new Error(`ENOENT: ${syscall}`), {code: 'ENOENT', syscall})
  }
  const always = [...new Set([tmpdir(), '/var/tmp', '/dev/shm'])]
  expect(libraryFolders(none('uv_os_homedir'), none('uv_cwd'))).toEqual(always)
  expect(
    libraryFolders(
      () => '/srv/home',
      () => '/srv/work',
    ),
  ).toEqual([...always, '/srv/home', '/srv/work'])
})

test.each([[['version']], [['--version']], [['-V']]])('gateway %j says the version alone', args => {
  expect(gateway(args)).toMatchObject({status: 0, stdout: `${version}\n`})
})

test('gateway version --json says what it runs on', () => {
  const said = JSON.parse(gateway(['version', '--json']).stdout)
  expect(said).toEqual({
    version,
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    executable: false,
  })
})

function gateway(args: string[]) {
  return spawnSync(process.execPath, ['bin/gateway.ts', ...args], {cwd: root, encoding: 'utf8'})
}
