import fc from 'fast-check'
import {sql} from 'kysely'
import {afterEach, describe, expect, test} from 'vitest'
import type {Outcome, Settlement} from '../../src/schema/records.ts'
import {
  CHAIN_START,
  decodeRecord,
  encodeSettlement,
  type FlushTarget,
  MarkMovedFault,
  openTarget,
} from '../../src/store/flush/index.ts'
import type {Mark} from '../../src/store/journal/index.ts'
import {openMark} from '../../src/store/journal-marks.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {findLog} from '../../src/store/logs.ts'
import {keptBodies, packedBodies, type Row} from '../support/bodies.ts'
import {ADMITTED_AT, intent, logBodies, logRecord, settlement, targetOf} from '../support/records.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const WRITER = '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3e'
const START: Mark = {segment: 0, position: 0}

let opened: {close(): Promise<void>}[] = []
afterEach(async () => {
  for (const each of opened.reverse()) await each.close()
  opened = []
})

async function open(kind: 'sqlite' | 'postgres') {
  const database = await testStore(kind)
  opened.push(database)
  await openMark(database.store, WRITER, 1)
  const target = await openTarget(targetOf(database), WRITER, 1)
  opened.push(target)
  return {...database, target, apply: applier(target)}
}

/** Applies settlements as one slice behind the one before. */
function applier(target: FlushTarget) {
  return async (...settlements: readonly Settlement[]) => {
    const from = await target.readMark()
    const records = settlements.map(said => decodeRecord(Buffer.from(encodeSettlement(said))))
    await target.apply({from, end: () => ({segment: from.segment, position: from.position + 1}), records})
  }
}

const entriesOf = ({store}: Pick<TestStore, 'store'>) =>
  store.db.selectFrom('traffic.ledger_entries').selectAll().orderBy('sequence').execute()
const logsOf = ({store}: Pick<TestStore, 'store'>) =>
  store.db.selectFrom('traffic.logs').selectAll().orderBy('id').execute()
const sumsOf = ({store}: Pick<TestStore, 'store'>) => store.db.selectFrom('traffic.usage_hourly').selectAll().execute()

describe.each(KINDS)('a flush into %s', kind => {
  test('writes the entry, its log row and its hourly sums, and moves the mark', async () => {
    const database = await open(kind)
    const said = settlement(intent({call_id: 'call-1'}), {log: logRecord({id: 'log-1'})})
    await database.apply(said)
    const {log, usage, hold_nanousd, counter_keys, kind: _, principal, ...charge} = said
    const row = {
      ...charge,
      api_key_id: principal.id,
      usage: '{"input_uncached_tokens":210,"cache_read_tokens":40,"output_text_tokens":120}',
      prompt_tokens: 250,
      completion_tokens: 120,
      unpriced: 0,
      delivered: 1,
    }
    expect(await entriesOf(database)).toEqual([
      {
        ...row,
        sequence: 1,
        counter_keys: JSON.stringify(counter_keys),
        writer: WRITER,
        chain: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
    const {id, created_at, span_id, response_status, metadata, cache_status, retry_count, ...detail} = log!
    const {attempt, admitted_at, settled_at, ...shared} = row
    expect(await logsOf(database)).toEqual([
      {
        ...shared,
        id,
        created_at,
        span_id,
        status: response_status,
        metadata: JSON.stringify(metadata),
        detail: JSON.stringify(detail),
        duration_ms: 813,
        cache_status,
        retry_count,
        is_rescued: 0,
      },
    ])
    const {organisation_id} = said
    expect(await findLog(database.store.db, {organisation_id}, id)).toMatchObject({
      ...detail,
      cache_status,
      retry_count,
    })
    const whole = {
      detail: JSON.stringify({...log, cache_status: 'HIT', retry_count: 3}),
      cache_status: null,
      retry_count: null,
    }
    await database.store.db.updateTable('traffic.logs').set(whole).execute()
    expect(await findLog(database.store.db, {organisation_id}, id)).toMatchObject({
      ...detail,
      cache_status: 'HIT',
      retry_count: 3,
    })
    expect(await sumsOf(database)).toEqual([
      {
        model_key: 'gpt-4o-mini',
        hour: '2026-03-04T05:00:00.000Z',
        organisation_id: said.organisation_id,
        workspace_id: said.workspace_id,
        api_key_id: said.principal.id,
        provider_slug: 'main-provider',
        provider: 'openai',
        model: 'gpt-4o-mini',
        requests: 1,
        failures: 0,
        unpriced: 0,
        prompt_tokens: 250,
        completion_tokens: 120,
        cost_nanousd: 103_500,
      },
    ])
    expect(await database.target.readMark()).toEqual({segment: 0, position: 1})
  })

  test('of a slice that was applied already changes nothing but the mark', async () => {
    const database = await open(kind)
    const said = Array.from({length: 5}, () => settlement())
    await database.apply(...said)
    const before = [await entriesOf(database), await logsOf(database), await sumsOf(database)]
    await database.apply(...said, said[0]!)
    expect([await entriesOf(database), await logsOf(database), await sumsOf(database)]).toEqual(before)
    expect((await verifyLedger(database.store)).breaks).toEqual([])
  })

  test('counts an entry once that comes twice in one slice', async () => {
    const database = await open(kind)
    const said = settlement()
    await database.apply(said, said)
    expect(await entriesOf(database)).toHaveLength(1)
    expect((await sumsOf(database)).map(sum => sum.requests)).toEqual([1])
  })

  test.each(['one slice', 'two'])(
    'adds no row of the log to an entry that another row tells of, in %s',
    async slices => {
      const database = await open(kind)
      const whole = settlement(intent({call_id: 'call-1'}), {log: logRecord({id: 'log-1'})})
      const recovered = settlement(intent({call_id: 'call-1'}), {
        outcome: 'recovered',
        cost_nanousd: 1_500,
        log: logRecord({id: 'log-2'}),
      })
      if (slices === 'one slice') await database.apply(whole, recovered)
      else {
        await database.apply(whole)
        await database.apply(recovered)
      }
      expect((await logsOf(database)).map(({id, cost_nanousd}) => [id, cost_nanousd])).toEqual([['log-1', 103_500]])
      expect(await verifyLedger(database.store)).toMatchObject({entries: 1, breaks: []})
    },
  )

  test('refuses a slice that does not begin at the mark, and applies nothing of it', async () => {
    const database = await open(kind)
    const records = [decodeRecord(Buffer.from(encodeSettlement(settlement())))]
    const slice = {from: {segment: 4, position: 64}, end: () => ({segment: 4, position: 99}), records}
    await expect(database.target.apply(slice)).rejects.toThrow(MarkMovedFault)
    expect(await entriesOf(database)).toEqual([])
    expect(await database.target.readMark()).toEqual(START)
  })

  test('of a call that never left writes a log row and no entry', async () => {
    const database = await open(kind)
    await database.apply(
      settlement(intent({attempt: 0}), {
        status: null,
        outcome: 'failed',
        usage: {},
        usage_source: 'none',
        cost_nanousd: 0,
      }),
    )
    expect(await entriesOf(database)).toEqual([])
    expect(await sumsOf(database)).toEqual([])
    expect(await logsOf(database)).toMatchObject([{outcome: 'failed', cost_nanousd: 0, usage: '{}'}])
  })

  test.each(['one slice', 'two'])(
    'takes the later detail of a row that comes again, and its money from the entry alone; in %s',
    async slices => {
      const database = await open(kind)
      const first = settlement(intent(), {log: logRecord({id: 'told twice', error: null}), cost_nanousd: 7})
      const again = {...first, attempt: 0, log: logRecord({id: 'told twice', error: 'late'}), cost_nanousd: 9_000}
      if (slices === 'two') {
        await database.apply(first)
        await database.apply(again)
      } else await database.apply(first, again)
      const [row, ...others] = await logsOf(database)
      expect([row!.cost_nanousd, (JSON.parse(row!.detail) as {error: string}).error, others]).toEqual([7, 'late', []])
      expect(await entriesOf(database)).toHaveLength(1)
    },
  )

  test('sums the attempts at one target in its log row, wherever they were flushed', async () => {
    const database = await open(kind)
    const attempt = (number: number, given: Partial<Settlement>) =>
      settlement(intent({call_id: 'retried', attempt: number}), given)
    await database.apply(attempt(1, {log: logRecord({id: 'first target'}), cost_nanousd: 1}))
    await database.apply(
      attempt(2, {log: null, cost_nanousd: 20, unpriced: true, outcome: 'failed', usage: {output_text_tokens: 7}}),
    )
    await database.apply(
      attempt(3, {log: null, cost_nanousd: 300, usage: {units: {web_search: 2}}}),
      attempt(4, {
        log: logRecord({id: 'second target', retry_count: 2}),
        cost_nanousd: 4_000,
        usage: {input_uncached_tokens: 5},
      }),
    )
    expect(await logsOf(database)).toMatchObject([
      {id: 'first target', cost_nanousd: 1, unpriced: 0},
      {
        id: 'second target',
        cost_nanousd: 4_320,
        unpriced: 1,
        prompt_tokens: 5,
        completion_tokens: 7,
        usage: '{"input_uncached_tokens":5,"output_text_tokens":7,"units":{"web_search":2}}',
      },
    ])
  })

  test('names what has no price in the entry and its row, and counts it by the hour', async () => {
    const database = await open(kind)
    const attempt = (number: number, given: Partial<Settlement>) =>
      settlement(intent({call_id: 'searched', attempt: number}), given)
    const units = (...unpriced_units: string[]) => ({unpriced: true, unpriced_units})
    const usage = {input_uncached_tokens: 5, units: {maps: 1}}
    const last = attempt(2, {
      log: logRecord({id: 'row', retry_count: 1}),
      cost_nanousd: 5,
      usage,
      ...units('maps', 'web_search'),
      mode_unpriced: 'a "word"',
      usage_unknown: ['quantum_tokens', 'a"b'],
    })
    const slice = [
      attempt(1, {
        log: null,
        outcome: 'failed',
        usage: {},
        cost_nanousd: 0,
        ...units('web_search', 'image:hd:1x1'),
        usage_unknown: ['dark_tokens'],
      }),
      last,
    ]
    await database.apply(...slice)
    await database.apply(...slice) // what comes twice counts once
    const entries = await entriesOf(database)
    expect(entries.map(each => [each.usage, each.unpriced])).toEqual([
      ['{"unpriced_units":["web_search","image:hd:1x1"],"usage_unknown":["dark_tokens"]}', 1],
      [
        '{"input_uncached_tokens":5,"units":{"maps":1},"unpriced_units":["maps","web_search"],"mode_unpriced":"a \\"word\\"","usage_unknown":["quantum_tokens","a\\"b"]}',
        1,
      ],
    ])
    const [row] = await logsOf(database)
    expect(row).toMatchObject({unpriced: 1, cost_nanousd: 5})
    expect(JSON.parse(row!.usage)).toEqual({
      ...usage,
      unpriced_units: ['maps', 'web_search', 'image:hd:1x1'],
      mode_unpriced: 'a "word"',
      usage_unknown: ['quantum_tokens', 'a"b', 'dark_tokens'],
    })
    const counted = await database.target.db.selectFrom('traffic.unpriced_hourly').selectAll().orderBy('unit').execute()
    expect(counted.map(({unit, requests}) => [unit, Number(requests)])).toEqual([
      ['image', 1],
      ['maps', 1],
      ['mode:a "word"', 1],
      ['usage:a"b', 1],
      ['usage:dark_tokens', 1],
      ['usage:quantum_tokens', 1],
      ['web_search', 2],
    ])
  })

  test('keeps its hourly sums equal to its entries', async () => {
    const hour = 3_600_000
    const some = fc.record({
      call: fc.integer({min: 0, max: 30}),
      attempt: fc.integer({min: 0, max: 2}),
      at: fc.integer({min: 0, max: 3 * hour}),
      api_key_id: fc.constantFrom('key-1', 'key-2'),
      model: fc.constantFrom('model-1', null),
      provider_slug: fc.constantFrom('slug-1', null),
      outcome: fc.constantFrom<Outcome>('ok', 'failed', 'recovered'),
      unpriced: fc.boolean(),
      cost_nanousd: fc.oneof(fc.maxSafeNat(), fc.nat(10)),
      tokens: fc.nat(1_000_000),
    })
    const database = await open(kind)
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(some, {maxLength: 12}), {maxLength: 4}), async slices => {
        round++
        for (const slice of slices) {
          const said = slice.map(({call, attempt, at, tokens, cost_nanousd, outcome, unpriced, ...scope}) => {
            const admitted_at = new Date(Date.parse(ADMITTED_AT) + at).toISOString()
            const call_id = `${round}-${call}`
            const usage = {input_uncached_tokens: tokens, output_text_tokens: 1}
            return settlement(intent({call_id, attempt, admitted_at, ...scope}), {
              usage,
              cost_nanousd,
              outcome,
              unpriced,
              log: null,
            })
          })
          await database.apply(...said)
        }
        const {rows: wrong} = await sql`
          with summed as (
            select substr(admitted_at, 1, 13) || ':00:00.000Z' as hour, workspace_id, api_key_id, coalesce(provider_slug, '') as provider_slug,
              provider, coalesce(model, '') as model, count(*) as requests, sum(case when outcome = 'ok' then 0 else 1 end) as failures,
              sum(unpriced) as unpriced, sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
              sum(cost_nanousd) as cost_nanousd
            from traffic.ledger_entries group by 1, 2, 3, 4, 5, 6
          ), kept as (
            select hour, workspace_id, api_key_id, provider_slug, provider, model, requests, failures, unpriced, prompt_tokens,
              completion_tokens, cost_nanousd
            from traffic.usage_hourly
          )
          select * from (select * from summed except select * from kept) one
          union all select * from (select * from kept except select * from summed) other`.execute(database.store.db)
        expect(wrong).toEqual([])
      }),
      {numRuns: 15},
    )
    expect(await verifyLedger(database.store)).toMatchObject({breaks: [], writers: 1})
  })

  test('stores what no text column of PostgreSQL holds as U+FFFD', async () => {
    const database = await open(kind)
    const said = settlement(intent({model: 'a\0b\ud800c'}), {
      log: logRecord({metadata: {'\0': '\udfff'}, url: '/v1/\\u0000?\u2028'}),
    })
    await database.apply(said)
    expect((await entriesOf(database))[0]!.model).toBe('a\ufffdb\ufffdc')
    const [row] = await logsOf(database)
    expect([row!.model, JSON.parse(row!.metadata)]).toEqual(['a\ufffdb\ufffdc', {'\ufffd': '\ufffd'}])
    expect(JSON.parse(row!.detail)).toMatchObject({url: '/v1/\\u0000?\u2028'})
    expect((await verifyLedger(database.store)).breaks).toEqual([])
  })

  test('names no API key where another is charged', async () => {
    const database = await open(kind)
    await database.apply(settlement(intent({principal: {kind: 'session', id: 'session-1'}, user_id: 'user-1'})))
    expect((await entriesOf(database))[0]).toMatchObject({api_key_id: '', user_id: 'user-1'})
    expect((await verifyLedger(database.store)).breaks).toEqual([])
  })

  test('takes records as earlier versions wrote them', async () => {
    const database = await open(kind)
    const nested = {a: ',"log":{"id":"no"}}', log: '{}', '\0': '\udfff'}
    const said = (attempt: number, call_id: string) => {
      const log = logRecord({id: call_id, metadata: nested})
      const of = intent({call_id, attempt, model: ',"log":{\0'})
      return settlement(of, {
        log,
        ...(attempt ? {usage: {input_uncached_tokens: 2, units: {pages: 1}}} : {usage: {}, cost_nanousd: 0}),
      })
    }
    const asObject = ({kind: _, principal, ...said}: Settlement) =>
      decodeRecord(Buffer.from(JSON.stringify({...said, api_key_id: principal.id})))
    const records = [
      asObject(said(1, 'before')),
      asObject({...said(2, 'before'), log: null}),
      asObject(said(0, 'refused')),
    ]
    await database.target.apply({from: START, end: () => ({segment: 1, position: 1}), records})
    const [old, later] = await entriesOf(database)
    await database.apply(said(1, 'after'), said(0, 'noted'))
    expect(old).toMatchObject({call_id: 'before', attempt: 1, usage: '{"input_uncached_tokens":2,"units":{"pages":1}}'})
    expect(later).toMatchObject({call_id: 'before', attempt: 2, api_key_id: old!.api_key_id})
    expect(old!.api_key_id).toBe(intent().principal.id)
    const [after, was, noted, refused] = (await logsOf(database)).map(({id, call_id, ...same}) => same)
    expect(was).toEqual(after)
    expect(refused).toEqual(noted)
    expect((await verifyLedger(database.store)).breaks).toEqual([])
  })

  test('keeps bodies', async () => {
    const database = await open(kind)
    const bodies = logBodies('log-1', {response_body: null, request_body: Buffer.from([0, 255, 1])})
    const row = {...bodies, created_at: ADMITTED_AT, request_headers: '{"a":"b"}', response_headers: '{}', cut: 0}
    const refused = (fault: unknown) => expect(fault).toBeUndefined()
    const keep = (...rows: Row[]) => database.target.keepBodies(packedBodies(rows, Date.parse(ADMITTED_AT)), refused)
    expect(await keep(row)).toBe(0)
    expect(await keep({...row, log_id: 'log-2'})).toBe(0)
    if (kind === 'postgres') await keep({...row, cut: 1})
    expect(await keptBodies(database)).toEqual([row, {...row, log_id: 'log-2'}])
  })
})

describe.each(KINDS)('the hash chain on %s', kind => {
  const texts = async ({store}: TestStore) =>
    (await verifyLedger(store)).breaks
      .filter(({kind}) => kind === 'chain')
      .map(({entry, text}) => [entry?.call_id ?? null, text])

  test('goes on in a new epoch, and holds over thousands of entries', async () => {
    const database = await open(kind)
    for (let n = 0; n < 6; n++)
      await database.apply(...Array.from({length: 200}, () => settlement(intent(), {log: null})))
    expect(await openMark(database.store, WRITER, 2)).toEqual({segment: 0, position: 6})
    const restored = await openTarget(targetOf(database), WRITER, 2)
    opened.push(restored)
    await applier(restored)(settlement())
    await expect(database.target.readMark()).rejects.toThrow(MarkMovedFault)
    expect(await verifyLedger(database.store)).toMatchObject({entries: 1201, writers: 1, breaks: []})
  })

  test('is one for each writer', async () => {
    const database = await open(kind)
    const other = 'ffffffff-5f0a-4a53-9d5e-0f2f7a1c2b3e'
    await openMark(database.store, other, 1)
    const second = await openTarget(targetOf(database), other, 1)
    opened.push(second)
    for (let n = 0; n < 3; n++) {
      await database.apply(settlement(), settlement())
      await applier(second)(settlement())
    }
    expect(await verifyLedger(database.store)).toMatchObject({entries: 9, writers: 2, breaks: []})
  })

  test('breaks where an entry was altered', async () => {
    const database = await open(kind)
    await database.apply(...['a', 'b', 'c'].map(call_id => settlement(intent({call_id}))))
    await database.store.db
      .updateTable('traffic.ledger_entries')
      .set({cost_nanousd: 1})
      .where('call_id', '=', 'b')
      .execute()
    expect(await texts(database)).toEqual([
      ['b', expect.stringContaining('Entry b:1 of 2026-03-04T05:06:08.000Z is not what writer')],
    ])
  })

  test('breaks behind an entry that was removed', async () => {
    const database = await open(kind)
    await database.apply(...['a', 'b', 'c'].map(call_id => settlement(intent({call_id}))))
    await database.store.db.deleteFrom('traffic.ledger_entries').where('call_id', '=', 'b').execute()
    expect(await texts(database)).toEqual([['c', expect.stringContaining('or an entry before it is missing')]])
  })

  test.each([
    ['the last entry was', ['c']],
    ['all entries were', ['a', 'b', 'c']],
  ])('breaks at the end when %s removed', async (_, removed) => {
    const database = await open(kind)
    await database.apply(...['a', 'b', 'c'].map(call_id => settlement(intent({call_id}))))
    await database.store.db.deleteFrom('traffic.ledger_entries').where('call_id', 'in', removed).execute()
    expect(await texts(database)).toEqual([[null, `The last entries of writer ${WRITER} are missing from the ledger.`]])
  })

  test('breaks at an entry that was put in by another hand', async () => {
    const database = await open(kind)
    await database.apply(settlement())
    const [entry] = await entriesOf(database)
    const {sequence, ...forged} = {...entry!, call_id: 'forged', writer: 'nobody', chain: CHAIN_START}
    await database.store.db.insertInto('traffic.ledger_entries').values(forged).execute()
    expect(await texts(database)).toEqual([['forged', expect.any(String)]])
  })
})

test('a record is refused with the reason, and not with what it held', () => {
  const decode = (value: unknown) => () =>
    decodeRecord(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))
  expect(decode('{"secret":')).toThrow(SyntaxError)
  expect(decode('[]')).toThrow('call_id is not a text')
  expect(decode('null')).toThrow('the record is not a JSON object')
  expect(decode({...settlement(), cost_nanousd: 1.5})).toThrow('cost_nanousd is not a non-negative safe integer')
  expect(decode({...settlement(), cost_nanousd: -1})).toThrow('cost_nanousd is not a non-negative safe integer')
  expect(decode({...settlement(), usage: {input_uncached_tokens: '1'}})).toThrow(
    'prompt_tokens is not a non-negative safe integer',
  )
  expect(decode({...settlement(), workspace_id: null})).toThrow('workspace_id is not a text')
})
