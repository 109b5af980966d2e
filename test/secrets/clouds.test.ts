import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {sign} from '../../src/base/sigv4.ts'
import type {ManagerFault} from '../../src/secrets/manager-fault.ts'
import {awsManager} from '../../src/secrets/managers/aws/client.ts'
import {azureManager} from '../../src/secrets/managers/azure/client.ts'
import type {ManagerServices} from '../../src/secrets/services.ts'
import {type AwsDouble, awsDouble, signatureFault} from '../support/secret-managers/aws.ts'
import {type AzureDouble, azureDouble} from '../support/secret-managers/azure.ts'
import {meantFetch} from '../support/secret-managers/house.ts'

const AT_MS = Date.parse('2026-01-02T03:04:05Z')
const warned: unknown[] = []
let now_ms: number
beforeEach(() => {
  now_ms = AT_MS
  warned.length = 0
})

function services(fetch: ManagerServices['fetch'], own: Partial<ManagerServices> = {}): ManagerServices {
  return {
    ...{fetch, log: {warn: (fields: unknown) => void warned.push(fields)}, wall: () => now_ms, random: () => 0},
    after(_, run) {
      const timer = setTimeout(run, 0)
      return () => clearTimeout(timer)
    },
    ...{identity: {}, aws_domain: 'amazonaws.com', aws_region: null, azure_authority: null},
    ...{pod_token: async () => 'pod-token', isNamedHost: () => false},
    ...own,
  }
}
const faultOf = (read: Promise<unknown>): Promise<ManagerFault> =>
  read.then(
    () => Promise.reject(new Error('it was read')),
    fault => fault,
  )

describe('AWS Secrets Manager', () => {
  let aws: AwsDouble
  beforeEach(async () => {
    aws = await awsDouble()
    aws.state.now_ms = () => now_ms
    aws.state.secrets['prod/openai'] = {text: 'sk-aws', version: 'v7'}
  })
  afterEach(() => aws.close())
  const KEYS = {
    aws_auth_type: 'accessKey',
    aws_access_key_id: 'AKID',
    aws_secret_access_key: 'aws-hush-hush',
    aws_region: 'eu-west-1',
  }
  const open = (own: Partial<ManagerServices> = {}) => {
    const read = awsManager(
      services(meantFetch({'amazonaws.com': aws, 'amazonaws.com.cn': aws, '169.254.169.254': aws}), own),
    )
    return (login: object = KEYS, path = 'prod/openai') => read({manager_type: 'aws_sm', path, login: {...login}})
  }

  test('the double takes the published example of a signature, and no other', () => {
    const credentials = {access_key_id: 'AKIDEXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'}
    const at_ms = Date.parse('2015-08-30T12:36:00Z')
    const vector = 'post-vanilla'
    const scope = '20150830/us-east-1/service/aws4_request'
    const published = '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'
    const headers = {
      host: 'example.amazonaws.com',
      'x-amz-date': '20150830T123600Z',
      authorization:
        `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, ` + `SignedHeaders=host;x-amz-date, Signature=${published}`,
    }
    const state = {keys: new Map([['AKIDEXAMPLE', {secret: credentials.secret_access_key}]]), now_ms: () => at_ms}
    expect([vector, signatureFault({method: 'POST', headers, body: ''}, 'service', state)]).toEqual([vector, null])
    expect(signatureFault({method: 'POST', headers, body: 'x'}, 'service', state)?.code).toBe(
      'InvalidSignatureException',
    )
    const ours = sign({
      ...{method: 'POST', host: 'example.amazonaws.com', path: '/', body: '', service: 'service', region: 'us-east-1'},
      ...{credentials, now_ms: at_ms},
    })
    expect(ours.authorization).toBe(headers.authorization)
  })

  test('SM27: a secret is read with a signature that holds; binary is UTF-8, else base64', async () => {
    const read = open()
    expect(await read()).toEqual({content: {kind: 'text', text: 'sk-aws'}, version: 'v7', lease_ms: null})
    aws.state.secrets.bin = {binary: Buffer.from('plain').toString('base64')}
    aws.state.secrets.raw = {binary: '//79'}
    expect((await read(KEYS, 'bin')).content.text).toBe('plain')
    expect((await read(KEYS, 'raw')).content.text).toBe('//79')
  })

  test('faults are judged by their type, and never say what AWS reply', async () => {
    const read = open()
    expect(await faultOf(read(KEYS, 'none'))).toMatchObject({kind: 'missing', code: 'ResourceNotFoundException'})
    aws.state.secrets.gone = {deleted: true}
    expect((await faultOf(read(KEYS, 'gone'))).kind).toBe('unusable')
    const wrong = await faultOf(read({...KEYS, aws_secret_access_key: 'other'}))
    expect(wrong).toMatchObject({kind: 'denied', code: 'InvalidSignatureException'})
    expect(wrong.message).not.toContain('calculated')
    aws.state.always = {status: 400, body: {__type: 'ThrottlingException', message: 'Rate exceeded'}}
    const before = aws.received.length
    expect((await faultOf(read())).kind).toBe('throttled')
    expect(aws.received.length - before).toBe(3)
  })

  test('SM10: a role is assumed with its external id, and a session that ended is minted anew', async () => {
    aws.state.roles.set('arn:aws:iam::1:role/r', 'ext-1')
    const own = {identity: {aws: {keys: {access_key_id: 'AKID', secret_access_key: 'aws-hush-hush'}, instance: false}}}
    const read = open(own)
    const login = {aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::1:role/r', aws_region: 'eu-west-1'}
    expect((await faultOf(read(login))).kind).toBe('denied')
    await read({...login, aws_external_id: 'ext-1'})
    await read({...login, aws_external_id: 'ext-1'})
    expect(aws.count('AssumeRole')).toBe(2)
    // AWS ended the session before its time
    for (const [id, keys] of aws.state.keys) if (id.startsWith('ASIA')) aws.state.keys.set(id, {...keys, ends_at_ms: 0})
    expect((await read({...login, aws_external_id: 'ext-1'})).content.text).toBe('sk-aws')
    expect(aws.count('AssumeRole')).toBe(3)
  })

  test('SM11: the file of a web identity is read again at every login', async () => {
    aws.state.roles.set('arn:aws:iam::1:role/web', null)
    let token = 'one'
    const web_identity = {role_arn: 'arn:aws:iam::1:role/web', token: async () => token}
    const read = open({identity: {aws: {web_identity, instance: false}}})
    const login = {aws_auth_type: 'serviceRole', aws_region: 'eu-west-1'}
    await read(login)
    token = 'two'
    now_ms += 3_590_000
    await read(login)
    const sent = aws.received.map(({body}) => new URLSearchParams(body).get('WebIdentityToken')).filter(Boolean)
    expect(sent).toEqual(['one', 'two'])
  })

  test('SM12: of an instance the token of version 2 is asked first, and version 1 only where it is set', async () => {
    const seen: string[] = []
    const fetch: ManagerServices['fetch'] = async ({method, url}) => {
      seen.push(`${method} ${new URL(url).pathname}`)
      return {status: 404, headers: {}, body: ''}
    }
    const login = {aws_auth_type: 'serviceRole', aws_region: 'eu-west-1'}
    const tried = async (is_imds_v1: boolean) => {
      seen.length = 0
      const read = awsManager(services(fetch, {identity: {aws: {is_imds_v1}}}))
      await faultOf(read({manager_type: 'aws_sm', path: 'x', login}))
      return seen[0]
    }
    expect(await tried(false)).toBe('PUT /latest/api/token')
    expect(await tried(true)).toBe('GET /latest/meta-data/iam/security-credentials/')
  })

  test('Correction 14: with a wrong clock the offset is learnt, and the request repeated once', async () => {
    aws.state.now_ms = () => now_ms + 3_600_000
    const read = open()
    expect((await read()).content.text).toBe('sk-aws')
    expect(aws.count('GetSecretValue')).toBe(2)
    await read()
    expect([aws.count('GetSecretValue'), warned.length]).toEqual([3, 1])
  })

  test('Correction 15: the region and the partition of an ARN decide where it is read', async () => {
    const arn = 'arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:a-AbCdEf'
    aws.state.secrets[arn] = {text: 'cn'}
    expect((await open()(KEYS, arn)).content.text).toBe('cn')
    expect(aws.received.at(-1)!.headers['x-meant-for']).toBe('secretsmanager.cn-north-1.amazonaws.com.cn')
    const {aws_region: _, ...nowhere} = KEYS
    expect((await faultOf(open()(nowhere))).message).toContain('no region')
    expect((await open({aws_region: 'us-east-2'})(nowhere)).content.text).toBe('sk-aws')
    expect(aws.received.at(-1)!.headers['x-meant-for']).toBe('secretsmanager.us-east-2.amazonaws.com')
  })
})

describe('Azure Key Vault', () => {
  let azure: AzureDouble
  beforeEach(async () => {
    azure = await azureDouble()
    azure.state.secrets.openai = {value: 'sk-azure'}
  })
  afterEach(() => azure.close())
  const ENTRA = {
    azure_auth_mode: 'entra',
    azure_entra_tenant_id: 'tenant',
    azure_entra_client_id: 'client',
    azure_entra_client_secret: 'entra-hush',
    azure_vault_url: 'https://house.vault.azure.net/',
  }
  const HOSTS = ['vault.azure.net', 'vault.azure.cn', 'vault.usgovcloudapi.net', 'login.microsoftonline.com']
  const open = (own: Partial<ManagerServices> = {}) => {
    const all = [...HOSTS, 'login.microsoftonline.us', 'login.chinacloudapi.cn', '169.254.169.254', 'own.test']
    const read = azureManager(services(meantFetch(Object.fromEntries(all.map(host => [host, azure]))), own))
    return (login: object = ENTRA, path = 'openai') => read({manager_type: 'azure_kv', path, login: {...login}})
  }

  test('a secret is read with a token, once fetched; a refused token is minted anew once', async () => {
    const read = open()
    expect(await read()).toMatchObject({content: {text: 'sk-azure'}, version: '0123456789abcdef0123456789abcdef'})
    await read()
    expect(azure.tokensAt('login.microsoftonline.com')).toBe(1)
    azure.state.tokens.clear()
    expect((await read()).content.text).toBe('sk-azure')
    expect(azure.tokensAt('login.microsoftonline.com')).toBe(2)
    azure.state.tokens.clear()
    expect((await faultOf(read())).kind).toBe('denied')
  })

  test.each([
    ['house.vault.usgovcloudapi.net', 'login.microsoftonline.us'],
    ['house.vault.azure.cn', 'login.chinacloudapi.cn'],
  ])('SM15: the vault %s has its own authority', async (host, authority) => {
    await open()({...ENTRA, azure_vault_url: `https://${host}`})
    expect(azure.tokensAt(authority)).toBe(1)
  })

  test('faults: missing, disabled, a wrong secret of the application, throttled', async () => {
    const read = open()
    expect(await faultOf(read(ENTRA, 'none'))).toMatchObject({kind: 'missing', code: 'SecretNotFound'})
    azure.state.secrets.off = {value: 'x', disabled: true}
    expect(await faultOf(read(ENTRA, 'off'))).toMatchObject({kind: 'unusable', code: 'SecretDisabled'})
    const wrong = await faultOf(read({...ENTRA, azure_entra_client_secret: 'other'}))
    expect(wrong).toMatchObject({kind: 'denied', code: 'AADSTS7000215'})
    expect(wrong.message).not.toContain('long sentence')
    azure.state.next = [{status: 429, headers: {'retry-after-ms': '1500'}, body: {error: {code: 'Throttled'}}}]
    expect(await faultOf(read())).toMatchObject({kind: 'throttled', retry_after_ms: 1500})
    expect(await faultOf(read())).toMatchObject({kind: 'throttled'})
    now_ms += 1501
    expect((await read()).content.text).toBe('sk-azure')
  })

  test('Correction 18: a managed identity that is being updated is asked again', async () => {
    azure.state.next_of_tokens = [
      {status: 410, body: ''},
      {status: 404, body: ''},
    ]
    const login = {azure_auth_mode: 'managed', azure_vault_url: 'https://house.vault.azure.net'}
    expect((await open()(login)).content.text).toBe('sk-azure')
  })

  test('Correction 17: a workload’s token is read again when Entra says that it is old', async () => {
    let read_times = 0
    azure.state.assertions.add('token-2')
    const federated_token = async () => `token-${++read_times}`
    const own = {identity: {azure: {federated_token, tenant_id: 'tenant', client_id: 'pod'}}}
    const login = {azure_auth_mode: 'default', azure_vault_url: 'https://house.vault.azure.net'}
    expect((await open(own)(login)).content.text).toBe('sk-azure')
    expect(read_times).toBe(2)
  })

  test('the gateway’s own identity is shown to vaults of Azure and to named hosts alone', async () => {
    const login = {azure_auth_mode: 'managed', azure_vault_url: 'https://own.test'}
    expect((await faultOf(open()(login))).message).toContain('SECRET_MANAGER_HOSTS')
    expect(azure.received).toEqual([])
    expect((await open({isNamedHost: host => host === 'own.test'})(login)).content.text).toBe('sk-azure')
  })
})
