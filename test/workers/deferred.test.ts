import {afterEach, describe, expect, test} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import type {AskAgain} from '../../src/schema/deferred.ts'
import {insertBatch} from '../../src/store/batches.ts'
import {deferredJob, FIRST_ASK_MS} from '../../src/workers/deferred.ts'
import {generated} from '../support/ring.ts'
import {KINDS, testStore} from '../support/stores.ts'

const BEGAN = Date.parse('2026-01-01T00:00:00.000Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const log = createLog('trace', 'gateway', () => undefined)

type Answer = Awaited<ReturnType<AskAgain>> | 'fails'

/** What comes of a work of some age that was asked for so often, by what the provider says. */
const ANSWERS: readonly Answer[] = ['under_way', 'gone', 'unknown', 'fails', 'charged']
const AGES = [0, 5 * DAY, 34 * DAY, 36 * DAY, 71 * DAY]
const ASKS = [0, 1, 3, 4, 40]
const CASES = ANSWERS.flatMap(answer => AGES.flatMap(age_ms => ASKS.map(asks => ({answer, age_ms, asks}))))

describe.each(KINDS)('work that nobody asks for again, on %s,', kind => {
  let close: () => Promise<void> = async () => undefined
  afterEach(() => close())

  async function opened() {
    const database = await testStore(kind)
    close = () => database.close()
    const {store} = database
    const begin = (call_id: string, given: object = {}) =>
      store.write(db =>
        insertBatch(db, {
          call_id,
          workspace_id: 'ws',
          provider: 'openai',
          integration_id: 'in',
          batch_id: `batch-${call_id}`,
          charge: JSON.stringify({intent: {provider: 'openai', workspace_id: 'ws'}}),
          created_at: new Date(BEGAN).toISOString(),
          settled_at: null,
          asks: 0,
          next_ask_ms: BEGAN,
          ...given,
        }),
      )
    const rows = () => store.db.selectFrom('batches').selectAll().orderBy('call_id').execute()
    const asked: string[] = []
    const run = (now_ms: number, answer: Answer | ((id: string) => Answer), lost = new AbortController()) =>
      deferredJob({
        store,
        log,
        async ask({id}) {
          asked.push(id)
          const said = typeof answer === 'function' ? answer(id) : answer
          if (said === 'fails') throw new Error('no')
          return said
        },
      }).run({now_ms, lost: lost.signal})
    return {begin, rows, asked, run}
  }

  test('is asked for once in a turn, more seldom each time, and no more once it is too old', async () => {
    generated('deferred work', CASES.length)
    const {begin, rows, asked, run} = await opened()
    const now = BEGAN + 71 * DAY
    for (const [at, {age_ms, asks}] of CASES.entries()) {
      const created_at = new Date(now - age_ms).toISOString()
      await begin(String(at).padStart(3, '0'), {created_at, asks, next_ask_ms: now - 1})
    }
    const caseOf = (id: string) => CASES[Number(id.slice(-3))]!
    for (let turn = 0; turn < 4; turn++) await run(now, id => caseOf(id).answer)
    expect(asked.toSorted()).toEqual(CASES.map((_, at) => `batch-${String(at).padStart(3, '0')}`))
    for (const [at, row] of (await rows()).entries()) {
      const {answer, age_ms, asks} = CASES[at]!
      const name = JSON.stringify(CASES[at])
      const is_said = age_ms > 35 * DAY && (answer === 'gone' || answer === 'unknown')
      const is_given_up = is_said || (answer === 'fails' && age_ms > 70 * DAY && asks >= 4)
      expect(row.settled_at !== null, name).toBe(is_given_up)
      expect(Number(row.asks), name).toBe(asks + 1)
      const waits_ms = Number(row.next_ask_ms) - now
      expect(waits_ms, name).toBeGreaterThanOrEqual(2 * FIRST_ASK_MS)
      expect(waits_ms, name).toBe(Math.min(FIRST_ASK_MS * 2 ** (asks + 1), 6 * HOUR))
    }
  })

  test('is not asked for before its time, once it is charged, or where the client brought its own credentials', async () => {
    const {begin, asked, run} = await opened()
    await begin('early', {next_ask_ms: BEGAN + 1})
    await begin('charged', {settled_at: new Date(BEGAN).toISOString()})
    await begin('own', {integration_id: ''})
    await run(BEGAN, 'under_way')
    expect(asked).toEqual([])
    await run(BEGAN + 1, 'under_way')
    expect(asked).toEqual(['batch-early'])
  })

  test('is asked for in bounded turns, the longest due first, and left when the lease is lost', async () => {
    const {begin, asked, run} = await opened()
    for (let at = 0; at < 60; at++) await begin(String(at).padStart(2, '0'), {next_ask_ms: BEGAN - at})
    await run(BEGAN, 'under_way')
    expect(asked).toHaveLength(50)
    expect(asked[0]).toBe('batch-59')
    const lost = new AbortController()
    const losing = () => {
      lost.abort()
      return 'under_way' as const
    }
    await run(BEGAN, losing, lost)
    expect(asked).toHaveLength(51)
  })

  test('is not given up where its one ask was cut off', async () => {
    const {begin, rows, run} = await opened()
    await begin('old', {asks: 40})
    const lost = new AbortController()
    const cutOff = () => {
      lost.abort()
      return 'gone' as const
    }
    await run(BEGAN + 90 * DAY, cutOff, lost)
    expect((await rows())[0]!.settled_at).toBeNull()
  })
})
