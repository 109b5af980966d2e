import {cpSync, mkdtempSync, readdirSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, onTestFinished, test} from 'vitest'
import {keepUsageLimits, type UsageLimit} from '../../src/schema/limits.ts'
import {backUp} from '../../src/store/backup.ts'
import type {Store} from '../../src/store/database.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {usageSince} from '../../src/store/usage.ts'
import {entityBudgets} from '../../src/workers/budgets.ts'
import {retainLogs} from '../../src/workers/retain-logs.ts'
import {spendingOn} from '../support/budgets.ts'
import {KINDS} from '../support/stores.ts'

const NOW = '2026-03-25T12:34:56.789Z'
const NOW_MS = Date.parse(NOW)
const LIMIT: UsageLimit = {
  type: 'cost',
  credit_limit: 100,
  alert_threshold: null,
  periodic_reset: null,
  periodic_reset_days: null,
  next_usage_reset_at: null,
  enforcement: 'compatible',
}

describe.each(KINDS)('what was spent, on %s,', kind => {
  /** Two keys, each with spending on many days of March, a dollar a day. */
  async function setUp() {
    const {store, spent, database} = await spendingOn(kind)
    for (const key of ['blue', 'green']) {
      await spent.key(key, {credit_limit: 100})
      for (let day = 1; day <= 25; day++)
        await spent.spend(key, 1, `2026-03-${String(day).padStart(2, '0')}T00:20:00.000Z`)
    }
    /** Dollars that the budget of each key says are used. */
    const used = async (of: Store = store) => {
      const budgets = await entityBudgets(of.db, (scope, since_at) => usageSince(of.db, scope, since_at))(NOW_MS)
      return Object.fromEntries(budgets.map(({subject, standing}) => [subject.id, Number(standing.used) / 1e9]))
    }
    const edit = async (given: Partial<UsageLimit>) => {
      const {usage_limits} = await store.db
        .selectFrom('api_keys')
        .select('usage_limits')
        .where('id', '=', 'blue')
        .executeTakeFirstOrThrow()
      const kept = keepUsageLimits([{...LIMIT, ...given}], usage_limits, NOW)
      await store.db.updateTable('api_keys').set({usage_limits: kept}).where('id', '=', 'blue').execute()
      return used()
    }
    return {...spent, database, store, used, edit}
  }

  test('is what it was after every change of a period', async () => {
    const {used, edit} = await setUp()
    expect(await used()).toEqual({blue: 25, green: 25})
    expect(await edit({periodic_reset: 'monthly'})).toEqual({blue: 25, green: 25})
    expect(await edit({periodic_reset: 'weekly'})).toEqual({blue: 4, green: 25}) // Sunday the 22nd to the 25th
    expect(await edit({periodic_reset_days: 10})).toEqual({blue: 5, green: 25}) // from the 1st: the 21st to the 25th
    expect(await edit({periodic_reset: null, credit_limit: 7})).toEqual({blue: 25, green: 25})
  })

  test('starts anew for the one that is reset, from that moment, and stands in the ledger as before', async () => {
    const {store, used, spend} = await setUp()
    await store.db
      .updateTable('api_keys')
      .set({last_reset_at: '2026-03-20T00:20:00.001Z'})
      .where('id', '=', 'blue')
      .execute()
    expect(await used()).toEqual({blue: 5, green: 25})
    await spend('blue', 3, '2026-03-25T01:00:00.000Z')
    expect(await used()).toEqual({blue: 8, green: 25})
    expect(await verifyLedger(store)).toMatchObject({entries: 51, breaks: []})
  })

  test('is not touched by retention, however short', async () => {
    const {store, target, used, edit} = await setUp()
    const days = {log_retention_days: 1, log_body_retention_days: 1, metrics_retention_days: 2}
    await retainLogs({target, now_ms: NOW_MS, clock: () => 0, budget_ms: 1, rest: async () => {}, ...days})
    expect(await store.db.selectFrom('traffic.usage_hourly').select('hour').distinct().execute()).toHaveLength(2)
    expect(await used()).toEqual({blue: 25, green: 25})
    expect(await edit({periodic_reset: 'weekly'})).toEqual({blue: 4, green: 25})
    expect((await verifyLedger(store)).breaks).toEqual([])
  })

  test.runIf(kind === 'sqlite')('is in a restored backup what it was when that was taken', async () => {
    const {database, used, spend} = await setUp()
    const backups = mkdtempSync(join(tmpdir(), 'gateway-backups-'))
    const restored = mkdtempSync(join(tmpdir(), 'gateway-restored-'))
    onTestFinished(() => {
      for (const folder of [backups, restored]) rmSync(folder, {recursive: true, force: true})
    })
    const folder = await backUp({
      data_folder: database.folder,
      backups,
      now: new Date(NOW_MS),
      version: '0',
      binding: undefined,
    })
    await spend('blue', 50, '2026-03-25T02:00:00.000Z')
    expect(await used()).toEqual({blue: 75, green: 25})
    for (const name of readdirSync(folder).filter(each => each.endsWith('.db')))
      cpSync(join(folder, name), join(restored, name))
    const store = await openStore({kind: 'sqlite', folder: restored, role: 'server'})
    onTestFinished(() => store.close())
    expect(await used(store)).toEqual({blue: 25, green: 25})
    expect((await verifyLedger(store)).breaks).toEqual([])
  })
})
