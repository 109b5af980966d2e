import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {newTimeId} from '../../src/base/ids.ts'
import {SECURITY} from '../../src/schema/security.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {insertLog} from '../support/logs.ts'
import {type Person, seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

describe.each(KINDS)('organisation settings on %s', kind => {
  let admin: Admin
  let manager: Person
  let member: Person
  beforeAll(async () => {
    admin = await startAdmin({kind})
    manager = await seedUser(admin, 'member', {[admin.workspace_id]: 'manager'})
    member = await seedUser(admin, 'member', {[admin.workspace_id]: 'member'})
  })
  beforeEach(() => set({security: null, workspace_overrides: null, api_keys: null}))
  afterAll(() => admin.close())

  const set = async (settings: object) =>
    expect((await admin.asAdmin('PUT', '/v1/admin/organisation', {settings})).body).toEqual({})
  const shown = async () => (await admin.asAdmin('GET', '/v1/admin/organisation')).body.settings
  const setHere = (security: unknown) =>
    admin.asAdmin('PUT', `/v1/admin/workspaces/${admin.workspace_id}/settings`, {security})
  const may = async (person: Person, path = '/v1/logs') => (await admin.send(person.token, 'GET', path)).status

  test('are shown whole, changed in parts and taken back', async () => {
    const none = {default_expiry_days: null, max_expiry_days: null, max_user_keys_per_workspace: null}
    expect(await shown()).toEqual({security: SECURITY, workspace_overrides: [], api_keys: none})
    await set({
      security: {prompts: {membersWritePrompts: true}, logs: {membersViewLogs: false}},
      api_keys: {max_expiry_days: 30},
    })
    await set({
      security: {logs: {managersViewLogs: false}},
      workspace_overrides: ['logs', 'logs'],
      api_keys: {default_expiry_days: 7},
    })
    expect(await shown()).toEqual({
      security: {
        ...SECURITY,
        prompts: {...SECURITY.prompts, membersWritePrompts: true},
        logs: {...SECURITY.logs, membersViewLogs: false, managersViewLogs: false},
      },
      workspace_overrides: ['logs'],
      api_keys: {...none, default_expiry_days: 7, max_expiry_days: 30},
    })
    await set({security: {logs: {membersViewLogs: null}, prompts: null}, api_keys: {max_expiry_days: null}})
    expect(await shown()).toMatchObject({
      security: {prompts: SECURITY.prompts, logs: {...SECURITY.logs, managersViewLogs: false}},
      api_keys: {...none, default_expiry_days: 7},
    })
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      resource_type: 'organisation',
      action: 'update',
      workspace_id: null,
    })
    expect((await admin.asAdmin('PUT', '/v1/admin/organisation', {name: 'Renamed'})).body).toEqual({})
    expect((await admin.asAdmin('GET', '/v1/admin/organisation')).body.name).toBe('Renamed')
  })

  test.each([
    [{security: {logs: {membersViewLog: false}}}, 'settings.security.logs: the key membersViewLog is not known here'],
    [{security: {logs: {membersViewLogs: 'no'}}}, 'settings.security.logs.membersViewLogs: must be'],
    [{workspace_overrides: ['everything']}, 'settings.workspace_overrides[0]: must be one of'],
    [{api_keys: {default_expiry_days: 0}}, 'settings.api_keys.default_expiry_days: must be at least 1'],
    [
      {api_keys: {default_expiry_days: 9, max_expiry_days: 8}},
      'settings.api_keys.default_expiry_days: must not be above max_expiry_days',
    ],
  ])('%j is refused', async (settings, message) => {
    const before = await shown()
    const reply = await admin.asAdmin('PUT', '/v1/admin/organisation', {settings})
    expect([reply.status, reply.body.data.message]).toEqual([400, expect.stringContaining(message)])
    expect(await shown()).toEqual(before)
  })

  test('a workspace has settings of its own where the organisation lets it', async () => {
    expect((await setHere({logs: {membersViewLogMetadata: false}})).body).toEqual({})
    expect(await may(member)).toBe(200)
    await set({workspace_overrides: ['prompts']})
    expect(await may(member)).toBe(200)
    await set({workspace_overrides: ['logs']})
    expect([await may(member), await may(manager)]).toEqual([403, 200])
    const {security, effective} = (await admin.asAdmin('GET', `/v1/admin/workspaces/${admin.workspace_slug}/settings`))
      .body
    expect(security).toEqual({logs: {membersViewLogMetadata: false}})
    expect(effective).toEqual({...SECURITY, logs: {...SECURITY.logs, membersViewLogMetadata: false}})
    expect((await setHere(null)).body).toEqual({})
    expect(await may(member)).toBe(200)
  })

  test('who may not see everything sees what his own keys did: in the log, one row of it, and a replay', async () => {
    const {organisation_id, workspace_id} = admin
    const here = {organisation_id, workspace_id}
    const [mine, theirs, nobodys] = [1, 2, 3].map(n => newTimeId(Date.parse('2026-03-04T05:00:00.000Z') + n)) as [
      string,
      string,
      string,
    ]
    const key = await admin.seedKey(here, {kind: 'workspace-user', user_id: member.id})
    await insertLog(admin.store.db, {...here, id: mine, user_id: member.id, api_key_id: key.id})
    await insertLog(admin.store.db, {...here, id: theirs, user_id: manager.id})
    await insertLog(admin.store.db, {...here, id: nobodys})
    const ids = async (token: string) => {
      const {body} = await admin.send(token, 'GET', '/v1/logs')
      expect(body.total).toBe(body.data.length)
      return body.data.map((row: {id: string}) => row.id).toSorted()
    }
    const all = [mine, theirs, nobodys].toSorted()
    expect(await ids(member.token)).toEqual(all)
    await set({security: {data_visibility: {membersViewAllData: false}}})
    for (const token of [member.token, key.key]) expect(await ids(token)).toEqual([mine])
    expect(await ids(manager.token)).toEqual(all)
    expect(await ids(admin.workspace_key)).toEqual(all)
    expect((await admin.send(member.token, 'GET', `/v1/logs/${mine}`)).status).toBe(200)
    expect((await admin.send(member.token, 'GET', `/v1/logs/${theirs}`)).body).toEqual(
      refusal('AB08', 'No log is known by this id.'),
    )
    await set({security: {data_visibility: {managersViewAllData: false}}})
    expect(await ids(manager.token)).toEqual([theirs])
    const owner = await seedUser(admin, 'owner')
    expect((await admin.send(owner.token, 'GET', `/v1/logs?workspace_id=${workspace_id}`)).body.total).toBe(3)
  })

  test('metadata and what was said are two permissions', async () => {
    await set({security: {logs: {membersViewLogs: false}}})
    const key = await admin.seedKey(
      {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id},
      {kind: 'workspace-user', user_id: member.id},
    )
    for (const token of [member.token, key.key]) {
      expect((await admin.send(token, 'GET', '/v1/logs')).status).toBe(200)
      expect((await admin.send(token, 'GET', `/v1/logs/${newTimeId(0)}`)).status).toBe(403)
    }
  })
})
