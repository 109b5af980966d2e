import {afterAll, beforeAll, expect, test} from 'vitest'
import type {JsonObject} from '../../../src/base/json-member.ts'
import {sealedNotice} from '../../../src/mcp/relay/task-ids.ts'
import type {RpcNotification} from '../../../src/mcp/wire/messages.ts'
import {openRaw, type RawFixture, type Scripts} from '../../support/mcp/raw-server.ts'
import {ASKED, McpGateway} from '../../support/mcp/served.ts'

/** Section 5.5: tasks in the same era, and none between the eras. */
let mcp: McpGateway
let legacy: RawFixture
let modern: RawFixture
let other: string
const EXTENSION = 'io.modelcontextprotocol/tasks'
const RELATED = 'io.modelcontextprotocol/related-task'
const TOOLS = [
  {name: 'plain', inputSchema: {type: 'object'}},
  {name: 'long', inputSchema: {type: 'object'}, execution: {taskSupport: 'required'}},
]
const times = {status: 'working', createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z'}

const LEGACY: Scripts = {
  initialize: answer =>
    answer.headers({'mcp-session-id': 'raw-1'}).result({
      protocolVersion: '2025-11-25',
      capabilities: {tools: {}, tasks: {list: {}, cancel: {}, requests: {tools: {call: {}}}}},
      serverInfo: {name: 'raw', version: '0'},
    }),
  'tools/list': answer => answer.result({tools: TOOLS}),
  'tools/call': answer => answer.result({task: {taskId: 'up-1', ...times, ttl: 1000}}),
  'tasks/get': (answer, {message}) => answer.result({taskId: message!.params!.taskId, ...times, ttl: 1000}),
  'tasks/list': answer => answer.result({tasks: [{taskId: 'up-1', ...times, ttl: 1000}]}),
  'tasks/result': answer => answer.result({content: [], _meta: {[RELATED]: {taskId: 'up-1'}}}),
}
const DONE = {resultType: 'complete'}
const MODERN: Scripts = {
  'server/discover': answer =>
    answer.result({
      ...{...DONE, supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private'},
      capabilities: {tools: {}, extensions: {[EXTENSION]: {}}},
      _meta: {'io.modelcontextprotocol/serverInfo': {name: 'raw', version: '0'}},
    }),
  'tools/list': answer => answer.result({...DONE, tools: TOOLS, ttlMs: 0, cacheScope: 'private'}),
  'tools/call': answer => answer.result({resultType: 'task', taskId: 'up-1', ...times, ttlMs: 1000}),
  'tasks/get': (answer, {message}) => answer.result({...DONE, taskId: message!.params!.taskId, ...times, ttlMs: 1000}),
}

beforeAll(async () => {
  legacy = await openRaw(LEGACY)
  modern = await openRaw(MODERN)
  mcp = await McpGateway.open()
  await mcp.server('legacy', legacy.url)
  await mcp.server('modern', modern.url)
  await mcp.server('modern-two', modern.url)
  other = await mcp.key('other')
})
afterAll(async () => {
  await mcp?.close()
  await Promise.all([legacy, modern].map(each => each?.close()))
})

interface Body {
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly result: {readonly [name: string]: any}
  readonly error?: {readonly code: number}
}

async function bodyOf(response: Response): Promise<Body> {
  const text = await response.text()
  const line = text.split('\n').findLast(each => each.startsWith('data: {'))
  return JSON.parse(line?.slice(6) ?? text)
}

/** A session of a legacy client, and its requests. */
async function session(slug: string, key?: string) {
  const headers: Record<string, string> = key === undefined ? {} : {'x-gateway-api-key': key}
  const params = {protocolVersion: '2025-11-25', capabilities: {tasks: {}}, clientInfo: {name: 'c', version: '1'}}
  const begun = await mcp.post(slug, {jsonrpc: '2.0', id: 0, method: 'initialize', params}, headers)
  const id = begun.headers.get('mcp-session-id')!
  const hello = await bodyOf(begun)
  const more = {...headers, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25'}
  return {
    hello,
    ask: async (method: string, of: object = {}) =>
      bodyOf(await mcp.post(slug, {jsonrpc: '2.0', id: 1, method, params: of}, more)),
  }
}

const TASKS = {...ASKED, extensions: {[EXTENSION]: {}}}
const askModern = async (slug: string, method: string, params: Record<string, unknown>, key?: string) =>
  bodyOf(
    await mcp.modernCall(slug, method, params, {
      ...{capabilities: TASKS, ...(key !== undefined && {key})},
      headers: typeof params.taskId === 'string' ? {'mcp-name': params.taskId} : {},
    }),
  )

test('legacy to legacy: ids are sealed in results, lists and related tasks, and opened for the server', async () => {
  const client = await session('legacy')
  expect(client.hello.result.capabilities.tasks).toBeDefined()
  const listed = await client.ask('tools/list')
  expect(listed.result.tools).toHaveLength(2)
  const made = await client.ask('tools/call', {name: 'long', arguments: {}, task: {ttl: 1000}})
  const {taskId} = made.result.task
  expect(taskId).not.toContain('up-1')
  expect((await client.ask('tasks/get', {taskId})).result.taskId).toBe(taskId)
  expect(legacy.of('tasks/get').at(-1)!.message!.params!.taskId).toBe('up-1')
  expect((await client.ask('tasks/list')).result.tasks[0].taskId).toBe(taskId)
  expect((await client.ask('tasks/result', {taskId})).result._meta[RELATED].taskId).toBe(taskId)
  const foreign = await session('legacy', other)
  const before = legacy.of('tasks/get').length
  for (const id of [taskId, 'up-1', '', `${taskId}x`, 'x'.repeat(9000)])
    expect((await foreign.ask('tasks/get', {taskId: id})).error?.code).toBe(-32602)
  expect((await client.ask('tasks/get', {taskId: 'up-1'})).error?.code).toBe(-32602)
  expect(legacy.of('tasks/get')).toHaveLength(before)
})

test('modern to modern: the same, and the header Mcp-Name has the id of the server', async () => {
  const made = await askModern('modern', 'tools/call', {name: 'long', arguments: {}})
  expect(made.result.resultType).toBe('task')
  const {taskId} = made.result
  expect(taskId).not.toContain('up-1')
  expect((await askModern('modern', 'tasks/get', {taskId})).result.taskId).toBe(taskId)
  const seen = modern.of('tasks/get').at(-1)!
  expect([seen.headers['mcp-name'], seen.message!.params!.taskId]).toEqual(['up-1', 'up-1'])
  const before = modern.of('tasks/get').length
  expect((await askModern('modern', 'tasks/get', {taskId}, other)).error?.code).toBe(-32602)
  expect((await askModern('modern-two', 'tasks/get', {taskId})).error?.code).toBe(-32602)
  expect((await askModern('modern', 'tasks/get', {taskId: 'up-1'})).error?.code).toBe(-32602)
  expect(modern.of('tasks/get')).toHaveLength(before)
})

test('notices have the ids of the client, and nothing else of them changes', () => {
  const seal = (id: string) => `sealed-${id}`
  const notice = (method: string, params: JsonObject) => {
    const text = JSON.stringify({jsonrpc: '2.0', method, params})
    return JSON.parse(sealedNotice({kind: 'notification', method, params, text} as RpcNotification, seal)).params
  }
  for (const method of ['notifications/tasks', 'notifications/tasks/status'])
    expect(notice(method, {taskId: 'a', status: 'working'})).toEqual({taskId: 'sealed-a', status: 'working'})
  expect(notice('notifications/message', {taskId: 'a', _meta: {[RELATED]: {taskId: 'b'}}})).toEqual({
    ...{taskId: 'a', _meta: {[RELATED]: {taskId: 'sealed-b'}}},
  })
})

test('between the eras: no capability, no tool that needs one, no method', async () => {
  const client = await session('modern')
  expect(client.hello.result.capabilities.extensions).toBeUndefined()
  expect((await client.ask('tools/list')).result.tools.map((each: {name: string}) => each.name)).toEqual(['plain'])
  expect((await client.ask('tasks/get', {taskId: 'up-1'})).error?.code).toBeLessThan(0)
  const discovered = await askModern('legacy', 'server/discover', {})
  expect(discovered.result.capabilities.tasks).toBeUndefined()
  const listed = await askModern('legacy', 'tools/list', {})
  expect(listed.result.tools.map((each: {name: string}) => each.name)).toEqual(['plain'])
  const before = legacy.of('tasks/get').length
  expect((await askModern('legacy', 'tasks/get', {taskId: 'up-1'})).error?.code).toBe(-32601)
  expect(legacy.of('tasks/get')).toHaveLength(before)
})
