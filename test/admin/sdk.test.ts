import {Portkey} from 'portkey-ai'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {ADMIN_KEY, startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'

let gateway: TestGateway
let workspaceId: string
beforeAll(async () => {
  gateway = await startGateway()
  const {data} = await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')
  workspaceId = data[0]!.id
})
afterAll(() => gateway.close())

// biome-ignore lint/suspicious/noExplicitAny: the client's types are of its own service's examples
type Any = any
const client = (apiKey = ADMIN_KEY): Any => new Portkey({apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0})
const user = (email: string, role = 'member') => gateway.admin<{id: string}>('POST', '/operator/users', {email, role})
const plain = (reply: object) => JSON.parse(JSON.stringify(reply))

describe('the unmodified portkey-ai SDK', () => {
  test('lists, shows, changes and deletes users', async () => {
    const {id} = await user('ada@example.com')
    const {users} = client().admin
    expect(plain(await users.list({email: 'ada@example.com', role: 'member'}))).toMatchObject({total: 1, data: [{id, object: 'user'}]})
    expect(plain(await users.retrieve({userId: id}))).toMatchObject({email: 'ada@example.com', role: 'member'})
    await users.update({userId: id, role: 'admin'})
    expect(plain(await users.retrieve({userId: id}))).toMatchObject({role: 'admin'})
    await users.delete({userId: id})
    await expect(users.retrieve({userId: id})).rejects.toMatchObject({status: 404})
  })

  test('invites, lists, shows, sends again and cancels', async () => {
    const {invites} = client().admin.users
    const made = await invites.create({
      email: 'bob@example.com',
      role: 'member',
      workspaces: [{id: workspaceId, role: 'manager'}],
      workspace_api_key_details: {scopes: ['completions.write']},
    })
    expect(made.invite_link).toContain('#token=gi-')
    expect(plain(await invites.list({email: 'bob@example.com', status: 'pending'}))).toMatchObject({total: 1, data: [{id: made.id}]})
    expect(plain(await invites.retrieve({inviteId: made.id}))).toMatchObject({email: 'bob@example.com', status: 'pending'})
    const {inviteLink} = await invites.resend({inviteId: made.id})
    expect(inviteLink).not.toBe(made.invite_link)
    await invites.delete({inviteId: made.id})
    expect(plain(await invites.retrieve({inviteId: made.id}))).toMatchObject({status: 'cancelled'})
  })

  test('makes, lists, shows, changes and deletes workspaces', async () => {
    const {workspaces} = client().admin
    const made = await workspaces.create({name: 'Research', description: 'Papers', defaults: {metadata: {team: 'blue'}}})
    expect(plain(await workspaces.list({exact_name: 'Research'}))).toMatchObject({total: 1, data: [{id: made.id, slug: made.slug}]})
    await workspaces.update({workspaceId: made.id, description: 'Books'})
    expect(plain(await workspaces.retrieve({workspaceId: made.slug}))).toMatchObject({description: 'Books', users: []})
    await workspaces.delete({workspaceId: made.id, name: 'Research', force_delete: true})
    await expect(workspaces.retrieve({workspaceId: made.id})).rejects.toMatchObject({status: 404})
  })

  test('adds, lists, shows, changes and removes members', async () => {
    const {id: userId} = await user('eve@example.com')
    const {users} = client().admin.workspaces
    await users.create({workspaceId, users: [{id: userId, role: 'member'}]})
    expect(plain(await users.list({workspaceId, email: 'eve@example.com'}))).toMatchObject({total: 1, data: [{id: userId, role: 'member'}]})
    await users.update({workspaceId, userId, role: 'manager'})
    expect(plain(await users.retrieve({workspaceId, userId}))).toMatchObject({role: 'manager', org_role: 'member'})
    await users.delete({workspaceId, userId})
    await expect(users.retrieve({workspaceId, userId})).rejects.toMatchObject({status: 404})
  })

  test('makes, lists, shows, changes and deletes API keys, with an admin key, a workspace key and a session', async () => {
    const {id: user_id} = await user('zoe@example.com', 'owner')
    const {token} = await gateway.admin<{token: string}>('POST', '/operator/sessions', {email: 'zoe@example.com'})
    for (const [key, kind] of [
      [ADMIN_KEY, {type: 'workspace', 'sub-type': 'service', workspace_id: workspaceId}],
      [ADMIN_KEY, {type: 'organisation', 'sub-type': 'service', scopes: ['workspaces.list']}],
      [WORKSPACE_KEY, {type: 'workspace', 'sub-type': 'user', user_id}],
      [token, {type: 'workspace', 'sub-type': 'user', workspace_id: workspaceId}],
    ] as const) {
      const {apiKeys} = client(key)
      const made = await apiKeys.create({name: 'SDK', scopes: ['completions.write'], ...kind})
      expect(made.key, made).toMatch(/^gk-/)
      const {data} = plain(await apiKeys.list({page_size: 1000}))
      expect(data).toContainEqual(expect.objectContaining({id: made.id, name: 'SDK'}))
      await apiKeys.update({id: made.id, name: 'Renamed', rate_limits: [{type: 'requests', unit: 'rpm', value: 5}]})
      expect(plain(await apiKeys.retrieve({id: made.id}))).toMatchObject({
        name: 'Renamed',
        type: `${kind.type}-${kind['sub-type']}`,
        rate_limits: [{type: 'requests', unit: 'rpm', value: 5}],
        ...(kind['sub-type'] === 'user' && {user_id}),
      })
      await apiKeys.delete({id: made.id})
      await expect(apiKeys.retrieve({id: made.id})).rejects.toMatchObject({status: 404})
    }
  })
})

describe('the data plane', () => {
  const chat = (key: string) =>
    gateway.chat({model: '@demo/echo', messages: [{role: 'user', content: 'Hello'}]}, {'x-gateway-api-key': key})

  test('calls with both secrets of a rotated key, and with neither a session nor an admin key', async () => {
    const {key, id} = await gateway.admin<{key: string; id: string}>('POST', '/api-keys/workspace/service', {
      name: 'Rotated',
      workspace_id: workspaceId,
      scopes: ['completions.write'],
    })
    expect((await chat(key)).status).toBe(200)
    const {key: second} = await gateway.admin<{key: string}>('POST', `/api-keys/${id}/rotate`)
    expect([(await chat(key)).status, (await chat(second)).status]).toEqual([200, 200])
    await user('sam@example.com', 'owner')
    const {token} = await gateway.admin<{token: string}>('POST', '/operator/sessions', {email: 'sam@example.com'})
    expect([(await chat(token)).status, (await chat(ADMIN_KEY)).status]).toEqual([401, 403])
  })

  test('a user’s key stops when the user is taken out of the workspace or the organisation', async () => {
    for (const [email, leave] of [
      ['one@example.com', (id: string) => `/admin/workspaces/${workspaceId}/users/${id}`],
      ['two@example.com', (id: string) => `/admin/users/${id}`],
    ] as const) {
      const {id} = await user(email)
      await gateway.admin('POST', `/admin/workspaces/${workspaceId}/users`, {users: [{id, role: 'member'}]})
      const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/user', {
        name: email,
        workspace_id: workspaceId,
        user_id: id,
        scopes: ['completions.write'],
      })
      expect((await chat(key)).status).toBe(200)
      await gateway.admin('DELETE', leave(id))
      expect((await chat(key)).status).toBe(401)
    }
  })

  test('what the operator alone does is not served', async () => {
    const owner = await user('tom@example.com', 'owner')
    expect(owner.id).toBeDefined()
    const {token} = await gateway.admin<{token: string}>('POST', '/operator/sessions', {email: 'tom@example.com'})
    for (const key of [ADMIN_KEY, token]) {
      const reply = await fetch(`${gateway.url}/v1/operator/sessions`, {
        method: 'POST',
        headers: {'x-gateway-api-key': key, 'x-gateway-operator-organisation': 'any', 'content-type': 'application/json'},
        body: '{"email":"tom@example.com"}',
      })
      expect([400, 401, 403, 404]).toContain(reply.status)
      expect(await reply.text()).not.toContain('gs-')
    }
  })
})
