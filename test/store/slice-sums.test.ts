import fc from 'fast-check'
import {expect, test} from 'vitest'
import type {LogRecord, Outcome} from '../../src/schema/records.ts'
import {emptyUsage} from '../../src/schema/usage.ts'
import {decodeRecord, encodeSettlement, type FlushRecord} from '../../src/store/flush/index.ts'
import {LogRowSums} from '../../src/store/flush/log-sums.ts'
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
  ...{at: '2026-03-04T05:06:07.008Z', workspace_id: 'ws-1', api_key_id: 'key-1', provider_slug: 'mock', provider: 'openai', model: 'm'},
  ...{config_id: 'pc-1', outcome: 'ok', cost_nanousd: 7, tokens: 3, status: 200, cache_status: 'DISABLED', last_byte_ms: 5},
}
/** What a call may have otherwise: most are alike, and those that are not differ in one thing. */
const OTHERWISE: readonly Partial<Call>[] = [
  {},
  ...['2026-03-04T05:59:59.999Z', '2026-03-04T15:06:07.008Z', '2026-03-05T05:06:07.008Z'].map(at => ({at})),
  ...[{workspace_id: 'ws-2'}, {api_key_id: 'key-2'}, {provider_slug: null}, {provider: 'anthropic'}, {model: 'n'}, {model: null}],
  ...[{config_id: null}, {status: 429}, {last_byte_ms: 50}, {cost_nanousd: 11}, {tokens: 0}],
  {outcome: 'failed'},
  {cache_status: 'MISS'},
]

function recordOf(otherwise: Partial<Call>): FlushRecord {
  const {at, status, cache_status, last_byte_ms, tokens, ...said} = {...CALL, ...otherwise}
  const usage = {...emptyUsage(), input_uncached_tokens: tokens}
  return decodeRecord(
    Buffer.from(encodeSettlement(callAt({at, usage, ...said, log: {response_status: status, cache_status, last_byte_ms}}))),
  )
}

/** What each group of them comes to. */
function grouped(records: readonly FlushRecord[], keyOf: (record: FlushRecord) => readonly unknown[]): Record<string, object> {
  const groups = Map.groupBy(records, record => JSON.stringify(keyOf(record)))
  const sum = (of: readonly FlushRecord[], what: (record: FlushRecord) => number) => of.reduce((all, each) => all + what(each), 0)
  return Object.fromEntries(
    [...groups].map(([key, of]) => [
      key,
      {
        requests: of.length,
        prompt_tokens: BigInt(sum(of, ({entry}) => entry.prompt_tokens)),
        cost_nanousd: BigInt(sum(of, ({entry}) => entry.cost_nanousd)),
      },
    ]),
  )
}

const hourOf = (time: string) => `${time.slice(0, 13)}:00:00.000Z`
const counts = <T extends {requests: number; prompt_tokens: bigint; cost_nanousd: bigint}>({requests, prompt_tokens, cost_nanousd}: T) => ({
  requests,
  prompt_tokens,
  cost_nanousd,
})

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
      const hourly = entries.rows.map(sum => [
        JSON.stringify([sum.hour, sum.workspace_id, sum.api_key_id, sum.provider_slug, sum.provider, sum.model]),
        counts(sum),
      ])
      expect(Object.fromEntries(hourly)).toEqual(
        grouped(records, ({entry}) => [
          hourOf(entry.admitted_at),
          entry.workspace_id,
          entry.api_key_id,
          entry.provider_slug ?? '',
          entry.provider,
          entry.model ?? '',
        ]),
      )
      const {hours, latencies} = rows.rows
      const named = hours.filter(({grain}) => grain === 1)
      expect(
        Object.fromEntries(
          named.map(sum => [
            JSON.stringify([
              ...[sum.hour, sum.workspace_id, sum.api_key_id, sum.provider_slug, sum.provider, sum.model, sum.config_id],
              ...[sum.status, sum.cache_status],
            ]),
            counts(sum),
          ]),
        ),
      ).toEqual(
        grouped(records, ({entry, row}) => [
          ...[hourOf(row!.values[2]), entry.workspace_id, entry.api_key_id, entry.provider_slug ?? '', entry.provider, entry.model ?? ''],
          ...[entry.config_id ?? '', row!.values[3], row!.values[6]],
        ]),
      )
      for (const grain of [0, 1]) {
        expect(latencies.reduce((sum, each) => sum + (each.grain === grain ? each.requests : 0), 0)).toBe(records.length)
      }
    }),
  )
})
