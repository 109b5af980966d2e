import {readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import Sqlite from 'better-sqlite3'
import {sql} from 'kysely'
import {expect, onTestFinished, test} from 'vitest'
import {NAMES, type Name, row} from '../src/settings/table.ts'
import {startAdmin} from './support/admin.ts'
import {startGateway} from './support/gateway.ts'

const DEADLINE_MS = 150
const BODY = {model: 'echo', messages: [{role: 'user', content: 'hi'}]}
const AT_DEMO = {'x-gateway-provider': '@demo'}
/** All that show what calls used, or what became of them: they wait until that is written. */
const SHOWS = [
  '/logs',
  '/traces',
  '/analytics/graphs/requests?time_of_generation_min=2026-01-01T00:00:00Z&time_of_generation_max=2026-02-01T00:00:00Z',
  '/admin/usage?by=model&since=2026-01-01T00:00:00Z',
  '/model-configs/unpriced',
]

async function gatewayOf() {
  const gateway = await startGateway({DB_QUERY_TIMEOUT_MS: String(DEADLINE_MS)})
  onTestFinished(() => gateway.close())
  return gateway
}

test('while another process holds traffic.db calls go on, what shows them is 503 in time, and nothing is lost', async () => {
  const gateway = await gatewayOf()
  expect((await gateway.chat(BODY, AT_DEMO)).status).toBe(200)
  await gateway.app.flushed()
  const other = new Sqlite(join(gateway.folder, 'traffic.db'))
  onTestFinished(() => void other.close())
  other.exec('begin immediate')
  expect((await gateway.chat(BODY, AT_DEMO)).status).toBe(200)
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  for (const path of [...SHOWS, `/limits?workspace_id=${workspace!.id}`]) {
    const started = performance.now()
    const {status, body} = await gateway.app.inject({method: 'GET', url: `/v1${path}`})
    const took_ms = performance.now() - started
    expect({path, status, body}).toMatchObject({
      path,
      status: 503,
      body: {
        data: {
          message: expect.stringContaining('The log and the ledger cannot be brought up to date now'),
          errorCode: 'AB04',
        },
      },
    })
    expect(took_ms).toBeLessThan(20 * DEADLINE_MS)
  }
  expect((await gateway.app.inject({method: 'GET', url: '/v1/configs'})).status).toBe(200)
  other.exec('rollback')
  expect(await gateway.logs()).toHaveLength(2)
})

test('a disk that is full refuses a change with the reason, and says when to come again', async () => {
  const admin = await startAdmin({kind: 'sqlite'})
  onTestFinished(() => admin.close())
  // no less than there are: the next one finds no room
  await sql`pragma main.max_page_count = 1`.execute(admin.store.db)
  const {status, body, headers} = await admin.asAdmin('POST', '/v1/configs', {
    name: 'large',
    workspace_id: admin.workspace_id,
    config: {provider: 'openai', override_params: {user: 'x'.repeat(2_000_000)}},
  })
  expect([status, body, headers.get('retry-after')]).toEqual([
    503,
    {
      success: false,
      data: {message: 'The database cannot be written now: its disk is full. Nothing was changed.', errorCode: 'AB04'},
    },
    '2',
  ])
  expect(admin.faults).toEqual([])
})

test('while another process holds gateway.db a change is 503 in time, with /readyz and a metric', async () => {
  const gateway = await gatewayOf()
  const other = new Sqlite(join(gateway.folder, 'gateway.db'))
  onTestFinished(() => void other.close())
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const change = () => {
    const body = {name: 'held', workspace_id: workspace!.id, config: {provider: 'openai'}}
    return gateway.app.inject({method: 'POST', url: '/v1/configs', body})
  }
  const ready = async () => (await fetch(`${gateway.url}/readyz`)).json()
  const writable = async () =>
    /^gateway_database_writable (\d)$/m.exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1]
  other.exec('begin immediate')
  const started = performance.now()
  expect(await change()).toMatchObject({
    status: 503,
    body: {data: {message: 'The database cannot be written now: another process holds it. Nothing was changed.'}},
  })
  expect(performance.now() - started).toBeLessThan(20 * DEADLINE_MS)
  expect(await ready()).toEqual({status: 'ok', degraded: 'changes cannot be written: another process holds it'})
  expect(await writable()).toBe('0')
  expect((await gateway.chat(BODY, AT_DEMO)).status).toBe(200)
  other.exec('rollback')
  expect((await change()).status).toBe(200)
  expect([await ready(), await writable()]).toEqual([{status: 'ok'}, '1'])
})

/** Metrics of services that few use; test/generators/outages and its services read each. */
const WHERE_USED: ReadonlySet<string> = new Set([
  'gateway_redis_answers',
  'gateway_log_store_available',
  'gateway_vector_store_events_total',
  'gateway_telemetry_failures_total',
])

test('the table of deadlines names settings with their defaults, and metrics that there are', async () => {
  const page = readFileSync(resolve(import.meta.dirname, '../docs/operating.md'), 'utf8')
  const table = /^## Deadlines\n([\s\S]*?)^## /m
    .exec(page)![1]!
    .split('\n')
    .filter(line => line.startsWith('| '))
  expect(table.length).toBeGreaterThan(20)
  const settings = table.flatMap(line => [...line.matchAll(/`([A-Z][A-Z_]+)`(?: \((\d+) s\))?/g)])
  const wrong = settings.flatMap(([, name, said_s]) => {
    if (!NAMES.includes(name as Name)) return [`${name} is no setting`]
    const {fallback} = row(name as Name)
    const usual_s = fallback === undefined ? undefined : Number(fallback) / (name!.endsWith('_S') ? 1 : 1000)
    return said_s === undefined || Number(said_s) === usual_s ? [] : [`${name} is ${usual_s} s, and not ${said_s}`]
  })
  expect(wrong).toEqual([])
  const gateway = await gatewayOf()
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
  const named = new Set(table.flatMap(line => [...line.matchAll(/`(gateway_\w+)`/g)].map(([, name]) => name!)))
  const missing = [...named].filter(name => !WHERE_USED.has(name) && !metrics.includes(name))
  expect(missing).toEqual([])
})
