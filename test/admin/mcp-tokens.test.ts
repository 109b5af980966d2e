import {Portkey} from 'portkey-ai'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {putMcpRegistration, sealMcpClient} from '../../src/store/mcp-registrations.ts'
import type {McpConnectionsTable} from '../../src/store/tables/mcp-connections.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {seedUser} from '../support/people.ts'

const URL = 'https://mcp.example.com/mcp'
const CANARY = 'canary-access-token-0123456789'

let admin: Admin
let integration: string
let server: string
let ada: {readonly id: string; readonly key: string}
const revoked: McpConnectionsTable[] = []
beforeAll(async () => {
  admin = await startAdmin({
    mcp: {
      tried: async () => ({
        ...{success: false, status_code: null, response_time_ms: 1, server_name: null, protocol_version: null},
        error: 'unused',
      }),
      wake: () => undefined,
      givenTokens: (_, given) => ({...given}),
      revokeTokens: row => void revoked.push(row),
    },
  })
  const made = async (path: string, body: object) => {
    const reply = await admin.asAdmin('POST', path, body)
    expect(reply.status, reply.text).toBe(200)
    return reply.body.id as string
  }
  const of = {workspace_id: admin.workspace_id}
  integration = await made('/v1/mcp-integrations', {
    ...{name: 'House', url: URL, auth_type: 'oauth_auto', transport: 'http'},
    ...of,
  })
  server = await made('/v1/mcp-servers', {name: 'Tickets', slug: 'tickets', mcp_integration_id: integration, ...of})
  const person = await seedUser(admin, 'member', {[admin.workspace_id]: 'member'})
  const {key} = await admin.seedKey(
    {organisation_id: admin.organisation_id, ...of},
    {kind: 'workspace-user', user_id: person.id, scopes: ['mcp_servers.read']},
  )
  ada = {id: person.id, key}
}, 60_000)
afterAll(() => admin.close())

const asAda = (method: string, path: string, body?: object) =>
  admin.send(ada.key, method, `/v1/mcp-servers/${server}/${path}`, body)

test('tokens that a user brings are sealed for that user, and never shown', async () => {
  const none = {connected: false, expires_at: null, scope: null}
  expect((await asAda('GET', 'tokens')).body).toEqual(none)
  const kept = await asAda('PUT', 'tokens', {access_token: CANARY, refresh_token: `${CANARY}-2`})
  expect([kept.status, kept.body]).toEqual([200, {...none, connected: true}])
  const shown = await asAda('GET', 'tokens')
  expect(shown.body).toEqual({...none, connected: true})
  expect(shown.text + kept.text).not.toContain('canary')
  const [row] = await admin.store.db.selectFrom('mcp_connections').selectAll().execute()
  expect(row).toMatchObject({user_id: ada.id, mcp_server_id: server, upstream: 'https://mcp.example.com'})
  expect(Buffer.from(row!.tokens).toString('latin1')).not.toContain('canary')
  expect(JSON.stringify(await admin.auditLog())).not.toContain('canary')
})

test('tokens that replace others are of a sign-in of their own', async () => {
  const createdAt = async () =>
    (await admin.store.db.selectFrom('mcp_connections').select('created_at').executeTakeFirstOrThrow()).created_at
  await admin.store.db.updateTable('mcp_connections').set({created_at: '2025-01-01T00:00:00.000Z'}).execute()
  expect((await asAda('PUT', 'tokens', {access_token: CANARY})).status).toBe(200)
  expect(await createdAt()).toBe('2026-03-04T05:06:07.000Z')
})

test('the portkey-ai SDK sets, reads and deletes them', async () => {
  const {mcpServers} = new Portkey({apiKey: ada.key, baseURL: `${admin.url}/v1`})
  await mcpServers.setTokens({id: server, access_token: CANARY, refresh_token: CANARY})
  expect(await mcpServers.getTokens({id: server})).toMatchObject({connected: true})
  await mcpServers.deleteTokens({id: server})
  expect(await mcpServers.getTokens({id: server})).toMatchObject({connected: false})
  await mcpServers.setTokens({id: server, access_token: CANARY})
})

test('a service brings none, and has to name the user whose tokens it means', async () => {
  const path = `/v1/mcp-servers/${server}/tokens`
  const put = await admin.asWorkspace('PUT', path, {access_token: CANARY})
  expect([put.status, put.body.data.message]).toEqual([400, expect.stringContaining('the caller is none')])
  for (const method of ['GET', 'DELETE'])
    expect((await admin.asWorkspace(method, path)).body.data.message).toContain('user_id: is required')
  expect((await admin.asWorkspace('GET', `${path}?user_id=${ada.id}`)).body.connected).toBe(true)
})

test.each([
  [{}, 'access_token'],
  [{access_token: ''}, 'access_token'],
  [{access_token: 'a b'}, 'visible ASCII'],
  [{access_token: 'x', expires_in: 5}, 'expires_in'],
])('PUT refuses %j', async (body, message) => {
  const reply = await asAda('PUT', 'tokens', body)
  expect([reply.status, reply.body.data.message]).toEqual([400, expect.stringContaining(message)])
})

test('DELETE ends the sign-in as that of connections does: it is revoked at its server', async () => {
  revoked.length = 0
  expect((await asAda('DELETE', 'tokens')).body).toEqual({success: true})
  expect(revoked).toMatchObject([{user_id: ada.id, mcp_server_id: server}])
  expect((await asAda('DELETE', 'tokens')).status).toBe(404)
  expect((await asAda('GET', 'tokens')).body.connected).toBe(false)
})

test('a server at which nobody signs in takes no tokens, and a user without access brings none', async () => {
  await admin.asAdmin('PUT', `/v1/mcp-integrations/${integration}`, {auth_type: 'none'})
  expect((await asAda('PUT', 'tokens', {access_token: CANARY})).body.data.message).toContain('oauth_auto')
  await admin.asAdmin('PUT', `/v1/mcp-integrations/${integration}`, {auth_type: 'oauth_auto'})
  const deny = {user_access: [{user_id: ada.id, enabled: false}]}
  expect((await admin.asAdmin('PUT', `/v1/mcp-servers/${server}/user-access`, deny)).status).toBe(200)
  expect((await asAda('PUT', 'tokens', {access_token: CANARY})).status).toBe(403)
})

test('the check of access says what calls will say', async () => {
  const set = (body: object) => admin.asAdmin('PUT', `/v1/mcp-servers/${server}/user-access`, body)
  const allowed = async () => (await asAda('GET', 'user-access/check')).body
  const facts = {user_id: ada.id, mcp_server_id: server}
  expect(await allowed()).toEqual({allowed: false, ...facts})
  await set({user_access: [{user_id: ada.id, enabled: true}], default_user_access: 'deny'})
  expect(await allowed()).toEqual({allowed: true, ...facts})
  const service = await admin.asWorkspace('GET', `/v1/mcp-servers/${server}/user-access/check`)
  expect(service.body).toEqual({allowed: true, user_id: null, mcp_server_id: server})
})

test('client info is the configured client, else the latest registered one, without a secret', async () => {
  const info = async () => (await asAda('GET', 'client-info')).body
  expect(await info()).toEqual({client_id: null})
  const of = {mcp_integration_id: integration, organisation_id: admin.organisation_id}
  for (const [issuer, at] of [
    ['https://old.example.com', '2026-01-01T00:00:00.000Z'],
    ['https://new.example.com', '2026-02-01T00:00:00.000Z'],
  ] as const)
    await putMcpRegistration(admin.store.db, {
      ...{...of, issuer, redirect_uri: 'https://gateway.example.com/oauth/upstream-callback', expires_at: null},
      client: sealMcpClient(admin.services.seal, {...of, issuer}, {client_id: `at ${issuer}`, client_secret: 'canary'}),
      created_at: at,
    })
  expect(await info()).toEqual({client_id: 'at https://new.example.com'})
  const oauth_metadata = {client_id: 'ours', client_secret: 'canary-secret-0123456789'}
  await admin.asAdmin('PUT', `/v1/mcp-integrations/${integration}`, {configurations: {oauth_metadata}})
  expect(await info()).toEqual({client_id: 'ours'})
})

test('a caller of another organisation finds none of it', async () => {
  const {
    key: {key},
  } = await admin.foreign()
  for (const [method, path, body] of [
    ['GET', 'tokens?user_id=x'],
    ['DELETE', 'tokens?user_id=x'],
    ['GET', 'client-info'],
    ['GET', 'user-access/check'],
    ['PUT', 'tokens', {access_token: CANARY}],
  ] as const)
    expect((await admin.send(key, method, `/v1/mcp-servers/${server}/${path}`, body)).status, path).toBe(404)
})
