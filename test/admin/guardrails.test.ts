import {readFileSync} from 'node:fs'
import {dirname, resolve} from 'node:path'
import {Portkey} from 'portkey-ai'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {guardrails} from '../../src/admin/guardrails.ts'
import {organisationDefaultGuardrails} from '../../src/admin/organisation-defaults.ts'
import {workspaces} from '../../src/admin/workspaces.ts'
import {findDefaultGuardrails, findGuardrails, insertGuardrail} from '../../src/store/guardrails.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {contentsOf} from '../support/database-contents.ts'
import {KINDS} from '../support/stores.ts'

const absent = refusal('AB08', 'No guardrail is known by this id.')
const AT = '2026-03-04T05:06:07.000Z'

describe.each(KINDS)('guardrails on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  beforeAll(async () => {
    admin = await startAdmin({kind, operations: [...guardrails, ...workspaces, ...organisationDefaultGuardrails]})
    other = await admin.foreign()
  })
  afterAll(() => admin.close())

  const checks = [{id: 'default.contains', parameters: {words: ['internal'], operator: 'none'}}]
  const feedback = (value: number) => ({feedback: {value, weight: 1, metadata: ''}})
  const actions = {deny: true, async: false, on_success: feedback(5), on_fail: feedback(-5)}
  const create = async (body: object = {}, key = admin.workspace_key) => {
    const reply = await admin.send(key, 'POST', '/v1/guardrails', {name: 'House words', checks, actions, ...body})
    expect([reply.status, reply.body]).toEqual([
      200,
      {id: expect.any(String), slug: expect.any(String), version_id: expect.any(String)},
    ])
    return reply.body as {id: string; slug: string; version_id: string}
  }
  const shared = () => create({organisation_id: admin.organisation_id}, admin.admin_key)
  const found = (slug: string, workspace_id = admin.workspace_id) =>
    findGuardrails(
      admin.store.db,
      {organisation_id: admin.organisation_id, workspace_id, refs: [slug]},
      admin.services.seal,
    )

  test('one is saved under a slug of its name, shown by slug and id, and found by calls', async () => {
    admin.published.splice(0)
    const {id, slug, version_id} = await create()
    expect(slug).toMatch(/^pg-house-[0-9a-f]{6}$/)
    expect(admin.published).toEqual(['guardrails'])
    const row = {
      id,
      name: 'House words',
      slug,
      target: 'llm',
      organisation_id: admin.organisation_id,
      workspace_id: admin.workspace_id,
      status: 'active',
      owner_id: expect.any(String),
      updated_by: expect.any(String),
      created_at: AT,
      last_updated_at: AT,
    }
    const kept = [{...checks[0], is_enabled: true}]
    for (const named of [slug, id])
      expect((await admin.asWorkspace('GET', `/v1/guardrails/${named}`)).body).toEqual({
        ...row,
        version_id,
        checks: kept,
        actions,
      })
    const {body} = await admin.asWorkspace('GET', '/v1/guardrails')
    expect(body).toMatchObject({object: 'list', total: body.data.length})
    expect(body.data).toContainEqual(row)
    expect(await found(slug)).toEqual([{ref: slug, id, slug, name: 'House words', version_id, checks: kept, actions}])
    expect((await admin.auditLog()).at(-1)).toMatchObject({
      ...{resource_type: 'guardrail', resource_id: id, action: 'create', workspace_id: admin.workspace_id},
    })
  })

  test('what is left unsaid of its actions is filled in; a check may be named in any case, switched off and given a name', async () => {
    const said = [
      {id: 'WORDCOUNT', name: 'Short', parameters: {MAXWORDS: 9}, is_enabled: false},
      {id: 'default.notNull'},
    ]
    const {slug} = await create({checks: said, actions: {onFail: {feedback: {value: -1}}, stream_mode: 'window'}})
    const {body} = await admin.asWorkspace('GET', `/v1/guardrails/${slug}`)
    expect(body.checks).toEqual([said[0], {id: 'default.notNull', parameters: {}, is_enabled: true}])
    expect(body.actions).toEqual({...actions, deny: false, stream_mode: 'window', on_fail: feedback(-1)})
  })

  test('other checks or actions are a version, a new name is none; what is absent stays', async () => {
    const {id, slug, version_id} = await create()
    const put = async (body: object) => (await admin.asWorkspace('PUT', `/v1/guardrails/${slug}`, body)).body
    expect(await put({name: 'Renamed'})).toEqual({id, slug, version_id})
    expect(await put({})).toEqual({id, slug, version_id})
    expect(await put({checks, actions})).toEqual({id, slug, version_id})
    admin.at('2026-03-05T00:00:00.000Z')
    const changed = await put({actions: {deny: false}})
    expect(changed.version_id).not.toBe(version_id)
    const next = [{id: 'default.notNull'}]
    const last = await put({checks: next})
    const {body} = await admin.asWorkspace('GET', `/v1/guardrails/${slug}/versions`)
    expect(body).toMatchObject({
      object: 'list',
      total: 3,
      data: [
        {version: 3, version_id: last.version_id, checks: next, actions: {deny: false}, name: 'Renamed'},
        {
          version: 2,
          version_id: changed.version_id,
          checks,
          actions: {deny: false},
          created_at: '2026-03-05T00:00:00.000Z',
        },
        {version: 1, version_id, checks, actions, created_at: AT},
      ],
    })
    expect(await found(slug)).toMatchObject([{version_id: last.version_id, checks: next, actions: {deny: false}}])
    admin.at(AT)
  })

  test('headers of a service are sealed, shown masked, and stay when their mask comes back for the same service', async () => {
    const hook = (headers: unknown) => [
      {id: 'default.webhook', parameters: {webhookURL: 'https://guard.example.com/judge', headers}},
    ]
    const {slug} = await create({checks: hook({'x-team': 'canary-header-0123456789'})})
    const shown = async () => (await admin.asWorkspace('GET', `/v1/guardrails/${slug}`)).body.checks
    const masked = {'x-team': 'can•••••6789'}
    expect(await shown()).toMatchObject(hook(masked))
    const put = await admin.asWorkspace('PUT', `/v1/guardrails/${slug}`, {
      checks: hook({...masked, 'x-more': 'canary-more-0123456789'}),
    })
    expect(put.status).toBe(200)
    expect(await found(slug)).toMatchObject([
      {checks: hook({'x-team': 'canary-header-0123456789', 'x-more': 'canary-more-0123456789'})},
    ])
    const kept = await found(slug)
    const moved = await admin.asWorkspace('PUT', `/v1/guardrails/${slug}`, {checks: [...checks, ...(await shown())]})
    expect(moved.status).toBe(200)
    expect(await found(slug)).toMatchObject([{checks: [{id: 'default.contains'}, kept[0]!.checks[0]]}])
    const other = {webhookURL: 'https://elsewhere.example.com/judge', headers: masked}
    for (const stray of [hook({'x-team': 'abc•••••6789'}), [{id: 'default.webhook', parameters: other}]]) {
      const refused = await admin.asWorkspace('PUT', `/v1/guardrails/${slug}`, {checks: stray})
      expect([refused.status, refused.body.data.message]).toEqual([
        400,
        expect.stringContaining('checks[0].parameters.headers: is a mask'),
      ])
    }
    await create({checks: hook('{"x-team": "canary-text-0123456789"}')})
    const contents = await contentsOf(admin.store)
    expect(contents).toContain('guard.example.com')
    expect(contents.match(/canary-(?:header|more|text)[\w-]*/g)).toBeNull()
  })

  test('DELETE archives one: nothing knows it any more, its slug stays taken', async () => {
    const {id, slug} = await create()
    expect((await admin.asWorkspace('DELETE', `/v1/guardrails/${slug}`)).body).toEqual({})
    for (const path of [slug, id, `${slug}/versions`]) {
      const reply = await admin.asWorkspace('GET', `/v1/guardrails/${path}`)
      expect([reply.status, reply.body]).toEqual([404, absent])
    }
    expect((await admin.asWorkspace('GET', '/v1/guardrails')).text).not.toContain(slug)
    expect(await found(slug)).toEqual([])
    const row = await admin.store.db.selectFrom('guardrails').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const again = insertGuardrail(
      admin.store.db,
      {...row, id: 'another', status: 'active'},
      {
        id: 'v',
        guardrail_id: 'another',
        version: 1,
        checks: '[]',
        checks_sealed: null,
        actions: '{}',
        updated_by: null,
        created_at: AT,
      },
    )
    await expect(again).rejects.toThrow()
  })

  test("the organisation's is made by an admin key, read and run by every workspace, and changed by none", async () => {
    const {id, slug} = await shared()
    const {body} = await admin.asWorkspace('GET', `/v1/guardrails/${slug}`)
    expect(body).toMatchObject({id, workspace_id: null})
    expect((await admin.asWorkspace('GET', '/v1/guardrails')).text).toContain(slug)
    expect(await found(slug)).toHaveLength(1)
    for (const [method, sent] of [
      ['PUT', {name: 'X'}],
      ['DELETE', undefined],
    ] as const) {
      const reply = await admin.asWorkspace(method, `/v1/guardrails/${slug}`, sent)
      expect([reply.status, reply.body]).toEqual([404, absent])
    }
    expect((await admin.asAdmin('PUT', `/v1/guardrails/${slug}`, {name: 'Ours'})).status).toBe(200)
    const listed = async (query: string) => (await admin.asAdmin('GET', `/v1/guardrails${query}`)).text
    expect(await listed('')).toContain(slug)
    expect(await listed(`?organisation_id=${admin.organisation_id}`)).toContain(slug)
    expect(await listed(`?workspace_id=${admin.workspace_slug}`)).not.toContain(slug)
    expect((await admin.asAdmin('DELETE', `/v1/guardrails/${slug}`)).status).toBe(200)
  })

  test('an admin key says whom a guardrail is for; another organisation or workspace is not found', async () => {
    const body = {name: 'A', checks, actions}
    expect((await admin.asAdmin('POST', '/v1/guardrails', body)).body.data).toEqual({
      errorCode: 'AB01',
      message: expect.stringMatching(/^workspace_id: is required, or organisation_id/),
    })
    const foreign = [
      [{organisation_id: other.organisation_id}, 'organisation'],
      [{workspace_id: other.workspace.id}, 'workspace'],
    ] as const
    for (const [place, object] of foreign) {
      const reply = await admin.asAdmin('POST', '/v1/guardrails', {...body, ...place})
      expect([reply.status, reply.body]).toEqual([404, refusal('AB08', `No ${object} is known by this id.`)])
      const list = await admin.asAdmin('GET', `/v1/guardrails?${new URLSearchParams(place)}`)
      expect([list.status, list.body]).toEqual([404, refusal('AB08', `No ${object} is known by this id.`)])
    }
    const {slug} = await create({workspace_id: admin.workspace_slug}, admin.admin_key)
    expect((await admin.asAdmin('GET', `/v1/guardrails/${slug}`)).body.workspace_id).toBe(admin.workspace_id)
    expect((await create({organisation_id: admin.organisation_id})).slug).toBeTruthy()
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
      [admin.workspace_key, 'pg-none'],
    ] as const) {
      const reply = await admin.send(key, method, `/v1/guardrails/${named}${path}`, body)
      expect([reply.status, reply.body]).toEqual([404, absent])
    }
  })

  test.each<[string, object, RegExp]>([
    ['no name', {name: undefined}, /^name: is required/],
    ['no checks', {checks: undefined}, /^checks: is required/],
    ['an empty list of checks', {checks: []}, /^checks: must have at least 1/],
    ['no actions', {actions: undefined}, /^actions: is required/],
    ['a check without an id', {checks: [{parameters: {}}]}, /^checks\[0\]\.id: is required/],
    [
      'an unknown check, with the nearest',
      {checks: [{id: 'default.regexMach'}]},
      /checks\[0\]\.id: .*did you mean default\.regexMatch\?/,
    ],
    [
      'a parameter that is missing',
      {checks: [{id: 'default.regexMatch', parameters: {}}]},
      /checks\[0\]: default\.regexMatch: rule: is required/,
    ],
    [
      'a parameter that is not known, with the nearest',
      {checks: [{id: 'default.wordCount', parameters: {minWord: 1}}]},
      /checks\[0\]: default\.wordCount: .*minWord.*minWords/,
    ],
    [
      'a pattern that cannot be run',
      {checks: [{id: 'default.regexMatch', parameters: {rule: '(?=x)'}}]},
      /checks\[0\]: default\.regexMatch: /,
    ],
    [
      'a private service',
      {checks: [{id: 'default.webhook', parameters: {webhookURL: 'http://10.0.0.7/judge'}}]},
      /^checks\[0\]\.parameters\.webhookURL: may not be called: it is a private/,
    ],
    [
      'many faults, of which it says some',
      {checks: Array.from({length: 8}, () => ({id: 'nothing'}))},
      /^checks\[0\]\.id: .* checks\[4\]\.id: .* And 3 more\.$/,
    ],
    ['an unknown action', {actions: {denny: true}}, /deny/],
    ['feedback out of range', {actions: {on_fail: {feedback: {value: -11}}}}, /^actions\.on_fail\.feedback\.value: /],
    ['an unknown field', {check: []}, /checks/],
    ['a status', {status: 'archived'}, /status/],
  ])('saving refuses %s', async (_, body, message) => {
    const before = await admin.store.db.selectFrom('guardrail_versions').selectAll().execute()
    const reply = await admin.asWorkspace('POST', '/v1/guardrails', {name: 'A', checks, actions, ...body})
    expect([reply.status, reply.body.data]).toEqual([400, {errorCode: 'AB01', message: expect.stringMatching(message)}])
    expect(await admin.store.db.selectFrom('guardrail_versions').selectAll().execute()).toEqual(before)
    if (Object.values(body).every(value => value === undefined)) return
    const {slug} = await create()
    const change = await admin.asWorkspace('PUT', `/v1/guardrails/${slug}`, body)
    expect([change.status, change.body.data.errorCode]).toEqual([400, 'AB01'])
  })

  test('each operation needs its scope', async () => {
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    const {key} = await admin.seedKey(place, {scopes: ['guardrails.list']})
    expect((await admin.send(key, 'GET', '/v1/guardrails')).status).toBe(200)
    for (const [method, path] of [
      ['GET', '/x'],
      ['GET', '/x/versions'],
      ['POST', ''],
      ['PUT', '/x'],
      ['DELETE', '/x'],
    ] as const) {
      const reply = await admin.send(key, method, `/v1/guardrails${path}`)
      expect([reply.status, reply.body.data.errorCode]).toEqual([403, 'AB03'])
    }
  })

  test('defaults of a workspace name what its calls reach, by id or slug; null clears them', async () => {
    const [own, ours] = [await create(), await shared()]
    const path = `/v1/admin/workspaces/${admin.workspace_id}`
    const put = (defaults: unknown) => admin.asAdmin('PUT', path, {defaults})
    const shown = async () => (await admin.asAdmin('GET', path)).body.defaults
    expect((await put({metadata: {team: 'a'}, input_guardrails: [own.slug, ours.id]})).status).toBe(200)
    expect((await put({output_guardrails: [ours.slug]})).status).toBe(200)
    expect(await shown()).toMatchObject({
      ...{metadata: {team: 'a'}, input_guardrails: [own.slug, ours.id], output_guardrails: [ours.slug]},
    })
    const far = await admin.seedWorkspace(admin.organisation_id)
    const refused = await admin.asAdmin('PUT', `/v1/admin/workspaces/${far.id}`, {
      defaults: {input_guardrails: [own.slug]},
    })
    const sentence = `defaults.input_guardrails: no guardrail is known by the id ${own.slug}.`
    expect([refused.status, refused.body]).toEqual([404, refusal('AB02', sentence)])
    expect((await admin.asWorkspace('DELETE', `/v1/guardrails/${own.slug}`)).body).toEqual(
      refusal('AB07', 'This guardrail still has the workspace "Shared Workspace" naming it. Take it out there first.'),
    )
    expect((await put({input_guardrails: null})).status).toBe(200)
    expect(await shown()).toMatchObject({metadata: {team: 'a'}, input_guardrails: [], output_guardrails: [ours.slug]})
    expect((await put(null)).status).toBe(200)
    expect(await shown()).toMatchObject({metadata: {}, input_guardrails: [], output_guardrails: []})
    expect((await admin.asWorkspace('DELETE', `/v1/guardrails/${own.slug}`)).status).toBe(200)
  })

  test("defaults of the organisation are its own guardrails, set by admin keys; they come first on its workspaces' calls", async () => {
    const [own, ours] = [await create(), await shared()]
    const path = '/v1/admin/organisation/defaults'
    const none = {input_guardrails: [], output_guardrails: [], object: 'organisation-defaults'}
    expect((await admin.asAdmin('GET', path)).body).toEqual(none)
    admin.published.splice(0)
    const put = await admin.asAdmin('PUT', path, {input_guardrails: [ours.slug]})
    expect(put.body).toEqual({...none, input_guardrails: [ours.slug]})
    expect(admin.published).toEqual(['organisations'])
    expect((await admin.asAdmin('PUT', path, {output_guardrails: [ours.id]})).body.input_guardrails).toEqual([
      ours.slug,
    ])
    const recorded = {
      resource_type: 'organisation',
      resource_id: admin.organisation_id,
      action: 'update',
      workspace_id: null,
    }
    expect(await admin.auditLog()).toContainEqual(expect.objectContaining(recorded))
    await admin.asAdmin('PUT', `/v1/admin/workspaces/${admin.workspace_id}`, {
      defaults: {input_guardrails: [own.slug, ours.slug]},
    })
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    expect(await findDefaultGuardrails(admin.store.db, place)).toEqual({
      input: [ours.slug, own.slug],
      output: [ours.id],
    })
    for (const named of [own.slug, 'pg-none']) {
      const refused = await admin.asAdmin('PUT', path, {input_guardrails: [named]})
      expect([refused.status, refused.body]).toEqual([
        ...[404, refusal('AB02', `input_guardrails: no guardrail is known by the id ${named}.`)],
      ])
    }
    expect((await admin.asAdmin('PUT', path, {guardrails: []})).status).toBe(400)
    expect((await admin.asWorkspace('GET', path)).status).toBe(403)
    expect((await admin.asWorkspace('PUT', path, {input_guardrails: null})).body.data.errorCode).toBe('AB03')
    expect((await admin.send(other.admin.key, 'GET', path)).body).toEqual(none)
    expect((await admin.asAdmin('PUT', path, {input_guardrails: null, output_guardrails: []})).body).toEqual(none)
    await admin.asAdmin('PUT', `/v1/admin/workspaces/${admin.workspace_id}`, {defaults: null})
  })

  test('a workspace that comes back has those of its defaults that are still there', async () => {
    const [ours, gone] = [await shared(), await shared()]
    const far = await admin.seedWorkspace(admin.organisation_id)
    const own = await create({workspace_id: far.id}, admin.admin_key)
    const path = `/v1/admin/workspaces/${far.id}`
    const defaults = {
      metadata: {team: 'a'},
      input_guardrails: [own.slug, ours.slug, gone.id],
      output_guardrails: [own.id],
    }
    expect((await admin.asAdmin('PUT', path, {defaults})).status).toBe(200)
    const held = await admin.asAdmin('DELETE', path, {name: far.name})
    expect([held.status, held.body.data.message]).toEqual([409, expect.stringContaining('1 guardrail')])
    expect((await admin.asAdmin('DELETE', path, {name: far.name, force_delete: true})).status).toBe(200)
    expect((await admin.asAdmin('DELETE', `/v1/guardrails/${gone.slug}`)).status).toBe(200)
    expect((await admin.asAdmin('PUT', path, {status: 'active'})).status).toBe(200)
    expect((await admin.asAdmin('GET', path)).body.defaults).toMatchObject({
      ...{metadata: {team: 'a'}, input_guardrails: [ours.slug], output_guardrails: []},
    })
  })

  test('one that a saved config or the organisation names is not deleted', async () => {
    const {id, slug} = await shared()
    const {db} = admin.store
    const config = JSON.stringify({input_guardrails: [slug]})
    await db
      .insertInto('configs')
      .values({
        ...{
          id: 'c',
          slug: 'pc-c',
          organisation_id: admin.organisation_id,
          workspace_id: admin.workspace_id,
          name: 'C',
          is_default: 0,
        },
        ...{
          status: 'active',
          version_id: 'v',
          version: 1,
          config,
          secrets_sealed: null,
          owner_id: null,
          updated_by: null,
        },
        ...{created_at: AT, last_updated_at: AT},
      })
      .execute()
    const remove = async () => (await admin.asAdmin('DELETE', `/v1/guardrails/${id}`)).body
    const inUse = (who: string) =>
      refusal('AB07', `This guardrail still has ${who} naming it. Take it out there first.`)
    expect(await remove()).toEqual(inUse('the config pc-c'))
    await db.updateTable('configs').set({status: 'archived'}).where('id', '=', 'c').execute()
    const set = (output_guardrails: string[] | null) =>
      admin.asAdmin('PUT', '/v1/admin/organisation/defaults', {output_guardrails})
    expect((await set([id])).status).toBe(200)
    expect(await remove()).toEqual(inUse('the organisation "Organisation"'))
    await set(null)
    expect(await remove()).toEqual({})
  })

  test('the portkey-ai SDK saves, lists, shows, changes and deletes one', async () => {
    const client = new Portkey({apiKey: admin.workspace_key, baseURL: `${admin.url}/v1`})
    const {id, slug, version_id} = await client.guardrails.create({name: 'By SDK', checks, actions})
    const listed = await client.guardrails.list({page_size: 100, current_page: 0})
    expect(listed.data.map(row => row.id)).toContain(id)
    const shown = await client.guardrails.retrieve({guardrail_id: slug})
    expect(shown).toMatchObject({id, slug, checks, actions})
    const changed = await client.guardrails.update({
      guardrail_id: slug,
      name: 'By SDK 2',
      checks: [{id: 'default.notNull'}],
    })
    expect(changed).toMatchObject({id, slug})
    expect(changed.version_id).not.toBe(version_id)
    await client.guardrails.delete({guardrail_id: slug})
    await expect(client.guardrails.retrieve({guardrail_id: slug})).rejects.toThrow(/AB08/)
  })
})

test('GUARDRAILS_ENABLED=OFF leaves what is saved to be administered', async () => {
  const admin = await startAdmin({operations: guardrails, env: {GUARDRAILS_ENABLED: 'OFF'}})
  const saved = await admin.asWorkspace('POST', '/v1/guardrails', {
    name: 'A',
    checks: [{id: 'default.notNull'}],
    actions: {},
  })
  expect(saved.status).toBe(200)
  expect((await admin.asWorkspace('GET', `/v1/guardrails/${saved.body.slug}`)).status).toBe(200)
  expect((await admin.asWorkspace('GET', '/v1/guardrails')).body.total).toBe(1)
  await admin.close()
})

test('the table of operations loads no check: the first that asks for one does', () => {
  const seen = new Set<string>()
  const follow = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) (?!type )(?:[^'"]*? from )?'(\.[^']+)'/gm,
    ))
      follow(resolve(dirname(file), path!))
  }
  follow(resolve(import.meta.dirname, '../../src/admin/registry.ts'))
  expect(seen.size).toBeGreaterThan(50)
  expect([...seen].filter(file => file.includes('/src/guardrails/'))).toEqual([])
})
