import fastify, {type FastifyInstance} from 'fastify'
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {mountMcpRegistry} from '../../src/admin/mcp/registry.ts'
import {houseOf, registryEntry} from '../../src/admin/mcp/registry-view.ts'
import {RegistryEntry, RegistryPage} from '../../src/schema/mcp-registry.ts'
import type {RegistryRow} from '../../src/store/mcp-registry.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {ADMIN_KEY, startGateway} from '../support/gateway.ts'
import {KINDS} from '../support/stores.ts'

const BASE = 'https://mcp.example.com'

describe.each(KINDS)('the registry of MCP servers, on %s', kind => {
  let admin: Admin
  let server: FastifyInstance
  let sibling: {id: string; slug: string}
  let integration: string
  beforeAll(async () => {
    admin = await startAdmin({kind})
    sibling = await admin.seedWorkspace(admin.organisation_id)
    server = fastify()
    mountMcpRegistry(server, {...admin.services, base_url: BASE})
    const mcp = {name: 'House', url: 'https://up.example/mcp', auth_type: 'none', transport: 'http'}
    integration = (await made('/v1/mcp-integrations', mcp)).id
    await admin.asAdmin('PUT', `/v1/mcp-integrations/${integration}/workspaces`, {
      workspaces: [],
      global_workspace_access: {enabled: true},
    })
    for (let n = 0; n < 5; n++) await serve(`own-${n}`, admin.workspace_id)
    await serve('other', sibling.id)
  }, 60_000)
  afterAll(async () => {
    await server.close()
    await admin.close()
  })

  async function made(path: string, body: object) {
    const reply = await admin.asAdmin('POST', path, body)
    expect(reply.status, reply.text).toBe(200)
    return reply.body as {id: string; slug: string}
  }
  const serve = (slug: string, workspace_id: string) =>
    made('/v1/mcp-servers', {name: `Server ${slug}`, slug, mcp_integration_id: integration, workspace_id})
  const key = async (workspace_id: string | null = admin.workspace_id, scopes = ['mcp_servers.list']) =>
    (await admin.seedKey({organisation_id: admin.organisation_id, workspace_id}, {scopes})).key
  const get = async (path: string, headers: Record<string, string>) => {
    const reply = await server.inject({url: path, headers})
    return {status: reply.statusCode, body: reply.json()}
  }
  const list = async (query = '', of?: string) => {
    const reply = await get(`/v0.1/servers${query}`, {'x-gateway-api-key': of ?? (await key())})
    return {...reply, names: (reply.body.servers ?? []).map((each: RegistryEntry) => each.server.name.split('/')[1])}
  }

  test('50: pages by cursor give each server once, and each satisfies the schema', async () => {
    const of = await key()
    const names: string[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < 10; pages++) {
      const page = await list(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`, of)
      const {metadata} = RegistryPage.parse(page.body)
      expect(metadata.count).toBe(page.names.length)
      names.push(...page.names)
      cursor = metadata.nextCursor
      if (cursor === undefined) break
    }
    expect(names.toSorted()).toEqual(['own-0', 'own-1', 'own-2', 'own-3', 'own-4'])
  })

  test('50: a key of a workspace sees its own; one of the organisation all, or those it names', async () => {
    expect((await list('', await key(sibling.id))).names).toEqual(['other'])
    const all = await key(null)
    expect((await list('', all)).names).toHaveLength(6)
    expect((await list(`?workspace_id=${sibling.slug}`, all)).names).toEqual(['other'])
    expect((await list('?workspace_id=nowhere', all)).status).toBe(404)
    expect((await list(`?workspace_id=${sibling.id}`)).status).toBe(403)
  })

  test('the key comes in its header alone, and needs the scope', async () => {
    const of = await key()
    expect((await get('/v0.1/servers', {authorization: `Bearer ${of}`})).status).toBe(401)
    expect((await get('/v0.1/servers', {})).status).toBe(401)
    expect((await list('', await key(admin.workspace_id, ['completions.write']))).status).toBe(403)
  })

  test.each(['?limit=0', '?limit=101', '?cursor=abc', '?updated_since=yesterday', '?version=1.0.0', '?other=1'])(
    '%s is refused',
    async query => expect((await list(query)).status).toBe(400),
  )

  test('search, time and version narrow the list', async () => {
    expect((await list('?search=SERVER%20OWN-3')).names).toEqual(['own-3'])
    expect((await list('?version=latest')).names).toHaveLength(5)
    expect((await list('?updated_since=2026-03-04T06:06:07%2B01:00')).names).toHaveLength(5)
    expect((await list('?updated_since=2027-01-01T00:00:00Z')).names).toEqual([])
  })

  test('the latest version of a server is found by its whole name', async () => {
    const of = {'x-gateway-api-key': await key()}
    const name = `com.example.mcp.${admin.workspace_slug}/own-1`
    const at = (named: string) => get(`/v0.1/servers/${encodeURIComponent(named)}/versions/latest`, of)
    const {status, body} = await at(name)
    expect([status, RegistryEntry.parse(body).server.name]).toEqual([200, name])
    for (const other of ['com.example.mcp.elsewhere/own-1', 'own-1', `com.example.mcp.${sibling.slug}/other`])
      expect((await at(other)).status).toBe(404)
  })

  test('50: what is closed or out of service is gone at once', async () => {
    const of = await key(sibling.id)
    const access = `/v1/mcp-integrations/${integration}/workspaces`
    const open = (enabled: boolean) => admin.asAdmin('PUT', access, {workspaces: [{id: sibling.id, enabled}]})
    await open(false)
    expect((await list('', of)).names).toEqual([])
    await open(true)
    expect((await list('', of)).names).toEqual(['other'])
    await admin.asAdmin('DELETE', '/v1/mcp-servers/other')
    expect((await list('', of)).names).toEqual([])
  })
})

test('50: a gateway serves it at the root', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  expect((await fetch(`${gateway.url}/v0.1/servers`)).status).toBe(401)
  const reply = await fetch(`${gateway.url}/v0.1/servers`, {headers: {'x-gateway-api-key': ADMIN_KEY}})
  expect([reply.status, await reply.json()]).toEqual([200, {servers: [], metadata: {count: 0}}])
})

describe('an entry', () => {
  const row: RegistryRow = {
    ...{id: 'i', slug: 'tickets', name: 'Tickets', description: null, workspace_slug: 'ws_blue', metadata: null},
    ...{created_at: '2026-03-04T05:06:07.000Z', last_updated_at: '2026-03-05T05:06:07.000Z'},
  }
  const of = (metadata: object | null, more: Partial<RegistryRow> = {}) =>
    RegistryEntry.parse(registryEntry({...row, ...more, metadata: metadata && JSON.stringify(metadata)}, BASE)).server

  test('has the words of the upstream, cut to what the schema takes, else those of the row', () => {
    expect(of(null)).toMatchObject({
      ...{name: 'com.example.mcp.ws-blue/tickets', title: 'Tickets', description: 'Tickets', version: '0.0.0'},
      remotes: [{type: 'streamable-http', url: `${BASE}/ws_blue/tickets/mcp`}],
    })
    const long = of({title: 'x'.repeat(500), description: 'y'.repeat(500), server_version: 'z'.repeat(500)})
    expect([long.title, long.description, long.version].map(text => text?.length)).toEqual([100, 100, 255])
    expect(of({title: ' ', description: ''}, {description: 'Kept'}).description).toBe('Kept')
  })

  test('has no address that is none of the web', () => {
    const found = of({
      website_url: 'javascript:alert(1)',
      icons: [{src: 'data:x'}, {src: 'https://x.example/i.png'}, null],
    })
    expect([found.websiteUrl, found.icons]).toEqual([undefined, [{src: 'https://x.example/i.png'}]])
  })

  test.each([
    ['https://mcp.example.com', 'com.example.mcp'],
    ['http://localhost:8787', 'local.gateway'],
    ['http://127.0.0.1:8787', 'local.gateway'],
    ['http://[::1]:8787', 'local.gateway'],
  ])('the house of %s is %s', (base, house) => expect(houseOf(base)).toBe(house))
})
