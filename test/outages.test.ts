import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {sql} from 'kysely'
import {expect, onTestFinished, test} from 'vitest'
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
