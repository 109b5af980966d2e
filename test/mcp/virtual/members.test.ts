import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest'
import {defaultToolName} from '../../../src/schema/mcp-virtual.ts'
import {logDetail} from '../../support/mcp/ledger.ts'
import {type LegacyFixture, openLegacy} from '../../support/mcp/legacy-server.ts'
import type {RawFixture} from '../../support/mcp/raw-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'
import {openTools, requestsOf, virtualServer} from '../../support/mcp/virtual.ts'

let mcp: McpGateway
let one: RawFixture
let two: RawFixture
let reset: LegacyFixture

const LONG = 'x'.repeat(120)
const NAMES = ['fs.read', 'fs_read', 'fs/read', 'lésen', LONG]
const PAGE = 'ui://u2/chart.html'
const contents = (words: string) => (answer: {result(result: unknown): void}) =>
  answer.result({contents: [{uri: PAGE, text: `page of ${words}`}]})

beforeAll(async () => {
  one = await openTools('u1', [...NAMES.map(name => ({name})), {name: 'doc'}, {name: 'twice', ...page('ui://both')}], {
    'resources/read': contents('u1'),
  })
  const app_only = {_meta: {ui: {visibility: ['app']}}}
  two = await openTools(
    'u2',
    [
      {name: 'chart', ...page(PAGE)},
      {name: 'twice', ...page('ui://both')},
      {name: 'refresh', description: 'chart', ...app_only},
      {name: 'plain'},
    ],
    {'resources/read': contents('u2')},
  )
  reset = await openLegacy()
  mcp = await McpGateway.open()
  await mcp.server('u_1', one.url)
  await mcp.server('u-1', one.url)
  await mcp.server('two', two.url)
  await mcp.server('reset', reset.url)
})
afterAll(async () => {
  await mcp.close()
  await Promise.all([one, two, reset].map(each => each.close()))
})

function page(resourceUri: string) {
  return {_meta: {ui: {resourceUri}}}
}

interface Reply {
  result?: {tools?: {name: string}[]; contents?: {text: string}[]; content?: {text: string}[]; capabilities?: object}
  error?: {code: number; message: string}
}
async function request(slug: string, method: string, params: Record<string, unknown>, key?: string) {
  const response = await mcp.modernCall(slug, method, params, key === undefined ? {} : {key})
  return {status: response.status, ...((await response.json()) as Reply)}
}
const call = (slug: string, name: string, args: object = {}) => request(slug, 'tools/call', {name, arguments: args})
/** Resolves when the gateway has read so many tools of a server. */
async function read(slug: string, count: number) {
  const capabilities = () => mcp.gateway.admin<{data: unknown[]}>('GET', `/mcp-servers/${slug}/capabilities`)
  await vi.waitFor(async () => expect((await capabilities()).data).toHaveLength(count), {
    timeout: 30_000,
    interval: 200,
  })
}
const namesAt = async (slug: string, key?: string) =>
  (await request(slug, 'tools/list', {}, key)).result!.tools!.map(({name}) => name)

describe('MC14, fact 70: names that are legal upstream and not here', () => {
  test('each is legal, stays the same, and leads to its own tool', async () => {
    const tools = ['u_1', 'u-1'].flatMap(server => NAMES.map(tool => ({server, tool})))
    await virtualServer(mcp, 'names', tools)
    const names = await namesAt('names')
    expect(new Set(names).size).toBe(10)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(names).toEqual(tools.map(({server, tool}) => defaultToolName(server, tool)))
    expect(names[1]).toBe('u_1__fs_read')
    expect(names[0]).toMatch(/^u_1__fs_read_[0-9a-f]{6}$/)
    for (const [at, name] of names.entries()) {
      const answer = await call('names', name)
      expect(answer.result?.content?.[0]?.text).toBe(`u1 ${NAMES[at % NAMES.length]} {}`)
    }
  })

  test('a clash is refused, and both are named', async () => {
    const tools = [
      {server: 'u_1', tool: 'doc', name: 'same'},
      {server: 'two', tool: 'chart', name: 'same'},
    ]
    await expect(virtualServer(mcp, 'clash', tools)).rejects.toThrow(/u_1\/doc.*|two\/chart/)
  })

  test.each([
    [[{server: 'nothing', tool: 'x'}], 'nothing'],
    [[{server: 'names', tool: 'x'}], 'virtual server'],
    [[{server: 'two', tool: 'x', name: 'find_tools'}], 'tool of the gateway'],
    [[{server: 'two', tool: 'x', name: 'a b'}], 'letters'],
    [[], 'tools'],
  ])('tools that cannot be had are refused: %j', async (tools, words) => {
    await expect(virtualServer(mcp, 'unfit', tools)).rejects.toThrow(words)
  })
})

describe('MC15, fact 71: pages of tools', () => {
  beforeAll(async () => {
    const of_two = ['chart', 'twice', 'refresh', 'plain'].map(tool => ({server: 'two', tool}))
    await virtualServer(mcp, 'pages', [{server: 'u_1', tool: 'doc'}, {server: 'u_1', tool: 'twice'}, ...of_two])
    await virtualServer(mcp, 'search-pages', of_two, {search_above: 0})
  })

  test('a page that exactly one chosen tool names is read from its own server, and nothing else is', async () => {
    const found = await request('pages', 'server/discover', {})
    expect(found.result!.capabilities).toEqual({tools: {listChanged: true}, resources: {}})
    expect((await request('pages', 'resources/read', {uri: PAGE})).result!.contents![0]!.text).toBe('page of u2')
    const before = [one, two].map(each => requestsOf(each, 'resources/read').length)
    for (const uri of ['file:///README.md', 'ui://both', 'ui://u2/other.html'])
      expect((await request('pages', 'resources/read', {uri})).error).toMatchObject({code: -32602})
    expect([one, two].map(each => requestsOf(each, 'resources/read').length)).toEqual(before)
  })

  test('K28: a tool for pages alone is not found by a search, and stays callable', async () => {
    const answer = await call('search-pages', 'find_tools', {query: 'chart'})
    const {tools} = JSON.parse(answer.result!.content![0]!.text) as {tools: {name: string}[]}
    expect(tools.map(({name}) => name)).toEqual(['two__chart'])
    expect((await call('search-pages', 'two__refresh')).result?.content?.[0]?.text).toBe('u2 refresh {}')
  })
})

describe('V3: the switches and the access of the meant tool', () => {
  beforeAll(async () => {
    const tools = ['chart', 'plain'].map(tool => ({server: 'two', tool}))
    await virtualServer(mcp, 'listed', tools)
    await virtualServer(mcp, 'searched', tools, {search_above: 0})
    await read('two', 4)
  })

  test('a tool that is off is neither listed, found nor called; its server answers for the rest', async () => {
    const turn = (enabled: boolean) =>
      mcp.gateway.admin('PUT', '/mcp-servers/two/capabilities', {
        capabilities: [{type: 'tool', name: 'plain', enabled}],
      })
    await turn(false)
    const before = requestsOf(two, 'tools/call').length
    await expect.poll(() => namesAt('listed')).toEqual(['two__chart'])
    const found = await call('searched', 'find_tools', {query: ''})
    expect(found.result!.content![0]!.text).not.toContain('plain')
    for (const answer of [
      await call('listed', 'two__plain'),
      await call('searched', 'call_tool', {name: 'two__plain'}),
      await call('searched', 'two__plain'),
    ])
      expect(answer.error).toMatchObject({code: -32602})
    expect(requestsOf(two, 'tools/call').length).toBe(before)
    await turn(true)
    await expect.poll(() => namesAt('listed')).toEqual(['two__chart', 'two__plain'])
  })

  test('what is set at a server is not set at a virtual one', async () => {
    for (const [method, path, body] of [
      ['POST', '/mcp-servers/listed/test', {}],
      ['POST', '/mcp-servers/listed/capabilities/sync', {}],
      ['PUT', '/mcp-servers/listed/capabilities', {capabilities: [{type: 'tool', name: 'x', enabled: false}]}],
      ['PUT', '/mcp-servers/two', {virtual: {tools: [{server: 'two', tool: 'chart'}]}}],
    ] as const)
      await expect(mcp.gateway.admin(method, path, body)).rejects.toThrow(/virtual/)
  })

  test('PUT changes the tools, GET shows them by name; a deleted server takes its tools with it', async () => {
    await mcp.server('brief', two.url)
    const tools = [
      {server: 'two', tool: 'plain', name: 'p'},
      {server: 'brief', tool: 'chart'},
    ]
    await virtualServer(mcp, 'changing', [{server: 'two', tool: 'chart'}])
    await mcp.gateway.admin('PUT', '/mcp-servers/changing', {virtual: {tools, search_above: 7}})
    expect(await mcp.gateway.admin('GET', '/mcp-servers/changing')).toMatchObject({
      mcp_integration_id: null,
      virtual: {tools: [tools[0], {...tools[1], name: 'brief__chart'}], search_above: 7},
    })
    await expect.poll(() => namesAt('changing')).toEqual(['p', 'brief__chart'])
    await mcp.gateway.admin('DELETE', '/mcp-servers/brief')
    await expect.poll(() => namesAt('changing')).toEqual(['p'])
    expect((await call('changing', 'brief__chart')).error).toMatchObject({code: -32602})
    const {data} = await mcp.gateway.admin<{data: {slug: string}[]}>('GET', '/mcp-integrations?page_size=100')
    expect(data.map(({slug}) => slug).sort()).toEqual(
      ['brief', 'reset', 'two', 'u-1', 'u_1'].map(each => `${each}-integration`),
    )
    await mcp.gateway.admin('DELETE', '/mcp-servers/changing')
    expect((await request('changing', 'tools/list', {})).status).toBe(404)
  })
})

describe('MC13, fact 69: one of the servers is down, or has lost its session', () => {
  test('a lost session is mended singly, its call runs once, and the others see nothing', async () => {
    await virtualServer(mcp, 'mended', [
      {server: 'reset', tool: 'count'},
      {server: 'two', tool: 'plain'},
    ])
    const client = await mcp.legacy('mended')
    await client.callTool({name: 'reset__count', arguments: {}})
    await client.callTool({name: 'two__plain', arguments: {}})
    const before = requestsOf(two, 'initialize').length
    const runs = reset.state.runs('count')
    reset.forget()
    await client.callTool({name: 'reset__count', arguments: {}})
    await client.callTool({name: 'two__plain', arguments: {}})
    expect(reset.state.runs('count')).toBe(runs + 1)
    expect(requestsOf(two, 'initialize').length).toBe(before)
  })

  test('one that is down or silent is left out within 2 s, and its call names it', async () => {
    const silent = await openTools('silent', [{name: 'a'}], {initialize: () => undefined})
    const down = await openTools('down', [{name: 'b'}])
    await down.close()
    await mcp.server('silent', silent.url)
    await mcp.server('down', down.url)
    await virtualServer(mcp, 'partly', [
      ...[
        {server: 'silent', tool: 'a'},
        {server: 'two', tool: 'plain'},
        {server: 'down', tool: 'b'},
      ],
      {server: 'u_1', tool: 'doc'},
    ])
    const started = performance.now()
    expect(await namesAt('partly')).toEqual(['two__plain', 'u_1__doc'])
    expect(performance.now() - started).toBeLessThan(3_000)
    const key = await mcp.key('down rows')
    const answer = await mcp.modernCall('partly', 'tools/call', {name: 'down__b', arguments: {}}, {key})
    expect(answer.status).toBe(502)
    expect(await answer.json()).toMatchObject({error: {code: 502, message: expect.stringContaining('down')}})
    const [row] = (await mcp.gateway.logs()).filter(each => each.api_key_name === 'down rows')
    const {id} = await mcp.gateway.admin<{id: string}>('GET', '/mcp-servers/down')
    expect(await logDetail(mcp.gateway, String(row!.id))).toMatchObject({mcp: {server_id: id, name: 'b'}})
    await silent.close()
  })

  test('MC16: a storm at one of three servers is one notice, or two', async () => {
    const streams: {event(message: unknown): void}[] = []
    const loud = await openTools('loud', [{name: 'a'}], {GET: answer => void streams.push(answer.stream())})
    await mcp.server('loud', loud.url)
    await virtualServer(mcp, 'storm', [
      {server: 'loud', tool: 'a'},
      {server: 'two', tool: 'plain'},
      {server: 'u_1', tool: 'doc'},
    ])
    await read('loud', 1)
    const of_syncs = streams.length
    const client = await mcp.legacy('storm', {capabilities: {}})
    let notices = 0
    client.fallbackNotificationHandler = async ({method}) => {
      if (method === 'notifications/tools/list_changed') notices++
    }
    await expect.poll(() => streams.length, {timeout: 10_000}).toBeGreaterThan(of_syncs)
    const changed = {jsonrpc: '2.0', method: 'notifications/tools/list_changed'}
    // the sync that a notice causes opens a stream of its own
    const stream = streams[of_syncs]!
    stream.event(changed)
    await expect.poll(() => notices, {timeout: 5_000}).toBe(1)
    for (let at = 0; at < 500; at++) stream.event(changed)
    await expect.poll(() => notices, {timeout: 5_000}).toBe(2)
    await loud.close()
  })
})
