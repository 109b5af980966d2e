import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {integrationAccess} from '../../src/admin/integrations/access.ts'
import {integrations} from '../../src/admin/integrations/integrations.ts'
import {providers} from '../../src/admin/providers.ts'
import {findProviderForCall} from '../../src/store/providers.ts'
import type {ProvidersTable} from '../../src/store/tables/catalog.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {insertHour} from '../support/logs.ts'
import {KINDS} from '../support/stores.ts'

const absent = refusal('AB08', 'No provider is known by this id.')

describe.each(KINDS)('providers on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  let shared: {id: string; slug: string}
  let count = 0
  beforeAll(async () => {
    admin = await startAdmin({kind, operations: [...integrations, ...integrationAccess, ...providers]})
    other = await admin.foreign()
    shared = (
      await admin.asAdmin('POST', '/v1/integrations', {name: 'Shared', slug: 'shared', ai_provider_id: 'openai'})
    ).body
    await open(true)
  })
  afterAll(() => admin.close())

  const open = (enabled: boolean) =>
    admin.asAdmin('PUT', '/v1/integrations/shared/workspaces', {
      workspaces: [{id: admin.workspace_id, enabled}],
      create_default_provider: false,
    })
  const create = async (body: object = {}) => {
    const slug = `made-${++count}`
    const reply = await admin.asWorkspace('POST', '/v1/providers', {
      name: 'Made',
      slug,
      integration_id: 'shared',
      ...body,
    })
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('"id"')])
    return reply.body as {id: string; slug: string}
  }
  const row = (id: string) =>
    admin.store.db.selectFrom('providers').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const mark = (id: string, change: Partial<ProvidersTable>) =>
    admin.store.db.updateTable('providers').set(change).where('id', '=', id).execute()
  const budget = {
    type: 'cost',
    credit_limit: 10,
    alert_threshold: 5,
    periodic_reset: 'weekly',
    periodic_reset_days: null,
    next_usage_reset_at: null,
  }
  const rate = {type: 'requests', unit: 'rpm', value: 0}

  test('one is created, shown by slug and by id, and announced', async () => {
    admin.published.splice(0)
    const fields = {
      note: 'N',
      usage_limits: budget,
      rate_limits: rate,
      expires_at: '2027-01-01T00:00:00+01:00',
      tags: {team: 'search'},
    }
    const {id, slug} = await create(fields)
    expect(admin.published).toEqual(['providers'])
    for (const named of [slug, id]) {
      expect((await admin.asWorkspace('GET', `/v1/providers/${named}`)).body).toEqual({
        id,
        name: 'Made',
        note: 'N',
        status: 'active',
        usage_limits: {...budget, current_usage: 0, status: 'active'},
        rate_limits: [rate],
        reset_usage: null,
        expires_at: '2026-12-31T23:00:00.000Z',
        created_at: '2026-03-04T05:06:07.000Z',
        last_updated_at: '2026-03-04T05:06:07.000Z',
        slug,
        workspace_id: admin.workspace_id,
        tags: {team: 'search'},
        integration_id: shared.id,
        ai_provider_id: 'openai',
        model_config: {},
        object: 'provider',
      })
    }
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      resource_type: 'provider',
      resource_id: id,
      action: 'create',
      workspace_id: admin.workspace_id,
    })
  })

  test('a slug is made of the name when none is given', async () => {
    expect(
      (await admin.asWorkspace('POST', '/v1/providers', {name: 'Main, for all!', integration_id: shared.id})).body.slug,
    ).toMatch(/^main-for-a-[0-9a-f]{6}$/)
  })

  test('an admin key names the workspace; a workspace key needs not, and may not name another', async () => {
    const body = {name: 'Made', integration_id: 'shared'}
    expect((await admin.asAdmin('POST', '/v1/providers', body)).body.data.message).toMatch(/^workspace_id: is required/)
    expect((await admin.asAdmin('POST', '/v1/providers', {...body, workspace_id: admin.workspace_slug})).status).toBe(
      200,
    )
    const far = await admin.seedWorkspace(admin.organisation_id)
    for (const workspace_id of [far.id, other.workspace.id, 'none']) {
      const reply = await admin.asWorkspace('POST', '/v1/providers', {...body, workspace_id})
      expect([reply.status, reply.body]).toEqual([404, refusal('AB08', 'No workspace is known by this id.')])
    }
  })

  test('an integration that is foreign, absent, archived, closed or of another workspace is not known', async () => {
    const far = await admin.seedWorkspace(admin.organisation_id)
    const make = async (slug: string, body: object = {}) => {
      await admin.asAdmin('POST', '/v1/integrations', {name: 'I', slug, ai_provider_id: 'openai', ...body})
    }
    await make('never-opened')
    await make('of-another', {workspace_id: far.id})
    await make('archived')
    await admin.asAdmin('DELETE', '/v1/integrations/archived')
    await admin.send(other.admin.key, 'POST', '/v1/integrations', {
      name: 'I',
      slug: 'foreign',
      ai_provider_id: 'openai',
    })
    for (const integration_id of ['none', 'never-opened', 'of-another', 'archived', 'foreign']) {
      const reply = await admin.asWorkspace('POST', '/v1/providers', {name: 'Made', integration_id})
      expect([reply.status, reply.body]).toEqual([
        404,
        refusal('AB02', `integration_id: no integration is known by the id ${integration_id}.`),
      ])
    }
  })

  test('a slug is had once in a workspace, and free again when it is archived', async () => {
    const {slug} = await create()
    const again = {name: 'B', slug, integration_id: 'shared'}
    const reply = await admin.asWorkspace('POST', '/v1/providers', again)
    expect([reply.status, reply.body]).toEqual([409, refusal('AB07', `The slug ${slug} is taken by another provider.`)])
    expect((await admin.asWorkspace('DELETE', `/v1/providers/${slug}`)).body).toEqual({})
    expect((await admin.asWorkspace('POST', '/v1/providers', again)).status).toBe(200)
  })

  test('an admin key reaches one by slug alone while one workspace has it, else it must name the workspace', async () => {
    const {slug} = await create()
    expect((await admin.asAdmin('GET', `/v1/providers/${slug}`)).status).toBe(200)
    const far = await admin.seedWorkspace(admin.organisation_id)
    await admin.asAdmin('POST', '/v1/integrations', {
      name: 'I',
      ai_provider_id: 'groq',
      workspace_id: far.id,
      default_provider_slug: slug,
    })
    expect((await admin.asAdmin('GET', `/v1/providers/${slug}`)).body).toEqual(
      refusal(
        'AB01',
        'workspace_id: is required (the id or slug of a workspace), as several workspaces have this slug.',
      ),
    )
    expect((await admin.asAdmin('GET', `/v1/providers/${slug}?workspace_id=${far.slug}`)).body.ai_provider_id).toBe(
      'groq',
    )
    expect((await admin.asAdmin('PUT', `/v1/providers/${slug}`, {workspace_id: far.id, name: 'Far'})).status).toBe(200)
    expect((await admin.asWorkspace('GET', `/v1/providers/${slug}`)).body).toMatchObject({
      ai_provider_id: 'openai',
      name: 'Made',
    })
  })

  test.each<[string, string, object?]>([
    ['GET', ''],
    ['PUT', '', {name: 'X'}],
    ['DELETE', ''],
  ])('%s of a foreign or an archived one answers as for none', async (method, query, body) => {
    const [{slug, id}, gone] = [await create(), await create()]
    await admin.asWorkspace('DELETE', `/v1/providers/${gone.slug}`)
    const far = await admin.seedWorkspace(admin.organisation_id)
    const neighbour = await admin.seedKey({organisation_id: admin.organisation_id, workspace_id: far.id})
    for (const [key, named] of [
      [other.admin.key, slug],
      [other.key.key, id],
      [neighbour.key, slug],
      [neighbour.key, id],
      [admin.workspace_key, 'none'],
      [admin.workspace_key, gone.slug],
      [admin.workspace_key, gone.id],
    ] as const) {
      const reply = await admin.send(key, method, `/v1/providers/${named}${query}`, body)
      expect([reply.status, reply.body]).toEqual([404, absent])
    }
  })

  test('they are listed by page, workspace and tags, the newest first', async () => {
    admin.at('2026-03-04T05:06:08.000Z')
    const one = await create({tags: {suite: 'list', env: 'a'}})
    admin.at('2026-03-04T05:06:09.000Z')
    const two = await create({tags: {suite: 'list', env: 'b'}})
    admin.at('2026-03-04T05:06:07.000Z')
    const slugs = async (query: string, key = admin.workspace_key) => {
      const {body} = await admin.send(key, 'GET', `/v1/providers?${query}`)
      return [body.total, body.data.map((row: {slug: string}) => row.slug)]
    }
    expect(await slugs('tags={"suite":"list"}')).toEqual([2, [two.slug, one.slug]])
    expect(await slugs('tags={"suite":"list"}&page_size=1&current_page=1')).toEqual([2, [one.slug]])
    expect(await slugs('tags={"suite":"list","env":"b"}')).toEqual([1, [two.slug]])
    expect(await slugs(`tags={"suite":"list"}&workspace_id=${admin.workspace_slug}`, admin.admin_key)).toEqual([
      2,
      [two.slug, one.slug],
    ])
    expect(await slugs('tags={"suite":"list"}', other.admin.key)).toEqual([0, []])
    expect((await admin.send(other.admin.key, 'GET', `/v1/providers?workspace_id=${admin.workspace_id}`)).status).toBe(
      404,
    )
  })

  test('changing one leaves what is not given, and null takes limits away', async () => {
    const {id, slug} = await create({note: 'N', usage_limits: budget, rate_limits: [rate], tags: {a: '1'}})
    const before = await row(id)
    admin.at('2026-03-05T00:00:00.000Z')
    expect((await admin.asWorkspace('PUT', `/v1/providers/${slug}`, {name: 'New'})).body).toEqual({id, slug})
    expect(await row(id)).toEqual({...before, name: 'New', last_updated_at: '2026-03-05T00:00:00.000Z'})
    await admin.asWorkspace('PUT', `/v1/providers/${slug}`, {
      usage_limits: null,
      rate_limits: null,
      note: null,
      expires_at: '2026-06-01T00:00:00Z',
    })
    expect((await admin.asWorkspace('GET', `/v1/providers/${slug}`)).body).toMatchObject({
      usage_limits: null,
      rate_limits: null,
      note: null,
      tags: {a: '1'},
    })
    expect(admin.published.at(-1)).toBe('providers')
    admin.at('2026-03-04T05:06:07.000Z')
  })

  test('an exhausted one comes back by a reset, by a raised budget and by none, not by another name', async () => {
    const cases: readonly [object, string][] = [
      [{name: 'X'}, 'exhausted'],
      [{usage_limits: {...budget, credit_limit: 9}}, 'exhausted'],
      [{reset_usage: true}, 'active'],
      [{usage_limits: {...budget, credit_limit: 11}}, 'active'],
      [{usage_limits: null}, 'active'],
    ]
    for (const [body, status] of cases) {
      admin.at('2026-03-04T05:00:00.000Z')
      const {id, slug} = await create({usage_limits: budget})
      const spent = {workspace_id: admin.workspace_id, provider_slug: slug, cost_nanousd: 10_000_000_000}
      await insertHour(admin.store.db, {...spent, hour: '2026-03-04T05:00:00.000Z'})
      await mark(id, {status: 'exhausted'})
      admin.at('2026-03-04T05:06:07.000Z')
      await admin.asWorkspace('PUT', `/v1/providers/${slug}`, body)
      expect((await admin.asWorkspace('GET', `/v1/providers/${slug}`)).body.status, JSON.stringify(body)).toBe(status)
      expect((await row(id)).last_reset_at).toBe('reset_usage' in body ? '2026-03-04T05:06:07.000Z' : null)
    }
  })

  test('one is expired from its expiry on, and no more when that is moved', async () => {
    const {slug} = await create({expires_at: '2026-03-04T05:06:08.000Z'})
    const status = async () => (await admin.asWorkspace('GET', `/v1/providers/${slug}`)).body.status
    expect(await status()).toBe('active')
    admin.at('2026-03-04T05:06:08.000Z')
    expect(await status()).toBe('expired')
    await admin.asWorkspace('PUT', `/v1/providers/${slug}`, {expires_at: null})
    expect(await status()).toBe('active')
    admin.at('2026-03-04T05:06:07.000Z')
  })

  test('for a call it comes with its integration, which may be closed', async () => {
    const {id, slug} = await create({usage_limits: budget})
    const called = await findProviderForCall(admin.store.db, admin.workspace_id, slug)
    expect(called).toMatchObject({id, status: 'active', usage_limits: expect.stringContaining('"credit_limit":10')})
    expect(called!.integration).toEqual({
      id: shared.id,
      organisation_id: admin.organisation_id,
      slug: 'shared',
      ai_provider_id: 'openai',
      status: 'active',
      enabled: true,
      key_sealed: null,
      configurations: '{}',
      configurations_sealed: null,
      secret_mappings: '[]',
      trusts_host: false,
      allow_all_models: true,
      usage_limits: null,
      rate_limits: null,
      last_reset_at: null,
    })
    await open(false)
    expect((await findProviderForCall(admin.store.db, admin.workspace_id, slug))!.integration.enabled).toBe(false)
    await open(true)
    expect(await findProviderForCall(admin.store.db, other.workspace.id, slug)).toBeUndefined()
  })

  test.each<[string, object, RegExp]>([
    ['no name', {name: undefined}, /^name: is required/],
    ['no integration', {integration_id: undefined}, /^integration_id: is required/],
    ['a slug of other characters', {slug: 'a b'}, /^slug: /],
    ['a name of 256 characters', {name: 'a'.repeat(256)}, /^name: /],
    ['an expiry that is no time', {expires_at: 'tomorrow'}, /^expires_at: /],
    ['a budget below its threshold', {usage_limits: {credit_limit: 5, alert_threshold: 6}}, /alert_threshold/],
    ['a budget by week and by days', {usage_limits: {...budget, periodic_reset_days: 3}}, /periodic_reset_days/],
    ['an unknown key of a budget', {usage_limits: {credit_limt: 5}}, /credit_limit/],
    ['a unit that is none', {rate_limits: {...rate, unit: 'rpw'}}, /unit/],
    ['a key', {key: 'sk-canary'}, /key/],
  ])('creating refuses %s', async (_, body, message) => {
    const reply = await admin.asWorkspace('POST', '/v1/providers', {name: 'Made', integration_id: 'shared', ...body})
    expect([reply.status, reply.body.data]).toEqual([400, {errorCode: 'AB01', message: expect.stringMatching(message)}])
    expect(reply.text).not.toContain('canary')
  })

  test('either of the two scopes suffices, and one is needed', async () => {
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    for (const [scope, status] of [
      ['providers.list', 200],
      ['virtual_keys.list', 200],
      ['configs.list', 403],
    ] as const) {
      const {key} = await admin.seedKey(place, {scopes: [scope]})
      expect((await admin.send(key, 'GET', '/v1/providers')).status, scope).toBe(status)
    }
  })
})
