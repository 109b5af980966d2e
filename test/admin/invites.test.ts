import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {newId} from '../../src/base/ids.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

const UNKNOWN = refusal(
  'AB05',
  'The invite is not known to this gateway, was used, cancelled or sent anew, or has expired. Ask for a new one.',
)

describe.each(KINDS)('invites on %s', kind => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({kind, env: {CONTROL_PLANE_URL: 'https://gateway.example.com/'}})
  })
  afterAll(() => admin.close())

  const address = () => `${newId().slice(0, 8)}@example.com`
  const invite = async (body: object = {}) => {
    const reply = await admin.asAdmin('POST', '/v1/admin/users/invites', {
      email: address(),
      role: 'member',
      workspaces: [],
      ...body,
    })
    expect(reply.status, reply.text).toBe(200)
    return {
      id: reply.body.id as string,
      token: (reply.body.invite_link as string).split('#token=')[1]!,
      link: reply.body.invite_link as string,
    }
  }
  const accept = (token: string, body: object = {}) =>
    admin.send(undefined, 'POST', '/v1/invites/accept', {token, ...body})
  const shown = async (id: string) => (await admin.asAdmin('GET', `/v1/admin/users/invites/${id}`)).body

  test('one is made, shown, accepted: a user with roles, a key and a session', async () => {
    const sibling = await admin.seedWorkspace(admin.organisation_id)
    const {id, token, link} = await invite({
      email: 'Ada@Example.com',
      workspaces: [
        {id: admin.workspace_slug, role: 'manager'},
        {id: sibling.id, role: 'member'},
      ],
      workspace_api_key_details: {scopes: ['completions.write', 'logs:write']},
    })
    expect(link).toMatch(/^https:\/\/gateway\.example\.com\/v1\/invites\/accept#token=gi-[\w-]{43}$/)
    const pending = await shown(id)
    expect(pending).toEqual({
      id,
      email: 'ada@example.com',
      role: 'member',
      created_at: '2026-03-04T05:06:07.000Z',
      expires_at: '2026-03-06T05:06:07.000Z',
      accepted_at: null,
      status: 'pending',
      invited_by: expect.any(String),
      workspaces: [
        {id: admin.workspace_id, role: 'manager'},
        {id: sibling.id, role: 'member'},
      ],
      object: 'invite',
    })
    const [row] = await admin.store.db.selectFrom('invites').selectAll().where('id', '=', id).execute()
    expect(JSON.stringify([row, await admin.auditLog()])).not.toContain(token)
    admin.at('2026-03-05T00:00:00.000Z')
    const reply = await accept(token, {first_name: 'Ada', last_name: 'L'})
    expect(reply.status, reply.text).toBe(200)
    const {user_id, session, api_keys} = reply.body
    expect(reply.body).toEqual({
      user_id: expect.any(String),
      organisation_id: admin.organisation_id,
      session: {id: expect.any(String), token: expect.stringMatching(/^gs-/), expires_at: '2026-03-05T01:00:00.000Z'},
      api_keys: [admin.workspace_id, sibling.id].map(workspace_id => ({
        workspace_id,
        id: expect.any(String),
        key: expect.stringMatching(/^gk-/),
      })),
      object: 'accepted-invite',
    })
    expect((await admin.asAdmin('GET', `/v1/admin/users/${user_id}`)).body).toMatchObject({
      email: 'ada@example.com',
      first_name: 'Ada',
      role: 'member',
      workspace_ids: [admin.workspace_id, sibling.id].toSorted(),
    })
    expect((await admin.asAdmin('GET', `/v1/api-keys/${api_keys[0].id}`)).body).toMatchObject({
      type: 'workspace-user',
      user_id,
      creation_mode: 'auto',
      scopes: ['completions.write', 'logs.write'],
    })
    expect((await admin.send(session.token, 'GET', `/v1/configs?workspace_id=${admin.workspace_slug}`)).status).toBe(
      200,
    )
    expect(await shown(id)).toEqual({...pending, status: 'accepted', accepted_at: '2026-03-05T00:00:00.000Z'})
    const log = (await admin.auditLog()).at(-1)!
    expect(log).toMatchObject({
      actor_type: 'user',
      actor_id: user_id,
      organisation_id: admin.organisation_id,
      resource_type: 'invite',
      resource_id: id,
    })
    expect(JSON.stringify(log)).not.toContain(token)
    expect((await accept(token)).body).toEqual(UNKNOWN)
    const again = await admin.asAdmin('POST', '/v1/admin/users/invites', {
      email: 'ada@example.com',
      role: 'admin',
      workspaces: [],
    })
    expect([again.status, again.body.data.errorCode]).toEqual([409, 'AB07'])
  })

  test('one that is open stands in the way of another; sent again, only its new link works', async () => {
    admin.at('2026-03-10T00:00:00.000Z')
    const email = address()
    const {id, token} = await invite({email})
    expect(
      (await admin.asAdmin('POST', '/v1/admin/users/invites', {email, role: 'member', workspaces: []})).status,
    ).toBe(409)
    admin.at('2026-03-11T00:00:00.000Z')
    const {inviteLink} = (await admin.asAdmin('POST', `/v1/admin/users/invites/${id}/resend`)).body
    expect((await shown(id)).expires_at).toBe('2026-03-13T00:00:00.000Z')
    expect((await accept(token)).status).toBe(401)
    expect((await accept(inviteLink.split('#token=')[1])).status).toBe(200)
  })

  test('one that was cancelled or has expired is not accepted; an expired one can be sent again', async () => {
    admin.at('2026-03-20T00:00:00.000Z')
    const [gone, late] = [await invite(), await invite()]
    expect((await admin.asAdmin('DELETE', `/v1/admin/users/invites/${gone.id}`)).body).toEqual({})
    expect((await accept(gone.token)).body).toEqual(UNKNOWN)
    expect((await admin.asAdmin('DELETE', `/v1/admin/users/invites/${gone.id}`)).body).toEqual(
      refusal('AB07', 'The invite is cancelled.'),
    )
    expect((await admin.asAdmin('POST', `/v1/admin/users/invites/${gone.id}/resend`)).status).toBe(409)
    admin.at('2026-03-22T00:00:00.000Z')
    expect((await accept(late.token)).body).toEqual(UNKNOWN)
    expect((await shown(late.id)).status).toBe('expired')
    const ids = async (status: string) =>
      (await admin.asAdmin('GET', `/v1/admin/users/invites?status=${status}`)).body.data.map(
        (row: {id: string}) => row.id,
      )
    expect(await ids('expired')).toContain(late.id)
    expect(await ids('pending')).not.toContain(late.id)
    expect(await ids('cancelled')).toEqual([gone.id])
    expect((await admin.asAdmin('POST', `/v1/admin/users/invites/${late.id}/resend`)).status).toBe(200)
    expect(await ids('pending')).toContain(late.id)
  })

  test('one who was taken out comes back by invite; what he is elsewhere stays', async () => {
    const foreign = await admin.foreign()
    const email = address()
    const user = await seedUser(admin, 'admin', {}, {email})
    await admin.asAdmin('DELETE', `/v1/admin/users/${user.id}`)
    expect((await accept((await invite({email})).token)).body.user_id).toBe(user.id)
    expect((await admin.asAdmin('GET', `/v1/admin/users/${user.id}`)).body).toMatchObject({
      role: 'member',
      first_name: 'Ada',
    })
    const body = {email, role: 'admin', workspaces: []}
    const theirs = await admin.send(foreign.admin.key, 'POST', '/v1/admin/users/invites', body)
    const there = await accept(theirs.body.invite_link.split('#token=')[1])
    expect(there.body).toMatchObject({user_id: user.id, organisation_id: foreign.organisation_id})
    expect((await admin.asAdmin('GET', `/v1/admin/users/${user.id}`)).body.role).toBe('member')
    expect(
      (await admin.send(there.body.session.token, 'GET', `/v1/admin/workspaces/${admin.workspace_id}`)).status,
    ).toBe(404)
  })

  test('a key opens no role beyond what it holds; people are bounded by theirs', async () => {
    const {organisation_id, workspace_id} = admin
    const small = await admin.seedKey(
      {organisation_id},
      {scopes: ['organisation_users.create', 'organisation_users.update']},
    )
    const ask = (key: string, more: object) =>
      admin.send(key, 'POST', '/v1/admin/users/invites', {email: address(), role: 'member', workspaces: [], ...more})
    const named = 'it needs the scope organisation_users.read, organisation_users.delete, organisation_users.list and'
    const refused = await ask(small.key, {role: 'admin'})
    expect([refused.status, refused.body.data.message]).toEqual([403, expect.stringContaining(named)])
    expect((await ask(small.key, {workspaces: [{id: workspace_id, role: 'member'}]})).status).toBe(403)
    expect((await ask(small.key, {})).status).toBe(200)
    const user = await seedUser(admin)
    expect((await admin.send(small.key, 'PUT', `/v1/admin/users/${user.id}`, {role: 'admin'})).status).toBe(403)
    const boss = await seedUser(admin, 'admin')
    expect((await ask(boss.token, {role: 'admin', workspaces: [{id: workspace_id, role: 'admin'}]})).status).toBe(200)
  })

  test.each([
    [{email: 'nobody'}, 400, 'email: must be an e-mail address.'],
    [{role: 'owner'}, 400, 'role: must be one of admin, member.'],
    [
      {workspaces: [{id: 'ws-none', role: 'member'}]},
      404,
      'workspaces[0].id: no workspace is known by the id ws-none.',
    ],
    [{workspaces: [{id: 'W', role: 'owner'}]}, 400, 'workspaces[0].role: must be one of admin, manager, member.'],
    [
      {
        workspaces: [
          {id: 'W', role: 'admin'},
          {id: 'W', role: 'member'},
        ],
      },
      400,
      'workspaces: names a workspace twice: send each once.',
    ],
    [
      {workspace_api_key_details: {scopes: ['completions.write']}},
      400,
      'workspace_api_key_details: has no effect without workspaces.',
    ],
    [
      {workspaces: [{id: 'W', role: 'member'}], workspace_api_key_details: {scopes: ['workspaces.create']}},
      400,
      'scopes[0]: a key of type workspace-user cannot hold workspaces.create, only organisation-service can.',
    ],
    [
      {colour: 'red'},
      400,
      'the request body: the key colour is not known here (known: email, role, workspaces, workspace_api_key_details).',
    ],
  ])('%j is refused with %i', async (body, status, message) => {
    const sent = JSON.parse(
      JSON.stringify({email: address(), role: 'member', workspaces: [], ...body}).replaceAll(
        '"W"',
        `"${admin.workspace_id}"`,
      ),
    )
    const reply = await admin.asAdmin('POST', '/v1/admin/users/invites', sent)
    expect([reply.status, reply.body.data.message]).toEqual([status, message])
  })
})
