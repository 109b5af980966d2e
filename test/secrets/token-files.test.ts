import {mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {awsManager} from '../../src/secrets/managers/aws/client.ts'
import {azureManager} from '../../src/secrets/managers/azure/client.ts'
import {vaultManager} from '../../src/secrets/managers/vault/client.ts'
import type {ManagerServices} from '../../src/secrets/services.ts'
import {awsDouble} from '../support/secret-managers/aws.ts'
import {azureDouble} from '../support/secret-managers/azure.ts'
import {meantFetch} from '../support/secret-managers/house.ts'
import {vaultDouble} from '../support/secret-managers/vault.ts'

// Scenario SC19, from reports on comparable products: every file of a token is read at every login.

const AT_MS = Date.parse('2026-01-02T03:04:05Z')
let now_ms: number
let folder: string
beforeEach(() => {
  now_ms = AT_MS
  folder = mkdtempSync(join(tmpdir(), 'gateway-token-files-'))
})
afterEach(() => rmSync(folder, {recursive: true}))

/** Puts a token in place as a kubelet does: a new folder, and the link is renamed onto the old one. */
let versions = 0
function place(token: string) {
  const version = join(folder, `v${++versions}`)
  mkdirSync(version)
  writeFileSync(join(version, 'token'), token)
  symlinkSync(version, join(folder, 'next'))
  renameSync(join(folder, 'next'), join(folder, '..data'))
}
const token = () => readFile(join(folder, '..data/token'), 'utf8')

function services(fetch: ManagerServices['fetch'], own: Partial<ManagerServices>): ManagerServices {
  return {
    ...{fetch, log: {warn: () => undefined}, wall: () => now_ms, random: () => 0},
    after(_, run) {
      const timer = setTimeout(run, 0)
      return () => clearTimeout(timer)
    },
    ...{identity: {}, aws_domain: 'amazonaws.com', aws_region: null, azure_authority: null},
    ...{pod_token: async () => '', isNamedHost: () => true},
    ...own,
  }
}

describe('scenario SC19', () => {
  test('Vault, as a pod', async () => {
    const vault = await vaultDouble()
    vault.state.now_ms = () => now_ms
    vault.state.secrets['secret/app'] = {data: {key: 'a'}}
    place('first')
    vault.state.pods = new Set(['first'])
    const read = vaultManager(services(meantFetch({'vault.test': vault}), {pod_token: token}))
    const login = {vault_auth_type: 'kubernetes', vault_addr: 'https://vault.test', vault_role: 'gateway'}
    const app = {manager_type: 'hashicorp_vault', path: 'secret/app', login} as const
    await read(app)
    place('second')
    vault.state.pods = new Set(['second'])
    vault.tokens.clear()
    expect((await read(app)).content.text).toBe('{"key":"a"}')
    // gone for a moment: no answer that says no, so that a value stays in use for its grace
    rmSync(join(folder, '..data'))
    vault.tokens.clear()
    now_ms += 61_000
    await expect(read(app)).rejects.toMatchObject({kind: 'unreachable', is_definite: false})
    await vault.close()
  })

  test('Azure, as a workload', async () => {
    const azure = await azureDouble()
    azure.state.secrets.openai = {value: 'sk-azure'}
    place('first')
    azure.state.assertions = new Set(['first'])
    const own = {identity: {azure: {federated_token: token, tenant_id: 'tenant', client_id: 'pod'}}}
    const hosts = {'vault.azure.net': azure, 'login.microsoftonline.com': azure}
    const read = azureManager(services(meantFetch(hosts), own))
    const login = {azure_auth_mode: 'default', azure_vault_url: 'https://house.vault.azure.net'}
    const openai = {manager_type: 'azure_kv', path: 'openai', login} as const
    await read(openai)
    place('second')
    azure.state.assertions = new Set(['second'])
    azure.state.tokens.clear()
    now_ms += 3_600_000
    expect((await read(openai)).content.text).toBe('sk-azure')
    await azure.close()
  })

  test('AWS, as a container', async () => {
    const aws = await awsDouble()
    aws.state.now_ms = () => now_ms
    aws.state.secrets['prod/openai'] = {text: 'sk-aws'}
    const shown: (string | undefined)[] = []
    const secrets = meantFetch({'amazonaws.com': aws})
    const url = 'http://169.254.170.23/v1/credentials'
    const fetch: ManagerServices['fetch'] = async request => {
      if (request.url !== url) return secrets(request)
      shown.push(request.headers?.authorization)
      const id = `ASIA${shown.length}`
      const ends_at_ms = now_ms + 3_600_000
      aws.state.keys.set(id, {secret: 's', session: 't', ends_at_ms})
      const credentials = {AccessKeyId: id, SecretAccessKey: 's', Token: 't', Expiration: new Date(ends_at_ms)}
      return {status: 200, headers: {}, body: JSON.stringify(credentials)}
    }
    place('first')
    const read = awsManager(services(fetch, {identity: {aws: {container: {url, token}}}}))
    const login = {aws_auth_type: 'serviceRole', aws_region: 'eu-west-1'}
    const openai = {manager_type: 'aws_sm', path: 'prod/openai', login} as const
    await read(openai)
    place('second')
    now_ms += 3_590_000
    expect((await read(openai)).content.text).toBe('sk-aws')
    expect(shown).toEqual(['first', 'second'])
    await aws.close()
  })
})
