import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

/** What a chat with the fake provider uses, in tokens (`USAGE`). */
const TOKENS = 17

let provider: FakeProvider
let gateway: TestGateway
let workspace: string

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('main', 'openai', provider.url)
  await gateway.provider('other', 'openai', provider.url)
  const [row] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  workspace = row!.id
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

let users = 0
/** A user that no other test has, so that no other policy covers its calls. */
const someone = () => `user-${++users}`

async function usagePolicy(user: string, more: object): Promise<string> {
  const body = {
    conditions: [{key: 'metadata._user', value: user}],
    group_by: [{key: 'metadata._user'}],
    type: 'tokens',
    workspace_id: workspace,
    ...more,
  }
  return (await gateway.admin<{id: string}>('POST', '/policies/usage-limits', body)).id
}

async function ratePolicy(user: string, more: object): Promise<string> {
  const body = {
    conditions: [{key: 'metadata._user', value: user}],
    group_by: [{key: 'metadata._user'}],
    type: 'requests',
    unit: 'rpd',
    workspace_id: workspace,
    ...more,
  }
  return (await gateway.admin<{id: string}>('POST', '/policies/rate-limits', body)).id
}

const ask = {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]}
const chat = (user: string, {headers = {}, body = {}} = {}) =>
  gateway.chat(
    {...ask, ...body},
    {'x-gateway-provider': '@main', 'x-gateway-metadata': JSON.stringify({_user: user}), ...headers},
  )
const statuses = async (user: string, times: number, how = {}) => {
  const seen: number[] = []
  for (let n = 0; n < times; n++) seen.push((await chat(user, how)).status)
  return seen
}
interface EntityRow {
  readonly id: string
  readonly value_key: string
  readonly current_usage: number
  readonly status: string
}
const entities = async (id: string, kind = 'usage', query = '') =>
  (await gateway.admin<{data: EntityRow[]}>('GET', `/policies/${kind}-limits/${id}/entities${query}`)).data

describe('a usage policy', () => {
  test('closes with 412 once its entity has used it up, in the words of a target', async () => {
    const user = someone()
    await usagePolicy(user, {credit_limit: 2 * TOKENS, name: 'fair use'})
    expect(await statuses(user, 2)).toEqual([200, 200])
    const refused = await chat(user)
    expect(refused.status).toBe(412)
    expect(await refused.json()).toEqual({
      error: {
        message: `The usage limit of the policy fair use (metadata._user:${user}) is used up. 34 of 34 tokens in all are used; it does not reset by itself.`,
        type: 'usage_limits_policy_exhaust_error',
        param: null,
        code: '06',
      },
    })
    expect((await chat(someone())).status).toBe(200)
  })

  test('counts each entity by itself, and shows what each used', async () => {
    const team = someone()
    const conditions = [{key: 'metadata.team', value: team}]
    const id = await usagePolicy('', {
      conditions,
      group_by: [{key: 'metadata._user'}, {key: 'model'}],
      credit_limit: TOKENS,
    })
    const as = (user: string) => ({headers: {'x-gateway-metadata': JSON.stringify({_user: user, team})}})
    expect(await statuses('ann', 2, as(`${team}-ann`))).toEqual([200, 412])
    expect(await statuses('bob', 1, as(`${team}-bob`))).toEqual([200])
    const rows = await entities(id)
    expect(rows.map(({value_key, current_usage, status}) => [value_key, current_usage, status])).toEqual([
      [`metadata._user:${team}-ann-model:openai.gpt-4o-mini`, TOKENS, 'exhausted'],
      [`metadata._user:${team}-bob-model:openai.gpt-4o-mini`, TOKENS, 'exhausted'],
    ])
    expect(await entities(id, 'usage', '?search=-bob')).toHaveLength(1)
    expect(await entities(id, 'usage', '?status=active')).toEqual([])
    const said = await gateway.admin('GET', `/policies/usage-limits/${id}?include_usage=true`)
    expect(said.value_key_usage_map).toEqual(Object.fromEntries(rows.map(row => [row.value_key, TOKENS])))
  })

  test('opens again for an entity that is reset, and for that one alone', async () => {
    const team = someone()
    const id = await usagePolicy('', {conditions: [{key: 'metadata.team', value: team}], credit_limit: TOKENS})
    const as = (user: string) => ({headers: {'x-gateway-metadata': JSON.stringify({_user: user, team})}})
    for (const user of ['ann', 'bob']) expect(await statuses(user, 2, as(user))).toEqual([200, 412])
    const [ann] = await entities(id, 'usage', '?search=ann')
    await gateway.admin('PUT', `/policies/usage-limits/${id}/entities/${ann!.id}/reset`)
    expect((await entities(id, 'usage', '?search=ann'))[0]).toMatchObject({current_usage: 0, status: 'active'})
    expect(await statuses('ann', 2, as('ann'))).toEqual([200, 412])
    expect(await statuses('bob', 1, as('bob'))).toEqual([412])
    await gateway.admin('PUT', `/policies/usage-limits/${id}`, {reset_usage_for_value: 'metadata._user:bob'})
    expect(await statuses('bob', 2, as('bob'))).toEqual([200, 412])
    expect((await entities(id, 'usage', '?search=ann'))[0]).toMatchObject({current_usage: TOKENS})
  })

  test('opens again when its limit is raised, and closes when it is lowered below what was used', async () => {
    const user = someone()
    const id = await usagePolicy(user, {credit_limit: TOKENS})
    expect(await statuses(user, 2)).toEqual([200, 412])
    await gateway.admin('PUT', `/policies/usage-limits/${id}`, {credit_limit: 2 * TOKENS})
    expect(await statuses(user, 2)).toEqual([200, 412])
    await gateway.admin('PUT', `/policies/usage-limits/${id}`, {credit_limit: 10 * TOKENS})
    expect(await statuses(user, 1)).toEqual([200])
    await gateway.admin('PUT', `/policies/usage-limits/${id}`, {credit_limit: 1})
    expect(await statuses(user, 1)).toEqual([412])
  })

  test('that is edited gives nothing back: another period counts what was used in it', async () => {
    const user = someone()
    const id = await usagePolicy(user, {credit_limit: TOKENS})
    expect(await statuses(user, 2)).toEqual([200, 412])
    await gateway.admin('PUT', `/policies/usage-limits/${id}`, {periodic_reset: 'monthly'})
    expect(await statuses(user, 1)).toEqual([412])
    await gateway.admin('PUT', `/policies/usage-limits/${id}`, {periodic_reset: 'weekly'})
    expect(await statuses(user, 1)).toEqual([412])
  })

  test('that is archived holds nothing', async () => {
    const user = someone()
    const id = await usagePolicy(user, {credit_limit: 0})
    expect(await statuses(user, 1)).toEqual([412])
    await gateway.admin('DELETE', `/policies/usage-limits/${id}`)
    expect(await statuses(user, 1)).toEqual([200])
  })

  test('of cost counts US dollars', async () => {
    const user = someone()
    const id = await usagePolicy(user, {type: 'cost', credit_limit: 0.000006})
    expect(await statuses(user, 2)).toEqual([200, 200])
    const [row] = await entities(id)
    // 8 input, 4 cached, 5 output tokens of gpt-4o-mini: 0.15, 0.075 and 0.60 USD a million (OpenAI, pricing)
    expect(row!.current_usage).toBeCloseTo(2 * (8 * 0.15e-6 + 4 * 0.075e-6 + 5 * 0.6e-6), 12)
    expect(await statuses(user, 1)).toEqual([412])
  })

  test('that is strict holds what a call may come to', async () => {
    const user = someone()
    await usagePolicy(user, {credit_limit: 500, enforcement: 'strict'})
    expect(await statuses(user, 1, {body: {max_tokens: 600}})).toEqual([412])
    expect(await statuses(user, 1, {body: {max_tokens: 400}})).toEqual([200])
  })
})

describe('a rate policy', () => {
  test('lets so many through in a window, then 429 with the time to come back', async () => {
    const user = someone()
    const id = await ratePolicy(user, {value: 2, unit: 'rpd', name: 'slow'})
    expect(await statuses(user, 2)).toEqual([200, 200])
    const refused = await chat(user)
    expect(refused.status).toBe(429)
    const left_s = Number(refused.headers.get('retry-after'))
    expect(left_s).toBeGreaterThan(0)
    expect(left_s).toBeLessThanOrEqual(86_400)
    const rate = (name: string) => refused.headers.get(`x-gateway-ratelimit-${name}`)
    expect([rate('limit'), rate('remaining'), rate('reset')]).toEqual(['2', '0', String(left_s)])
    expect(((await refused.json()) as {error: object}).error).toMatchObject({
      type: 'rate_limits_policy_exhaust_error',
      code: null,
    })
    expect(await entities(id, 'rate')).toMatchObject([
      {value_key: `metadata._user:${user}`, current_usage: 2, status: 'exhausted'},
    ])
    await gateway.admin('PUT', `/policies/rate-limits/${id}`, {value: 3})
    expect(await statuses(user, 2)).toEqual([200, 429])
  })

  test('of tokens is open while one more fits', async () => {
    const user = someone()
    await ratePolicy(user, {type: 'tokens', value: TOKENS + 1})
    expect(await statuses(user, 3)).toEqual([200, 200, 429])
  })

  test('of a model covers that model alone, at the provider that the policy names', async () => {
    const user = someone()
    await ratePolicy(user, {
      value: 0,
      conditions: [
        {key: 'metadata._user', value: user},
        {key: 'model', value: '@main/*', excludes: '@main/gpt-4o'},
      ],
    })
    expect(await statuses(user, 1)).toEqual([429])
    expect(await statuses(user, 1, {body: {model: 'gpt-4o'}})).toEqual([200])
    expect(await statuses(user, 1, {headers: {'x-gateway-provider': '@other'}})).toEqual([200])
  })

  test('covers a call that passes through, whose body is read for it', async () => {
    const user = someone()
    await ratePolicy(user, {
      value: 0,
      conditions: [
        {key: 'metadata._user', value: user},
        {key: 'model', value: '@main/gpt-4o'},
      ],
    })
    const pass = async (model: string) =>
      (
        await gateway.call('/v1/proxy/chat/completions', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-gateway-provider': '@main',
            'x-gateway-metadata': JSON.stringify({_user: user}),
          },
          body: JSON.stringify({...ask, model}),
        })
      ).status
    expect([await pass('gpt-4o'), await pass('gpt-4o-mini')]).toEqual([429, 200])
  })

  test('that refuses one target lets another be asked', async () => {
    const user = someone()
    await ratePolicy(user, {
      value: 0,
      conditions: [
        {key: 'metadata._user', value: user},
        {key: 'virtual_key', value: 'main'},
      ],
    })
    const config = JSON.stringify({strategy: {mode: 'fallback'}, targets: [{provider: '@main'}, {provider: '@other'}]})
    const reply = await gateway.chat(ask, {
      'x-gateway-config': config,
      'x-gateway-metadata': JSON.stringify({_user: user}),
    })
    expect([reply.status, reply.headers.get('x-gateway-last-used-option-index')]).toEqual([200, 'config.targets[1]'])
  })

  test('of a saved config is named by its slug', async () => {
    const user = someone()
    const {data} = await gateway.admin<{data: {slug: string}}>('POST', '/configs', {
      name: 'slow',
      config: {provider: '@main'},
      workspace_id: workspace,
    })
    await ratePolicy(user, {
      value: 0,
      conditions: [
        {key: 'metadata._user', value: user},
        {key: 'config', value: data.slug},
      ],
    })
    const as = {'x-gateway-metadata': JSON.stringify({_user: user})}
    expect((await gateway.chat(ask, {...as, 'x-gateway-config': data.slug})).status).toBe(429)
    expect((await chat(user)).status).toBe(200)
  })

  test('is not asked for an answer from the cache', async () => {
    const user = someone()
    await ratePolicy(user, {value: 1})
    const config = JSON.stringify({provider: '@main', cache: {mode: 'simple'}})
    const reply = () =>
      gateway.chat(
        {...ask, messages: [{role: 'user', content: user}]},
        {'x-gateway-config': config, 'x-gateway-metadata': JSON.stringify({_user: user})},
      )
    expect((await reply()).status).toBe(200)
    const hit = await reply()
    expect([hit.status, hit.headers.get('x-gateway-cache-status')]).toEqual([200, 'HIT'])
    expect((await chat(user)).status).toBe(429)
  })
})

test('a budget that is used up is told before a rate that is reached', async () => {
  const user = someone()
  await ratePolicy(user, {value: 0})
  await usagePolicy(user, {credit_limit: 0})
  expect(await statuses(user, 1)).toEqual([412])
})

test('with POLICY_ENABLED=OFF nothing is held and the routes answer 403; with USAGE_LIMITS_ENABLED=OFF policies still hold', async () => {
  const off = await startGateway({POLICY_ENABLED: 'OFF'})
  expect(await off.app.inject({method: 'GET', url: '/v1/policies/usage-limits'})).toMatchObject({
    status: 403,
    body: {data: {errorCode: 'AB03'}},
  })
  await off.close()
  const entities_off = await startGateway({USAGE_LIMITS_ENABLED: 'OFF'})
  const [row] = (await entities_off.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const at_demo = {'x-gateway-provider': '@demo'}
  const {key} = await entities_off.admin<{key: string}>('POST', '/api-keys/workspace/service', {
    name: 'none',
    workspace_id: row!.id,
    scopes: ['completions.write'],
    rate_limits: [{type: 'requests', unit: 'rpd', value: 0}],
  })
  const call = async () =>
    (await entities_off.chat({...ask, model: 'echo'}, {...at_demo, 'x-gateway-api-key': key})).status
  expect(await call()).toBe(200)
  const all = {
    conditions: [{key: 'provider', value: '*'}],
    group_by: [{key: 'provider'}],
    type: 'requests',
    unit: 'rpd',
    value: 1,
    workspace_id: row!.id,
  }
  await entities_off.admin('POST', '/policies/rate-limits', all)
  expect([await call(), await call()]).toEqual([200, 429])
  await entities_off.close()
})

test('what was counted is known to the next process', async () => {
  const user = someone()
  const folder = (await import('node:fs')).mkdtempSync(`${(await import('node:os')).tmpdir()}/gateway-test-`)
  const settings = {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}
  const first = await startGateway(settings, {folder})
  await first.provider('main', 'openai', provider.url)
  const [row] = (await first.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const body = {
    conditions: [{key: 'metadata._user', value: '*'}],
    group_by: [{key: 'metadata._user'}],
    type: 'tokens',
    credit_limit: TOKENS,
    workspace_id: row!.id,
  }
  await first.admin('POST', '/policies/usage-limits', body)
  const how = {'x-gateway-provider': '@main', 'x-gateway-metadata': JSON.stringify({_user: user})}
  expect((await first.chat(ask, how)).status).toBe(200)
  await first.close()
  const second = await startGateway(settings, {folder})
  expect((await second.chat(ask, how)).status).toBe(412)
  await second.close()
})

test('a model that the config says where the body names none is the one that a policy covers', async () => {
  const user = someone()
  await ratePolicy(user, {
    value: 0,
    conditions: [
      {key: 'metadata._user', value: user},
      {key: 'model', value: '@main/gpt-4o'},
    ],
  })
  const config = (model: string) => JSON.stringify({provider: '@main', default_params: {model}})
  const call = async (model: string) => {
    const headers = {'x-gateway-config': config(model), 'x-gateway-metadata': JSON.stringify({_user: user})}
    return (await gateway.chat({messages: ask.messages}, headers)).status
  }
  expect([await call('gpt-4o'), await call('gpt-4o-mini')]).toEqual([429, 200])
})
