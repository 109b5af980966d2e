import {expect, test} from 'vitest'
import {sent} from '../catalog/ask.ts'
import {recorded} from './fetches.ts'

const CHAT = {model: 'gpt-4o', messages: [{role: 'user', content: 'Hi'}]}
const PLACE = {azure_resource_name: 'res', azure_deployment_id: 'dep', azure_api_version: '2024-10-21'}
/** As Microsoft's documentation shows them ("OAuth 2.0 client credentials flow", get a token). */
const TENANT = 'aaaabbbb-0000-cccc-1111-dddd2222eeee'
const CLIENT = '00001111-aaaa-2222-bbbb-3333cccc4444'
const SECRET = 'A1bC2dE3fH4iJ5kL6mN7oP8qR9sT0u'
const ENTRA = {
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: TENANT,
  azure_entra_client_id: CLIENT,
  azure_entra_client_secret: SECRET,
}
const TOKEN = {token_type: 'Bearer', expires_in: 3599, access_token: 'eyJ.entra.token'}

test('client credentials with a secret: the documented form, and the token as the bearer', async () => {
  const {calls, logins} = recorded(() => ({body: TOKEN}))
  const {url, headers} = await sent('azure-openai', {options: {...PLACE, ...ENTRA}, body: CHAT, key: null, logins})
  expect(url).toBe('https://res.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-10-21')
  expect(headers).toEqual({'content-type': 'application/json', authorization: 'Bearer eyJ.entra.token'})
  expect(calls).toEqual([
    {
      method: 'POST',
      url: `https://login.microsoftonline.com/${TENANT}/oauth2/v2.0/token`,
      headers: {'content-type': 'application/x-www-form-urlencoded'},
      body: `client_id=${CLIENT}&scope=https%3A%2F%2Fcognitiveservices.azure.com%2F.default&client_secret=${SECRET}&grant_type=client_credentials`,
    },
  ])
})

test('the scope can be another, and the authority that of another cloud', async () => {
  const {calls, logins} = recorded(() => ({body: TOKEN}), {azure_authority: 'https://login.microsoftonline.us/'})
  const options = {
    ...ENTRA,
    azure_foundry_url: 'https://res.services.ai.azure.com/models',
    azure_entra_scope: 'https://ai.azure.com/.default',
  }
  await sent('azure-ai', {options, body: CHAT, key: null, logins})
  expect(calls[0]!.url).toBe(`https://login.microsoftonline.us/${TENANT}/oauth2/v2.0/token`)
  expect(new URLSearchParams(calls[0]!.body).get('scope')).toBe('https://ai.azure.com/.default')
})

test('workload identity: the federated token stands as the documented assertion', async () => {
  const azure = {tenant_id: TENANT, client_id: CLIENT, federated_token: async () => 'eyJ.federated.token\n'}
  const {calls, logins} = recorded(() => ({body: TOKEN}), {identity: {azure}})
  await sent('azure-openai', {options: {...PLACE, azure_auth_mode: 'workload'}, body: CHAT, key: null, logins})
  expect(Object.fromEntries(new URLSearchParams(calls[0]!.body))).toEqual({
    client_id: CLIENT,
    scope: 'https://cognitiveservices.azure.com/.default',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: 'eyJ.federated.token',
    grant_type: 'client_credentials',
  })
})

test('managed identity: the documented call to the metadata service, texts for numbers', async () => {
  const {calls, logins} = recorded(() => ({
    body: {access_token: 'managed', expires_in: '3599', expires_on: '1506484173', token_type: 'Bearer'},
  }))
  const options = {...PLACE, azure_auth_mode: 'managed', azure_managed_client_id: CLIENT}
  const {headers} = await sent('azure-openai', {options, body: CHAT, key: null, logins})
  expect(headers.authorization).toBe('Bearer managed')
  expect(calls).toEqual([
    {
      method: 'GET',
      url: `http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=${CLIENT}`,
      headers: {metadata: 'true'},
    },
  ])
})

test('managed identity of App Service: its address and header, and the moment of expiry it tells', async () => {
  const app_service = {url: 'http://127.0.0.1:41741/msi/token/', header: 'h'}
  const {calls, clock, logins} = recorded(
    () => ({body: {access_token: `t${calls.length}`, expires_on: String(clock.now_ms / 1000 + 1200)}}),
    {
      identity: {azure: {app_service}},
    },
  )
  const ask = async () =>
    (await sent('azure-openai', {options: {...PLACE, azure_auth_mode: 'managed'}, body: CHAT, key: null, logins}))
      .headers.authorization
  expect(await ask()).toBe('Bearer t1')
  expect(calls[0]).toEqual({
    method: 'GET',
    url: 'http://127.0.0.1:41741/msi/token/?api-version=2019-08-01&resource=https%3A%2F%2Fcognitiveservices.azure.com',
    headers: {'x-identity-header': 'h'},
  })
  clock.now_ms += 1000_000
  expect(await ask()).toBe('Bearer t2')
})

test('a token is fetched once for concurrent callers, kept, and fetched anew before it expires; another secret is another login', async () => {
  const {calls, clock, logins} = recorded(() => ({body: {...TOKEN, access_token: `t${calls.length}`}}))
  const ask = async (more = {}) =>
    (await sent('azure-openai', {options: {...PLACE, ...ENTRA, ...more}, body: CHAT, key: null, logins})).headers
      .authorization
  expect(new Set(await Promise.all([ask(), ask(), ask()]))).toEqual(new Set(['Bearer t1']))
  expect(await ask()).toBe('Bearer t1')
  expect(await ask({azure_entra_client_secret: 'other'})).toBe('Bearer t2')
  clock.now_ms += 3400_000
  expect(await ask()).toBe('Bearer t3')
  expect(calls.length).toBe(3)
})

test('a refusal is told in Entra’s words, without the secret; a page of HTML by its status', async () => {
  const {logins} = recorded(({url}) =>
    url.includes('bbbb')
      ? {status: 401, body: {error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret.'}}
      : {status: 502, body: '<html>'},
  )
  const ask = (azure_entra_tenant_id: string) =>
    sent('azure-openai', {options: {...PLACE, ...ENTRA, azure_entra_tenant_id}, body: CHAT, key: null, logins})
  await expect(ask(TENANT)).rejects.toThrow(
    'No token came from Microsoft Entra ID: invalid_client: AADSTS7000215: Invalid client secret.',
  )
  await expect(ask('common')).rejects.toThrow('No token came from Microsoft Entra ID: HTTP 502.')
})

test.each(['managed', 'workload'])(
  'the gateway’s own identity (%s) is not shown to a host that is not Azure’s',
  async azure_auth_mode => {
    const azure = {tenant_id: TENANT, client_id: CLIENT, federated_token: async () => 't'}
    const {calls, logins} = recorded(() => ({body: TOKEN}), {identity: {azure}})
    const hosts = [
      'https://openai.azure.com.example.com/openai',
      'https://example.com/openai.azure.com',
      'https://vm.eastus.cloudapp.azure.com/openai',
      'https://api.azure-api.net/openai',
      'https://res.openai.azure.com:8443/openai',
    ]
    for (const custom_host of hosts)
      await expect(
        sent('azure-openai', {options: {...PLACE, azure_auth_mode}, body: CHAT, key: null, custom_host, logins}),
      ).rejects.toThrow('The gateway shows its own Azure identity to hosts of Azure alone.')
    expect(calls).toEqual([])
  },
)

test('what is missing is named', async () => {
  const {logins} = recorded(() => ({body: TOKEN}))
  const ask = (options: Record<string, string>) =>
    sent('azure-openai', {options: {...PLACE, ...options}, body: CHAT, key: null, logins})
  await expect(ask({...ENTRA, azure_entra_client_secret: ''})).rejects.toThrow('azure_entra_client_secret: is needed')
  await expect(ask({azure_auth_mode: 'workload'})).rejects.toThrow('AZURE_TENANT_ID')
})
