import {readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {expect, describe as suite, test} from 'vitest'
import {DataDirFault} from '../../src/store/data-dir.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {writeMeta} from '../../src/store/meta.ts'
import type {LogBodiesTable} from '../../src/store/tables/traffic.ts'
import {keptBodies} from '../support/bodies.ts'
import {intent, logBodies, logRecord, settlement} from '../support/records.ts'
import {KINDS} from '../support/stores.ts'
import {asking, ids, outcomes, setUp} from './support.ts'

suite.each(KINDS)('records on %s', kind => {
  test('what was recorded is in the database once flushed: entry, log row, bodies', async () => {
    const gateway = await setUp(kind)
    const records = await gateway.start()
    const ask = asking(records)
    expect(await ask.begin('a')).toBeUndefined()
    expect(records.status()).toMatchObject({accepting: true, open_intents: 1})
    expect(await ask.settle('a')).toBeUndefined()
    records.recorder.note(settlement(intent({call_id: 'b', attempt: 0}), {log: logRecord({id: 'b'})}), null)
    await records.flushed()
    expect(await outcomes(gateway)).toEqual(['a ok'])
    expect(await ids(gateway, 'logs')).toEqual(['a', 'b'])
    const [{request_body, response_body, ...rest}] = (await keptBodies(gateway)) as [LogBodiesTable]
    const {request_body: asked, response_body: answered, request_headers, response_headers, ...bodies} = logBodies('a')
    expect([request_body, response_body]).toEqual([asked, answered])
    expect(rest).toEqual({
      ...bodies,
      created_at: logRecord().created_at,
      request_headers: JSON.stringify(request_headers),
      response_headers: JSON.stringify(response_headers),
      cut: 0,
    })
    expect(records.status()).toMatchObject({
      lag_ms: 0,
      behind: null,
      open_intents: 0,
      body_bytes: 0,
      bodies_dropped: 0,
      rows_dropped: 0,
    })
  })

  test('a start applies what the database lacks and ends what was cut off, with a log row that says so', async () => {
    const gateway = await setUp(kind)
    const first = await gateway.start()
    await asking(first).begin('cut-off')
    await asking(first).begin('whole')
    await asking(first).settle('whole')
    await first.close()
    expect(await outcomes(gateway)).toEqual(['whole ok'])
    const second = await gateway.start()
    expect(second.report).toEqual({applied: 0, recovered: 1, warnings: []})
    expect(await outcomes(gateway)).toEqual(['whole ok', 'cut-off recovered'])
    const row = await gateway.store.db
      .selectFrom('traffic.logs')
      .selectAll()
      .where('call_id', '=', 'cut-off')
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({cost_nanousd: 1_500, usage_source: 'recovered', delivered: 0, status: 0})
    expect(JSON.parse(row.detail)).toMatchObject({
      keeps_bodies: false,
      mode: 'single',
      option_path: 'config',
      error: expect.stringContaining('The gateway ended before this call did.'),
    })
    await second.close()
    expect((await gateway.start()).report).toEqual({applied: 0, recovered: 0, warnings: []})
    expect(await verifyLedger(gateway.store)).toMatchObject({
      entries: 2,
      writers: 1,
      breaks: [],
      recovered: {entries: 1, cost_nanousd: 1_500n},
    })
  })

  test('a mark that was lost makes a start replay the segments, and every entry still counts once', async () => {
    const gateway = await setUp(kind)
    const first = await gateway.start()
    for (const call of ['a', 'b', 'c']) {
      await asking(first).begin(call)
      await asking(first).settle(call)
    }
    await first.close()
    const sums = await gateway.store.db.selectFrom('traffic.usage_hourly').selectAll().execute()
    await gateway.store.db.updateTable('traffic.journal_marks').set({segment: 0, position: 0}).execute()
    const second = await gateway.start()
    expect(second.report.applied).toBe(3)
    expect(await outcomes(gateway)).toEqual(['a ok', 'b ok', 'c ok'])
    expect(await gateway.store.db.selectFrom('traffic.usage_hourly').selectAll().execute()).toEqual(sums)
    expect((await verifyLedger(gateway.store)).breaks).toEqual([])
  })

  test('segments go once they are applied, also those that a crash between commit and removal left', async () => {
    const gateway = await setUp(kind)
    const segments = () => readdirSync(gateway.directory.journal).filter(name => name.endsWith('.seg'))
    const records = await gateway.start({segment_bytes: 16 * 1024})
    const ask = asking(records)
    for (let n = 0; n < 30; n++) {
      await ask.begin(`call-${n}`)
      await ask.settle(`call-${n}`)
    }
    await records.flushed()
    await records.close()
    expect(segments().length).toBeLessThan(4)
    const kept = segments().map(name => [name, readFileSync(join(gateway.directory.journal, name))] as const)
    await (await gateway.start()).close()
    for (const [name, bytes] of kept) writeFileSync(join(gateway.directory.journal, name), bytes)
    const again = await gateway.start()
    expect(again.report).toMatchObject({applied: 0, recovered: 0})
    await asking(again).begin('last')
    await asking(again).settle('last')
    await again.flushed()
    await again.close()
    expect(segments()).not.toContain(kept[0]![0])
    expect(await outcomes(gateway)).toHaveLength(31)
  })
})

test('an attempt that never left ends its intent, has its row of the log, and no entry of the ledger', async () => {
  const gateway = await setUp('sqlite')
  const records = await gateway.start()
  await asking(records).begin('gone')
  const ended = intent({call_id: 'gone'})
  const row = settlement({...ended, attempt: 0, counter_keys: []}, {outcome: 'aborted', log: logRecord({id: 'gone'})})
  expect(await new Promise<Error | undefined>(done => records.recorder.settle(row, null, done, ended))).toBeUndefined()
  await records.flushed()
  expect(records.status().open_intents).toBe(0)
  expect([await ids(gateway, 'logs'), await outcomes(gateway)]).toEqual([['gone'], []])
  await records.close()
  const again = await gateway.start()
  expect(again.report.recovered).toBe(0)
})

test('bodies beyond the bound are dropped and counted, and the calls are recorded all the same', async () => {
  const gateway = await setUp('sqlite')
  const records = await gateway.start({most_body_bytes: 100_000})
  const {recorder} = records
  const large = Buffer.alloc(40_000, 'x')
  const done = (fault?: Error) => expect(fault).toBeUndefined()
  for (const call_id of ['a', 'b', 'c', 'd']) {
    recorder.settle(
      settlement(intent({call_id}), {log: logRecord({id: call_id})}),
      logBodies(call_id, {response_body: large}),
      done,
    )
  }
  await records.flushed()
  expect(await ids(gateway, 'logs')).toEqual(['a', 'b', 'c', 'd'])
  expect(await ids(gateway, 'bodies')).toEqual(['a', 'b'])
  expect(records.status()).toMatchObject({bodies_dropped: 2, body_bytes: 0})
})

test('where bodies wait and there is no room, none are taken until there is; the calls are recorded all the same', async () => {
  const gateway = await setUp('sqlite')
  const records = await gateway.start()
  const ask = asking(records)
  const call = async (id: string) => {
    await ask.begin(id)
    await ask.settle(id)
  }
  records.shutBodies(true)
  await call('a')
  records.shutBodies(false)
  await call('b')
  await records.flushed()
  expect([await ids(gateway, 'logs'), await ids(gateway, 'bodies')]).toEqual([['a', 'b'], ['b']])
  expect(records.status().bodies_dropped).toBe(1)
})

test('a file of bodies that was sealed is written to no more, and all that was flushed before is in one', async () => {
  const gateway = await setUp('sqlite')
  const records = await gateway.start()
  const ask = asking(records)
  const sealed: (readonly string[])[] = [await records.sealBodies()]
  const sizes: number[] = []
  for (const id of ['a', 'b']) {
    await ask.begin(id)
    await ask.settle(id)
    await records.flushed()
    sealed.push(await records.sealBodies())
    sizes.push(statSync(sealed.at(-1)![0]!).size)
  }
  expect(sealed.map(paths => paths.length)).toEqual([0, 1, 2])
  expect([sealed[2]![0], sizes[0]]).toEqual([sealed[1]![0], sizes[1]])
  expect(await ids(gateway, 'bodies')).toEqual(['a', 'b'])
})

test('a settlement too large for the journal is written without its log row', async () => {
  const gateway = await setUp('sqlite')
  const records = await gateway.start()
  const ask = asking(records)
  await ask.begin('a')
  expect(await ask.settle('a', {log: logRecord({id: 'a', error: 'x'.repeat(9_000_000)})})).toBeUndefined()
  await records.flushed()
  expect(await outcomes(gateway)).toEqual(['a ok'])
  expect(await ids(gateway, 'logs')).toEqual([])
  expect(await ids(gateway, 'bodies')).toEqual([])
  expect(records.status()).toMatchObject({rows_dropped: 1, open_intents: 0})
})

test('a record that cannot be said as JSON is a fault for its caller and no exception', async () => {
  const records = await (await setUp('sqlite')).start()
  const circular: Record<string, string> = {}
  Object.assign(circular, {circular})
  const fault = await new Promise<Error | undefined>(resolve =>
    records.recorder.settle(settlement(intent(), {log: logRecord({metadata: circular})}), null, resolve),
  )
  expect(fault?.message).toBe('The record of a call cannot be written as JSON.')
})

test('after close nothing is taken, and close may be called again', async () => {
  const records = await (await setUp('sqlite')).start()
  await records.close()
  await records.close()
  await records.flushed()
  expect(await asking(records).begin('late')).toBeInstanceOf(Error)
  expect(records.status().accepting).toBe(false)
})

test('databases that do not belong together are refused with a sentence', async () => {
  const gateway = await setUp('sqlite')
  await (await gateway.start()).close()
  await writeMeta(gateway.store.db, 'epoch', '2')
  await expect(gateway.start()).rejects.toThrow(DataDirFault)
  await expect(gateway.start()).rejects.toThrow(
    /control database is of epoch 2, .* are of epoch 1: one of them was restored alone\. Restore both/,
  )
  await writeMeta(gateway.store.db, 'store_id', '00000000-0000-4000-8000-000000000000')
  await expect(gateway.start()).rejects.toThrow(
    /control database is of the store 00000000-.*Restore both from the same backup/,
  )
  await gateway.store.db.deleteFrom('meta').execute()
  await expect(gateway.start()).rejects.toThrow(
    'The control database is not the one that the ledger and the log belong to.',
  )
})
