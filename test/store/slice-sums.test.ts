import fc from 'fast-check'
import {expect, test} from 'vitest'
import {latencyBucket} from '../../src/schema/latency.ts'
import type {LogRecord, Outcome} from '../../src/schema/records.ts'
import {emptyUsage} from '../../src/schema/usage.ts'
import {SUM_KEY, SUMMED} from '../../src/store/flush/columns.ts'
import {decodeRecord, encodeSettlement, type FlushRecord} from '../../src/store/flush/index.ts'
import {LATENCY_KEY, LOG_SUM_KEY, LOG_SUMMED, LogRowSums} from '../../src/store/flush/log-sums.ts'
import {HourlySums} from '../../src/store/flush/sums.ts'
import {callAt} from '../support/flushed.ts'

interface Call {
  readonly at: string
  readonly workspace_id: string
  readonly api_key_id: string
  readonly provider_slug: string | null
  readonly provider: string
  readonly model: string | null
  readonly config_id: string | null
  readonly outcome: Outcome
  readonly cost_nanousd: number
  readonly tokens: number
  readonly status: number
  readonly cache_status: LogRecord['cache_status']
  readonly last_byte_ms: number
}

const CALL: Call = {
  ...{
    at: '2026-03-04T05:06:07.008Z',
    workspace_id: 'ws-1',
    api_key_id: 'key-1',
    provider_slug: 'mock',
    provider: 'openai',
    model: 'm',
  },
  ...{
    config_id: 'pc-1',
    outcome: 'ok',
    cost_nanousd: 7,
    tokens: 3,
    status: 200,
    cache_status: 'DISABLED',
    last_byte_ms: 5,
  },
}
/** What a call may have otherwise: most are alike, and those that are not differ in one thing. */
const OTHERWISE: readonly Partial<Call>[] = [
  {},
  ...['2026-03-04T05:59:59.999Z', '2026-03-04T15:06:07.008Z', '2026-03-05T05:06:07.008Z'].map(at => ({at})),
  ...[
    {workspace_id: 'ws-2'},
    {api_key_id: 'key-2'},
    {provider_slug: null},
    {provider: 'anthropic'},
    {model: 'n'},
    {model: null},
  ],
  ...[{config_id: null}, {status: 429}, {last_byte_ms: 50}, {cost_nanousd: 11}, {tokens: 0}],
  {outcome: 'failed'},
  {cache_status: 'MISS'},
]

function recordOf(otherwise: Partial<Call>): FlushRecord {
  const {at, status, cache_status, last_byte_ms, tokens, ...said} = {...CALL, ...otherwise}
  const usage = {...emptyUsage(), input_uncached_tokens: tokens}
  return decodeRecord(
    Buffer.from(
      encodeSettlement(callAt({at, usage, ...said, log: {response_status: status, cache_status, last_byte_ms}})),
    ),
  )
}

/** A row of a sum as one number or big integer by what it is the sum of. */
function byName(rows: readonly object[], key: readonly string[], summed: readonly string[]): Record<string, unknown> {
  const said = rows.map(row => Object.entries(row))
  const pick = (row: [string, unknown][], names: readonly string[]) =>
    names.map(name => row.find(([column]) => column === name)![1])
  return Object.fromEntries(said.map(row => [JSON.stringify(pick(row, key)), pick(row, summed).map(Number)]))
}

/** What each group of them comes to. */
function grouped(
  records: readonly FlushRecord[],
  keyOf: (record: FlushRecord) => readonly unknown[],
  of: readonly ((record: FlushRecord) => number)[],
): Record<string, unknown> {
  const groups = Map.groupBy(records, record => JSON.stringify(keyOf(record)))
  const sums = (group: readonly FlushRecord[]) => of.map(what => group.reduce((sum, each) => sum + what(each), 0))
  return Object.fromEntries([...groups].map(([key, group]) => [key, sums(group)]))
}

const hourOf = (time: string) => `${time.slice(0, 13)}:00:00.000Z`
const REQUESTS = () => 1
const MONEY = [
  ({entry}: FlushRecord) => entry.prompt_tokens,
  ({entry}: FlushRecord) => entry.completion_tokens,
  ({entry}: FlushRecord) => entry.cost_nanousd,
]
const SUCCESSES = ({entry, row}: FlushRecord) => Number(entry.outcome === 'ok' && row!.values[3] < 400)
const DURATION = ({row}: FlushRecord) => row!.values[5]

test('sums of a slice are those of its groups, in whatever order its records come', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...OTHERWISE), {maxLength: 40}), calls => {
      const records = calls.map(recordOf)
      const entries = new HourlySums()
      const rows = new LogRowSums()
      for (const record of records) {
        entries.add(record)
        rows.add({entry: record.entry, row: record.row!, spent: record.entry})
      }
      const keyOfEntry = ({entry}: FlushRecord) => [
        ...[hourOf(entry.admitted_at), entry.workspace_id, entry.api_key_id],
        ...[entry.provider_slug ?? '', entry.provider, entry.model ?? ''],
      ]
      expect(byName(entries.rows, SUM_KEY, SUMMED)).toEqual(
        grouped(records, keyOfEntry, [
          REQUESTS,
          ({entry}) => Number(entry.outcome !== 'ok'),
          ({entry}) => entry.unpriced,
          ...MONEY,
        ]),
      )
      const {hours, latencies} = rows.rows
      for (const grain of [0, 1]) {
        const named = (name: string | null) => (grain === 1 ? (name ?? '') : '')
        const keyOfRow = ({entry, row}: FlushRecord) => [
          ...[entry.workspace_id, grain, hourOf(row!.values[2]), named(entry.api_key_id), named(entry.provider_slug)],
          ...[named(entry.provider), named(entry.model), named(entry.config_id), row!.values[3], row!.values[6]],
        ]
        const keyOfLatency = ({entry, row}: FlushRecord) => [
          ...[entry.workspace_id, grain, hourOf(row!.values[2]), named(entry.provider), named(entry.model)],
          latencyBucket(row!.values[5]),
        ]
        const atGrain = <T extends {grain: number}>(sums: readonly T[]) => sums.filter(sum => sum.grain === grain)
        expect(byName(atGrain(hours), LOG_SUM_KEY, LOG_SUMMED)).toEqual(
          grouped(records, keyOfRow, [REQUESTS, SUCCESSES, ...MONEY, DURATION]),
        )
        expect(byName(atGrain(latencies), LATENCY_KEY, ['requests'])).toEqual(
          grouped(records, keyOfLatency, [REQUESTS]),
        )
      }
    }),
  )
})
