import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {sql} from 'kysely'
import {describe, expect, onTestFinished, test} from 'vitest'
import {unwritableReason} from '../../src/base/store-fault.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {MigrationFault, migrate} from '../../src/store/migrate.ts'
import {KINDS, testStore} from '../support/stores.ts'

const DEADLINE_MS = 150
/** On a machine that does much else. */
const LATEST_MS = 20 * DEADLINE_MS

/** A store on SQLite, and another process's connection to one of its files, which holds the lock until it is let go. */
async function heldFile(file: 'gateway.db' | 'traffic.db', query_timeout_ms = DEADLINE_MS) {
  const {folder, close} = await testStore('sqlite')
  const store = await openStore({kind: 'sqlite', folder, role: 'server', query_timeout_ms})
  const other = new Sqlite(join(folder, file))
  onTestFinished(async () => {
    other.close()
    await store.close()
    await close()
  })
  other.exec('begin immediate')
  return {store, other}
}

/** What came of `work`, and how long it took. */
async function timed(work: Promise<unknown>) {
  const started = performance.now()
  const fault = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  return {fault, took_ms: performance.now() - started}
}

describe('on SQLite', () => {
  test('a change waits for a lock no longer than its deadline, however many wait with it', async () => {
    const {store, other} = await heldFile('gateway.db')
    const all = await Promise.all(Array.from({length: 8}, () => timed(store.write(async () => 'never'))))
    for (const {fault, took_ms} of all) {
      expect(unwritableReason(fault)).toBe('another process holds it')
      expect(took_ms).toBeLessThan(LATEST_MS)
    }
    expect(store.unwritable()).toBe('another process holds it')
    other.exec('rollback')
    expect(await store.write(async () => 'now')).toBe('now')
    expect(store.unwritable()).toBeNull()
  })

  test('what waits for one file holds up no change of the other', async () => {
    const {store} = await heldFile('traffic.db', LATEST_MS)
    const ended: string[] = []
    const waiting = timed(
      store.write(async db => {
        await db.deleteFrom('traffic.workers').execute()
      }),
    ).finally(() => ended.push('of traffic.db'))
    await store.write(async () => undefined).finally(() => ended.push('of gateway.db'))
    expect(unwritableReason((await waiting).fault)).toBe('another process holds it')
    expect(ended).toEqual(['of gateway.db', 'of traffic.db'])
  })

  test('a refusal inside a change says nothing of the disk', async () => {
    const {store, other} = await heldFile('gateway.db')
    other.exec('rollback')
    await timed(store.write(() => Promise.reject(new Error('a refusal'))))
    expect(store.unwritable()).toBeNull()
  })
})

describe.each(KINDS.filter(kind => kind === 'postgres'))('on %s', kind => {
  test('a migration waits for that of another process no longer than its deadline, and says so', async () => {
    const {store, again, close} = await testStore(kind)
    onTestFinished(close)
    const other = await again()
    await other.db.connection().execute(async connection => {
      await sql`select pg_advisory_lock(7236817001)`.execute(connection)
      const {fault, took_ms} = await timed(migrate(store, {now: () => new Date(0), lock_ms: DEADLINE_MS}))
      expect(fault).toBeInstanceOf(MigrationFault)
      expect((fault as Error).message).toMatch(/Another process has been migrating the database/)
      expect(took_ms).toBeLessThan(LATEST_MS)
      await sql`select pg_advisory_unlock(7236817001)`.execute(connection)
    })
    expect(await migrate(store, {now: () => new Date(0)})).toEqual([])
  })
})
