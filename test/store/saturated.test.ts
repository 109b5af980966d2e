import {sql} from 'kysely'
import {describe, expect, onTestFinished, test} from 'vitest'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {policyUsedSince} from '../../src/store/policies.ts'
import {MOST_SUM, saturatedSum} from '../../src/store/saturated.ts'
import {usageSince} from '../../src/store/usage.ts'
import {usageSums} from '../../src/store/usage-sums.ts'
import {callAt, openFlush} from '../support/flushed.ts'
import {KINDS, testStore} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.008Z'
const HOUR = '2026-03-04T05:00:00.000Z'
const CALLS = 1_100
const MOST = Number.MAX_SAFE_INTEGER
const KEY = `tokens/budget/${Date.parse('2026-03-01T00:00:00.000Z')}/policy/p/metadata._user:x`

describe.each(KINDS)('sums beyond 64 bits on %s', kind => {
  test('stay at the bound, are flagged, and leave the rows of other keys in that hour as they are', async () => {
    const database = await testStore(kind)
    const flush = await openFlush(database)
    onTestFinished(async () => {
      await flush.close()
      await database.close()
    })
    const odd = () =>
      callAt({
        at: AT,
        api_key_id: 'odd',
        counter_keys: [KEY],
        usage: {input_uncached_tokens: MOST, output_text_tokens: MOST},
        cost_nanousd: MOST,
      })
    const plain = () => callAt({at: AT, api_key_id: 'plain', usage: {input_uncached_tokens: 5}, cost_nanousd: 7})
    for (let n = 0; n < CALLS; n += 550) await flush.apply(plain(), ...Array.from({length: 550}, odd), plain())
    await flush.apply(plain())

    const {db} = database.store
    const rows = await db
      .selectFrom('traffic.usage_hourly')
      .select(['api_key_id', 'requests'])
      .orderBy('api_key_id')
      .execute()
    expect(rows).toEqual([
      {api_key_id: 'odd', requests: CALLS},
      {api_key_id: 'plain', requests: 5},
    ])
    const scope = (id: string) => ({entity: 'key' as const, id, workspace_id: callAt({at: AT}).workspace_id})
    expect(await usageSince(db, scope('plain'), HOUR)).toEqual({tokens: 25n, cost_nanousd: 35n})
    expect(await usageSince(db, scope('odd'), HOUR)).toEqual({tokens: 2n * MOST_SUM, cost_nanousd: MOST_SUM})
    expect(await usageSince(db, scope('odd'), '2026-03-04T05:30:00.000Z')).toEqual({tokens: 0n, cost_nanousd: 0n})
    expect(await policyUsedSince(db, 'p', 'metadata._user:x', '2026-03-01T00:00:00.000Z')).toBe(MOST_SUM)
    const all = await usageSums(db, ['workspace'], {
      organisation_id: callAt({at: AT}).organisation_id,
      from: HOUR,
      workspace_id: undefined,
      until: undefined,
    })
    expect(all).toMatchObject([{requests: String(CALLS + 5), cost_nanousd: String(MOST_SUM)}])
    const report = await verifyLedger(database.store)
    expect([report.breaks, report.sums.at_bound, report.set_aside.records]).toEqual([[], 1, 0])
  })

  test('a sum is exact up to them', async () => {
    const {store, close} = await testStore(kind)
    onTestFinished(close)
    const sumOf = async (...values: bigint[]) => {
      const rows = sql.join(
        values.map(value => sql`select ${sql.raw(`${value}`)} as n`),
        sql` union all `,
      )
      const {rows: found} = await sql<{
        sum: string
      }>`select ${saturatedSum(sql`n`)} as sum from (${rows}) as each`.execute(store.db)
      return BigInt(found[0]!.sum)
    }
    expect(await sumOf(MOST_SUM)).toBe(MOST_SUM)
    expect(await sumOf(MOST_SUM - 1n, 1n)).toBe(MOST_SUM)
    expect(await sumOf(MOST_SUM - 2n, 1n)).toBe(MOST_SUM - 1n)
    expect(await sumOf(MOST_SUM, MOST_SUM, MOST_SUM)).toBe(MOST_SUM)
    expect(await sumOf(2n ** 32n - 1n, 2n ** 32n - 1n, 3n)).toBe(2n ** 33n + 1n)
    expect(await sumOf(0n)).toBe(0n)
  })
})
