import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {scimGroups} from '../../src/admin/scim-groups.ts'
import {scimMappings} from '../../src/admin/scim-mappings.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const OPERATIONS = [...scimMappings, ...scimGroups]

describe.each(KINDS)('mappings of groups on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  beforeAll(async () => {
    admin = await startAdmin({kind, operations: OPERATIONS})
    other = await admin.foreign()
  })
  afterAll(() => admin.close())

  const post = (body: object, key = admin.admin_key) =>
    admin.send(key, 'POST', '/v1/scim/workspaces', {workspace_id: admin.workspace_slug, role: 'member', ...body})
  const list = async (query = '', key = admin.admin_key) =>
    (await admin.send(key, 'GET', `/v1/scim/workspaces${query}`)).body

  test('a group is mapped once to a workspace, by name and then by id', async () => {
    const {status, body} = await post({scim_group_name: 'Search team'})
    const row = {
      id: expect.any(String),
      workspace_id: admin.workspace_id,
      scim_group: 'Search team',
      scim_group_id: expect.any(String),
      role: 'member',
    }
    expect([status, body]).toEqual([200, row])
    expect((await post({scim_group_name: 'Search team'})).body).toEqual(body)
    expect((await post({scim_group_id: body.scim_group_id})).body).toEqual(body)
    expect(await list()).toEqual({mappings: [body], total_count: 1})
    const sibling = await admin.seedWorkspace(admin.organisation_id)
    const second = (await post({scim_group_id: body.scim_group_id, workspace_id: sibling.id})).body
    expect(await list(`?workspace_id=${sibling.slug}&role=member`)).toEqual({mappings: [second], total_count: 1})
    expect((await list(`?scim_group_id=${body.scim_group_id}&page_size=1&page=1`)).total_count).toBe(2)
    expect(await list('?role=admin')).toEqual({mappings: [], total_count: 0})
  })

  test('a group has one role, until its mappings are deleted', async () => {
    const {id, scim_group_id} = (await post({scim_group_name: 'Billing', role: 'manager'})).body
    const another = await post({scim_group_id, role: 'member'})
    expect([another.status, another.body.data.errorCode]).toEqual([409, 'AB07'])
    expect((await admin.asAdmin('DELETE', `/v1/scim/workspaces/${id}`)).body).toEqual({success: true})
    expect((await admin.asAdmin('DELETE', `/v1/scim/workspaces/${id}`)).status).toBe(404)
    expect((await post({scim_group_id, role: 'member'})).status).toBe(200)
    expect((await admin.auditLog()).at(-1)).toMatchObject({resource_type: 'scim-mapping', action: 'create'})
  })

  test.each([
    [{}, 400],
    [{scim_group_name: 'x', scim_group_id: 'y'}, 400],
    [{scim_group_id: 'none'}, 404],
    [{scim_group_name: 'x', role: 'owner'}, 400],
    [{scim_group_name: 'x', workspace_id: 'none'}, 404],
    [{scim_group_name: 'x', extra: 1}, 400],
  ])('%j is refused', async (body, status) => {
    expect((await post(body)).status).toBe(status)
  })

  test("a workspace's key maps to its own workspace, not above a manager, and sees what is there alone", async () => {
    const {id, scim_group_id} = (await post({scim_group_name: 'Own'}, admin.workspace_key)).body
    expect((await post({scim_group_name: 'Admins', role: 'admin'}, admin.workspace_key)).body.data.errorCode).toBe(
      'AB03',
    )
    const sibling = await admin.seedWorkspace(admin.organisation_id)
    expect((await post({scim_group_name: 'Own', workspace_id: sibling.id}, admin.workspace_key)).status).toBe(404)
    const key = (await admin.seedKey({organisation_id: admin.organisation_id, workspace_id: sibling.id})).key
    expect(await list('', key)).toEqual({mappings: [], total_count: 0})
    for (const stranger of [key, other.admin.key]) {
      const theirs = await admin.send(stranger, 'DELETE', `/v1/scim/workspaces/${id}`)
      const none = await admin.send(stranger, 'DELETE', '/v1/scim/workspaces/none')
      expect([theirs.status, theirs.text]).toEqual([404, none.text])
    }
    expect((await post({scim_group_id, workspace_id: other.workspace.id}, other.admin.key)).status).toBe(404)
  })

  test('groups are found by a part of their name, with how many are in them and their mappings', async () => {
    const found = async (query: string, key = admin.admin_key) =>
      (await admin.send(key, 'GET', `/v1/scim/groups${query}`)).body
    const mine = (await post({scim_group_name: 'Zoo 50%_Äpfel'})).body
    const sibling = await admin.seedWorkspace(admin.organisation_id)
    const there = (await post({scim_group_id: mine.scim_group_id, workspace_id: sibling.id})).body
    await post({scim_group_name: 'Zoo keepers', workspace_id: sibling.id})
    const mapping = ({id, workspace_id, role}: typeof mine) => ({id, workspace_id, role})
    const group = {id: mine.scim_group_id, name: 'Zoo 50%_Äpfel', external_id: null, members: 0}
    // made at one time, they are in the order of their ids
    const mappings = [mapping(mine), mapping(there)].sort((a, b) => (a.id < b.id ? -1 : 1))
    const both = {...group, mappings}
    for (const search of ['0%25_', 'zOO%205', '_ÄPFEL', '_%C3%A4pfel'])
      expect(await found(`?search=${search}`)).toEqual({groups: [both], total_count: 1})
    for (const search of ['%25%25', '__', 'zoo%5C', "'", 'keeper%25'])
      expect(await found(`?search=${search}`)).toEqual({groups: [], total_count: 0})
    const names = async (query: string) => {
      const {groups, total_count} = await found(query)
      return [groups.map(({name}: {name: string}) => name), total_count]
    }
    expect(await names('?search=ZOO')).toEqual([['Zoo 50%_Äpfel', 'Zoo keepers'], 2])
    expect(await names('?search=zoo&page=0&page_size=1')).toEqual([['Zoo 50%_Äpfel'], 2])
    expect(await names('?search=zoo&page=1&page_size=1')).toEqual([['Zoo keepers'], 2])
    expect(await names('?search=zoo&page=2&page_size=1')).toEqual([[], 2])
    // the key of a workspace sees what is mapped there
    const own = {groups: [{...group, mappings: [mapping(mine)]}], total_count: 1}
    expect(await found('?search=zoo', admin.workspace_key)).toEqual(own)
    expect(await found(`?search=zoo&workspace_id=${admin.workspace_slug}`)).toEqual(own)
    expect(await found('?search=zoo', other.admin.key)).toEqual({groups: [], total_count: 0})
    for (const query of ['?search=', '?page=-1', '?page_size=1001', '?limit=1', `?search=${'x'.repeat(256)}`])
      expect((await admin.asAdmin('GET', `/v1/scim/groups${query}`)).status).toBe(400)
    await admin.asAdmin('DELETE', `/v1/scim/workspaces/${mine.id}`)
    await admin.asAdmin('DELETE', `/v1/scim/workspaces/${there.id}`)
    expect((await found('?search=50%25')).groups).toEqual([{...group, mappings: []}])
  })

  test('SCIM_ENABLED=OFF leaves nothing there', async () => {
    const off = await startAdmin({kind, operations: OPERATIONS, env: {SCIM_ENABLED: 'OFF'}})
    expect((await off.asAdmin('GET', '/v1/scim/workspaces')).status).toBe(404)
    await off.close()
  })
})
