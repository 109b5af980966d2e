import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {newId} from '../../src/base/ids.ts'
import {listRecipients} from '../../src/store/users.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

const GONE = refusal('AB08', 'No user is known by this id.')

describe.each(KINDS)('users and members on %s', kind => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({kind})
  })
  afterAll(() => admin.close())

  const member = (workspace: string, user: string) =>
    admin.asAdmin('GET', `/v1/admin/workspaces/${workspace}/users/${user}`)

  test('users are listed with their workspaces, by page, by role and by address', async () => {
    const other = await startAdmin({kind})
    const sibling = await other.seedWorkspace(other.organisation_id)
    const old = await other.seedWorkspace(other.organisation_id, {status: 'archived'})
    const ada = await seedUser(other, 'owner', {}, {email: 'ada@example.com'})
    other.at('2026-03-04T06:00:00.000Z')
    const bob = await seedUser(
      other,
      'member',
      {[other.workspace_id]: 'admin', [old.id]: 'member'},
      {email: 'bob@example.com'},
    )
    other.at('2026-03-04T07:00:00.000Z')
    await other.asAdmin('POST', `/v1/admin/workspaces/${sibling.slug}/users`, {users: [{id: bob.id, role: 'member'}]})
    const foreign = await other.foreign()
    await seedUser(other, 'owner', {}, {organisation_id: foreign.organisation_id})
    const {body} = await other.asAdmin('GET', '/v1/admin/users')
    expect(body).toEqual({
      object: 'list',
      total: 2,
      data: [
        {
          object: 'user',
          id: bob.id,
          first_name: 'Ada',
          last_name: null,
          role: 'member',
          email: 'bob@example.com',
          created_at: '2026-03-04T06:00:00.000Z',
          last_updated_at: '2026-03-04T06:00:00.000Z',
          workspace_ids: [other.workspace_id, sibling.id],
        },
        expect.objectContaining({id: ada.id, role: 'owner', workspace_ids: []}),
      ],
    })
    const emails = async (query: string) =>
      (await other.asAdmin('GET', `/v1/admin/users?${query}`)).body.data.map((row: {email: string}) => row.email)
    expect(await emails('role=owner')).toEqual(['ada@example.com'])
    expect(await emails('email=BOB@example.com')).toEqual(['bob@example.com'])
    expect(await emails('pageSize=1&currentPage=1')).toEqual(['ada@example.com'])
    expect((await other.asAdmin('GET', '/v1/admin/users?page_size=1')).status).toBe(200)
    expect((await other.asAdmin('GET', `/v1/admin/users/${bob.id}`)).body).toEqual(body.data[0])
    await other.close()
  })

  test('a role is changed, but not to the same one and not to owner', async () => {
    const {id} = await seedUser(admin)
    const change = (role: string) => admin.asAdmin('PUT', `/v1/admin/users/${id}`, {role})
    expect((await change('admin')).body).toEqual({})
    expect((await admin.asAdmin('GET', `/v1/admin/users/${id}`)).body.role).toBe('admin')
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      resource_type: 'user',
      action: 'update',
      resource_id: id,
      actor_type: 'api_key',
    })
    expect((await change('admin')).body).toEqual(refusal('AB01', 'role: is admin already.'))
    expect((await change('owner')).body).toEqual(
      refusal('AB01', 'role: owner is given on the command line of the data directory only: send admin or member.'),
    )
    expect((await change('king')).body.data.message).toContain('role: must be one of')
  })

  test('an owner is changed by an owner alone, and one is left', async () => {
    const other = await startAdmin({kind})
    const first = await seedUser(other, 'owner')
    const helper = await seedUser(other, 'admin')
    const path = `/v1/admin/users/${first.id}`
    for (const token of [other.admin_key, helper.token]) {
      expect((await other.send(token, 'PUT', path, {role: 'member'})).body).toEqual(
        refusal(
          'AB03',
          'You do not have enough permissions to execute this request: the role owner is above your own, admin.',
        ),
      )
      expect((await other.send(token, 'DELETE', path)).status).toBe(403)
    }
    const last = await other.send(first.token, 'DELETE', path)
    expect([last.status, last.body.data.errorCode]).toEqual([409, 'AB07'])
    const second = await seedUser(other, 'owner')
    expect((await other.send(second.token, 'PUT', path, {role: 'member'})).status).toBe(200)
    expect((await other.auditLog()).at(-1)).toMatchObject({actor_type: 'user', actor_id: second.id})
    await other.close()
  })

  test('who is taken out loses memberships, keys and sessions, and is not found any more', async () => {
    const user = await seedUser(admin, 'member', {[admin.workspace_id]: 'manager'})
    const {organisation_id, workspace_id} = admin
    const key = await admin.seedKey({organisation_id, workspace_id}, {kind: 'workspace-user', user_id: user.id})
    const service = await admin.seedKey({organisation_id, workspace_id})
    expect((await admin.send(key.key, 'GET', '/v1/configs')).status).toBe(200)
    expect((await admin.send(user.token, 'GET', '/v1/configs')).status).toBe(200)
    expect((await admin.asAdmin('DELETE', `/v1/admin/users/${user.id}`)).body).toEqual({})
    expect((await admin.send(key.key, 'GET', '/v1/configs')).status).toBe(401)
    expect((await admin.send(user.token, 'GET', '/v1/configs')).body.data.errorCode).toBe('AB05')
    expect((await admin.send(service.key, 'GET', '/v1/configs')).status).toBe(200)
    expect((await member(workspace_id, user.id)).status).toBe(404)
    for (const [method, body] of [['GET'], ['PUT', {role: 'admin'}], ['DELETE']] as const) {
      const reply = await admin.asAdmin(method, `/v1/admin/users/${user.id}`, body)
      expect([reply.status, reply.text]).toEqual([404, JSON.stringify(GONE)])
    }
  })

  test('members are added, shown, changed and taken out', async () => {
    const [one, two] = [await seedUser(admin), await seedUser(admin, 'admin')]
    const users = [
      {id: one.id, role: 'manager'},
      {id: two.id, role: 'member'},
    ]
    const at = `/v1/admin/workspaces/${admin.workspace_slug}/users`
    expect((await admin.asAdmin('POST', at, {users})).body).toEqual({})
    const shown = (await member(admin.workspace_id, one.id)).body
    expect(shown).toEqual({
      object: 'workspace-user',
      id: one.id,
      first_name: 'Ada',
      last_name: null,
      org_role: 'member',
      role: 'manager',
      created_at: admin.services.now().toISOString(),
      last_updated_at: admin.services.now().toISOString(),
      status: 'active',
      workspace_id: admin.workspace_id,
      email: one.email,
      scopes: expect.arrayContaining(['configs.create', 'completions.write']),
      settings: null,
    })
    expect(shown.scopes).not.toContain('workspaces.update')
    expect((await member(admin.workspace_id, two.id)).body.scopes).toContain('audit_logs.list')
    const roles = async (query: string) =>
      (await admin.asAdmin('GET', `${at}?${query}`)).body.data.map(({id, role}: {id: string; role: string}) => [
        id,
        role,
      ])
    expect(await roles(`email=${one.email}`)).toEqual([[one.id, 'manager']])
    expect(await roles('role=manager')).toEqual([[one.id, 'manager']])
    const details = (await admin.asAdmin('GET', `/v1/admin/workspaces/${admin.workspace_id}`)).body
    expect(details.users).toContainEqual(shown)
    const {organisation_id, workspace_id} = admin
    const key = await admin.seedKey({organisation_id, workspace_id}, {kind: 'workspace-user', user_id: one.id})
    expect((await admin.asAdmin('PUT', `${at}/${one.id}`, {role: 'manager'})).body).toEqual(
      refusal('AB01', 'role: is manager already.'),
    )
    expect((await admin.asAdmin('PUT', `${at}/${one.id}`, {role: 'member'})).body).toEqual({})
    expect((await admin.send(key.key, 'POST', '/v1/configs', {name: 'a', config: {provider: 'openai'}})).status).toBe(
      403,
    )
    expect((await admin.asAdmin('DELETE', `${at}/${one.id}`)).body).toEqual({})
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      resource_type: 'workspace-user',
      action: 'delete',
      resource_id: one.id,
      workspace_id,
    })
    expect((await member(workspace_id, one.id)).status).toBe(404)
    expect((await admin.send(key.key, 'GET', '/v1/configs')).status).toBe(401)
    expect((await admin.asAdmin('GET', `/v1/admin/users/${one.id}`)).status).toBe(200)
  })

  test('a member who is unknown, foreign or there already stops the whole addition', async () => {
    const [good, there] = [await seedUser(admin), await seedUser(admin, 'member', {[admin.workspace_id]: 'member'})]
    const foreign = await admin.foreign()
    const stranger = await seedUser(admin, 'member', {}, {organisation_id: foreign.organisation_id})
    const logs = (await admin.auditLog()).length
    const add = (users: object[]) => admin.asAdmin('POST', `/v1/admin/workspaces/${admin.workspace_id}/users`, {users})
    const first = {id: good.id, role: 'member'}
    for (const id of [newId(), stranger.id]) {
      const reply = await add([first, {id, role: 'member'}])
      expect([reply.status, reply.body]).toEqual([
        404,
        refusal('AB02', `users[1].id: no user is known by the id ${id}.`),
      ])
    }
    expect((await add([first, {id: there.id, role: 'member'}])).body.data.errorCode).toBe('AB07')
    expect((await add([first, first])).body.data.message).toContain('names a user twice')
    expect((await add([])).status).toBe(400)
    expect((await member(admin.workspace_id, good.id)).status).toBe(404)
    expect((await admin.auditLog()).length).toBe(logs)
  })

  test('nobody gives or takes a role above his own', async () => {
    const place = (role: 'admin' | 'manager' | 'member') => seedUser(admin, 'member', {[admin.workspace_id]: role})
    const [boss, manager, plain] = [await place('admin'), await place('manager'), await place('member')]
    const guest = await seedUser(admin)
    const at = `/v1/admin/workspaces/${admin.workspace_id}/users`
    const above = refusal(
      'AB03',
      'You do not have enough permissions to execute this request: the role admin is above your own, manager.',
    )
    for (const token of [manager.token, admin.workspace_key]) {
      const tries = [
        await admin.send(token, 'POST', at, {users: [{id: guest.id, role: 'admin'}]}),
        await admin.send(token, 'PUT', `${at}/${plain.id}`, {role: 'admin'}),
        await admin.send(token, 'PUT', `${at}/${boss.id}`, {role: 'member'}),
        await admin.send(token, 'DELETE', `${at}/${boss.id}`),
      ]
      expect(tries.map(({status, body}) => [status, body])).toEqual(tries.map(() => [403, above]))
    }
    expect((await admin.send(manager.token, 'PUT', `${at}/${plain.id}`, {role: 'manager'})).status).toBe(200)
    expect((await admin.send(manager.token, 'POST', at, {users: [{id: guest.id, role: 'manager'}]})).status).toBe(200)
    expect((await admin.send(boss.token, 'PUT', `${at}/${guest.id}`, {role: 'admin'})).status).toBe(200)
    expect((await member(admin.workspace_id, boss.id)).body.role).toBe('admin')
  })

  test('a new workspace has the members it was made with', async () => {
    const user = await seedUser(admin)
    const made = await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'With people', users: [user.id]})
    expect(made.status).toBe(200)
    expect((await admin.asAdmin('GET', `/v1/admin/workspaces/${made.body.id}`)).body.users).toMatchObject([
      {id: user.id, role: 'member'},
    ])
  })

  test('those who are told of limits: admins and managers of the workspace, owners and admins of the organisation, each once', async () => {
    const other = await startAdmin({kind})
    const here = {[other.workspace_id]: 'admin'} as const
    const elsewhere = await other.seedWorkspace(other.organisation_id)
    const email = (name: string) => ({email: `${name}@example.com`})
    await seedUser(other, 'owner', here, email('owner'))
    await seedUser(other, 'admin', {}, email('admin'))
    await seedUser(other, 'member', here, email('ws-admin'))
    await seedUser(other, 'member', {[other.workspace_id]: 'manager'}, email('manager'))
    await seedUser(other, 'member', {[other.workspace_id]: 'member'}, email('member'))
    await seedUser(other, 'member', {[elsewhere.id]: 'admin'}, email('elsewhere'))
    const gone = await seedUser(other, 'admin', here, email('gone'))
    await other.asAdmin('DELETE', `/v1/admin/users/${gone.id}`)
    const {organisation_id, workspace_id} = other
    const names = ['admin', 'manager', 'owner', 'ws-admin'].map(name => `${name}@example.com`)
    expect(await listRecipients(other.store.db, {organisation_id, workspace_id})).toEqual(names)
    await other.close()
  })
})
