import {SecretClient} from '@azure/keyvault-secrets'
import nodeVault from 'node-vault'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {type AzureDouble, azureDouble} from '../support/secret-managers/azure.ts'
import {type VaultDouble, vaultDouble} from '../support/secret-managers/vault.ts'

// The doubles have the shape of the real services: the published clients read from them what the gateway reads.

describe('node-vault and the double of Vault', () => {
  let vault: VaultDouble
  beforeAll(async () => {
    vault = await vaultDouble()
    vault.state.mounts = {'secret/': 2, 'old/': 1}
    vault.state.secrets['secret/team/app'] = {data: {key: 'sk-of-two'}, version: 3}
    vault.state.secrets['old/app'] = {data: {key: 'sk-of-one'}}
    vault.state.secrets['secret/gone'] = {data: {}, deleted: true}
  })
  afterAll(() => vault.close())
  const client = (token?: string) => nodeVault({endpoint: vault.url, apiVersion: 'v1', ...(token && {token})})

  test('an approle logs in, renews its token, and reads both engines', async () => {
    const {auth} = await client().approleLogin({role_id: 'role', secret_id: 'hush'})
    expect(auth).toMatchObject({client_token: expect.stringMatching(/^hvs\./), renewable: true, lease_duration: 3600})
    const signed_in = client(auth.client_token)
    expect((await signed_in.tokenRenewSelf()).auth.lease_duration).toBe(3600)
    const {data} = await signed_in.read('secret/data/team/app')
    expect(data).toMatchObject({data: {key: 'sk-of-two'}, metadata: {version: 3}})
    expect((await signed_in.read('old/app')).data).toEqual({key: 'sk-of-one'})
  })

  test('a pod logs in', async () => {
    vault.state.pods.add('token-of-the-pod')
    const {auth} = await client().kubernetesLogin({mount_point: 'kubernetes', role: 'role', jwt: 'token-of-the-pod'})
    expect((await client(auth.client_token).read('old/app')).data).toEqual({key: 'sk-of-one'})
  })

  test.each([
    ['a wrong secret id', 400, () => client().approleLogin({role_id: 'role', secret_id: 'other'})],
    ['a token that is unknown', 403, () => client('hvs.none').read('secret/data/team/app')],
    ['a secret that is missing', 404, () => client('root').read('secret/data/absent')],
    ['a secret that was deleted', 404, () => client('root').read('secret/data/gone')],
  ])('%s is a fault of status %i', async (_, status, call) => {
    await expect(call()).rejects.toMatchObject({response: {statusCode: status}})
  })

  test('a sealed vault is a fault of status 503', async () => {
    vault.state.sealed = true
    await expect(client('root').read('old/app')).rejects.toMatchObject({response: {statusCode: 503}})
    vault.state.sealed = false
  })
})

describe('@azure/keyvault-secrets and the double of Key Vault', () => {
  let azure: AzureDouble
  beforeAll(async () => {
    azure = await azureDouble()
    azure.state.secrets = {app: {value: 'sk-azure'}, off: {value: 'x', disabled: true}}
    azure.state.tokens.add('token-of-entra')
  })
  afterAll(() => azure.close())
  const credential = (token: string) => ({
    getToken: async () => ({token, expiresOnTimestamp: Date.now() + 3_600_000}),
  })
  const client = (token = 'token-of-entra') =>
    new SecretClient(azure.url, credential(token), {
      ...{serviceVersion: '7.4', disableChallengeResourceVerification: true, allowInsecureConnection: true},
      retryOptions: {maxRetries: 0},
    })

  test('a secret has its value and its version', async () => {
    const secret = await client().getSecret('app')
    expect(secret).toMatchObject({name: 'app', value: 'sk-azure'})
    expect(secret.properties).toMatchObject({enabled: true, version: expect.stringMatching(/^[0-9a-f]{32}$/)})
  })

  test.each([
    ['one that is missing', 'absent', 404, 'SecretNotFound'],
    ['one that is disabled', 'off', 403, 'Forbidden'],
  ])('%s is a fault with its code', async (_, name, statusCode, code) => {
    await expect(client().getSecret(name)).rejects.toMatchObject({statusCode, code})
  })
})
