import {expect, onTestFinished} from 'vitest'
import {alertRecipients} from '../../../src/workers/alert-mail.ts'
import {startAdmin} from '../../support/admin.ts'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {putMcpCapabilities} from '../../support/mcp/capabilities.ts'
import {seedUser} from '../../support/people.ts'
import {fakeProvider} from '../../support/provider.ts'
import {fact} from './facts.ts'
import {opened} from './support.ts'

const {ask, ok, gateway, home, person, chat} = opened()

fact('1.8.0', 'deployment types/slugs/config/RBAC/filter', async () => {
  const {id} = await ok('POST', '/deployments', {
    name: 'Staging',
    slug: 'staging-1',
    type: 'non-production',
    config: {region: 'eu'},
  })
  await ok('POST', '/deployments', {name: 'Live', slug: 'live-1', type: 'production'})
  expect(await ok('GET', '/deployments/staging-1')).toMatchObject({id, type: 'non-production', config: {region: 'eu'}})
  expect((await ok('GET', '/deployments?type=non-production')).data).toMatchObject([{id}])
  expect((await ask('GET', '/deployments?type=other')).code).toBe('AB01')
  const admin = await person('deploys@example.com', 'admin')
  const member = await person('deploys-not@example.com', 'member', 'admin')
  for (const [token, status] of [
    [admin.token, 200],
    [member.token, 403],
    [WORKSPACE_KEY, 403],
  ] as const)
    expect((await ask('GET', '/deployments', undefined, token)).status).toBe(status)
})

fact('1.8.0', 'new policy conditions', async () => {
  const {data} = await ok('POST', '/configs', {name: 'Named', workspace_id: home().id, config: {retry: {attempts: 1}}})
  const {id: collection_id} = await ok('POST', '/collections', {name: 'Policed', workspace_id: home().id})
  const string = JSON.stringify([{role: 'user', content: 'Hi'}])
  const prompt = await ok('POST', '/prompts', {
    name: 'Policed',
    collection_id,
    string,
    parameters: {},
    model: 'echo',
    virtual_key: 'demo',
  })
  const config = {'x-gateway-config': data.slug}
  const values = {virtual_key: 'demo', provider: 'demo', config: data.slug, prompt: prompt.slug, model: '@demo/*'}
  for (const [condition, value] of Object.entries(values)) {
    const metadata = {'x-gateway-metadata': JSON.stringify({condition})}
    const status = async () => {
      if (condition !== 'prompt')
        return (await chat('Hello', {headers: {...metadata, ...(condition === 'config' && config)}})).status
      const init = {
        method: 'POST',
        body: '{"variables":{}}',
        headers: {...metadata, 'content-type': 'application/json'},
      }
      return (await gateway().call(`/v1/prompts/${prompt.slug}/completions`, init)).status
    }
    expect([condition, await status()]).toEqual([condition, 200])
    const conditions = [
      {key: condition, value},
      {key: 'metadata.condition', value: condition},
    ]
    const policy = {
      workspace_id: home().id,
      conditions,
      group_by: [{key: condition}],
      type: 'requests',
      unit: 'rpd',
      value: 0,
    }
    await ok('POST', '/policies/rate-limits', policy)
    expect([condition, await status()]).toEqual([condition, 429])
  }
})

fact('1.8.0', 'alert mail to workspace admins+managers', async () => {
  const admin = await startAdmin()
  onTestFinished(() => admin.close())
  for (const role of ['admin', 'manager', 'member'] as const)
    await seedUser(admin, 'member', {[admin.workspace_id]: role}, {email: `${role}@example.com`})
  const {organisation_id, workspace_id} = admin
  const subject = {
    entity: 'workspace' as const,
    id: workspace_id,
    name: 'blue',
    organisation_id,
    workspace_id,
    alert_emails: [],
  }
  expect((await alertRecipients(subject, admin.store.db)).toSorted()).toEqual([
    'admin@example.com',
    'manager@example.com',
  ])
})

fact('1.8.0', 'managers create keys with user_id', async () => {
  const manager = await person('makes-keys@example.com', 'member', 'manager')
  const other = await person('has-keys@example.com', 'member', 'member')
  const body = {name: 'For another', workspace_id: home().id, user_id: other.id, scopes: ['completions.write']}
  const {id} = await ok('POST', '/api-keys/workspace/user', body, manager.token)
  expect(await ok('GET', `/api-keys/${id}`)).toMatchObject({user_id: other.id, type: 'workspace-user'})
  expect((await ask('POST', '/api-keys/workspace/user', body, other.token)).status).toBe(403)
})

fact('1.8.0', 'skipPtuCostAttribution', async () => {
  const provider = await fakeProvider((_, response) => {
    response.setHeader('content-type', 'application/json')
    const usageMetadata = {
      promptTokenCount: 1000,
      candidatesTokenCount: 100,
      totalTokenCount: 1100,
      trafficType: 'PROVISIONED_THROUGHPUT',
    }
    response.end(
      JSON.stringify({
        candidates: [{content: {role: 'model', parts: [{text: 'Noon.'}]}, finishReason: 'STOP'}],
        usageMetadata,
      }),
    )
  })
  onTestFinished(() => provider.close())
  const place = {
    vertex_auth_type: 'basic',
    vertex_region: 'us-central1',
    vertex_project_id: 'p',
    custom_host: provider.url,
  }
  const make = {provider: 'vertex-ai', key: 'sk-0123456789', workspace_id: home().id, model_config: place}
  await ok('POST', '/virtual-keys', {...make, name: 'Bought', slug: 'bought', vertexSkipPtuCostAttribution: true})
  await ok('POST', '/virtual-keys', {...make, name: 'Paid', slug: 'paid'})
  for (const slug of ['bought', 'paid'])
    expect((await chat('Hello', {model: `@${slug}/gemini-2.5-pro`})).status).toBe(200)
  const [paid, bought] = await gateway().logs()
  expect([bought!.cost, (paid!.cost as number) > 0]).toEqual([0, true])
})

fact('1.8.0', 'MCP capabilities & user access', async () => {
  const admin = await startAdmin()
  onTestFinished(() => admin.close())
  const made = async (path: string, body: object) => (await admin.asAdmin('POST', `/v1${path}`, body)).body.id as string
  const integration = await made('/mcp-integrations', {
    name: 'Docs',
    url: 'https://mcp.example.com/mcp',
    auth_type: 'none',
    transport: 'http',
  })
  await admin.asAdmin('PUT', `/v1/mcp-integrations/${integration}/workspaces`, {
    workspaces: [{id: admin.workspace_id, enabled: true}],
  })
  const details = {
    ...{
      title: null,
      description: 'Finds pages',
      icons: null,
      input_schema: {type: 'object'},
      output_schema: null,
      execution: null,
    },
    ...{annotations: null, arguments: null, uri: null, uri_template: null, mime_type: null, size: null},
  }
  await putMcpCapabilities(
    admin.store.db,
    integration,
    [{type: 'tool', name: 'search', details}],
    admin.services.now().toISOString(),
  )
  const server = await made('/mcp-servers', {
    name: 'Docs',
    mcp_integration_id: integration,
    workspace_id: admin.workspace_id,
  })
  const path = `/v1/mcp-servers/${server}`
  const off = {capabilities: [{name: 'search', type: 'tool', enabled: false}]}
  expect((await admin.asWorkspace('PUT', `${path}/capabilities`, off)).status).toBe(200)
  const {total, has_more, data} = (await admin.asWorkspace('GET', `${path}/capabilities?page=1`)).body
  expect([total, has_more, data[0].enabled, data[0].integration_enabled]).toEqual([1, false, false, true])
  const user = await seedUser(admin, 'member', {[admin.workspace_id]: 'member'})
  const access = {default_user_access: 'deny', user_access: [{user_id: user.id, enabled: true}]}
  expect((await admin.asWorkspace('PUT', `${path}/user-access`, access)).status).toBe(200)
  expect((await admin.asWorkspace('GET', `${path}/user-access`)).body).toMatchObject({
    default_user_access: 'deny',
    data: [{user_id: user.id, enabled: true, has_override: true, connection_status: 'not_connected'}],
  })
})
