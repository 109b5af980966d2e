import {afterEach, describe, expect, onTestFinished, test} from 'vitest'
import {openStore} from '../../../src/store/dialect/index.ts'
import {DEATHS, dyingStore} from '../../support/dying-store.ts'
import {startGateway} from '../../support/gateway.ts'
import {openLegacy} from '../../support/mcp/legacy-server.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {type RpcBody, rpcBody} from '../../support/mcp/rpc-body.ts'
import {McpGateway} from '../../support/mcp/served.ts'
import {storeRelay} from '../../support/store-relay.ts'
import {testStore} from '../../support/stores.ts'

const database = process.env.TEST_DATABASE_URL
const redis = process.env.TEST_REDIS_URL
/** Longer than any deadline of a store, on a busy machine. */
const PATIENCE_MS = 30_000

const INITIALIZE = {
  ...{jsonrpc: '2.0', id: 'first', method: 'initialize'},
  params: {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'c', version: '1'}},
}

/** A refusal in the form of JSON-RPC whose code is its status; false for an answer. */
async function isUnavailable(response: Response): Promise<boolean> {
  const body: RpcBody = await rpcBody(response)
  if (response.status === 200) return false
  expect([503, 504]).toContain(response.status)
  expect(body).toMatchObject({jsonrpc: '2.0', error: {code: response.status, message: expect.any(String)}})
  return true
}

describe('a database that fails', () => {
  const dying = dyingStore(/mcp_(?:sessions|leases)/)
  afterEach(() => void dying.lives())

  test.each(DEATHS)('$name: sessions and rounds are refused with 503, and work once it lives', async death => {
    const [legacy, modern] = [await openLegacy(), await openModern()]
    const mcp = await McpGateway.open()
    onTestFinished(async () => {
      dying.lives()
      await mcp.close()
      await Promise.all([legacy, modern].map(each => each.close()))
    })
    await mcp.server('legacy', legacy.url)
    await mcp.server('modern', modern.url)
    const asked = await rpcBody(await mcp.modernCall('modern', 'tools/call', {name: 'ask', arguments: {}}))
    const {requestState} = asked.result as {requestState: string}
    const inputResponses = {sure: {action: 'accept', content: {ok: true}}}
    const retry = () =>
      mcp.modernCall('modern', 'tools/call', {name: 'ask', arguments: {}, requestState, inputResponses})
    const runs = modern.state.runs('ask')
    dying.dies(death, 1)
    expect(await isUnavailable(await mcp.post('legacy', INITIALIZE))).toBe(true)
    expect(await isUnavailable(await retry())).toBe(true)
    expect(modern.state.runs('ask')).toBe(runs)
    dying.lives()
    expect((await mcp.post('legacy', INITIALIZE)).headers.get('mcp-session-id')).toMatch(/^ms_/)
    // its round was not taken
    expect(await rpcBody(await retry())).toMatchObject({result: {content: [{text: 'accept {"ok":true}'}]}})
    expect(modern.state.runs('ask')).toBe(runs + 1)
  })
})

describe.skipIf(!database || !redis)(
  'PostgreSQL and Redis that are cut off, or say nothing',
  {timeout: 180_000},
  () => {
    test('running calls get their answer, new ones an answer or 503 in time, and nothing counts twice', async () => {
      const opened = await testStore('postgres')
      const {connection} = opened.options as {readonly connection: {readonly connectionString: string}}
      const relays = {PostgreSQL: await storeRelay(connection.connectionString), Redis: await storeRelay(redis!)}
      const modern = await openModern()
      const mcp = new McpGateway(
        await startGateway(
          {
            TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
            GATEWAY_SEALING_KEY: Buffer.alloc(32, 3).toString('base64'),
            DATABASE_URL: relays.PostgreSQL.url,
            REDIS_URL: relays.Redis.url,
            DB_QUERY_TIMEOUT_MS: '3000',
          },
          {demo: false},
        ),
      )
      onTestFinished(async () => {
        for (const relay of Object.values(relays)) relay.heal()
        await mcp.close()
        await modern.close()
        await opened.close()
        for (const relay of Object.values(relays)) relay.close()
      })
      await mcp.server('modern', modern.url)
      await mcp.gateway.admin('POST', '/policies/rate-limits', {
        ...{target: 'mcp_tools', conditions: [{key: 'mcp_tool', value: '*'}], workspace_id: (await mcp.workspace()).id},
        ...{type: 'requests', unit: 'rpd', value: 1_000_000},
      })
      const call = (name: string) => mcp.modernCall('modern', 'tools/call', {name, arguments: {}})
      expect((await call('count')).status).toBe(200)
      for (const relay of Object.values(relays)) {
        for (const fails of ['hang', 'cut'] as const) {
          const running = call('hold')
          await modern.state.whenHeld(1)
          relay[fails]()
          const started = performance.now()
          const replies = await Promise.all([
            ...Array.from({length: 4}, () => call('count')),
            mcp.post('modern', INITIALIZE),
          ])
          expect(performance.now() - started).toBeLessThan(PATIENCE_MS)
          for (const reply of replies) await isUnavailable(reply)
          modern.state.release()
          expect(await rpcBody(await running)).toMatchObject({result: {content: [{text: 'released'}]}})
          relay.heal()
          await expect.poll(async () => (await call('count')).status, {timeout: 30_000, interval: 100}).toBe(200)
        }
      }
      const entries = async () => {
        const store = await openStore(opened.options)
        try {
          const of = store.db.selectFrom('traffic.ledger_entries').select('call_id').where('provider', '=', 'mcp')
          return (await of.execute()).length
        } finally {
          await store.close()
        }
      }
      await expect.poll(entries, {timeout: 30_000}).toBe(modern.state.runs('count') + modern.state.runs('hold'))
    })
  },
)
