import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {newId} from '../../src/base/ids.ts'
import {hashKey} from '../../src/identity/keys.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {insertHour} from '../support/logs.ts'
import {seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

const GONE = refusal('AB08', 'No API key is known by this id.')

describe.each(KINDS)('API keys on %s', kind => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({kind})
  })
  afterAll(() => admin.close())

  const make = async (body: Record<string, unknown> = {}) => {
    const reply = await admin.asAdmin('POST', '/v1/api-keys/workspace/service', {
      name: 'Made',
      workspace_id: admin.workspace_slug,
      scopes: ['completions.write'],
      ...body,
    })
    expect(reply.status, reply.text).toBe(200)
    return reply.body as {id: string; key: string}
  }
  const shown = async (id: string) => (await admin.asAdmin('GET', `/v1/api-keys/${id}`)).body
  const change = async (id: string, body: unknown) =>
    expect((await admin.asAdmin('PUT', `/v1/api-keys/${id}`, body)).body).toEqual({})

  test('an admin key makes an admin key; it is said once, kept as a hash, and works', async () => {
    admin.published.length = 0
    const reply = await admin.asAdmin('POST', '/v1/api-keys/organisation/service', {
      name: 'Ops',
      scopes: ['workspaces.list', 'audit_logs:list', 'workspaces.list'],
    })
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^gk-[\w-]{43}$/),
      object: 'api-key',
    })
    const {id, key} = reply.body
    expect((await admin.send(key, 'GET', '/v1/workspaces')).status).toBe(200)
    expect((await admin.send(key, 'GET', '/v1/api-keys')).status).toBe(403)
    const row = await admin.store.db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    expect(row.key_hash).toBe(hashKey(key))
    expect(JSON.stringify(row)).not.toContain(key)
    const view = await shown(id)
    expect(view).toEqual({
      id,
      key: `${key.slice(0, 5)}…${key.slice(-4)}`,
      name: 'Ops',
      description: null,
      type: 'organisation-service',
      organisation_id: admin.organisation_id,
      workspace_id: null,
      user_id: null,
      status: 'active',
      created_at: '2026-03-04T05:06:07.000Z',
      last_updated_at: '2026-03-04T05:06:07.000Z',
      creation_mode: 'api',
      rate_limits: [],
      usage_limits: null,
      models: null,
      last_reset_at: null,
      reset_usage: 0,
      scopes: ['workspaces.list', 'audit_logs.list'],
      defaults: {metadata: {}, config_id: null, allow_config_override: true},
      alert_emails: [],
      expires_at: null,
      key_transition_expires_at: null,
      object: 'api-key',
    })
    const log = (await admin.auditLog()).at(-1)
    expect(log).toMatchObject({resource_type: 'api-key', action: 'create', resource_id: id, workspace_id: null})
    expect(JSON.stringify(log)).not.toContain(key)
    expect(admin.published).toEqual(['api_keys'])
  })

  test('a workspace key makes a user key of its workspace, named or not', async () => {
    const {id: user_id} = await seedUser(admin, 'member', {[admin.workspace_id]: 'member'})
    const body = {name: 'Mine', workspace_id: admin.workspace_id, scopes: ['completions.write', 'logs.write']}
    const reply = await admin.asWorkspace('POST', '/v1/api-keys/workspace/user', body)
    expect(await shown(reply.body.id)).toMatchObject({
      type: 'workspace-user',
      workspace_id: admin.workspace_id,
      user_id: null,
    })
    const other = await admin.asWorkspace('POST', '/v1/api-keys/workspace/user', {
      name: 'Theirs',
      user_id,
      scopes: ['mcp.invoke'],
    })
    expect(await shown(other.body.id)).toMatchObject({
      type: 'workspace-user',
      workspace_id: admin.workspace_id,
      user_id,
    })
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      workspace_id: admin.workspace_id,
      resource_id: other.body.id,
    })
  })

  test('all fields are kept and shown', async () => {
    const {id} = await make({
      description: 'For tests',
      usage_limits: {
        credit_limit: 2.5,
        alert_threshold: 1,
        periodic_reset: 'monthly',
        next_usage_reset_at: '2026-04-01T02:00:00+02:00',
      },
      rate_limits: [{type: 'tokens', unit: 'rph', value: 100, enforcement: 'shadow'}],
      defaults: {metadata: {team: 'blue'}, allow_config_override: false},
      alert_emails: ['ops@example.com'],
      expires_at: '2027-01-01T00:00:00Z',
    })
    expect(await shown(id)).toMatchObject({
      description: 'For tests',
      usage_limits: {
        type: 'cost',
        credit_limit: 2.5,
        alert_threshold: 1,
        periodic_reset: 'monthly',
        periodic_reset_days: null,
        next_usage_reset_at: '2026-04-01T00:00:00.000Z',
      },
      rate_limits: [{type: 'tokens', unit: 'rph', value: 100, enforcement: 'shadow'}],
      defaults: {metadata: {team: 'blue'}, config_id: null, allow_config_override: false},
      alert_emails: ['ops@example.com'],
      expires_at: '2027-01-01T00:00:00.000Z',
    })
  })

  test.each([
    [
      'organisation/user',
      {name: 'a', scopes: ['logs.list']},
      'The path must be organisation/service, workspace/service or workspace/user: there are no organisation/user keys.',
    ],
    ['team/user', {name: 'a', scopes: ['logs.list']}, 'path parameter type: must be one of organisation, workspace.'],
    ['workspace/service', {name: 'a'}, 'scopes: is required (a list).'],
    ['workspace/service', {name: 'a', scopes: []}, 'scopes: must have at least 1 item.'],
    [
      'workspace/service',
      {name: 'a', scopes: ['logs.lst']},
      'scopes[0]: there is no scope logs.lst, did you mean logs.list?',
    ],
    [
      'workspace/service',
      {name: 'a', scopes: ['logs.list', 'workspaces.create']},
      'scopes[1]: a key of type workspace-service cannot hold workspaces.create, only organisation-service can.',
    ],
    [
      'workspace/user',
      {name: 'a', scopes: ['workspace_user_api_keys.create']},
      'scopes[0]: a key of type workspace-user cannot hold workspace_user_api_keys.create, only organisation-service and workspace-service can.',
    ],
    [
      'organisation/service',
      {name: 'a', scopes: ['completions.write']},
      'scopes[0]: a key of type organisation-service cannot hold completions.write, only workspace-service and workspace-user can.',
    ],
    [
      'organisation/service',
      {name: 'a', scopes: ['logs.list'], workspace_id: 'ws-x'},
      'workspace_id: is for keys of type workspace/service and workspace/user only.',
    ],
    [
      'organisation/service',
      {name: 'a', scopes: ['logs.list'], defaults: {config_id: 'pc-x'}},
      'defaults.config_id: has no effect on a key of type organisation-service, which calls no models.',
    ],
    [
      'workspace/service',
      {name: 'a', scopes: ['logs.list']},
      'workspace_id: is required (the id or slug of a workspace), as this key is of no workspace.',
    ],
    [
      'workspace/service',
      {name: 'a', scopes: ['logs.list'], workspace_id: 'W', user_id: newId()},
      'user_id: is for keys of type workspace/user only.',
    ],
    [
      'workspace/service',
      {name: 'a', scopes: ['logs.list'], workspace_id: 'W', expires_at: '2026-03-04T05:06:07Z'},
      'expires_at: must be in the future.',
    ],
    [
      'workspace/service',
      {name: 'a', scopes: ['logs.list'], workspace_id: 'W', expires_at: 'tomorrow'},
      'expires_at: must be a time such as 2026-01-31T00:00:00Z (ISO 8601 with a zone).',
    ],
    [
      'workspace/service',
      {name: 'a', scopes: ['logs.list'], workspace_id: 'W', usage_limits: {credit_limit: 5, alert_threshold: 5}},
      'usage_limits.alert_threshold: must be below credit_limit.',
    ],
    [
      'workspace/service',
      {name: 'a', scopes: ['logs.list'], workspace_id: 'W', alert_emails: ['nobody']},
      'alert_emails[0]: must be an e-mail address.',
    ],
    [
      'workspace/service',
      {name: 'a', scopes: ['logs.list'], workspace_id: 'W', rotation_policy: {}},
      'the request body: the key rotation_policy is not known here (known: name, description, scopes, usage_limits, rate_limits, models, defaults, alert_emails, expires_at, organisation_id, workspace_id, user_id).',
    ],
  ])('%s %j is refused, and nothing is written', async (path, body, message) => {
    const [logs, rows] = [await admin.auditLog(), await admin.store.db.selectFrom('api_keys').selectAll().execute()]
    const sent = {
      ...body,
      ...('workspace_id' in body && body.workspace_id === 'W' && {workspace_id: admin.workspace_id}),
    }
    const reply = await admin.asAdmin('POST', `/v1/api-keys/${path}`, sent)
    expect([reply.status, reply.body]).toEqual([400, refusal('AB01', message)])
    expect([await admin.auditLog(), await admin.store.db.selectFrom('api_keys').selectAll().execute()]).toEqual([
      logs,
      rows,
    ])
  })

  test('a workspace or config that is not there is 404', async () => {
    const foreign = await admin.foreign()
    const body = {name: 'a', scopes: ['logs.list']}
    for (const workspace_id of [foreign.workspace.id, foreign.workspace.slug, newId()]) {
      const reply = await admin.asAdmin('POST', '/v1/api-keys/workspace/service', {...body, workspace_id})
      expect([reply.status, reply.body]).toEqual([404, refusal('AB08', 'No workspace is known by this id.')])
    }
    const sibling = await admin.seedWorkspace(admin.organisation_id)
    expect(
      (await admin.asWorkspace('POST', '/v1/api-keys/workspace/user', {...body, workspace_id: sibling.id})).status,
    ).toBe(404)
    const config = {...body, workspace_id: admin.workspace_id, defaults: {config_id: 'pc-none'}}
    const message = 'defaults.config_id: no config is known by the id pc-none.'
    expect((await admin.asAdmin('POST', '/v1/api-keys/workspace/service', config)).body).toEqual(
      refusal('AB02', message),
    )
    const organisation = {...body, organisation_id: foreign.organisation_id}
    expect((await admin.asAdmin('POST', '/v1/api-keys/organisation/service', organisation)).body.data.errorCode).toBe(
      'AB02',
    )
  })

  test('nobody gives a key more than he holds', async () => {
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    const maker = await admin.seedKey(place, {
      scopes: ['workspace_user_api_keys.create', 'workspace_user_api_keys.update', 'logs.list'],
    })
    const body = (scopes: string[]) => ({name: 'a', scopes})
    const refused = await admin.send(maker.key, 'POST', '/v1/api-keys/workspace/user', body(['logs.list', 'logs.view']))
    expect([refused.status, refused.body.data.errorCode]).toEqual([403, 'AB03'])
    expect(refused.body.data.message).toContain('logs.view itself')
    const made = await admin.send(maker.key, 'POST', '/v1/api-keys/workspace/user', body(['logs.list']))
    expect(made.status).toBe(200)
    const raise = await admin.send(maker.key, 'PUT', `/v1/api-keys/${made.body.id}`, {
      scopes: ['logs.list', 'logs.view'],
    })
    expect([raise.status, (await shown(made.body.id)).scopes]).toEqual([403, ['logs.list']])
    await change(made.body.id, {scopes: ['logs.list', 'logs.view']})
    expect((await admin.send(maker.key, 'PUT', `/v1/api-keys/${made.body.id}`, {scopes: ['logs.view']})).status).toBe(
      200,
    )
    expect((await admin.send(maker.key, 'POST', '/v1/api-keys/workspace/service', body(['logs.list']))).status).toBe(
      403,
    )

    const small = await admin.seedKey(
      {organisation_id: admin.organisation_id},
      {scopes: ['organisation_service_api_keys.create', 'workspace_service_api_keys.create']},
    )
    expect(
      (await admin.send(small.key, 'POST', '/v1/api-keys/organisation/service', body(['workspaces.delete']))).status,
    ).toBe(403)
    const workspace = {...body(['completions.write']), workspace_id: admin.workspace_id}
    expect((await admin.send(small.key, 'POST', '/v1/api-keys/workspace/service', workspace)).status).toBe(200)
  })

  test('a workspace key never makes an admin key, nor does a user key make any', async () => {
    const body = {name: 'a', scopes: ['logs.list']}
    expect((await admin.asWorkspace('POST', '/v1/api-keys/organisation/service', body)).status).toBe(403)
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    const forged = await admin.seedKey(place, {
      kind: 'workspace-user',
      scopes: ['workspace_user_api_keys.create', 'logs.list'],
    })
    expect((await admin.send(forged.key, 'POST', '/v1/api-keys/workspace/user', body)).status).toBe(403)
  })

  test('a list is masked, newest first, by page, and of the kinds and the workspace that the caller may list', async () => {
    const other = await startAdmin({kind})
    const sibling = await other.seedWorkspace(other.organisation_id)
    const elsewhere = await other.seedKey(
      {organisation_id: other.organisation_id, workspace_id: sibling.id},
      {created_at: '2026-03-04T06:00:00.000Z'},
    )
    await other.foreign()
    const all = (await other.asAdmin('GET', '/v1/api-keys')).body
    expect([all.object, all.total, all.data[0].id]).toEqual(['list', 3, elsewhere.id])
    expect(JSON.stringify(all)).not.toMatch(/gk-[\w-]{10}/)
    const paged = (await other.asAdmin('GET', '/v1/api-keys?page_size=1&current_page=1')).body
    expect([paged.total, paged.data]).toEqual([3, [all.data[1]]])
    const ids = async (key: string, query = '') =>
      (await other.send(key, 'GET', `/v1/api-keys${query}`)).body.data.map((row: {id: string}) => row.id)
    expect(await ids(other.admin_key, `?workspace_id=${sibling.slug}`)).toEqual([elsewhere.id])
    expect(await ids(elsewhere.key)).toEqual([elsewhere.id])
    const userOnly = await other.seedKey(
      {organisation_id: other.organisation_id},
      {scopes: ['workspace_user_api_keys.list']},
    )
    expect(await ids(userOnly.key)).toEqual([])
    expect((await other.asWorkspace('GET', `/v1/api-keys?workspace_id=${sibling.id}`)).status).toBe(404)
    expect((await other.asAdmin('GET', '/v1/api-keys?page_size=0')).body).toEqual(
      refusal('AB01', 'query parameter page_size: must be at least 1.'),
    )
    expect((await other.asAdmin('GET', '/v1/api-keys?page_size=1e3')).status).toBe(400)
    await other.close()
  })

  test('foreign, absent, deleted and out-of-kind ids are one and the same answer, and nothing is written', async () => {
    const foreign = await admin.foreign()
    const sibling = await admin.seedWorkspace(admin.organisation_id)
    const theirs = await admin.seedKey({organisation_id: admin.organisation_id, workspace_id: sibling.id})
    const gone = await admin.seedKey(
      {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id},
      {status: 'archived'},
    )
    const root = await admin.seedKey({organisation_id: admin.organisation_id})
    const logs = await admin.auditLog()
    const calls = [['GET'], ['PUT', {name: 'Taken over'}], ['DELETE']] as const
    for (const [method, body] of calls) {
      for (const id of [foreign.key.id, foreign.admin.id, gone.id, newId(), "' or 1=1 --"]) {
        const reply = await admin.asAdmin(method, `/v1/api-keys/${encodeURIComponent(id)}`, body)
        expect([reply.status, reply.text]).toEqual([404, JSON.stringify(GONE)])
      }
      for (const id of [theirs.id, root.id, foreign.key.id, newId()]) {
        const reply = await admin.asWorkspace(method, `/v1/api-keys/${id}`, body)
        expect([reply.status, reply.text]).toEqual([404, JSON.stringify(GONE)])
      }
    }
    expect(await admin.auditLog()).toEqual(logs)
  })

  test('a change keeps what is absent and clears what is null', async () => {
    const {id} = await make({
      description: 'x',
      usage_limits: {credit_limit: 5},
      rate_limits: [{type: 'requests', unit: 'rpm', value: 1}],
      defaults: {metadata: {a: 'b'}, allow_config_override: false},
      alert_emails: ['ops@example.com'],
      expires_at: '2027-01-01T00:00:00Z',
    })
    const before = await shown(id)
    await change(id, {name: 'Renamed'})
    expect(await shown(id)).toEqual({...before, name: 'Renamed'})
    await change(id, {defaults: {allow_config_override: null}})
    expect((await shown(id)).defaults).toEqual({metadata: {a: 'b'}, config_id: null, allow_config_override: true})
    await change(id, {
      description: null,
      usage_limits: null,
      rate_limits: null,
      defaults: null,
      alert_emails: null,
      expires_at: null,
    })
    expect(await shown(id)).toMatchObject({
      description: null,
      usage_limits: null,
      rate_limits: [],
      defaults: {metadata: {}, config_id: null, allow_config_override: true},
      alert_emails: [],
      expires_at: null,
    })
    expect((await admin.asAdmin('PUT', `/v1/api-keys/${id}`, {user_id: newId()})).body.data.errorCode).toBe('AB01')
    expect((await admin.asAdmin('PUT', `/v1/api-keys/${id}`, {name: null})).body).toEqual(
      refusal('AB01', 'name: must be a string, not null.'),
    )
    expect((await admin.asAdmin('PUT', `/v1/api-keys/${id}`, {scopes: ['workspaces.create']})).status).toBe(400)
  })

  test.each([
    ['a raised budget', {usage_limits: {credit_limit: 6}}, 'active', null],
    ['a budget taken away', {usage_limits: null}, 'active', null],
    ['a budget of another type', {usage_limits: {type: 'tokens', credit_limit: 1}}, 'active', null],
    ['the same budget again', {usage_limits: {credit_limit: 5}}, 'exhausted', null],
    ['a lowered budget', {usage_limits: {credit_limit: 4}}, 'exhausted', null],
    ['another name', {name: 'b'}, 'exhausted', null],
    ['reset_usage', {reset_usage: true}, 'active', '2026-03-04T05:06:07.000Z'],
  ])('%s leaves an exhausted key %s', async (_, body, status, last_reset_at) => {
    admin.at('2026-03-04T05:00:00.000Z')
    const {id} = await make({usage_limits: {credit_limit: 5}})
    await insertHour(admin.store.db, {api_key_id: id, hour: '2026-03-04T05:00:00.000Z', cost_nanousd: 5_000_000_000})
    await admin.store.db.updateTable('api_keys').set({status: 'exhausted'}).where('id', '=', id).execute()
    admin.at('2026-03-04T05:06:07.000Z')
    await change(id, body)
    expect(await shown(id)).toMatchObject({status, last_reset_at})
  })

  test('a key past its expiry shows as expired and lives on with a later one', async () => {
    const {id, key} = await make({scopes: ['workspaces.list'], expires_at: '2026-03-04T05:06:10Z'})
    admin.at('2026-03-04T05:06:10.000Z')
    expect((await shown(id)).status).toBe('expired')
    expect((await admin.send(key, 'GET', '/v1/workspaces')).status).toBe(401)
    await admin.store.db.updateTable('api_keys').set({status: 'expired'}).where('id', '=', id).execute()
    await change(id, {name: 'still expired'})
    expect((await shown(id)).status).toBe('expired')
    await change(id, {expires_at: '2026-03-05T00:00:00Z'})
    expect((await admin.send(key, 'GET', '/v1/workspaces')).status).toBe(200)
  })

  test('a deleted key works no longer and is gone', async () => {
    const {id, key} = await make({scopes: ['workspaces.list']})
    expect((await admin.send(key, 'GET', '/v1/workspaces')).status).toBe(200)
    admin.published.length = 0
    expect((await admin.asAdmin('DELETE', `/v1/api-keys/${id}`)).body).toEqual({})
    expect(admin.published).toEqual(['api_keys'])
    expect((await admin.send(key, 'GET', '/v1/workspaces')).status).toBe(401)
    expect((await admin.asAdmin('GET', `/v1/api-keys/${id}`)).text).toBe(JSON.stringify(GONE))
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      action: 'delete',
      resource_id: id,
      workspace_id: admin.workspace_id,
    })
  })
})
