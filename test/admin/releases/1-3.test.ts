import {expect, onTestFinished} from 'vitest'
import {startAdmin} from '../../support/admin.ts'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {fact} from './facts.ts'
import {opened} from './support.ts'

const {ask, ok, gateway, home, key, workspace, person, chat} = opened()

fact('1.3.0', 'list keys: raw value only for own keys', async () => {
  const made = await key({name: 'Told once'})
  expect(made.key).toMatch(/^gk-[\w-]{43}$/)
  const {data} = await ok('GET', `/api-keys?workspace_id=${home().id}`)
  const [row] = data.filter(({id}: {id: string}) => id === made.id)
  expect(row.key).toBe(`${made.key.slice(0, 5)}…${made.key.slice(-4)}`)
  expect(JSON.stringify(data)).not.toContain(made.key)
})

fact('1.3.0', 'current_usage fractional', async () => {
  const price = {request_token: {price: 0.00001}, response_token: {price: 0.00001}}
  await ok('PUT', '/integrations/demo/models', {
    models: [{slug: 'dear', enabled: true, is_custom: true, pricing_config: {type: 'static', pay_as_you_go: price}}],
  })
  const {key: spends, id} = await key({usage_limits: {type: 'cost', credit_limit: 1}})
  expect((await chat('Hello', {model: '@demo/dear', key: spends})).status).toBe(200)
  await gateway().app.flushed()
  const {current_usage} = (await ok('GET', `/api-keys/${id}`)).usage_limits
  expect(current_usage).toBeGreaterThan(0)
  expect(Number.isInteger(current_usage)).toBe(false)
})

fact('1.3.0', 'exact_name filter', async () => {
  await workspace({name: 'Exact'})
  await workspace({name: 'Exactly'})
  const names = async (query: string) =>
    (await ok('GET', `/admin/workspaces?${query}`)).data.map(({name}: {name: string}) => name)
  expect((await names('name=Exact')).toSorted()).toEqual(['Exact', 'Exactly'])
  expect(await names('exact_name=Exact')).toEqual(['Exact'])
})

fact('1.3.0', 'workspace periodic_reset nullable and settable via PUT', async () => {
  const {id} = await workspace({usage_limits: [{credit_limit: 10, periodic_reset: 'monthly'}]})
  const reset = async () => (await ok('GET', `/admin/workspaces/${id}`)).usage_limits[0].periodic_reset
  expect(await reset()).toBe('monthly')
  for (const periodic_reset of [null, 'weekly']) {
    await ok('PUT', `/admin/workspaces/${id}`, {usage_limits: [{credit_limit: 10, periodic_reset}]})
    expect(await reset()).toBe(periodic_reset)
  }
})

fact('1.3.0', 'per-workspace cap on user keys', async () => {
  const {id} = await workspace()
  const user = await person('capped@example.com', 'owner')
  const make = () =>
    ask('POST', '/api-keys/workspace/user', {
      name: 'Mine',
      workspace_id: id,
      user_id: user.id,
      scopes: ['completions.write'],
    })
  await ok('PUT', '/admin/organisation', {settings: {api_keys: {max_user_keys_per_workspace: 1}}})
  expect((await make()).status).toBe(200)
  expect(await make()).toMatchObject({
    status: 400,
    code: 'AB01',
    message: expect.stringContaining('as many user keys as it may have (1)'),
  })
  await ok('PUT', '/admin/organisation', {settings: {api_keys: null}})
  expect((await make()).status).toBe(200)
})

fact('1.3.0', 'default/max expiry', async () => {
  await ok('PUT', '/admin/organisation', {settings: {api_keys: {default_expiry_days: 7, max_expiry_days: 30}}})
  const day_ms = 86_400_000
  const {expires_at} = await ok('GET', `/api-keys/${(await key()).id}`)
  expect((Date.parse(expires_at) - Date.now()) / day_ms).toBeCloseTo(7, 1)
  for (const expires_at of [null, new Date(Date.now() + 31 * day_ms).toISOString()]) {
    const body = {name: 'Long', workspace_id: home().id, scopes: ['completions.write'], expires_at}
    expect(await ask('POST', '/api-keys/workspace/service', body)).toMatchObject({
      status: 400,
      code: 'AB01',
      message: expect.stringContaining('within 30 days'),
    })
  }
  await ok('PUT', '/admin/organisation', {settings: {api_keys: null}})
})

fact('1.3.0', 'unknown limit keys rejected', async () => {
  const make = (more: object) =>
    ask('POST', '/api-keys/workspace/service', {
      name: 'K',
      workspace_id: home().id,
      scopes: ['completions.write'],
      ...more,
    })
  for (const [more, named] of [
    [{usage_limits: {credit_limit: 1, budget: 1}}, 'usage_limits: the key budget is not known here'],
    [
      {rate_limits: [{type: 'requests', unit: 'rpm', value: 1, burst: 2}]},
      'rate_limits[0]: the key burst is not known here',
    ],
    [{rate_limits: [{type: 'requests', unit: 'rps', value: 1}]}, 'rate_limits[0].unit: must be one of rpm, rph, rpd'],
  ] as const)
    expect(await make(more)).toMatchObject({status: 400, code: 'AB01', message: expect.stringContaining(named)})
})

fact('1.3.0', 'paging stable on equal created_at', async () => {
  const admin = await startAdmin()
  onTestFinished(() => admin.close())
  for (let made = 0; made < 5; made++) await admin.asAdmin('POST', '/v1/admin/workspaces', {name: `At once ${made}`})
  const ids = async (query: string) =>
    (await admin.asAdmin('GET', `/v1/admin/workspaces?${query}`)).body.data.map(({id}: {id: string}) => id)
  const rows = (await admin.asAdmin('GET', '/v1/admin/workspaces')).body.data
  expect(new Set(rows.map(({created_at}: {created_at: string}) => created_at)).size).toBe(1)
  const pages = []
  for (let page = 0; page < 3; page++) pages.push(...(await ids(`page_size=2&current_page=${page}`)))
  expect(pages).toEqual(await ids('page_size=100'))
  expect(new Set(pages).size).toBe(6)
})

fact('1.3.0', 'MCP management', async () => {
  const {id} = await ok('POST', '/mcp-integrations', {
    name: 'Docs',
    url: 'https://mcp.example.com/mcp',
    auth_type: 'oauth_auto',
    transport: 'http',
  })
  await ok('PUT', `/mcp-integrations/${id}/workspaces`, {workspaces: [{id: home().id, enabled: true}]})
  const server = await ok('POST', '/mcp-servers', {name: 'Docs', mcp_integration_id: id, workspace_id: home().id})
  await ok('PUT', `/mcp-servers/${server.id}`, {name: 'Renamed'})
  expect(await ok('GET', `/mcp-servers/${server.id}`)).toMatchObject({name: 'Renamed', slug: server.slug})
  expect(await ok('GET', `/mcp-servers?workspace_id=${home().id}`)).toMatchObject({total: 1, has_more: false})
  await ok('DELETE', `/mcp-servers/${server.id}`)
  await ok('DELETE', `/mcp-integrations/${id}`)
  expect((await ask('GET', `/mcp-integrations/${id}`)).code).toBe('AB08')
})

fact('1.3.0', 'workspace key cache dropped when budget exhausts', async () => {
  const {id} = await workspace({usage_limits: [{type: 'tokens', credit_limit: 1}]})
  const {key: known} = await key({}, id)
  expect([(await chat('Hello', {key: known})).status, (await chat('Hello', {key: known})).status]).toEqual([200, 412])
})

fact('1.3.1', 'guardrails add-prefix, allowed-request-types', async () => {
  const save = async (check: object) => {
    const body = {name: 'Fact', workspace_id: home().id, checks: [check], actions: {deny: true}}
    return (await ok('POST', '/guardrails', body)).slug as string
  }
  const with_guardrail = async (slug: string) => {
    const config = JSON.stringify({input_guardrails: [slug]})
    return chat('How are you?', {headers: {'x-gateway-config': config}})
  }
  const prefixed = await with_guardrail(await save({id: 'default.addPrefix', parameters: {prefix: 'Be kind. '}}))
  expect(prefixed.body.choices[0].message.content).toContain('Be kind. How are you?')
  const types = (allowedTypes: string[]) => save({id: 'default.allowedRequestTypes', parameters: {allowedTypes}})
  expect((await with_guardrail(await types(['embed']))).status).toBe(446)
  expect((await with_guardrail(await types(['chatComplete']))).status).toBe(200)
})

fact('1.3.2', 'mcp.invoke on workspace keys', async () => {
  for (const scope of ['mcp.invoke', 'mcp:invoke']) {
    const {id} = await key({scopes: [scope]})
    expect((await ok('GET', `/api-keys/${id}`)).scopes).toEqual(['mcp.invoke'])
  }
  const refused = await ask('POST', '/api-keys/organisation/service', {name: 'Admin', scopes: ['mcp.invoke']})
  expect(refused).toMatchObject({status: 400, message: expect.stringContaining('cannot hold mcp.invoke')})
})

fact('1.3.2', '255-char names/slugs on providers & integrations', async () => {
  const long = 'a'.repeat(255)
  const integration = {name: long, slug: long, ai_provider_id: 'openai', key: 'sk-0123456789'}
  expect(await ok('POST', '/integrations', integration)).toMatchObject({slug: long})
  await ok('PUT', `/integrations/${long}/workspaces`, {
    workspaces: [{id: home().id, enabled: true}],
    create_default_provider: false,
  })
  const provider = {name: long, slug: long, integration_id: long, workspace_id: home().id}
  expect(await ok('POST', '/providers', provider)).toMatchObject({slug: long})
  for (const field of ['name', 'slug']) {
    const said = {[field]: `${long}a`}
    expect(await ask('POST', '/integrations', {...integration, slug: 'b', ...said})).toMatchObject({
      status: 400,
      message: expect.stringMatching(new RegExp(`^${field}: must have at most 255`)),
    })
    expect(await ask('POST', '/providers', {...provider, slug: 'b', ...said})).toMatchObject({
      status: 400,
      message: expect.stringMatching(new RegExp(`^${field}: must have at most 255`)),
    })
  }
})

fact('1.3.2', 'label delete cleans mapping', async () => {
  const {id: collection_id} = await ok('POST', '/collections', {name: 'Labels', workspace_id: home().id})
  const string = JSON.stringify([{role: 'user', content: 'Hi'}])
  const prompt = await ok('POST', '/prompts', {
    name: 'Labelled',
    collection_id,
    string,
    parameters: {},
    model: 'echo',
    virtual_key: 'demo',
  })
  const [version] = await ok('GET', `/prompts/${prompt.slug}/versions`)
  const label = await ok('POST', '/labels', {name: 'canary', workspace_id: home().id})
  await ok('PUT', `/prompts/${prompt.slug}/versions/${version.id}`, {label_id: label.id})
  const render = () => ask('POST', `/prompts/${prompt.slug}@canary/render`, {variables: {}}, WORKSPACE_KEY)
  expect((await render()).status).toBe(200)
  await ok('DELETE', `/labels/${label.id}`)
  expect((await ok('GET', `/prompts/${prompt.slug}/versions`))[0].label_id).toBeNull()
  expect((await render()).status).toBe(404)
})

fact('1.3.2', 'workspace-grouped analytics', async () => {
  const {id, slug} = await workspace()
  const {key: there} = await key({}, id)
  await chat('Hello', {key: there})
  await gateway().app.flushed()
  const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const time = `time_of_generation_min=${at(-1)}&time_of_generation_max=${at(1)}`
  for (const path of ['workspace', 'workspaces']) {
    const {data} = await ok('GET', `/analytics/groups/${path}?${time}`)
    // the name beside the slug is ours
    expect(data).toContainEqual(expect.objectContaining({workspace: slug, requests: 1, object: 'analytics-group'}))
  }
})

fact('1.3.2', 'slugs accepted by integrations API', async () => {
  const {id, slug} = await ok('POST', '/integrations', {
    name: 'Slugged',
    slug: 'slugged',
    ai_provider_id: 'openai',
    key: 'sk-0123456789',
  })
  for (const named of [id, slug]) expect(await ok('GET', `/integrations/${named}`)).toMatchObject({id, slug})
  await ok('PUT', `/integrations/${slug}/workspaces`, {workspaces: [{id: home().slug, enabled: true}]})
  expect((await ok('GET', `/integrations/${slug}/workspaces`)).workspaces).toMatchObject([{enabled: true}])
})

fact('1.3.3', 'default workspace guardrails deduplicated', async () => {
  const {id} = await workspace()
  const {organisation_id} = await ok('GET', `/api-keys/${(await key()).id}`)
  const checks = [{id: 'default.addPrefix', parameters: {prefix: 'Once. '}}]
  const {slug, id: guardrail} = await ok('POST', '/guardrails', {name: 'Both', organisation_id, checks, actions: {}})
  await ok('PUT', '/admin/organisation/defaults', {input_guardrails: [slug]})
  await ok('PUT', `/admin/workspaces/${id}`, {defaults: {input_guardrails: [guardrail, slug]}})
  const {key: there} = await key({}, id)
  const said = await chat('Hello', {key: there})
  expect(said.body.choices[0].message.content.match(/Once\./g)).toHaveLength(1)
  expect(said.body.hook_results.before_request_hooks).toHaveLength(1)
  await ok('PUT', '/admin/organisation/defaults', {input_guardrails: null})
})
