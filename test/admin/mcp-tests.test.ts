import {afterAll, beforeAll, expect, test} from 'vitest'
import {mcpIntegrations} from '../../src/admin/mcp/integrations.ts'
import {mcpServers} from '../../src/admin/mcp/servers.ts'
import {mcpTests} from '../../src/admin/mcp/tests.ts'
import {mcpIntegrationWorkspaces} from '../../src/admin/mcp/workspaces.ts'
import type {TriedMcpServer} from '../../src/schema/mcp-tests.ts'
import {findMcpSync} from '../../src/store/mcp-syncs.ts'
import {type Admin, startAdmin} from '../support/admin.ts'

const URL = 'https://mcp.example.com/mcp'
const GOOD: TriedMcpServer = {
  ...{success: true, status_code: 200, response_time_ms: 12, server_name: 'tickets', protocol_version: '2025-11-25'},
  error: null,
}
const DEAD: TriedMcpServer = {
  ...{success: false, status_code: null, response_time_ms: 3, server_name: null, protocol_version: null},
  error: 'the connection was refused',
}

let admin: Admin
let integration: string
let server: string
let outcome = GOOD
const tries: (string | null)[] = []
const woken: string[] = []
beforeAll(async () => {
  admin = await startAdmin({
    operations: [mcpIntegrations, mcpIntegrationWorkspaces, mcpServers, mcpTests].flat(),
    mcp: {
      async tried(row, user_id) {
        tries.push(user_id)
        expect(row.url).toBe(URL)
        return outcome
      },
      wake: id => void woken.push(id),
      givenTokens: () => ({}),
      revokeTokens: () => undefined,
    },
  })
  const made = async (path: string, body: object) => {
    const reply = await admin.asAdmin('POST', path, body)
    expect(reply.status, reply.text).toBe(200)
    return reply.body.id as string
  }
  integration = await made('/v1/mcp-integrations', {name: 'House', url: URL, auth_type: 'none', transport: 'http'})
  await admin.asAdmin('PUT', `/v1/mcp-integrations/${integration}/workspaces`, {
    workspaces: [{id: admin.workspace_id, enabled: true}],
  })
  const of = {mcp_integration_id: integration, workspace_id: admin.workspace_id}
  server = await made('/v1/mcp-servers', {name: 'Tickets', slug: 'tickets', ...of})
}, 60_000)
afterAll(() => admin.close())

const due = async () => (await findMcpSync(admin.store.db, integration))?.due_at ?? null
const forget = () => admin.store.db.updateTable('mcp_syncs').set({due_at: null}).execute()

test('an integration that was created, or whose connection changed, is read; one that was renamed is not', async () => {
  const change = async (body: object) => {
    await forget()
    woken.length = 0
    expect((await admin.asAdmin('PUT', `/v1/mcp-integrations/${integration}`, body)).status).toBe(200)
    return [await due(), woken.length]
  }
  expect(woken).toEqual([integration])
  expect(await due()).toBe('2026-03-04T05:06:07.000Z')
  expect(await change({name: 'Other'})).toEqual([null, 0])
  expect(await change({url: URL})).toEqual(['2026-03-04T05:06:07.000Z', 1])
  expect(await change({configurations: {tool_pinning: 'enforce'}})).toEqual(['2026-03-04T05:06:07.000Z', 1])
})

test('51: a try says what came of it with status 200, is audited, and has the server read', async () => {
  await forget()
  woken.length = 0
  outcome = GOOD
  const good = await admin.asAdmin('POST', `/v1/mcp-servers/${server}/test`)
  expect([good.status, good.body]).toEqual([200, {...GOOD, url: URL}])
  expect([await due(), woken]).toEqual(['2026-03-04T05:06:07.000Z', [integration]])
  outcome = DEAD
  const dead = await admin.asAdmin('POST', `/v1/mcp-integrations/${integration}/test`)
  expect([dead.status, dead.body]).toEqual([200, {...DEAD, url: URL, server_name: 'Other'}])
  const rows = (await admin.auditLog()).slice(-2)
  expect(rows.map(row => [row.resource_type, row.resource_id, row.status])).toEqual([
    ['mcp-server', server, 200],
    ['mcp-integration', integration, 200],
  ])
  expect(rows[1]!.request_body).toContain('the connection was refused')
})

test.each([
  ['integrations', 'sync'],
  ['servers', 'capabilities/sync'],
  ['servers', 'metadata/sync'],
])('a report about %s at %s is not read: the gateway reads the server itself', async (kind, path) => {
  await forget()
  woken.length = 0
  const id = kind === 'servers' ? server : integration
  const report = {capabilities: [{name: 'forged'}], server_name: 'forged'}
  const reply = await admin.asAdmin('POST', `/v1/mcp-${kind}/${id}/${path}`, report)
  expect([reply.status, reply.body]).toEqual([200, {success: true}])
  expect([await due(), woken]).toEqual(['2026-03-04T05:06:07.000Z', [integration]])
  expect(await admin.store.db.selectFrom('mcp_capabilities').selectAll().execute()).toEqual([])
})

test('a server that the caller does not reach is tried by no one', async () => {
  const before = tries.length
  const {
    key: {key},
  } = await admin.foreign()
  expect((await admin.send(key, 'POST', `/v1/mcp-servers/${server}/test`)).status).toBe(404)
  expect(tries).toHaveLength(before)
})
