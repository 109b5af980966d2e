import {readdirSync, readFileSync} from 'node:fs'
import {expect, test} from 'vitest'
import {settingsPage} from '../../src/settings/docs-page.ts'
import {flagOptions, readSettings, type Settings} from '../../src/settings/index.ts'
import {NOT_AVAILABLE, unsupportedSetting} from '../../src/settings/not-available.ts'
import {fileEndings, flagOf, keyOf, NAMES, row} from '../../src/settings/table.ts'
import {faults} from './support.ts'

test('no two settings share a key, a flag or a spelling in the environment', () => {
  const words = (list: readonly string[]) => expect(list.toSorted()).toEqual([...new Set(list)].sort())
  words(NAMES.flatMap(name => [keyOf(name), ...fileEndings(name).map(ending => keyOf(name) + ending.toLowerCase())]))
  words(NAMES.flatMap(name => [name, ...fileEndings(name).map(ending => name + ending), ...(row(name).also ?? [])]))
  words(flagOptions().map(({flag}) => flag))
})

test('no variable is both a setting and one of a later version', () => {
  expect(NAMES.filter(name => unsupportedSetting(name))).toEqual([])
  const names = NOT_AVAILABLE.flatMap(({variables}) => Object.keys(variables))
  expect(names.toSorted()).toEqual([...new Set(names)].sort())
})

test('no secret has a flag, and every meaning is a sentence', () => {
  for (const name of NAMES) {
    expect(row(name).secret && flagOf(name)).toBeFalsy()
    expect(row(name).meaning).toMatch(/\.$/)
  }
})

test('every declared flag is accepted', () => {
  const argv = Object.fromEntries(flagOptions().map(({flag}) => [flag, '1']))
  expect(Object.keys(argv)).toEqual(
    expect.arrayContaining(['port', 'data-dir', 'settings', 'url', 'tls-key-file', 'tls-cert-path', 'scim-enabled']),
  )
  expect(Object.keys(argv).filter(flag => flag.startsWith('no-'))).toEqual([])
  expect(faults({argv}).filter(sentence => sentence.includes('is not a setting'))).toEqual([])
})

test('the types follow the table', () => {
  const settings: Settings = readSettings({env: {}, readFile: () => ''}).settings
  const port: number = settings.port
  const timeout: number | undefined = settings.request_timeout
  const mode: 'auto' | 'exact' | 'metered' = settings.stream_usage
  // @ts-expect-error a setting without default may be unset
  const total: number = settings.request_timeout
  expect([port, timeout, mode, total]).toEqual([8787, undefined, 'auto', undefined])
})

test('every setting is read by something', () => {
  const code = ['src', 'cli', 'bin'].flatMap(folder =>
    readdirSync(folder, {recursive: true, encoding: 'utf8'})
      .filter(name => name.endsWith('.ts') && name !== 'settings/table.ts')
      .map(name => readFileSync(`${folder}/${name}`, 'utf8')),
  )
  const words = new Set(code.flatMap(text => text.match(/\w+/g) ?? []))
  const WITHOUT_EFFECT = NAMES.filter(name => row(name).meaning.startsWith('Accepted, without effect'))
  expect(NAMES.filter(name => !words.has(name) && !words.has(keyOf(name)) && !WITHOUT_EFFECT.includes(name))).toEqual(
    [],
  )
})

test('docs/settings.md is what the table says', async () => {
  await expect(settingsPage()).toMatchFileSnapshot('../../docs/settings.md')
})
