import {afterEach, describe, expect, test} from 'vitest'
import {emptyUsage} from '../../src/schema/usage.ts'
import {deleteOlder} from '../../src/store/retention.ts'
import {callAt, openFlush} from '../support/flushed.ts'
import {KINDS, testStore} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.008Z'
let opened: {close(): Promise<void>}[] = []
afterEach(async () => {
  for (const each of opened.reverse()) await each.close()
  opened = []
})

async function open(kind: 'sqlite' | 'postgres') {
  const database = await testStore(kind)
  opened.push(database)
  const flush = await openFlush(database)
  opened.push(flush)
  const {db} = database.store
  const hours = () =>
    db.selectFrom('traffic.log_hourly').selectAll().orderBy('grain').orderBy('hour').orderBy('status').execute()
  const latencies = () =>
    db.selectFrom('traffic.log_latencies').selectAll().orderBy('grain').orderBy('bucket').execute()
  const feedback = () => db.selectFrom('traffic.feedback').selectAll().orderBy('value').execute()
  return {db, apply: flush.apply, hours, latencies, feedback}
}

const guarded = (value: number, late = false) => ({
  before_request_hooks: [],
  after_request_hooks: late
    ? []
    : [
        {
          verdict: true,
          id: 'pg-1',
          transformed: false,
          checks: [],
          feedback: {value, weight: 0.5, metadata: {successful_checks: 'a'}},
          execution_time: 1,
          async: false,
          type: 'guardrail' as const,
          created_at: AT,
          deny: false,
        },
      ],
})

describe.each(KINDS)('sums of the log on %s', kind => {
  test('hold every row once, by all that is named and as totals', async () => {
    const {apply, hours, latencies} = await open(kind)
    const usage = {...emptyUsage(), input_uncached_tokens: 7, output_text_tokens: 3}
    const same = {usage, cost_nanousd: 11, model: 'm'}
    await apply(callAt({at: AT, ...same}), callAt({at: '2026-03-04T05:59:59.999Z', ...same}))
    await apply(
      callAt({at: '2026-03-04T05:30:00.000Z', ...same, log: {response_status: 429, last_byte_ms: 1}}),
      // a hit never left: the ledger has no entry of it
      callAt({
        at: '2026-03-04T06:00:00.000Z',
        ...same,
        attempt: 0,
        cost_nanousd: 0,
        log: {cache_status: 'HIT', last_byte_ms: 2},
      }),
    )
    const all = await hours()
    expect(
      all.map(({grain, hour, status, cache_status, model}) => [grain, hour.slice(11, 13), status, cache_status, model]),
    ).toEqual([
      [0, '05', 200, 'DISABLED', ''],
      [0, '05', 429, 'DISABLED', ''],
      [0, '06', 200, 'HIT', ''],
      [1, '05', 200, 'DISABLED', 'm'],
      [1, '05', 429, 'DISABLED', 'm'],
      [1, '06', 200, 'HIT', 'm'],
    ])
    const two = {
      requests: 2,
      successes: 2,
      prompt_tokens: 14,
      completion_tokens: 6,
      cost_nanousd: 22,
      duration_ms: 1626,
    }
    expect([all[0], all[3]]).toEqual([expect.objectContaining(two), expect.objectContaining(two)])
    expect(all[1]).toMatchObject({requests: 1, successes: 0, duration_ms: 1})
    expect(
      (await latencies()).filter(({grain}) => grain === 0).map(({bucket, requests}) => [bucket, requests]),
    ).toEqual([
      [0, 1],
      [7, 1],
      [70, 2],
    ])
  })

  test('count a row that is told again once, in the same slice or a later one', async () => {
    const {apply, hours, feedback} = await open(kind)
    const first = callAt({at: AT})
    const again = {...first, attempt: 0, counter_keys: [], log: {...first.log!, hook_results: guarded(-3)}}
    await apply(first, again)
    await apply(again)
    expect((await hours()).map(({grain, requests}) => [grain, requests])).toEqual([
      [0, 1],
      [1, 1],
    ])
    expect(await feedback()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/),
        organisation_id: first.organisation_id,
        workspace_id: first.workspace_id,
        trace_id: first.trace_id,
        api_key_id: first.principal.id,
        user_id: null,
        source: 'guardrail',
        value: -3,
        weight: 0.5,
        metadata: '{"successful_checks":"a"}',
        created_at: AT,
        last_updated_at: AT,
      },
    ])
  })

  test('are kept as long as the other sums, and feedback as long as the log', async () => {
    const {db, apply, hours, latencies, feedback} = await open(kind)
    const first = callAt({at: AT})
    await apply({...first, log: {...first.log!, hook_results: guarded(1)}}, callAt({at: '2026-03-04T07:00:00.000Z'}))
    while (await deleteOlder(db, 'hours', Date.parse('2026-03-04T06:00:00.000Z')));
    expect((await hours()).map(({hour}) => hour.slice(11, 13))).toEqual(['07', '07'])
    expect((await latencies()).length).toBe(2)
    expect(await deleteOlder(db, 'feedback', Date.parse(AT))).toBe(false)
    expect((await feedback()).length).toBe(1)
    await deleteOlder(db, 'feedback', Date.parse(AT) + 1)
    expect(await feedback()).toEqual([])
  })
})
