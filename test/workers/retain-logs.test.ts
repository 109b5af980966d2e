import {utimesSync} from 'node:fs'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {describe, expect, onTestFinished, test} from 'vitest'
import {newTimeId} from '../../src/base/ids.ts'
import {PACKS_FOLDER} from '../../src/store/bodies/index.ts'
import {listPacks} from '../../src/store/bodies/packs.ts'
import {decodeRecord, encodeSettlement, openTarget} from '../../src/store/flush/index.ts'
import {openMark} from '../../src/store/journal-marks.ts'
import {retainLogs} from '../../src/workers/retain-logs.ts'
import {keepBodies, keptBodies} from '../support/bodies.ts'
import {intent, logRecord, settlement, targetOf} from '../support/records.ts'
import {KINDS, testStore} from '../support/stores.ts'

const NOW_MS = Date.parse('2026-06-01T12:30:00.000Z')
const DAY_MS = 86_400_000
const WRITER = '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3e'
const DAYS = {log_retention_days: 10, log_body_retention_days: 3, metrics_retention_days: 20}

describe.each(KINDS)('retention on %s', kind => {
  /** A call with a log row and bodies at each of `ages` (days). */
  async function setUp(ages: readonly number[]) {
    const database = await testStore(kind)
    onTestFinished(() => database.close())
    const from = await openMark(database.store, WRITER, 1)
    const target = await openTarget(targetOf(database), WRITER, 1)
    onTestFinished(() => target.close())
    const calls = ages.map(age => {
      const at_ms = NOW_MS - age * DAY_MS
      return {id: newTimeId(at_ms), at: new Date(at_ms).toISOString(), age}
    })
    const records = calls.map(({id, at}) => {
      const said = settlement(intent({call_id: id, admitted_at: at}), {log: logRecord({id, created_at: at})})
      return decodeRecord(Buffer.from(encodeSettlement(said)))
    })
    await target.apply({from, end: () => ({segment: 1, position: 64}), records})
    for (const {id, at} of calls) await keepBodies(database, {log_id: id, created_at: at}, Date.parse(at))
    for (const {path, begun_ms} of listPacks(join(database.folder, PACKS_FOLDER)))
      utimesSync(path, begun_ms / 1000, begun_ms / 1000)
    const {db} = database.store
    const agesOf = (ids: readonly string[]) => calls.filter(({id}) => ids.includes(id)).map(({age}) => age)
    const left = async () => ({
      bodies: agesOf((await keptBodies(database)).map(row => row.log_id)),
      logs: agesOf((await db.selectFrom('traffic.logs').select('id').execute()).map(row => row.id)),
      hours: (await db.selectFrom('traffic.usage_hourly').select('hour').orderBy('hour', 'desc').execute()).length,
      entries: (await db.selectFrom('traffic.ledger_entries').select('call_id').execute()).length,
    })
    const retain = (days: typeof DAYS, budget_ms = 1, clock = () => 0, rest = async () => {}) =>
      retainLogs({target, now_ms: NOW_MS, clock, budget_ms, rest, ...days})
    return {left, retain, folder: database.folder}
  }

  test('each kind goes when its time is over, and the ledger never', async () => {
    const {left, retain} = await setUp([0, 2.9, 3.1, 9.9, 10.1, 19.9, 20.1, 400])
    expect(await retain(DAYS)).toBe(true)
    expect(await left()).toEqual({bodies: [0, 2.9], logs: [0, 2.9, 3.1, 9.9], hours: 6, entries: 8})
    expect(await retain(DAYS)).toBe(true)
    expect(await retain({...DAYS, log_retention_days: 1})).toBe(true)
    expect(await left()).toEqual({bodies: [0], logs: [0], hours: 6, entries: 8})
  })

  test.runIf(kind === 'sqlite')(
    'a lock that another connection holds for a moment is waited for, within the time',
    async () => {
      const {left, retain, folder} = await setUp([0, 400])
      const other = new Sqlite(join(folder, 'traffic.db'))
      onTestFinished(() => void other.close())
      let rests = 0
      const rest = async () => {
        if (++rests === 3) other.exec('rollback')
      }
      other.exec('begin immediate')
      expect(await retain(DAYS, 1, () => 0, rest)).toBe(true)
      expect(await left()).toEqual({bodies: [0], logs: [0], hours: 1, entries: 2})
      other.exec('begin immediate')
      let now = 0
      await expect(retain({...DAYS, log_retention_days: 0}, 2, () => now++, rest)).rejects.toThrow('database is locked')
    },
  )

  test('it stops when its time is used up and goes on from there, oldest first', async () => {
    const ages = Array.from({length: 450}, (_, n) => 30 + n / 1000)
    const {left, retain} = await setUp(ages)
    let now = 0
    const clock = () => now++
    expect(await retain(DAYS, 1, clock)).toBe(false)
    expect((await left())[kind === 'postgres' ? 'bodies' : 'logs']).toEqual(ages.slice(0, 250))
    expect(await retain(DAYS, 100, clock)).toBe(true)
    expect(await left()).toEqual({bodies: [], logs: [], hours: 0, entries: 450})
  })
})
