import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {collections} from '../../src/admin/collections.ts'
import {configs} from '../../src/admin/configs.ts'
import {labels} from '../../src/admin/labels.ts'
import {promptPartials} from '../../src/admin/prompt-partials.ts'
import {promptRender} from '../../src/admin/prompt-render.ts'
import {promptVersions} from '../../src/admin/prompt-versions.ts'
import {prompts} from '../../src/admin/prompts.ts'
import {virtualKeys} from '../../src/admin/virtual-keys.ts'
import {workspaces} from '../../src/admin/workspaces.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.000Z'
const ANY = expect.any(String)
const gone = (object: string) => [404, refusal('AB08', `No ${object} is known by this id.`)]

describe.each(KINDS)('prompts on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  let home: string
  beforeAll(async () => {
    const operations = [...prompts, ...promptVersions, ...promptPartials, ...promptRender, ...collections, ...labels]
    admin = await startAdmin({kind, operations: [...operations, ...workspaces, ...configs, ...virtualKeys]})
    other = await admin.foreign()
    await ok('POST', '/virtual-keys', {name: 'main', slug: 'main', provider: 'openai', key: 'sk-0123456789'})
    const {data} = await ok('GET', '/collections')
    home = data[0].id
  })
  afterAll(() => admin.close())

  // biome-ignore lint/suspicious/noExplicitAny: replies have the shape that the test says
  const ok = async (method: string, path: string, body?: unknown, key = admin.workspace_key): Promise<any> => {
    const reply = await admin.send(key, method, `/v1${path}`, body)
    expect([reply.status, reply.body, admin.faults]).toEqual([200, reply.body, []])
    return reply.body
  }
  const said = async (method: string, path: string, body?: unknown, key = admin.workspace_key) => {
    const reply = await admin.send(key, method, `/v1${path}`, body)
    return [reply.status, reply.body]
  }
  const messages = (content: string) => JSON.stringify([{role: 'user', content}])
  const whole = () => ({
    name: 'System prompt of ours',
    collection_id: home,
    string: messages('Hi {{name}}'),
    parameters: {temperature: 0.5},
    virtual_key: 'main',
    model: 'gpt-4o-mini',
  })
  const create = (body: object = {}): Promise<{id: string; slug: string; version_id: string}> =>
    ok('POST', '/prompts', {...whole(), ...body})
  const partial = (body: object = {}): Promise<{id: string; slug: string; version_id: string}> =>
    ok('POST', '/prompts/partials', {name: 'Rules', string: 'Be kind, {{name}}.', ...body})

  test('one is saved under a slug of its name, with a first version that is published', async () => {
    admin.published.splice(0)
    const made = await create({
      version_description: 'the first',
      tools: [{type: 'function', function: {name: 'f'}}],
      tool_choice: 'auto',
    })
    expect(made).toEqual({
      id: ANY,
      slug: expect.stringMatching(/^pp-system-pro-[0-9a-f]{6}$/),
      version_id: ANY,
      object: 'prompt',
    })
    expect(admin.published).toEqual(['prompts'])
    const {name, collection_id, string, parameters, virtual_key, model} = whole()
    const view = {
      ...{id: made.id, slug: made.slug, name, collection_id, string, parameters, virtual_key, model},
      ...{
        prompt_version: 1,
        prompt_version_id: made.version_id,
        prompt_version_status: 'active',
        prompt_version_description: 'the first',
      },
      ...{
        prompt_version_label_id: null,
        functions: null,
        tools: [{type: 'function', function: {name: 'f'}}],
        tool_choice: 'auto',
      },
      ...{template_metadata: null, is_raw_template: false, status: 'active', created_at: AT, last_updated_at: AT},
    }
    for (const named of [made.slug, made.id]) expect(await ok('GET', `/prompts/${named}`)).toEqual(view)
    expect(await ok('GET', `/prompts/${made.slug}/versions/${made.version_id}`)).toEqual(view)
    const list = await ok('GET', '/prompts')
    expect(Object.keys(list)).toEqual(['data', 'total'])
    expect(list.total).toBe(list.data.length)
    expect(list.data).toContainEqual({
      ...{
        id: made.id,
        slug: made.slug,
        name,
        collection_id,
        model,
        status: 'active',
        created_at: AT,
        last_updated_at: AT,
        object: 'prompt',
      },
    })
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      resource_type: 'prompt',
      resource_id: made.id,
      action: 'create',
    })
  })

  test('lists are narrowed by collection and name, and paged', async () => {
    const shelf = await ok('POST', '/collections', {name: 'Shelf'})
    const made = []
    for (const name of ['Zebra 1%', 'zebra 2', 'Other']) made.push(await create({name, collection_id: shelf.slug}))
    const names = async (query: string) => {
      const {data, total} = await ok('GET', `/prompts?collection_id=${shelf.id}&${query}`)
      return [total, data.map(({name}: {name: string}) => name).toSorted()]
    }
    expect(await names('')).toEqual([3, ['Other', 'Zebra 1%', 'zebra 2']])
    expect(await names('search=ZEBRA')).toEqual([2, ['Zebra 1%', 'zebra 2']])
    expect(await names('search=1%25')).toEqual([1, ['Zebra 1%']])
    expect((await ok('GET', `/prompts?collection_id=${shelf.slug}&page_size=2&current_page=1`)).data).toHaveLength(1)
    expect(await said('GET', '/prompts?collection_id=none')).toEqual(gone('collection'))
  })

  test('a name or a collection is the prompt’s, the rest makes a version that is not published', async () => {
    const {id, slug, version_id} = await create()
    const shelf = await ok('POST', '/collections', {name: 'To'})
    expect(await ok('PUT', `/prompts/${slug}`, {name: 'Renamed', collection_id: shelf.slug})).toEqual({})
    const next = {string: messages('Bye {{name}}'), parameters: {}, model: 'gpt-4o'}
    const changed = await ok('PUT', `/prompts/${slug}`, {
      ...next,
      version_description: 'two',
      prompt_metadata: {by: 'x'},
      is_raw_template: 1,
    })
    expect(changed).toEqual({id, slug, prompt_version_id: ANY})
    expect(await ok('GET', `/prompts/${slug}`)).toMatchObject({
      name: 'Renamed',
      collection_id: shelf.id,
      prompt_version: 1,
    })
    expect(await ok('GET', `/prompts/${slug}?version=latest`)).toMatchObject({
      ...next,
      ...{
        prompt_version: 2,
        prompt_version_id: changed.prompt_version_id,
        prompt_version_description: 'two',
        virtual_key: 'main',
      },
      ...{template_metadata: {by: 'x'}, is_raw_template: true},
    })
    expect(await ok('GET', `/prompts/${slug}?version=1`)).toMatchObject({
      prompt_version: 1,
      prompt_version_id: version_id,
    })
    expect(await said('GET', `/prompts/${slug}?version=3`)).toEqual(gone('version of the prompt'))
    expect(await ok('GET', `/prompts/${slug}/versions`)).toEqual([
      expect.objectContaining({
        prompt_version: 2,
        prompt_id: id,
        prompt_description: 'two',
        object: 'prompt',
        status: 'active',
        label_id: null,
      }),
      expect.objectContaining({
        prompt_version: 1,
        id: version_id,
        prompt_template: expect.objectContaining({string: messages('Hi {{name}}')}),
      }),
    ])
    expect(await ok('PUT', `/prompts/${slug}/makeDefault`, {version: 2})).toEqual({})
    expect(await ok('GET', `/prompts/${slug}?version=default`)).toMatchObject({prompt_version: 2})
    expect(await said('PUT', `/prompts/${slug}/makeDefault`, {version: 9})).toEqual(gone('version of the prompt'))
  })

  test('with patch what is absent is taken from the newest version, null clears; without it a version is whole', async () => {
    const {slug} = await create({tools: [{type: 'function'}], tool_choice: 'auto', template_metadata: {a: 1}})
    await ok('PUT', `/prompts/${slug}`, {patch: true, model: 'gpt-4o', tools: null})
    const latest = () => ok('GET', `/prompts/${slug}?version=latest`)
    expect(await latest()).toMatchObject({
      string: messages('Hi {{name}}'),
      model: 'gpt-4o',
      tools: null,
      tool_choice: 'auto',
      template_metadata: {a: 1},
    })
    for (const field of ['string', 'parameters', 'model']) {
      const {string, parameters, model} = whole()
      const [status, body] = await said('PUT', `/prompts/${slug}`, {string, parameters, model, [field]: undefined})
      expect([status, body.data]).toEqual([
        400,
        {errorCode: 'AB01', message: expect.stringMatching(new RegExp(`^${field}: is required`))},
      ])
    }
    const {string, parameters, model} = whole()
    await ok('PUT', `/prompts/${slug}`, {string, parameters, model})
    expect(await latest()).toMatchObject({
      tool_choice: null,
      template_metadata: null,
      virtual_key: 'main',
      prompt_version: 3,
    })
  })

  test('a label stands on one version of a prompt and moves; a version may bear several, null takes them', async () => {
    const {slug, version_id} = await create()
    const {prompt_version_id} = await ok('PUT', `/prompts/${slug}`, {patch: true, model: 'gpt-4o'})
    const all = (await ok('GET', '/labels')).data as {
      id: string
      name: string
      is_universal: boolean
      organisation_id: string
    }[]
    const universal = all.filter(label => label.is_universal)
    expect(universal.map(({name}) => name).toSorted()).toEqual(['development', 'production', 'staging'])
    expect(universal[0]!.organisation_id).toBe(admin.organisation_id)
    const [production, staging] = ['production', 'staging'].map(
      name => universal.find(label => label.name === name)!.id,
    )
    const put = (version: string, label_id: string | null) =>
      ok('PUT', `/prompts/${slug}/versions/${version}`, {label_id})
    const labelled = async () =>
      (await ok('GET', `/prompts/${slug}/versions`)).map((each: {label_id: string | null}) => each.label_id)
    expect(await put(version_id, production!)).toEqual({})
    expect(await labelled()).toEqual([null, production])
    await put(prompt_version_id, production!)
    expect(await labelled()).toEqual([production, null])
    admin.at('2026-03-04T06:00:00.000Z')
    await put(prompt_version_id, staging!)
    admin.at(AT)
    expect(await labelled()).toEqual([staging, null])
    await put(prompt_version_id, null)
    expect(await labelled()).toEqual([null, null])
    const {id} = await ok('POST', '/labels', {name: 'canary'})
    await put(version_id, id)
    expect(await ok('GET', `/prompts/${slug}?version=canary`)).toMatchObject({
      prompt_version: 1,
      prompt_version_label_id: id,
    })
    const render = (named: string) => said('POST', `/prompts/${named}/render`, {variables: {}})
    expect((await render(`${slug}@canary`))[0]).toBe(200)
    await ok('PUT', `/labels/${id}`, {name: 'bird'})
    expect([(await render(`${slug}@canary`))[0], (await render(`${slug}@bird`))[0]]).toEqual([404, 200])
    await ok('DELETE', `/labels/${id}`)
    expect([(await render(`${slug}@bird`))[0], await labelled()]).toEqual([404, [null, null]])
    expect(await said('PUT', `/prompts/${slug}/versions/${version_id}`, {label_id: id})).toEqual(gone('label'))
  })

  test('labels: made, shown, changed by three states, told apart by name; everyone’s stay as they are', async () => {
    const {id} = await ok('POST', '/labels', {name: 'blue', description: 'd', color_code: '#00f'})
    const row = {id, name: 'blue', description: 'd', color_code: '#00f', organisation_id: admin.organisation_id}
    const view = {
      ...row,
      workspace_id: admin.workspace_id,
      is_universal: false,
      created_at: AT,
      last_updated_at: AT,
      status: 'active',
    }
    expect(await ok('GET', `/labels/${id}`)).toEqual(view)
    expect(await ok('PUT', `/labels/${id}`, {description: null})).toEqual({})
    expect(await ok('GET', `/labels/${id}`)).toEqual({...view, description: null})
    const {total, data} = await ok('GET', '/labels?search=BLU&page_size=5')
    expect([total, data.length]).toEqual([1, 1])
    for (const name of ['blue', 'production']) {
      const taken = [409, refusal('AB07', `The name ${name} is taken by another label.`)]
      expect(await said('POST', '/labels', {name})).toEqual(taken)
    }
    for (const name of ['latest', 'default', '12', 'a@b c', ''])
      expect((await said('POST', '/labels', {name}))[0]).toBe(400)
    const {data: all} = await ok('GET', '/labels')
    const universal = all.find((label: {name: string}) => label.name === 'staging').id
    for (const [method, body] of [
      ['PUT', {name: 'mine'}],
      ['DELETE', undefined],
    ] as const) {
      const [status, reply] = await said(method, `/labels/${universal}`, body)
      expect([status, reply.data.errorCode]).toEqual([400, 'AB01'])
    }
    expect(await ok('DELETE', `/labels/${id}`)).toEqual({})
    expect(await said('GET', `/labels/${id}`)).toEqual(gone('label'))
    expect((await ok('POST', '/labels', {name: 'blue'})).id).not.toBe(id)
    const other_org = await said('GET', `/labels?organisation_id=${other.organisation_id}`)
    expect(other_org).toEqual(gone('organisation'))
  })

  test('collections stand in each other and count what is in them; the default one stays', async () => {
    const outer = await ok('POST', '/collections', {name: 'Outer'})
    expect(outer).toEqual({id: ANY, slug: expect.stringMatching(/^outer-[0-9a-f]{6}$/)})
    const inner = await ok('POST', '/collections', {name: 'Inner', parent_collection_id: outer.slug})
    const {slug} = await create({collection_id: inner.slug})
    const empty = {
      child_collections_count: 0,
      prompts_count: 0,
      child_collections_last_updated_at: null,
      prompts_last_updated_at: null,
    }
    const row = (id: string, name: string, parent: string | null) => ({
      ...{
        id,
        name,
        workspace_id: admin.workspace_id,
        parent_collection_id: parent,
        is_default: false,
        status: 'active',
      },
      ...{created_at: AT, last_updated_at: AT},
    })
    const {total, data} = await ok('GET', '/collections')
    expect(total).toBe(data.length)
    expect(data).toContainEqual({
      ...row(outer.id, 'Outer', null),
      ...{
        slug: outer.slug,
        collection_details: {...empty, child_collections_count: 1, child_collections_last_updated_at: AT},
      },
    })
    expect(await ok('GET', `/collections/${outer.slug}`)).toEqual({
      ...row(outer.id, 'Outer', null),
      slug: outer.slug,
      child_collections: [
        {
          id: inner.id,
          name: 'Inner',
          last_updated_at: AT,
          collection_details: {...empty, prompts_count: 1, prompts_last_updated_at: AT},
        },
      ],
    })
    expect(await ok('PUT', `/collections/${inner.id}`, {name: 'Inside'})).toEqual({})
    expect((await said('DELETE', `/collections/${inner.id}`))[1].data.message).toMatch(/still has 1 prompt\. /)
    expect((await said('DELETE', `/collections/${outer.id}`))[0]).toBe(409)
    await ok('DELETE', `/prompts/${slug}`)
    for (const {id} of [inner, outer]) expect(await ok('DELETE', `/collections/${id}`)).toEqual({})
    expect(await said('GET', `/collections/${outer.id}`)).toEqual(gone('collection'))
    expect((await said('DELETE', `/collections/${home}`))[0]).toBe(404)
    expect((await ok('GET', '/collections?search=default')).data).toMatchObject([{id: home, is_default: true}])
  })

  test('partials: versions, publishing, and what includes them', async () => {
    const {id, slug, version_id} = await partial()
    expect(slug).toMatch(/^pp-rules-[0-9a-f]{6}$/)
    const row = {id, slug, name: 'Rules', collection_id: home, created_at: AT, last_updated_at: AT, status: 'active'}
    const text = {
      string: 'Be kind, {{name}}.',
      version: 1,
      version_description: null,
      prompt_partial_version_id: version_id,
    }
    expect(await ok('GET', `/prompts/partials/${slug}`)).toEqual({...row, ...text})
    const list = await ok('GET', `/prompts/partials?collection_id=${home}`)
    expect(list).toContainEqual({...row, object: 'partial'})
    const prompt = await create({string: messages(`{{>${slug}}} {{>${slug}@1}}`)})
    const content = async () =>
      (await ok('POST', `/prompts/${prompt.slug}/render`, {variables: {name: 'Ann'}})).data.messages[0].content
    expect(await content()).toBe('Be kind, Ann. Be kind, Ann.')
    expect(await ok('PUT', `/prompts/partials/${slug}`, {name: 'House rules'})).toEqual({
      prompt_partial_version_id: version_id,
    })
    const two = await ok('PUT', `/prompts/partials/${slug}`, {string: 'Be brief.', description: 'shorter'})
    expect(await content()).toBe('Be kind, Ann. Be kind, Ann.')
    expect(await ok('GET', `/prompts/partials/${slug}/versions`)).toEqual([
      {
        ...{
          prompt_partial_id: id,
          prompt_partial_version_id: two.prompt_partial_version_id,
          slug,
          version: '2',
          string: 'Be brief.',
        },
        ...{description: 'shorter', created_at: AT, prompt_version_status: 'active', object: 'partial'},
      },
      expect.objectContaining({version: '1', prompt_partial_version_id: version_id}),
    ])
    expect(await ok('PUT', `/prompts/partials/${slug}/makeDefault`, {version: 2})).toEqual({})
    expect(await content()).toBe('Be brief. Be kind, Ann.')
    expect(await ok('DELETE', `/prompts/partials/${slug}`)).toEqual({})
    expect(await said('GET', `/prompts/partials/${slug}`)).toEqual(gone('prompt partial'))
    const [status, body] = await said('POST', `/prompts/${prompt.slug}/render`, {variables: {}})
    expect([status, body.data]).toEqual([
      400,
      {errorCode: 'AB01', message: expect.stringContaining(`there is no partial ${slug}`)},
    ])
  })

  test('render gives the body of the call: parameters, tools and model, and what is said at the root before them', async () => {
    const {slug} = await create({
      tools: [{type: 'function', function: {name: 'f'}}],
      parameters: {temperature: 0.5, max_tokens: 9},
    })
    const tools = [{type: 'function', function: {name: 'f'}}]
    const rendered = {
      messages: [{role: 'user', content: 'Hi Ann'}],
      model: 'gpt-4o-mini',
      tools,
      temperature: 0.5,
      max_tokens: 9,
    }
    const render = (body: object, named = slug) => ok('POST', `/prompts/${named}/render`, body)
    expect(await render({variables: {name: 'Ann'}})).toEqual({success: true, data: rendered})
    expect((await render({variables: {}, temperature: 0, model: 'other', stream: true})).data).toMatchObject({
      temperature: 0,
      model: 'other',
      stream: true,
    })
    const own = [{role: 'user', content: '{{name}}'}]
    expect((await render({variables: {name: 'Ann'}, messages: own})).data.messages).toEqual(own)
    const text = await create({string: 'Say {{#words}}{{.}} {{/words}}', model: undefined})
    expect((await render({variables: {words: ['a', 'b']}}, text.slug)).data).toEqual({
      prompt: 'Say a b ',
      temperature: 0.5,
    })
    const raw = await create({
      string: '[{{#turns}}{"role":"{{role}}","content":"{{text}}"},{{/turns}}{"role":"user","content":"{{q}}"}]',
    })
    const turns = [{role: 'assistant', text: 'a "quote"\nand more'}]
    expect((await render({variables: {turns, q: '"}'}}, raw.slug)).data.messages).toEqual([
      {role: 'assistant', content: 'a "quote"\nand more'},
      {role: 'user', content: '"}'},
    ])
    const broken = await create({string: '[{"role":"user","content":{{{x}}}}]'})
    expect((await said('POST', `/prompts/${broken.slug}/render`, {variables: {}}))[1].data.message).toContain(
      'no JSON array of messages',
    )
    for (const named of [`${slug}@7`, `${slug}@staging`, `${slug}@nothing`, 'pp-none']) {
      expect(await said('POST', `/prompts/${named}/render`, {variables: {}})).toEqual(gone('prompt'))
    }
    expect((await said('POST', `/prompts/${slug}/render`, {}))[1].data).toEqual({
      errorCode: 'AB01',
      message: expect.stringMatching(/^variables: is required/),
    })
  })

  test.each<[string, string]>(
    ['name', 'collection_id', 'string', 'parameters', 'virtual_key'].map(field => [field, field]),
  )('saving a prompt without %s is refused', async (_, field) => {
    const [status, body] = await said('POST', '/prompts', {...whole(), [field]: undefined})
    expect([status, body.data]).toEqual([
      400,
      {errorCode: 'AB01', message: expect.stringMatching(new RegExp(`^${field}: is required`))},
    ])
  })

  test.each<[string, string, object, number, RegExp]>([
    ['an unknown field', '/prompts', {modle: 'x'}, 400, /modle.*model/],
    ['a template that is not closed', '/prompts', {string: '{{#a}}'}, 400, /^string: .*not closed/],
    ['a template in a message that is not closed', '/prompts', {string: messages('{{a')}, 400, /^string: .*not closed/],
    ['parameters that are no object', '/prompts', {parameters: []}, 400, /^parameters: /],
    ['an unknown collection', '/prompts', {collection_id: 'none'}, 404, /^collection_id: no collection/],
    ['an unknown provider', '/prompts', {virtual_key: 'none'}, 404, /^virtual_key: no provider or config/],
    ['a partial without a name', '/prompts/partials', {name: undefined}, 400, /^name: is required/],
    ['a partial without a text', '/prompts/partials', {string: undefined}, 400, /^string: is required/],
    ['a partial of an unknown field', '/prompts/partials', {text: 'x'}, 400, /text/],
    ['a partial that is not closed', '/prompts/partials', {string: '{{/a}}'}, 400, /^string: /],
    ['a collection without a name', '/collections', {name: undefined}, 400, /^name: is required/],
    ['a collection of an unknown field', '/collections', {parent: 'x'}, 400, /parent/],
    [
      'a collection in one that is not there',
      '/collections',
      {parent_collection_id: 'none'},
      404,
      /^parent_collection_id: /,
    ],
    ['a label without a name', '/labels', {name: undefined}, 400, /^name: is required/],
    ['a label of an unknown field', '/labels', {colour: 'x'}, 400, /colour/],
  ])('saving refuses %s', async (_, path, body, expected, message) => {
    const full = {'/prompts': whole(), '/prompts/partials': {name: 'R', string: 'x'}}[path] ?? {name: 'Name'}
    const [status, reply] = await said('POST', path, {...full, ...body})
    expect([status, reply.data.message]).toEqual([expected, expect.stringMatching(message)])
  })

  test('DELETE archives: nothing knows it any more', async () => {
    const {id, slug, version_id} = await create()
    expect(await ok('DELETE', `/prompts/${slug}`)).toEqual({})
    for (const path of [slug, id, `${slug}/versions`, `${slug}/versions/${version_id}`]) {
      expect(await said('GET', `/prompts/${path}`)).toEqual(gone('prompt'))
    }
    expect(JSON.stringify(await ok('GET', '/prompts'))).not.toContain(slug)
    expect(await admin.store.db.selectFrom('prompts').select('status').where('id', '=', id).executeTakeFirst()).toEqual(
      {
        status: 'archived',
      },
    )
  })

  test('what is another’s answers as what is not', async () => {
    const {slug, version_id} = await create()
    const {slug: rules} = await partial()
    const shelf = await ok('POST', '/collections', {name: 'Mine'})
    const {id: label} = await ok('POST', '/labels', {name: 'mine'})
    const far = await admin.seedWorkspace(admin.organisation_id)
    const neighbour = await admin.seedKey({organisation_id: admin.organisation_id, workspace_id: far.id})
    const paths: [string, string, object | undefined, string][] = [
      ['GET', `/prompts/${slug}`, undefined, 'prompt'],
      ['PUT', `/prompts/${slug}`, {name: 'X'}, 'prompt'],
      ['DELETE', `/prompts/${slug}`, undefined, 'prompt'],
      ['GET', `/prompts/${slug}/versions`, undefined, 'prompt'],
      ['GET', `/prompts/${slug}/versions/${version_id}`, undefined, 'prompt'],
      ['PUT', `/prompts/${slug}/versions/${version_id}`, {label_id: null}, 'prompt'],
      ['PUT', `/prompts/${slug}/makeDefault`, {version: 1}, 'prompt'],
      ['GET', `/prompts/partials/${rules}`, undefined, 'prompt partial'],
      ['PUT', `/prompts/partials/${rules}`, {name: 'X'}, 'prompt partial'],
      ['DELETE', `/prompts/partials/${rules}`, undefined, 'prompt partial'],
      ['GET', `/prompts/partials/${rules}/versions`, undefined, 'prompt partial'],
      ['PUT', `/prompts/partials/${rules}/makeDefault`, {version: 1}, 'prompt partial'],
      ['GET', `/collections/${shelf.slug}`, undefined, 'collection'],
      ['PUT', `/collections/${shelf.slug}`, {name: 'X'}, 'collection'],
      ['DELETE', `/collections/${shelf.slug}`, undefined, 'collection'],
      ['GET', `/labels/${label}`, undefined, 'label'],
      ['PUT', `/labels/${label}`, {name: 'X'}, 'label'],
      ['DELETE', `/labels/${label}`, undefined, 'label'],
    ]
    for (const key of [other.admin.key, other.key.key, neighbour.key]) {
      for (const [method, path, body, object] of paths)
        expect(await said(method, path, body, key)).toEqual(gone(object))
    }
    for (const key of [other.key.key, neighbour.key]) {
      expect(await said('POST', `/prompts/${slug}/render`, {variables: {}}, key)).toEqual(gone('prompt'))
      expect(await said('POST', '/prompts', whole(), key)).toEqual([
        404,
        refusal('AB02', `collection_id: no collection is known by the id ${home}.`),
      ])
      for (const path of ['/prompts', '/prompts/partials', '/collections', '/labels']) {
        expect(JSON.stringify(await ok('GET', path, undefined, key))).not.toMatch(
          new RegExp(`${slug}|${rules}|${shelf.slug}|${label}`),
        )
      }
    }
    expect(await said('GET', `/collections?workspace_id=${other.workspace.id}`)).toEqual(gone('workspace'))
  })

  test('an admin key names the workspace where nothing else tells it', async () => {
    for (const [method, path, body] of [
      ['GET', '/collections'],
      ['POST', '/collections', {name: 'A'}],
      ['POST', '/labels', {name: 'a'}],
      ['POST', '/prompts/partials', {name: 'a', string: 'x'}],
    ] as const) {
      expect((await said(method, path, body, admin.admin_key))[1].data).toMatchObject({
        errorCode: 'AB01',
        message: expect.stringMatching(/^workspace_id: is required/),
      })
    }
    const {slug} = await ok('POST', '/prompts', whole(), admin.admin_key)
    expect(
      (await ok('GET', `/prompts?workspace_id=${admin.workspace_slug}`, undefined, admin.admin_key)).data.map(
        (each: {slug: string}) => each.slug,
      ),
    ).toContain(slug)
    expect(
      (await ok('GET', `/collections?workspace_id=${admin.workspace_slug}`, undefined, admin.admin_key)).total,
    ).toBeGreaterThan(0)
    const [status, body] = await said('POST', `/prompts/${slug}/render`, {variables: {}}, admin.admin_key)
    expect([status, body.data.errorCode]).toEqual([403, 'AB03'])
  })

  test('each operation needs its scope', async () => {
    const {key} = await admin.seedKey(
      {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id},
      {scopes: ['completions.write']},
    )
    for (const {method, path} of [
      ...prompts,
      ...promptVersions,
      ...promptPartials,
      ...promptRender,
      ...collections,
      ...labels,
    ]) {
      const [status, body] = await said(method, path.replace(/:\w+/g, 'x'), method === 'GET' ? undefined : {}, key)
      expect([path, status, body.data.errorCode]).toEqual([path, 403, 'AB03'])
    }
    const publisher = await admin.seedKey(
      {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id},
      {scopes: ['prompts.update']},
    )
    expect((await said('PUT', '/prompts/x/makeDefault', {version: 1}, publisher.key))[0]).toBe(403)
  })
})
