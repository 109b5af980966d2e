import fc from 'fast-check'
import {sql} from 'kysely'
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {decodeRecord, encodeSettlement, openTarget} from '../../src/store/flush/index.ts'
import {openMark} from '../../src/store/journal-marks.ts'
import {type LedgerProgress, verifyLedger} from '../../src/store/ledger/index.ts'
import {deleteOlder} from '../../src/store/retention.ts'
import {keepFrom} from '../../src/store/retention-start.ts'
import {intent, logRecord, settlement, targetOf} from '../support/records.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const WRITERS = ['0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3e', '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3f']
const DAY_MS = 86_400_000
const FIRST_MS = Date.parse('2026-01-01T00:30:00.000Z')
const DAYS = 24

/** Two writers, 48 calls over 24 days; every fifth was retried at its target, every seventh was cut off. */
async function seeded(kind: 'sqlite' | 'postgres'): Promise<TestStore> {
  const database = await testStore(kind)
  for (const [place, writer] of WRITERS.entries()) {
    const from = await openMark(database.store, writer, 1)
    const target = await openTarget(targetOf(database), writer, 1)
    const said = Array.from({length: DAYS}, (_, day) => {
      const admitted_at = new Date(FIRST_MS + day * DAY_MS).toISOString()
      const of = (attempt: number) =>
        intent({call_id: `call-${place}-${day}`, attempt, admitted_at, workspace_id: `ws-${day % 3}`})
      const log = logRecord({id: idOf(day, place), created_at: admitted_at})
      if (day % 7 === 6) return [settlement(of(1), {outcome: 'recovered', usage: {}, cost_nanousd: 1_500, log})]
      if (day % 5 !== 4) return [settlement(of(1), {log})]
      const failed = settlement(of(1), {outcome: 'failed', log: null, cost_nanousd: 10})
      return [failed, settlement(of(2), {log: {...log, retry_count: 1}})]
    })
    const records = said.flat().map(each => decodeRecord(Buffer.from(encodeSettlement(each))))
    await target.apply({from, end: () => ({segment: 1, position: 1}), records})
    await target.close()
  }
  return database
}

const idOf = (day: number, place: number) => {
  const time = (FIRST_MS + day * DAY_MS).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-00000000000${place}`
}

describe.each(KINDS)('the ledger on %s', kind => {
  let database: TestStore
  beforeAll(async () => {
    database = await seeded(kind)
  })
  afterAll(() => database.close())

  /** What verification says of a ledger that `change` was done to. */
  async function breaksAfter(...change: readonly string[]) {
    const mine = kind === 'sqlite' ? await seeded(kind) : database
    if (mine !== database) onTestFinished(() => mine.close())
    const before = kind === 'sqlite' ? undefined : await snapshot(mine)
    for (const statement of change) await sql.raw(statement).execute(mine.store.db)
    const report = await verifyLedger(mine.store)
    await before?.()
    return report.breaks.map(({kind, entry, text}) => ({
      kind,
      entry: entry && `${entry.call_id}:${entry.attempt}`,
      text,
    }))
  }

  test('holds as it was written; what was recovered is listed apart', async () => {
    const report = await verifyLedger(database.store)
    expect(report).toMatchObject({
      entries: 56,
      writers: 2,
      breaks: [],
      sums: {checked: 24, from: '2026-01-01T00:00:00.000Z'},
    })
    expect(report.logs).toEqual({checked: 48, from: '2026-01-01T00:30:00.000Z'})
    expect(report.recovered).toMatchObject({entries: 6, cost_nanousd: 9_000n})
    expect(report.recovered.newest[0]).toMatchObject({call_id: 'call-1-20', attempt: 1, cost_nanousd: 1_500})
  })

  test('says how far it is', async () => {
    const seen: LedgerProgress[] = []
    await verifyLedger(database.store, progress => void seen.push(progress))
    expect(seen.filter(({part}) => part === 'entries')).toEqual([{part: 'entries', done: 56, total: 56}])
    expect(seen.findLast(({part}) => part === 'sums')).toEqual({part: 'sums', done: 12, total: 12})
    expect(seen.at(-1)).toEqual({part: 'logs', done: 48, total: 48})
  })

  const ENTRY = `call_id = 'call-0-11'`

  test('is verified while another process writes', async () => {
    const other = await database.again()
    let release = () => {}
    const written = new Promise<void>(begun => {
      void other.write(async db => {
        await db.updateTable('organisations').set({name: 'Other'}).execute()
        const released = new Promise<void>(resolve => {
          release = resolve
        })
        begun()
        await released
      })
    })
    await written
    const report = verifyLedger(database.store, ({part}) => {
      if (part === 'sums') release()
    })
    setTimeout(() => release(), 50)
    expect((await report).breaks).toEqual([])
    await other.close()
  })

  test('one byte of an entry that was flipped is found, in whatever column', async () => {
    for (const change of [
      "model = 'gpt-4o-minj'",
      "trace_id = ''",
      'user_id = api_key_id',
      'status = 201',
      "settled_at = ''",
      "chain = ''",
    ]) {
      const [first] = await breaksAfter(`update traffic.ledger_entries set ${change} where ${ENTRY}`)
      expect(first, change).toMatchObject({kind: 'chain', entry: 'call-0-11:1'})
    }
  })

  test('a cost that was altered shows in the chain, the sum and the log row', async () => {
    const found = await breaksAfter(`update traffic.ledger_entries set cost_nanousd = cost_nanousd + 1 where ${ENTRY}`)
    expect(found.map(({kind}) => kind)).toEqual(['chain', 'sum', 'log'])
    expect(found[1]!.text).toContain('cost_nanousd 207000 and its entries make 207001')
  })

  test('an entry that was deleted is found, at whatever place', async () => {
    for (const call of ['call-0-0', 'call-0-11', 'call-1-23']) {
      const found = await breaksAfter(`delete from traffic.ledger_entries where call_id = '${call}'`)
      expect(
        found.map(({kind}) => kind),
        call,
      ).toEqual(['chain', 'sum', 'log'])
    }
  })

  test('entries that changed places are found', async () => {
    const swap = `update traffic.ledger_entries set sequence = case call_id when 'call-0-1' then -1 else -2 end where call_id in ('call-0-1', 'call-0-2')`
    const back = `update traffic.ledger_entries set sequence = case sequence when -1 then 3 else 2 end where sequence < 0`
    const identity =
      kind === 'postgres' ? ['alter table traffic.ledger_entries alter column sequence set generated by default'] : []
    const [first] = await breaksAfter(...identity, swap, back)
    expect(first).toMatchObject({kind: 'chain', entry: 'call-0-2:1'})
  })

  test('a sum that was forged, taken away or made up is found', async () => {
    const where = `where hour = '2026-01-05T00:00:00.000Z'`
    const [forged] = await breaksAfter(`update traffic.usage_hourly set cost_nanousd = 1 ${where}`)
    expect(forged).toMatchObject({
      kind: 'sum',
      text: expect.stringContaining('cost_nanousd 1 and its entries make 207020'),
    })
    expect((await breaksAfter(`delete from traffic.usage_hourly ${where}`))[0]!.text).toMatch(
      /is missing; its entries make 4 requests/,
    )
    const [made_up] = await breaksAfter(`update traffic.usage_hourly set api_key_id = 'another' ${where}`)
    expect(made_up!.kind).toBe('sum')
    expect((await breaksAfter('delete from traffic.usage_hourly')).map(({kind}) => kind)).toContain('sum')
  })

  test('a log row that says another cost is found; one that is not there is not the ledger’s', async () => {
    const [row] = await breaksAfter(`update traffic.logs set cost_nanousd = 0 where id = '${idOf(11, 0)}'`)
    expect(row).toMatchObject({kind: 'log', text: expect.stringContaining(idOf(11, 0))})
    expect(await breaksAfter(`delete from traffic.logs where id = '${idOf(11, 0)}'`)).toEqual([])
  })

  test('what retention deleted is not missed, and what is left is held against the ledger', async () => {
    const mine = await seeded(kind)
    onTestFinished(() => mine.close())
    const before_ms = FIRST_MS + 10 * DAY_MS
    for (const kept of ['logs', 'hours'] as const) {
      await keepFrom(mine.store.db, kept, new Date(before_ms).toISOString())
      while (await deleteOlder(mine.store.db, kept, before_ms));
    }
    const report = await verifyLedger(mine.store)
    expect(report).toMatchObject({entries: 56, breaks: [], sums: {checked: 13, from: '2026-01-11T01:00:00.000Z'}})
    expect(report.logs).toEqual({checked: 28, from: '2026-01-11T00:30:00.000Z'})
    // days were raised since: what is gone stays gone
    await keepFrom(mine.store.db, 'hours', '2026-01-02T00:00:00.000Z')
    expect((await verifyLedger(mine.store)).breaks).toEqual([])
  })

  test.runIf(kind === 'sqlite')('any change of any entry is found', async () => {
    const mine = await seeded(kind)
    onTestFinished(() => mine.close())
    const rows = await mine.store.db.selectFrom('traffic.ledger_entries').select('sequence').execute()
    const columns = [
      'call_id',
      'model',
      'admitted_at',
      'usage',
      'counter_keys',
      'cost_nanousd',
      'attempt',
      'delivered',
      'writer',
    ] as const
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...rows), fc.constantFrom(...columns), async ({sequence}, column) => {
        const row = mine.store.db.selectFrom('traffic.ledger_entries').selectAll().where('sequence', '=', sequence)
        const before = await row.executeTakeFirstOrThrow()
        const value = typeof before[column] === 'number' ? (before[column] as number) + 100 : `${before[column]}.`
        const write = (to: unknown) =>
          mine.store.db
            .updateTable('traffic.ledger_entries')
            .set({[column]: to})
            .where('sequence', '=', sequence)
            .execute()
        await write(value)
        const {breaks} = await verifyLedger(mine.store)
        await write(before[column])
        expect(breaks[0]?.kind).toBe('chain')
      }),
      {numRuns: 40},
    )
    expect((await verifyLedger(mine.store)).breaks).toEqual([])
  })
})

/** On PostgreSQL a database is dear: the tables are copied, and put back by what this gives. */
async function snapshot({store}: TestStore): Promise<() => Promise<void>> {
  const tables = ['ledger_entries', 'usage_hourly', 'logs']
  for (const table of tables) await sql.raw(`create table ${table}_copy as table traffic.${table}`).execute(store.db)
  return async () => {
    for (const table of tables) {
      await sql.raw(`delete from traffic.${table}`).execute(store.db)
      const overriding = table === 'ledger_entries' ? 'overriding system value' : ''
      await sql.raw(`insert into traffic.${table} ${overriding} table ${table}_copy`).execute(store.db)
      await sql.raw(`drop table ${table}_copy`).execute(store.db)
    }
  }
}
