import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {hashKey} from '../../src/identity/keys.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {type Person, seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

const START = '2026-03-04T05:06:07.000Z'

describe.each(KINDS)('API keys and people on %s', kind => {
  let admin: Admin
  let manager: Person
  let member: Person
  beforeAll(async () => {
    admin = await startAdmin({kind})
    manager = await seedUser(admin, 'member', {[admin.workspace_id]: 'manager'})
    member = await seedUser(admin, 'member', {[admin.workspace_id]: 'member'})
  })
  afterEach(async () => {
    admin.at(START)
    await set({security: null, api_keys: null})
  })
  afterAll(() => admin.close())

  const set = (settings: object) => admin.asAdmin('PUT', '/v1/admin/organisation', {settings})
  const body = (more: object = {}) => ({name: 'Made', scopes: ['completions.write'], ...more})
  const make = (token: string, more: object = {}, path = 'workspace/user') =>
    admin.send(token, 'POST', `/v1/api-keys/${path}`, body(more))
  const shown = async (id: string) => (await admin.asAdmin('GET', `/v1/api-keys/${id}`)).body

  describe('rotation', () => {
    const made = async (more: object = {}) =>
      (await make(admin.workspace_key, more, 'workspace/service')).body as {id: string; key: string}
    const rotate = (id: string, sent: object = {}, key = admin.workspace_key) =>
      admin.send(key, 'POST', `/v1/api-keys/${id}/rotate`, sent)
    const works = async (key: string) => (await admin.send(key, 'GET', '/v1/api-keys/self/details')).status

    test('makes a new secret under the same id; the one before works for half an hour', async () => {
      const {id, key} = await made()
      const reply = await rotate(id)
      expect(reply.body).toEqual({
        id,
        key: expect.stringMatching(/^gk-/),
        key_transition_expires_at: '2026-03-04T05:36:07.000Z',
      })
      expect(reply.body.key).not.toBe(key)
      expect([await works(key), await works(reply.body.key)]).toEqual([200, 200])
      expect(await shown(id)).toMatchObject({key_transition_expires_at: '2026-03-04T05:36:07.000Z'})
      const log = (await admin.auditLog()).at(-1)!
      expect(log).toMatchObject({resource_type: 'api-key', action: 'rotate', resource_id: id})
      const row = await admin.store.db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      expect([row.key_hash, row.previous_key_hash]).toEqual([hashKey(reply.body.key), hashKey(key)])
      admin.at('2026-03-04T05:36:07.000Z')
      expect([await works(key), await works(reply.body.key)]).toEqual([401, 200])
      expect((await shown(id)).key_transition_expires_at).toBeNull()
    })

    test('waits for the one before, then goes on; two secrets live at most', async () => {
      const {id, key} = await made()
      const first = (await rotate(id, {key_transition_period_ms: 3_600_000})).body.key
      const again = await rotate(id)
      expect([again.status, again.body.data.errorCode]).toEqual([409, 'AB07'])
      admin.at('2026-03-04T06:06:07.000Z')
      const second = (await rotate(id)).body.key
      expect([await works(key), await works(first), await works(second)]).toEqual([401, 200, 200])
    })

    test('of a key that expires first ends both with it; a deleted key has no secret left', async () => {
      const {id, key} = await made({expires_at: '2026-03-04T05:10:00Z'})
      const {key: second} = (await rotate(id)).body
      expect([await works(key), await works(second)]).toEqual([200, 200])
      admin.at('2026-03-04T05:10:00.000Z')
      expect([await works(key), await works(second)]).toEqual([401, 401])
      admin.at(START)
      await admin.asAdmin('DELETE', `/v1/api-keys/${id}`)
      expect([await works(key), await works(second), (await rotate(id)).status]).toEqual([401, 401, 404])
    })

    test('is for those who hold what the key does, and asks for half an hour at least', async () => {
      await set({security: {guardrails: {managersWriteGuardrails: false}}})
      const {id} = await made({scopes: ['guardrails.create', 'completions.write']})
      const refused = await rotate(id, {}, manager.token)
      expect([refused.status, refused.body.data.message]).toEqual([
        403,
        expect.stringContaining('guardrails.create itself'),
      ])
      expect((await rotate(id, {key_transition_period_ms: 1_799_999})).body).toEqual(
        refusal('AB01', 'key_transition_period_ms: must be at least 1800000.'),
      )
      const old = await admin.seedKey(
        {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id},
        {scopes: ['workspace_service_api_keys.update', 'guardrails.create', 'completions.write']},
      )
      expect((await rotate(id, {}, old.key)).status).toBe(200)
    })
  })

  test('a key shows itself, and where it stands', async () => {
    const {organisation_id, workspace_id} = admin
    const {key, id} = await admin.seedKey({organisation_id, workspace_id}, {scopes: []})
    const self = async (key: string, query = '') =>
      (await admin.send(key, 'GET', `/v1/api-keys/self/details${query}`)).body
    expect(await self(key)).toEqual(await shown(id))
    const whole = await self(key, '?include_organisation=true&include_workspace=true')
    expect(whole.organisation).toMatchObject({id: organisation_id, object: 'organisation'})
    expect(whole.workspace).toEqual({
      id: workspace_id,
      slug: admin.workspace_slug,
      name: 'Shared Workspace',
      status: 'active',
    })
    expect((await self(admin.admin_key, '?include_workspace=true')).workspace).toBeNull()
    expect((await self(member.token)).data.errorCode).toBe('AB08')
    expect((await admin.send(undefined, 'GET', '/v1/api-keys/self/details')).status).toBe(401)
  })

  test('a user makes keys of his own; a manager makes them for others of the workspace', async () => {
    expect(await shown((await make(manager.token)).body.id)).toMatchObject({
      type: 'workspace-user',
      user_id: manager.id,
    })
    expect(await shown((await make(manager.token, {user_id: member.id})).body.id)).toMatchObject({user_id: member.id})
    const owner = await seedUser(admin, 'owner')
    const own = await make(owner.token, {workspace_id: admin.workspace_slug})
    expect(await shown(own.body.id)).toMatchObject({user_id: owner.id})
    const stranger = await seedUser(admin)
    expect((await make(manager.token, {user_id: stranger.id})).body).toEqual(
      refusal('AB02', `user_id: no user of this workspace is known by the id ${stranger.id}.`),
    )
  })

  test('a member has keys only where the setting says so, sees and changes his own alone, and not their limits', async () => {
    expect((await make(member.token)).status).toBe(403)
    await set({security: {api_keys: {membersManageApiKeys: true}}})
    const mine = (await make(member.token)).body.id
    expect((await make(member.token, {user_id: manager.id})).body).toEqual(
      refusal(
        'AB03',
        'You do not have enough permissions to execute this request: making a key for another user is for managers and admins of the workspace.',
      ),
    )
    expect((await make(member.token, {}, 'workspace/service')).status).toBe(403)
    const theirs = (await make(manager.token)).body.id
    const service = (await make(admin.workspace_key, {}, 'workspace/service')).body.id
    for (const id of [theirs, service]) {
      expect((await admin.send(member.token, 'GET', `/v1/api-keys/${id}`)).status).toBe(404)
      expect((await admin.send(member.token, 'DELETE', `/v1/api-keys/${id}`)).status).toBe(404)
    }
    const listed = (await admin.send(member.token, 'GET', '/v1/api-keys?page_size=1000')).body.data
    expect(new Set(listed.map((row: {user_id: string}) => row.user_id))).toEqual(new Set([member.id]))
    const change = (sent: object) => admin.send(member.token, 'PUT', `/v1/api-keys/${mine}`, sent)
    expect((await change({name: 'Renamed'})).status).toBe(200)
    for (const sent of [{usage_limits: null}, {rate_limits: []}, {reset_usage: true}, {models: null}])
      expect((await change(sent)).status).toBe(403)
    expect(
      (await admin.send(manager.token, 'PUT', `/v1/api-keys/${mine}`, {usage_limits: {credit_limit: 5}})).status,
    ).toBe(200)
    expect((await admin.send(member.token, 'DELETE', `/v1/api-keys/${mine}`)).status).toBe(200)
  })

  test('nobody gives a key what his role does not hold', async () => {
    await set({security: {providers: {managersManageProviders: false}}})
    const refused = await make(manager.token, {scopes: ['providers.create']}, 'workspace/service')
    expect([refused.status, refused.body.data.message]).toEqual([
      403,
      expect.stringContaining('providers.create itself'),
    ])
    expect((await make(manager.token, {scopes: ['workspaces:update']}, 'workspace/service')).status).toBe(403)
    expect(
      (await make(manager.token, {scopes: ['configs:create', 'configs.create', 'logs.write']}, 'workspace/service'))
        .status,
    ).toBe(200)
    expect((await make(manager.token, {}, 'organisation/service')).status).toBe(403)
  })

  test("a user's key does no more than the user may, now", async () => {
    const {key} = (
      await make(admin.workspace_key, {
        user_id: manager.id,
        scopes: ['configs.create', 'configs.list', 'completions.write'],
      })
    ).body
    const create = () => admin.send(key, 'POST', '/v1/configs', {name: 'a', config: {provider: 'openai'}})
    const at = `/v1/admin/workspaces/${admin.workspace_id}/users/${manager.id}`
    expect((await create()).status).toBe(200)
    await set({security: {configs: {managersEditConfigs: false}}})
    expect([(await create()).status, (await admin.send(key, 'GET', '/v1/configs')).status]).toEqual([403, 200])
    await set({security: null})
    await admin.asAdmin('PUT', at, {role: 'member'})
    expect((await create()).status).toBe(403)
    await admin.asAdmin('PUT', at, {role: 'admin'})
    expect((await create()).status).toBe(200)
    await admin.asAdmin('PUT', at, {role: 'manager'})
  })

  test('keys live as long as the organisation says', async () => {
    await set({api_keys: {default_expiry_days: 7, max_expiry_days: 30}})
    const usual = (await make(admin.workspace_key)).body.id
    expect((await shown(usual)).expires_at).toBe('2026-03-11T05:06:07.000Z')
    const long = 'expires_at: must be within 30 days: keys of this organisation live no longer.'
    for (const expires_at of ['2026-04-03T05:06:07.001Z', null]) {
      expect((await make(admin.workspace_key, {expires_at})).body).toEqual(refusal('AB01', long))
      expect((await admin.asAdmin('PUT', `/v1/api-keys/${usual}`, {expires_at})).body).toEqual(refusal('AB01', long))
    }
    expect((await make(admin.workspace_key, {expires_at: '2026-04-03T05:06:07.000Z'})).status).toBe(200)
    expect((await admin.asAdmin('PUT', `/v1/api-keys/${usual}`, {name: 'Renamed'})).status).toBe(200)
    await set({api_keys: {default_expiry_days: null}})
    expect((await shown((await make(admin.workspace_key)).body.id)).expires_at).toBe('2026-04-03T05:06:07.000Z')
  })

  test('a workspace has as many user keys as the organisation says', async () => {
    const {total} = (await admin.asWorkspace('GET', '/v1/api-keys?page_size=1000')).body
    const rows = (await admin.asWorkspace('GET', '/v1/api-keys?page_size=1000')).body.data as {type: string}[]
    const users = rows.filter(({type}) => type === 'workspace-user').length
    expect(total).toBe(rows.length)
    await set({api_keys: {max_user_keys_per_workspace: users + 1}})
    const last = await make(admin.workspace_key)
    expect(last.status).toBe(200)
    expect((await make(admin.workspace_key)).body).toEqual(
      refusal('AB01', `The workspace has as many user keys as it may have (${users + 1}). Delete one first.`),
    )
    expect((await make(admin.workspace_key, {}, 'workspace/service')).status).toBe(200)
    await admin.asAdmin('DELETE', `/v1/api-keys/${last.body.id}`)
    expect((await make(admin.workspace_key)).status).toBe(200)
  })

  test('what the path says may be said in the body too, and nothing else', async () => {
    const sent = {type: 'workspace', 'sub-type': 'user', ...body()}
    const made = await admin.asWorkspace('POST', '/v1/api-keys/workspace/user', sent)
    expect(made.status, made.text).toBe(200)
    const {id} = made.body
    expect((await admin.asWorkspace('PUT', `/v1/api-keys/${id}`, {id, name: 'Renamed'})).status).toBe(200)
    expect(
      (await admin.asWorkspace('PUT', `/v1/api-keys/${id}`, {id: admin.workspace_id, name: 'Renamed'})).status,
    ).toBe(400)
    expect(
      (await admin.asWorkspace('POST', '/v1/api-keys/workspace/user', {...sent, type: 'organisation'})).status,
    ).toBe(400)
  })
})
