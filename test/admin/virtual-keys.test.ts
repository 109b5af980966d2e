import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {integrations} from '../../src/admin/integrations/integrations.ts'
import {providers} from '../../src/admin/providers.ts'
import {virtualKeys} from '../../src/admin/virtual-keys.ts'
import {openCredentials} from '../../src/store/integrations.ts'
import {findProviderForCall} from '../../src/store/providers.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {contentsOf} from '../support/database-contents.ts'
import {KINDS} from '../support/stores.ts'

const absent = refusal('AB08', 'No virtual key is known by this id.')

describe.each(KINDS)('virtual keys on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  let count = 0
  beforeAll(async () => {
    admin = await startAdmin({kind, operations: [...integrations, ...providers, ...virtualKeys]})
    other = await admin.foreign()
  })
  afterAll(() => admin.close())

  const create = async (body: object = {}) => {
    const slug = `vk-${++count}`
    const reply = await admin.asWorkspace('POST', '/v1/virtual-keys', {
      name: 'Made',
      slug,
      provider: 'openai',
      key: 'sk-canary-key-0123456789',
      ...body,
    })
    expect([reply.status, reply.body]).toEqual([200, {success: true, data: {slug}}])
    return slug
  }
  const called = async (slug: string) => (await findProviderForCall(admin.store.db, admin.workspace_id, slug))!
  const opened = async (slug: string) => openCredentials(admin.services.seal, (await called(slug)).integration)

  test('one is created with its credential, shown without it, and can be called', async () => {
    admin.published.splice(0)
    const slug = await create({note: 'N', rate_limits: {type: 'tokens', unit: 'rpd', value: 5}})
    expect(admin.published).toEqual(['integrations', 'providers'])
    const {body, text} = await admin.asWorkspace('GET', `/v1/virtual-keys/${slug}`)
    expect(body).toEqual({
      id: expect.any(String),
      name: 'Made',
      note: 'N',
      status: 'active',
      usage_limits: null,
      rate_limits: [{type: 'tokens', unit: 'rpd', value: 5}],
      reset_usage: null,
      expires_at: null,
      created_at: '2026-03-04T05:06:07.000Z',
      last_updated_at: '2026-03-04T05:06:07.000Z',
      slug,
      workspace_id: admin.workspace_id,
      tags: {},
      provider: 'openai',
      model_config: {},
      masked_key: 'sk-•••••6789',
      secret_mappings: [],
      object: 'virtual-key',
    })
    expect(text).not.toContain('canary')
    expect(await called(slug)).toMatchObject({
      integration: {enabled: true, ai_provider_id: 'openai', trusts_host: false},
    })
    expect(await opened(slug)).toEqual({key: 'sk-canary-key-0123456789', configurations: {}})
    const deed = (await admin.auditLog()).at(-1)!
    expect(deed).toMatchObject({
      resource_type: 'virtual-key',
      resource_id: body.id,
      action: 'create',
      workspace_id: admin.workspace_id,
    })
  })

  test('its integration is nowhere to be seen, and the provider is', async () => {
    const slug = await create()
    const {integration} = await called(slug)
    for (const named of [integration.id, integration.slug])
      expect((await admin.asAdmin('GET', `/v1/integrations/${named}`)).status).toBe(404)
    expect((await admin.asAdmin('GET', '/v1/integrations')).body.data).toEqual([])
    expect(
      (
        await admin.asAdmin('POST', '/v1/providers', {
          name: 'X',
          integration_id: integration.id,
          workspace_id: admin.workspace_id,
        })
      ).status,
    ).toBe(404)
    expect((await admin.asWorkspace('GET', `/v1/providers/${slug}`)).body).toMatchObject({
      slug,
      integration_id: integration.id,
      object: 'provider',
    })
  })

  test('they are listed with the providers made otherwise', async () => {
    const slug = await create({tags: {suite: 'list'}})
    await admin.asWorkspace('POST', '/v1/integrations', {
      name: 'I',
      slug: 'plain',
      ai_provider_id: 'groq',
      configurations: {openai_project: 'p'},
    })
    const {body} = await admin.asWorkspace('GET', '/v1/virtual-keys?current_page=0&page_size=100')
    expect(body).toMatchObject({object: 'list', total: count + 1})
    expect(body.data.find((row: {slug: string}) => row.slug === 'plain')).toMatchObject({
      provider: 'groq',
      model_config: {},
      object: 'virtual-key',
    })
    expect((await admin.asWorkspace('GET', '/v1/virtual-keys?tags={"suite":"list"}')).body.data).toMatchObject([{slug}])
  })

  test('the settings of a kind are taken under their newer names and their older ones', async () => {
    const older = {
      resourceName: 'res',
      deploymentConfig: [{apiVersion: '2024-10-21', deploymentName: 'gpt', alias: 'main', is_default: true}],
    }
    const slug = await create({provider: 'azure-openai', ...older})
    const configurations = {
      azure_auth_mode: 'default',
      azure_resource_name: 'res',
      azure_deployment_config: [
        {
          alias: 'main',
          azure_api_version: '2024-10-21',
          azure_deployment_name: 'gpt',
          azure_model_slug: 'main',
          is_default: true,
        },
      ],
    }
    expect((await admin.asWorkspace('GET', `/v1/virtual-keys/${slug}`)).body.model_config).toEqual(configurations)
    const newer = await create({provider: 'azure-openai', model_config: configurations})
    expect((await opened(newer)).configurations).toEqual(configurations)
    const vertex = {vertex_auth_type: 'basic', vertex_region: 'europe-west1', vertex_project_id: 'p'}
    const third = await create({provider: 'vertex-ai', model_config: vertex, skipPtuCostAttribution: true})
    expect((await opened(third)).configurations).toEqual({...vertex, vertex_skip_ptu_cost_attribution: true})
  })

  test('a change of the key or the settings changes these alone', async () => {
    const slug = await create({model_config: {custom_headers: {'x-token': 'canary-header-0123456789'}}})
    const path = `/v1/virtual-keys/${slug}`
    expect((await admin.asWorkspace('PUT', path, {key: 'sk-canary-new-0123456789'})).body).toEqual({})
    const custom_headers = {'x-token': 'canary-header-0123456789'}
    expect(await opened(slug)).toEqual({key: 'sk-canary-new-0123456789', configurations: {custom_headers}})
    const {model_config} = (await admin.asWorkspace('GET', path)).body
    expect(model_config).toEqual({custom_headers: {'x-token': 'can•••••6789'}})
    await admin.asWorkspace('PUT', path, {
      key: 'sk-•••••6789',
      model_config: {...model_config, openai_project: 'p'},
      name: 'New',
    })
    expect(await opened(slug)).toEqual({
      key: 'sk-canary-new-0123456789',
      configurations: {custom_headers, openai_project: 'p'},
    })
    expect((await admin.asWorkspace('GET', path)).body.name).toBe('New')
  })

  test('the key of a shared integration is not changed through one of its providers', async () => {
    await admin.asWorkspace('POST', '/v1/integrations', {
      name: 'I',
      slug: 'its-own',
      ai_provider_id: 'openai',
      key: 'sk-canary-key-0123456789',
    })
    const reply = await admin.asWorkspace('PUT', '/v1/virtual-keys/its-own', {key: 'sk-other'})
    expect([reply.status, reply.body]).toEqual([
      400,
      refusal('AB01', 'key: belongs to the integration its-own and is changed there.'),
    ])
    expect((await admin.asWorkspace('PUT', '/v1/virtual-keys/its-own', {note: 'fine'})).status).toBe(200)
  })

  test('deleting one archives its integration with it, and frees the slug', async () => {
    const slug = await create()
    const {integration} = await called(slug)
    expect((await admin.asWorkspace('DELETE', `/v1/virtual-keys/${slug}`)).body).toEqual({})
    const {status} = await admin.store.db
      .selectFrom('integrations')
      .select('status')
      .where('id', '=', integration.id)
      .executeTakeFirstOrThrow()
    expect(status).toBe('archived')
    expect((await admin.asWorkspace('GET', `/v1/virtual-keys/${slug}`)).body).toEqual(absent)
    count--
    await create()
  })

  test.each<[string, object?]>([['GET'], ['PUT', {name: 'X'}], ['DELETE']])(
    '%s of a foreign one answers as for none',
    async (method, body) => {
      const slug = await create()
      for (const [key, named] of [
        [other.admin.key, slug],
        [other.key.key, slug],
        [admin.workspace_key, 'none'],
      ] as const) {
        const reply = await admin.send(key, method, `/v1/virtual-keys/${named}`, body)
        expect([reply.status, reply.body]).toEqual([404, absent])
      }
    },
  )

  test.each<[string, object, number, RegExp]>([
    [
      'an unknown kind, with the nearest',
      {provider: 'anthropc'},
      400,
      /^provider: no kind of provider is called so; did you mean anthropic\?$/,
    ],
    ['settings of another kind', {resourceName: 'res'}, 400, /azure_resource_name/],
    [
      'a private host from a workspace key',
      {model_config: {custom_host: 'http://192.168.0.2/v1'}},
      400,
      /^Invalid custom host/,
    ],
    ['a slug that is taken', {slug: 'taken'}, 409, /^The slug taken is taken by another virtual key\.$/],
    [
      'a secret reference that nobody knows',
      {secret_mappings: [{target_field: 'key', secret_reference_id: 'x'}]},
      404,
      /^secret_mappings\[0\]\.secret_reference_id: no secret reference is known by the id x\.$/,
    ],
    [
      'a secret for a field that there is not',
      {secret_mappings: [{target_field: 'configurations.x', secret_reference_id: 'x'}]},
      400,
      /^secret_mappings\[0\]\.target_field: expected key or model_config\.NAME\.$/,
    ],
    ['no kind', {provider: undefined}, 400, /^provider: is required/],
  ])('creating refuses %s, and keeps nothing of it', async (_, body, status, message) => {
    await admin.asWorkspace('POST', '/v1/virtual-keys', {name: 'T', slug: 'taken', provider: 'openai', key: 'sk'})
    const integrationsNow = async () => (await admin.store.db.selectFrom('integrations').select('id').execute()).length
    const before = await integrationsNow()
    const reply = await admin.asWorkspace('POST', '/v1/virtual-keys', {
      name: 'Made',
      provider: 'openai',
      key: 'sk-canary',
      ...body,
    })
    expect([reply.status, reply.body.data.message]).toEqual([status, expect.stringMatching(message)])
    expect(reply.text).not.toContain('canary')
    expect(await integrationsNow()).toBe(before)
  })

  test('an admin key may name a private host, which is then trusted', async () => {
    const body = {
      name: 'Local',
      slug: 'local',
      provider: 'openai',
      workspace_id: admin.workspace_id,
      model_config: {custom_host: 'http://10.0.0.9:8000/v1'},
    }
    expect((await admin.asAdmin('POST', '/v1/virtual-keys', body)).status).toBe(200)
    expect((await called('local')).integration).toMatchObject({trusts_host: true, key_sealed: null})
  })

  test('no secret stands in the database in plain, in the audit log neither', async () => {
    const contents = await contentsOf(admin.store)
    expect(contents).toContain('vk-1')
    expect(contents.match(/sk-canary[\w-]*|canary-header[\w-]*/g)).toBeNull()
  })
})
