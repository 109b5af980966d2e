import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {readText} from '../../src/settings/files.ts'
import {readSettings, SettingsFault} from '../../src/settings/index.ts'
import {faults, read} from './support.ts'

const AT = '.gateway/settings.yaml'
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-settings-'))
})
afterAll(() => rmSync(folder, {recursive: true}))

test('lists may be YAML lists or comma separated, and may be empty', () => {
  const yaml = 'trusted_custom_hosts:\n  - localhost\n  - 10.0.0.0/8\nno_proxy: a, b\ncors_allowed_methods: []\n'
  expect(read({}, {[AT]: yaml}).settings).toMatchObject({
    trusted_custom_hosts: ['localhost', '10.0.0.0/8'],
    no_proxy: ['a', 'b'],
    cors_allowed_methods: [],
  })
})

test('numbers and words keep the spelling they have in the file', () => {
  expect(read({}, {[AT]: 'service_name: 007\ndb_pool_size: "5"\nenable_prometheus: false'}).settings).toMatchObject({
    service_name: '007',
    db_pool_size: 5,
    enable_prometheus: false,
  })
  expect(faults({}, {[AT]: 'port: 0x1F'})[0]).toContain('is "0x1F"')
})

test.each([
  ['port: 1\nport: 2', 'line 2 is not valid YAML (DUPLICATE_KEY).'],
  ['a: [hush', 'line 1 is not valid YAML (BAD_INDENT).'],
  ['- port', 'it holds no settings; write one "key: value" a line.'],
  ['log_level: info\ntls:\n  key: hush', 'line 2: "tls" takes a text, a number or a plain list, nothing nested.'],
  ['no_proxy: [[hush]]', 'line 1: "no_proxy" takes a text, a number or a plain list, nothing nested.'],
  ['db_pass: *hush', 'line 1: "db_pass" takes a text, a number or a plain list, nothing nested.'],
  ['? [hush]\n: 1', 'line 1 has a key that is no text.'],
])('the file %j is refused by line, its content unsaid', (yaml, clause) => {
  expect(faults({}, {[AT]: yaml})).toContain(`${AT}: ${clause}`)
})

test.each(['', '# nothing\n', '---\n'])('the file %j sets nothing', yaml => {
  expect(read({}, {[AT]: yaml}).settings.port).toBe(8787)
})

test('a file that was asked for must be there; one that was not may be missing, but not unreadable', () => {
  const missing = 'names "/none.yaml", which cannot be read: there is no such file.'
  expect(faults({argv: {settings: '/none.yaml'}})).toEqual([`--settings ${missing}`])
  expect(faults({env: {GATEWAY_SETTINGS_FILE: '/none.yaml'}})).toEqual([`GATEWAY_SETTINGS_FILE ${missing}`])
  expect(faults({}, {[AT]: '!EACCES'})).toEqual([
    `The settings file "${AT}" cannot be read: this process may not read it.`,
  ])
  expect(read({}, {[AT]: '!ENOTDIR'}).settings.port).toBe(8787)
})

test('the file in the data directory cannot move the data directory, and no file names another', () => {
  expect(faults({}, {[AT]: 'data_dir: /srv'})).toEqual([
    `data_dir in ${AT} comes too late: the file was found in the data directory. Use --data-dir or GATEWAY_DATA_DIR.`,
  ])
  expect(faults({}, {[AT]: 'settings_file: /srv'})).toEqual([
    `settings_file in ${AT} is not a setting. It is given as --settings or GATEWAY_SETTINGS_FILE.`,
  ])
})

test('every problem is reported at once', () => {
  const sentences = faults(
    {argv: {pord: '1'}, env: {GATEWAY_X: '1', LOKI_HOST: 'x', SCIM_ENABLED: 'no', TLS_CA_FILE: '/none'}},
    {[AT]: 'prot: 1'},
  )
  expect(sentences).toHaveLength(7)
})

test('a real disk is read: files up to 1 MiB, no directory, no device without end', () => {
  const path = join(folder, 'settings.yaml')
  writeFileSync(path, 'port: 4000')
  expect(readSettings({env: {GATEWAY_DATA_DIR: folder}}).settings.port).toBe(4000)
  writeFileSync(path, `# ${'x'.repeat(2 ** 20)}`)
  expect(() => readSettings({env: {GATEWAY_DATA_DIR: folder}})).toThrow(SettingsFault)
  expect(() => readText(folder)).toThrow('EISDIR')
  expect(() => readText('/dev/zero')).toThrow('too large')
})
