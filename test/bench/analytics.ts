import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {performance} from 'node:perf_hooks'
import type {Asked} from '../../src/admin/analytics/asked.ts'
import * as graphs from '../../src/admin/analytics/graphs.ts'
import * as rows from '../../src/admin/analytics/row-graphs.ts'
import {newTimeId} from '../../src/base/ids.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {type LogFilter, listLogs} from '../../src/store/logs.ts'
import {migrate} from '../../src/store/migrate.ts'
import {insertOrganisation} from '../../src/store/organisations.ts'
import {insertWorkspace} from '../../src/store/workspaces.ts'
import {openReads} from '../../src/workers/reader.ts'
import {callAt, openFlush} from '../support/flushed.ts'

/**
 * How long graphs over 30 days take on SQLite, and lists: `node test/bench/analytics.ts [rows]`, a million without it. The folder is on
 * the disk of TMPDIR. Graphs from sums within 300 ms (95 of 100), from rows within 3 s, lists with filters within 150 ms.
 */
const count = Number(process.argv[2] ?? 1_000_000)
const DAYS = 30
const FROM_MS = Date.UTC(2026, 1, 1)
const SPAN_MS = DAYS * 86_400_000
const SLICE = 2000
const organisation_id = '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a01'
const workspace_id = '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a02'
const keys = Array.from({length: 20}, (_, n) => `7c1d9a52-2b90-4c55-9a39-3ad4d17c8b${String(n).padStart(2, '0')}`)
const models = ['gpt-5', 'gpt-5-mini', 'claude-sonnet', 'gemini-pro', 'mistral-large']
const iso = (ms: number) => new Date(ms).toISOString()

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-analytics-'))
const options = {kind: 'sqlite', folder, role: 'server'} as const
const store = await openStore(options)
const reads = await openReads(options, console)
try {
  await fill()
  const {requestsGraph, costGraph, tokensGraph, latencyGraph, errorRate, errorStacks, errorCodes, hitRate, cacheLatency, cacheSummary} =
    graphs
  const summed = [
    requestsGraph,
    costGraph,
    tokensGraph,
    latencyGraph,
    errorRate,
    errorStacks,
    errorCodes,
    hitRate,
    cacheLatency,
    cacheSummary,
  ]
  await measure('graphs from sums', 300, 10, [{}, {models: ['gpt-5']}, {statuses: [429]}], summed)
  await measure(
    'graphs from sums, by key',
    300,
    10,
    [{api_key_ids: [keys[3]!]}],
    [requestsGraph, costGraph, tokensGraph, errorRate, hitRate],
  )
  await measure('graphs from rows', 3000, 1, [{cost_nanousd: {least: 100_000}}, {metadata: {team: 'blue'}}], [costGraph, latencyGraph])
  await measure('graphs from rows, of users and rescues', 3000, 1, [{}], [rows.usersGraph, rows.userRequests, rows.rescuedGraph])
  const list = (asked: Asked) => listLogs(reads.db, asked.filter, {current_page: 0, page_size: 100})
  const day = {created_at: {least: iso(FROM_MS + SPAN_MS - 86_400_000), most: iso(FROM_MS + SPAN_MS)}}
  await measure(
    'lists of a day, filtered',
    150,
    5,
    [
      {...day, statuses: [429]},
      {...day, models: ['gpt-5']},
      {...day, api_key_ids: [keys[1]!]},
    ],
    [list],
  )
  await measure('lists of 30 days, unfiltered', 150, 5, [{}], [list])
  await measure('lists of 30 days, filtered by status', Number.POSITIVE_INFINITY, 1, [{statuses: [429]}], [list])
} finally {
  await reads.close()
  await store.close()
  rmSync(folder, {recursive: true})
}

async function fill(): Promise<void> {
  await migrate(store, {now: () => new Date()})
  const at = iso(FROM_MS)
  await insertOrganisation(store.db, {id: organisation_id, slug: 'o', name: 'O', created_at: at, last_updated_at: at})
  const empty = {description: null, icon: null, defaults: null, usage_limits: null, rate_limits: null}
  const times = {created_at: at, last_updated_at: at}
  await insertWorkspace(store.db, {
    id: workspace_id,
    slug: 'w',
    organisation_id,
    name: 'W',
    is_default: 1,
    status: 'active',
    ...times,
    ...empty,
  })
  const flush = await openFlush({store, options})
  const began = performance.now()
  for (let n = 0; n < count; ) {
    const slice = []
    for (const end = Math.min(count, n + SLICE); n < end; n++) slice.push(call(n))
    await flush.apply(...slice)
  }
  await flush.close()
  console.log(`${count} rows written in ${((performance.now() - began) / 1000).toFixed(1)} s`)
}

function call(n: number) {
  const at_ms = FROM_MS + Math.floor((n / count) * SPAN_MS)
  const failed = n % 37 === 0
  return callAt({
    at: iso(at_ms),
    api_key_id: keys[(n * 7) % keys.length]!,
    model: models[(n * 3) % models.length]!,
    outcome: failed ? 'failed' : 'ok',
    cost_nanousd: (n * 7919) % 1_000_000,
    trace_id: newTimeId(at_ms),
    log: {
      response_status: failed ? 429 : 200,
      cache_status: n % 11 === 0 ? 'HIT' : 'MISS',
      retry_count: n % 53 === 0 ? 1 : 0,
      last_byte_ms: 50 + ((n * 104_729) % 9_000),
      metadata: {_user: `user-${n % 500}`, team: n % 2 ? 'blue' : 'red'},
    },
  })
}

async function measure(
  what: string,
  most_ms: number,
  times: number,
  filters: readonly Partial<LogFilter>[],
  questions: readonly ((asked: Asked) => Promise<unknown>)[],
): Promise<void> {
  const filter: LogFilter = {organisation_id, workspace_id, created_at: {least: iso(FROM_MS), most: iso(FROM_MS + SPAN_MS - 1)}}
  const buckets = Array.from({length: DAYS}, (_, day) => iso(FROM_MS + day * 86_400_000).slice(0, 10))
  const took: number[] = []
  for (let time = 0; time < times; time++)
    for (const more of filters)
      for (const question of questions) {
        const began = performance.now()
        await question({reader: {kind: 'sqlite', db: reads.db}, filter: {...filter, ...more}, bucket: 'day', buckets})
        took.push(performance.now() - began)
      }
  took.sort((one, other) => one - other)
  const p95 = took[Math.min(took.length - 1, Math.floor(took.length * 0.95))]!
  const verdict =
    most_ms === Number.POSITIVE_INFINITY ? '' : p95 <= most_ms ? `, within ${most_ms} ms` : `, TOO SLOW: at most ${most_ms} ms`
  console.log(`${what}: median ${took[took.length >> 1]!.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms of ${took.length}${verdict}`)
  if (p95 > most_ms) process.exitCode = 1
}
