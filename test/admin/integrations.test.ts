import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {integrationAccess} from '../../src/admin/integrations/access.ts'
import {offerGlobalIntegrations} from '../../src/admin/integrations/default-provider.ts'
import {integrations} from '../../src/admin/integrations/integrations.ts'
import {integrationModels} from '../../src/admin/integrations/models.ts'
import {providers} from '../../src/admin/providers.ts'
import {openCredentials} from '../../src/store/integrations.ts'
import {findProviderForCall} from '../../src/store/providers.ts'
import {revisions} from '../../src/store/revisions.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {contentsOf} from '../support/database-contents.ts'
import {KINDS} from '../support/stores.ts'

const operations = [...integrations, ...integrationAccess, ...integrationModels, ...providers]
const absent = refusal('AB08', 'No integration is known by this id.')

describe.each(KINDS)('integrations on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  let count = 0
  beforeAll(async () => {
    admin = await startAdmin({kind, operations})
    other = await admin.foreign()
  })
  afterAll(() => admin.close())
  beforeEach(() => void admin.published.splice(0))

  const create = async (body: object = {}, as = admin.asAdmin) => {
    const slug = `made-${++count}`
    const reply = await as('POST', '/v1/integrations', {name: 'Made', slug, ai_provider_id: 'openai', ...body})
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('"id"')])
    return reply.body as {id: string; slug: string}
  }
  const row = async (id: string) =>
    admin.store.db.selectFrom('integrations').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const said = async (as: Admin['asAdmin'], method: string, path: string, body?: unknown) => {
    const reply = await as(method, path, body)
    return [reply.status, reply.body]
  }

  describe('creating one', () => {
    test('answers its id and slug, announces it, and leaves an audit row', async () => {
      const {id, slug} = await create({key: 'sk-canary-0123456789abcdef'})
      expect(slug).toBe(`made-${count}`)
      expect(admin.published).toEqual(['integrations'])
      expect((await revisions(admin.store.db)).get('integrations')).toBeGreaterThan(0)
      const audit = (await admin.auditLog()).at(-1)!
      expect(audit).toMatchObject({
        resource_type: 'integration',
        resource_id: id,
        action: 'create',
        workspace_id: null,
        status: 200,
      })
      expect(JSON.stringify(audit)).not.toContain('canary')
    })

    test('makes a slug of the name when none is given', async () => {
      const reply = await admin.asAdmin('POST', '/v1/integrations', {
        name: 'Our OpenAI account',
        ai_provider_id: 'openai',
      })
      expect(reply.body.slug).toMatch(/^our-openai-[0-9a-f]{6}$/)
    })

    test('by an admin key without a workspace makes one of the organisation, and no provider', async () => {
      const {id} = await create()
      expect(await row(id)).toMatchObject({workspace_id: null, allow_all_models: 1, is_hidden: 0, trusts_host: 0})
      expect(admin.published).not.toContain('providers')
    })

    test('by a workspace key makes one of that workspace, and a provider there that is called as it is', async () => {
      const {id, slug} = await create({}, admin.asWorkspace)
      expect((await row(id)).workspace_id).toBe(admin.workspace_id)
      expect(admin.published).toEqual(['integrations', 'providers'])
      const called = await findProviderForCall(admin.store.db, admin.workspace_id, slug)
      expect(called).toMatchObject({slug, status: 'active', integration: {id, enabled: true, ai_provider_id: 'openai'}})
    })

    test('by an admin key with a workspace does the same, under the slug that is asked, or none', async () => {
      const {id} = await create({workspace_id: admin.workspace_slug, default_provider_slug: `asked-${count}`})
      expect(await findProviderForCall(admin.store.db, admin.workspace_id, `asked-${count - 1}`)).toMatchObject({
        integration: {id},
      })
      const bare = await create({workspace_id: admin.workspace_id, create_default_provider: false})
      expect(await findProviderForCall(admin.store.db, admin.workspace_id, bare.slug)).toBeUndefined()
    })

    test.each<[string, object, number, string, RegExp]>([
      [
        'an unknown kind, with the nearest',
        {ai_provider_id: 'opnai'},
        400,
        'AB01',
        /^ai_provider_id: no kind of provider is called so; did you mean openai\?$/,
      ],
      ['a slug of other characters', {slug: 'a b'}, 400, 'AB01', /^slug: /],
      ['a slug of 256 characters', {slug: 'a'.repeat(256)}, 400, 'AB01', /^slug: must have at most 255/],
      ['a name of 256 characters', {name: 'a'.repeat(256)}, 400, 'AB01', /^name: must have at most 255/],
      ['no name', {name: undefined}, 400, 'AB01', /^name: is required/],
      ['an unknown field, with the nearest', {descripton: 'x'}, 400, 'AB01', /description/],
      [
        'a key over two lines',
        {key: 'sk-canary\nx'},
        400,
        'AB01',
        /^key: expected visible ASCII characters on one line\.$/,
      ],
      ['the mask of a key', {key: 'sk-•••••cdef'}, 400, 'AB01', /^key: is the mask of a key, not a key\.$/],
      ['a setting the kind has not', {configurations: {aws_region: 'x'}}, 400, 'AB01', /^configurations.*aws_region/],
      [
        'a setting that is missing',
        {ai_provider_id: 'bedrock', configurations: {aws_region: 'x'}},
        400,
        'AB01',
        /^configurations\.aws_auth_type: is required/,
      ],
      [
        'a login without its parts',
        {ai_provider_id: 'bedrock', configurations: {aws_region: 'x', aws_auth_type: 'assumedRole'}},
        400,
        'AB01',
        /aws_role_arn: is needed where aws_auth_type is assumedRole/,
      ],
      [
        'a header of the connection',
        {configurations: {custom_headers: {'Content-Length': '1'}}},
        400,
        'AB01',
        /is set by the connection itself/,
      ],
      [
        'a metadata address',
        {configurations: {custom_host: 'http://169.254.169.254/v1'}},
        400,
        'AB01',
        /^Invalid custom host: it is a cloud metadata/,
      ],
      [
        'a risky port',
        {configurations: {custom_host: 'http://10.0.0.1:6379'}},
        400,
        'AB01',
        /^Invalid custom host: port 6379/,
      ],
      [
        'a secret reference that nobody knows',
        {secret_mappings: [{target_field: 'key', secret_reference_id: 'x'}]},
        404,
        'AB02',
        /^secret_mappings\[0\]\.secret_reference_id: no secret reference is known by the id x\.$/,
      ],
      [
        'a secret for a field that there is not',
        {secret_mappings: [{target_field: 'name', secret_reference_id: 'x'}]},
        400,
        'AB01',
        /^secret_mappings\[0\]\.target_field: expected key or configurations\.NAME\.$/,
      ],
      [
        'price adjustments',
        {pricing_adjustments: {multiplier: {default: 2}}},
        400,
        'AB01',
        /^pricing_adjustments: pricing adjustments are not available in this version\.$/,
      ],
      ['an unknown workspace', {workspace_id: 'ws-none'}, 404, 'AB08', /^No workspace is known by this id\.$/],
      [
        'a slug for a provider nowhere',
        {default_provider_slug: 'x'},
        400,
        'AB01',
        /^default_provider_slug: takes effect with workspace_id alone\.$/,
      ],
      [
        'too many tags',
        {tags: Object.fromEntries(Array.from({length: 51}, (_, at) => [`t${at}`, '']))},
        400,
        'AB01',
        /^tags: expected at most 50 tags\.$/,
      ],
      ['a tag with a quote in its name', {tags: {'a"b': ''}}, 400, 'AB01', /^tags/],
    ])('refuses %s', async (_, body, status, code, message) => {
      const reply = await admin.asAdmin('POST', '/v1/integrations', {name: 'Made', ai_provider_id: 'openai', ...body})
      expect([reply.status, reply.body.data]).toEqual([
        status,
        {errorCode: code, message: expect.stringMatching(message)},
      ])
      expect(reply.text).not.toContain('canary')
      expect(admin.published).toEqual([])
    })

    test('refuses a slug that the organisation has, and no more once that is archived', async () => {
      const {slug} = await create()
      const again = {name: 'B', ai_provider_id: 'openai', slug}
      expect(await said(admin.asAdmin, 'POST', '/v1/integrations', again)).toEqual([
        409,
        refusal('AB07', `The slug ${slug} is taken by another integration.`),
      ])
      await admin.asAdmin('DELETE', `/v1/integrations/${slug}`)
      expect((await admin.asAdmin('POST', '/v1/integrations', again)).status).toBe(200)
    })

    test('two organisations may have the same slug', async () => {
      const {slug} = await create()
      expect(
        (await admin.send(other.admin.key, 'POST', '/v1/integrations', {name: 'B', ai_provider_id: 'openai', slug}))
          .status,
      ).toBe(200)
    })

    test('refuses a provider slug that the workspace has', async () => {
      const {slug} = await create({}, admin.asWorkspace)
      const reply = await said(admin.asWorkspace, 'POST', '/v1/integrations', {
        name: 'B',
        ai_provider_id: 'openai',
        default_provider_slug: slug,
      })
      expect(reply).toEqual([409, refusal('AB07', `The slug ${slug} is taken by another provider.`)])
    })

    test('for the organisation needs the scope for those, whatever other scopes there are', async () => {
      const {key} = await admin.seedKey(
        {organisation_id: admin.organisation_id},
        {scopes: ['workspace_integrations.create']},
      )
      const body = {name: 'B', ai_provider_id: 'openai'}
      expect((await admin.send(key, 'POST', '/v1/integrations', body)).body.data.message).toMatch(
        /organisation_integrations\.create/,
      )
      expect(
        (await admin.send(key, 'POST', '/v1/integrations', {...body, workspace_id: admin.workspace_id})).status,
      ).toBe(200)
    })
  })

  describe('a host of its own', () => {
    const host = {configurations: {custom_host: 'http://10.1.2.3:8000/v1'}}

    test('may be private when an admin key names it, and is trusted then', async () => {
      expect(await row((await create(host)).id)).toMatchObject({trusts_host: 1})
    })

    test('may not be private when a workspace key names it', async () => {
      const reply = await admin.asWorkspace('POST', '/v1/integrations', {name: 'B', ai_provider_id: 'openai', ...host})
      expect([reply.status, reply.body.data.message]).toEqual([
        400,
        expect.stringMatching(/^Invalid custom host: it is a private or reserved address/),
      ])
      const open = await create({configurations: {custom_host: 'https://models.example.com/v1'}}, admin.asWorkspace)
      expect(await row(open.id)).toMatchObject({trusts_host: 0})
    })

    test('keeps its trust while a workspace key leaves it, and loses it with the host', async () => {
      const {id, slug} = await create({workspace_id: admin.workspace_id, ...host})
      const same = {configurations: {...host.configurations, openai_project: 'p'}}
      expect((await admin.asWorkspace('PUT', `/v1/integrations/${slug}`, same)).status).toBe(200)
      expect(await row(id)).toMatchObject({trusts_host: 1})
      const moved = {configurations: {custom_host: 'http://10.1.2.4:8000/v1'}}
      expect((await admin.asWorkspace('PUT', `/v1/integrations/${slug}`, moved)).status).toBe(400)
      expect((await admin.asWorkspace('PUT', `/v1/integrations/${slug}`, {configurations: {}})).status).toBe(200)
      expect(await row(id)).toMatchObject({trusts_host: 0})
      expect((await admin.asWorkspace('PUT', `/v1/integrations/${slug}`, host)).status).toBe(400)
    })
  })

  describe('secrets', () => {
    const secret = {
      key: 'sk-canary-key-0123456789',
      configurations: {custom_headers: {'x-tenant-token': 'canary-header-0123456789'}, openai_organization: 'org-1'},
    }

    test('are shown masked, and open for a call', async () => {
      const {id, slug} = await create(secret)
      const {body, text} = await admin.asAdmin('GET', `/v1/integrations/${slug}`)
      expect(text).not.toContain('canary')
      expect(body).toMatchObject({
        masked_key: 'sk-•••••6789',
        configurations: {custom_headers: {'x-tenant-token': 'can•••••6789'}, openai_organization: 'org-1'},
      })
      expect(openCredentials(admin.services.seal, await row(id))).toEqual(secret)
    })

    test('stay what they are when their masks come back, and change when others do', async () => {
      const {id, slug} = await create(secret)
      const {masked_key: key, configurations} = (await admin.asAdmin('GET', `/v1/integrations/${slug}`)).body
      await admin.asAdmin('PUT', `/v1/integrations/${slug}`, {
        key,
        configurations: {...configurations, openai_project: 'p'},
      })
      const settings = {...secret.configurations, openai_project: 'p'}
      expect(openCredentials(admin.services.seal, await row(id))).toEqual({key: secret.key, configurations: settings})
      await admin.asAdmin('PUT', `/v1/integrations/${slug}`, {key: 'sk-canary-new'})
      expect(openCredentials(admin.services.seal, await row(id))).toEqual({
        key: 'sk-canary-new',
        configurations: settings,
      })
      const mask = {configurations: {custom_headers: {'x-other': 'can•••••6789'}}}
      expect((await admin.asAdmin('PUT', `/v1/integrations/${slug}`, mask)).body).toEqual(
        refusal('AB01', 'configurations.custom_headers: holds the mask of a secret, not a secret.'),
      )
      await admin.asAdmin('PUT', `/v1/integrations/${slug}`, {key: null, configurations: {}})
      expect(openCredentials(admin.services.seal, await row(id))).toEqual({key: null, configurations: {}})
    })

    test('are short ones too: nothing of them is shown', async () => {
      const {slug} = await create({key: 'canary'})
      expect((await admin.asAdmin('GET', `/v1/integrations/${slug}`)).body.masked_key).toBe('•••••')
    })

    test('are sealed for their row: in another they do not open', async () => {
      const [one, two] = [await row((await create(secret)).id), await row((await create()).id)]
      expect(() => openCredentials(admin.services.seal, {...one, id: two.id})).toThrow(/altered or moved/)
    })
  })

  describe('reading', () => {
    test('shows all of one', async () => {
      const {id, slug} = await create({description: 'Shared', tags: {team: 'search'}})
      for (const named of [slug, id]) {
        expect((await admin.asAdmin('GET', `/v1/integrations/${named}`)).body).toEqual({
          id,
          organisation_id: admin.organisation_id,
          workspace_id: null,
          type: 'organisation',
          ai_provider_id: 'openai',
          name: 'Made',
          status: 'active',
          created_at: '2026-03-04T05:06:07.000Z',
          last_updated_at: '2026-03-04T05:06:07.000Z',
          slug,
          description: 'Shared',
          tags: {team: 'search'},
          object: 'integration',
          masked_key: null,
          configurations: {},
          global_workspace_access_settings: {enabled: false, usage_limits: null, rate_limits: null},
          allow_all_models: true,
          workspace_count: 0,
          secret_mappings: [],
          pricing_adjustments: null,
        })
      }
    })

    test('lists a page, of a type, of a workspace, by tags', async () => {
      const tags = {suite: 'list "quoted"'}
      const one = await create({tags: {...tags, env: 'a'}})
      const two = await create({tags: {...tags, env: 'A'}, workspace_id: admin.workspace_id})
      const far = await create({tags, workspace_id: (await admin.seedWorkspace(admin.organisation_id)).id})
      const slugs = async (query: string, as = admin.asAdmin) => {
        const {body} = await as('GET', `/v1/integrations?tags=${encodeURIComponent(JSON.stringify(tags))}${query}`)
        return body.data.map((row: {slug: string}) => row.slug).sort()
      }
      expect(await slugs('')).toEqual([one.slug, two.slug, far.slug].sort())
      expect(await slugs('&type=organisation')).toEqual([one.slug])
      expect(await slugs('&type=workspace')).toEqual([two.slug, far.slug].sort())
      expect(await slugs(`&workspace_id=${admin.workspace_slug}`)).toEqual([two.slug])
      expect(await slugs('', admin.asWorkspace)).toEqual([two.slug])
      await admin.asAdmin('PUT', `/v1/integrations/${one.slug}/workspaces`, {
        workspaces: [{id: admin.workspace_id, enabled: true}],
      })
      expect(await slugs('', admin.asWorkspace)).toEqual([one.slug, two.slug].sort())
      const {body} = await admin.asAdmin('GET', `/v1/integrations?tags=${encodeURIComponent('{"env":"a"}')}`)
      expect(body).toMatchObject({object: 'list', total: 1, data: [{slug: one.slug, object: 'integration'}]})
      const page = await admin.asAdmin('GET', '/v1/integrations?page_size=2&current_page=1')
      expect(page.body.data).toHaveLength(2)
      expect(page.body.total).toBeGreaterThan(3)
    })

    test.each([
      'tags=team',
      'tags={"a":1}',
      'tags=[]',
      'type=all2',
      'page_size=0',
      'page_size=1001',
      'current_page=-1',
      'search=x',
    ])('refuses the query %s', async query => {
      expect((await admin.asAdmin('GET', `/v1/integrations?${query}`)).status).toBe(400)
    })

    test('lists of each type only what the key has the scope for', async () => {
      const {key} = await admin.seedKey(
        {organisation_id: admin.organisation_id},
        {scopes: ['workspace_integrations.list']},
      )
      const {body} = await admin.send(key, 'GET', '/v1/integrations?page_size=1000')
      expect(new Set(body.data.map((row: {type: string}) => row.type))).toEqual(new Set(['workspace']))
      expect((await admin.send(key, 'GET', '/v1/integrations?type=organisation')).status).toBe(403)
    })
  })

  describe('who reaches one', () => {
    const uses: readonly [string, string, object?][] = [
      ['GET', ''],
      ['PUT', '', {name: 'X'}],
      ['DELETE', ''],
      ['GET', '/models'],
      ['PUT', '/models', {models: []}],
      ['DELETE', '/models?slugs=a'],
      ['GET', '/workspaces'],
      ['PUT', '/workspaces', {global_workspace_access: {enabled: true}}],
    ]

    test.each(uses)('%s %s of another organisation answers as for none', async (method, path, body) => {
      const {slug, id} = await create()
      for (const named of ['none', slug, id]) {
        const reply = await admin.send(other.admin.key, method, `/v1/integrations/${named}${path}`, body)
        expect([reply.status, reply.body]).toEqual([404, absent])
      }
    })

    test.each(uses)(
      '%s %s of another workspace, and of the organisation, answers a workspace key as for none',
      async (method, path, body) => {
        const far = await create({workspace_id: (await admin.seedWorkspace(admin.organisation_id)).id})
        const shared = await create()
        await admin.asAdmin('PUT', `/v1/integrations/${shared.slug}/workspaces`, {
          workspaces: [{id: admin.workspace_id, enabled: true}],
        })
        for (const {slug} of [far, shared]) {
          expect(await said(admin.asWorkspace, method, `/v1/integrations/${slug}${path}`, body)).toEqual([404, absent])
        }
      },
    )

    test('a workspace key does all with its own', async () => {
      const {slug} = await create({}, admin.asWorkspace)
      for (const [method, path, body] of uses.filter(([method]) => method !== 'DELETE')) {
        const reply = await admin.asWorkspace(method, `/v1/integrations/${slug}${path}`, body)
        expect(reply.status, `${method} ${path}`).toBe(path === '/workspaces' && method === 'PUT' ? 400 : 200)
      }
      expect((await admin.asWorkspace('DELETE', `/v1/integrations/${slug}`)).status).toBe(200)
    })
  })

  test('changing one leaves what is not given', async () => {
    const {id, slug} = await create({key: 'sk-canary-key-0123456789', tags: {a: '1'}, description: 'D'})
    const before = await row(id)
    admin.at('2026-03-04T06:00:00.000Z')
    expect(await said(admin.asAdmin, 'PUT', `/v1/integrations/${slug}`, {name: 'New'})).toEqual([200, {}])
    expect(await row(id)).toEqual({...before, name: 'New', last_updated_at: '2026-03-04T06:00:00.000Z'})
    expect((await admin.asAdmin('PUT', `/v1/integrations/${slug}`, {slug: 'other'})).status).toBe(400)
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      resource_type: 'integration',
      resource_id: id,
      action: 'update',
    })
    admin.at('2026-03-04T05:06:07.000Z')
  })

  test('archiving one takes its providers out of service', async () => {
    const {id, slug} = await create({}, admin.asWorkspace)
    expect(await said(admin.asWorkspace, 'DELETE', `/v1/integrations/${slug}`)).toEqual([200, {}])
    expect(admin.published.slice(-2)).toEqual(['integrations', 'providers'])
    expect((await row(id)).status).toBe('archived')
    expect(await said(admin.asWorkspace, 'GET', `/v1/integrations/${id}`)).toEqual([404, absent])
    expect((await admin.asWorkspace('GET', `/v1/providers/${slug}`)).status).toBe(404)
    expect(await findProviderForCall(admin.store.db, admin.workspace_id, slug)).toBeUndefined()
    const deeds = (await admin.auditLog()).filter(deed => deed.resource_id === id)
    expect(deeds.find(deed => deed.action === 'delete')).toMatchObject({
      resource_type: 'integration',
      workspace_id: admin.workspace_id,
    })
  })

  describe('models', () => {
    const price = {type: 'static', pay_as_you_go: {request_token: {price: 0.00025}, response_token: {price: 0.001}}}

    test('are written by name, what is not given stays, and custom ones can be removed', async () => {
      const {slug} = await create()
      const path = `/v1/integrations/${slug}/models`
      const own = {
        slug: 'ft:own',
        enabled: true,
        is_custom: true,
        is_finetune: true,
        base_model_slug: 'gpt-4o',
        pricing_config: price,
      }
      expect(
        await said(admin.asAdmin, 'PUT', path, {
          models: [own, {slug: 'gpt-4o', enabled: false}],
          allow_all_models: false,
        }),
      ).toEqual([200, {}])
      await admin.asAdmin('PUT', path, {models: [{slug: 'ft:own', enabled: false}]})
      expect((await admin.asAdmin('GET', path)).body).toEqual({
        total: 2,
        models: [
          {...own, name: 'ft:own', enabled: false},
          {
            slug: 'gpt-4o',
            name: 'gpt-4o',
            enabled: false,
            is_custom: false,
            is_finetune: false,
            base_model_slug: null,
            pricing_config: null,
          },
        ],
      })
      expect((await admin.asAdmin('GET', `/v1/integrations/${slug}`)).body.allow_all_models).toBe(false)
      expect(await said(admin.asAdmin, 'DELETE', `${path}?slugs=ft:own,gpt-4o,none`)).toEqual([200, {}])
      expect((await admin.asAdmin('GET', path)).body.models.map((model: {slug: string}) => model.slug)).toEqual([
        'gpt-4o',
      ])
      expect(admin.published.at(-1)).toBe('integrations')
    })

    test.each<[string, object, RegExp]>([
      ['no list', {}, /^models: is required/],
      [
        'a model twice',
        {
          models: [
            {slug: 'a', enabled: true},
            {slug: 'a', enabled: false},
          ],
        },
        /^models: names a model twice/,
      ],
      [
        'a place of a model that says nothing',
        {models: [{slug: 'a', enabled: true, configurations: {}}]},
        /models\[0\]\.configurations/,
      ],
      [
        'a price below zero',
        {models: [{slug: 'a', enabled: true, pricing_config: {pay_as_you_go: {request_token: {price: -1}}}}]},
        /^models\[0\]\.pricing_config\.pay_as_you_go\.request_token\.price: /,
      ],
      [
        'a price of an unknown thing',
        {models: [{slug: 'a', enabled: true, pricing_config: {pay_as_you_go: {tokens: {price: 1}}}}]},
        /^models\[0\]\.pricing_config/,
      ],
    ])('refuse %s', async (_, body, message) => {
      const {slug} = await create()
      const reply = await admin.asAdmin('PUT', `/v1/integrations/${slug}/models`, body)
      expect([reply.status, reply.body.data.message]).toEqual([400, expect.stringMatching(message)])
      expect((await admin.asAdmin('GET', `/v1/integrations/${slug}/models`)).body.total).toBe(0)
    })

    test.each(['', '?slugs=', '?slugs=,,'])('refuse to be removed by %j', async query => {
      const {slug} = await create()
      expect((await admin.asAdmin('DELETE', `/v1/integrations/${slug}/models${query}`)).status).toBe(400)
    })
  })

  describe('workspaces', () => {
    const budget = {
      type: 'cost',
      credit_limit: 10,
      alert_threshold: 5,
      periodic_reset: 'monthly',
      periodic_reset_days: null,
      next_usage_reset_at: null,
    }
    const rate = {type: 'requests', unit: 'rpm', value: 5}
    const put = (slug: string, body: object) => admin.asAdmin('PUT', `/v1/integrations/${slug}/workspaces`, body)
    const open = async (slug: string) => {
      const {body} = await admin.asAdmin('GET', `/v1/integrations/${slug}/workspaces`)
      return Object.fromEntries(body.workspaces.map((each: {id: string; enabled: boolean}) => [each.id, each.enabled]))
    }

    test('are opened with limits, each with a provider, and merged', async () => {
      const {id, slug} = await create()
      const far = await admin.seedWorkspace(admin.organisation_id)
      expect(
        (
          await put(slug, {
            workspaces: [{id: admin.workspace_slug, enabled: true, usage_limits: [budget], rate_limits: [rate]}],
          })
        ).body,
      ).toEqual({})
      expect(admin.published).toContain('providers')
      expect((await admin.asAdmin('GET', `/v1/integrations/${slug}/workspaces`)).body).toEqual({
        total: 1,
        workspaces: [
          {
            id: admin.workspace_id,
            slug: admin.workspace_slug,
            name: expect.any(String),
            enabled: true,
            usage_limits: [{...budget, current_usage: 0, status: 'active'}],
            rate_limits: [rate],
          },
        ],
      })
      await put(slug, {workspaces: [{id: far.id, enabled: true}], default_provider_slug: 'here'})
      expect(await open(slug)).toEqual({[admin.workspace_id]: true, [far.id]: true})
      expect(await findProviderForCall(admin.store.db, far.id, 'here')).toMatchObject({
        integration: {id, enabled: true},
      })
      expect(await findProviderForCall(admin.store.db, admin.workspace_id, slug)).toMatchObject({
        integration: {
          enabled: true,
          usage_limits: expect.stringContaining('"credit_limit":10'),
          rate_limits: expect.stringContaining('rpm'),
        },
      })
      expect((await admin.asAdmin('GET', `/v1/integrations/${slug}`)).body.workspace_count).toBe(2)
    })

    test('are closed: the provider stays, and cannot be called', async () => {
      const {slug} = await create()
      await put(slug, {workspaces: [{id: admin.workspace_id, enabled: true}]})
      await put(slug, {workspaces: [{id: admin.workspace_id, enabled: false}]})
      expect(await findProviderForCall(admin.store.db, admin.workspace_id, slug)).toMatchObject({
        integration: {enabled: false},
      })
      await put(slug, {workspaces: [{id: admin.workspace_id, enabled: true}]})
      const own = await admin.store.db
        .selectFrom('providers')
        .select('slug')
        .where('workspace_id', '=', admin.workspace_id)
        .where('slug', 'like', `${slug}%`)
        .execute()
      expect(own).toHaveLength(1)
    })

    test('are replaced by an override, which alone takes an empty list', async () => {
      const {slug} = await create()
      const far = await admin.seedWorkspace(admin.organisation_id)
      await put(slug, {
        workspaces: [
          {id: admin.workspace_id, enabled: true},
          {id: far.id, enabled: true},
        ],
      })
      await put(slug, {workspaces: [{id: far.id, enabled: true}], override_existing_workspace_access: true})
      expect(await open(slug)).toEqual({[far.id]: true})
      expect((await put(slug, {workspaces: []})).body).toEqual(
        refusal('AB01', 'workspaces: an empty list is taken with override_existing_workspace_access alone.'),
      )
      expect((await put(slug, {workspaces: [], override_existing_workspace_access: true})).status).toBe(200)
      expect(await open(slug)).toEqual({})
    })

    test('all have it with global access: those that are, but for the ones closed by name, and those that come', async () => {
      const {slug} = await create()
      const [closed, far] = [
        await admin.seedWorkspace(admin.organisation_id),
        await admin.seedWorkspace(admin.organisation_id),
      ]
      const workspaces = [{id: closed.id, enabled: false}]
      const access = {enabled: true, usage_limits: [budget], rate_limits: null}
      expect(
        (await put(slug, {workspaces, global_workspace_access: access, default_provider_slug: `all-${count}`})).status,
      ).toBe(200)
      expect(await open(slug)).toMatchObject({[closed.id]: false, [far.id]: true, [admin.workspace_id]: true})
      expect((await admin.asAdmin('GET', `/v1/integrations/${slug}`)).body.global_workspace_access_settings).toEqual(
        access,
      )
      expect(await findProviderForCall(admin.store.db, far.id, `all-${count}`)).toMatchObject({
        integration: {enabled: true, usage_limits: expect.stringContaining('"credit_limit":10')},
      })
      expect(await findProviderForCall(admin.store.db, closed.id, `all-${count}`)).toBeUndefined()
      const late = await admin.seedWorkspace(admin.organisation_id)
      await offerGlobalIntegrations(admin.store.db, late, '2026-03-04T05:06:07.000Z')
      expect(await findProviderForCall(admin.store.db, late.id, `all-${count}`)).toMatchObject({
        integration: {enabled: true},
      })
      await put(slug, {global_workspace_access: {enabled: false}})
      expect(await findProviderForCall(admin.store.db, late.id, `all-${count}`)).toMatchObject({
        integration: {enabled: false},
      })
    })

    test('get no provider where it is declined, and get one when it is asked for later', async () => {
      const {slug} = await create()
      await put(slug, {workspaces: [{id: admin.workspace_id, enabled: true}], create_default_provider: false})
      expect(await findProviderForCall(admin.store.db, admin.workspace_id, slug)).toBeUndefined()
      await put(slug, {workspaces: [{id: admin.workspace_id, enabled: true}]})
      expect(await findProviderForCall(admin.store.db, admin.workspace_id, slug)).toBeUndefined()
      await put(slug, {workspaces: [{id: admin.workspace_id, enabled: true, create_default_provider: true}]})
      expect(await findProviderForCall(admin.store.db, admin.workspace_id, slug)).toBeDefined()
    })

    test('a provider slug that is taken is 400, and nothing is changed', async () => {
      const [one, two] = [await create(), await create()]
      const body = {workspaces: [{id: admin.workspace_id, enabled: true, default_provider_slug: `same-${count}`}]}
      expect((await put(one.slug, body)).status).toBe(200)
      expect((await put(one.slug, body)).status).toBe(200)
      const reply = await put(two.slug, body)
      const message = `default_provider_slug: same-${count} is the slug of another provider in that workspace.`
      expect([reply.status, reply.body]).toEqual([400, refusal('AB01', message)])
      expect(await open(two.slug)).toEqual({})
    })

    test('usage is set to zero when asked; a changed budget keeps its count, limits that are not given stay', async () => {
      const {id, slug} = await create()
      const own = () =>
        admin.store.db
          .selectFrom('integration_workspaces')
          .selectAll()
          .where('integration_id', '=', id)
          .executeTakeFirstOrThrow()
      await put(slug, {
        workspaces: [{id: admin.workspace_id, enabled: true, usage_limits: [budget], rate_limits: [rate]}],
      })
      const before = await own()
      expect(before.last_reset_at).toBeNull()
      admin.at('2026-03-05T00:00:00.000Z')
      await put(slug, {
        workspaces: [
          {id: admin.workspace_id, enabled: true, usage_limits: [{...budget, credit_limit: 20}], reset_usage: true},
        ],
      })
      const after = await own()
      expect(after).toMatchObject({
        rate_limits: before.rate_limits,
        last_reset_at: '2026-03-05T00:00:00.000Z',
        created_at: before.created_at,
      })
      expect(JSON.parse(after.usage_limits!)[0]).toMatchObject({
        credit_limit: 20,
        started_at: '2026-03-04T05:06:07.000Z',
      })
      admin.at('2026-03-04T05:06:07.000Z')
    })

    test.each<[string, object, number, RegExp]>([
      ['nothing', {}, 400, /^the request body: expected workspaces, global_workspace_access or both\.$/],
      [
        'an unknown workspace',
        {workspaces: [{id: 'none', enabled: true}]},
        404,
        /^workspaces\[0\]\.id: no workspace is known by the id none\.$/,
      ],
      [
        'two budgets',
        {workspaces: [{id: 'x', enabled: true, usage_limits: [budget, {...budget, type: 'tokens'}]}]},
        400,
        /^workspaces\[0\]\.usage_limits: /,
      ],
      [
        'a threshold above the budget',
        {global_workspace_access: {enabled: true, usage_limits: [{...budget, alert_threshold: 11}]}},
        400,
        /alert_threshold/,
      ],
      ['an unknown unit', {workspaces: [{id: 'x', enabled: true, rate_limits: [{...rate, unit: 'rps'}]}]}, 400, /unit/],
      [
        'a slug of other characters',
        {workspaces: [{id: 'x', enabled: true}], default_provider_slug: 'a/b'},
        400,
        /^default_provider_slug/,
      ],
    ])('refuse %s', async (_, body, status, message) => {
      const {slug} = await create()
      const reply = await put(slug, body)
      expect([reply.status, reply.body.data.message]).toEqual([status, expect.stringMatching(message)])
    })

    test('a workspace twice, one of another organisation, and an archived one are refused', async () => {
      const {slug} = await create()
      const archived = await admin.seedWorkspace(admin.organisation_id, {status: 'archived'})
      const {workspace_id: id, workspace_slug} = admin
      expect(
        (
          await put(slug, {
            workspaces: [
              {id, enabled: true},
              {id: workspace_slug, enabled: true},
            ],
          })
        ).status,
      ).toBe(400)
      for (const far of [other.workspace.id, archived.id]) {
        const reply = await put(slug, {workspaces: [{id: far, enabled: true}]})
        expect([reply.status, reply.body.data]).toEqual([
          404,
          {errorCode: 'AB02', message: `workspaces[0].id: no workspace is known by the id ${far}.`},
        ])
      }
    })

    test('of a workspace’s own integration there is one', async () => {
      const {slug} = await create({}, admin.asWorkspace)
      const far = await admin.seedWorkspace(admin.organisation_id)
      expect(await open(slug)).toEqual({[admin.workspace_id]: true})
      expect((await put(slug, {workspaces: [{id: far.id, enabled: true}]})).status).toBe(404)
      expect((await put(slug, {global_workspace_access: {enabled: true}})).body.data.message).toMatch(
        /^global_workspace_access: /,
      )
      expect(
        (await put(slug, {workspaces: [{id: admin.workspace_id, enabled: true, rate_limits: [rate]}]})).status,
      ).toBe(200)
    })
  })

  test('no secret stands in the database in plain, in the audit log neither', async () => {
    const custom_headers = {'x-tenant-token': 'canary-header-0123456789'}
    const {slug} = await create({key: 'sk-canary-key-0123456789', configurations: {custom_headers}})
    const login = {aws_access_key_id: 'canary-id-0123456789', aws_secret_access_key: 'canary-secret-0123456789'}
    await create({
      ai_provider_id: 'bedrock',
      configurations: {aws_auth_type: 'accessKey', aws_region: 'eu-west-1', ...login},
    })
    await admin.asAdmin('PUT', `/v1/integrations/${slug}`, {
      key: 'sk-canary-other-0123456789',
      configurations: {custom_headers},
    })
    const contents = await contentsOf(admin.store)
    expect(contents).toContain(slug)
    expect(contents.match(/canary-[\w-]*/g)).toBeNull()
  })

  // The audit log masks by names; it has to learn that every value under `custom_headers` may be a secret.
  test('a custom header whose name says nothing is masked in the audit log too', async () => {
    const {id} = await create({configurations: {custom_headers: {'x-tenant': 'quiet-header-0123456789'}}})
    const deed = (await admin.auditLog()).find(deed => deed.resource_id === id)
    expect(deed?.request_body).not.toContain('quiet-header')
  })
})
