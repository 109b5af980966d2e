import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {policyEntityId} from '../../src/schema/policy-entities.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const USAGE = '/v1/policies/usage-limits'
const RATE = '/v1/policies/rate-limits'
const cover = {conditions: [{key: 'metadata.team', value: 'blue'}], group_by: [{key: 'metadata._user'}]}
const usage = {...cover, type: 'cost', credit_limit: 12.5}
const rate = {...cover, type: 'requests', unit: 'rpm', value: 60}
const UNKNOWN = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d20'
const AT = '2026-03-04T05:06:07.000Z'

describe.each(KINDS)('policies on %s', kind => {
  let admin: Admin

  beforeEach(async () => {
    admin = await startAdmin({kind})
  })
  afterEach(async () => {
    expect(admin.faults).toEqual([])
    await admin.close()
  })

  const made = async (path: string, body: object) => (await admin.asWorkspace('POST', path, body)).body.id as string

  test('a usage policy is created and shown, with the key of its workspace', async () => {
    const reply = await admin.asWorkspace('POST', USAGE, {
      ...usage,
      name: 'fair',
      alert_threshold: 10,
      periodic_reset: 'weekly',
    })
    expect([reply.status, reply.body]).toEqual([200, {id: expect.any(String), object: 'policy_usage_limits'}])
    expect(admin.published).toEqual(['policies'])
    const shown = await admin.asWorkspace('GET', `${USAGE}/${reply.body.id}`)
    expect(shown.body).toEqual({
      id: reply.body.id,
      name: 'fair',
      target: 'llm',
      ...usage,
      alert_threshold: 10,
      periodic_reset: 'weekly',
      periodic_reset_days: null,
      // 2026-03-04 is a Wednesday; weeks of policies begin on Monday
      next_usage_reset_at: '2026-03-09T00:00:00.000Z',
      last_reset_at: null,
      status: 'active',
      workspace_id: admin.workspace_id,
      organisation_id: admin.organisation_id,
      created_at: AT,
      last_updated_at: AT,
      object: 'policy_usage_limits',
    })
  })

  test('a rate policy is created, changed and shown', async () => {
    const id = await made(RATE, rate)
    expect(
      (await admin.asWorkspace('PUT', `${RATE}/${id}`, {unit: 'rph', value: 5, enforcement: 'strict'})).body,
    ).toEqual({})
    expect((await admin.asWorkspace('GET', `${RATE}/${id}`)).body).toMatchObject({
      ...rate,
      unit: 'rph',
      value: 5,
      enforcement: 'strict',
      object: 'policy_rate_limits',
    })
    expect((await admin.asWorkspace('PUT', `${RATE}/${id}`, {enforcement: 'compatible'})).status).toBe(200)
    expect((await admin.asWorkspace('GET', `${RATE}/${id}`)).body).not.toHaveProperty('enforcement')
  })

  test('a policy for calls of tools is created without groups, listed by its target, and keeps it', async () => {
    const tools = {target: 'mcp_tools', conditions: [{key: 'mcp_server', value: 'tickets', excludes: ['old']}]}
    await made(RATE, rate)
    const by_week = await made(RATE, {...tools, type: 'requests', unit: 'rpw', value: 5})
    const by_token = await made(RATE, {...tools, type: 'tokens', unit: 'tph', value: 5, group_by: [{key: 'user'}]})
    const {body} = await admin.asWorkspace('GET', `${RATE}/${by_week}`)
    expect(body).toMatchObject({...tools, group_by: [], type: 'requests', unit: 'rpw', value: 5})
    const listed = await admin.asWorkspace('GET', `${RATE}?target=mcp_tools`)
    expect(listed.body.data.map(({id}: {id: string}) => id).sort()).toEqual([by_week, by_token].sort())
    expect((await admin.asWorkspace('GET', `${RATE}?target=llm`)).body.total).toBe(1)
    expect((await admin.asWorkspace('PUT', `${RATE}/${by_week}`, {target: 'llm'})).status).toBe(400)
    expect((await admin.asWorkspace('PUT', `${RATE}/${by_week}`, {unit: 'tpm'})).body.data.message).toContain('unit')
    expect((await admin.asWorkspace('PUT', `${RATE}/${by_token}`, {unit: 'tpm'})).status).toBe(200)
    const spent = await made(USAGE, {...tools, type: 'cost', credit_limit: 5})
    expect((await admin.asWorkspace('GET', `${USAGE}?target=mcp_tools`)).body.data[0].id).toBe(spent)
  })

  test('lists are by status, type and unit, the newest first, and may be asked for their number alone', async () => {
    const first = await made(USAGE, usage)
    admin.at('2026-03-04T05:06:08.000Z')
    const second = await made(USAGE, {...usage, type: 'tokens', credit_limit: 5})
    const ids = async (query: string) =>
      (await admin.asWorkspace('GET', `${USAGE}${query}`)).body.data.map((row: {id: string}) => row.id)
    expect(await ids('')).toEqual([second, first])
    expect(await ids('?type=cost')).toEqual([first])
    await admin.asWorkspace('DELETE', `${USAGE}/${first}`)
    expect(await ids('')).toEqual([second])
    expect(await ids('?status=archived')).toEqual([first])
    expect((await admin.asWorkspace('GET', `${USAGE}?page_size=0`)).body).toEqual({object: 'list', total: 1, data: []})
    const slow = await made(RATE, {...rate, unit: 'rpd'})
    await made(RATE, rate)
    expect((await admin.asWorkspace('GET', `${RATE}?unit=rpd`)).body.data.map((row: {id: string}) => row.id)).toEqual([
      slow,
    ])
  })

  test('what is archived is not found, but by its status', async () => {
    const id = await made(USAGE, usage)
    expect((await admin.asWorkspace('DELETE', `${USAGE}/${id}`)).body).toEqual({})
    const gone = refusal('AB08', 'No policy is known by this id.')
    for (const [method, path, body] of [
      ['GET', `${USAGE}/${id}`],
      ['PUT', `${USAGE}/${id}`, {name: 'x'}],
      ['DELETE', `${USAGE}/${id}`],
      ['GET', `${USAGE}/${id}/entities`],
    ] as const)
      expect((await admin.asWorkspace(method, path, body)).body).toEqual(gone)
    expect((await admin.asWorkspace('GET', `${USAGE}/${id}?status=archived`)).body).toMatchObject({status: 'archived'})
  })

  test('an admin key has to name the workspace; of another organisation nothing is known', async () => {
    expect((await admin.asAdmin('POST', USAGE, usage)).status).toBe(400)
    const own = await admin.asAdmin('POST', USAGE, {
      ...usage,
      workspace_id: admin.workspace_slug,
      organisation_id: admin.organisation_id,
    })
    expect(own.status).toBe(200)
    const {key, admin: other, organisation_id, workspace} = await admin.foreign()
    expect((await admin.asAdmin('POST', USAGE, {...usage, workspace_id: workspace.id})).status).toBe(404)
    expect(
      (await admin.asAdmin('POST', USAGE, {...usage, workspace_id: admin.workspace_id, organisation_id})).body.data
        .errorCode,
    ).toBe('AB02')
    const absent = await admin.send(key.key, 'GET', `${USAGE}/${UNKNOWN}`)
    for (const reach of [key.key, other.key]) {
      for (const [method, body] of [['GET'], ['PUT', {credit_limit: 1}], ['DELETE']] as const) {
        const reply = await admin.send(reach, method, `${USAGE}/${own.body.id}`, body)
        expect([reply.status, reply.text]).toEqual([404, absent.text])
      }
    }
    expect((await admin.send(other.key, 'GET', USAGE)).body.data).toEqual([])
    // a policy of the other kind is another thing
    expect((await admin.asAdmin('GET', `${RATE}/${own.body.id}`)).status).toBe(404)
  })

  test('each write leaves an audit row; a reset too', async () => {
    const id = await made(USAGE, usage)
    await admin.store.db
      .insertInto('traffic.policy_usage')
      .values({
        policy_id: id,
        entity_id: 'e1',
        since_at: '2026-03-04T05:06:07.000Z',
        value_key: 'metadata._user:bob',
        used: 7_000_000_000,
      })
      .execute()
    await admin.asWorkspace('PUT', `${USAGE}/${id}`, {credit_limit: 20})
    expect((await admin.asWorkspace('GET', `${USAGE}/${id}/entities`)).body.data).toEqual([
      {id: 'e1', value_key: 'metadata._user:bob', current_usage: 7, status: 'active'},
    ])
    admin.at('2026-03-04T05:06:09.000Z')
    expect((await admin.asWorkspace('PUT', `${USAGE}/${id}/entities/e1/reset`)).body).toEqual({})
    expect((await admin.asWorkspace('GET', `${USAGE}/${id}/entities`)).body.data[0].current_usage).toBe(0)
    expect((await admin.asWorkspace('PUT', `${USAGE}/${id}/entities/none/reset`)).status).toBe(404)
    await admin.asWorkspace('DELETE', `${USAGE}/${id}`)
    const rows = await admin.auditLog()
    expect(rows.map(({resource_type, action, resource_id}) => [resource_type, action, resource_id])).toEqual([
      ['usage-limits-policy', 'create', id],
      ['usage-limits-policy', 'update', id],
      ['usage-limits-policy', 'update', id],
      ['usage-limits-policy', 'delete', id],
    ])
  })

  test('usage before the period, or before the reset, is not shown', async () => {
    const id = await made(USAGE, {...usage, periodic_reset: 'monthly'})
    const row = (entity_id: string, since_at: string, used: number) => ({
      policy_id: id,
      entity_id,
      since_at,
      value_key: entity_id,
      used,
    })
    await admin.store.db
      .insertInto('traffic.policy_usage')
      .values([
        row('a', '2026-03-04T05:06:07.000Z', 1_000_000_000),
        row('a', '2026-03-31T00:00:00.000Z', 2_000_000_000),
        row('a', '2026-04-01T00:00:00.000Z', 4_000_000_000),
        row('b', '2026-03-05T00:00:00.000Z', 20_000_000_000),
      ])
      .execute()
    const shown = async () =>
      (await admin.asWorkspace('GET', `${USAGE}/${id}?include_usage=true`)).body.value_key_usage_map
    expect(await shown()).toEqual({a: 7, b: 20})
    const exhausted = await admin.asWorkspace('GET', `${USAGE}/${id}/entities?status=exhausted`)
    expect(exhausted.body).toMatchObject({total: 1, data: [{id: 'b', status: 'exhausted'}]})
    admin.at('2026-04-02T00:00:00.000Z')
    expect(await shown()).toEqual({a: 4, b: 0})
  })

  test('a limit that is edited is checked as a whole', async () => {
    const id = await made(USAGE, {...usage, alert_threshold: 10})
    const refused = await admin.asWorkspace('PUT', `${USAGE}/${id}`, {credit_limit: 9})
    expect([refused.status, refused.body.data.message]).toEqual([400, 'alert_threshold: must be below credit_limit.'])
    expect((await admin.asWorkspace('PUT', `${USAGE}/${id}`, {credit_limit: 9, alert_threshold: null})).status).toBe(
      200,
    )
    expect(
      (await admin.asWorkspace('PUT', `${USAGE}/${id}`, {reset_usage_for_value: 'nobody'})).body.data.errorCode,
    ).toBe('AB02')
  })

  test.each<[string, object, string]>([
    ['no condition', {...usage, conditions: []}, 'conditions'],
    ['no group', {...usage, group_by: []}, 'group_by'],
    ['a group twice', {...usage, group_by: [{key: 'model'}, {key: 'model'}]}, 'names model twice'],
    ['an unknown key', {...usage, conditions: [{key: 'colour', value: 'blue'}]}, 'metadata.NAME'],
    ['no value', {...usage, conditions: [{key: 'model'}]}, 'value'],
    ['an empty value', {...usage, conditions: [{key: 'model', value: ''}]}, 'value'],
    ['a negative limit', {...usage, credit_limit: -1}, 'credit_limit'],
    ['a threshold that is not below', {...usage, alert_threshold: 12.5}, 'alert_threshold: must be below credit_limit'],
    ['part of a token', {...usage, type: 'tokens'}, 'credit_limit: must be a whole number of tokens'],
    ['a type of rates', {...usage, type: 'requests'}, 'type'],
    ['days', {...usage, periodic_reset_days: 3}, 'periodic_reset_days'],
    ['a long name', {...usage, name: 'x'.repeat(256)}, 'name'],
  ])('a usage policy with %s is refused', async (_, body, why) => {
    const reply = await admin.asWorkspace('POST', USAGE, body)
    expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01'])
    expect(reply.body.data.message).toContain(why)
    expect(await admin.auditLog()).toEqual([])
  })

  test.each<[string, object, string]>([
    ['of tools on a model', {target: 'mcp_tools', conditions: [{key: 'model', value: '*'}]}, 'conditions[0].key'],
    ['of tools by a provider', {target: 'mcp_tools', group_by: [{key: 'provider'}]}, 'group_by[0].key'],
    ['of models on a tool', {conditions: [{key: 'mcp_tool', value: 'x'}]}, 'conditions[0].key'],
    ['of models by a person', {group_by: [{key: 'user'}]}, 'group_by[0].key'],
    ['of models without a group', {group_by: undefined}, 'group_by'],
    ['of models by the week', {unit: 'rpw'}, 'unit'],
    [
      'of tools in requests by tpm',
      {target: 'mcp_tools', conditions: [{key: 'mcp_tool', value: '*'}], unit: 'tpm'},
      'unit',
    ],
    ['of another target', {target: 'mcp'}, 'target'],
  ])('a rate policy %s is refused, and the field is named', async (_, change, field) => {
    const reply = await admin.asWorkspace('POST', RATE, {...rate, ...change})
    expect([reply.status, reply.body.data.message]).toEqual([400, expect.stringContaining(`${field}: `)])
  })

  test('a limit of 0 and a name that is missing are fine', async () => {
    expect((await admin.asWorkspace('POST', USAGE, {...usage, credit_limit: 0})).status).toBe(200)
    expect((await admin.asWorkspace('POST', RATE, {...rate, value: 0})).status).toBe(200)
  })

  test('what a policy covers is for good', async () => {
    const id = await made(USAGE, usage)
    for (const body of [{conditions: cover.conditions}, {group_by: cover.group_by}, {type: 'tokens'}])
      expect((await admin.asWorkspace('PUT', `${USAGE}/${id}`, body)).status).toBe(400)
  })

  test('limits.status tells how the limits of a workspace stand', async () => {
    await admin.asWorkspace('POST', '/v1/api-keys/workspace/service', {
      name: 'blue',
      scopes: ['completions.write'],
      usage_limits: {type: 'tokens', credit_limit: 100, enforcement: 'strict'},
      rate_limits: [{type: 'requests', unit: 'rpm', value: 5}],
    })
    const id = await made(USAGE, {...usage, name: 'fair'})
    await admin.store.db
      .insertInto('traffic.policy_usage')
      .values({
        policy_id: id,
        entity_id: policyEntityId(id, 'metadata._user:bob'),
        since_at: AT,
        value_key: 'metadata._user:bob',
        used: 20_000_000_000,
      })
      .execute()
    const {body} = await admin.asWorkspace('GET', '/v1/limits')
    expect(body.data).toMatchObject([
      {
        entity: 'key',
        kind: 'budget',
        type: 'tokens',
        enforcement: 'strict',
        limit: 100,
        used: 0,
        remaining: 100,
        status: 'active',
        resets_at: null,
      },
      {
        entity: 'key',
        kind: 'rate',
        type: 'requests',
        limit: 5,
        used: null,
        remaining: null,
        resets_at: '2026-03-04T05:07:00.000Z',
      },
      {
        entity: 'policy',
        name: 'fair (metadata._user:bob)',
        kind: 'budget',
        type: 'cost',
        limit: 12.5,
        used: 20,
        remaining: 0,
        status: 'exhausted',
      },
    ])
    expect((await admin.asWorkspace('GET', '/v1/limits?entity=policy')).body.total).toBe(1)
  })
})

test('POLICY_ENABLED=OFF answers 403 AB03 on every route', async () => {
  const admin = await startAdmin({env: {POLICY_ENABLED: 'OFF'}})
  for (const [method, path] of [
    ['GET', USAGE],
    ['POST', RATE],
    ['PUT', `${USAGE}/${UNKNOWN}/entities/e/reset`],
  ] as const)
    expect((await admin.asAdmin(method, path)).body).toEqual(
      refusal('AB03', 'This part of the service is switched off here: POLICY_ENABLED=OFF.'),
    )
  await admin.close()
})
