import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {type Admin, startAdmin} from '../support/admin.ts'
import {insertHour, insertLog} from '../support/logs.ts'
import {type Person, seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

const SINCE = '2026-03-04T00:00:00Z'
const LIMIT = JSON.stringify([
  {
    type: 'cost',
    credit_limit: 10,
    alert_threshold: null,
    periodic_reset: null,
    periodic_reset_days: null,
    next_usage_reset_at: null,
    enforcement: 'compatible',
    started_at: '2026-03-01T00:00:00.000Z',
  },
])
const GUARDRAIL = {checks: [{id: 'default.contains', parameters: {words: ['internal'], operator: 'none'}}]}

describe.each(KINDS)('what others did, on %s', kind => {
  let admin: Admin
  let member: Person
  let manager: Person
  let member_key: string
  beforeAll(async () => {
    admin = await startAdmin({kind})
    const {organisation_id, workspace_id} = admin
    const place = {organisation_id, workspace_id}
    member = await seedUser(admin, 'member', {[workspace_id]: 'member'})
    manager = await seedUser(admin, 'member', {[workspace_id]: 'manager'})
    const seed = async (name: string, user_id: string | null) => {
      const kind = user_id === null ? 'workspace-service' : 'workspace-user'
      const made = await admin.seedKey(place, {name, kind, user_id, usage_limits: LIMIT})
      await insertHour(admin.store.db, {...place, api_key_id: made.id, hour: '2026-03-04T03:00:00.000Z'})
      const log = {id: `log-${name}`, trace_id: `trace ${name}`, created_at: '2026-03-04T03:30:00.000Z'}
      await insertLog(admin.store.db, {...log, ...place, api_key_id: made.id, user_id})
      return made.key
    }
    member_key = await seed('of the member', member.id)
    await seed('of the manager', manager.id)
    await seed('of nobody', null)
  })
  afterAll(() => admin.close())

  const set = async (security: object) =>
    expect((await admin.asAdmin('PUT', '/v1/admin/organisation', {settings: {security}})).status).toBe(200)
  const names = (rows: {name: string}[]) => rows.map(({name}) => name).sort()
  const used = async (token: string) => {
    const {body} = await admin.send(token, 'GET', `/v1/admin/usage?by=key&since=${SINCE}`)
    return names(body.data.map(({key}: {key: {name: string}}) => key))
  }
  const judged = async (token: string) =>
    (await admin.send(token, 'POST', '/v1/guardrails/evaluate', {guardrail: GUARDRAIL, since: SINCE})).body.calls
  const limited = async (token: string) => names((await admin.send(token, 'GET', '/v1/limits?entity=key')).body.data)
  const EVERYONE = ['of nobody', 'of the manager', 'of the member']

  test('is in sums of usage and in what a guardrail is evaluated on, until data visibility is off for the role', async () => {
    await set({data_visibility: {membersViewAllData: true, managersViewAllData: true}})
    for (const token of [member.token, manager.token, member_key, admin.workspace_key]) {
      expect(await used(token)).toEqual(EVERYONE)
      expect(await judged(token)).toBe(3)
    }
    await set({data_visibility: {membersViewAllData: false, managersViewAllData: false}})
    for (const token of [member.token, member_key]) {
      expect(await used(token)).toEqual(['of the member'])
      expect(await judged(token)).toBe(1)
    }
    expect([await used(manager.token), await judged(manager.token)]).toEqual([['of the manager'], 1])
    for (const token of [admin.workspace_key, admin.admin_key])
      expect(await used(token), 'service keys see all').toEqual(EVERYONE)
  })

  test('is in the log, in traces, graphs and exports, until data visibility is off for the role', async () => {
    const times = 'time_of_generation_min=2026-03-04T03:15:00Z&time_of_generation_max=2026-03-04T03:45:00Z'
    const get = async (token: string, path: string) => (await admin.send(token, 'GET', `/v1${path}`)).body
    const made = (token: string) => admin.send(token, 'POST', '/v1/logs/exports', {filters: {}, requested_data: ['id']})
    const seen = async (token: string) => [
      (await get(token, '/logs')).total,
      (await get(token, '/traces')).total,
      (await get(token, '/spans')).summary.requests,
      (await get(token, `/analytics/graphs/requests?${times}`)).summary.total,
      (await get(token, `/analytics/graphs/latency?${times}`)).data_points.length > 0,
      (await get(token, `/analytics/groups/api_key?${times}`)).total,
      (await made(token)).body.total,
    ]
    await set({data_visibility: {membersViewAllData: true, managersViewAllData: true}})
    const {id} = (await made(admin.workspace_key)).body
    const show = async (token: string) => (await admin.send(token, 'GET', `/v1/logs/exports/${id}`)).status
    for (const token of [member.token, member_key, admin.workspace_key])
      expect(await seen(token)).toEqual([3, 3, 3, 3, true, 3, 3])
    expect(await show(member.token)).toBe(200)
    await set({data_visibility: {membersViewAllData: false, managersViewAllData: false}})
    for (const token of [member.token, member_key, manager.token]) {
      expect(await seen(token)).toEqual([1, 1, 1, 1, true, 1, 1])
      expect([await show(token), (await admin.send(token, 'GET', '/v1/traces/trace of nobody')).status]).toEqual([
        404, 404,
      ])
    }
    expect(await seen(admin.workspace_key), 'service keys see all').toEqual([3, 3, 3, 3, true, 3, 3])
  })

  test('is thought of anew by those who see it, or said it', async () => {
    const said = async (token: string, trace_id: string): Promise<string> =>
      (await admin.send(token, 'POST', '/v1/feedback', {trace_id, value: 1})).body.feedback_ids[0]
    await set({data_visibility: {membersViewAllData: true, managersViewAllData: true}})
    const of_nobody = await said(admin.workspace_key, 'trace of nobody')
    const of_member = await said(admin.workspace_key, 'trace of the member')
    const by_member = await said(member_key, 'trace of nobody')
    const change = async (token: string) =>
      Promise.all(
        [of_nobody, of_member, by_member].map(
          async id => (await admin.send(token, 'PUT', `/v1/feedback/${id}`, {value: 2})).status,
        ),
      )
    expect(await change(member_key)).toEqual([200, 200, 200])
    await set({data_visibility: {membersViewAllData: false, managersViewAllData: false}})
    expect(await change(member_key)).toEqual([404, 200, 200])
    expect(await change(admin.workspace_key), 'service keys see all').toEqual([200, 200, 200])
  })

  test('limits are told of the keys that the caller may list, and of the one that asks', async () => {
    await set({data_visibility: {membersViewAllData: true, managersViewAllData: true}})
    expect(await limited(admin.workspace_key)).toEqual(EVERYONE)
    expect(await limited(manager.token)).toEqual(EVERYONE)
    for (const token of [member.token, member_key]) expect(await limited(token)).toEqual(['of the member'])
    await set({data_visibility: {managersViewAllData: false}, api_keys: {membersViewApiKeys: false}})
    expect(await limited(manager.token)).toEqual(['of the manager'])
    expect(await limited(member.token)).toEqual([])
    await set({data_visibility: {managersViewAllData: true}, api_keys: {membersViewApiKeys: true}})
  })

  test('limits of providers and policies are told to those who may see them', async () => {
    const {organisation_id, workspace_id} = admin
    const policy = {
      conditions: [{key: 'api_key', value: '*'}],
      group_by: [{key: 'api_key'}],
      type: 'cost',
      credit_limit: 1,
    }
    const {id} = (await admin.asWorkspace('POST', '/v1/policies/usage-limits', policy)).body
    await admin.store.db
      .insertInto('traffic.policy_usage')
      .values({policy_id: id, entity_id: 'e', since_at: '2026-03-04T00:00:00.000Z', value_key: 'api_key:blue', used: 5})
      .execute()
    await admin.asWorkspace('POST', '/v1/virtual-keys', {
      name: 'Main',
      provider: 'openai',
      key: 'sk-0123456789',
      usage_limits: {type: 'cost', credit_limit: 10},
    })
    const response = async (token: string) => {
      const {body} = await admin.send(token, 'GET', '/v1/limits')
      return [...new Set(body.data.map(({entity}: {entity: string}) => entity))]
    }
    expect(await response(member.token)).toEqual(['key', 'provider', 'policy'])
    await set({providers: {membersViewProviders: false}})
    expect(await response(member.token)).toEqual(['key', 'policy'])
    const {key} = await admin.seedKey({organisation_id, workspace_id}, {scopes: ['workspaces.read']})
    expect(await response(key)).toEqual([])
  })
})
