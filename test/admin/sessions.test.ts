import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {OPERATIONS, OPERATOR_OPERATIONS} from '../../src/admin/registry.ts'
import {operatorOf} from '../../src/identity/access.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

describe.each(KINDS)('sessions on %s', kind => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({kind})
  })
  afterAll(() => admin.close())

  test('a session stands for its user on either header, until it ends', async () => {
    const user = await seedUser(admin, 'member', {[admin.workspace_id]: 'manager'})
    const ways: Record<string, string>[] = [{'x-gateway-api-key': user.token}, {authorization: `Bearer ${user.token}`}]
    for (const headers of ways)
      expect((await admin.send(undefined, 'GET', '/v1/configs', undefined, headers)).status).toBe(200)
    const made = await admin.send(user.token, 'POST', '/v1/configs', {name: 'Mine', config: {provider: 'openai'}})
    expect(made.status, made.text).toBe(200)
    const log = (await admin.auditLog()).at(-1)!
    expect(log).toMatchObject({
      actor_type: 'user',
      actor_id: user.id,
      workspace_id: admin.workspace_id,
      client_ip: '127.0.0.1',
    })
    expect(JSON.stringify(log)).not.toContain(user.token)
    admin.at('2030-01-01T00:00:00.000Z')
    expect((await admin.send(user.token, 'GET', '/v1/configs')).body).toEqual(
      refusal('AB05', 'The session expired at 2030-01-01T00:00:00.000Z. Create a new one.'),
    )
    admin.at('2026-03-04T05:06:07.000Z')
    await admin.store.db
      .updateTable('sessions')
      .set({revoked_at: '2026-03-04T00:00:00.000Z'})
      .where('user_id', '=', user.id)
      .execute()
    const ended = refusal('AB05', 'The session is not known to this gateway, or was ended. Create a new one.')
    expect((await admin.send(user.token, 'GET', '/v1/configs')).body).toEqual(ended)
    expect((await admin.send(`gs-${'a'.repeat(43)}`, 'GET', '/v1/configs')).body).toEqual(ended)
  })

  test('a user of several workspaces names the one he means, and has the role he has there', async () => {
    const {organisation_id, workspace_id} = admin
    const red = await admin.seedWorkspace(organisation_id)
    const blue = await admin.seedWorkspace(organisation_id)
    const user = await seedUser(admin, 'member', {[workspace_id]: 'manager', [red.id]: 'member'})
    const send = (method: string, path: string, body?: unknown) => admin.send(user.token, method, `/v1${path}`, body)
    const config = {name: 'a', config: {provider: 'openai'}}
    const needed = refusal('AB01', 'workspace_id: is required (the id or slug of a workspace), as you are in several.')
    expect((await send('GET', '/configs')).body).toEqual(needed)
    expect((await send('POST', '/configs', config)).body).toEqual(needed)
    expect((await send('DELETE', '/configs/pc-none')).body).toEqual(needed)
    expect((await send('POST', '/configs', {...config, workspace_id})).status).toBe(200)
    expect((await send('POST', '/configs', {...config, workspace_id: red.slug})).status).toBe(403)
    expect((await send('GET', `/configs?workspace_id=${red.slug}`)).status).toBe(200)
    expect((await send('GET', `/configs?workspace_id=${blue.slug}`)).body).toEqual(
      refusal('AB08', 'No workspace is known by this id.'),
    )
    expect((await send('POST', '/configs', {...config, workspace_id: blue.id})).body).toEqual(
      refusal('AB08', 'No workspace is known by this id.'),
    )
    // the query names it where the operation itself asks for none
    const key = await admin.seedKey({organisation_id, workspace_id})
    expect((await send('GET', `/api-keys/${key.id}?workspace_id=${workspace_id}`)).status).toBe(200)
    expect((await send('GET', `/api-keys/${key.id}?workspace_id=${red.id}`)).status).toBe(404)
    expect((await send('PUT', `/api-keys/${key.id}?workspace_id=${red.id}`, {name: 'a'})).status).toBe(403)
    const ids = (await send('GET', '/workspaces')).body.data.map((row: {id: string}) => row.id)
    expect(ids.toSorted()).toEqual([workspace_id, red.id].toSorted())
    expect((await send('GET', `/admin/workspaces/${red.slug}`)).body.id).toBe(red.id)
    expect((await send('GET', `/admin/workspaces/${blue.slug}`)).status).toBe(404)
  })

  test('a member of an archived workspace alone may do nothing', async () => {
    const old = await admin.seedWorkspace(admin.organisation_id, {status: 'archived'})
    const user = await seedUser(admin, 'member', {[old.id]: 'admin'})
    expect((await admin.send(user.token, 'GET', '/v1/workspaces')).status).toBe(403)
    expect((await admin.send(user.token, 'GET', `/v1/configs?workspace_id=${old.id}`)).status).toBe(403)
  })

  test('owners see archived workspaces, members do not', async () => {
    const owner = await seedUser(admin, 'owner')
    const member = await seedUser(admin, 'member', {[admin.workspace_id]: 'admin'})
    expect((await admin.send(owner.token, 'GET', '/v1/workspaces?status=archived')).status).toBe(200)
    expect((await admin.send(member.token, 'GET', '/v1/workspaces?status=archived')).status).toBe(403)
  })
})

describe('what the operator alone does', () => {
  let admin: Admin
  let organisation_id: string
  beforeAll(async () => {
    const operator = () => operatorOf(organisation_id)
    admin = await startAdmin({operations: [...OPERATIONS, ...OPERATOR_OPERATIONS], actorOf: operator})
    organisation_id = admin.organisation_id
  })
  afterAll(() => admin.close())
  const send = (method: string, path: string, body?: unknown) => admin.send(undefined, method, `/v1${path}`, body)

  test('is not among the operations that are served', () => {
    const paths = OPERATIONS.map(({path}) => path)
    expect(OPERATOR_OPERATIONS.filter(({path}) => paths.includes(path) || !path.startsWith('/operator/'))).toEqual([])
  })

  test('users and sessions are made, recorded as the operator, and ended', async () => {
    const user = await send('POST', '/operator/users', {email: 'Root@Example.com', role: 'owner'})
    expect(user.body).toMatchObject({email: 'root@example.com', role: 'owner', workspace_ids: []})
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      actor_type: 'operator',
      resource_type: 'user',
      action: 'create',
      client_ip: null,
    })
    expect((await send('POST', '/operator/users', {email: 'root@example.com', role: 'member'})).status).toBe(409)
    const session = await send('POST', '/operator/sessions', {email: 'root@example.com', ttl_s: 3600})
    expect(session.body).toEqual({
      id: expect.any(String),
      token: expect.stringMatching(/^gs-[\w-]{43}$/),
      user_id: user.body.id,
      expires_at: '2026-03-04T06:06:07.000Z',
      object: 'session',
    })
    expect(JSON.stringify(await admin.store.db.selectFrom('sessions').selectAll().execute())).not.toContain(
      session.body.token,
    )
    expect((await send('GET', '/admin/sessions')).body.data).toEqual([
      expect.objectContaining({id: session.body.id, email: 'root@example.com'}),
    ])
    expect((await send('DELETE', `/admin/sessions/${session.body.id}`)).body).toEqual({})
    expect((await send('GET', '/admin/sessions')).body.total).toBe(0)
    expect((await send('POST', '/operator/sessions', {email: 'nobody@example.com'})).body).toEqual(
      refusal('AB02', 'email: no user of the organisation is known by the id nobody@example.com.'),
    )
    expect((await send('POST', '/operator/sessions', {email: 'root@example.com', ttl_s: 5})).status).toBe(400)
    expect((await send('PUT', `/admin/users/${user.body.id}`, {role: 'member'})).status).toBe(409)
    const other = await seedUser(admin)
    expect((await send('PUT', `/admin/users/${other.id}`, {role: 'owner'})).status).toBe(200)
    expect((await send('PUT', `/admin/users/${user.body.id}`, {role: 'member'})).status).toBe(200)
  })

  test('an organisation is made with its workspace and keys, and its making stands in its own audit log', async () => {
    const made = (await send('POST', '/operator/organisations', {name: 'Blue Team', slug: 'blue'})).body
    expect(made).toMatchObject({
      slug: 'blue',
      admin_key: expect.stringMatching(/^gk-/),
      workspace_key: expect.stringMatching(/^gk-/),
    })
    expect((await send('POST', '/operator/organisations', {name: 'Other', slug: 'blue'})).status).toBe(409)
    expect((await send('GET', '/operator/organisations')).body.data.map((row: {slug: string}) => row.slug)).toContain(
      'blue',
    )
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      organisation_id: made.id,
      actor_type: 'operator',
      resource_type: 'organisation',
    })
    const here = organisation_id
    organisation_id = made.id
    expect((await send('GET', '/admin/organisation')).body.name).toBe('Blue Team')
    expect((await send('GET', '/workspaces')).body.data.map((row: {id: string}) => row.id)).toEqual([made.workspace_id])
    organisation_id = here
  })
})
