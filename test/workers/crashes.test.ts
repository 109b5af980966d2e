import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {sql} from 'kysely'
import {expect, onTestFinished, describe as suite, test} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import {ownDataDir} from '../../src/store/data-dir.ts'
import {recover} from '../../src/store/journal/index.ts'
import {openMark} from '../../src/store/journal-marks.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {writeMeta} from '../../src/store/meta.ts'
import {migrate} from '../../src/store/migrate.ts'
import {readOwner} from '../../src/store/owner.ts'
import {startRecords} from '../../src/workers/records.ts'
import {writerId} from '../../src/workers/recovery.ts'
import {KINDS, testStore} from '../support/stores.ts'
import {asking, ids, outcomes, settings, setUp} from './support.ts'

test('a record cut off by a kill in the middle of its write is warned of, and those before it are applied', async () => {
  const gateway = await setUp('sqlite')
  const first = await gateway.start()
  await asking(first).begin('a')
  await asking(first).settle('a')
  await first.close()
  await gateway.store.db.deleteFrom('traffic.ledger_entries').execute()
  await gateway.store.db
    .updateTable('traffic.journal_marks')
    .set({segment: 0, position: 0, chain: '0'.repeat(64)})
    .execute()
  const newest = join(
    gateway.directory.journal,
    readdirSync(gateway.directory.journal)
      .sort()
      .findLast(name => name.endsWith('.seg'))!,
  )
  const bytes = readFileSync(newest)
  // the seal is a head alone; its ninth byte, the kind, is its last that is not zero
  const seal = bytes.findLastIndex(byte => byte !== 0) - 8
  bytes.fill(0, seal, seal + 9)
  bytes.writeUInt32LE(500, seal)
  bytes.write('half a record', seal + 8)
  writeFileSync(newest, bytes)
  const second = await gateway.start()
  expect(second.report).toEqual({
    applied: 1,
    recovered: 0,
    warnings: [expect.stringContaining('ends in a record cut off at')],
  })
  expect(await outcomes(gateway)).toEqual(['a ok'])
})

test('after kill -9 every settlement that was acknowledged is in the ledger once, and what was under way is recovered', async () => {
  const database = await testStore('sqlite', {migrated: false})
  onTestFinished(() => database.close())
  const {folder, store} = database
  const began = new Set<string>()
  const settled = new Set<string>()
  for (const run of ['a', 'b', 'c']) {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'records-child.ts'), folder, run], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for (const line of await killedAfter(child, 25_000)) {
      const [word, call] = line.split(' ') as [string, string]
      if (word === 'began') began.add(call)
      if (word === 'settled') settled.add(call)
    }
  }
  await migrate(store, {now: () => new Date()})
  const directory = ownDataDir(folder)
  const log = createLog('silent', 'gateway')
  const records = await startRecords({directory, store_options: database.options, store, log, now: Date.now, settings})
  await records.close()
  directory.release()
  const entries = new Map((await outcomes(database)).map(line => line.split(' ') as [string, string]))
  expect(settled.size).toBeGreaterThan(300)
  expect((await outcomes(database)).length).toBe(entries.size)
  expect([...settled].filter(call => entries.get(call) !== 'ok')).toEqual([])
  expect([...began].filter(call => !entries.has(call))).toEqual([])
  // a settlement may be written and its acknowledgement not be read; what was never settled is recovered
  const cut_off = [...began].filter(call => Number(call.split('-')[1]) % 100 === 99)
  expect(cut_off.length).toBeGreaterThan(2)
  expect(cut_off.map(call => entries.get(call))).toEqual(cut_off.map(() => 'recovered'))
  expect(await ids(database, 'logs')).toHaveLength(entries.size)
  expect(await verifyLedger(store)).toMatchObject({entries: entries.size, breaks: []})
  const owner = await readOwner(store, () => 'never')
  const mark = await openMark(
    store,
    writerId(folder, () => 'never'),
    1,
  )
  expect(recover({folder: directory.journal, ...owner, mark}).open).toEqual([])
})

test('another process that holds the write lock delays the ledger and loses nothing', async () => {
  const gateway = await setUp('sqlite')
  const records = await gateway.start()
  const ask = asking(records)
  const child = spawn(process.execPath, [join(import.meta.dirname, 'lock-child.ts'), gateway.folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout!, 'data')
  await ask.begin('a')
  expect(await ask.settle('a')).toBeUndefined()
  let is_flushed = false
  const flushed = records.flushed().then(() => {
    is_flushed = true
  })
  await expect
    .poll(() => gateway.lines.map(({msg}) => msg), {timeout: 10_000})
    .toContainEqual(expect.stringContaining('cannot be flushed'))
  expect(is_flushed).toBe(false)
  expect(records.status().lag_ms).toBeGreaterThan(0)
  expect(await outcomes(gateway)).toEqual([])
  child.stdin!.end()
  await flushed
  expect(await outcomes(gateway)).toEqual(['a ok'])
  expect(await ids(gateway, 'bodies')).toEqual(['a'])
})

test('after a restore the journal of the time before is not replayed, and a warning says so', async () => {
  const gateway = await setUp('sqlite')
  const first = await gateway.start()
  await asking(first).begin('a')
  await asking(first).settle('a')
  await first.close()
  const {db} = gateway.store
  await writeMeta(db, 'epoch', '2')
  await db.updateTable('traffic.meta').set({value: '2'}).where('key', '=', 'epoch').execute()
  await db.deleteFrom('traffic.ledger_entries').execute()
  await db
    .updateTable('traffic.journal_marks')
    .set({segment: 0, position: 0, chain: '0'.repeat(64)})
    .execute()
  const {report} = await gateway.start()
  expect(report).toMatchObject({
    applied: 0,
    recovered: 0,
    warnings: [expect.stringContaining('is of epoch 1 and is not replayed')],
  })
  expect(await outcomes(gateway)).toEqual([])
})

suite.skipIf(!KINDS.includes('postgres'))('PostgreSQL', () => {
  test('that cuts the flusher off, idle or in the middle of a transaction, loses nothing', async () => {
    const gateway = await setUp('postgres')
    const {db} = gateway.store
    const records = await gateway.start()
    const ask = asking(records)
    const cutOff = async (which: string) => {
      const ours = sql`pid <> pg_backend_pid() and datname = current_database() and wait_event_type = ${which}`
      const {rows} = await sql`select pg_terminate_backend(pid) from pg_stat_activity where ${ours}`.execute(db)
      return rows.length
    }
    await ask.begin('a')
    await ask.settle('a')
    await records.flushed()
    expect(await cutOff('Client')).toBeGreaterThan(0)
    let flushed: Promise<void> | undefined
    await db.transaction().execute(async transaction => {
      await transaction.selectFrom('traffic.journal_marks').selectAll().forUpdate().execute()
      await ask.begin('b')
      await ask.settle('b')
      flushed = records.flushed()
      await expect.poll(() => cutOff('Lock'), {timeout: 5_000}).toBe(1)
    })
    await flushed
    expect(await outcomes(gateway)).toEqual(['a ok', 'b ok'])
  })

  test('that does not answer before the process ends is given the rest by the next start', async () => {
    const gateway = await setUp('postgres')
    const records = await gateway.start({close_ms: 300})
    await gateway.store.db.transaction().execute(async transaction => {
      await transaction.selectFrom('traffic.journal_marks').selectAll().forUpdate().execute()
      await asking(records).begin('a')
      await asking(records).settle('a')
      await records.close()
    })
    const late = 'the database did not take all of the journal in time; the next start applies the rest'
    // a flusher that was still opening the database may say so, too
    expect(gateway.lines.map(({msg}) => msg)).toContain(late)
    expect(await outcomes(gateway)).toEqual([])
    expect((await gateway.start()).report).toEqual({applied: 1, recovered: 0, warnings: []})
    expect(await outcomes(gateway)).toEqual(['a ok'])
  })
})

/** The whole lines that `child` printed until it was killed, at some moment after `bytes` of them. */
async function killedAfter(child: ChildProcess, bytes: number): Promise<string[]> {
  let said = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (said.length > bytes) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  expect(signal).toBe('SIGKILL')
  return said.split('\n').slice(0, -1)
}
