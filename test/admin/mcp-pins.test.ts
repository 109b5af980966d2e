import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {mcpCapabilities} from '../../src/admin/mcp/capabilities.ts'
import {mcpIntegrations} from '../../src/admin/mcp/integrations.ts'
import {mcpServers} from '../../src/admin/mcp/servers.ts'
import {mcpIntegrationWorkspaces} from '../../src/admin/mcp/workspaces.ts'
import type {JsonObject} from '../../src/base/json-member.ts'
import {definitionHash} from '../../src/mcp/content/pins.ts'
import {type Pin, pinSeen} from '../../src/schema/mcp-pin-changes.ts'
import {pinRulesOf} from '../../src/schema/mcp-pins.ts'
import {insertMcpCapabilities, pinColumns, pinOf, mcpCapabilities as rowsOf} from '../../src/store/mcp-capabilities.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.000Z'
const DETAILS = JSON.stringify({
  ...{title: null, description: 'New words', icons: null, input_schema: {type: 'object'}, output_schema: null},
  ...{execution: null, annotations: null, arguments: null, uri: null, uri_template: null, mime_type: null, size: null},
})

describe.each(KINDS)('pins of capabilities in the administration, on %s', kind => {
  let admin: Admin
  let id: string
  beforeAll(async () => {
    const operations = [mcpIntegrations, mcpIntegrationWorkspaces, mcpServers, mcpCapabilities]
    admin = await startAdmin({kind, operations: operations.flat()})
  }, 60_000)
  afterAll(() => admin.close())
  beforeEach(() => begin({configurations: {tool_pinning: 'enforce'}}))

  async function begin(more: object) {
    const reply = await admin.asAdmin('POST', '/v1/mcp-integrations', {
      ...{name: 'Tickets', url: 'https://mcp.example.com/mcp', auth_type: 'none', transport: 'http', ...more},
    })
    expect(reply.status, reply.text).toBe(200)
    id = reply.body.id
  }

  const definition = (description: string): JsonObject => ({name: 'find', description})
  const hashOf = (description: string) => definitionHash(definition(description))
  /** The pin of a tool that was seen with these descriptions, one after the other. */
  const seen = (rules: ReturnType<typeof pinRulesOf>, ...descriptions: readonly string[]) =>
    descriptions.reduce<Pin | null>(
      (before, each) =>
        pinSeen(
          before,
          {hash: hashOf(each), at: AT, definition: definition(each), suspicions: []},
          {rules, is_first: before === null, by: 'sync'},
        ).pin,
      null,
    )!
  async function keep(pin: Pin, name = 'find') {
    const row = {mcp_integration_id: id, type: 'tool', name, enabled: 1, details: DETAILS} as const
    await insertMcpCapabilities(admin.store.db, [{...row, created_at: AT, last_updated_at: AT, ...pinColumns(pin)}])
  }
  const rulesNow = async () =>
    pinRulesOf(
      await admin.store.db.selectFrom('mcp_integrations').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    )
  const list = async (query = '') =>
    (await admin.asAdmin('GET', `/v1/mcp-integrations/${id}/capabilities${query}`)).body
  const approve = (approved_hash: string, more: object = {}) =>
    admin.asAdmin('PUT', `/v1/mcp-integrations/${id}/capabilities`, {
      capabilities: [{name: 'find', type: 'tool', approved_hash, ...more}],
    })

  test('43: what changed is shown beside what was, and approved by its hash; the audit log has it', async () => {
    await keep(seen(await rulesNow(), 'Finds tickets', 'Finds and sends tickets'))
    const {data} = await list('?pin_state=changed')
    expect(data[0].pin).toEqual({
      ...{state: 'changed', hash: hashOf('Finds tickets'), seen_hash: hashOf('Finds and sends tickets'), seen_at: AT},
      difference: [{path: '/description', was: 'Finds tickets', is: 'Finds and sends tickets'}],
      ...{other_seen_hashes: [], suspicions: []},
    })
    const {pin} = data[0]
    expect((await approve(pin.seen_hash)).body).toEqual({success: true})
    expect((await list()).data[0]).toMatchObject({
      enabled: true,
      pin: {state: 'approved', hash: pin.seen_hash, seen_hash: null, seen_at: null, difference: []},
    })
    const row = (await admin.auditLog()).at(-1)!
    expect([row.action, row.resource_id, row.request_body]).toEqual([
      'update',
      id,
      JSON.stringify({capabilities: [{name: 'find', type: 'tool', approved_hash: pin.seen_hash}]}),
    ])
  })

  test.each([
    ['another hash than was seen', () => approve('0'.repeat(64)), 'capabilities[0].approved_hash'],
    ['no hash', () => approve('abc'), '64 hexadecimal digits'],
    [
      'nothing',
      () =>
        admin.asAdmin('PUT', `/v1/mcp-integrations/${id}/capabilities`, {capabilities: [{name: 'find', type: 'tool'}]}),
      'expected enabled, approved_hash or both',
    ],
  ] as const)('an approval of %s is refused, and changes nothing', async (_, put, words) => {
    const pin = seen(await rulesNow(), 'One', 'Two')
    await keep(pin)
    const reply = await put()
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(words)])
    expect(pinOf((await rowsOf(admin.store.db, id))[0]!)).toEqual(pin)
  })

  test('one that no sync has read cannot be approved; with its switch it is one change', async () => {
    await insertMcpCapabilities(admin.store.db, [
      {
        mcp_integration_id: id,
        type: 'tool',
        name: 'find',
        enabled: 1,
        details: DETAILS,
        created_at: AT,
        last_updated_at: AT,
      },
    ])
    expect((await approve(hashOf('One'))).status).toBe(400)
    await admin.store.db.deleteFrom('mcp_capabilities').execute()
    await keep(seen(await rulesNow(), 'One', 'Two'))
    expect((await approve(hashOf('Two'), {enabled: false})).status).toBe(200)
    expect((await list()).data[0]).toMatchObject({enabled: false, pin: {state: 'approved'}})
  })

  test('a server switches, and approves nothing', async () => {
    await keep(seen(await rulesNow(), 'One', 'Two'))
    await admin.asAdmin('PUT', `/v1/mcp-integrations/${id}/workspaces`, {
      workspaces: [{id: admin.workspace_id, enabled: true}],
    })
    const {body: server} = await admin.asAdmin('POST', '/v1/mcp-servers', {
      ...{name: 'Tickets', mcp_integration_id: id, workspace_id: admin.workspace_id},
    })
    const put = (change: object) =>
      admin.asAdmin('PUT', `/v1/mcp-servers/${server.id}/capabilities`, {
        capabilities: [{name: 'find', type: 'tool', enabled: true, ...change}],
      })
    expect((await put({approved_hash: hashOf('Two')})).status).toBe(400)
    expect((await put({})).status).toBe(200)
    expect((await admin.asAdmin('GET', `/v1/mcp-servers/${server.id}/capabilities`)).body.data[0].pin.state).toBe(
      'changed',
    )
  })

  test('K14: where lists differ by the person, an approved definition stays beside the next', async () => {
    await begin({auth_type: 'oauth_auto'})
    await keep(seen(await rulesNow(), 'One', 'Two', 'Three'))
    expect((await list()).data[0].pin.other_seen_hashes).toEqual([hashOf('Two')])
    await approve(hashOf('Two'))
    const pin = pinOf((await rowsOf(admin.store.db, id))[0]!)!
    expect([pin.state, pin.approved_hashes, pin.seen.map(({hash}) => hash)]).toEqual([
      'changed',
      [hashOf('One'), hashOf('Two')],
      [hashOf('Three')],
    ])
  })

  test('those that are gone are neither listed nor counted, unless they are wanted', async () => {
    await keep(seen(await rulesNow(), 'One'))
    await keep({...seen(await rulesNow(), 'One'), gone_at: AT}, 'old')
    expect(await list()).toMatchObject({total: 1, data: [{name: 'find'}], counts: {tools: {total: 1}}})
    expect(await list('?pin_state=gone')).toMatchObject({total: 1, data: [{name: 'old', pin: {state: 'gone'}}]})
  })

  test('tool_pinning and new_capabilities take their words alone', async () => {
    const put = (configurations: object) => admin.asAdmin('PUT', `/v1/mcp-integrations/${id}`, {configurations})
    expect((await put({tool_pinning: 'sometimes'})).status).toBe(400)
    expect((await put({new_capabilities: true})).status).toBe(400)
    expect((await put({tool_pinning: 'off', new_capabilities: 'deny'})).status).toBe(200)
    expect(await rulesNow()).toEqual({tool_pinning: 'off', new_capabilities: 'deny', per_principal: false})
  })
})
