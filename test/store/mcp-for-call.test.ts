import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {type McpServerForCall, mcpServerForCall, mcpServersForCalls} from '../../src/store/mcp-for-call.ts'
import {forgetRows} from '../../src/store/remembered.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

const AT = '2026-01-01T00:00:00.000Z'

describe.each(KINDS)('the rows of a call of an MCP server, on %s', kind => {
  let admin: Admin
  let integration_id: string
  let server_id: string
  let organisation_id: string

  beforeAll(async () => {
    admin = await startAdmin({kind})
    organisation_id = admin.organisation_id
  }, 60_000)
  afterAll(() => admin.close())
  beforeEach(async () => {
    const {db} = admin.store
    for (const table of [
      'mcp_server_users',
      'mcp_server_capabilities',
      'mcp_capabilities',
      'mcp_syncs',
      'mcp_eras',
    ] as const)
      await db.deleteFrom(table).execute()
    for (const table of ['mcp_servers', 'mcp_integration_workspaces', 'mcp_integrations'] as const)
      await db.deleteFrom(table).execute()
    integration_id = await made('/v1/mcp-integrations', {
      ...{name: 'One', url: 'https://mcp.example/mcp', auth_type: 'none', transport: 'http'},
    })
    await put(`/v1/mcp-integrations/${integration_id}/workspaces`, {
      workspaces: [],
      global_workspace_access: {enabled: true},
    })
    server_id = await made('/v1/mcp-servers', {
      ...{name: 'One', slug: 'one', mcp_integration_id: integration_id, workspace_id: admin.workspace_id},
    })
  })

  const made = async (path: string, body: object) => {
    const reply = await admin.asAdmin('POST', path, body)
    expect(reply.status, reply.text).toBe(200)
    return reply.body.id as string
  }
  const put = async (path: string, body: object) => {
    const reply = await admin.asAdmin('PUT', path, body)
    expect(reply.status, reply.text).toBe(200)
  }
  const find = (workspace: string | null = null, server = 'one'): Promise<McpServerForCall | null> =>
    mcpServerForCall(admin.store.db, {organisation_id, workspace, server})
  const capability = (name: string, more: object = {}) =>
    admin.store.db
      .insertInto('mcp_capabilities')
      .values({
        ...{mcp_integration_id: integration_id, type: 'tool', name, enabled: 1, details: '{}'},
        ...{created_at: AT, last_updated_at: AT, ...more},
      })
      .execute()

  test('are the server, its workspace and its integration, by either form of the address', async () => {
    const found = await find()
    expect(found).toMatchObject({
      server: {id: server_id, name: 'One', workspace_id: admin.workspace_id, default_user_access: 'allow'},
      workspace: {id: admin.workspace_id, slug: admin.workspace_slug},
      integration: {id: integration_id, url: 'https://mcp.example/mcp', status: 'active'},
      is_granted: true,
      capabilities: [],
    })
    expect(await admin.store.db.selectFrom('mcp_servers').selectAll().executeTakeFirst()).toEqual(found!.server)
    expect(await admin.store.db.selectFrom('mcp_integrations').selectAll().executeTakeFirst()).toEqual(
      found!.integration,
    )
    expect(await find(admin.workspace_slug)).toEqual(found)
    expect(await find(admin.workspace_id)).toEqual(found)
  })

  test.each([
    ['another slug', () => find(null, 'two')],
    ['the id in place of the slug', () => find(null, server_id)],
    ['another workspace', () => find('elsewhere')],
    [
      'another organisation',
      () => mcpServerForCall(admin.store.db, {organisation_id: 'other', workspace: null, server: 'one'}),
    ],
    [
      'a server out of service',
      async () => {
        await admin.asAdmin('DELETE', `/v1/mcp-servers/${server_id}`)
        return find()
      },
    ],
    [
      'an integration out of service',
      async () => {
        await admin.store.db.updateTable('mcp_integrations').set({status: 'archived'}).execute()
        return find()
      },
    ],
  ] as const)('are not found of %s', async (_, look) => expect(await look()).toBeNull())

  test('say whether the integration is open to the workspace: by its own row, else by the row for all', async () => {
    const access = `/v1/mcp-integrations/${integration_id}/workspaces`
    const closed = {workspaces: [{id: admin.workspace_id, enabled: false}]}
    await put(access, closed)
    expect((await find())!.is_granted).toBe(false)
    await put(access, {
      workspaces: [],
      override_existing_workspace_access: true,
      global_workspace_access: {enabled: false},
    })
    expect((await find())!.is_granted).toBe(false)
    await put(access, {workspaces: [{id: admin.workspace_id, enabled: true}]})
    expect((await find())!.is_granted).toBe(true)
  })

  test('have each capability with its switches and its pin', async () => {
    await capability('plain')
    await capability('off', {enabled: 0})
    await capability('off here')
    await capability('on here, off above', {enabled: 0})
    await capability('pinned', {
      ...{type: 'resource', uri: 'file:///a', pin_state: 'changed', header_schema: '{"type":"object"}'},
      ...{approved_hashes: '["a","b"]', seen_hashes: '["c"]', gone_at: AT},
    })
    for (const [name, enabled] of [
      ['off here', 0],
      ['on here, off above', 1],
    ] as const)
      await admin.store.db
        .insertInto('mcp_server_capabilities')
        .values({mcp_server_id: server_id, type: 'tool', name, enabled})
        .execute()
    const {capabilities} = (await find())!
    expect(Object.fromEntries(capabilities.map(({name, enabled}) => [name, enabled]))).toEqual({
      plain: true,
      off: false,
      'off here': false,
      'on here, off above': false,
      pinned: true,
    })
    expect(capabilities.find(({name}) => name === 'pinned')).toEqual({
      ...{type: 'resource', name: 'pinned', uri: 'file:///a', enabled: true, header_schema: '{"type":"object"}'},
      ...{pin_state: 'changed', approved_hashes: ['a', 'b'], seen_hashes: ['c'], gone_at: AT},
    })
    expect(capabilities.find(({name}) => name === 'plain')).toMatchObject({
      ...{uri: null, header_schema: null, pin_state: null, approved_hashes: [], seen_hashes: [], gone_at: null},
    })
  })

  test('have the users with a row of their own', async () => {
    const {id} = await seedUser(admin)
    await admin.store.db
      .insertInto('mcp_server_users')
      .values({mcp_server_id: server_id, user_id: id, enabled: 0})
      .execute()
    expect([...(await find())!.users]).toEqual([[id, false]])
  })

  test('are read once for calls at the same time, and again after a write', async () => {
    const servers = mcpServersForCalls(admin.store.db)
    admin.store.onWrite(changed => forgetRows(servers.remembered, changed))
    const named = {organisation_id, workspace: null, server: 'one'}
    const [one, other] = await Promise.all([servers.find(named), servers.find(named)])
    expect(one).toBe(other)
    expect(await servers.find(named)).toBe(one)
    await put(`/v1/mcp-servers/${server_id}`, {name: 'Other'})
    expect((await servers.find(named))!.server.name).toBe('Other')
    await admin.asAdmin('DELETE', `/v1/mcp-servers/${server_id}`)
    expect(await servers.find(named)).toBeNull()
  })
})
