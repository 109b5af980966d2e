import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {openExplaining} from '../../src/app/explain-services.ts'
import {createLog} from '../../src/base/log.ts'
import {bundledCatalogue} from '../../src/pricing/catalogue.ts'
import type {Replay} from '../../src/schema/replays.ts'
import {manyBodiesFinder} from '../../src/store/bodies/index.ts'
import type {StoreOptions} from '../../src/store/dialect/index.ts'
import {forgetRows} from '../../src/store/remembered.ts'
import {type Admin, type Answer, startAdmin} from '../support/admin.ts'
import {keepBodies} from '../support/bodies.ts'
import {insertLog} from '../support/logs.ts'
import {KINDS} from '../support/stores.ts'

/** Its rows are read through the connection that is given beside it. */
const POSTGRES: StoreOptions = {kind: 'postgres', connection: {connectionString: ''}, pool_size: 1}
const CHAT = {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]}
const when = (query: object, then: string) =>
  Object.fromEntries([
    ['query', query],
    ['then', then],
  ])

async function start(kind: 'sqlite' | 'postgres' = 'sqlite') {
  const admin = await startAdmin({kind})
  const {store, settings, seal, now} = admin.services
  const log = createLog('silent', 'test')
  const explaining = openExplaining({
    ...{settings, store, seal, log},
    now: () => now().getTime(),
    prices: bundledCatalogue(),
  })
  store.onWrite(changed => forgetRows(explaining.remembered, changed))
  Object.assign(admin.services, explaining)
  for (const slug of ['a', 'b']) {
    await good(
      admin.asAdmin('POST', '/v1/integrations', {
        name: slug,
        slug,
        ai_provider_id: 'openai',
        key: 'sk-upstream-0123456789',
      }),
    )
    const workspaces = [{id: admin.workspace_id, enabled: true, default_provider_slug: slug}]
    await good(admin.asAdmin('PUT', `/v1/integrations/${slug}/workspaces`, {workspaces}))
  }
  return admin
}

async function good(sent: Promise<Answer>) {
  const answer = await sent
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body
}

describe('explain', () => {
  let admin: Admin
  beforeAll(async () => {
    admin = await start()
  })
  afterAll(() => admin.close())

  const asked = (more: object = {}) => ({config: {provider: '@a'}, request: {body: CHAT}, ...more})

  test('is for who may read configs, writes nothing and is not recorded', async () => {
    const before = await admin.auditLog()
    const reply = await admin.asWorkspace('POST', '/v1/configs/explain', asked())
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({object: 'explanation', way: {end: {status: 200, target: 'config'}}})
    const {key} = await admin.seedKey(admin, {scopes: ['configs.list', 'logs.list']})
    for (const path of ['/v1/configs/explain', '/v1/configs/replay'])
      expect(await admin.send(key, 'POST', path, asked())).toMatchObject({
        status: 403,
        text: expect.stringContaining('configs.read'),
      })
    expect(await admin.auditLog()).toEqual(before)
    expect(admin.faults).toEqual([])
  })

  test('is of the caller’s workspace alone; an admin names one', async () => {
    const foreign = await admin.foreign()
    const question = asked({workspace_id: admin.workspace_id})
    expect((await admin.asAdmin('POST', '/v1/configs/explain', question)).status).toBe(200)
    expect((await admin.asAdmin('POST', '/v1/configs/explain', asked())).body.data.message).toContain(
      'workspace_id: is required',
    )
    for (const {key} of [foreign.admin, foreign.key])
      expect((await admin.send(key, 'POST', '/v1/configs/explain', question)).status).toBe(404)
    const own = await admin.send(foreign.key.key, 'POST', '/v1/configs/explain', asked())
    expect(own.body.targets).toMatchObject([{refusal: {code: 'provider.unknown'}}])
    const config = await good(admin.asWorkspace('POST', '/v1/configs', {name: 'main', config: {provider: '@a'}}))
    const named = asked({config: config.data.slug})
    expect((await admin.asWorkspace('POST', '/v1/configs/explain', named)).body.config).toEqual({
      id: config.data.id,
      slug: config.data.slug,
    })
    expect((await admin.send(foreign.key.key, 'POST', '/v1/configs/explain', named)).body.data.message).toContain(
      'no config is called',
    )
  })

  test('a config that got another version since is explained as it is now', async () => {
    const {data} = await good(admin.asWorkspace('POST', '/v1/configs', {name: 'turning', config: {provider: '@a'}}))
    const explained = async () =>
      (await good(admin.asWorkspace('POST', '/v1/configs/explain', asked({config: data.slug})))).targets[0].managed
    expect(await explained()).toBe('a')
    await good(admin.asWorkspace('PUT', `/v1/configs/${data.slug}`, {config: {provider: '@b'}}))
    expect(await explained()).toBe('b')
  })

  test('takes the default config and the metadata of the workspace', async () => {
    const config = await good(admin.asWorkspace('POST', '/v1/configs', {name: 'usual', config: {provider: '@b'}}))
    const defaults = {config_id: config.data.slug, metadata: {team: 'blue'}}
    await admin.store.db
      .updateTable('workspaces')
      .set({defaults: JSON.stringify(defaults)})
      .where('id', '=', admin.workspace_id)
      .execute()
    const {body} = await admin.asWorkspace('POST', '/v1/configs/explain', {
      request: {body: CHAT, headers: {'x-gateway-metadata': '{"team":"red","x":"y"}'}},
    })
    expect(body.call.metadata).toEqual({team: 'blue', x: 'y'})
    expect(body.targets).toMatchObject([{managed: 'b'}])
  })

  test('a word that is not known is refused with the nearest', async () => {
    const reply = await admin.asWorkspace('POST', '/v1/configs/explain', {...asked(), sead: 1})
    expect(reply).toMatchObject({status: 400, text: expect.stringContaining('did you mean seed?')})
  })
})

describe.each(KINDS)('replay on %s', kind => {
  let admin: Admin
  let folder: string
  beforeAll(async () => {
    admin = await start(kind)
    folder = admin.folder
  })
  afterAll(() => admin.close())
  beforeEach(() => admin.store.db.deleteFrom('traffic.logs').execute())

  const SINCE = '2026-03-01T00:00:00.000Z'
  const at = (index: number) => new Date(Date.parse('2026-03-02T00:00:00.000Z') + index * 1000).toISOString()
  const id = (index: number, row = 0) => `0000-${String(index).padStart(5, '0')}-${row}`
  const ofHere = () => ({organisation_id: admin.organisation_id, workspace_id: admin.workspace_id})
  const called = (index: number, row: object = {}) =>
    insertLog(admin.store.db, {
      id: id(index),
      call_id: `call-${index}`,
      created_at: at(index),
      ...ofHere(),
      provider_slug: 'a',
      model: 'gpt-4o-mini',
      upstream_url: 'https://api.openai.com/v1/chat/completions',
      ...row,
    })
  const replay = async (config: unknown, more: object = {}): Promise<Replay> =>
    good(admin.asWorkspace('POST', '/v1/configs/replay', {config, since: SINCE, limit: 1000, ...more}))
  /** All pages, as they come. */
  const pages = async (config: unknown, limit: number) => {
    const all: Replay[] = []
    for (let before: string | null | undefined; before !== null; before = all.at(-1)!.next)
      all.push(await replay(config, {limit, ...(before && {before})}))
    return all
  }

  const PRO = {
    strategy: {mode: 'conditional', conditions: [when({'metadata.plan': 'pro'}, 'large')], default: 'small'},
    targets: [
      {name: 'large', provider: '@b', override_params: {model: 'gpt-4o'}},
      {name: 'small', provider: '@a'},
    ],
  }

  test('says which calls would go elsewhere, in sums with examples; page by page it is the same', async () => {
    for (let index = 0; index < 300; index++) {
      const metadata = JSON.stringify({plan: index % 3 === 0 ? 'pro' : 'free'})
      if (index % 10 === 9)
        await called(index, {
          metadata,
          provider_slug: null,
          provider: '',
          status: 429,
          outcome: 'failed',
          upstream_url: null,
          error: 'The rate limit is reached',
        })
      else if (index % 10 === 8) {
        await called(index, {metadata, status: 503, outcome: 'failed', id: id(index, 0)})
        await called(index, {metadata, provider_slug: 'b', id: id(index, 1)})
      } else await called(index, {metadata})
    }
    const all = Array.from({length: 300}, (_, index) => index).filter(index => index % 10 !== 9)
    const pro = all.filter(index => index % 3 === 0)
    const twice = all.filter(index => index % 10 === 8)
    const both = twice.filter(index => index % 3 === 0)
    const examples = (of: number[], row = 0) =>
      of
        .slice(-3)
        .reverse()
        .map(index => id(index, row))
    const once = pro.filter(index => index % 10 !== 8)
    const rest = twice.filter(index => index % 3 !== 0)
    const response = await replay(PRO)
    expect(response).toEqual({
      object: 'replay',
      calls: 270,
      changed: once.length + both.length + rest.length,
      left_out: 30,
      without_body: 0,
      moves: [
        {from: '@a/gpt-4o-mini', to: '@b/gpt-4o', calls: once.length, by_lot: 0, examples: examples(once)},
        {from: '@b/gpt-4o-mini', to: '@a/gpt-4o-mini', calls: rest.length, by_lot: 0, examples: examples(rest, 1)},
        {from: '@b/gpt-4o-mini', to: '@b/gpt-4o', calls: both.length, by_lot: 0, examples: examples(both, 1)},
      ],
      next: null,
    })
    expect(await replay(PRO)).toEqual(response)
    const some = await pages(PRO, 7)
    expect(some.length).toBeGreaterThan(40)
    for (const name of ['calls', 'changed', 'left_out'] as const)
      expect(some.reduce((sum, page) => sum + page[name], 0)).toBe(response[name])
  })

  test('a target that failed fails again, and the next one is asked; what the log has not seen answers', async () => {
    for (let index = 0; index < 4; index++)
      await called(index, {status: index < 2 ? 503 : 200, outcome: index < 2 ? 'failed' : 'ok'})
    const {moves, changed} = await replay({strategy: {mode: 'fallback'}, targets: [{provider: '@a'}, {provider: '@b'}]})
    expect([changed, moves]).toEqual([
      2,
      [{from: '@a/gpt-4o-mini', to: '@b/gpt-4o-mini', calls: 2, by_lot: 0, examples: [id(1), id(0)]}],
    ])
    expect((await replay({provider: '@a'})).changed).toBe(0)
  })

  test('an answer from the cache is one of its provider, whatever model is set there', async () => {
    await called(0, {upstream_url: null, model: '@a/gpt-4o-mini', cache_status: 'HIT'})
    await called(1, {upstream_url: null, model: 'gpt-4o-mini', cache_status: 'HIT'})
    expect(await replay({provider: '@a', override_params: {model: 'gpt-4o'}})).toMatchObject({calls: 2, changed: 0})
    expect((await replay({provider: '@b'})).moves).toEqual([
      {from: '@a/gpt-4o-mini', to: '@b/gpt-4o-mini', calls: 2, by_lot: 0, examples: [id(1), id(0)]},
    ])
  })

  test('refusals are told from either side', async () => {
    await called(0)
    await called(1, {
      provider_slug: null,
      provider: '',
      status: 400,
      outcome: 'failed',
      upstream_url: null,
      error: 'AB01: config: no condition holds',
    })
    const strategy = {mode: 'conditional', conditions: [when({'metadata.plan': 'pro'}, 'large')]}
    const {moves} = await replay({...PRO, strategy, targets: [PRO.targets[0]]})
    expect(moves).toEqual([{from: '@a/gpt-4o-mini', to: 'refused 400', calls: 1, by_lot: 0, examples: [id(0)]}])
    expect((await replay({provider: '@a'})).moves).toEqual([
      {from: 'refused 400', to: '@a/gpt-4o-mini', calls: 1, by_lot: 0, examples: [id(1)]},
    ])
    expect((await replay({provider: '@nobody'})).moves.map(({to}) => to)).toEqual(['refused 400'])
  })

  test('draws are made from the ids of calls: the same again, and by weight; sticky callers stay together', async () => {
    for (let index = 0; index < 400; index++)
      await called(index, {metadata: JSON.stringify({_user: `user-${index % 20}`})})
    const balanced = (more: object = {}) => ({
      strategy: {mode: 'loadbalance', ...more},
      targets: [
        {provider: '@a', weight: 3},
        {provider: '@b', weight: 1},
      ],
    })
    const response = await replay(balanced())
    expect(response).toEqual(await replay(balanced()))
    expect(response.moves).toMatchObject([{to: '@b/gpt-4o-mini', by_lot: response.changed}])
    expect(response.changed).toBeGreaterThan(60)
    expect(response.changed).toBeLessThan(140)
    const {changed} = await replay(balanced({sticky: {enabled: true, hash_fields: ['metadata._user']}}))
    expect(changed % 20).toBe(0)
  })

  test('bodies are read where a condition asks for them, and only there', async () => {
    const reads: string[] = []
    const {bodies} = admin.services
    Object.assign(admin.services, {
      bodies: (row: Parameters<typeof bodies>[0]) => {
        reads.push(row.id)
        return bodies(row)
      },
    })
    for (let index = 0; index < 3; index++) await called(index)
    const request_body = Buffer.from(JSON.stringify({...CHAT, max_tokens: 500}))
    await keepBodies(
      {store: admin.store, folder},
      {log_id: id(1), created_at: at(1), request_body},
      Date.parse(at(1)) + 10,
    )
    await replay(PRO)
    expect(reads).toEqual([])
    const strategy = {
      mode: 'conditional',
      conditions: [when({'params.max_tokens': {$gt: 100}}, 'large')],
      default: 'small',
    }
    expect(await replay({...PRO, strategy})).toMatchObject({
      calls: 3,
      changed: 1,
      without_body: 2,
      moves: [{from: '@a/gpt-4o-mini', to: '@b/gpt-4o', examples: [id(1)]}],
    })
    expect(reads.sort()).toEqual([id(0), id(1), id(2)])
    const one_by_one = await replay({...PRO, strategy})
    Object.assign(admin.services, {
      many_bodies: manyBodiesFinder(kind === 'sqlite' ? {kind, folder, role: 'server'} : POSTGRES, admin.store.db),
    })
    reads.length = 0
    expect(await replay({...PRO, strategy})).toEqual(one_by_one)
    expect(reads).toEqual([])
    Object.assign(admin.services, {bodies, many_bodies: undefined})
  })

  test('rows of other workspaces and other times are not looked at, and both rights are needed', async () => {
    await called(0, {workspace_id: 'another'})
    await called(1, {created_at: '2026-02-01T00:00:00.000Z'})
    await called(2)
    expect(await replay({provider: '@b'})).toMatchObject({calls: 1, changed: 1})
    const {key} = await admin.seedKey(admin, {scopes: ['configs.read']})
    const reply = await admin.send(key, 'POST', '/v1/configs/replay', {config: {provider: '@b'}, since: SINCE})
    expect(reply).toMatchObject({status: 403, text: expect.stringContaining('logs.list')})
    await expect(replay({provder: '@b'})).rejects.toThrow(/config\.provder/)
  })
})
