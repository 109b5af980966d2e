import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished} from 'vitest'
import {startGateway} from '../../support/gateway.ts'
import {fact} from './facts.ts'
import {opened} from './support.ts'

const {ask, ok, gateway, home, key, workspace, chat} = opened()

fact('1.7.0', 'policy entities', async () => {
  const cover = {
    workspace_id: home().id,
    conditions: [{key: 'metadata.team', value: '*'}],
    group_by: [{key: 'metadata.team'}],
  }
  const usage = await ok('POST', '/policies/usage-limits', {...cover, type: 'tokens', credit_limit: 1})
  const rate = await ok('POST', '/policies/rate-limits', {...cover, type: 'requests', unit: 'rpd', value: 100})
  const by = (team: string) => chat('Hello', {headers: {'x-gateway-metadata': JSON.stringify({team})}})
  expect([(await by('red')).status, (await by('red')).status, (await by('blue')).status]).toEqual([200, 412, 200])
  await gateway().app.flushed()
  const {total, data} = await ok('GET', `/policies/usage-limits/${usage.id}/entities?status=exhausted`)
  expect(total).toBe(2)
  expect(data).toContainEqual(expect.objectContaining({value_key: 'metadata.team:red'}))
  const red = data.find(({value_key}: {value_key: string}) => value_key.endsWith('red'))
  expect(await ok('PUT', `/policies/usage-limits/${usage.id}/entities/${red.id}/reset`)).toEqual({})
  expect((await by('red')).status).toBe(200)
  expect((await ok('GET', `/policies/rate-limits/${rate.id}/entities`)).object).toBe('list')
})

fact('1.7.0', 'invite accept', async () => {
  const {id, invite_link} = await ok('POST', '/admin/users/invites', {
    ...{email: 'invited@example.com', role: 'member'},
    workspaces: [{id: home().id, role: 'manager'}],
  })
  await ok('POST', '/invites/accept', {token: invite_link.split('#token=')[1], first_name: 'Ada'})
  expect(await ok('GET', `/admin/users/invites/${id}`)).toMatchObject({status: 'accepted'})
  const {data} = await ok('GET', `/admin/workspaces/${home().id}/users?email=invited@example.com`)
  expect(data).toMatchObject([{role: 'manager', org_role: 'member'}])
})

fact('1.7.0', 'raising workspace budget re-activates', async () => {
  const {id} = await workspace({usage_limits: [{type: 'tokens', credit_limit: 1}]})
  const {key: there} = await key({}, id)
  const status = async () => (await chat('Hello', {key: there})).status
  expect([await status(), await status()]).toEqual([200, 412])
  await ok('PUT', `/admin/workspaces/${id}`, {usage_limits: [{type: 'tokens', credit_limit: 1_000_000}]})
  expect(await status()).toBe(200)
})

fact('1.7.0', 'custom periodic reset for keys', async () => {
  const usage_limits = {
    type: 'cost',
    credit_limit: 5,
    periodic_reset_days: 10,
    next_usage_reset_at: '2099-01-01T00:00:00.000Z',
  }
  const {id} = await key({usage_limits})
  expect((await ok('GET', `/api-keys/${id}`)).usage_limits).toMatchObject(usage_limits)
  for (const periodic_reset_days of [0, 366]) {
    const said = await ask('PUT', `/api-keys/${id}`, {usage_limits: {...usage_limits, periodic_reset_days}})
    expect(said).toMatchObject({
      status: 400,
      code: 'AB01',
      message: expect.stringContaining('usage_limits.periodic_reset_days: must be at'),
    })
  }
})

fact('1.7.0', 'pricing sources', async () => {
  const folder = (models: Record<string, number>) => {
    const path = mkdtempSync(join(tmpdir(), 'prices-'))
    onTestFinished(() => rmSync(path, {recursive: true}))
    const priced = Object.entries(models).map(([model, price]) => [
      model,
      {pricing_config: {pay_as_you_go: {request_token: {price}}}},
    ])
    writeFileSync(join(path, 'openai.json'), JSON.stringify(Object.fromEntries(priced)))
    return path
  }
  const sourced = await startGateway({
    MODEL_CONFIGS_PRICING_LOG_STORE_PATH: folder({'of-both': 1, 'of-the-store': 2}),
    MODEL_CONFIGS_PRICING_LOCAL_PATH: folder({'of-both': 3, 'of-the-files': 4}),
  })
  onTestFinished(() => sourced.close())
  const price = async (model: string) => {
    const reply = await fetch(`${sourced.url}/v1/model-configs/pricing/openai/${model}`)
    const said = (await reply.json()) as {pay_as_you_go?: {request_token: {price: number}}; error?: string}
    return said.error ?? said.pay_as_you_go!.request_token.price
  }
  const prices = await Promise.all(['of-both', 'of-the-store', 'of-the-files', 'of-nobody'].map(price))
  expect(prices).toEqual([1, 2, 4, 'Model not found'])
  expect(await price('gpt-4o')).toBeGreaterThan(0)
})

fact('1.7.0', 'AB01 messages', async () => {
  const config = {strategy: {mode: 'fallback'}, targets: [{provider: 'openai', retries: 3}]}
  expect(await ask('POST', '/configs', {name: 'Bad', workspace_id: home().id, config})).toMatchObject({
    status: 400,
    code: 'AB01',
    message: expect.stringMatching(/config\.targets\[0\]\.retries is not known/),
  })
})

fact('1.7.0', '/health service id', async () => {
  const named = await startGateway({SERVICE_NAME: 'gateway-eu'})
  onTestFinished(() => named.close())
  expect(await (await fetch(`${named.url}/v1/health`)).json()).toMatchObject({status: 'success', service: 'gateway-eu'})
})

fact('1.7.3', 'tags + filter', async () => {
  const {slug} = await ok('POST', '/integrations', {
    name: 'Tagged',
    slug: 'tagged',
    ai_provider_id: 'openai',
    key: 'sk-0123456789',
    tags: {team: 'blue'},
  })
  await ok('PUT', `/integrations/${slug}/workspaces`, {
    workspaces: [{id: home().id, enabled: true}],
    create_default_provider: false,
  })
  await ok('POST', '/providers', {
    name: 'Tagged',
    slug: 'tagged',
    integration_id: slug,
    workspace_id: home().id,
    tags: {team: 'blue'},
  })
  for (const path of ['/integrations', '/providers']) {
    const slugs = async (tags: object) =>
      (await ok('GET', `${path}?tags=${encodeURIComponent(JSON.stringify(tags))}`)).data.map(
        (row: {slug: string}) => row.slug,
      )
    expect([await slugs({team: 'blue'}), await slugs({team: 'red'})]).toEqual([['tagged'], []])
  }
})

fact('1.7.3', 'anthropic_beta in config', async () => {
  const config = {provider: 'anthropic', anthropic_beta: 'context-1m-2025-08-07'}
  const {data} = await ok('POST', '/configs', {name: 'Beta', workspace_id: home().id, config})
  expect((await ok('GET', `/configs/${data.slug}`)).data.config).toEqual(config)
})
