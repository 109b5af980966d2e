import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest'
import {openStore} from '../../../src/store/dialect/index.ts'
import {deleteMcpConnectionsAt} from '../../../src/store/mcp-connections.ts'
import {type LegacyFixture, openLegacy} from '../../support/mcp/legacy-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'

/** A sign-in at a server that ends takes along what the gateway holds of it there. */
let mcp: McpGateway
let upstream: LegacyFixture
let keys: {readonly mia: string; readonly bob: string}
let server_id: string

beforeEach(async () => {
  upstream = await openLegacy()
  mcp = await McpGateway.open()
  const workspace = await mcp.workspace()
  await mcp.server('personal', upstream.url, {auth_type: 'oauth_auto'})
  server_id = (await mcp.gateway.admin<{id: string}>('GET', '/mcp-servers/personal')).id
  const person = async (name: string) => {
    const {admin} = mcp.gateway
    const {id} = await admin<{id: string}>('POST', '/operator/users', {email: `${name}@example.test`, role: 'member'})
    await admin('POST', `/admin/workspaces/${workspace.id}/users`, {users: [{id, role: 'member'}]})
    const scopes = ['mcp.invoke', 'mcp_servers.read']
    const {key} = await admin<{key: string}>('POST', '/api-keys/workspace/user', {
      ...{name, workspace_id: workspace.id, user_id: id, scopes},
    })
    expect((await tokens(key, 'PUT', {access_token: `token-of-${name}`})).status).toBe(200)
    return key
  }
  keys = {mia: await person('mia'), bob: await person('bob')}
}, 60_000)
afterEach(async () => {
  await mcp.close()
  await upstream.close()
})

const tokens = (key: string, method: string, body?: object) =>
  fetch(`${mcp.gateway.url}/v1/mcp-servers/personal/tokens`, {
    method,
    headers: {'x-gateway-api-key': key, ...(body && {'content-type': 'application/json'})},
    ...(body && {body: JSON.stringify(body)}),
  })
interface Reply {
  readonly result?: {readonly resultType?: string; readonly requestState?: string; readonly content?: unknown}
  readonly error?: {readonly code: number; readonly data?: {readonly type?: string}}
}
const call = async (key: string, name: string, more: object = {}): Promise<Reply> => {
  const reply = await mcp.modernCall('personal', 'tools/call', {name, arguments: {}, ...more}, {key})
  return (await reply.json()) as Reply
}
/** In this process by the operation, or as another process ends it. */
const ENDS = {
  'this process': async () => expect((await tokens(keys.mia, 'DELETE')).status).toBe(200),
  'another process': async () => {
    const other = await openStore({kind: 'sqlite', folder: mcp.gateway.folder, role: 'operator'})
    try {
      await other.write(db => deleteMcpConnectionsAt(db, server_id))
    } finally {
      await other.close()
    }
  },
} as const

describe.each(['this process', 'another process'] as const)('a sign-in that ends in %s', by => {
  test('fact 52: takes its sessions at the server along, and the next call needs a sign-in', async () => {
    expect((await call(keys.mia, 'count')).result).toBeDefined()
    if (by === 'this process') expect((await call(keys.bob, 'count')).result).toBeDefined()
    const before = upstream.sessions.size
    await ENDS[by]()
    await vi.waitFor(() => expect(upstream.sessions.size).toBe(before - 1), {timeout: 10_000})
    const after = await call(keys.mia, 'count')
    expect(after.result?.resultType ?? after.error?.data?.type).toMatch(/input_required|oauth_required/)
    expect(upstream.state.runs('count')).toBe(before)
    if (by === 'this process') expect((await call(keys.bob, 'count')).result).toBeDefined()
  })

  test('fact 52: ends its calls that wait for an answer there', async () => {
    const asked = await call(keys.mia, 'ask')
    expect(asked.result?.resultType).toBe('input_required')
    const before = upstream.sessions.size
    await ENDS[by]()
    await vi.waitFor(() => expect(upstream.sessions.size).toBe(before - 1), {timeout: 10_000})
    const {requestState} = asked.result!
    const late = await call(keys.mia, 'ask', {requestState, inputResponses: {}})
    expect(late.error?.code).toBe(-32602)
    const rows = await mcp.gateway.logs()
    const row = rows.find(({error}) => error === 'The call was disconnected while a question waited for its answer.')
    expect(row).toMatchObject({is_success: false, response_status_code: 499})
  })
})

test('tokens that replace others make a connection of their own: they may be of another account', async () => {
  const authorizations = () => new Set(upstream.requests.map(({headers}) => headers.authorization))
  await call(keys.mia, 'count')
  const [first] = upstream.sessions.keys()
  expect((await tokens(keys.mia, 'PUT', {access_token: 'another-account'})).status).toBe(200)
  await call(keys.mia, 'count')
  await vi.waitFor(() => expect([...upstream.sessions.keys()]).not.toContain(first), {timeout: 10_000})
  expect(authorizations()).toContain('Bearer another-account')
  expect(upstream.sessions.size).toBe(1)
})

test('a token that was renewed ends nothing', async () => {
  await call(keys.mia, 'count')
  const [first] = upstream.sessions.keys()
  const other = await openStore({kind: 'sqlite', folder: mcp.gateway.folder, role: 'operator'})
  try {
    await other.write(db => db.updateTable('mcp_connections').set({revision: 7}).execute())
  } finally {
    await other.close()
  }
  await call(keys.mia, 'count')
  expect([...upstream.sessions.keys()]).toEqual([first])
})

test('a client whose person has not signed in begins: its lists and calls send the person there', async () => {
  expect((await tokens(keys.mia, 'DELETE')).status).toBe(200)
  const reply = await mcp.modernCall('personal', 'server/discover', {}, {key: keys.mia})
  const {result} = (await reply.json()) as {result: {capabilities: object; ttlMs: number; supportedVersions: string[]}}
  expect(result).toMatchObject({resultType: 'complete', ttlMs: 0, cacheScope: 'private', capabilities: {tools: {}}})
  expect(result.supportedVersions).toContain('2026-07-28')
  const list = (await (await mcp.modernCall('personal', 'tools/list', {}, {key: keys.mia})).json()) as Reply
  expect(list.result?.resultType ?? list.error?.data?.type).toMatch(/input_required|oauth_required/)
})
