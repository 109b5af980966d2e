import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import type {ManagerFault} from '../../src/secrets/manager-fault.ts'
import {vaultManager} from '../../src/secrets/managers/vault/client.ts'
import type {ManagerServices} from '../../src/secrets/services.ts'
import {type AwsDouble, awsDouble} from '../support/secret-managers/aws.ts'
import {type AzureDouble, azureDouble} from '../support/secret-managers/azure.ts'
import {meantFetch, type SecretHouse, secretHouse} from '../support/secret-managers/house.ts'
import {type VaultDouble, vaultDouble} from '../support/secret-managers/vault.ts'

// Scenarios from reports on comparable products, by their numbers; the facts have numbers of their own.

const APPROLE = {
  vault_auth_type: 'approle',
  vault_addr: 'https://vault.test',
  vault_role_id: 'role',
  vault_secret_id: 'hush',
}
const AWS = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: 'AKID',
  aws_secret_access_key: 'aws-hush-hush',
  aws_region: 'eu-west-1',
}
const ENTRA = {
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: 'tenant',
  azure_entra_client_id: 'client',
  azure_entra_client_secret: 'entra-hush',
  azure_vault_url: 'https://house.vault.azure.net/',
}
const MINUTE_MS = 60_000

let vault: VaultDouble
let aws: AwsDouble
let azure: AzureDouble
let house: SecretHouse
let warned: string[]
beforeEach(async () => {
  vault = await vaultDouble()
  aws = await awsDouble()
  azure = await azureDouble()
  warned = []
  const hosts = {
    'vault.test': vault,
    'amazonaws.com': aws,
    'vault.azure.net': azure,
    'login.microsoftonline.com': azure,
  }
  const log = {warn: (...line: unknown[]) => void warned.push(JSON.stringify(line))}
  house = await secretHouse(meantFetch(hosts), {log})
  for (const {state} of [vault, aws]) state.now_ms = () => house.clock.now_ms
})
afterEach(async () => {
  await house.close()
  for (const double of [vault, aws, azure]) await double.close()
})
const later = (ms: number) => {
  house.clock.now_ms += ms
}
const faultOf = (read: Promise<unknown>): Promise<{message: string; status: number; retry_after_s?: number}> =>
  read.then(
    value => Promise.reject(new Error(`it was read: ${JSON.stringify(value)}`)),
    fault => fault,
  )
/** All that administrators and operators see of a reference. */
const shownOf = async (id: string) => JSON.stringify([warned, await house.audits(), await house.test(id)])

let made = 0
async function ofVault(data: Record<string, unknown>): Promise<string> {
  const id = `v${++made}`
  vault.state.secrets[`secret/${id}`] = {data}
  await house.reference(id, 'hashicorp_vault', APPROLE, `secret/${id}`)
  return id
}
async function ofAws(text: string): Promise<string> {
  const id = `a${++made}`
  aws.state.secrets[id] = {text}
  await house.reference(id, 'aws_sm', AWS, id)
  return id
}

describe('scenario SC12: what reads a secret quotes nothing of it', () => {
  const PLANTED = ['pw42', 'supersecretpassword12345', '{"key": sk-live-77aa', '["sk-live-77aa"]', '"sk-live-77aa"']
  test.each(PLANTED)('%s', async text => {
    const [of_aws, other] = [await ofAws(text), await ofAws('zzzz')]
    const sentence = async (id: string, more: object) =>
      (await faultOf(house.key(id, more))).message.replaceAll(id, 'ID')
    const picked = await sentence(of_aws, {secret_key: 'key'})
    expect(picked).toMatch(/ID .*"key"/)
    expect(picked).toBe(await sentence(other, {secret_key: 'key'}))
    const [of_vault, no_json] = [await ofVault({key: `<${text}`}), await ofVault({key: 'zzzz'})]
    const json = {value_format: 'json', target_field: 'configurations.x'} as const
    expect(await sentence(of_vault, json)).toBe(await sentence(no_json, json))
    for (const id of [of_aws, of_vault]) expect(await shownOf(id)).not.toContain(JSON.stringify(text).slice(1, -1))
  })

  test('a JSON text of a megabyte', async () => {
    const id = await ofAws(JSON.stringify({key: 'k'.repeat(1 << 20)}))
    expect((await faultOf(house.key(id, {secret_key: 'key'}))).message).toMatch(/(64 KB|1 MB)/)
    expect((await shownOf(id)).length).toBeLessThan(5000)
  })
})

describe('scenario SC13: white space around a key, and inside it', () => {
  test.each(['sk-good\n', 'sk-good\r\n', ' sk-good', '\ufeffsk-good'])('%j is the key', async key => {
    expect(await house.key(await ofVault({key}))).toBe('sk-good')
    expect(await house.key(await ofAws(key))).toBe('sk-good')
  })

  test.each([
    ['sk-\ngood', /visible ASCII/],
    ['sk-göod', /visible ASCII/],
    ['', /empty/],
    ['x'.repeat(20_000), /16 KB/],
  ])('%# is refused before anything leaves', async (key, why) => {
    const fault = await faultOf(house.key(await ofVault({key})))
    expect(fault).toMatchObject({code: 'secret.unresolvable', status: 500, message: expect.stringMatching(why)})
    expect(fault.message).not.toMatch(/sk-|good|göod|xxxxx/)
  })

  test('a passphrase keeps its spaces', async () => {
    const id = await ofVault({key: ' two words '})
    const field = {target_field: 'configurations.snowflake_private_key_passphrase'}
    expect(await house.key(id, field)).toBe(' two words ')
  })
})

describe('scenario SC14: what a manager quotes of a credential goes no further', () => {
  const expectSilent = async (id: string, code: string) => {
    const {message} = await faultOf(house.key(id))
    expect(message).toContain(code)
    expect(message.length).toBeLessThan(500)
    for (const shown of [message, await shownOf(id)]) expect(shown).not.toContain('PLANTED')
  }

  test('AWS', async () => {
    const message = `'Credential={"SecretAccessKey":"wJal-PLANTED"' not a valid key=value pair in Authorization header`
    aws.state.always = {
      status: 400,
      body: {__type: 'IncompleteSignature', message},
      headers: {'x-amzn-requestid': 'c0ffee00-1111-2222-3333-444455556666'},
    }
    const id = await ofAws('x')
    await expectSilent(id, 'IncompleteSignature')
    expect((await house.test(id)).error).toContain('c0ffee00')
  })

  test('Entra', async () => {
    const error_description = "AADSTS7000215: Invalid client secret provided: 'PLANTED~x'."
    const said = {status: 401, body: {error: 'invalid_client', error_codes: [7000215], error_description}}
    azure.state.next_of_tokens = Array.from({length: 20}, () => said)
    await house.reference('entra', 'azure_kv', ENTRA, 'openai')
    await expectSilent('entra', 'AADSTS7000215')
  })

  test('Vault', async () => {
    vault.state.always = {status: 400, body: {errors: ['error decrypting PLANTED']}}
    await expectSilent(await ofVault({key: 'x'}), 'HTTP 400')
  })
})

describe('scenario SC15: 403 with a token that is still valid', () => {
  test('a right that was given afterwards is had by a fresh login, at most one in a minute', async () => {
    const [app, fresh] = [await ofVault({key: 'sk-app'}), await ofVault({key: 'sk-new'})]
    await house.key(app)
    vault.state.refuses = (token, path) => token === 'hvs.1' && path === `secret/${fresh}`
    expect(await house.key(fresh)).toBe('sk-new')
    expect(vault.count('auth/approle/login')).toBe(2)
    vault.state.refuses = (_, path) => path === `secret/${fresh}`
    later(4.9 * MINUTE_MS)
    for (let nth = 0; nth < 200; nth++) await Promise.allSettled([house.key(fresh), house.key(app)])
    await expect.poll(() => house.key(fresh).catch(fault => fault.code)).toBe('secret.unresolvable')
    expect(vault.count('auth/approle/login')).toBeLessThanOrEqual(4)
    expect((await faultOf(house.key(fresh))).message).toContain(` ${fresh} `)
    expect(await house.key(app)).toBe('sk-app')
  })

  test('a token that is revoked while its value is fresh fails no call', async () => {
    const id = await ofVault({key: 'sk-app'})
    await house.key(id)
    vault.tokens.clear()
    for (const ms of [0, MINUTE_MS, 3.5 * MINUTE_MS, MINUTE_MS]) {
      later(ms)
      expect(await house.key(id)).toBe('sk-app')
    }
  })
})

describe('scenario SC16: mounts that one may not look up', () => {
  let read: (path: string, login?: object) => Promise<string>
  beforeEach(() => {
    const services: ManagerServices = {
      ...{fetch: meantFetch({'vault.test': vault}), log: {warn: () => undefined}, wall: () => house.clock.now_ms},
      ...{random: () => 0, identity: {}, aws_domain: 'amazonaws.com', aws_region: null, azure_authority: null},
      after(_, run) {
        const timer = setTimeout(run, 0)
        return () => clearTimeout(timer)
      },
      ...{pod_token: async () => 'pod-token', isNamedHost: () => false},
    }
    const manager = vaultManager(services)
    read = async (path, login = APPROLE) =>
      (await manager({manager_type: 'hashicorp_vault', path, login: {...login}})).content.text
    vault.state.tells_mounts = false
    vault.state.mounts = {'kv/': 2, 'old/': 1, 'org/kv/': 2}
    vault.state.secrets = {
      'kv/team/app': {data: {is: 'a'}},
      'old/team/app': {data: {is: 'b'}},
      'org/kv/team/app': {data: {is: 'c'}},
      'kv/data': {data: {is: 'e'}},
      'kv/team/a b+c%d/ä': {data: {is: 'f'}},
    }
    vault.state.refuses = (_, path) => !/^(?:kv|old|org\/kv)\/team\//.test(path) && path !== 'kv/data'
  })

  test.each([
    ['kv/team/app', 'a'],
    ['old/team/app', 'b'],
    ['org/kv/data/team/app', 'c'],
    ['org/kv/team/app', 'c'],
    ['kv/data', 'e'],
    ['kv/team/a b+c%d/ä', 'f'],
  ])('%s is read, and the second time by one request', async (path, is) => {
    expect(await read(path)).toBe(`{"is":"${is}"}`)
    const before = vault.received.length
    await read(path)
    expect(vault.received.length - before).toBe(1)
  })

  test('a namespace in the path is named as what is wrong', async () => {
    vault.state.namespace = 'ns1'
    const login = {...APPROLE, vault_namespace: 'ns1'}
    expect(await read('kv/team/app', login)).toBe('{"is":"a"}')
    const fault: ManagerFault = await read('ns1/kv/team/app', login).catch(error => error)
    expect(fault.message).toMatch(/the namespace ns1 belongs to vault_namespace alone/)
    const other: ManagerFault = await read('ns10/kv/team/app', login).catch(error => error)
    expect(other.message).not.toContain('namespace')
  })
})

test('scenario SC17: an ARN says the region, for the host and for the signature', async () => {
  const near = await awsDouble()
  const hosts = {'secretsmanager.eu-west-1.amazonaws.com': near, 'amazonaws.com.cn': aws, 'amazonaws.com': aws}
  const far = await secretHouse(meantFetch(hosts))
  for (const {state} of [near, aws]) state.now_ms = () => far.clock.now_ms
  for (const [partition, region, domain] of [
    ['aws', 'us-east-1', 'amazonaws.com'],
    ['aws-cn', 'cn-north-1', 'amazonaws.com.cn'],
    ['aws-us-gov', 'us-gov-west-1', 'amazonaws.com'],
  ] as const) {
    const arn = `arn:${partition}:secretsmanager:${region}:111122223333:secret:prod/openai-AbCdEf`
    aws.state.secrets[arn] = {text: `sk-${region}`}
    await far.reference(region, 'aws_sm', AWS, arn)
    expect(await far.key(region)).toBe(`sk-${region}`)
    const {headers} = aws.received.at(-1)!
    expect(headers['x-meant-for']).toBe(`secretsmanager.${region}.${domain}`)
    expect(headers.authorization).toContain(`/${region}/secretsmanager/aws4_request`)
  }
  expect(near.received).toEqual([])
  await far.close()
  await near.close()
})

describe.each(['next', 'next_of_tokens'] as const)('scenario SC18: 429 with Retry-After, at %s', place => {
  const slow = () => {
    azure.state[place] = Array.from({length: 9000}, () => ({status: 429, headers: {'retry-after': '5'}, body: {}}))
  }
  beforeEach(async () => {
    azure.state.secrets.openai = {value: 'sk-azure'}
    await house.reference('k', 'azure_kv', ENTRA, 'openai')
  })

  test('five hundred calls of a cold value are one request, and are refused with the time', async () => {
    slow()
    const all = await Promise.all(Array.from({length: 500}, () => faultOf(house.key('k'))))
    expect(new Set(all.map(({status, retry_after_s}) => `${status} ${retry_after_s}`))).toEqual(new Set(['503 5']))
    later(4_000)
    await faultOf(house.key('k'))
    expect(azure.received.length).toBeLessThanOrEqual(2)
    later(1_001)
    azure.state[place] = []
    expect(await house.key('k')).toBe('sk-azure')
  })

  test('a value that is held is used meanwhile, without a wait', async () => {
    await house.key('k')
    const before = azure.received.length
    slow()
    azure.state.tokens.clear()
    later(4.9 * MINUTE_MS)
    for (let nth = 0; nth < 100; nth++) {
      expect(await house.key('k')).toBe('sk-azure')
      later(40)
    }
    // of tokens: the vault refuses the one that is held first
    expect(azure.received.length - before).toBeLessThanOrEqual(3)
    later(MINUTE_MS)
    expect(await house.key('k')).toBe('sk-azure')
    expect(house.counts.get('stale')).toBe(1)
  })
})

describe('scenario SC20: a refresh that fails overwrites no good value', () => {
  test('while Vault is sealed a test and other callers harm nothing', async () => {
    const id = await ofVault({key: 'sk-app'})
    await house.key(id)
    later(4.9 * MINUTE_MS)
    vault.state.sealed = true
    for (let nth = 0; nth < 12; nth++) {
      expect((await house.test(id)).error).toContain('HTTP 503')
      const others = {...house.mapped({target_field: 'key', secret_reference_id: id}), workspace_id: 'another'}
      expect((await house.secrets.fields.valuesOf(others)).byField.get('key')).toBe('sk-app')
      later(5_000)
    }
    expect(house.counts.get('stale')).toBeGreaterThan(0)
    vault.state.sealed = false
    later(31_000)
    await expect.poll(async () => (await house.test(id)).error).toBeNull()
    expect(await house.key(id)).toBe('sk-app')
  })

  test('a secret that is made after it was looked for is found within 31 s, at once after a test', async () => {
    const [one, other] = [await ofVault({key: 'x'}), await ofVault({key: 'x'})]
    vault.state.secrets = {}
    for (const id of [one, other]) await faultOf(house.key(id))
    later(5_000)
    for (const id of [one, other]) vault.state.secrets[`secret/${id}`] = {data: {key: 'sk-late'}}
    await faultOf(house.key(one))
    await house.test(other)
    expect(await house.key(other)).toBe('sk-late')
    later(26_000)
    expect(await house.key(one)).toBe('sk-late')
  })

  test('a manager that was out of reach is called again a second later', async () => {
    const id = await ofVault({key: 'sk-app'})
    vault.state.always = {status: 502, body: ''}
    await faultOf(house.key(id))
    vault.state.always = null
    later(1_001)
    expect(await house.key(id)).toBe('sk-app')
  })
})
