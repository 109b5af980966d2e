import {randomBytes} from 'node:crypto'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {onServer} from '../support/stores.ts'

const {TEST_DATABASE_URL: database_url, TEST_REDIS_URL: redis_url} = process.env
const PLACES = ['sqlite', ...(database_url ? ['postgres'] : []), ...(redis_url ? ['redis'] : [])] as const

const NUL = '"a\\u0000b"'
const HALF = '"\\ud800"'
const LONG = JSON.stringify('l'.repeat(3_000))

describe.each(PLACES)('text of one call, counters on %s', place => {
  const database = `gateway_test_${randomBytes(6).toString('hex')}`
  const env = {
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    ...(place === 'postgres' && {
      DATABASE_URL: database_url ? Object.assign(new URL(database_url), {pathname: `/${database}`}).href : '',
      GATEWAY_SEALING_KEY: randomBytes(32).toString('base64'),
    }),
    ...(place === 'redis' && {REDIS_URL: redis_url!}),
  }
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  let provider: FakeProvider
  let gateway: TestGateway
  let workspace_id: string

  beforeAll(async () => {
    provider = await fakeProvider()
    if (place === 'postgres') await onServer(`create database ${database}`)
    gateway = await startGateway(env, {folder})
    await gateway.provider('main', 'openai', provider.url)
    workspace_id = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
  })
  afterAll(async () => {
    await gateway.close()
    await provider.close()
    rmSync(folder, {recursive: true, force: true})
    if (place === 'postgres') await onServer(`drop database ${database} with (force)`)
  })

  const keyWith = async (limits: object) =>
    (
      await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
        name: randomBytes(4).toString('hex'),
        workspace_id,
        scopes: ['completions.write'],
        ...limits,
      })
    ).key
  /** `user` as JSON text, for what `JSON.stringify` would not write. */
  const chat = async (key: string | null, user = '"someone"', headers: Record<string, string> = {}) => {
    const reply = await gateway.call('/v1/chat/completions', {
      method: 'POST',
      body: `{"model":"gpt-4o-mini","max_tokens":20,"user":${user},"messages":[{"role":"user","content":"x"}]}`,
      headers: {
        'content-type': 'application/json',
        'x-gateway-provider': '@main',
        ...(key && {'x-gateway-api-key': key}),
        ...headers,
      },
    })
    await reply.arrayBuffer()
    return reply.status
  }

  test('never opens the limits of others, and every such call is one like others', async () => {
    await gateway.admin('POST', '/policies/usage-limits', {
      workspace_id,
      conditions: [{key: 'metadata._user', value: '*'}],
      group_by: [{key: 'metadata._user'}],
      type: 'tokens',
      credit_limit: 1_000_000,
    })
    const rate = await keyWith({rate_limits: [{type: 'requests', unit: 'rph', value: 2}]})
    const strict = await keyWith({usage_limits: {type: 'tokens', credit_limit: 1_000_000, enforcement: 'strict'}})
    expect([await chat(rate), await chat(rate), await chat(rate)]).toEqual([200, 200, 429])
    for (const user of [NUL, HALF, LONG]) {
      const odd = [await chat(null, user), await chat(null, '"x"', {'x-gateway-metadata': `{"_user":${user}}`})]
      expect([...odd, await chat(rate), await chat(strict)]).toEqual([200, 200, 429, 200])
    }
  })

  test('is the name of a policy entity of its own, which stays used up', async () => {
    const team = randomBytes(4).toString('hex')
    await gateway.admin('POST', '/policies/rate-limits', {
      workspace_id,
      conditions: [{key: 'metadata.team', value: team}],
      group_by: [{key: 'metadata._user'}],
      type: 'requests',
      unit: 'rpd',
      value: 1,
    })
    const of = (user: string) => chat(null, '"unused"', {'x-gateway-metadata': `{"team":"${team}","_user":${user}}`})
    const users = [NUL, HALF, '"\\udfff"', LONG, JSON.stringify(`${'l'.repeat(3_000)}m`), '"\\ufffd"', '"a\\ufffdb"']
    const seen: number[] = []
    for (const user of [...users, ...users]) seen.push(await of(user))
    expect(seen).toEqual([...users.map(() => 200), ...users.map(() => 429)])
  })

  test('names an entity whose usage the next start knows', async () => {
    const team = randomBytes(4).toString('hex')
    await gateway.admin('POST', '/policies/usage-limits', {
      workspace_id,
      conditions: [{key: 'metadata.team', value: team}],
      group_by: [{key: 'metadata._user'}],
      type: 'tokens',
      credit_limit: 10,
    })
    const of = (user: string) => chat(null, '"unused"', {'x-gateway-metadata': `{"team":"${team}","_user":${user}}`})
    const users = [NUL, HALF, LONG, '"plain"']
    for (const user of users) {
      expect([user, await of(user)]).toEqual([user, 200])
      await expect.poll(() => of(user)).toBe(412) // a shared store counts behind the answer
    }
    await gateway.app.flushed()
    await gateway.close()
    gateway = await startGateway(env, {folder})
    for (const user of users) expect([user, await of(user)]).toEqual([user, 412])
    const store = await openStore(
      place === 'postgres'
        ? {kind: 'postgres', connection: {connectionString: env.DATABASE_URL!}, pool_size: 1}
        : {kind: 'sqlite', folder, role: 'operator'},
    )
    expect(await verifyLedger(store)).toMatchObject({breaks: [], set_aside: {records: 0}})
    await store.close()
  })

  test('has nothing that every object has: a condition on the constructor covers who brings one', async () => {
    await gateway.admin('POST', '/policies/rate-limits', {
      workspace_id,
      conditions: [{key: 'metadata.constructor', value: '*'}],
      group_by: [{key: 'metadata.__proto__'}],
      type: 'requests',
      unit: 'rpd',
      value: 1,
    })
    const of = (metadata: string) => chat(null, '"unused"', {'x-gateway-metadata': metadata})
    const both = '{"constructor":"x","__proto__":"y"}'
    expect([await of('{}'), await of('{}'), await of(both), await of(both)]).toEqual([200, 200, 200, 429])
  })

  test('over 1,024 bytes is no model, and what is shorter is one', async () => {
    const headers = {'content-type': 'application/json', 'x-gateway-provider': '@main'}
    const call = async (model: string) => {
      const reply = await gateway.chat({model, messages: [{role: 'user', content: 'x'}]}, headers)
      return [reply.status, ((await reply.json()) as {error?: {message: string}}).error?.message]
    }
    const refused = [400, expect.stringContaining('longer than 1024 bytes')]
    const long = 'é'.repeat(512)
    expect(await call(long)).toEqual([200, undefined])
    expect(await call(`${long}m`)).toEqual(refused)
    expect(await call(`@main/${long}`)).toEqual([200, undefined])
    expect(await call(`@main/${'m'.repeat(1_025)}`)).toEqual(refused)
    expect(await call('m\0m')).toEqual([200, undefined])
    expect(
      (
        await gateway.call('/v1/chat/completions', {
          method: 'POST',
          body: '{"model":"@a\\u0000/m","messages":[{"role":"user","content":"x"}]}',
          headers: {'content-type': 'application/json'},
        })
      ).status,
    ).toBe(400)
  })
})
