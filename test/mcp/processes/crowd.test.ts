import {expect, onTestFinished, test} from 'vitest'
import {openStore} from '../../../src/store/dialect/index.ts'
import {startGateway} from '../../support/gateway.ts'
import {openLegacy} from '../../support/mcp/legacy-server.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'
import {forRing} from '../../support/ring.ts'
import {testStore} from '../../support/stores.ts'

const database = process.env.TEST_DATABASE_URL
const REDIS_URL = process.env.TEST_REDIS_URL
const CROWD = forRing({own: 400, ci: 2000, full: 2000})
/** US cents. */
const PRICE = 0.5

test.skipIf(!database || !REDIS_URL)(
  `of ${CROWD} calls at once at two processes a third is admitted, and so many are at the servers and in the ledger`,
  {timeout: 240_000},
  async () => {
    const opened = await testStore('postgres')
    const {connection} = opened.options as {readonly connection: {readonly connectionString: string}}
    const shared = {
      ...{TRUSTED_CUSTOM_HOSTS: '127.0.0.1', REDIS_URL: REDIS_URL!, DATABASE_URL: connection.connectionString},
      GATEWAY_SEALING_KEY: Buffer.alloc(32, 3).toString('base64'),
    }
    const processes = [new McpGateway(await startGateway(shared))]
    processes.push(new McpGateway(await startGateway(shared)))
    const fixtures = {legacy: await openLegacy(), modern: await openModern()}
    onTestFinished(async () => {
      for (const each of processes) await each.close()
      await opened.close()
      await Promise.all(Object.values(fixtures).map(each => each.close()))
    })
    const [one, other] = processes as [McpGateway, McpGateway]
    const configurations = {tool_prices: {default: PRICE}}
    for (const [slug, {url}] of Object.entries(fixtures)) await one.server(slug, url, {configurations})
    const key = await one.key('crowd', {usage_limits: {type: 'cost', credit_limit: 1_000}})
    const admitted = Math.floor(CROWD / 3)
    await one.gateway.admin('POST', '/policies/rate-limits', {
      ...{target: 'mcp_tools', conditions: [{key: 'mcp_tool', value: 'count'}]},
      ...{workspace_id: (await one.workspace()).id, type: 'requests', unit: 'rpd', value: admitted},
    })
    const call = (of: McpGateway, slug: string, name: string) =>
      of.modernCall(slug, 'tools/call', {name, arguments: {text: 'x'}}, {key})
    for (const each of processes)
      for (const slug of Object.keys(fixtures))
        await expect.poll(async () => (await call(each, slug, 'echo')).status, {timeout: 30_000}).toBe(200)
    const statuses = await Promise.all(
      Array.from({length: CROWD}, async (_, at) => {
        const reply = await call(at % 2 ? one : other, at % 4 < 2 ? 'legacy' : 'modern', 'count')
        await reply.arrayBuffer()
        return reply.status
      }),
    )
    expect(statuses.filter(status => status === 200)).toHaveLength(admitted)
    expect(statuses.filter(status => status === 429)).toHaveLength(CROWD - admitted)
    expect(fixtures.legacy.state.runs('count') + fixtures.modern.state.runs('count')).toBe(admitted)
    const entries = async () => {
      const store = await openStore(opened.options)
      try {
        const rows = store.db
          .selectFrom('traffic.ledger_entries')
          .select('cost_nanousd')
          .where('model', 'like', '%/count')
        const costs = (await rows.execute()).map(({cost_nanousd}) => Number(cost_nanousd))
        return {count: costs.length, cost_nanousd: costs.reduce((sum, each) => sum + each, 0)}
      } finally {
        await store.close()
      }
    }
    await expect
      .poll(entries, {timeout: 60_000, interval: 500})
      .toEqual({count: admitted, cost_nanousd: admitted * PRICE * 1e7})
  },
)
