import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {configs} from '../../src/admin/configs.ts'
import {findConfigForCall, openConfig} from '../../src/store/configs.ts'
import {updateWorkspace} from '../../src/store/workspaces.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {contentsOf} from '../support/database-contents.ts'
import {KINDS} from '../support/stores.ts'

const absent = refusal('AB08', 'No config is known by this id.')

describe.each(KINDS)('configs on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  beforeAll(async () => {
    admin = await startAdmin({kind, operations: configs})
    other = await admin.foreign()
  })
  afterAll(() => admin.close())

  const routing = {provider: '@openai-prod', override_params: {model: 'gpt-4o'}}
  const create = async (body: object = {}) => {
    const reply = await admin.asWorkspace('POST', '/v1/configs', {name: 'Main route', config: routing, ...body})
    expect([reply.status, reply.body]).toMatchObject([200, {success: true}])
    return reply.body.data as {id: string; slug: string; version_id: string}
  }

  test('one is saved under a slug of its name, and shown by slug and by id', async () => {
    admin.published.splice(0)
    const {id, slug, version_id} = await create()
    expect(slug).toMatch(/^pc-main-r-[0-9a-f]{6}$/)
    expect(admin.published).toEqual(['configs'])
    const row = {
      id,
      name: 'Main route',
      slug,
      organisation_id: admin.organisation_id,
      workspace_id: admin.workspace_id,
      is_default: 0,
      status: 'active',
      owner_id: expect.any(String),
      updated_by: expect.any(String),
      created_at: '2026-03-04T05:06:07.000Z',
      last_updated_at: '2026-03-04T05:06:07.000Z',
      object: 'config',
    }
    for (const named of [slug, id]) {
      expect((await admin.asWorkspace('GET', `/v1/configs/${named}`)).body).toEqual({
        success: true,
        data: {...row, version_id, config: routing},
      })
    }
    const {body} = await admin.asWorkspace('GET', '/v1/configs')
    expect(body.success).toBe(true)
    expect(body.data).toContainEqual(row)
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      resource_type: 'config',
      resource_id: id,
      action: 'create',
      workspace_id: admin.workspace_id,
    })
  })

  test('it is kept in its normal form, which calls find', async () => {
    const {id, slug} = await create({
      config: {requestTimeout: 5000, strategy: {mode: 'single'}, targets: [{virtualKey: '@mine'}]},
    })
    const config = {request_timeout: 5000, strategy: {mode: 'single'}, targets: [{virtual_key: 'mine'}]}
    expect((await admin.asWorkspace('GET', `/v1/configs/${slug}`)).body.data.config).toEqual(config)
    for (const named of [slug, id]) {
      const row = await findConfigForCall(admin.store.db, admin.workspace_id, named)
      expect(openConfig(admin.services.seal, row!)).toEqual(config)
    }
    expect(await findConfigForCall(admin.store.db, other.workspace.id, slug)).toBeUndefined()
  })

  test('a change of the routing is a version, a change of the name is none', async () => {
    const {slug, version_id} = await create()
    const put = async (body: object) => (await admin.asWorkspace('PUT', `/v1/configs/${slug}`, body)).body
    expect(await put({name: 'New'})).toEqual({success: true, data: {version_id}})
    expect(await put({config: {...routing}})).toEqual({success: true, data: {version_id}})
    admin.at('2026-03-05T00:00:00.000Z')
    const changed = await put({config: {...routing, request_timeout: 9}})
    expect(changed.data.version_id).not.toBe(version_id)
    const {body} = await admin.asWorkspace('GET', `/v1/configs/${slug}/versions`)
    expect(body).toMatchObject({
      object: 'list',
      total: 2,
      data: [
        {
          name: 'New',
          slug,
          version: 2,
          version_id: changed.data.version_id,
          created_at: '2026-03-05T00:00:00.000Z',
          format: 'json',
          type: 'ORG_CONFIG',
          object: 'config',
        },
        {version: 1, version_id, config: JSON.stringify(routing)},
      ],
    })
    expect(JSON.parse(body.data[0].config)).toEqual({...routing, request_timeout: 9})
    expect(admin.published.at(-1)).toBe('configs')
    admin.at('2026-03-04T05:06:07.000Z')
  })

  test('an api_key in it is sealed, shown masked, and stays when its mask comes back', async () => {
    const key = 'sk-canary-config-0123456789'
    const {slug} = await create({config: {targets: [{provider: 'openai', api_key: key}]}})
    const shown = await admin.asWorkspace('GET', `/v1/configs/${slug}`)
    const masked = {targets: [{provider: 'openai', api_key: 'sk-•••••6789'}]}
    expect(shown.body.data.config).toEqual(masked)
    await admin.asWorkspace('PUT', `/v1/configs/${slug}`, {config: {request_timeout: 7, ...masked}})
    const open = async () =>
      openConfig(admin.services.seal, (await findConfigForCall(admin.store.db, admin.workspace_id, slug))!)
    expect(await open()).toEqual({request_timeout: 7, targets: [{provider: 'openai', api_key: key}]})
    const versions = await admin.asWorkspace('GET', `/v1/configs/${slug}/versions`)
    expect(versions.body.total).toBe(2)
    expect(versions.text).not.toContain('canary')
    const stray = await admin.asWorkspace('PUT', `/v1/configs/${slug}`, {
      config: {provider: 'openai', api_key: 'sk-•••••6789'},
    })
    expect([stray.status, stray.body.data.message]).toEqual([
      400,
      expect.stringContaining('config.api_key expected a key'),
    ])
  })

  test('one of a workspace is the default at most', async () => {
    const [one, two] = [await create({isDefault: 1}), await create({isDefault: 1})]
    const defaults = async () => {
      const {body} = await admin.asWorkspace('GET', '/v1/configs')
      return body.data
        .filter((row: {is_default: number}) => row.is_default === 1)
        .map((row: {slug: string}) => row.slug)
    }
    expect(await defaults()).toEqual([two.slug])
    await admin.asWorkspace('PUT', `/v1/configs/${one.slug}`, {isDefault: 1})
    expect(await defaults()).toEqual([one.slug])
    await admin.asWorkspace('PUT', `/v1/configs/${one.slug}`, {isDefault: 0})
    expect(await defaults()).toEqual([])
  })

  test.each([
    ['DELETE', undefined, {}],
    ['PUT', {status: 'archived'}, {success: true, data: {version_id: expect.any(String)}}],
  ] as const)('%s archives one: it is known no more, its slug stays taken', async (method, body, answer) => {
    const {id, slug} = await create()
    expect((await admin.asWorkspace(method, `/v1/configs/${slug}`, body)).body).toEqual(answer)
    for (const path of [`/v1/configs/${slug}`, `/v1/configs/${id}`, `/v1/configs/${slug}/versions`]) {
      const reply = await admin.asWorkspace('GET', path)
      expect([reply.status, reply.body]).toEqual([404, absent])
    }
    expect((await admin.asWorkspace('GET', '/v1/configs')).text).not.toContain(slug)
    expect(await findConfigForCall(admin.store.db, admin.workspace_id, slug)).toBeUndefined()
  })

  test('the default of a key or a workspace cannot be deleted', async () => {
    const {id, slug} = await create()
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    const key = await admin.seedKey(place, {name: 'Bot', defaults: JSON.stringify({config_id: slug})})
    const remove = async () => (await admin.asWorkspace('DELETE', `/v1/configs/${slug}`)).body
    const inUse = (who: string) =>
      refusal('AB07', `This config still has ${who} with it as default. Give them another default first.`)
    expect(await remove()).toEqual(inUse('the API key "Bot"'))
    expect((await admin.asWorkspace('PUT', `/v1/configs/${slug}`, {status: 'archived'})).status).toBe(409)
    await admin.store.db.updateTable('api_keys').set({status: 'archived'}).where('id', '=', key.id).execute()
    await updateWorkspace(admin.store.db, admin.workspace_id, {defaults: JSON.stringify({config_id: id})})
    expect(await remove()).toEqual(inUse('the workspace "Shared Workspace"'))
    await updateWorkspace(admin.store.db, admin.workspace_id, {defaults: null})
    expect(await remove()).toEqual({})
  })

  test('an admin key names the workspace to save one, and reaches any of its organisation by its slug', async () => {
    const body = {name: 'A', config: routing}
    expect((await admin.asAdmin('POST', '/v1/configs', body)).body.data.message).toMatch(/^workspace_id: is required/)
    const {data} = (await admin.asAdmin('POST', '/v1/configs', {...body, workspace_id: admin.workspace_slug})).body
    expect((await admin.asAdmin('GET', `/v1/configs/${data.slug}`)).status).toBe(200)
    const far = await admin.seedWorkspace(admin.organisation_id)
    expect((await admin.asAdmin('GET', `/v1/configs/${data.slug}?workspace_id=${far.id}`)).status).toBe(404)
    expect((await admin.asAdmin('GET', `/v1/configs?workspace_id=${far.id}`)).body).toEqual({
      success: true,
      data: [],
      total: 0,
    })
  })

  test.each<[string, string, object?]>([
    ['GET', ''],
    ['GET', '/versions'],
    ['PUT', '', {name: 'X'}],
    ['DELETE', ''],
  ])('%s %s of a foreign one answers as for none', async (method, path, body) => {
    const {id, slug} = await create()
    const far = await admin.seedWorkspace(admin.organisation_id)
    const neighbour = await admin.seedKey({organisation_id: admin.organisation_id, workspace_id: far.id})
    for (const [key, named] of [
      [other.admin.key, slug],
      [other.key.key, id],
      [neighbour.key, slug],
      [admin.workspace_key, 'pc-none'],
    ] as const) {
      const reply = await admin.send(key, method, `/v1/configs/${named}${path}`, body)
      expect([reply.status, reply.body]).toEqual([404, absent])
    }
  })

  test.each<[string, object, RegExp]>([
    ['no name', {name: undefined}, /^name: is required/],
    ['no config', {config: undefined}, /^config: is required/],
    ['a config that says nothing', {config: {}}, /^AB01: the config is not valid: config says nothing/],
    [
      'an unknown key, with its path and the nearest',
      {config: {targets: [{provder: '@a'}]}},
      /^AB01: .* config\.targets\[0\]\.provder is not known; did you mean provider\?/,
    ],
    [
      'a value out of range',
      {config: {provider: '@a', retry: {attempts: 9}}},
      /config\.retry\.attempts expected a whole number from 0 to 5/,
    ],
    ['what has no effect', {config: {provider: '@a', weight: 1}}, /config\.weight has no effect here/],
    [
      'an unknown kind of provider',
      {config: {provider: 'opnai'}},
      /^config\.provider: no kind of provider is called so; did you mean openai\?$/,
    ],
    ['a private host', {config: {provider: 'openai', custom_host: 'http://127.0.0.1:8000/v1'}}, /^Invalid custom host/],
    ['an unknown field', {isDefalt: 1}, /isDefault/],
  ])('saving refuses %s', async (_, body, message) => {
    const reply = await admin.asWorkspace('POST', '/v1/configs', {name: 'A', config: routing, ...body})
    expect([reply.status, reply.body.data]).toEqual([400, {errorCode: 'AB01', message: expect.stringMatching(message)}])
    const {slug} = await create()
    if ('config' in body && body.config) {
      const change = await admin.asWorkspace('PUT', `/v1/configs/${slug}`, body)
      expect(change.body).toEqual(reply.body)
    }
  })

  test('each operation needs its scope', async () => {
    const {key} = await admin.seedKey(
      {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id},
      {scopes: ['configs.list']},
    )
    expect((await admin.send(key, 'GET', '/v1/configs')).status).toBe(200)
    for (const [method, path] of [
      ['GET', '/x'],
      ['GET', '/x/versions'],
      ['POST', ''],
      ['PUT', '/x'],
      ['DELETE', '/x'],
    ] as const) {
      expect((await admin.send(key, method, `/v1/configs${path}`)).status).toBe(403)
    }
  })

  test('no api_key stands in the database in plain, in the audit log neither', async () => {
    await create({config: {provider: 'openai', apiKey: 'sk-canary-camel-0123456789'}})
    const contents = await contentsOf(admin.store)
    expect(contents).toContain('pc-main-r-')
    expect(contents.match(/sk-canary[\w-]*/g)).toBeNull()
  })
})
