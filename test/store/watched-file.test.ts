import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {describe, expect, test} from 'vitest'
import {watchFile} from '../../src/store/dialect/watched-file.ts'
import {testStore} from '../support/stores.ts'

const none = () => undefined
const META = {key: 'a', value: 'b'}

describe.runIf(process.platform === 'linux')('writes', () => {
  test('of another connection to the database are reported, its reads are not', async () => {
    const database = await testStore('sqlite')
    const other = await database.again()
    let writes = 0
    const end = database.store.watchWrites!(() => writes++, none)!
    try {
      await other.db.selectFrom('meta').selectAll().execute()
      await database.store.dataVersion()
      await sleep(50)
      expect(writes).toBe(0)
      const before = await database.store.dataVersion()
      await other.migrate(db => db.insertInto('meta').values(META).execute())
      await expect.poll(() => writes).toBeGreaterThan(0)
      expect(await database.store.dataVersion()).not.toBe(before)
      end()
      const reported = writes
      await other.migrate(db => db.deleteFrom('meta').where('key', '=', META.key).execute())
      await sleep(50)
      expect(writes).toBe(reported)
    } finally {
      end()
      await database.close()
    }
  })

  test('are not watched where there is no file, and a file that is removed is reported once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
    const path = join(folder, 'a')
    try {
      expect(watchFile(path, {onWritten: none, onLost: none})).toBeUndefined()
      writeFileSync(path, 'x')
      let lost = 0
      watchFile(path, {onWritten: none, onLost: () => lost++})
      rmSync(path)
      await expect.poll(() => lost).toBe(1)
    } finally {
      rmSync(folder, {recursive: true, force: true})
    }
  })
})
