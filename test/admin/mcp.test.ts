import {Portkey} from 'portkey-ai'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {mcpCapabilities} from '../../src/admin/mcp/capabilities.ts'
import {mcpConnections} from '../../src/admin/mcp/connections.ts'
import {mcpIntegrations} from '../../src/admin/mcp/integrations.ts'
import {mcpServers} from '../../src/admin/mcp/servers.ts'
import {mcpUserAccess} from '../../src/admin/mcp/user-access.ts'
import {mcpIntegrationWorkspaces} from '../../src/admin/mcp/workspaces.ts'
import {secretReferences} from '../../src/admin/secret-references.ts'
import {workspaces} from '../../src/admin/workspaces.ts'
import {type CapabilityDetails, UNSYNCED} from '../../src/schema/mcp-integrations.ts'
import {putMcpConnection} from '../../src/store/mcp-connections.ts'
import {openConfigurations, putMcpMetadata} from '../../src/store/mcp-integrations.ts'
import type {CapabilityType} from '../../src/store/tables/registry.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {contentsOf} from '../support/database-contents.ts'
import {putMcpCapabilities} from '../support/mcp/capabilities.ts'
import {seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.000Z'
const TOKEN = 'Bearer canary-token-0123456789'
const MASK = 'Bea•••••6789'
const SCOPES = ['mcp_servers.read']

describe.each(KINDS)('MCP on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  let sibling: {id: string; slug: string; key: string}
  beforeAll(async () => {
    const operations = [
      mcpIntegrations,
      mcpIntegrationWorkspaces,
      mcpServers,
      mcpCapabilities,
      mcpUserAccess,
      mcpConnections,
      secretReferences,
      workspaces,
    ]
    admin = await startAdmin({kind, operations: operations.flat()})
    other = await admin.foreign()
    const {id, slug} = await admin.seedWorkspace(admin.organisation_id)
    const {key} = await admin.seedKey({organisation_id: admin.organisation_id, workspace_id: id})
    sibling = {id, slug, key}
  })
  afterAll(() => admin.close())

  const good = {name: 'House docs', url: 'https://mcp.example.com/mcp', auth_type: 'headers', transport: 'http'}
  const post = (body: object = {}, key = admin.admin_key) =>
    admin.send(key, 'POST', '/v1/mcp-integrations', {...good, ...body})
  const create = async (body: object = {}, key = admin.admin_key) => {
    const reply = await post(body, key)
    expect([reply.status, reply.body]).toEqual([200, {id: expect.any(String), slug: expect.any(String)}])
    return reply.body as {id: string; slug: string}
  }
  const at = (id: string, rest = '') => `/v1/mcp-integrations/${id}${rest}`
  const serve = async (body: object, key = admin.workspace_key) => {
    const reply = await admin.send(key, 'POST', '/v1/mcp-servers', {name: 'Docs', ...body})
    expect([reply.status, reply.body]).toEqual([200, {id: expect.any(String), slug: expect.any(String)}])
    return reply.body as {id: string; slug: string}
  }
  const opened = async (workspace = admin.workspace_id) => {
    const made = await create()
    const body = {workspaces: [{id: workspace, enabled: true}]}
    expect((await admin.asAdmin('PUT', at(made.id, '/workspaces'), body)).body).toEqual({})
    return made
  }
  const configurations = async (id: string) => {
    const row = await admin.store.db
      .selectFrom('mcp_integrations')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return openConfigurations(admin.services.seal, row)
  }

  test('an integration is kept with its secrets sealed and shown masked, by id and slug', async () => {
    const said = {
      custom_headers: {authorization: TOKEN},
      jwt_validation: {jwksUri: 'https://id.example.com', introspectClientSecret: TOKEN},
    }
    const {id, slug} = await create({configurations: said, description: 'Docs'})
    expect(slug).toMatch(/^house-docs-[0-9a-f]{6}$/)
    const masked = {
      custom_headers: {authorization: MASK},
      jwt_validation: {jwksUri: 'https://id.example.com', introspectClientSecret: MASK},
    }
    const row = {
      ...{...good, id, slug, description: 'Docs', configurations: masked},
      ...{status: 'active', type: 'organisation', workspace_id: null, secret_mappings: []},
      ...{owner_id: expect.any(String), created_at: AT, last_updated_at: AT},
    }
    for (const named of [id, slug])
      expect((await admin.asAdmin('GET', at(named))).body).toEqual({...row, global_workspace_access: {enabled: false}})
    expect(await configurations(id)).toEqual(said)
    const {capability_flags: _, sync_error: __, website_url: ___, sync_warnings: ____, ...metadata} = UNSYNCED
    const list = (await admin.asAdmin('GET', `/v1/mcp-integrations?search=${slug}`)).body
    expect(list).toEqual({data: [{...row, workspaces_count: 0, metadata}], total: 1, has_more: false})
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      resource_type: 'mcp-integration',
      resource_id: id,
      action: 'create',
    })
    expect(JSON.stringify(await admin.auditLog())).not.toContain('canary')
    expect(await contentsOf(admin.store)).not.toContain('canary-token')
  })

  test('a mask that comes back keeps its secret, for the same host alone', async () => {
    const {id} = await create({configurations: {custom_headers: {authorization: TOKEN}}})
    const put = (body: object) => admin.asAdmin('PUT', at(id), body)
    expect((await put({configurations: {custom_headers: {authorization: MASK, 'x-team': 'search'}}})).body).toEqual({})
    expect(await configurations(id)).toEqual({custom_headers: {authorization: TOKEN, 'x-team': 'search'}})
    const elsewhere = 'https://elsewhere.example.com/mcp'
    expect((await put({url: elsewhere})).status).toBe(400)
    expect((await put({url: elsewhere, configurations: {custom_headers: {authorization: MASK}}})).status).toBe(400)
    expect((await put({url: `${good.url}?project=1`})).status).toBe(200)
    expect((await put({url: elsewhere, configurations: {}})).status).toBe(200)
    expect((await put({})).status).toBe(400)
    expect((await admin.asAdmin('GET', at(id))).body).toMatchObject({url: elsewhere, configurations: {}})
  })

  test.each([
    [{name: undefined}, 'name: is required'],
    [{url: 'mcp.example.com'}, 'must begin with http'],
    [{url: 'https://user:pw@mcp.example.com'}, 'a user, a password'],
    [{url: 'http://169.254.169.254/latest'}, ''],
    [{auth_type: 'basic'}, 'auth_type: must be'],
    [{transport: 'stdio'}, 'transport: must be'],
    [{slug: 'a b'}, 'slug'],
    [{configurations: {custom_headers: {'x y': 'z'}}}, 'configurations.custom_headers'],
    [{configurations: {custom_headers: {x: 'a\nb'}}}, 'one line'],
    [{configurations: {header: {}}}, 'configurations'],
    [{configurations: {headers: {}, custom_headers: {}}}, 'configurations.headers: is another spelling'],
    [{configurations: {custom_headers: {authorization: MASK}}}, 'mask'],
    [{surplus: 1}, 'surplus'],
    [{secret_mappings: [1, 2].map(() => ({target_field: 'x', secret_reference_id: 'y'}))}, 'target_field twice'],
  ])('an integration with %j is refused', async (body, why) => {
    const reply = await post(body)
    expect([reply.status, reply.body.data.message]).toEqual([400, expect.stringContaining(why)])
  })

  test('a private host is for admins alone', async () => {
    const url = 'http://10.0.0.9:8080/mcp'
    await create({url})
    expect((await post({url}, admin.workspace_key)).status).toBe(400)
  })

  test('a slug is taken once (409) while its integration lives', async () => {
    await create({slug: 'once'})
    const again = await post({slug: 'once'})
    expect([again.status, again.body]).toEqual([
      409,
      refusal('AB07', 'The slug once is taken by another MCP integration.'),
    ])
    await admin.asAdmin('DELETE', at('once'))
    const gone = await admin.asAdmin('GET', at('once'))
    expect([gone.status, gone.body]).toEqual([404, refusal('AB08', 'No MCP integration is known by this id.')])
    await create({slug: 'once'})
  })

  test('mappings name references that are known, and for the workspace; they are kept by id', async () => {
    const vault = {vault_auth_type: 'kubernetes', vault_addr: 'https://vault.example.com', vault_role: 'r'}
    const reference = {
      name: 'For one',
      manager_type: 'hashicorp_vault',
      auth_config: vault,
      secret_path: 'p',
      allowed_workspaces: [sibling.id],
    }
    const {id, slug} = (await admin.asAdmin('POST', '/v1/secret-references', reference)).body
    const secret_mappings = [
      {target_field: 'configurations.custom_headers', secret_reference_id: slug, secret_key: 'k'},
    ]
    const made = await create({secret_mappings, workspace_id: sibling.slug})
    expect((await admin.asAdmin('GET', at(made.id))).body.secret_mappings).toEqual([
      {...secret_mappings[0], secret_reference_id: id},
    ])
    const unseen = await post({secret_mappings, workspace_id: admin.workspace_id})
    expect([unseen.status, unseen.body.data.errorCode]).toEqual([404, 'AB02'])
  })

  test('workspaces see what is theirs and what is open to them; nothing of others is found', async () => {
    const own = await create({workspace_id: admin.workspace_id})
    const open = await opened()
    const closed = await create()
    const seen = async (key: string, query = '') =>
      ((await admin.send(key, 'GET', `/v1/mcp-integrations?${query}`)).body.data as {id: string}[]).map(({id}) => id)
    const all = await seen(admin.workspace_key)
    expect([own, open, closed].map(({id}) => all.includes(id))).toEqual([true, true, false])
    expect(await seen(admin.workspace_key, 'type=workspace')).not.toContain(open.id)
    expect(await seen(sibling.key)).toEqual(expect.not.arrayContaining([own.id, open.id]))
    const nothing = await admin.send(sibling.key, 'GET', at('none'))
    for (const [key, id] of [
      [sibling.key, own.id],
      [sibling.key, open.id],
      [other.admin.key, own.id],
      [admin.workspace_key, open.id],
    ] as const)
      for (const [method, body] of [['GET'], ['PUT', {name: 'x'}], ['DELETE']] as const)
        expect((await admin.send(key, method, at(id), body)).text).toBe(nothing.text)
    expect((await post({workspace_id: sibling.id}, admin.workspace_key)).status).toBe(404)
    expect((await post({organisation_id: other.organisation_id})).status).toBe(404)
  })

  test('an integration is opened to workspaces one by one, or to all; an override forgets the others', async () => {
    const {id} = await create()
    const put = (body: object) => admin.asAdmin('PUT', at(id, '/workspaces'), body)
    const get = async (query = '') => (await admin.asAdmin('GET', at(id, `/workspaces${query}`))).body
    const times = {status: 'active', created_at: AT, last_updated_at: AT}
    await put({workspaces: [{id: admin.workspace_slug, enabled: true}]})
    const rows = [{id: admin.workspace_id, enabled: true, ...times}]
    expect(await get()).toEqual({workspaces: rows, global_workspace_access: {enabled: false}})
    expect(await get('?version=v2')).toEqual({data: rows, total: 1, global_workspace_access: {enabled: false}})
    await put({workspaces: [{id: admin.workspace_id, enabled: false}], global_workspace_access: {enabled: true}})
    const {workspaces} = await get()
    expect(workspaces).toContainEqual({id: admin.workspace_id, enabled: false, ...times})
    expect(workspaces).toContainEqual({id: sibling.id, enabled: true, ...times})
    await put({workspaces: [], override_existing_workspace_access: true, global_workspace_access: null})
    expect(await get()).toEqual({workspaces: [], global_workspace_access: {enabled: false}})
    for (const [body, status] of [
      [{workspaces: []}, 400],
      [{}, 400],
      [
        {
          workspaces: [
            {id: admin.workspace_id, enabled: true},
            {id: admin.workspace_slug, enabled: true},
          ],
        },
        400,
      ],
      [{workspaces: [{id: other.workspace.id, enabled: true}]}, 404],
    ] as const)
      expect((await put(body)).status).toBe(status)
    const own = await create({workspace_id: admin.workspace_id})
    expect((await admin.asAdmin('GET', at(own.id, '/workspaces'))).body).toMatchObject({global_workspace_access: null})
    const wide = await admin.asAdmin('PUT', at(own.id, '/workspaces'), {
      workspaces: [],
      global_workspace_access: {enabled: true},
    })
    expect(wide.status).toBe(400)
  })

  const details: CapabilityDetails = {
    ...{
      title: null,
      description: 'Finds pages',
      icons: null,
      input_schema: {type: 'object'},
      output_schema: null,
      execution: null,
    },
    ...{annotations: null, arguments: null, uri: null, uri_template: null, mime_type: null, size: null},
  }
  const discover = (id: string, found: readonly (readonly [CapabilityType, string])[]) =>
    putMcpCapabilities(
      admin.store.db,
      id,
      found.map(([type, name]) => ({type, name, details})),
      AT,
    )

  test('capabilities are switched for all servers by the integration, and by a server for itself', async () => {
    const {id} = await opened()
    await discover(id, [
      ['tool', 'search'],
      ['tool', 'write'],
      ['resource', 'page'],
      ['resource_template', 'pages'],
    ])
    const server = await serve({mcp_integration_id: id})
    const list = async (path: string, query = '') => (await admin.asAdmin('GET', `${path}/capabilities${query}`)).body
    const put = (path: string, name: string, enabled: boolean, type = 'tool') =>
      admin.asAdmin('PUT', `${path}/capabilities`, {capabilities: [{name, type, enabled}]})
    const ofServer = `/v1/mcp-servers/${server.slug}`
    expect((await put(at(id), 'write', false)).body).toEqual({success: true})
    expect((await put(ofServer, 'search', false)).body).toEqual({success: true})
    expect((await put(ofServer, 'write', true)).body).toEqual({success: true})
    const all = await list(at(id))
    expect(all).toMatchObject({
      total: 4,
      has_more: false,
      counts: {
        tools: {total: 2, enabled: 1},
        prompts: {total: 0, enabled: 0},
        resources: {total: 1, enabled: 1},
        resource_templates: {total: 1, enabled: 1},
      },
    })
    expect(all.data[0]).toEqual({
      ...details,
      name: 'search',
      type: 'tool',
      enabled: true,
      pin: null,
      created_at: AT,
      last_updated_at: AT,
    })
    const here = await list(ofServer, '?type=tool&page=1&page_size=1')
    expect(here).toMatchObject({total: 2, has_more: true, counts: {tools: {total: 2, enabled: 0}}})
    expect(here.data).toEqual([
      {...details, name: 'search', type: 'tool', enabled: false, pin: null, integration_enabled: true},
    ])
    expect((await list(ofServer, '?type=tool&page=2&page_size=1')).data).toMatchObject([
      {name: 'write', enabled: false, integration_enabled: false},
    ])
    await discover(id, [
      ['tool', 'write'],
      ['tool', 'new'],
    ])
    expect((await list(at(id))).data).toMatchObject([
      {name: 'new', enabled: true},
      {name: 'write', enabled: false},
    ])
    for (const path of [at(id), ofServer]) {
      const unknown = await put(path, 'serch', true)
      expect([unknown.status, unknown.body]).toEqual([
        404,
        refusal('AB02', 'capabilities[0].name: no tool is known by the id serch.'),
      ])
      expect((await put(path, 'pages', true, 'widget')).status).toBe(400)
      expect((await admin.asAdmin('PUT', `${path}/capabilities`, {capabilities: []})).status).toBe(400)
    }
  })

  test('a server is made of an integration that is open to its workspace', async () => {
    const integration = await opened()
    await putMcpMetadata(admin.store.db, integration.id, {
      ...UNSYNCED,
      server_name: 'docs',
      sync_status: 'synced',
      capability_flags: {tools: {}},
    })
    const server = await serve({mcp_integration_id: integration.slug, slug: 'docs', description: 'Ours'})
    const brief = {
      ...{
        id: server.id,
        slug: 'docs',
        name: 'Docs',
        description: 'Ours',
        status: 'active',
        created_at: AT,
        last_updated_at: AT,
      },
      ...{workspace_id: admin.workspace_id, mcp_integration_id: integration.id},
    }
    const details = {
      id: integration.id,
      slug: integration.slug,
      status: 'active',
      configurations: {},
      url: good.url,
      transport: 'http',
      auth_type: 'headers',
    }
    for (const named of [server.id, 'docs'])
      expect((await admin.asWorkspace('GET', `/v1/mcp-servers/${named}`)).body).toEqual({
        ...brief,
        mcp_integration_details: details,
      })
    const {capability_flags: _, sync_error: __, website_url: ___, sync_warnings: ____, ...metadata} = UNSYNCED
    const list = (await admin.asAdmin('GET', `/v1/mcp-servers?id=docs&workspace_id=${admin.workspace_slug}`)).body
    expect(list).toEqual({
      data: [
        {
          ...brief,
          ...{organisation_id: admin.organisation_id, owner_id: expect.any(String), auth_type: 'headers'},
          ...{mcp_integration_slug: integration.slug, mcp_integration_url: good.url},
          ...{
            workspace_name: expect.any(String),
            workspace_slug: admin.workspace_slug,
            url: 'http://localhost:8787/docs/mcp',
          },
          metadata: {...metadata, server_name: 'docs', sync_status: 'synced'},
        },
      ],
      total: 1,
      has_more: false,
    })
    for (const path of [`/v1/mcp-servers/docs/metadata`, at(integration.id, '/metadata')])
      expect((await admin.asAdmin('GET', path)).body).toMatchObject({
        server_name: 'docs',
        sync_status: 'synced',
        capability_flags: {tools: {}},
      })
    expect((await admin.asWorkspace('PUT', '/v1/mcp-servers/docs', {name: 'New', description: null})).body).toEqual({})
    expect((await admin.asWorkspace('GET', '/v1/mcp-servers/docs')).body).toMatchObject({
      name: 'New',
      description: null,
    })
    const send = (body: object, key = admin.workspace_key) =>
      admin.send(key, 'POST', '/v1/mcp-servers', {name: 'x', mcp_integration_id: integration.id, ...body})
    expect((await send({slug: 'docs'})).status).toBe(409)
    expect((await send({slug: 'ab'})).status).toBe(400)
    expect((await send({}, sibling.key)).body).toEqual(
      refusal('AB02', `mcp_integration_id: no MCP integration is known by the id ${integration.id}.`),
    )
    expect((await send({}, admin.admin_key)).status).toBe(400)
    expect((await send({workspace_id: admin.workspace_slug}, admin.admin_key)).status).toBe(200)
    await admin.asAdmin('DELETE', at(integration.id))
    expect((await admin.asWorkspace('GET', '/v1/mcp-servers/docs')).status).toBe(404)
  })

  test("another workspace's server is not found, in the words of none", async () => {
    const {id} = await serve({mcp_integration_id: (await opened()).id})
    const nothing = (await admin.asWorkspace('GET', '/v1/mcp-servers/none')).text
    for (const key of [sibling.key, other.admin.key]) {
      for (const [method, rest, body] of [
        ['GET', ''],
        ['PUT', '', {name: 'x'}],
        ['DELETE', ''],
        ['GET', '/metadata'],
        ['GET', '/capabilities'],
        ['PUT', '/capabilities', {capabilities: [{name: 'x', type: 'tool', enabled: true}]}],
        ['GET', '/user-access'],
        ['PUT', '/user-access', {default_user_access: 'deny'}],
      ] as const)
        expect((await admin.send(key, method, `/v1/mcp-servers/${id}${rest}`, body)).text).toBe(nothing)
    }
    expect((await admin.asWorkspace('DELETE', `/v1/mcp-servers/${id}`)).body).toEqual({})
    expect((await admin.asWorkspace('GET', `/v1/mcp-servers/${id}`)).text).toBe(nothing)
  })

  test('members may use a server as the default says, or as is said for each', async () => {
    const {id} = await serve({mcp_integration_id: (await opened()).id})
    const ada = await seedUser(admin, 'member', {[admin.workspace_id]: 'member'}, {email: 'a-100%@example.com'})
    const bob = await seedUser(admin, 'member', {[admin.workspace_id]: 'member'}, {email: 'bob@example.com'})
    const stranger = await seedUser(admin, 'member', {[sibling.id]: 'member'})
    const path = `/v1/mcp-servers/${id}/user-access`
    const put = (body: object) => admin.asWorkspace('PUT', path, body)
    expect((await put({default_user_access: 'deny', user_access: [{user_id: ada.id, enabled: true}]})).body).toEqual({
      success: true,
    })
    const row = {first_name: 'Ada', last_name: null, connection_status: 'not_connected'}
    const rows = [
      {...row, user_id: ada.id, enabled: true, has_override: true},
      {...row, user_id: bob.id, enabled: false, has_override: false},
    ]
    expect((await admin.asWorkspace('GET', path)).body).toEqual({
      data: rows,
      default_user_access: 'deny',
      total: 2,
      has_more: false,
    })
    const found = (await admin.asWorkspace('GET', `${path}?search=100%25&page=1&page_size=1`)).body
    expect(found).toEqual({data: [rows[0]], default_user_access: 'deny', total: 1, has_more: false})
    expect((await admin.asWorkspace('GET', `${path}?page=2&page_size=1`)).body.data).toEqual([rows[1]])
    expect((await put({user_access: [{user_id: stranger.id, enabled: true}]})).body.data.errorCode).toBe('AB02')
    for (const body of [
      {},
      {default_user_access: 'ask'},
      {user_access: [1, 2].map(() => ({user_id: ada.id, enabled: true}))},
    ])
      expect((await put(body)).status).toBe(400)
    expect((await admin.asWorkspace('GET', `${path}?page=0`)).status).toBe(400)
  })

  test('sign-ins at the server behind: users see and end their own, admins and keys name one', async () => {
    const {id: mcp_integration_id} = await opened()
    const server = await serve({mcp_integration_id})
    const path = `/v1/mcp-servers/${server.slug}/connections`
    const people = await Promise.all(
      ['member', 'manager'].map(role => seedUser(admin, 'member', {[admin.workspace_id]: role as 'member'})),
    )
    const [ada, bob] = people as [(typeof people)[0], (typeof people)[0]]
    const {organisation_id} = admin
    const connect = (user_id: string, mcp_server_id = server.id) =>
      putMcpConnection(admin.store.db, {
        ...{mcp_integration_id, mcp_server_id, user_id, organisation_id, upstream: 'https://mcp.example.com'},
        ...{issuer: null, tokens: Buffer.from('canary-tokens'), scope: null, expires_at: null, refresh_at: null},
        ...{held_off_until: null, created_at: AT, last_updated_at: AT},
      })
    await connect(ada.id)
    await connect(bob.id)
    const at_all = {organisation_id, workspace_id: admin.workspace_id}
    const keys = await Promise.all(
      people.map(({id}) => admin.seedKey(at_all, {kind: 'workspace-user', user_id: id, scopes: SCOPES})),
    )
    const [ada_key] = keys.map(({key}) => key) as [string]
    const row = (user_id: string) => ({user_id, connected: true, created_at: AT, last_updated_at: AT})
    const listed = async (key: string, query = '') => (await admin.send(key, 'GET', `${path}${query}`)).body

    const access = (await admin.asWorkspace('GET', `/v1/mcp-servers/${server.id}/user-access?page_size=500`)).body.data
    const status = Object.fromEntries(
      access.map((each: {user_id: string; connection_status: string}) => [each.user_id, each.connection_status]),
    )
    expect([status[ada.id], status[bob.id]]).toEqual(['connected', 'connected'])
    expect(await listed(ada_key)).toEqual({data: [row(ada.id)], total: 1, has_more: false})
    expect(await listed(ada_key, `?user_id=${bob.id}`)).toEqual({data: [], total: 0, has_more: false})
    for (const key of [admin.workspace_key, admin.admin_key]) {
      expect((await listed(key)).data.message).toContain('user_id: is required where the caller is no user')
      expect((await listed(key, `?user_id=${bob.id}`)).data).toEqual([row(bob.id)])
      expect((await listed(key, `?user_id=${bob.id}&workspace_id=${sibling.slug}`)).data.errorCode).toBe('AB08')
      expect((await listed(key, `?user_id=${bob.id}&workspace_id=${admin.workspace_slug}`)).data).toEqual([row(bob.id)])
      expect((await admin.send(key, 'DELETE', path)).status).toBe(400)
    }
    expect((await admin.send(ada_key, 'DELETE', `${path}?user_id=${bob.id}`)).status).toBe(404)
    expect((await admin.send(ada_key, 'DELETE', path)).body).toEqual({success: true})
    expect((await admin.send(ada_key, 'DELETE', path)).status).toBe(404)
    expect((await listed(admin.workspace_key, `?user_id=${bob.id}`)).data).toEqual([row(bob.id)])
    const {key: reader} = await admin.seedKey(at_all, {scopes: SCOPES})
    expect((await admin.send(reader, 'DELETE', `${path}?user_id=${bob.id}`)).status).toBe(403)
    expect((await admin.send(admin.workspace_key, 'DELETE', `${path}?user_id=${bob.id}`)).body).toEqual({success: true})
    expect((await admin.auditLog()).at(-1)).toMatchObject({resource_type: 'mcp-server', resource_id: server.id})

    await connect(ada.id)
    await admin.asWorkspace('DELETE', `/v1/mcp-servers/${server.id}`)
    const left = await admin.store.db.selectFrom('mcp_connections').select('user_id').execute()
    expect(left).toEqual([])
  })

  test('a workspace that goes takes its integrations and servers with it', async () => {
    const gone = await admin.seedWorkspace(admin.organisation_id, {name: 'Going'})
    const {id} = await create({workspace_id: gone.id})
    const server = await serve({mcp_integration_id: id, workspace_id: gone.id}, admin.admin_key)
    const refused = await admin.asAdmin('DELETE', `/v1/admin/workspaces/${gone.id}`, {name: 'Going'})
    expect(refused.body.data.message).toContain('1 MCP integration, 1 MCP server')
    expect(
      (await admin.asAdmin('DELETE', `/v1/admin/workspaces/${gone.id}`, {name: 'Going', force_delete: true})).status,
    ).toBe(200)
    expect((await admin.asAdmin('GET', at(id))).status).toBe(404)
    expect((await admin.asAdmin('GET', `/v1/mcp-servers/${server.id}`)).status).toBe(404)
  })

  test('the portkey-ai SDK works with both', async () => {
    const client = new Portkey({apiKey: admin.admin_key, baseURL: `${admin.url}/v1`})
    const integration = await client.mcpIntegrations.create({
      ...good,
      name: 'By SDK',
      workspace_id: admin.workspace_id,
    } as never)
    const named = {id: integration.id!}
    expect((await client.mcpIntegrations.list()).data?.map(({id}) => id)).toContain(named.id)
    await client.mcpIntegrations.update({...named, description: 'Changed'} as never)
    expect(await client.mcpIntegrations.retrieve(named as never)).toMatchObject({
      ...named,
      description: 'Changed',
      url: good.url,
    })
    const server = await client.mcpServers.create({
      name: 'By SDK',
      mcp_integration_id: named.id,
      workspace_id: admin.workspace_id,
    })
    expect((await client.mcpServers.list({id: server.id!})).data).toMatchObject([
      {id: server.id, metadata: {sync_status: 'pending'}},
    ])
    await client.mcpServers.update({id: server.id!, name: 'Renamed'})
    expect(await client.mcpServers.retrieve({id: server.slug!})).toMatchObject({name: 'Renamed'})
    await client.mcpServers.delete({id: server.id!} as never)
    await client.mcpIntegrations.delete(named as never)
    await expect(client.mcpIntegrations.retrieve(named as never)).rejects.toThrow(/AB08/)
  })
})
