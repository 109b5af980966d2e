import {describe, expect, test} from 'vitest'
import {chargedSum, NOTHING_OWED} from '../../src/charge/charged.ts'
import type {EndedCall} from '../../src/charge/ended-call.ts'
import {logRow} from '../../src/charge/log-row.ts'
import type {ChargeServices} from '../../src/charge/ports.ts'
import type {WorkEnd} from '../../src/charge/settlement.ts'
import {ChargedWork} from '../../src/charge/work.ts'
import type {Intent, Settlement} from '../../src/schema/records.ts'
import {NOTHING_SPENT, spent} from '../../src/schema/spent.ts'
import {emptyUsage} from '../../src/schema/usage.ts'
import {ADMITTED_AT, intent} from '../support/records.ts'

const AT_MS = Date.parse('2026-03-04T05:06:08.000Z')
const END: WorkEnd = {
  outcome: 'ok',
  status: 200,
  model: 'gpt-4o-mini',
  usage: {...emptyUsage(), input_uncached_tokens: 12, output_text_tokens: 5},
  usage_source: 'provider',
  charged: {...NOTHING_OWED, cost_nanousd: 4_800},
  delivered: true,
}
const blank = () => logRow({id: 'row', created_at: ADMITTED_AT, span_id: 'span'})

/** What is written, as the ports of a gateway would hear it. */
function ports() {
  const written: {entry: Settlement; of: Intent | undefined}[] = []
  const noted: Settlement[] = []
  const ended: EndedCall[] = []
  const faults: object[] = []
  const services: ChargeServices = {
    recorder: {
      begin: (_, done) => done(),
      settle(entry, _, done, of) {
        written.push({entry, of})
        done()
      },
      note: entry => void noted.push(entry),
    },
    metrics: {ended: facts => void ended.push(facts)},
    log: {error: (facts: object) => void faults.push(facts)} as ChargeServices['log'],
    now: () => AT_MS,
  }
  return {services, written, noted, ended, faults}
}

describe('work', () => {
  test('is charged once, however often it ends', () => {
    const {services, written, noted, ended, faults} = ports()
    const work = new ChargedWork(intent({call_id: 'a'}), services)
    const counted: object[] = []
    const ends: number[] = []
    const row = {
      log: blank(),
      bodies: null,
      counted_as: 'call' as const,
      spend: (actual: object) => void counted.push(actual),
    }
    expect(work.settle(END, row, () => void ends.push(1))).toEqual(spent(17, 4_800))
    expect(work.settle(END, row, () => void ends.push(2))).toBeNull()
    work.note(END, row)
    expect([written.length, noted.length, ended.length, counted, ends]).toEqual([1, 0, 1, [spent(17, 4_800)], [1, 2]])
    expect(faults).toMatchObject([
      {call_id: 'a', attempt: 1},
      {call_id: 'a', attempt: 1},
    ])
  })

  test('that never left ends its intent, and has a row but no entry', () => {
    const {services, written, noted} = ports()
    const opened = intent({attempt: 3})
    new ChargedWork(opened, services).settle(
      {...END, has_entry: false, covers: [1, 2]},
      {log: blank(), bodies: null, counted_as: 'call' as const},
      () => undefined,
    )
    expect(written[0]!.of).toBe(opened)
    expect(written[0]!.entry).toMatchObject({attempt: 0, counter_keys: [], covers: [1, 2]})
    new ChargedWork(opened, services).note(END, {log: blank(), bodies: null, counted_as: 'call' as const})
    expect(noted[0]).toMatchObject({attempt: 0, counter_keys: [], call_id: opened.call_id})
  })

  test('is counted by /metrics as its row has it', () => {
    const {services, ended} = ports()
    const log = {
      ...blank(),
      method: 'POST',
      response_status: 201,
      last_byte_ms: 12,
      overhead_ms: 2,
      cache_status: 'MISS',
    }
    new ChargedWork(intent(), services).settle(END, {log, bodies: null, counted_as: 'call' as const}, () => undefined)
    new ChargedWork(intent(), services).settle(
      END,
      {log, bodies: null, counted_as: 'nothing' as const},
      () => undefined,
    )
    new ChargedWork(intent(), services).settle(
      END,
      {log, bodies: null, has_row: false, counted_as: 'part'},
      () => undefined,
    )
    expect(ended.pop()).toMatchObject({is_part: true, input_tokens: 12, output_tokens: 5, cost_nanousd: 4_800})
    const free = {...END, usage: {}, charged: NOTHING_OWED}
    new ChargedWork(intent(), services).settle(
      free,
      {log, bodies: null, has_row: false, counted_as: 'part'},
      () => undefined,
    )
    expect(ended).toMatchObject([
      {
        method: 'POST',
        status: 201,
        total_ms: 12,
        overhead_ms: 2,
        upstream_ms: 10,
        cache_status: 'MISS',
        ...{input_tokens: 12, output_tokens: 5},
        cost_nanousd: 4_800,
      },
    ])
  })

  test('whose guardrails speak late has its row written again, and no second entry', async () => {
    const {services, written, noted} = ports()
    const hook_results = {before_request_hooks: [], after_request_hooks: []}
    const late = Promise.resolve()
    const row = {log: blank(), bodies: null, counted_as: 'call' as const, hooks: {late, results: () => hook_results}}
    new ChargedWork(intent(), services).settle(END, row, () => undefined)
    await late
    expect([written.length, noted.length]).toEqual([1, 1])
    expect(noted[0]).toMatchObject({attempt: 0, counter_keys: [], log: {id: 'row', hook_results}})
  })

  test('holds in its entry what was used, and nothing of what was not', () => {
    const {services, written} = ports()
    const settle = (end: Partial<WorkEnd>) => {
      const counted = new ChargedWork(intent({hold_nanousd: 9}), services).settle(
        {...END, ...end},
        {log: null, bodies: null, counted_as: 'call' as const},
        () => undefined,
      )
      return [written.at(-1)!.entry, counted] as const
    }
    expect(settle({})[0]).toMatchObject({
      usage: {input_uncached_tokens: 12, output_text_tokens: 5},
      hold_nanousd: 0,
      log: null,
    })
    expect(Object.keys(settle({})[0].usage)).toEqual(['input_uncached_tokens', 'output_text_tokens'])
    expect(settle({usage: {}, charged: NOTHING_OWED})[1]).toEqual(NOTHING_SPENT)
    expect(settle({usage: {}, charged: chargedSum(7)})[1]).toEqual(spent(0, 7))
    const unpriced = {...NOTHING_OWED, unpriced: true, unpriced_units: ['pages'], mode_unpriced: 'fast'} as const
    expect(settle({charged: unpriced})[0]).toMatchObject({
      unpriced: true,
      unpriced_units: ['pages'],
      mode_unpriced: 'fast',
    })
    expect(settle({})[0]).toMatchObject({unpriced_units: undefined, mode_unpriced: undefined, unanswered: undefined})
  })
})

describe('a row of which nothing is known', () => {
  test('says what holds for a call without a config, and nothing else', () => {
    expect(JSON.parse(JSON.stringify(blank()))).toEqual({
      ...{id: 'row', created_at: ADMITTED_AT, span_id: 'span', parent_span_id: null, span_name: null},
      ...{method: '', url: '', upstream_url: null, response_status: 0, is_stream: false, is_passthrough: false},
      ...{
        cache_status: 'DISABLED',
        retry_count: 0,
        mode: 'single',
        option_path: 'config',
        request_bytes: 0,
        response_bytes: 0,
      },
      ...{metadata: {}, error: null, warning: null, auth_ms: 0, plan_ms: 0, connect_ms: null, first_byte_ms: null},
      ...{last_byte_ms: 0, overhead_ms: 0, keeps_bodies: false},
    })
  })

  test.each(['url', 'upstream_url', 'error'] as const)('masks secrets in its %s, whoever brings it', member => {
    const text = 'https://x.example/v1?sig=s3cret-s3cret'
    expect(logRow({id: 'row', created_at: ADMITTED_AT, [member]: text})[member]).toBe('https://x.example/v1?sig=***')
  })

  test('keeps times to the microsecond', () => {
    const times = {
      auth_ms: 0.12345,
      plan_ms: 1.00049,
      connect_ms: 0.1,
      first_byte_ms: 3,
      last_byte_ms: 812.50049,
      overhead_ms: 0.6149,
    }
    const known = {...times, id: 'row', created_at: ADMITTED_AT}
    expect(logRow(known)).toMatchObject({
      auth_ms: 0.123,
      plan_ms: 1,
      connect_ms: 0.1,
      last_byte_ms: 812.5,
      overhead_ms: 0.615,
    })
  })
})
