import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {mcpLedger} from '../../support/mcp/ledger.ts'
import {type LegacyFixture, openLegacy} from '../../support/mcp/legacy-server.ts'
import {type ModernFixture, openModern} from '../../support/mcp/modern-server.ts'
import {openRaw, type RawFixture} from '../../support/mcp/raw-server.ts'
import {rpcBody} from '../../support/mcp/rpc-body.ts'
import {McpGateway} from '../../support/mcp/served.ts'

let mcp: McpGateway
let legacy: LegacyFixture
let modern: ModernFixture
let raw: RawFixture

const HALF_A_CENT_NANOUSD = 5_000_000

beforeAll(async () => {
  legacy = await openLegacy()
  modern = await openModern()
  raw = await openRaw()
  mcp = await McpGateway.open()
  const configurations = {tool_prices: {default: 0.5, tools: {echo: 0.1234567, count: 0}}}
  await mcp.server('legacy', legacy.url, {configurations})
  await mcp.server('modern', modern.url, {configurations})
  await mcp.server('raw', raw.url, {configurations})
})
afterAll(async () => {
  await mcp.close()
  await Promise.all([legacy, modern, raw].map(each => each.close()))
})

const call = (slug: string, name: string, key: string, params: object = {}) =>
  mcp.modernCall(slug, 'tools/call', {name, arguments: {}, ...params}, {key})

async function idOf(name: string): Promise<string> {
  const {data} = await mcp.gateway.admin<{data: {id: string; name: string}[]}>('GET', '/api-keys?page_size=100')
  return data.find(each => each.name === name)!.id
}

function times(): string {
  const [from, to] = [-1, 1].map(hours => new Date(Date.now() + hours * 3_600_000).toISOString())
  return `time_of_generation_min=${from}&time_of_generation_max=${to}`
}

/** The cost of a key's calls, in all places that keep it. */
async function costs(name: string) {
  const id = await idOf(name)
  const entries = (await mcpLedger(mcp.gateway)).filter(({api_key_id}) => api_key_id === id)
  const rows = (await mcp.gateway.logs()).filter(row => row.api_key_name === name)
  const analytics = await mcp.gateway.admin<{data: {cost: number}[]}>(
    'GET',
    `/analytics/groups/model?columns=cost&api_key_ids=${id}&${times()}`,
  )
  const shown = await mcp.gateway.admin<{usage_limits: {current_usage: number}[]}>('GET', `/api-keys/${id}`)
  return {
    entries: entries.map(({cost_nanousd}) => Number(cost_nanousd)),
    unpriced: entries.some(({unpriced}) => unpriced !== 0),
    rows: rows.length,
    analytics_cents: analytics.data.reduce((sum, {cost}) => sum + cost, 0),
    budget_usd: [shown.usage_limits].flat()[0]!.current_usage,
  }
}
const BUDGET = {usage_limits: {type: 'cost', credit_limit: 100}}

test('fact 41: seven calls of half a cent are 3.5 cents in the ledger, the analytics and the budget', async () => {
  const key = await mcp.key('seven', BUDGET)
  await Promise.all(Array.from({length: 7}, (_, at) => call(at % 2 ? 'modern' : 'legacy', 'fail', key)))
  expect(await costs('seven')).toEqual({
    entries: Array<number>(7).fill(HALF_A_CENT_NANOUSD),
    unpriced: false,
    rows: 7,
    analytics_cents: 3.5,
    budget_usd: 0.035,
  })
})

describe('fact 41: a call with a question pays once', () => {
  const RESPONSES = {action: 'accept', content: {ok: true}}
  test.each(['modern', 'legacy'])('of a modern client at an upstream of the %s era', async slug => {
    const key = await mcp.key(`asks ${slug}`, BUDGET)
    const first = (await rpcBody(await call(slug, 'ask', key))).result as {
      inputRequests: object
      requestState: string
    }
    const inputResponses = Object.fromEntries(Object.keys(first.inputRequests).map(name => [name, RESPONSES]))
    const last = await rpcBody(await call(slug, 'ask', key, {inputResponses, requestState: first.requestState}))
    expect(last.result).toMatchObject({content: [{text: 'accept {"ok":true}'}]})
    expect(await costs(`asks ${slug}`)).toEqual({
      ...{entries: [HALF_A_CENT_NANOUSD], unpriced: false, rows: 1},
      ...{analytics_cents: 0.5, budget_usd: 0.005},
    })
  })

  test.each(['modern', 'legacy'])('of a legacy client at an upstream of the %s era', async slug => {
    const key = await mcp.key(`is asked ${slug}`, BUDGET)
    const client = await mcp.legacy(slug, {key})
    expect(await client.callTool({name: 'ask', arguments: {}})).toMatchObject({content: [{text: 'accept {"ok":true}'}]})
    expect(await costs(`is asked ${slug}`)).toMatchObject({
      ...{entries: [HALF_A_CENT_NANOUSD], analytics_cents: 0.5, budget_usd: 0.005},
    })
  })
})

test('a tool has its own price, to the nano-dollar, and one that costs nothing is not without a price', async () => {
  const key = await mcp.key('own', BUDGET)
  await call('modern', 'echo', key, {arguments: {text: 'x'}})
  await call('modern', 'count', key)
  expect(await costs('own')).toMatchObject({entries: [1_234_567, 0], unpriced: false, budget_usd: 0.001234567})
})

test('a call that is refused, or that the upstream broke off, costs nothing', async () => {
  const key = await mcp.key('free', BUDGET)
  raw.play({'tools/call': answer => answer.stream().cut()})
  expect((await rpcBody(await call('raw', 'usual', key))).error!.code).toBe(502)
  await mcp.gateway
    .admin('PUT', '/mcp-servers/raw/capabilities', {
      capabilities: [{name: 'hidden', type: 'tool', enabled: false}],
    })
    .catch(() => undefined)
  const {entries, budget_usd} = await costs('free')
  expect([entries.reduce((sum, cost) => sum + cost, 0), budget_usd]).toEqual([0, 0])
  raw.play({'tools/call': undefined})
})

test('calls of a tool are found in the log by their server and their name', async () => {
  const key = await mcp.key('found', BUDGET)
  await call('modern', 'echo', key, {arguments: {text: 'x'}})
  await call('modern', 'count', key)
  await mcp.gateway.app.flushed()
  const {data} = await mcp.gateway.admin<{data: {ai_model: string}[]}>('GET', '/logs?ai_model=modern/echo')
  expect(new Set(data.map(({ai_model}) => ai_model))).toEqual(new Set(['modern/echo']))
})

test('analytics group calls by MCP server, and calls of tools by tool', async () => {
  const key = await mcp.key('grouped', BUDGET)
  await call('modern', 'echo', key, {arguments: {text: 'x'}})
  await call('modern', 'count', key)
  await call('legacy', 'count', key)
  await mcp.modernCall('modern', 'prompts/get', {name: 'greet', arguments: {name: 'Ada'}}, {key})
  const ask = {model: 'echo', messages: [{role: 'user', content: 'hi'}]}
  expect((await mcp.gateway.chat(ask, {'x-gateway-provider': '@demo'})).status).toBe(200)
  const ids = `api_key_ids=${await idOf('grouped')}`
  const groups = async (by: string, query = '') =>
    (await mcp.gateway.admin<{data: object[]}>('GET', `/analytics/groups/${by}?columns=cost&${times()}&${query}`)).data
  await mcp.gateway.app.flushed()
  expect(await groups('mcp_server', ids)).toMatchObject([
    {mcp_server: 'modern', requests: 3, cost: 0.1234567},
    {mcp_server: 'legacy', requests: 1, cost: 0},
  ])
  expect(await groups('mcp_tool', ids)).toMatchObject([
    {mcp_tool: 'legacy/count', requests: 1},
    {mcp_tool: 'modern/count', requests: 1},
    {mcp_tool: 'modern/echo', requests: 1, cost: 0.1234567},
  ])
  expect(JSON.stringify(await groups('mcp_server'))).not.toContain('null')
})

test.each([
  ['a negative price', {default: -1}, 'configurations.tool_prices.default'],
  ['a finer price than a nano-dollar', {tools: {echo: 0.00000001}}, 'configurations.tool_prices.tools.echo'],
  ['a price above 900,000 cents', {default: 900_001}, 'configurations.tool_prices.default'],
  ['a price that is a text', {default: '1'}, 'configurations.tool_prices.default'],
  ['an unknown member', {prices: {}}, 'configurations.tool_prices'],
])('%s is refused, and the field is named', async (_, tool_prices, field) => {
  const reply = await mcp.gateway.app.inject({
    method: 'PUT',
    url: '/v1/mcp-integrations/modern-integration',
    body: {configurations: {tool_prices}},
  })
  expect([reply.status, JSON.stringify(reply.body)]).toEqual([400, expect.stringContaining(field)])
})

describe('a call whose answer does not come in time', () => {
  test.each([
    ['ON', ['modern/hold timeout 5000000', 'legacy/hold timeout 5000000']],
    ['OFF', []],
  ])('pays with CHARGE_UNANSWERED=%s what the setting says', async (charge, expected) => {
    const gateway = await McpGateway.open({MCP_REQUEST_TIMEOUT_MS: '300', CHARGE_UNANSWERED: charge})
    onTestFinished(() => gateway.close())
    const configurations = {tool_prices: {default: 0.5}}
    for (const [slug, {url}] of Object.entries({modern, legacy})) {
      await gateway.server(slug, url, {configurations})
      const body = await rpcBody(await gateway.modernCall(slug, 'tools/call', {name: 'hold', arguments: {}}))
      expect(body.error!.code).toBe(504)
    }
    const entries = await mcpLedger(gateway.gateway)
    expect(entries.map(({model, outcome, cost_nanousd}) => `${model} ${outcome} ${cost_nanousd}`)).toEqual(expected)
    expect((await gateway.gateway.logs()).filter(({ai_model}) => String(ai_model).endsWith('/hold'))).toHaveLength(2)
  })
})
