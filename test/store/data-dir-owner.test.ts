import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {isOwned, ownDataDir} from '../../src/store/data-dir.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-owner-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

test('a directory is owned while it is held, and no longer', () => {
  expect(isOwned(folder)).toBe(false)
  const {release} = ownDataDir(folder)
  expect(isOwned(folder)).toBe(true)
  release()
  expect(isOwned(folder)).toBe(false)
})

test('a look beside another look finds no owner', () => {
  ownDataDir(folder).release()
  const other = new Sqlite(join(folder, 'run', 'serve.lock.db'), {readonly: true})
  other.exec('begin')
  other.prepare('select count(*) from sqlite_master').get()
  expect(isOwned(folder)).toBe(false)
  other.close()
})
