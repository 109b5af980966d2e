import {readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {asking, setUp} from './support.ts'

const CALLS = 20
const FLIPS = forRing({own: 3, ci: 10, full: 100})
const TABLES = [
  'ledger_entries',
  'logs',
  'usage_hourly',
  'log_hourly',
  'log_latencies',
  'policy_usage',
  'policy_windows',
] as const
/** What the database holds of the journal when the next process starts. */
const APPLIED = ['nothing', 'half', 'all', 'all, its mark lost'] as const

type Database = Awaited<ReturnType<typeof setUp>>

/**
 * A gateway that made `CALLS` calls and was killed: its segment, where the settlement in the middle ends, and the
 * database at three moments.
 */
async function killed() {
  const gateway = await setUp('sqlite')
  const records = await gateway.start()
  const half = CALLS / 2
  const states = {nothing: await stateOf(gateway), half: await stateOf(gateway), all: await stateOf(gateway)}
  for (let n = 0; n < CALLS; n++) {
    await asking(records).begin(`call-${n}`)
    await asking(records).settle(`call-${n}`)
    if (n + 1 !== half) continue
    await records.flushed()
    states.half = await stateOf(gateway)
  }
  await records.flushed()
  states.all = await stateOf(gateway)
  const name = readdirSync(gateway.directory.journal).find(each => each.endsWith('.seg'))!
  const segment = readFileSync(join(gateway.directory.journal, name))
  await records.close()
  return {gateway, name, segment, states}
}

async function stateOf({store: {db}}: Database) {
  const rows = await Promise.all(
    TABLES.map(async table => [table, await db.selectFrom(`traffic.${table}`).selectAll().execute()] as const),
  )
  return {rows, marks: await db.selectFrom('traffic.journal_marks').selectAll().execute()}
}

async function putBack(
  {store: {db}}: Database,
  {rows, marks}: Awaited<ReturnType<typeof stateOf>>,
  is_mark_lost: boolean,
) {
  for (const [table, kept] of rows) {
    await db.deleteFrom(`traffic.${table}`).execute()
    for (const row of kept)
      await db
        .insertInto(`traffic.${table}`)
        .values(row as never)
        .execute()
  }
  for (const {writer, ...mark} of marks)
    await db
      .updateTable('traffic.journal_marks')
      .set(is_mark_lost ? {...mark, segment: 0, position: 0} : mark)
      .where('writer', '=', writer)
      .execute()
}

describe('a journal with one flipped byte', () => {
  test.each(APPLIED)(
    'costs one record at most, and ledger and log agree; applied was: %s',
    async applied => {
      const {gateway, name, segment, states} = await killed()
      const data_end = segment.findLastIndex(byte => byte !== 0) + 1
      const known = states[applied === 'all, its mark lost' ? 'all' : applied]
      let drawn = seed()
      for (let n = 0; n < FLIPS; n++) {
        drawn = (Math.imul(drawn, 1_103_515_245) + 12_345) >>> 0
        const at = n === 0 ? drawn % 60 : 64 + (drawn % (data_end - 64)) // the header once
        const bytes = Buffer.from(segment)
        bytes[at] = bytes[at]! ^ (1 << (n % 8))
        for (const old of readdirSync(gateway.directory.journal)) rmSync(join(gateway.directory.journal, old))
        writeFileSync(join(gateway.directory.journal, name), bytes)
        await putBack(gateway, known, applied === 'all, its mark lost')
        const records = await gateway.start()
        await records.close()
        const place = `byte ${at}`
        const entries = await gateway.store.db.selectFrom('traffic.ledger_entries').select('call_id').execute()
        const rows = await gateway.store.db.selectFrom('traffic.logs').select('call_id').execute()
        expect(entries.length, place).toBeGreaterThanOrEqual(CALLS - 1)
        expect(new Set(entries.map(({call_id}) => call_id)).size, place).toBe(entries.length)
        expect(rows.map(({call_id}) => call_id).sort(), place).toEqual(entries.map(({call_id}) => call_id).sort())
        expect((await verifyLedger(gateway.store)).breaks, place).toEqual([])
        if (applied !== 'all') expect(records.report.warnings.join('\n'), place).toMatch(/damaged/)
      }
      generated(`a flipped byte of the journal, applied: ${applied}`, FLIPS)
    },
    120_000,
  )
})
