import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {sql} from 'kysely'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {decodeRecord, encodeSettlement, openTarget} from '../../src/store/flush/index.ts'
import {openMark} from '../../src/store/journal-marks.ts'
import {intent, logRecord, settlement} from '../support/records.ts'
import {run} from './support.ts'

let folder: string
let data: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-ledger-'))
  data = join(folder, 'data')
  await run(['init', '--data-dir', data])
  await onStore(async store => {
    const from = await openMark(store, 'a-writer', 1)
    const target = await openTarget({kind: 'sqlite', folder: data}, 'a-writer', 1)
    const said = [
      settlement(intent({call_id: 'call-1'}), {log: logRecord({id: 'log-1'})}),
      settlement(intent({call_id: 'call-2'}), {outcome: 'recovered', usage: {}, cost_nanousd: 1_500, log: null}),
    ]
    await target.apply({
      from,
      end: () => ({segment: 1, position: 1}),
      records: said.map(each => decodeRecord(Buffer.from(encodeSettlement(each)))),
    })
    await target.close()
  })
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

async function onStore(work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>) {
  const store = await openStore({kind: 'sqlite', folder: data, role: 'operator'})
  await work(store)
  await store.close()
}

describe('ledger verify', () => {
  test('says what holds, from when on, and what was recovered', async () => {
    const said = await run(['ledger', 'verify', '--data-dir', data])
    expect(said).toMatchObject({code: 0, stderr: ''})
    expect(said.stdout.split('\n')).toEqual([
      '2 entries of 2 writers hold.',
      '1 hourly sum from 2026-03-04T05:00:00.000Z on were held against them.',
      '1 log row from 2026-03-04T05:06:07.008Z on were held against them.',
      '1 entry is recovered, 0.0000015 US dollars: estimates of calls that an end of the process cut off.',
      expect.stringMatching(/^CALL +ATTEMPT +ADMITTED/),
      expect.stringMatching(/^call-2 +1 +2026-03-04 05:06 +openai +gpt-4o-mini +0\.0000015$/),
      '',
    ])
    const {stdout} = await run(['ledger', 'verify', '--data-dir', data, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      entries: 2,
      writers: 2,
      recovered: {entries: 1, cost_usd: '0.0000015'},
      breaks: [],
    })
  })

  test('tells records that were set aside and kept, and holds', async () => {
    const row = {
      writer: 'w',
      segment: 1,
      record: 'a:1',
      reason: 'it is not JSON',
      is_kept: 1,
      set_aside_at: '2026-03-04T05:06:07.008Z',
    }
    const rows = [
      {...row, position: 1, is_charged: 0},
      {...row, position: 2, is_charged: 1},
    ]
    await onStore(store => store.db.insertInto('traffic.set_aside').values(rows).execute())
    const found = await run(['ledger', 'verify', '--data-dir', data])
    expect([found.code, found.stdout]).toEqual([
      0,
      expect.stringContaining(
        '2 records of the journal could not be entered as they are, the last at 2026-03-04T05:06:07.008Z; the cost of 1 is not in the ledger. They are kept in journal/set-aside.jsonl',
      ),
    ])
    const {stdout} = await run(['ledger', 'verify', '--data-dir', data, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ok: true, set_aside: {records: 2, uncharged: 1}})
  })

  test('exits 1 when it is broken, and names the first broken entry', async () => {
    await onStore(store =>
      sql`update traffic.ledger_entries set cost_nanousd = 1 where call_id = 'call-1'`.execute(store.db),
    )
    const said = await run(['ledger', 'verify', '--data-dir', data])
    expect(said.code).toBe(1)
    expect(said.stderr).toMatch(
      /^gateway: The ledger is broken\. Entry call-1:1 of 2026-03-04T05:06:08\.000Z is not what writer a-writer recorded/,
    )
    const json = await run(['ledger', 'verify', '--data-dir', data, '--json'])
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      breaks: [{kind: 'chain', entry: {call_id: 'call-1', attempt: 1}}, {kind: 'sum'}, {kind: 'log'}],
    })
    expect(JSON.parse(json.stderr)).toMatchObject({error: {code: 'ledger_broken'}})
  })

  test('is refused for a gateway elsewhere', async () => {
    expect(await run(['ledger', 'verify', '--url', 'http://127.0.0.1:9'])).toMatchObject({code: 2})
    expect(await run(['ledger', 'verify'], {env: {GATEWAY_URL: 'http://127.0.0.1:9'}})).toMatchObject({code: 2})
  })
})
