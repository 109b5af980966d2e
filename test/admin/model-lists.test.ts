import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {type Admin, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

describe.each(KINDS)('fact 26: lists of models on %s', kind => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({kind})
  })
  afterAll(() => admin.close())

  const make = (body: object, path = 'workspace/service') =>
    admin.asAdmin('POST', `/v1/api-keys/${path}`, {
      name: 'Made',
      scopes: ['completions.write'],
      workspace_id: admin.workspace_slug,
      ...body,
    })

  test('a key’s is kept, shown, and changed member by member', async () => {
    const made = await make({models: {allow: ['gpt-*', '@main/*', 'gpt-*']}})
    const {id} = made.body
    const shown = async () => (await admin.asAdmin('GET', `/v1/api-keys/${id}`)).body.models
    const change = async (body: object) => {
      expect((await admin.asAdmin('PUT', `/v1/api-keys/${id}`, body)).status).toBe(200)
      return shown()
    }
    expect(await shown()).toEqual({allow: ['gpt-*', '@main/*'], deny: []})
    expect(await change({name: 'Renamed'})).toEqual({allow: ['gpt-*', '@main/*'], deny: []})
    expect(await change({models: {deny: ['*-preview']}})).toEqual({allow: ['gpt-*', '@main/*'], deny: ['*-preview']})
    expect(await change({models: {allow: ['o1']}})).toEqual({allow: ['o1'], deny: ['*-preview']})
    expect(await change({models: {allow: null}})).toEqual({allow: null, deny: ['*-preview']})
    expect(await change({models: {deny: []}})).toBeNull()
    expect(await change({models: {deny: ['a']}})).toEqual({allow: null, deny: ['a']})
    expect(await change({models: null})).toBeNull()
    const [row] = (await admin.auditLog()).slice(-1) as {changes: string}[]
    expect(JSON.parse(row!.changes)).toContainEqual(expect.objectContaining({field: expect.stringContaining('models')}))
  })

  test('a workspace’s is kept, shown in the list too, and cleared by null alone', async () => {
    const made = await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'Held', models: {deny: ['o1']}})
    expect(made.body.models).toEqual({allow: null, deny: ['o1']})
    const path = `/v1/admin/workspaces/${made.body.slug}`
    const shown = async () => (await admin.asAdmin('GET', path)).body.models
    expect((await admin.asAdmin('PUT', path, {description: 'x'})).status).toBe(200)
    expect(await shown()).toEqual({allow: null, deny: ['o1']})
    const {data} = (await admin.asAdmin('GET', '/v1/admin/workspaces')).body
    expect(data.find(({slug}: {slug: string}) => slug === made.body.slug).models).toEqual({allow: null, deny: ['o1']})
    expect((await admin.asAdmin('PUT', path, {models: null})).status).toBe(200)
    expect(await shown()).toBeNull()
  })

  test.each<[object, string]>([
    [
      {allow: []},
      'models.allow: expected a glob at least: leave it out, or null, to allow all, and deny * to allow none.',
    ],
    [{deny: ['']}, 'models.deny[0]: must have at least 1 character.'],
    [{deny: ['@main']}, 'models.deny[0]: names a provider and no model: write @slug/* for all its models.'],
    [{deny: [' o1']}, 'models.deny[0]: must not begin or end with a space.'],
    [{deny: ['é'.repeat(128)]}, 'models.deny[0]: must be 255 bytes at most.'],
    [{only: ['o1']}, 'models: the key only is not known here (known: allow, deny).'],
    [
      {allow: Array.from({length: 300}, (_, at) => `a${at}`), deny: Array.from({length: 201}, (_, at) => `d${at}`)},
      'models: has 501 globs in allow and deny together; at most 500 can be kept.',
    ],
  ])('%j is refused', async (models, message) => {
    const reply = await make({models})
    expect([reply.status, reply.body.data.message]).toEqual([400, message])
  })

  test('500 globs of 255 bytes are kept', async () => {
    const deny = Array.from({length: 500}, (_, at) => `${String(at).padStart(3, '0')}${'x'.repeat(252)}`)
    expect((await make({models: {deny}})).status).toBe(200)
    const {id} = (await make({models: {deny: deny.slice(1)}})).body
    const over = await admin.asAdmin('PUT', `/v1/api-keys/${id}`, {models: {allow: ['a', 'b']}})
    expect(over.body.data.message).toContain('501 globs')
  })

  test('an admin key, which calls no models, has none', async () => {
    const reply = await make(
      {scopes: ['workspaces.list'], workspace_id: undefined, models: {deny: ['o1']}},
      'organisation/service',
    )
    expect([reply.status, reply.body.data.message]).toEqual([
      400,
      'models: has no effect on a key of type organisation-service, which calls no models.',
    ])
  })
})
