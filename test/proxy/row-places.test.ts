import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

/**
 * Rows above an integration name another place for its credentials only where an admin wrote them; others bring a
 * secret of their own.
 */
let gateway: TestGateway
let own: FakeProvider
let other: FakeProvider
let third: FakeProvider
let workspace_id: string
let manager: string
beforeAll(async () => {
  ;[own, other, third] = [await fakeProvider(), await fakeProvider(), await fakeProvider()]
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  workspace_id = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
  const verbs = ['create', 'read', 'update']
  const scopes = [
    'completions.write',
    ...['workspace_integrations', 'providers'].flatMap(noun => verbs.map(verb => `${noun}.${verb}`)),
  ]
  manager = (
    await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {name: 'm', workspace_id, scopes})
  ).key
  await gateway.admin('POST', '/integrations', {
    name: 'Shared',
    slug: 'shared',
    workspace_id,
    ai_provider_id: 'openai',
    key: 'sk-shared-0123456789',
    configurations: {custom_host: own.url, custom_headers: {'x-shared': 'HEADER-SHARED', 'x-both': 'shared'}},
  })
})
afterAll(async () => {
  await gateway.close()
  await Promise.all([own, other, third].map(each => each.close()))
})
beforeEach(() => {
  for (const each of [own, other, third]) each.received.length = 0
})

async function asManager(method: string, path: string, body: object) {
  const headers = {'x-gateway-api-key': manager, 'content-type': 'application/json'}
  const reply = await fetch(`${gateway.url}/v1${path}`, {method, headers, body: JSON.stringify(body)})
  return {status: reply.status, text: await reply.text()}
}
/** What each of the two other hosts was told. */
async function called(slug: string, model = 'm') {
  for (const each of [own, other, third]) each.received.length = 0
  const reply = await gateway.chat(
    {model, messages: [{role: 'user', content: 'hi'}]},
    {'x-gateway-provider': `@${slug}`},
  )
  await reply.text()
  const response = ({received}: FakeProvider) =>
    received.map(({headers: {authorization, 'x-shared': shared, 'x-own': mine, 'x-both': both}}) => [
      authorization,
      shared,
      mine,
      both,
    ])
  return {status: reply.status, own: response(own), other: response(other), third: response(third)}
}
const SHARED = ['Bearer sk-shared-0123456789', 'HEADER-SHARED', undefined, 'shared']

describe('a provider’s model_config', () => {
  const provider = (slug: string, more: object) => ({name: slug, slug, integration_id: 'shared', workspace_id, ...more})

  test('of an admin leads the integration’s credentials to another place, and stays when others change the rest', async () => {
    const model_config = {custom_host: other.url, custom_headers: {'x-own': 'OWN', 'x-both': 'own'}, engine: 'kept'}
    await gateway.admin('POST', '/providers', provider('by-admin', {model_config}))
    // headers of the row go in place of the integration's
    expect(await called('by-admin')).toMatchObject({
      own: [],
      other: [['Bearer sk-shared-0123456789', undefined, 'OWN', 'own']],
    })
    const shown = await gateway.admin<{model_config: object}>('GET', `/providers/by-admin?workspace_id=${workspace_id}`)
    expect(shown.model_config).toEqual({...model_config, custom_headers: {'x-own': '•••••', 'x-both': '•••••'}})
    const same = {model_config: {...shown.model_config, openai_project: 'p'}}
    expect(await asManager('PUT', '/providers/by-admin', same)).toMatchObject({status: 200})
    expect((await called('by-admin')).other).toEqual([['Bearer sk-shared-0123456789', undefined, 'OWN', 'own']])
    const moved = {
      model_config: {custom_host: third.url, custom_headers: shown.model_config['custom_headers' as never]},
    }
    for (const as of [
      asManager,
      (...said: Parameters<typeof asManager>) =>
        gateway.app.inject({method: said[0], url: `/v1${said[1]}?workspace_id=${workspace_id}`, body: said[2]}),
    ])
      expect((await as('PUT', '/providers/by-admin', moved)).status).toBe(400)
    expect(await asManager('PUT', '/providers/by-admin', {model_config: {custom_host: third.url}})).toMatchObject({
      status: 400,
      text: expect.stringMatching(
        /secret_required: the credentials of shared would go where model_config.custom_host says/,
      ),
    })
    expect(await asManager('PUT', '/providers/by-admin', {model_config: {}})).toMatchObject({status: 200})
    expect(await called('by-admin')).toMatchObject({own: [SHARED], other: [], third: []})
  })

  test('of another names one only with a secret of its own, and takes nothing of the integration along', async () => {
    expect(
      await asManager('POST', '/providers', provider('by-manager', {model_config: {custom_host: other.url}})),
    ).toMatchObject({
      status: 400,
    })
    const model_config = {custom_host: other.url, custom_headers: {'x-own': 'OWN'}}
    expect(await asManager('POST', '/providers', provider('by-manager', {model_config}))).toMatchObject({status: 200})
    expect(await called('by-manager')).toMatchObject({own: [], other: [[undefined, undefined, 'OWN', undefined]]})
    await asManager('PUT', '/providers/by-manager', {model_config: {openai_project: 'p'}})
    expect(await called('by-manager')).toMatchObject({own: [SHARED], other: []})
    // the integration goes elsewhere: what a manager wrote does not become a place of its credentials
    expect(await asManager('PUT', '/providers/by-manager', {model_config: {custom_host: own.url}})).toMatchObject({
      status: 200,
    })
    expect(await called('by-manager')).toMatchObject({own: [SHARED]})
  })

  test('chooses no login of the gateway’s own, and acts by known settings alone', async () => {
    await gateway.admin('POST', '/integrations', {
      name: 'B',
      slug: 'bed',
      workspace_id,
      ai_provider_id: 'bedrock',
      key: 'sk-shared-0123456789',
      configurations: {aws_auth_type: 'apiKey', aws_region: 'us-east-1', custom_host: own.url},
    })
    const bed = (model_config: object) => ({
      name: 'bed-2',
      slug: 'bed-2',
      integration_id: 'bed',
      workspace_id,
      model_config,
    })
    const house = await asManager(
      'POST',
      '/providers',
      bed({aws_auth_type: 'serviceRole', custom_headers: {'x-own': 'OWN'}}),
    )
    expect(house).toMatchObject({status: 400, text: expect.stringContaining('own identity')})
    expect(await asManager('POST', '/providers', bed({aws_auth_type: 'nonsense'}))).toMatchObject({status: 400})
    expect(
      await asManager(
        'POST',
        '/providers',
        bed({aws_endpoint_domain: 'other.example', azure_resource_name: 'x', aws_region: 'eu-west-1'}),
      ),
    ).toMatchObject({status: 200})
    expect((await called('bed-2')).own.map(([authorization]) => authorization)).toEqual(['Bearer sk-shared-0123456789'])
  })

  test('of a virtual key is changed there', async () => {
    await asManager('POST', '/virtual-keys', {})
    await gateway.admin('POST', '/virtual-keys', {
      name: 'V',
      slug: 'vk',
      provider: 'openai',
      key: 'sk-shared-0123456789',
      workspace_id,
    })
    expect(await asManager('PUT', '/providers/vk', {model_config: {custom_host: other.url}})).toMatchObject({
      status: 400,
    })
  })
})

describe('a model’s configurations', () => {
  const models = (slug: string, configurations: object | null) => ({
    models: [{slug, enabled: true, is_custom: true, configurations}],
  })
  const path = '/integrations/shared/models'

  test('of an admin lead the integration’s credentials to another place', async () => {
    await gateway.admin(
      'PUT',
      path,
      models('by-admin', {custom_host: other.url, custom_headers: {'x-own': 'OWN', 'x-both': 'own'}}),
    )
    expect(await called('shared', 'by-admin')).toMatchObject({
      own: [],
      other: [['Bearer sk-shared-0123456789', 'HEADER-SHARED', 'OWN', 'own']],
    })
    expect(await called('shared', 'm')).toMatchObject({own: [SHARED], other: []})
    const listed = await gateway.admin<{models: {slug: string; configurations?: object}[]}>('GET', path)
    const [shown] = listed.models
    expect(shown).toMatchObject({
      slug: 'by-admin',
      configurations: {custom_host: other.url, custom_headers: {'x-own': '•••••'}},
    })
    expect(await asManager('PUT', path, models('by-admin', shown!.configurations!))).toMatchObject({status: 200})
    expect((await called('shared', 'by-admin')).other.length).toBe(1)
    // a model that is only switched keeps its place
    expect(await asManager('PUT', path, {models: [{slug: 'by-admin', enabled: true}]})).toMatchObject({status: 200})
    expect((await called('shared', 'by-admin')).other.length).toBe(1)
    const moved = {...shown!.configurations, custom_host: third.url}
    expect(await asManager('PUT', path, models('by-admin', moved))).toMatchObject({status: 400})
    expect(await asManager('PUT', path, models('by-admin', {custom_host: third.url}))).toMatchObject({status: 400})
    expect(await asManager('PUT', path, models('by-admin', null))).toMatchObject({status: 200})
    expect(await called('shared', 'by-admin')).toMatchObject({own: [SHARED], other: []})
  })

  test('of another name one only with a secret of their own', async () => {
    expect(await asManager('PUT', path, models('by-manager', {custom_host: other.url}))).toMatchObject({status: 400})
    const configurations = {custom_host: other.url, custom_headers: {'x-own': 'OWN'}}
    expect(await asManager('PUT', path, models('by-manager', configurations))).toMatchObject({status: 200})
    expect(await called('shared', 'by-manager')).toMatchObject({
      own: [],
      other: [[undefined, undefined, 'OWN', undefined]],
    })
    expect(await asManager('PUT', path, models('by-manager', {custom_headers: {'x-both': 'own'}}))).toMatchObject({
      status: 200,
    })
    expect(await called('shared', 'by-manager')).toMatchObject({
      own: [['Bearer sk-shared-0123456789', 'HEADER-SHARED', undefined, 'own']],
      other: [],
    })
  })

  test('are no place that a caller’s host goes before, and are refused where they say nothing', async () => {
    await gateway.admin('PUT', path, models('placed', {custom_host: other.url}))
    const reply = await gateway.chat(
      {model: 'placed', messages: [{role: 'user', content: 'hi'}]},
      {'x-gateway-provider': '@shared', 'x-gateway-custom-host': third.url},
    )
    expect([reply.status, reply.headers.get('x-gateway-config-warning')]).toEqual([
      200,
      expect.stringContaining('custom-host'),
    ])
    expect([other.received.length, third.received.length]).toEqual([1, 0])
    const proxied = await gateway.call('/v1/proxy/chat/completions', {
      method: 'POST',
      body: JSON.stringify({model: 'placed'}),
      headers: {'x-gateway-provider': '@shared', 'content-type': 'application/json'},
    })
    await proxied.text()
    expect([own.received.length, other.received.length]).toEqual([0, 2])
    const mine = {'x-gateway-config': JSON.stringify({provider: '@shared', api_key: 'mine'})}
    expect(
      await (await gateway.chat({model: 'placed', messages: [{role: 'user', content: 'hi'}]}, mine)).text(),
    ).toContain('chatcmpl')
    expect([other.received.at(-1)!.headers.authorization, other.received.at(-1)!.headers['x-shared']]).toEqual([
      'Bearer mine',
      undefined,
    ])
    for (const wrong of [{}, {host: 'x'}, {custom_host: 'http://169.254.169.254'}, {custom_headers: {'x-a': 'a\r\nb'}}])
      expect(await asManager('PUT', path, models('wrong', wrong))).toMatchObject({status: 400})
  })
})
