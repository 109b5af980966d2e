import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {logDetail} from '../../support/mcp/ledger.ts'
import {type LegacyFixture, openLegacy} from '../../support/mcp/legacy-server.ts'
import {type ModernFixture, openModern} from '../../support/mcp/modern-server.ts'
import type {RawFixture} from '../../support/mcp/raw-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'
import {openTools, requestsOf, virtualServer} from '../../support/mcp/virtual.ts'

let mcp: McpGateway
let legacy: LegacyFixture
let modern: ModernFixture
let crowd: RawFixture[]

const CROWD = ['mail', 'code', 'cash'] as const
const SIZES = [70, 70, 60] as const
const toolsOf = (words: string, count: number) =>
  Array.from({length: count}, (_, at) => ({name: `${words}_${at}`, description: `Does the ${words} work ${at}.`}))

beforeAll(async () => {
  legacy = await openLegacy()
  modern = await openModern()
  crowd = await Promise.all(CROWD.map((words, at) => openTools(words, toolsOf(words, SIZES[at]!))))
  mcp = await McpGateway.open()
  await mcp.server('legacy', legacy.url)
  await mcp.server('modern', modern.url, {configurations: {tool_prices: {default: 0.5}}})
  for (const [at, words] of CROWD.entries()) await mcp.server(words, crowd[at]!.url)
  await virtualServer(mcp, 'desk', [
    ...['echo', 'add', 'ask', 'slow', 'hold', 'count'].map(tool => ({server: 'modern', tool})),
    ...['echo', 'ask', 'slow', 'hold', 'count', 'fail'].map(tool => ({server: 'legacy', tool})),
    {server: 'mail', tool: 'mail_3', name: 'post'},
  ])
  const all = CROWD.flatMap((server, at) => toolsOf(server, SIZES[at]!).map(({name: tool}) => ({server, tool})))
  await virtualServer(mcp, 'crowd', all)
})
afterAll(async () => {
  await mcp.close()
  await Promise.all([legacy, modern, ...crowd].map(each => each.close()))
})

type Result = {content?: {type: string; text?: string}[]; structuredContent?: unknown; isError?: boolean}
interface AnyClient {
  listTools(): Promise<{tools: {name: string; description?: string}[]}>
  callTool(request: {name: string; arguments?: Record<string, unknown>}, ...more: unknown[]): Promise<unknown>
  getServerVersion(): {name: string} | undefined
  getInstructions(): string | undefined
  getServerCapabilities(): object | undefined
}
const textOf = (result: unknown) => (result as Result).content?.[0]?.text

describe.each(['legacy', 'modern'] as const)('client of the %s era', era => {
  let desk: AnyClient
  let many: AnyClient
  const call = (name: string, args: Record<string, unknown> = {}) => desk.callTool({name, arguments: args})

  beforeAll(async () => {
    desk = (await mcp[era]('desk')) as unknown as AnyClient
    many = (await mcp[era]('crowd')) as unknown as AnyClient
  })

  test('fact 69: it introduces itself for all servers, each under its name', () => {
    expect(desk.getServerVersion()).toMatchObject({name: 'desk'})
    expect(desk.getInstructions()).toBe('# modern\n\nCall echo.\n\n# legacy\n\nCall echo.\n\n# mail\n\nOf mail.')
    expect(desk.getServerCapabilities()).toEqual({tools: {listChanged: true}})
  })

  test('fact 70: its tools come in the order given, under names of their own', async () => {
    const {tools} = await desk.listTools()
    expect(tools.map(({name}) => name)).toEqual([
      ...['echo', 'add', 'ask', 'slow', 'hold', 'count'].map(tool => `modern__${tool}`),
      ...['echo', 'ask', 'slow', 'hold', 'count', 'fail'].map(tool => `legacy__${tool}`),
      'post',
    ])
    expect(tools[0]).toMatchObject({description: 'Says it again', inputSchema: {properties: {text: {type: 'string'}}}})
  })

  test('V4: two servers with an equal tool never meet', async () => {
    const before = [modern.state.runs('count'), legacy.state.runs('count')]
    await call('modern__count')
    await call('modern__count')
    await call('legacy__count')
    expect([modern.state.runs('count'), legacy.state.runs('count')]).toEqual([before[0]! + 2, before[1]! + 1])
    expect(textOf(await call('post', {to: 'x'}))).toBe('mail mail_3 {"to":"x"}')
  })

  test('V4: results, structured ones and errors of tools come as from their own server', async () => {
    expect(textOf(await call('legacy__echo', {text: 'hä 𝄞'}))).toBe('hä 𝄞')
    expect(((await call('modern__add', {a: 1, b: 2})) as Result).structuredContent).toEqual({sum: 3})
    expect(await call('legacy__fail')).toMatchObject({isError: true})
  })

  test.each(['modern', 'legacy'])('questions of the %s upstream are held through it', async upstream => {
    expect(textOf(await call(`${upstream}__ask`))).toBe('accept {"ok":true}')
  })

  test.each(['modern', 'legacy'])('progress of the %s upstream comes in its order', async upstream => {
    const seen: number[] = []
    const options = {onprogress: ({progress}: {progress: number}) => void seen.push(progress)}
    const request = {name: `${upstream}__slow`, arguments: {steps: 4}}
    await (era === 'legacy' ? desk.callTool(request, undefined, options) : desk.callTool(request, options))
    expect(seen).toEqual([1, 2, 3, 4])
  })

  test.each([
    ['modern', () => modern],
    ['legacy', () => legacy],
  ] as const)('a cancelled call is cancelled at the %s upstream', async (upstream, fixture) => {
    const {state} = fixture()
    const before = state.cancelled
    const abort = new AbortController()
    const request = {name: `${upstream}__hold`, arguments: {}}
    const options = {signal: abort.signal}
    const held = state.whenHeld()
    const called = era === 'legacy' ? desk.callTool(request, undefined, options) : desk.callTool(request, options)
    const ended = called.catch(() => undefined)
    await held
    abort.abort()
    await ended
    await expect.poll(() => state.cancelled, {timeout: 5_000}).toBe(before + 1)
  })

  test('V1: 200 tools over three servers are two tools, by which at most 30 at a time are found', async () => {
    const {tools} = await many.listTools()
    expect(tools.map(({name}) => name)).toEqual(['find_tools', 'call_tool'])
    expect(tools[0]!.description).toContain('200 tools')
    const find = async (query: string, limit?: number) => {
      const result = await many.callTool({name: 'find_tools', arguments: {query, ...(limit && {limit})}})
      return (JSON.parse(textOf(result)!) as {tools: {name: string; inputSchema: object}[]}).tools
    }
    expect(await find('code work')).toHaveLength(10)
    const found = await find('code work', 100)
    expect(found).toHaveLength(30)
    expect(found.every(({name}) => name.startsWith('code__code_'))).toBe(true)
    expect(await find('code work', 30)).toEqual(found)
    const [best] = await find('cash 41')
    expect(best).toMatchObject({name: 'cash__cash_41', inputSchema: {type: 'object'}})
    expect(await find('nothingofthekind')).toEqual([])
    expect((await find('', 2)).map(({name}) => name)).toEqual(['mail__mail_0', 'mail__mail_1'])
    const called = await many.callTool({name: 'call_tool', arguments: {name: best!.name, arguments: {a: [1.5]}}})
    expect(textOf(called)).toBe('cash cash_41 {"a":[1.5]}')
    expect(textOf(await many.callTool({name: 'mail__mail_7', arguments: {}}))).toBe('mail mail_7 {}')
  })

  test('V2: an unlisted tool is refused by either way of calling, and nothing goes up', async () => {
    await virtualServer(mcp, `few-${era}`, [{server: 'mail', tool: 'mail_0'}], {search_above: 0})
    const few = (await mcp[era](`few-${era}`)) as unknown as AnyClient
    const before = crowd.map(each => requestsOf(each, 'tools/call').length)
    const unknown = {code: -32602, message: expect.stringContaining('Unknown tool')}
    for (const name of ['mail__mail_1', 'mail_0', 'mail__nothing', 'code__code_0']) {
      await expect(few.callTool({name, arguments: {}})).rejects.toMatchObject(unknown)
      await expect(few.callTool({name: 'call_tool', arguments: {name}})).rejects.toMatchObject(unknown)
    }
    await expect(desk.callTool({name: 'call_tool', arguments: {name: 'post'}})).rejects.toMatchObject(unknown)
    expect(crowd.map(each => requestsOf(each, 'tools/call').length)).toEqual(before)
    expect(textOf(await few.callTool({name: 'call_tool', arguments: {name: 'mail__mail_0'}}))).toBe('mail mail_0 {}')
  })
})

test('V5: the row names the server and the tool, with their price, and the virtual server in its detail', async () => {
  const key = await mcp.key('rows of v')
  const call = (name: string) => mcp.modernCall('desk', 'tools/call', {name, arguments: {text: 'x'}}, {key})
  expect((await call('modern__echo')).status).toBe(200)
  await (await mcp.modernCall('desk', 'tools/list', {}, {key})).text()
  await (await call('legacy__nothing')).text()
  const rows = (await mcp.gateway.logs()).filter(row => row.api_key_name === 'rows of v')
  expect(rows.map(({ai_model}) => ai_model)).toEqual(['desk/legacy__nothing', 'desk', 'modern/echo'])
  const row = rows[2]!
  expect(row).toMatchObject({cost: 0.5, response_status_code: 200})
  const {mcp: detail} = (await logDetail(mcp.gateway, String(row.id))) as {mcp: object}
  expect(detail).toMatchObject({name: 'echo', virtual_server: 'desk', outcome: 'ok'})
})

test('V2: methods that it does not have are unknown, and prompts and resources are not merged', async () => {
  const codes = await Promise.all(
    ['prompts/list', 'completion/complete'].map(async method => {
      const response = await mcp.modernCall('desk', method, {})
      return ((await response.json()) as {error: {code: number}}).error.code
    }),
  )
  expect(codes).toEqual([-32601, -32601])
  const listed = await mcp.modernCall('desk', 'resources/list', {})
  expect(((await listed.json()) as {result: object}).result).toMatchObject({resources: []})
})
