import {WebSocket} from 'undici'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

/** What an integration holds goes to the place of its own row alone, whatever a caller brings. */
let gateway: TestGateway
let own: FakeProvider
let other: FakeProvider
let authority: FakeProvider
beforeAll(async () => {
  own = await fakeProvider()
  other = await fakeProvider()
  authority = await fakeProvider((_, response) =>
    json(response, {access_token: 'ENTRA-TOKEN', expires_in: 3600, token_type: 'Bearer'}),
  )
  gateway = await startGateway({
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    AZURE_AUTHORITY_HOST: authority.url.replace('/v1', ''),
    AWS_ASSUME_ROLE_ACCESS_KEY_ID: 'AKIAHOUSE',
    AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: 'HOUSE-SECRET',
  })
  const entra = {
    azure_auth_mode: 'entra',
    azure_entra_tenant_id: 't',
    azure_entra_client_id: 'c',
    azure_entra_client_secret: 'ENTRA-SECRET',
  }
  const azure_deployment_config = [
    {azure_api_version: 'v1', azure_deployment_name: 'd', azure_model_slug: 'm', is_default: true},
  ]
  const configurations = {custom_host: own.url, custom_headers: {'x-secret': 'HEADER-SECRET'}}
  await gateway.provider('oai', 'openai', own.url, {key: 'sk-managed-0123456789', configurations})
  await gateway.provider('hf', 'huggingface', '', {key: 'sk-managed-0123456789', configurations: {}})
  await gateway.provider('az', 'azure-openai', '', {
    key: 'sk-managed-0123456789',
    configurations: {azure_auth_mode: 'default', azure_resource_name: 'mine', azure_deployment_config},
  })
  await gateway.provider('entra', 'azure-openai', own.url, {
    key: null,
    configurations: {...entra, azure_resource_name: 'mine', azure_deployment_config, custom_host: own.url},
  })
  await gateway.provider('house', 'bedrock', own.url, {
    key: null,
    configurations: {custom_host: own.url, aws_auth_type: 'serviceRole', aws_region: 'us-east-1'},
  })
  await gateway.provider('aws', 'bedrock', own.url, {
    key: null,
    configurations: {
      custom_host: own.url,
      aws_auth_type: 'accessKey',
      aws_access_key_id: 'AKIAMANAGED',
      aws_secret_access_key: 'AWS-SECRET',
      aws_s3_bucket: 'mine',
      aws_region: 'us-east-1',
    },
  })
  await gateway.provider('claude', 'claude-platform-aws', own.url, {
    key: null,
    configurations: {
      custom_host: own.url,
      aws_auth_type: 'accessKey',
      aws_access_key_id: 'AKIAMANAGED',
      aws_secret_access_key: 'AWS-SECRET',
      aws_region: 'us-east-1',
      anthropic_aws_workspace_id: 'mine',
    },
  })
})
afterAll(async () => {
  await gateway.close()
  await Promise.all([own, other, authority].map(each => each.close()))
})
beforeEach(() => {
  for (const each of [own, other, authority]) each.received.length = 0
})

const SECRETS = /HEADER-SECRET|sk-managed|ENTRA-TOKEN|ENTRA-SECRET|AKIAMANAGED|AKIAHOUSE|AWS-SECRET/
const body = {model: 'm', messages: [{role: 'user', content: 'hi'}]}
async function ask(config: object | null, headers: Record<string, string> = {}) {
  const reply = await gateway.chat(body, {...(config && {'x-gateway-config': JSON.stringify(config)}), ...headers})
  return {status: reply.status, text: await reply.text(), warning: reply.headers.get('x-gateway-config-warning')}
}
/** The headers that the caller's own host heard. */
const leaked = () => other.received.filter(({headers}) => SECRETS.test(JSON.stringify(headers)))

test.each([
  ['by the own path', '/v1/proxy/messages', {}],
  ['by the unified path', '/v1/messages', {}],
  ['that is forwarded by name', '/v1/messages', {'x-gateway-forward-headers': 'anthropic-workspace-id'}],
])(
  'an account that the integration names is the one that pays, whatever header a client sends: %s',
  async (_, path, headers) => {
    const sent = {...body, max_tokens: 5}
    const named = {
      'x-gateway-provider': '@claude',
      'anthropic-workspace-id': 'theirs',
      'content-type': 'application/json',
      ...headers,
    }
    await gateway.call(path, {method: 'POST', body: JSON.stringify(sent), headers: named})
    expect(own.received.map(({headers}) => headers['anthropic-workspace-id'])).toEqual(['mine'])
  },
)

describe('a config', () => {
  test.each([
    ['@oai', {custom_host: 'https://127.0.0.1:1/v1'}, 'custom_host'],
    ['@hf', {huggingface_base_url: 'https://127.0.0.1:1'}, 'huggingface_base_url'],
    ['@az', {azure_resource_name: 'other'}, 'azure_resource_name'],
    ['@az', {azure_auth_mode: 'managed', azure_resource_name: 'other'}, 'azure_'],
    ['@entra', {azure_entra_tenant_id: 'other'}, 'azure_entra_tenant_id'],
    ['@aws', {aws_auth_type: 'serviceRole'}, 'aws_auth_type'],
    ['@aws', {aws_region: 'eu-west-1'}, 'aws_region'],
    ['@aws', {aws_s3_bucket: 'other'}, 'aws_s3_bucket'],
    ['@hf', {override_params: {huggingface_base_url: 'https://127.0.0.1:1'}}, 'huggingface_base_url'],
    ['@oai', {override_params: {custom_host: 'https://127.0.0.1:1/v1'}}, 'custom_host'],
    ['@az', {api_key: 'mine', azure_resource_name: 'other'}, 'azure_resource_name'],
    ['@entra', {api_key: 'mine', azure_auth_mode: 'managed'}, 'azure_auth_mode'],
  ])('of %s that says %j is refused, and says %s', async (provider, more, named) => {
    const {status, text} = await ask({provider, ...more})
    expect([status, text]).toEqual([400, expect.stringContaining(named)])
    expect(text).toContain(provider)
    expect([own.received, other.received, authority.received]).toEqual([[], [], []])
  })

  test('says what the integration says', async () => {
    expect(
      (await ask({provider: '@oai', custom_host: `${own.url}/`, override_params: {custom_host: own.url}})).status,
    ).toBe(200)
    expect(own.received[0]!.headers).toMatchObject({
      authorization: 'Bearer sk-managed-0123456789',
      'x-secret': 'HEADER-SECRET',
    })
    expect(own.received[0]!.body.toString()).not.toContain('custom_host')
    await ask({provider: '@aws', aws_region: 'us-east-1'})
    expect(own.received.length).toBe(2)
  })

  test('gives a child of a fallback no other host', async () => {
    const config = {
      custom_host: other.url,
      strategy: {mode: 'fallback'},
      targets: [{provider: '@oai'}, {provider: 'openai', api_key: 'mine'}],
    }
    expect((await ask(config)).status).toBe(200)
    expect(other.received.map(({headers}) => headers.authorization)).toEqual(['Bearer mine'])
    expect([own.received, leaked()]).toEqual([[], []])
  })

  test('that is saved keeps its key where it says, too', async () => {
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const config = {provider: 'openai', api_key: 'sk-managed-of-a-config', custom_host: own.url}
    const saved = await gateway.admin<{slug: string; data: {slug: string}}>('POST', '/configs', {
      name: 'kept',
      config,
      workspace_id: workspace!.id,
    })
    const result = await ask(null, {
      'x-gateway-config': saved.slug ?? saved.data.slug,
      'x-gateway-custom-host': other.url,
    })
    expect([result.status, result.warning]).toEqual([200, expect.stringContaining('custom-host')])
    expect([own.received.length, other.received.length]).toEqual([1, 0])
  })
})

describe('a header', () => {
  test.each([
    ['@oai', {'x-gateway-custom-host': 'http://127.0.0.1:1/v1'}, 'custom-host'],
    ['@entra', {'x-gateway-azure-resource-name': 'other', 'x-portkey-azure-auth-mode': 'managed'}, 'azure-auth-mode'],
    ['@entra', {'x-gateway-azure-ad-token': 'mine'}, 'azure-ad-token'],
    ['@aws', {'x-gateway-aws-region': 'eu-west-1'}, 'aws-region'],
  ])('of a call to %s that says %j is not used, and told', async (provider, headers, named) => {
    const {warning} = await ask(null, {'x-gateway-provider': provider, ...headers})
    expect(warning).toContain(named)
    expect([own.received.length, other.received.length]).toEqual([1, 0])
    const [row] = await gateway.logs()
    expect(row).toMatchObject({warning: expect.stringContaining(named)})
  })

  test('that says what the integration says is nothing to tell', async () => {
    const same = {'x-gateway-provider': '@oai', 'x-gateway-custom-host': own.url}
    expect(await ask(null, same)).toMatchObject({status: 200, warning: null})
  })
})

describe('a key of the caller', () => {
  test.each(['@oai', '@entra', '@aws'])('beside %s leaves all of the integration behind', async provider => {
    for (const more of [{custom_host: other.url}, {}]) {
      await ask({provider, api_key: 'mine', ...more})
      await ask({provider, api_key: 'mine'}, {...(more.custom_host && {'x-gateway-custom-host': more.custom_host})})
    }
    expect([leaked(), authority.received]).toEqual([[], []])
    expect(own.received.filter(({headers}) => SECRETS.test(JSON.stringify(headers)))).toEqual([])
    expect(other.received.length).toBe(2)
    expect(own.received.length).toBe(2)
    for (const {headers} of [...own.received, ...other.received]) expect(JSON.stringify(headers)).toContain('mine')
  })

  test('is not let into the gateway’s own identity', async () => {
    const house = {provider: '@house', api_key: 'mine', custom_host: other.url}
    for (const config of [house, {...house, aws_auth_type: 'serviceRole'}]) await ask(config)
    expect(leaked()).toEqual([])
    expect((await ask({...house, aws_auth_type: 'serviceRole'})).status).toBe(403)
    await ask({provider: '@house'})
    expect(JSON.stringify(own.received[0]!.headers)).toContain('AKIAHOUSE')
  })
})

test('a session is opened where the integration says', async () => {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?model=gpt-realtime`, {
    headers: {'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-provider': '@oai', 'x-gateway-custom-host': other.url},
  })
  await new Promise(resolve => socket.addEventListener('error', resolve))
  expect([own.received.length, other.received.length]).toEqual([1, 0])
  const [row] = await gateway.logs()
  expect(row).toMatchObject({warning: expect.stringContaining('custom-host')})
})

test('what would leave is shown as it would leave', async () => {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const request = (headers: Record<string, string>) => ({method: 'POST', path: '/v1/chat/completions', headers, body})
  const explain = (config: object, headers = {}) =>
    gateway.admin<{targets: {refusal: {message: string} | null; host: string | null}[]; warnings: string[]}>(
      'POST',
      '/configs/explain',
      {
        workspace_id: workspace!.id,
        config,
        request: request(headers),
      },
    )
  const moved = await explain({provider: '@oai', custom_host: other.url})
  expect(moved.targets[0]).toMatchObject({host: null, refusal: {message: expect.stringContaining('custom_host')}})
  const result = await explain({provider: '@oai'}, {'x-gateway-custom-host': other.url})
  expect([result.targets[0]!.host, result.warnings]).toEqual([own.url, [expect.stringContaining('custom-host')]])
})
