import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {deployments} from '../../src/admin/deployments.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.000Z'

describe.each(KINDS)('deployments on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  beforeAll(async () => {
    admin = await startAdmin({kind, operations: deployments})
    other = await admin.foreign()
  })
  afterAll(() => admin.close())

  const post = (body: object = {}) =>
    admin.asAdmin('POST', '/v1/deployments', {name: 'Europe', type: 'production', ...body})
  const create = async (body: object = {}) => {
    const reply = await post(body)
    expect([reply.status, reply.body]).toEqual([
      200,
      {id: expect.any(String), slug: expect.any(String), object: 'deployment'},
    ])
    return reply.body as {id: string; slug: string}
  }
  const get = async (named: string) => (await admin.asAdmin('GET', `/v1/deployments/${named}`)).body

  test('one is registered, shown by id and slug, and listed by type', async () => {
    const {id, slug} = await create({
      type: 'non-production',
      config: {region: 'eu'},
      allowed_workspaces: [admin.workspace_slug],
    })
    expect(slug).toMatch(/^europe-[0-9a-f]{6}$/)
    const row = {
      ...{
        id,
        slug,
        name: 'Europe',
        type: 'non-production',
        config: {region: 'eu'},
        status: 'active',
        object: 'deployment',
      },
      ...{
        organisation_id: admin.organisation_id,
        allow_all_workspaces: false,
        allowed_workspaces: [admin.workspace_id],
      },
      ...{created_at: AT, last_updated_at: AT},
    }
    for (const named of [id, slug]) expect(await get(named)).toEqual(row)
    await create()
    expect((await admin.asAdmin('GET', '/v1/deployments?type=non-production')).body).toEqual({
      object: 'list',
      total: 1,
      data: [row],
    })
    expect((await admin.auditLog()).at(-1)).toMatchObject({resource_type: 'deployment', action: 'create'})
  })

  test('one is changed, and deleted', async () => {
    const {id, slug} = await create({slug: 'eu-1'})
    const put = (body: object) => admin.asAdmin('PUT', `/v1/deployments/${id}`, body)
    expect((await put({name: 'EU', slug: 'eu-2', allowed_workspaces: [admin.workspace_id]})).body).toEqual({})
    expect(await get('eu-2')).toMatchObject({name: 'EU', allow_all_workspaces: false})
    expect((await put({allow_all_workspaces: true, config: {}})).status).toBe(200)
    expect(await get(id)).toMatchObject({allow_all_workspaces: true, allowed_workspaces: [], config: {}})
    expect((await put({})).status).toBe(400)
    await create({slug})
    const taken = await put({slug})
    expect([taken.status, taken.body.data.errorCode]).toEqual([409, 'AB07'])
    expect((await admin.asAdmin('DELETE', `/v1/deployments/${id}`)).body).toEqual({})
    expect(await get(id)).toEqual(refusal('AB08', 'No deployment is known by this id.'))
  })

  test.each([
    [{type: 'staging'}, 'type: must be'],
    [{name: undefined}, 'name: is required'],
    [{config: []}, 'config'],
    [{config: {x: 'a'.repeat(70_000)}}, 'config: expected at most'],
    [{allow_all_workspaces: false}, 'allowed_workspaces: is required'],
    [{status: 'active'}, 'status'],
  ])('one with %j is refused', async (body, why) => {
    const reply = await post(body)
    expect([reply.status, reply.body.data.message]).toEqual([400, expect.stringContaining(why)])
  })

  test("another organisation's is not found, in the words of none; a workspace's key is refused", async () => {
    const {id} = await create()
    for (const [method, body] of [['GET'], ['PUT', {name: 'x'}], ['DELETE']] as const) {
      const theirs = await admin.send(other.admin.key, method, `/v1/deployments/${id}`, body)
      const none = await admin.send(other.admin.key, method, '/v1/deployments/none', body)
      expect([theirs.status, theirs.text]).toEqual([404, none.text])
      expect((await admin.asWorkspace(method, `/v1/deployments/${id}`, body)).status).toBe(403)
    }
    expect((await admin.send(other.admin.key, 'GET', '/v1/deployments')).body).toMatchObject({total: 0})
  })
})
