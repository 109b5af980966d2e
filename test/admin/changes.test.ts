import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {changesOf, changesText, watched} from '../../src/admin/changes.ts'
import {startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

/** What an update changes is said in its answer and in its record: the same pairs. */
describe.each(KINDS)('what an update changes, on %s', kind => {
  let admin: Awaited<ReturnType<typeof startAdmin>>
  beforeAll(async () => {
    admin = await startAdmin({kind})
  })
  afterAll(() => admin.close())

  const send = (method: string, path: string, body?: object) => admin.asAdmin(method, `/v1${path}`, body)

  async function newest(action: string) {
    const {body} = await send(
      'GET',
      `/audit-logs?start_time=2026-01-01T00:00:00Z&end_time=2027-01-01T00:00:00Z&action=${action}&page_size=1`,
    )
    return body.records[0]
  }

  async function makeKey() {
    const {body} = await send('POST', '/api-keys/workspace/service', {
      name: 'blue',
      scopes: ['completions.write'],
      workspace_id: admin.workspace_slug,
      usage_limits: {credit_limit: 25, alert_threshold: 5, periodic_reset: 'monthly', enforcement: 'strict'},
      rate_limits: [{type: 'requests', unit: 'rpm', value: 60, enforcement: 'strict'}],
    })
    return body.id as string
  }

  test('a budget keeps its period, alert and enforcement', async () => {
    const id = await makeKey()
    const reply = await send('PUT', `/api-keys/${id}?changes=true`, {usage_limits: {credit_limit: 6}})
    expect(reply.body).toMatchObject({
      changed: ['usage_limits.credit_limit'],
      before: {usage_limits: {credit_limit: 25}},
      after: {usage_limits: {credit_limit: 6, alert_threshold: 5, periodic_reset: 'monthly', enforcement: 'strict'}},
    })
    expect((await newest('update')).changes).toEqual([{field: 'usage_limits.credit_limit', before: 25, after: 6}])
    expect((await send('GET', '/audit-logs/verify')).body.holds).toBe(true)
  })

  test('a dry run says what would change, and changes nothing', async () => {
    const id = await makeKey()
    const before = (await send('GET', `/api-keys/${id}`)).body
    const records = (await send('GET', '/audit-logs/verify')).body.rows
    const reply = await send('PUT', `/api-keys/${id}?dry_run=true`, {name: 'green'})
    expect(reply.body).toMatchObject({changed: ['name'], before: {name: 'blue'}, after: {name: 'green'}, dry_run: true})
    expect((await send('GET', `/api-keys/${id}`)).body).toEqual(before)
    expect((await send('GET', '/audit-logs/verify')).body.rows).toBe(records)
    expect((await send('PUT', `/api-keys/${id}?dry_run=perhaps`, {name: 'green'})).status).toBe(400)
  })

  test('a credential shows that it was replaced, nowhere itself', async () => {
    await send('POST', '/integrations', {
      slug: 'cloud',
      name: 'cloud',
      ai_provider_id: 'openai',
      key: 'sk-first-credential',
    })
    const reply = await send('PUT', '/integrations/cloud?changes=true', {key: 'sk-second-credential'})
    expect(reply.body.before.key).toBe('set')
    expect(reply.body.after.key).toBe('set (replaced)')
    const {changes} = await newest('update')
    expect(changes).toContainEqual({field: 'key', before: 'set', after: 'set (replaced)'})
    expect(JSON.stringify([reply.body, changes])).not.toContain('second-credential')
  })

  test('who may change and not read is shown nothing; the record holds the pairs', async () => {
    const id = await makeKey()
    const made = await send('POST', '/api-keys/organisation/service', {
      name: 'writer',
      scopes: ['workspace_service_api_keys.update'],
    })
    const reply = await admin.send(made.body.key, 'PUT', `/v1/api-keys/${id}?changes=true`, {name: 'red'})
    expect([reply.status, reply.body]).toEqual([200, {}])
    expect((await newest('update')).changes).toEqual([{field: 'name', before: 'blue', after: 'red'}])
    expect((await admin.send(made.body.key, 'PUT', `/v1/api-keys/${id}?dry_run=true`, {name: 'violet'})).status).toBe(
      403,
    )
  })

  test('who may change a thing and not see it is shown none of it', async () => {
    const workspace_id = admin.workspace_slug
    const {body} = await send('POST', '/configs', {name: 'unseen', config: {retry: {attempts: 2}}, workspace_id})
    const {key} = (
      await send('POST', '/api-keys/workspace/service', {name: 'blind', scopes: ['configs.update'], workspace_id})
    ).body
    const path = `/v1/configs/${body.data.slug ?? body.data.id}`
    const reply = await admin.send(key, 'PUT', `${path}?changes=true`, {name: 'other'})
    expect([reply.status, reply.body.before]).toEqual([200, undefined])
    expect((await admin.send(key, 'PUT', `${path}?dry_run=true`, {name: 'third'})).status).toBe(403)
  })

  test('a write that nothing shows takes no dry run, and is not done', async () => {
    const id = await makeKey()
    const named = expect.stringContaining('query parameter dry_run')
    for (const [method, path, body] of [
      ['DELETE', `/api-keys/${id}?dry_run=true`, undefined],
      [
        'POST',
        '/integrations?dry_run=true',
        {slug: 'dry', name: 'dry', ai_provider_id: 'openai', key: 'sk-first-credential'},
      ],
    ] as const) {
      const reply = await send(method, path, body)
      expect([reply.status, reply.body.data.message]).toEqual([400, named])
    }
    expect((await send('GET', `/api-keys/${id}`)).status).toBe(200)
    expect((await send('GET', '/integrations/dry')).status).toBe(404)
  })

  test('a mask that comes back is no change', async () => {
    await send('POST', '/integrations', {
      slug: 'masks',
      name: 'masks',
      ai_provider_id: 'openai',
      key: 'sk-first-credential',
    })
    const {masked_key} = (await send('GET', '/integrations/masks')).body
    expect((await send('PUT', '/integrations/masks?changes=true', {key: masked_key})).body.changed).toEqual([])
  })

  test('a new version of a prompt is a change', async () => {
    const workspace_id = admin.workspace_slug
    const {body: shelf} = await send('POST', '/collections', {name: 'shelf', workspace_id})
    const {body: account} = await send('POST', '/virtual-keys', {
      name: 'account',
      provider: 'openai',
      key: 'sk-first-credential',
      workspace_id,
    })
    const prompt = {
      name: 'letter',
      string: 'one',
      parameters: {},
      collection_id: shelf.id,
      virtual_key: account.data.slug,
    }
    const {body} = await send('POST', '/prompts', prompt)
    expect((await send('PUT', `/prompts/${body.id}`, {string: 'two', patch: true})).status).toBe(200)
    expect((await newest('update')).changes).toContainEqual({field: 'string', before: 'one', after: 'two'})
  })

  test.each([
    [
      'an alert that is too high now',
      {credit_limit: 4},
      /^usage_limits\.alert_threshold: must be below credit_limit, and is 5: send another beside it, or null for none\.$/,
    ],
    ['two periods at once', {periodic_reset: 'weekly', periodic_reset_days: 3}, /^usage_limits\.periodic_reset_days: /],
    [
      'another unit without an amount',
      {type: 'tokens'},
      /^usage_limits\.credit_limit: is required, as there is no budget of tokens yet\.$/,
    ],
  ])('%s is refused', async (_, usage_limits, says) => {
    const id = await makeKey()
    const reply = await send('PUT', `/api-keys/${id}`, {usage_limits})
    expect([reply.status, reply.body.data.message]).toEqual([400, expect.stringMatching(says)])
  })

  test('null of a field clears that field, null of all takes the budget away', async () => {
    const id = await makeKey()
    await send('PUT', `/api-keys/${id}`, {usage_limits: {alert_threshold: null}})
    expect((await send('GET', `/api-keys/${id}`)).body.usage_limits).toMatchObject({
      credit_limit: 25,
      alert_threshold: null,
      periodic_reset: 'monthly',
    })
    await send('PUT', `/api-keys/${id}`, {usage_limits: {periodic_reset_days: 10}})
    expect((await send('GET', `/api-keys/${id}`)).body.usage_limits).toMatchObject({
      credit_limit: 25,
      periodic_reset: null,
      periodic_reset_days: 10,
    })
    await send('PUT', `/api-keys/${id}`, {usage_limits: null})
    const {usage_limits, rate_limits} = (await send('GET', `/api-keys/${id}`)).body
    expect([usage_limits, rate_limits]).toEqual([
      null,
      [{type: 'requests', unit: 'rpm', value: 60, enforcement: 'strict'}],
    ])
  })

  test('one limit alone leaves the others, a list says all', async () => {
    const id = await makeKey()
    await send('PUT', `/api-keys/${id}`, {rate_limits: {type: 'tokens', unit: 'rpd', value: 9}})
    await send('PUT', `/api-keys/${id}`, {rate_limits: {type: 'requests', unit: 'rpm', value: 7}})
    const both = [
      {type: 'requests', unit: 'rpm', value: 7, enforcement: 'strict'},
      {type: 'tokens', unit: 'rpd', value: 9},
    ]
    expect((await send('GET', `/api-keys/${id}`)).body.rate_limits).toEqual(both)
    await send('PUT', `/api-keys/${id}`, {rate_limits: [{type: 'tokens', unit: 'rpd', value: 9}]})
    expect((await send('GET', `/api-keys/${id}`)).body.rate_limits).toEqual([both[1]])
  })
})

describe('what the record keeps of changes', () => {
  test('is whole JSON within its bound, however many fields there are', () => {
    const changes = Array.from({length: 4000}, (_, at) => ({
      field: `metadata.${'long'.repeat(8)}${at}`,
      before: null,
      after: 'x'.repeat(40),
    }))
    const text = changesText({changes, replaced: new Set()})
    expect(text.length).toBeLessThanOrEqual(65_536)
    const rows = JSON.parse(text)
    expect([rows.length > 500, rows.at(-1)]).toEqual([true, {field: '(and more)', before: null, after: null}])
    expect(changesOf(text)).toEqual(rows)
    expect([changesOf(text.slice(0, -9)), changesOf(null)]).toEqual([null, null])
  })

  test('masks the secret before a value that only looks like the word for a replaced one', () => {
    const changes = [{field: 'headers.token', before: 'sk-old', after: 'set (replaced)'}]
    expect(changesText({changes, replaced: new Set()})).not.toContain('sk-old')
    expect(changesText({changes: [{...changes[0]!, before: 'set'}], replaced: new Set(['headers.token'])})).toContain(
      '"set"',
    )
  })

  test('leaves a text as it is where the write gave an object with a secret', async () => {
    const texts = ['one', 'two']
    const view = {scopes: null, handle: async () => ({note: texts.shift()})}
    const call = {
      actor: {scopes: 'all'},
      app: {},
      params: undefined,
      query: undefined,
      body: {note: {api_key: 'sk-given'}},
    }
    const {done} = await watched(
      view as never,
      call as never,
      async () => undefined,
      () => undefined,
    )
    expect(done?.changes).toEqual([{field: 'note', before: 'one', after: 'two'}])
  })
})
