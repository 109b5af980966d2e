import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import type {Settlement} from '../../src/schema/records.ts'
import {decodeRecord, encodeSettlement, type FlushTarget, openTarget} from '../../src/store/flush/index.ts'
import {openMark} from '../../src/store/journal-marks.ts'
import {policyEntities} from '../../src/store/policies.ts'
import {usedSince} from '../../src/store/usage.ts'
import {intent, logRecord, settlement, targetOf} from '../support/records.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const WRITER = '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3e'
const MONTH = Date.UTC(2026, 2, 1)
const DAY = Date.UTC(2026, 2, 4)
const HOUR_MS = 3_600_000
const iso = (ms: number) => new Date(ms).toISOString()
const of = (value_key: string, policy = 'p') => ({
  entity: 'policy' as const,
  id: `${policy}/${value_key}`,
  workspace_id: 'ws',
})

describe.each(KINDS)('what entities of policies used, on %s', kind => {
  let database: TestStore
  let target: FlushTarget
  let calls = 0

  beforeEach(async () => {
    database = await testStore(kind)
    await openMark(database.store, WRITER, 1)
    target = await openTarget(targetOf(database), WRITER, 1)
  })
  afterEach(async () => {
    await target.close()
    await database.close()
  })

  /** A call that used 210 + 40 + 120 tokens and 103500 nano-dollars (`settlement`), unless told otherwise. */
  const call = (admitted_ms: number, counter_keys: readonly string[], more: Partial<Settlement> = {}) => {
    const id = `call-${++calls}`
    return settlement(intent({call_id: id, admitted_at: iso(admitted_ms), counter_keys}), {
      log: logRecord({id}),
      ...more,
    })
  }
  const apply = async (...settlements: readonly Settlement[]) => {
    const from = await target.readMark()
    const records = settlements.map(said => decodeRecord(Buffer.from(encodeSettlement(said))))
    await target.apply({from, end: () => ({segment: from.segment, position: from.position + 1}), records})
  }
  const used = async (value_key: string, since_ms: number, policy?: string) =>
    (await usedSince(database.store.db, of(value_key, policy), iso(since_ms))).tokens

  test('is added up by entity and day from the counters that calls claimed, each in what it counts, once', async () => {
    const both = [
      `tokens/budget/${MONTH}/policy/p/user:bob`,
      `cost/budget/${MONTH}/policy/q/team:a/b-user:bob`,
      'requests/rpm/0/key/k',
    ]
    const first = call(DAY + HOUR_MS, both)
    await apply(first, call(DAY + 2 * HOUR_MS, both), call(DAY + 25 * HOUR_MS, both.slice(0, 1)))
    await apply(first)
    expect([
      await used('user:bob', MONTH),
      await used('user:bob', DAY + 24 * HOUR_MS),
      await used('user:eve', MONTH),
    ]).toEqual([1110n, 370n, 0n])
    expect(await used('team:a/b-user:bob', MONTH, 'q')).toBe(207_000n)
  })

  test('after a reset by hand is apart from what was used before on the same day', async () => {
    const reset_ms = DAY + 5 * HOUR_MS
    await apply(
      call(DAY + HOUR_MS, [`tokens/budget/${MONTH}/policy/p/user:bob`]),
      call(DAY + 6 * HOUR_MS, [`tokens/budget/${reset_ms}/policy/p/user:bob`]),
    )
    expect([await used('user:bob', MONTH), await used('user:bob', reset_ms)]).toEqual([740n, 370n])
  })

  test('of rates is the last window alone: visits of calls, not their attempts', async () => {
    const key = (window_ms: number) => [`requests/rph/${window_ms}/policy/r/user:bob`]
    await apply(call(DAY, key(DAY)), call(DAY, key(DAY)), call(DAY, key(DAY), {log: null}))
    const shown = async (since_ms: number) => {
      const filter = {since_at: iso(since_ms), limit: 2n}
      return (
        await policyEntities(database.store.db, {id: 'r', kind: 'rate'}, filter, {current_page: 0, page_size: 10})
      ).rows.map(row => row.used)
    }
    expect(await shown(DAY)).toEqual([2n])
    await apply(call(DAY + HOUR_MS, key(DAY + HOUR_MS)))
    expect([await shown(DAY), await shown(DAY + HOUR_MS), await shown(DAY + 2 * HOUR_MS)]).toEqual([[1n], [1n], [0n]])
    // a record that comes late, from another process
    await apply(call(DAY, key(DAY)))
    expect(await shown(DAY + HOUR_MS)).toEqual([1n])
  })

  test('entities are listed by what they used, by name and by status, a page at a time', async () => {
    const users = ['ann', 'bob%', 'bob_', 'eve']
    for (const [at, user] of users.entries()) {
      const keys = [`cost/budget/${MONTH}/policy/p/user:${user}`]
      await apply(...Array.from({length: at + 1}, () => call(DAY, keys)))
    }
    const listed = async (more: object, page_size = 10, current_page = 0) => {
      const {total, rows} = await policyEntities(
        database.store.db,
        {id: 'p', kind: 'usage'},
        {since_at: iso(MONTH), limit: 300_000n, ...more},
        {current_page, page_size},
      )
      return [total, ...rows.map(({value_key}) => value_key)]
    }
    expect(await listed({})).toEqual([4, 'user:eve', 'user:bob_', 'user:bob%', 'user:ann'])
    expect(await listed({}, 3, 1)).toEqual([4, 'user:ann'])
    expect(await listed({search: 'bob%'})).toEqual([1, 'user:bob%'])
    expect(await listed({status: 'exhausted'})).toEqual([2, 'user:eve', 'user:bob_'])
    expect(await listed({status: 'active'})).toEqual([2, 'user:bob%', 'user:ann'])
  })
})
