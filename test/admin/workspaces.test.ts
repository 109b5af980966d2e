import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {newId} from '../../src/base/ids.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const GONE = refusal('AB08', 'No workspace is known by this id.')

describe.each(KINDS)('workspaces on %s', kind => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({kind})
  })
  afterAll(() => admin.close())

  test('one is created with limits and defaults, shown whole, and recorded', async () => {
    admin.published.length = 0
    const reply = await admin.asAdmin('POST', '/v1/admin/workspaces', {
      name: ' Research & Co ',
      description: 'Papers',
      defaults: {metadata: {team: 'blue'}},
      usage_limits: [
        {credit_limit: 10, alert_threshold: 5, periodic_reset_days: 30},
        {type: 'tokens', credit_limit: 1000, enforcement: 'shadow'},
      ],
      rate_limits: [{type: 'requests', unit: 'rpm', value: 60}],
      users: [],
    })
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      models: null,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      slug: expect.stringMatching(/^ws-research-c-[0-9a-f]{6}$/),
      name: 'Research & Co',
      description: 'Papers',
      created_at: '2026-03-04T05:06:07.000Z',
      last_updated_at: '2026-03-04T05:06:07.000Z',
      status: 'active',
      is_default: false,
      defaults: {
        metadata: {team: 'blue'},
        input_guardrails: [],
        output_guardrails: [],
        is_default: 0,
        object: 'workspace',
      },
      usage_limits: [
        {
          type: 'cost',
          credit_limit: 10,
          alert_threshold: 5,
          periodic_reset: null,
          periodic_reset_days: 30,
          next_usage_reset_at: null,
          current_usage: 0,
          status: 'active',
        },
        {
          type: 'tokens',
          credit_limit: 1000,
          current_usage: 0,
          status: 'active',
          alert_threshold: null,
          periodic_reset: null,
          periodic_reset_days: null,
          next_usage_reset_at: null,
          enforcement: 'shadow',
        },
      ],
      rate_limits: [{type: 'requests', unit: 'rpm', value: 60}],
      object: 'workspace',
    })
    const {id, slug} = reply.body
    for (const named of [id, slug]) {
      expect((await admin.asAdmin('GET', `/v1/admin/workspaces/${named}`)).body).toEqual({...reply.body, users: []})
    }
    const row = (await admin.auditLog()).at(-1)
    expect(row).toMatchObject({
      resource_type: 'workspace',
      action: 'create',
      resource_id: id,
      workspace_id: id,
      uri: '/v1/admin/workspaces',
    })
    expect(admin.published).toEqual(['workspaces'])
  })

  test('a list gives the active ones, newest first, on both paths, by page and by name', async () => {
    const other = await startAdmin({kind})
    for (const [minute, name] of ['Alpha', 'alp_ine', 'Bêta'].entries()) {
      other.at(`2026-03-04T06:0${minute}:00.000Z`)
      await other.asAdmin('POST', '/v1/admin/workspaces', {name})
    }
    const names = async (query: string) => {
      const {body} = await other.asAdmin('GET', `/v1/workspaces${query}`)
      return [body.object, body.total, body.data.map((row: {name: string}) => row.name)]
    }
    expect(await names('')).toEqual(['list', 4, ['Bêta', 'alp_ine', 'Alpha', 'Shared Workspace']])
    expect(await names('?page_size=2&current_page=1')).toEqual(['list', 4, ['Alpha', 'Shared Workspace']])
    expect(await names('?name=ALP')).toEqual(['list', 2, ['alp_ine', 'Alpha']])
    expect(await names('?name=p_i')).toEqual(['list', 1, ['alp_ine']])
    expect(await names('?name=b%C3%AA')).toEqual(['list', 1, ['Bêta']])
    expect(await names('?exact_name=Alpha')).toEqual(['list', 1, ['Alpha']])
    expect(await names('?exact_name=alpha')).toEqual(['list', 0, []])
    expect((await other.asAdmin('GET', '/v1/admin/workspaces')).body).toEqual(
      (await other.asAdmin('GET', '/v1/workspaces')).body,
    )
    await other.close()
  })

  test('archived ones are listed for admin keys alone', async () => {
    const {organisation_id} = admin
    const old = await admin.seedWorkspace(organisation_id, {status: 'archived', name: 'Old'})
    const ids = async (status: string) =>
      (await admin.asAdmin('GET', `/v1/workspaces?status=${status}`)).body.data.map((row: {id: string}) => row.id)
    expect(await ids('archived')).toEqual([old.id])
    expect(await ids('active')).not.toContain(old.id)
    expect(await ids('active,archived')).toContain(old.id)
    const refused = await admin.asWorkspace('GET', '/v1/workspaces?status=active,archived')
    expect([refused.status, refused.body.data.errorCode]).toEqual([403, 'AB03'])
    expect((await admin.asAdmin('GET', '/v1/workspaces?status=gone')).body).toEqual(
      refusal('AB01', 'query parameter status: must be one of active, archived, or both with a comma between.'),
    )
  })

  test('a workspace key sees and changes its own workspace alone', async () => {
    expect((await admin.asWorkspace('GET', '/v1/workspaces')).body.data.map((row: {id: string}) => row.id)).toEqual([
      admin.workspace_id,
    ])
    expect(
      (await admin.asWorkspace('PUT', `/v1/admin/workspaces/${admin.workspace_slug}`, {description: 'Ours'})).body,
    ).toEqual({})
    expect((await admin.asWorkspace('GET', `/v1/admin/workspaces/${admin.workspace_id}`)).body.description).toBe('Ours')
    const {status, body} = await admin.asWorkspace('POST', '/v1/admin/workspaces', {name: 'Mine'})
    expect([status, body.data.errorCode]).toEqual([403, 'AB03'])
    expect(
      (await admin.asWorkspace('DELETE', `/v1/admin/workspaces/${admin.workspace_id}`, {name: 'Shared Workspace'}))
        .status,
    ).toBe(403)
  })

  test('foreign, absent, archived and nonsense ids are one and the same answer, and nothing is written', async () => {
    const foreign = await admin.foreign()
    const archived = await admin.seedWorkspace(admin.organisation_id, {status: 'archived'})
    const sibling = await admin.seedWorkspace(admin.organisation_id)
    const logs = await admin.auditLog()
    const calls = [['GET'], ['PUT', {name: 'Taken over'}], ['DELETE', {name: 'Seeded'}]] as const
    for (const id of [
      foreign.workspace.id,
      foreign.workspace.slug,
      archived.id,
      archived.slug,
      newId(),
      "' or 1=1 --",
      '%',
    ]) {
      for (const [method, body] of calls) {
        const reply = await admin.asAdmin(method, `/v1/admin/workspaces/${encodeURIComponent(id)}`, body)
        expect([reply.status, reply.text]).toEqual([404, JSON.stringify(GONE)])
      }
    }
    for (const [method, body] of [calls[0], calls[1]]) {
      const reply = await admin.asWorkspace(method, `/v1/admin/workspaces/${sibling.id}`, body)
      expect([reply.status, reply.text]).toEqual([404, JSON.stringify(GONE)])
    }
    expect(await admin.auditLog()).toEqual(logs)
    expect((await admin.send(foreign.admin.key, 'GET', `/v1/admin/workspaces/${foreign.workspace.id}`)).body.name).toBe(
      'Seeded',
    )
  })

  test('a change keeps what is absent and clears what is null', async () => {
    const {body: made} = await admin.asAdmin('POST', '/v1/admin/workspaces', {
      name: 'Before',
      description: 'Kept',
      defaults: {metadata: {a: 'b'}},
      usage_limits: {credit_limit: 5},
      rate_limits: {type: 'tokens', unit: 'rpd', value: 9},
    })
    const shown = async () => (await admin.asAdmin('GET', `/v1/admin/workspaces/${made.id}`)).body
    const change = async (body: unknown) =>
      expect((await admin.asAdmin('PUT', `/v1/admin/workspaces/${made.id}`, body)).body).toEqual({})
    admin.at('2026-03-05T00:00:00.000Z')
    await change({name: 'After'})
    expect(await shown()).toEqual({...made, users: [], name: 'After', last_updated_at: '2026-03-05T00:00:00.000Z'})
    await change({defaults: {}})
    expect((await shown()).defaults.metadata).toEqual({a: 'b'})
    await change({description: null, defaults: null, usage_limits: null, rate_limits: []})
    expect(await shown()).toMatchObject({
      description: null,
      usage_limits: [],
      rate_limits: [],
      defaults: {metadata: {}},
    })
  })

  test('an edited budget goes on counting from where it began, a new one starts now', async () => {
    admin.at('2026-03-06T00:00:00.000Z')
    const {body} = await admin.asAdmin('POST', '/v1/admin/workspaces', {
      name: 'Budget',
      usage_limits: {credit_limit: 5},
    })
    admin.at('2026-03-07T00:00:00.000Z')
    await admin.asAdmin('PUT', `/v1/admin/workspaces/${body.id}`, {
      usage_limits: [{credit_limit: 9}, {type: 'tokens', credit_limit: 7}],
    })
    const row = await admin.store.db
      .selectFrom('workspaces')
      .select('usage_limits')
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow()
    expect(JSON.parse(row.usage_limits!)).toMatchObject([
      {credit_limit: 9, started_at: '2026-03-06T00:00:00.000Z'},
      {credit_limit: 7, started_at: '2026-03-07T00:00:00.000Z'},
    ])
  })

  test.each([
    [{}, 'name: is required (a string).'],
    [{name: ''}, 'name: expected a name.'],
    [{name: 'a'.repeat(256)}, 'name: must have at most 255 characters.'],
    [
      {name: 'a', colour: 1},
      'the request body: the key colour is not known here (known: name, description, usage_limits, rate_limits, models, slug, defaults, users).',
    ],
    [
      {name: 'a', usage_limits: [{credit_limit: 1, current_usage: 0}]},
      'usage_limits[0]: the key current_usage is not known here (known: type, credit_limit, alert_threshold, periodic_reset, periodic_reset_days, next_usage_reset_at, enforcement).',
    ],
    [
      {name: 'a', usage_limits: [{credit_limit: 1}, {credit_limit: 2}]},
      'usage_limits: names cost twice: send each once.',
    ],
    [
      {name: 'a', rate_limits: [{type: 'requests', unit: 'rps', value: 1}]},
      'rate_limits[0].unit: must be one of rpm, rph, rpd: did you mean rpm?',
    ],
    [{name: 'a', defaults: {metadata: {a: 1}}}, 'defaults.metadata.a: must be a string, not a number.'],
  ])('%j is refused: %s', async (body, message) => {
    const logs = await admin.auditLog()
    const reply = await admin.asAdmin('POST', '/v1/admin/workspaces', body)
    expect([reply.status, reply.body]).toEqual([400, refusal('AB01', message)])
    expect(await admin.auditLog()).toEqual(logs)
  })

  test('members and guardrails that nobody knows are named in the refusal', async () => {
    const reply = await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'a', users: ['u-1']})
    expect([reply.status, reply.body]).toEqual([404, refusal('AB02', 'users[0]: no user is known by the id u-1.')])
    const guarded = await admin.asAdmin('PUT', `/v1/admin/workspaces/${admin.workspace_id}`, {
      defaults: {input_guardrails: ['pg-x']},
    })
    expect([guarded.status, guarded.body]).toEqual([
      404,
      refusal('AB02', 'defaults.input_guardrails: no guardrail is known by the id pg-x.'),
    ])
  })

  test('deleting needs the exact name, and archives', async () => {
    const {body: made} = await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'Going'})
    const remove = (body?: unknown) => admin.asAdmin('DELETE', `/v1/admin/workspaces/${made.slug}`, body)
    expect((await remove()).body).toEqual(refusal('AB01', 'name: is required (a string).'))
    expect((await remove({name: 'going'})).body).toEqual(refusal('AB01', "name: must be the workspace's exact name."))
    expect((await remove({name: 'Going'})).body).toEqual({})
    expect((await remove({name: 'Going'})).status).toBe(404)
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      action: 'delete',
      resource_id: made.id,
      workspace_id: made.id,
    })
    const row = await admin.store.db
      .selectFrom('workspaces')
      .select(['status', 'slug'])
      .where('id', '=', made.id)
      .executeTakeFirstOrThrow()
    expect(row).toEqual({status: 'archived', slug: made.slug})
  })

  test('one with keys is 409 and untouched; forced, its keys stop working', async () => {
    const {body: made} = await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'Busy'})
    const key = await admin.seedKey({organisation_id: admin.organisation_id, workspace_id: made.id})
    const refused = await admin.asAdmin('DELETE', `/v1/admin/workspaces/${made.id}`, {name: 'Busy'})
    const message = 'This workspace still has 1 API key. Delete them first, or send "force_delete": true.'
    expect([refused.status, refused.body]).toEqual([409, refusal('AB07', message)])
    expect((await admin.send(key.key, 'GET', `/v1/admin/workspaces/${made.id}`)).status).toBe(200)
    admin.published.length = 0
    expect(
      (await admin.asAdmin('DELETE', `/v1/admin/workspaces/${made.id}`, {name: 'Busy', force_delete: true})).status,
    ).toBe(200)
    expect((await admin.send(key.key, 'GET', `/v1/admin/workspaces/${made.id}`)).status).toBe(401)
    expect(admin.published).toContain('api_keys')
  })

  test('the default workspace stays', async () => {
    const reply = await admin.asAdmin('DELETE', `/v1/admin/workspaces/${admin.workspace_id}`, {
      name: 'Shared Workspace',
      force_delete: true,
    })
    expect([reply.status, reply.body]).toEqual([400, refusal('AB01', 'The default workspace cannot be deleted.')])
    expect((await admin.asWorkspace('GET', '/v1/workspaces')).status).toBe(200)
  })

  test('an archived one comes back by status active, for an admin key', async () => {
    const old = await admin.seedWorkspace(admin.organisation_id, {status: 'archived'})
    expect((await admin.asWorkspace('PUT', `/v1/admin/workspaces/${old.id}`, {status: 'active'})).status).toBe(404)
    expect((await admin.asAdmin('PUT', `/v1/admin/workspaces/${old.id}`, {status: 'active'})).body).toEqual({})
    expect((await admin.asAdmin('GET', `/v1/admin/workspaces/${old.id}`)).body.status).toBe('active')
    expect(
      (await admin.asAdmin('PUT', `/v1/admin/workspaces/${old.id}`, {status: 'archived'})).body.data.errorCode,
    ).toBe('AB01')
  })
})
