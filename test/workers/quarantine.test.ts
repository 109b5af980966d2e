import {randomBytes} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {expect, describe as suite, test} from 'vitest'
import {newId} from '../../src/base/ids.ts'
import type {Settlement} from '../../src/schema/records.ts'
import {encodeSettlement, isRowFault} from '../../src/store/flush/index.ts'
import {openJournal} from '../../src/store/journal/index.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {readOwner} from '../../src/store/owner.ts'
import {intent, logRecord, settlement} from '../support/records.ts'
import {KINDS} from '../support/stores.ts'
import {asking, ids, outcomes, setUp} from './support.ts'

const random = (length: number) => randomBytes(length).toString('base64').slice(0, length)
const call = (call_id: string, given: Partial<Settlement> = {}) =>
  settlement(intent({call_id}), {log: logRecord({id: call_id}), ...given})

/** Leaves a journal behind as a process that was killed does, its records as they are given. */
async function leave(gateway: Awaited<ReturnType<typeof setUp>>, ...records: readonly string[]) {
  const owner = await readOwner(gateway.store, newId)
  const journal = await openJournal({
    folder: gateway.directory.journal,
    ...owner,
    mark: {segment: 0, position: 0},
    open: [],
  })
  for (const record of records) journal.append('log_row', record, () => undefined)
  journal.flush()
  await journal.close()
}

suite.each(KINDS)('a record that %s cannot take', kind => {
  // an earlier version wrote trace ids of any length: no index of PostgreSQL takes one, SQLite has no such bound
  test.runIf(kind === 'postgres')(
    'is set aside by the next start, which serves, and told by a count; its money counts',
    async () => {
      const gateway = await setUp(kind)
      const long = encodeSettlement(call('long')).replaceAll(intent().trace_id, random(9_000))
      await leave(gateway, encodeSettlement(call('before')), long, encodeSettlement(call('behind')))
      const records = await gateway.start()
      expect(records.report).toMatchObject({applied: 3})
      expect([await outcomes(gateway), await ids(gateway, 'logs')]).toEqual([
        ['before ok', 'long ok', 'behind ok'],
        ['before', 'behind'],
      ])
      expect(records.status()).toMatchObject({records_set_aside: 1, accepting: true})
      await asking(records).begin('later')
      await asking(records).settle('later')
      await records.flushed()
      expect(await outcomes(gateway)).toContain('later ok')
      const report = await verifyLedger(gateway.store)
      expect([report.breaks, report.set_aside]).toEqual([[], {records: 1, uncharged: 0, last_at: expect.any(String)}])
      expect(await gateway.store.db.selectFrom('traffic.set_aside').select(['record', 'reason']).execute()).toEqual([
        {record: 'long:1', reason: 'the database refuses it (54000)'},
      ])
      expect(readFileSync(join(gateway.directory.journal, 'set-aside.jsonl'), 'utf8')).toContain(
        Buffer.from(long).toString('base64'),
      )
    },
  )

  test('and that nobody can read is set aside by the next start, and counted as not charged', async () => {
    const gateway = await setUp(kind)
    await leave(gateway, encodeSettlement(call('before')), '["nothing of use"]', encodeSettlement(call('behind')))
    const records = await gateway.start()
    expect(await outcomes(gateway)).toEqual(['before ok', 'behind ok'])
    expect(records.status()).toMatchObject({records_set_aside: 1})
    const report = await verifyLedger(gateway.store)
    expect([report.breaks, report.set_aside]).toMatchObject([[], {records: 1, uncharged: 1}])
    await records.close()
    // its place in the journal is read once more after a mark was lost
    await gateway.store.db.updateTable('traffic.journal_marks').set({segment: 0, position: 0}).execute()
    await gateway.start()
    expect((await verifyLedger(gateway.store)).set_aside).toMatchObject({records: 1, uncharged: 1})
  })

  test('is lost where it cannot be kept, and the ledger does not hold', async () => {
    const gateway = await setUp(kind)
    const row = {
      writer: 'w',
      segment: 1,
      position: 1,
      record: 'a:1',
      reason: 'it is not JSON',
      is_charged: 0,
      is_kept: 0,
      set_aside_at: '',
    }
    await gateway.store.db.insertInto('traffic.set_aside').values(row).execute()
    const {breaks} = await verifyLedger(gateway.store)
    expect(breaks.map(({kind, text}) => [kind, text])).toEqual([
      ['record', '1 record of the journal could be neither entered nor kept.'],
    ])
  })

  test('for a model of 1,024 bytes there is none: it is entered whole, and two that begin alike are two', async () => {
    const gateway = await setUp(kind)
    const records = await gateway.start()
    const [one, other] = [random(1_024), random(1_024)].map(text => `${'m'.repeat(300)}${text}`.slice(0, 1_024)) as [
      string,
      string,
    ]
    for (const [at, model] of [one, other, one].entries()) {
      const of = intent({call_id: `call-${at}`, model})
      await new Promise(done =>
        records.recorder.settle(settlement(of, {log: logRecord({id: `row-${at}`})}), null, done),
      )
    }
    await records.flushed()
    const sums = await gateway.store.db.selectFrom('traffic.usage_hourly').select(['model', 'requests']).execute()
    expect(new Map(sums.map(({model, requests}) => [model, requests]))).toEqual(
      new Map([
        [one, 2],
        [other, 1],
      ]),
    )
    expect(await verifyLedger(gateway.store)).toMatchObject({breaks: [], set_aside: {records: 0}, entries: 3})
  })
})

test.each([
  [
    true,
    [
      '54000',
      '22021',
      '22P05',
      '22003',
      '23502',
      '23514',
      '21000',
      '44000',
      'P0001',
      'SQLITE_CONSTRAINT_NOTNULL',
      'SQLITE_TOOBIG',
    ],
  ],
  [
    false,
    [
      '57P01',
      '57014',
      '08006',
      '53100',
      '40P01',
      '42P01',
      '55P03',
      '23505',
      'XX000',
      'ECONNRESET',
      'SQLITE_BUSY',
      'SQLITE_FULL',
    ],
  ],
])('what a database says is about one record: %s', (is_about, codes) => {
  for (const code of codes)
    expect([code, isRowFault(Object.assign(new Error('refused'), {code}))]).toEqual([code, is_about])
})
