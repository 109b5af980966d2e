import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {mcpLedger} from '../../support/mcp/ledger.ts'
import {type LegacyFixture, openLegacy} from '../../support/mcp/legacy-server.ts'
import {type ModernFixture, openModern} from '../../support/mcp/modern-server.ts'
import {rpcBody} from '../../support/mcp/rpc-body.ts'
import {McpGateway} from '../../support/mcp/served.ts'
import {forRing} from '../../support/ring.ts'

const REDIS_URL = process.env.TEST_REDIS_URL
const STORES = [['in memory', {}], ...(REDIS_URL ? [['in Redis', {REDIS_URL}]] : [])] as [
  string,
  Record<string, string>,
][]
const CROWD = forRing({own: 300, ci: 2000, full: 2000})

const WORDS = {text: 'x'}

/** The last minutes of an hour are left to the next: a window does not end while a test counts in it. */
const AT_MS = Date.UTC(2026, 2, 4, 5, 10)

describe.each(STORES)('limits of calls of tools, counted %s', (_, env) => {
  let mcp: McpGateway
  let legacy: LegacyFixture
  let modern: ModernFixture
  let workspace_id: string

  beforeAll(async () => {
    legacy = await openLegacy()
    modern = await openModern()
    // a store of counters has a clock of its own
    mcp = await McpGateway.open(env, 'REDIS_URL' in env ? {} : {now: () => AT_MS})
    await mcp.server('legacy', legacy.url)
    await mcp.server('modern', modern.url)
    workspace_id = (await mcp.workspace()).id
  })
  afterAll(async () => {
    await mcp.close()
    await Promise.all([legacy, modern].map(each => each.close()))
  })

  const policy = async (kind: 'rate' | 'usage', body: object) =>
    (await mcp.gateway.admin<{id: string}>('POST', `/policies/${kind}-limits`, {workspace_id, ...body})).id
  const rate = (conditions: readonly object[], value: number, more: object = {}) =>
    policy('rate', {...{target: 'mcp_tools', conditions, type: 'requests', unit: 'rph', value}, ...more})
  const call = (slug: string, name: string, more: object = {}, args: object = {}) =>
    mcp.modernCall(slug, 'tools/call', {name, arguments: args}, more)
  const legacyCall = (slug: string, name: string, key: string) =>
    mcp.post(
      slug,
      {jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name, arguments: {}}},
      {'x-gateway-api-key': key},
    )
  /** How many of these were answered with which status. */
  const statuses = async (calls: readonly Promise<Response>[]) => {
    const seen: Record<number, number> = {}
    for (const {status} of await Promise.all(calls)) seen[status] = (seen[status] ?? 0) + 1
    return seen
  }

  test.each(['modern', 'legacy'] as const)(
    'fact 40: of twelve calls at once five reach an upstream of the %s era, and the rest of the traffic is not held',
    async slug => {
      const key = await mcp.key(`fact 40 ${slug}`)
      const {state} = slug === 'modern' ? modern : legacy
      const before = state.runs('count')
      await rate(
        [
          {key: 'mcp_server', value: slug},
          {key: 'mcp_tool', value: 'count'},
        ],
        5,
        {group_by: [{key: 'api_key'}]},
      )
      const replies = await Promise.all(
        Array.from({length: 12}, (_, at) => (at % 2 ? call(slug, 'count', {key}) : legacyCall(slug, 'count', key))),
      )
      expect(replies.map(({status}) => status).sort()).toEqual([
        ...Array<number>(5).fill(200),
        ...Array<number>(7).fill(429),
      ])
      expect(state.runs('count')).toBe(before + 5)
      for (const refused of replies.filter(({status}) => status === 429)) {
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
        expect((await rpcBody(refused)).error!.code).toBe(429)
      }
      const others = [
        () => call(slug, 'echo', {key}, {text: 'x'}),
        () => mcp.modernCall(slug, 'tools/list', {}, {key}),
        () => mcp.modernCall(slug, 'prompts/get', {name: 'greet', arguments: {name: 'Ada'}}, {key}),
        () => call(slug === 'modern' ? 'legacy' : 'modern', 'count', {key}),
        () => call(slug, 'count', {key: WORKSPACE_KEY}),
        () =>
          mcp.gateway.chat(
            {model: 'echo', messages: [{role: 'user', content: 'hi'}]},
            {'x-gateway-provider': '@demo', 'x-gateway-metadata': '{"_user":"ada"}'},
          ),
      ]
      for (const other of others) expect((await other()).status).toBe(200)
    },
  )

  test('a policy of calls of models never sees a call of a tool', async () => {
    const key = await mcp.key('never')
    await policy('rate', {
      conditions: [{key: 'metadata.of', value: 'never'}],
      group_by: [{key: 'workspace_id'}],
      ...{type: 'requests', unit: 'rph', value: 0},
    })
    const headers = {'x-gateway-metadata': '{"of":"never"}'}
    expect((await call('modern', 'count', {key, headers})).status).toBe(200)
    const ask = {model: 'echo', messages: [{role: 'user', content: 'hi'}]}
    expect((await mcp.gateway.chat(ask, {'x-gateway-provider': '@demo', ...headers})).status).toBe(429)
  })

  test.each<[string, readonly object[], readonly [tool: string, status: number][]]>([
    [
      'a list of values',
      [{key: 'mcp_tool', value: ['add', 'echo']}],
      [
        ['echo', 429],
        ['count', 200],
      ],
    ],
    [
      'any value but some',
      [{key: 'mcp_tool', value: '*', excludes: ['count']}],
      [
        ['echo', 429],
        ['count', 200],
      ],
    ],
    ['a value that the call lacks', [{key: 'user', value: '*'}], [['echo', 200]]],
    ['the workspace', [{key: 'workspace_id', value: '*'}], [['echo', 429]]],
  ])('conditions: %s', async (_, conditions, expected) => {
    const of = `conditions ${JSON.stringify(conditions)}`
    await rate([...conditions, {key: 'metadata.of', value: of}], 0)
    for (const [tool, status] of expected) {
      const headers = {'x-gateway-metadata': JSON.stringify({of})}
      expect([tool, (await call('modern', tool, {headers}, {text: 'x'})).status]).toEqual([tool, status])
    }
  })

  test('a policy without groups counts all of its calls together, and shows them as one entity', async () => {
    const id = await rate([{key: 'metadata.of', value: 'together'}], 3, {unit: 'rpw'})
    const headers = {'x-gateway-metadata': '{"of":"together"}'}
    const keys = await Promise.all(['one', 'two'].map(name => mcp.key(`together ${name}`)))
    const calls = keys.flatMap(key => [
      call('modern', 'count', {key, headers}),
      call('legacy', 'count', {key, headers}),
    ])
    expect(await statuses(calls)).toEqual({200: 3, 429: 1})
    await mcp.gateway.app.flushed()
    const {data} = await mcp.gateway.admin<{data: object[]}>('GET', `/policies/rate-limits/${id}/entities`)
    expect(data).toMatchObject([{value_key: 'all', current_usage: 3, status: 'exhausted'}])
  })

  test('a policy of tokens closes once arguments and answers have used them up', async () => {
    await policy('usage', {
      ...{target: 'mcp_tools', conditions: [{key: 'metadata.of', value: 'tokens'}], group_by: [{key: 'mcp_tool'}]},
      ...{type: 'tokens', credit_limit: 40},
    })
    const headers = {'x-gateway-metadata': '{"of":"tokens"}'}
    const text = 'x'.repeat(400)
    expect((await call('modern', 'echo', {headers}, {text})).status).toBe(200)
    expect((await call('modern', 'echo', {headers}, {text})).status).toBe(412)
    expect((await call('modern', 'count', {headers})).status).toBe(200)
  })

  test('fact 5: a key whose budget is used up is refused with 412, and nothing goes up', async () => {
    await mcp.gateway.admin('PUT', '/mcp-integrations/modern-integration', {
      configurations: {tool_prices: {tools: {echo: 60}}},
    })
    const key = await mcp.key('spent', {usage_limits: {type: 'cost', credit_limit: 1}})
    expect(await statuses([call('modern', 'echo', {key}, WORDS)])).toEqual({200: 1})
    expect(await statuses([call('modern', 'echo', {key}, WORDS)])).toEqual({200: 1})
    const before = modern.state.runs('echo')
    const refused = await call('modern', 'echo', {key}, WORDS)
    expect([refused.status, (await rpcBody(refused)).error]).toMatchObject([412, {code: 412}])
    expect(modern.state.runs('echo')).toBe(before)
  })

  test('a strict budget admits exactly as many calls at once as it pays for', async () => {
    await mcp.gateway.admin('PUT', '/mcp-integrations/modern-integration', {
      configurations: {tool_prices: {tools: {echo: 10}}},
    })
    const usage_limits = {type: 'cost', credit_limit: 1, enforcement: 'strict'}
    const key = await mcp.key('strict', {usage_limits})
    const before = modern.state.runs('echo')
    const calls = Array.from({length: 30}, () => call('modern', 'echo', {key}, WORDS))
    expect(await statuses(calls)).toEqual({200: 10, 412: 20})
    expect(modern.state.runs('echo')).toBe(before + 10)
  })

  test(`of ${CROWD} calls at once a third is admitted, and so many are at the upstream and in the ledger`, {
    timeout: 120_000,
  }, async () => {
    const key = await mcp.key('crowd')
    const headers = {'x-gateway-metadata': '{"of":"crowd"}'}
    const admitted = Math.floor(CROWD / 3)
    await rate([{key: 'metadata.of', value: 'crowd'}], admitted)
    const runs = modern.state.runs('echo')
    const entries = (await mcpLedger(mcp.gateway)).length
    const calls = Array.from({length: CROWD}, () => call('modern', 'echo', {key, headers}, WORDS))
    expect(await statuses(calls)).toEqual({200: admitted, 429: CROWD - admitted})
    expect(modern.state.runs('echo') - runs).toBe(admitted)
    expect((await mcpLedger(mcp.gateway)).length - entries).toBe(admitted)
  })
})

test('POLICY_ENABLED=OFF holds no call of a tool', async () => {
  const modern = await openModern()
  const folder_of = await McpGateway.open()
  try {
    await folder_of.server('modern', modern.url)
    const {id} = await folder_of.workspace()
    await folder_of.gateway.admin('POST', '/policies/rate-limits', {
      ...{target: 'mcp_tools', conditions: [{key: 'mcp_tool', value: '*'}], workspace_id: id},
      ...{type: 'requests', unit: 'rpm', value: 0},
    })
    const {folder} = folder_of.gateway
    expect((await folder_of.modernCall('modern', 'tools/call', {name: 'count'})).status).toBe(429)
    await folder_of.gateway.app.drain()
    await folder_of.gateway.app.close()
    const off = await McpGateway.open({POLICY_ENABLED: 'OFF'}, {folder})
    expect((await off.modernCall('modern', 'tools/call', {name: 'count'})).status).toBe(200)
    await off.close()
  } finally {
    await modern.close()
  }
})
